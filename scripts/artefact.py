# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The built collection: what users get is what we test.

Run: python3 scripts/artefact.py            (builds dist/sunset-kube-<version>.tar.gz and installs it below .work)
Run: python3 scripts/artefact.py contents   (fails if the tarball holds anything that is not meant for users)
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import environments
from checkout import ROOT

WORK = ROOT / ".work"
INSTALLED = WORK / "ansible_collections" / "sunset" / "kube"

# What the tarball may hold. `build_ignore` in galaxy.yml keeps the rest out; the check "contents" compares the two.
SHIPPED = (
    "CHANGELOG.md",
    "CHANGELOG.rst",
    "CONTRIBUTING.md",
    "LICENSES",
    "README.md",
    "changelogs",
    "docs",
    "extensions",
    "meta",
    "playbooks",
    "plugins",
    "requirements.txt",
    "roles",
    "tests/config.yml",
    "tests/unit",
)
ADDED_BY_GALAXY = ("FILES.json", "MANIFEST.json")


def build() -> Path:
    """Build and install, unless nothing that goes into the tarball has changed since the last time."""
    WORK.mkdir(exist_ok=True)
    with (WORK / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = WORK / "build.stamp"
        inputs = fingerprint()
        if stamp.exists() and stamp.read_text() == inputs and tarball().exists() and INSTALLED.exists():
            environments.say(f"build: {tarball().relative_to(ROOT)} is up to date")
            return tarball()
        started = time.monotonic()
        stamp.unlink(missing_ok=True)
        tarball().unlink(missing_ok=True)
        galaxy("build", "--force", "--output-path", str(ROOT / "dist"))
        install()
        stamp.write_text(inputs)
        seconds = time.monotonic() - started
        environments.say(f"build: {tarball().relative_to(ROOT)} made and installed, {seconds:.1f} s")
    return tarball()


def install() -> None:
    """Unpack beside the old tree, then swap: a test that reads the tree meanwhile never finds half of it."""
    incoming = WORK / "incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    galaxy("install", "--offline", "--no-deps", "--collections-path", str(incoming), str(tarball()))
    INSTALLED.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(WORK / "outgoing", ignore_errors=True)
    if INSTALLED.exists():
        INSTALLED.rename(WORK / "outgoing")
    (incoming / "ansible_collections" / "sunset" / "kube").rename(INSTALLED)
    shutil.rmtree(WORK / "outgoing", ignore_errors=True)
    shutil.rmtree(incoming, ignore_errors=True)


def check_contents() -> None:
    with tarfile.open(tarball()) as archive:
        names = [member.name for member in archive.getmembers() if member.isfile()]
    strangers = [name for name in names if not name.startswith(tuple(SHIPPED)) and name not in ADDED_BY_GALAXY]
    if strangers:
        print("\n".join(strangers))
        sys.exit("the tarball holds files that users do not need: add them to build_ignore in galaxy.yml")
    print(f"{len(names)} files")


def fingerprint() -> str:
    digest = hashlib.sha256(str(environments.fingerprint("tools")).encode())
    for file in sorted(inputs()):
        digest.update(f"{file.relative_to(ROOT)} {file.stat().st_mode}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def inputs() -> Iterator[Path]:
    yield ROOT / "galaxy.yml"
    for name in SHIPPED:
        start = ROOT / name
        for file in start.rglob("*") if start.is_dir() else [start]:
            if file.is_file() and "__pycache__" not in file.parts:
                yield file


def tarball() -> Path:
    found = re.search(r"^version: *(\S+)", (ROOT / "galaxy.yml").read_text(), re.MULTILINE)
    if not found:
        sys.exit("galaxy.yml has no version")
    return ROOT / "dist" / f"sunset-kube-{found.group(1)}.tar.gz"


def galaxy(*arguments: str) -> None:
    command = [str(environments.ensure("tools") / "bin" / "ansible-galaxy"), "collection", *arguments]
    settings = WORK / "empty.cfg"  # none of those that somebody has for Ansible
    settings.touch()
    ours = {"COLLECTIONS_PATH": WORK / "incoming", "CONFIG": settings, "NOCOLOR": "1"}
    surroundings = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
        **{f"ANSIBLE_{name}": str(value) for name, value in ours.items()},
    }
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed: ansible-galaxy collection {arguments[0]}\n{done.stdout}{done.stderr}")


def main() -> None:
    jobs = {"": build, "contents": check_contents}
    wanted = " ".join(sys.argv[1:])
    if wanted not in jobs:
        sys.exit("usage: artefact.py [contents]")
    jobs[wanted]()


if __name__ == "__main__":
    main()
