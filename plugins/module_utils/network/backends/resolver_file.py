# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""/etc/resolv.conf, where nobody else keeps it.

Room: network, backends.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...problems import CannotLook
from .ip_command import CannotApply

FILE = Path("/etc/resolv.conf")
_NAMES = {"nameserver": "server", "search": "search", "domain": "search", "options": "options"}


def is_ours() -> bool:
    """A link leads to the file of a program that would write over it (systemd-resolved, resolvconf …)."""
    return not FILE.is_symlink()


def read() -> dict[str, list[str]]:
    try:
        return parsed(FILE.read_text())
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise CannotLook(f"cannot read {FILE}", why=str(problem)) from problem


def parsed(text: str) -> dict[str, list[str]]:
    """Servers add up; of search lists, the last one counts."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        word, *values = line.split("#")[0].split(";")[0].split() or [""]
        key = _NAMES.get(word)
        if key == "server":
            found.setdefault(key, []).extend(values[:1])
        elif key == "options":
            found.setdefault(key, []).extend(values)
        elif key:
            found[key] = values
    return found


def written(text: str, wanted: Mapping[str, Sequence[str]]) -> str:
    """The file with these servers, search domains and options; whatever else stood there stays."""
    others = [line for line in text.splitlines() if (line.split() or [""])[0] not in _NAMES]
    own = [f"search {' '.join(wanted['search'])}"] if wanted.get("search") else []
    own += [f"options {' '.join(wanted['options'])}"] if wanted.get("options") else []
    own += [f"nameserver {server}" for server in wanted.get("server") or ()]
    return "".join(f"{line}\n" for line in [*others, *own])


def write(wanted: Mapping[str, Sequence[str]]) -> None:
    """Whole or not at all: a resolver that reads meanwhile finds the old or the new file."""
    draft = FILE.with_name(f".{FILE.name}.sunset")
    try:
        text, mode = (FILE.read_text(), FILE.stat().st_mode & 0o777) if FILE.exists() else ("", 0o644)
        with draft.open("w", encoding="utf-8") as stream:
            os.fchmod(stream.fileno(), mode)
            stream.write(written(text, wanted))
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(FILE)
    except OSError as problem:
        draft.unlink(missing_ok=True)
        raise CannotApply(f"cannot write {FILE}", why=str(problem)) from problem
