# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The few plugin files that, imported one by one, import all the others: enough to see that everything loads.

Run: python3 scripts/import_tops.py     (prints them, below the built collection)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import artefact

COLLECTION = "ansible_collections.sunset.kube"
ON_HOSTS = ("modules", "module_utils")  # ansible-test imports these as a host does, all others as a controller does


def tops(tree: Path) -> list[str]:
    """Paths below the collection. Those that nobody imports, and one of each circle that is left."""
    files = sorted((tree / "plugins").rglob("*.py"))
    on_hosts = {file: file.relative_to(tree).parts[1] in ON_HOSTS for file in files}
    names = {_name(file, tree): file for file in files}
    imports = {file: {names[name] for name in _imported(file, tree) if name in names} - {file} for file in files}
    found: list[Path] = []
    for same_side in (True, False):
        side = {file: imports[file] for file in files if on_hosts[file] is same_side}
        found += _covering({file: others & side.keys() for file, others in side.items()})
    return [str(file.relative_to(tree)) for file in found]


def _covering(imports: Mapping[Path, set[Path]]) -> list[Path]:
    used = {other for others in imports.values() for other in others}
    found = [file for file in imports if file not in used]
    reached = _reached(found, imports)
    for file in imports:
        if file not in reached:
            found.append(file)
            reached |= _reached([file], imports)
    return found


def _reached(start: Iterable[Path], imports: Mapping[Path, set[Path]]) -> set[Path]:
    reached: set[Path] = set()
    ahead = list(start)
    while ahead:
        file = ahead.pop()
        if file not in reached:
            reached.add(file)
            ahead += imports[file]
    return reached


def _name(file: Path, tree: Path) -> str:
    return ".".join([COLLECTION, *file.relative_to(tree).with_suffix("").parts]).removesuffix(".__init__")


def _imported(file: Path, tree: Path) -> Iterator[str]:
    """What is imported for certain as soon as the file is: statements on top, not those in a function or condition."""
    package = _name(file.parent / "__init__.py", tree).split(".")
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            above = package[: len(package) - statement.level + 1] if statement.level else []
            module = ".".join([*above, *([statement.module] if statement.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in statement.names)


if __name__ == "__main__":
    print("\n".join(tops(artefact.INSTALLED)))
