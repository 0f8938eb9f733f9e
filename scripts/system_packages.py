# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""System packages the tests need: installs what is missing where that is possible, else says so.

Run: python3 scripts/system_packages.py
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LIST = Path(__file__).resolve().parent.parent / "tests" / "requirements" / "debian.txt"
REST = "# The rest is for make test-all:\n"
POLICY = Path("/usr/sbin/policy-rc.d")  # Debian asks it before it starts or stops a service


def ensure(*, everything: bool) -> list[str]:
    """Names of the packages that are still missing afterwards: of those for make test, or of all."""
    missing = list(missing_packages(everything))
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing Debian packages: {' '.join(missing)} (about a minute, once)", flush=True)
        apt("update")
        with services_that_stay_down():
            apt("install", "--yes", "--no-install-recommends", *missing)
        missing = list(missing_packages(everything))
    if missing:
        print(
            f"missing: {' '.join(missing)}. On Debian or Ubuntu: sudo apt-get install {' '.join(missing)}", flush=True
        )
    return missing


def missing_packages(everything: bool) -> Iterator[str]:
    text = LIST.read_text()
    for line in (text if everything else text.partition(REST)[0]).splitlines():
        package, _colon, test = line.partition(": ")
        if test and not line.startswith("#") and not succeeds(test.split()):
            yield package


def succeeds(command: list[str]) -> bool:
    if not shutil.which(command[0]):
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def services_that_stay_down() -> Iterator[None]:
    """Debian starts what it installs. The tests want the programs, not a web server on this machine's port 80."""
    if POLICY.exists():  # somebody else's; in containers it says the same
        yield
        return
    try:
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
        yield
    finally:
        POLICY.unlink(missing_ok=True)


def apt(*arguments: str) -> None:
    """A failure is not the end: the groups that need the package are skipped, or say what they miss."""
    surroundings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(["apt-get", "-qq", *arguments], env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"apt-get {arguments[0]} failed: {done.stderr.strip()[-400:]}", flush=True)


if __name__ == "__main__":
    sys.exit(1 if ensure(everything=True) else 0)
