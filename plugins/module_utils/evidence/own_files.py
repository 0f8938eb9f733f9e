# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files of earlier runs that are believed: consent to a plan, objects to create again. Only those that are ours alone.

Room: evidence. A folder counts that belongs to this user or to root, and that no other user may write to; the same for
each file in it. Symbolic links are not followed, and what was checked is what is read: both by the same descriptor.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..problems import Refused

_NEXT = "look what is in it; if it is what a run of yours left, make it yours alone: chown it, and chmod -R go-w"


@dataclass(frozen=True)
class OwnFolder:
    path: str
    descriptor: int

    def names(self) -> list[str]:
        return sorted(os.listdir(self.descriptor))

    def text(self, name: str) -> str:
        """Raises OSError where there is none."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe must not hold us up
        with _links_refused(os.path.join(self.path, name)):
            descriptor = os.open(name, flags, dir_fd=self.descriptor)
        with open(descriptor, encoding="utf-8") as stream:
            _require_ours(os.path.join(self.path, name), os.fstat(descriptor), stat.S_ISREG)
            return stream.read()


@contextlib.contextmanager
def own_folder(path: str) -> Iterator[OwnFolder]:
    """Refuses one that is not ours alone. Raises OSError where there is none."""
    with _links_refused(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _require_ours(path, os.fstat(descriptor), stat.S_ISDIR)
        yield OwnFolder(path, descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _links_refused(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if os.path.islink(path):
            raise Refused("not believed:", which=path, why="it is a symbolic link", next_step=_NEXT) from problem
        raise


def _require_ours(path: str, found: os.stat_result, is_kind: Callable[[int], bool]) -> None:
    why = ""
    if not is_kind(found.st_mode):
        why = "it is no plain file or folder"
    elif found.st_uid not in (0, os.geteuid()):
        why = f"it belongs to another user (uid {found.st_uid})"
    elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        why = f"other users may write to it (mode {stat.S_IMODE(found.st_mode):04o})"
    if why:
        raise Refused("not believed:", which=path, why=why, next_step=_NEXT)
