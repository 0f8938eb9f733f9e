# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The init process of a sandbox, which mounts and sets what is private to it.

Run: python sandbox_init.py DIRECTORY SPEC

SPEC is a `sandbox.SandboxSpec` as JSON. It runs by itself, without the lab on its path, and stays until it is killed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

READY = "sandbox.ready"  # appears in the directory when the sandbox can be used
SCRATCH = "sandbox"  # below the directory: what is written in a sandbox that brings no disk


def main(directory: Path, spec: dict[str, Any]) -> None:
    directory_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)  # it may itself lie below what is hidden now
    os.chdir(spec["disk"] or empty_disk(directory / SCRATCH))
    for place in spec["overlays"]:
        hidden = [Path(path) for path in spec["hidden"] if Path(place) in Path(path).parents]
        overlay(Path(place), hidden, forget=place in spec["forgotten"])
    for place in spec["empty"]:
        mount("-t", "tmpfs", "tmpfs", place)
    if spec["network"]:
        mount("-t", "sysfs", "-o", "ro", "sysfs", "/sys")  # shows the interfaces of this network, not the machine's
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        stand_in("kernel/random/boot_id", uuid.uuid4())  # it is a machine of its own, and this is its start
    for name, value in spec["stand_ins"].items():
        stand_in(name, value)
    for name, value in spec["settings"].items():
        Path(f"/proc/sys/{name}").write_text(f"{value}\n")
    if spec["hostname"]:
        socket.sethostname(spec["hostname"])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans come to the first process; this buries them
    os.close(os.open(READY, os.O_CREAT | os.O_WRONLY, dir_fd=directory_fd))
    while True:
        signal.pause()


def empty_disk(place: Path) -> Path:
    place.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "tmpfs", str(place))
    return place


def overlay(place: Path, hidden: list[Path], *, forget: bool) -> None:
    """Let a place be seen but for what is hidden, and keep what is written to it on the disk: where we stand now."""
    layer = Path(str(place).strip("/").replace("/", "."))
    if forget:
        shutil.rmtree(layer, ignore_errors=True)
    upper, work = layer / "upper", layer / "work"
    if not layer.exists():
        work.mkdir(parents=True)
        make_alike(upper, place)
        for path in hidden:
            hide(path, place, upper)
    mount("-t", "overlay", "overlay", "-o", f"lowerdir={place},upperdir={upper},workdir={work}", str(place))


def hide(path: Path, place: Path, upper: Path) -> None:
    """As if it had been deleted, without a look at what is in it: others may be writing there at this moment."""
    if not os.path.lexists(path):
        return
    for parent in reversed(path.relative_to(place).parents):
        if not (upper / parent).exists():
            make_alike(upper / parent, place / parent)
    os.mknod(upper / path.relative_to(place), stat.S_IFCHR, os.makedev(0, 0))  # how an overlay notes a deletion


def make_alike(new: Path, model: Path) -> None:
    new.mkdir()
    owner = model.stat()
    os.chown(new, owner.st_uid, owner.st_gid)
    new.chmod(stat.S_IMODE(owner.st_mode))


def stand_in(name: str, value: object) -> None:
    """Let a file below /proc/sys be another one in here."""
    file = Path("stand-ins", name.replace("/", "."))
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{value}\n")
    mount("--bind", str(file), f"/proc/sys/{name}")


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
