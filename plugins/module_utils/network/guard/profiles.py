# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is on disk: NetworkManager's profiles and a few single files; kept before a change, put back after it.

Room: network, guard (stands alone).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from .files import write_whole

PLACES = (Path("/etc/NetworkManager/system-connections"), Path("/run/NetworkManager/system-connections"))
# Name servers for all profiles are in a file of their own, which checkpoints did not cover before 1.48.
FILES = (Path("/var/lib/NetworkManager/NetworkManager-intern.conf"), Path("/etc/resolv.conf"), Path("/etc/hostname"))
_TIMEOUT = 30.0


def keep(folder: Path) -> None:
    """Copy all of it below `folder`, readable by nobody else: profiles hold keys and passwords."""
    for number, place in enumerate(PLACES):
        kept = folder / str(number)
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in _contents(place).items():
            _write(kept / name, content)
    single = folder / "files"
    single.mkdir(mode=0o700, exist_ok=True)
    for file in FILES:
        if file.is_file() and not file.is_symlink():  # a link leads to somebody's own file, who writes it anew
            _write(single / file.name, file.read_bytes())


def differ(folder: Path) -> list[str]:
    """What is not as it was kept."""
    told = []
    for number, place in enumerate(PLACES):
        before, after = _contents(folder / str(number)), _contents(place)
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        told += [f"profile {name}" for name in changed]
    return told + [str(file) for file, content in _kept_files(folder) if _content(file) != content]


def put_back(folder: Path) -> None:
    for number, place in enumerate(PLACES):
        before, after = _contents(folder / str(number)), _contents(place)
        for name in after.keys() - before.keys():
            (place / name).unlink(missing_ok=True)
        for name, content in before.items():
            if after.get(name) != content:
                _write(place / name, content)
    for file, content in _kept_files(folder):
        if _content(file) != content and not file.is_symlink():
            _overwrite(file, content)


def _kept_files(folder: Path) -> list[tuple[Path, bytes]]:
    """A file that was not there before is left alone: others may have made it."""
    kept = [(file, folder / "files" / file.name) for file in FILES]
    return [(file, copy.read_bytes()) for file, copy in kept if copy.is_file()]


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _contents(place: Path) -> dict[str, bytes]:
    files = sorted(place.glob("*")) if place.is_dir() else []
    return {file.name: file.read_bytes() for file in files if file.is_file()}


def _write(file: Path, content: bytes) -> None:
    """NetworkManager ignores profiles that others may read, and ours are not to be read either."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(file, content)


def _overwrite(file: Path, content: bytes) -> None:
    """In place: such a file may be mounted, and everybody may read it."""
    with file.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def is_running() -> bool:
    return _nmcli("-t", "-f", "RUNNING", "general").strip() == "running"


def active() -> dict[str, str]:
    """Device → uuid of the profile that is active on it."""
    lines = _nmcli("-t", "-f", "DEVICE,UUID", "connection", "show", "--active").splitlines()
    pairs = [line.partition(":") for line in lines]
    return {device: uuid for device, _colon, uuid in pairs if device and device != "lo"}


def reload() -> None:
    _nmcli("general", "reload")
    _nmcli("connection", "reload")


def activate_again(wanted: dict[str, str]) -> list[str]:
    """Read the files anew, and bring up what was up. What was refused."""
    refused = []
    reload()
    for device, uuid in wanted.items():
        done = _run("connection", "up", "uuid", uuid, "ifname", device)
        if done.returncode:
            refused.append(f"nmcli connection up {uuid}: {done.stderr.strip()}")
    return refused


def _nmcli(*words: str) -> str:
    return _run(*words).stdout


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["nmcli", *words], capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(words, 1, "", str(problem))
