# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first process of a node's room: makes its private places. A script: `python furnish.py DIRECTORY`

It runs by itself, without the lab on its path, and stays until it is killed.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

READY = "room.ready"  # appears in the directory when the room can be used
# Where a node writes without asking: /run is empty in the room, /var keeps what is written to itself. The rest of the
# machine is seen as it is.
PRIVATE = ("/run", "/var")

# The kubelet sets these for the whole machine. In the room it finds them set already, and the machine keeps its own.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}


def main(directory: Path) -> None:
    scratch = directory / "room"
    scratch.mkdir()
    mount("-t", "tmpfs", "tmpfs", str(scratch))
    upper, work = scratch / "upper", scratch / "work"
    upper.mkdir()
    work.mkdir()
    mount("-t", "overlay", "overlay", "-o", f"lowerdir=/var,upperdir={upper},workdir={work}", "/var")
    mount("-t", "tmpfs", "tmpfs", "/run")
    for name, value in KERNEL_SETTINGS.items():
        stand_in = scratch / name.replace("/", ".")
        stand_in.write_text(f"{value}\n")
        mount("--bind", str(stand_in), f"/proc/sys/{name}")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans come to the first process; this buries them
    (directory / READY).touch()
    while True:
        signal.pause()


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
