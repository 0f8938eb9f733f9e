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


def refuse_unsafe_place(path: Path) -> None:
    """The directory and all above it belong to us or to root, and no other user can write to them.

    After a reboot, code from this directory runs as root. A user who may write to a directory above it can put another
    one in its place, with the sticky bit as well: where none is there yet, or after the old one was cleaned away.
    """
    real = path.resolve()
    for place in dict.fromkeys((*reversed(path.parents), path, *reversed(real.parents), real)):
        try:
            found = place.lstat()
        except FileNotFoundError:
            continue  # made by us, in a directory that was looked at
        except OSError as problem:
            raise CannotLook("cannot look at journal_dir", which=str(place), why=str(problem)) from problem
        why = ""
        if found.st_uid not in (0, os.geteuid()):
            why = f"{place} belongs to user {found.st_uid}"
        elif not stat.S_ISLNK(found.st_mode) and stat.S_IMODE(found.st_mode) & 0o022:
            why = f"other users can write to {place} (mode {stat.S_IMODE(found.st_mode):04o})"
        if why:
            raise Refused(
                "cannot keep a journal in",
                which=str(path),
                why=f"{why}, and after a reboot root runs what is in the journal",
                next_step="choose a journal_dir that only root can write to, such as the default",
            )


def private_directory(path: Path) -> None:
    """Ours alone, 0700. Snapshots hold passwords, and whoever can write here decides what root applies."""
    for parent in reversed(path.parents):
        parent.mkdir(mode=0o755, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
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
