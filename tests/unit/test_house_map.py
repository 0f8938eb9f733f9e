# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who may import whom: the house map as a table, checked on every file of the collection."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
UTILS = "ansible_collections.sunset.kube.plugins.module_utils"
SHARED = {
    "admission",
    "objects",
    "clock",
    "commands",
    "problems",
    "documents",
    "durations",
    "events",
    "labels",
    "limits",
    "paths",
    "pointers",
    "shown",
    "terms",
    "visible",
    "well_known",
}

# room → what it may import besides the standard library, the shared files and itself.
# "hint:" means only below `if TYPE_CHECKING`, "late:" only inside a function, after the arguments were checked.
ROOMS: dict[str, set[str]] = {
    "modules": {"front", "node_front", "jobs"},
    "action": {"jobs", "plugin_utils"},
    "plugin_utils": {"ansible", "front", "node_front", "reporting", "network", "evidence"},
    "doc_fragments": set(),
    "lookup": {"ansible", "yaml", "plugin_utils"},
    "jobs": {"front", "node_front", "reporting", "teardown", "maintenance", "network", "incluster", "evidence"},
    "front": {"ansible", "kube", "evidence", "incluster", "reporting"},
    "node_front": {"ansible", "reporting"},
    "reporting": {"hint:ansible"},
    "kube": {"late:kubernetes", "late:urllib3"},
    "teardown": {"gitops", "profiles", "hint:kube"},
    "maintenance": {"gitops", "profiles", "hint:kube"},
    "gitops": {"profiles", "hint:kube"},
    "network": {"profiles", "hint:kube", "late:kube"},  # late: the worker is a process of its own, with no front
    "incluster": {"profiles", "hint:kube"},
    "profiles": set(),
    "evidence": {"teardown", "maintenance", "network", "late:jsonpatch"},
    "admission": {"hint:kube"},
    "objects": set(),
    "clock": set(),
    "commands": set(),
    "problems": set(),
    "documents": {"late:yaml"},
    "durations": set(),
    "events": set(),
    "labels": set(),
    "limits": set(),
    "paths": set(),
    "pointers": set(),
    "shown": set(),
    "terms": set(),
    "visible": set(),
    "well_known": set(),
}
NO_SHARED = {"doc_fragments", "profiles"}
HTTP = {"http", "socket", "ssl", "urllib3", "requests"}
# Where sockets may be opened and commands be run: folders below plugins/module_utils/.
SPEAKS_HTTP = ("kube", "network/backends", "network/probes")
RUNS_COMMANDS = ("network/backends", "network/guard", "network/probes")
FILES = sorted(path for path in PLUGINS.rglob("*.py") if path.name != "__init__.py")


def room_of(path: Path) -> str:
    parts = path.relative_to(PLUGINS).with_suffix("").parts
    return parts[1] if parts[0] == "module_utils" else parts[0]


def lies_in(path: Path, folders: tuple[str, ...]) -> bool:
    return any(path.is_relative_to(PLUGINS / "module_utils" / folder) for folder in folders)


@functools.cache
def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """(how, dotted name) of every import, made absolute; how is "", "hint" or "late"."""
    package = ".".join(("ansible_collections", "sunset", "kube", "plugins", *path.relative_to(PLUGINS).parent.parts))

    def walk(node: ast.AST, how: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((how, alias.name) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    above = package.split(".")[: len(package.split(".")) - child.level + 1]
                    base = ".".join([*above, base]).rstrip(".")
                yield from ((how, f"{base}.{alias.name}") for alias in child.names)
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                yield from walk(child, "hint")
            elif isinstance(child, ast.FunctionDef):
                yield from walk(child, how or "late")
            else:
                yield from walk(child, how)

    return tuple(walk(ast.parse(path.read_text(encoding="utf-8")), ""))


def target_of(name: str) -> str | None:
    """The room or package an import leads to; None for the standard library."""
    if name.startswith(UTILS + "."):
        return name.removeprefix(UTILS + ".").partition(".")[0]
    if name.startswith("ansible_collections.sunset.kube.plugins."):
        return name.split(".")[4]
    top = name.partition(".")[0]
    return None if top in sys.stdlib_module_names else top


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PLUGINS)))
def test_imports_only_what_the_map_allows(path: Path) -> None:
    room = room_of(path)
    allowed = ROOMS[room] | {room} | (set() if room in NO_SHARED else SHARED)
    wrong = [
        f"{how} {name}".strip()
        for how, name in imports(path)
        if (target := target_of(name)) is not None and target not in allowed and f"{how}:{target}" not in allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PLUGINS)))
def test_only_kube_and_the_probes_open_sockets(path: Path) -> None:
    spoken = {name.partition(".")[0] for _how, name in imports(path)} & HTTP
    assert lies_in(path, SPEAKS_HTTP) or not spoken


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PLUGINS)))
def test_only_backends_and_probes_of_the_network_run_commands(path: Path) -> None:
    runs = {name.partition(".")[0] for _how, name in imports(path)} & {"subprocess"}
    assert lies_in(path, RUNS_COMMANDS) or not runs


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PLUGINS)))
def test_nobody_but_the_clock_sleeps_or_reads_the_time(path: Path) -> None:
    # Server time falls back to the machine's where an answer has no Date; evidence folders are named by it.
    # The guard of the network stands alone and brings its own clock.
    if path.name in ("clock.py", "transport.py", "engine_action.py") or lies_in(path, ("network/guard",)):
        return
    assert "time" not in {name for _how, name in imports(path)}


def test_no_imports_go_round_in_a_circle() -> None:
    """So a file loads alone just as it does with others before it, and sanity need not load each one by itself."""
    files = {_dotted(path): path for path in PLUGINS.rglob("*.py")}
    loads = {
        name: {known for how, target in imports(path) if not how for known in _files_behind(target, files)} - {name}
        for name, path in files.items()
    }
    assert sum(map(len, loads.values())) > len(files)  # it does see them
    TopologicalSorter(loads).prepare()  # raises CycleError, with the circle


def _dotted(path: Path) -> str:
    parts = path.relative_to(PLUGINS).with_suffix("").parts
    return ".".join(("ansible_collections", "sunset", "kube", "plugins", *parts)).removesuffix(".__init__")


def _files_behind(target: str, files: Mapping[str, Path]) -> set[str]:
    """The import of a name in a file, of the file itself, or of both at once when a package is in between."""
    return {name for name in (target, target.rpartition(".")[0]) if name in files}


def test_every_room_is_on_the_map() -> None:
    assert {room_of(path) for path in FILES} <= set(ROOMS)


def test_there_are_no_grab_bags() -> None:
    assert not [path for path in FILES if path.stem in ("utils", "helpers", "common", "misc")]


def test_every_file_says_its_room() -> None:
    engine = [path for path in FILES if "module_utils" in path.parts and room_of(path) not in SHARED]
    silent = [path for path in engine if "Room:" not in (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")]
    assert silent == []
