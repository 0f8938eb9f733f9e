# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Our own code, copied to where it outlives the task: Ansible removes what it shipped as soon as the module returns.

Room: network.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from .guard import watching

_HERE = __name__.rpartition(".")[0]  # …module_utils.network
_UTILS = _HERE.rpartition(".")[0]
_ROOMS = ("network", "kube")
_NEEDS_ANSIBLE = frozenset({"front", "node_front", "reporting"})


def copy_guard(target: Path) -> None:
    """The guard alone, as a package of the name `guard`."""
    _copy_package(watching.__name__.rpartition(".")[0], target / "guard")


def copy_worker(target: Path) -> str:
    """What the worker needs; returns the name to run it by."""
    from . import worker  # late, as it needs us; and said, as Ansible ships what it finds imported

    place = target.joinpath(*_UTILS.split("."))
    for folder in (place, *place.parents):
        if target in folder.parents:
            _write(folder / "__init__.py", b"")
    for module in _modules(_UTILS):
        if module not in _NEEDS_ANSIBLE:
            _write(place / f"{module}.py", _source(_UTILS, module))
    for room in _ROOMS:
        _copy_package(f"{_UTILS}.{room}", place / room)
    return worker.__name__


def _copy_package(name: str, target: Path) -> None:
    _write(target / "__init__.py", b"")
    for module in _modules(name):
        _write(target / f"{module}.py", _source(name, module))
    for found in pkgutil.iter_modules(importlib.import_module(name).__path__):
        if found.ispkg:
            _copy_package(f"{name}.{found.name}", target / found.name)


def _modules(package: str) -> Iterator[str]:
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if not found.ispkg:
            yield found.name


def _source(package: str, module: str) -> bytes:
    found = pkgutil.get_data(package, f"{module}.py")  # from a folder, or from the archive Ansible has shipped
    if found is None:
        raise FileNotFoundError(f"{package}: {module}")
    return found


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_bytes(content)
