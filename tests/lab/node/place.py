# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's place on the machine: a bridge, a range of pod addresses, a branch of the control groups.

These are the only things a node has outside its sandbox. A place is held by a lock that goes with the process, and what
a killed process left in it is swept by the next one that takes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from lab.plane.components import SERVICE_RANGE
from lab.problems import LabError
from lab.waiting import until

NUMBERS = range(4)  # so many nodes at a time
LOCKS = Path("/run/lock")
CGROUPS = Path("/sys/fs/cgroup")
PATIENCE = 900.0  # seconds until another test run has ended


@dataclass(frozen=True)
class Place:
    number: int

    @property
    def bridge(self) -> str:
        return f"sunset-node{self.number}"

    @property
    def subnet(self) -> str:
        return f"198.18.{self.number}.0/24"

    @property
    def address(self) -> str:
        """Of the machine as its pods see it."""
        return f"198.18.{self.number}.1"

    @property
    def cgroup(self) -> str:
        return f"/sunset-kube-node{self.number}"

    @property
    def metric(self) -> str:
        """Marks our route among those of other nodes."""
        return f"{4200 + self.number}"

    @property
    def lock(self) -> Path:
        return LOCKS / f"{self.bridge}.lock"


@contextlib.contextmanager
def taken(directory: Path) -> Iterator[Place]:
    """A place for the node in this directory, prepared; swept afterwards."""
    place, note = _free_place()
    with note:  # closing it gives the place back
        sweep(place)
        note.seek(0)
        if left := note.read():
            shutil.rmtree(left, ignore_errors=True)
        _write(note, str(directory))
        try:
            _prepare(place)
            yield place
        finally:
            sweep(place)
            _write(note, "")


def sweep(place: Place) -> None:
    """Take away what a node has outside its sandbox. Its processes must be gone."""
    if Path(f"/sys/class/net/{place.bridge}").exists():
        ports = Path(f"/sys/class/net/{place.bridge}/brif")
        # A pod's cable goes with its network, which the kernel takes down a moment after the last process in it.
        until(lambda: not any(ports.iterdir()), f"the pods' networks on {place.bridge} to go", every=0.02)
        _ip("link", "delete", place.bridge)
    while _ip("route", "delete", "blackhole", SERVICE_RANGE, "metric", place.metric, check=False):
        pass
    for branch in _cgroups(place):
        if branch.exists():
            until(functools.partial(_pruned, branch), f"{branch} to be empty", every=0.02)


def cgroup_folders(place: Place, name: str) -> list[Path]:
    """The groups of this name below a node's branch, one in each hierarchy: where the kernel counts what a pod uses."""
    return [found for branch in _cgroups(place) for found in branch.rglob(name)]


def _prepare(place: Place) -> None:
    _ip("link", "add", place.bridge, "type", "bridge")
    _ip("address", "add", f"{place.address}/24", "dev", place.bridge)
    _ip("link", "set", place.bridge, "up")
    # Nobody routes services here. Without this, packets to them would leave the machine.
    _ip("route", "add", "blackhole", SERVICE_RANGE, "metric", place.metric)
    for branch in _cgroups(place):
        branch.mkdir(exist_ok=True)


def _cgroups(place: Place) -> list[Path]:
    """Our branch in every hierarchy: one on machines with version 2, one for each controller with version 1."""
    if (CGROUPS / "cgroup.controllers").exists():
        roots = [CGROUPS]
    else:
        roots = [folder for folder in sorted(CGROUPS.iterdir()) if folder.is_mount()]
    return [root / place.cgroup.lstrip("/") for root in roots]


def _pruned(branch: Path) -> bool:
    """Remove a branch from its leaves up; False while the kernel still holds some of it."""
    try:
        for folder, _folders, _files in os.walk(branch, topdown=False):
            os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def _free_place() -> tuple[Place, TextIO]:
    """A place nobody has, and its lock, on which is written which directory the last node had and did not remove."""
    told = False

    def look() -> tuple[Place, TextIO] | None:
        nonlocal told
        for place in map(Place, NUMBERS):
            note = place.lock.open("a+")
            try:
                fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                note.close()
            else:
                return place, note
        if not told:
            print(f"lab: {len(NUMBERS)} nodes run already, waiting for one to end", file=sys.stderr, flush=True)
        told = True
        return None

    return until(look, f"a free place for a node; who holds them: fuser {LOCKS}/sunset-node*.lock", timeout=PATIENCE)


def _write(note: TextIO, text: str) -> None:
    note.truncate(0)
    note.write(text)
    note.flush()


def _ip(*arguments: str, check: bool = True) -> bool:
    """Run `ip`; whether it succeeded. A failure is an error unless `check` is off."""
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode and check:
        raise LabError(f"`ip {' '.join(arguments)}` failed: {done.stderr.strip()}")
    return done.returncode == 0
