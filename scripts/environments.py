# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Python environments for the tools: made once in a cache outside the checkout, so that other clones find them too.

Run: python3 scripts/environments.py tools   (prints the environment's folder, made first if it is not there)
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent.parent / "tests" / "requirements"
OLDEST_PYTHON = (3, 11)  # what ansible-core 2.19 needs on the controller

# name → requirement files. The played maintenance-operator pins other versions of our tools, so it lives alone.
ENVIRONMENTS = {
    "tools": ("runtime.txt", "tools.txt", "constraints.txt"),
    "maintenance_operator": ("maintenance_operator.txt",),
}


def ensure(name: str) -> Path:
    """The environment's folder, made first if it is not there yet. Safe to call from several processes at once."""
    refuse_old_python()
    folder = cache() / f"venv-{fingerprint(name)}"
    if is_complete(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_complete(folder):  # another process may have made it while we waited
            make(name, folder)
    return folder


def refuse_old_python() -> None:
    if sys.version_info < OLDEST_PYTHON:
        oldest, this = ".".join(map(str, OLDEST_PYTHON)), sys.version.split()[0]
        sys.exit(f"Python {oldest} or newer is needed, this is {this}. Try: make PYTHON=python{oldest}")


def cache() -> Path:
    """Where everything lives that outlasts a checkout: environments here, the lab's Go tools beside them."""
    own = os.environ.get("SUNSET_KUBE_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sunset-kube"


def fingerprint(name: str) -> str:
    """Changes with any requirement and with the interpreter, so a stale environment is never found."""
    digest = hashlib.sha256(f"{name} {sys.version} {sys.base_prefix}".encode())
    for file in ENVIRONMENTS[name]:
        digest.update((REQUIREMENTS / file).read_bytes())
    return digest.hexdigest()[:12]


def is_complete(folder: Path) -> bool:
    return (folder / "complete").exists() and (folder / "bin" / "python").exists()


def make(name: str, folder: Path) -> None:
    """An environment cannot be moved after it was made, so it is made in place and marked as complete at the end."""
    say(f"making the Python environment '{name}' (about 2 minutes, once)")
    started = time.monotonic()
    wanted = [f"--requirement={REQUIREMENTS / file}" for file in ENVIRONMENTS[name] if file != "constraints.txt"]
    run(sys.executable, "-m", "venv", "--clear", str(folder))
    run(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
    (folder / "complete").touch()
    say(f"environment '{name}' is ready after {time.monotonic() - started:.0f} s")


def run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        say(done.stdout)
        sys.exit(f"failed: {' '.join(command)}")


def say(text: str) -> None:
    """To stderr: stdout belongs to the command that is run afterwards."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in ENVIRONMENTS:
        sys.exit(f"usage: environments.py {'|'.join(ENVIRONMENTS)}")
    print(ensure(sys.argv[1]))


if __name__ == "__main__":
    main()
