# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The journal's directory and the files in it: ours alone, read without following links, removed for good.

Room: network. Private to the collection.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ..problems import CannotLook, Refused
from .guard.files import PARTIAL, sync_directory


def private_directory(path: Path) -> None:
    """Ours alone, 0700. Snapshots hold passwords, and whoever can write here decides what root applies."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        owner = "it is not a directory" if not stat.S_ISDIR(found.st_mode) else f"it belongs to user {found.st_uid}"
        raise Refused("cannot keep a journal in", which=str(path), why=owner, next_step="choose another journal_dir")
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(0o700)


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    sync_directory(path.parent)


def read_text(path: Path) -> str:
    """Never through a symbolic link. Raises `OSError` and `UnicodeDecodeError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, encoding="utf-8") as file:
        return file.read()


def files_in(path: Path, suffix: str) -> Iterator[Path]:
    """Everything but what was left half written. A directory that is not there is empty; one we may not read is not."""
    try:
        names = sorted(os.listdir(path))
    except FileNotFoundError:
        return
    except OSError as problem:
        raise CannotLook("cannot read the journal", which=str(path), why=str(problem)) from problem
    yield from (path / name for name in names if name.endswith(suffix) and not name.startswith(PARTIAL))
