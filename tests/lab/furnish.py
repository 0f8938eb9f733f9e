# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first process of a room: makes its private places. A script: `python furnish.py DIRECTORY FURNITURE`

FURNITURE is a `room.Furniture` as JSON. It runs by itself, without the lab on its path, and stays until it is killed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

READY = "room.ready"  # appears in the directory when the room can be used
SCRATCH = "room"  # below the directory: what is written in a room that brings no disk


def main(directory: Path, furniture: dict[str, Any]) -> None:
    door = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)  # the directory itself may lie below what is hidden now
    os.chdir(furniture["disk"] or empty_disk(directory / SCRATCH))
    for place in furniture["overlays"]:
        overlay(place, forget=place in furniture["forgotten"])
    for place in furniture["empty"]:
        mount("-t", "tmpfs", "tmpfs", place)
    if furniture["network"]:
        mount("-t", "sysfs", "-o", "ro", "sysfs", "/sys")  # shows the interfaces of this network, not the machine's
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name, value in furniture["stand_ins"].items():
        stand_in = Path(name.replace("/", "."))
        stand_in.write_text(f"{value}\n")
        mount("--bind", str(stand_in), f"/proc/sys/{name}")
    for name, value in furniture["settings"].items():
        Path(f"/proc/sys/{name}").write_text(f"{value}\n")
    if furniture["hostname"]:
        socket.sethostname(furniture["hostname"])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans come to the first process; this buries them
    os.close(os.open(READY, os.O_CREAT | os.O_WRONLY, dir_fd=door))
    while True:
        signal.pause()


def empty_disk(place: Path) -> Path:
    place.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "tmpfs", str(place))
    return place


def overlay(place: str, *, forget: bool) -> None:
    """Let everything of the place be seen, and keep what is written to it on the disk, which is where we stand."""
    layer = Path(place.strip("/").replace("/", "."))
    if forget:
        shutil.rmtree(layer, ignore_errors=True)
    upper, work = layer / "upper", layer / "work"
    for folder in (upper, work):
        folder.mkdir(parents=True, exist_ok=True)
    shutil.copystat(place, upper)  # the mode of the place is that of the upper layer: /tmp is for everybody
    mount("-t", "overlay", "overlay", "-o", f"lowerdir={place},upperdir={upper},workdir={work}", place)


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
