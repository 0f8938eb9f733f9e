# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-test sanity without a container and without anything but a package index.

"sanity" runs on the built collection, with this Python. "sanity-all" runs on the files of the checkout, with every
Python found on this machine that modules must load on.

Run: python3 scripts/inside.py python scripts/run_ansible_test.py sanity|sanity-all [argument ...]
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import artefact
import checkout
import import_tops

# ansible-test wants this pip bootstrap script from a host of its own. Python brings a pip along: use that.
PIP_BOOTSTRAP = Path.home() / ".ansible" / "test" / "cache" / "get_pip_24_2.py"
PIP_FROM_PYTHON = "import ensurepip\n\nensurepip.bootstrap()\n"

# Modules must load on each of these; those found on this machine are tried.
TARGET_PYTHONS = ("3.10", "3.11", "3.12", "3.13")
OURS = f"{sys.version_info.major}.{sys.version_info.minor}"


def main() -> int:
    command, *arguments = sys.argv[1:]
    seed_pip_bootstrap()
    # A copy of its own, away from the checkout: a build meanwhile does not disturb it, and ansible-test does not ask
    # the checkout's git, which would say that .work holds no files.
    with tempfile.TemporaryDirectory(prefix="sunset-kube-") as place:
        tree = Path(place) / "ansible_collections" / "sunset" / "kube"
        if command == "sanity":
            shutil.copytree(artefact.INSTALLED, tree)
        else:
            copy_checkout(tree)
        runs = sanity_runs(arguments, tree, other_pythons() if command == "sanity-all" else [])
        codes = [sanity(run, tree) for run in runs]
    return next((code for code in codes if code), 0)


def sanity(arguments: list[str], tree: Path) -> int:
    whole = ["ansible-test", "sanity", "--color", "no", *arguments]
    return subprocess.run(whole, cwd=tree, env=surroundings(), check=False).returncode


def sanity_runs(arguments: list[str], tree: Path, others: list[str]) -> list[list[str]]:
    """Everything on our Python. On the others only what can differ there: does it compile, does it load.

    To load each file alone, ansible-test compiles all that the file imports anew each time, which takes minutes. As
    imports never go round in a circle (a unit test says so), the files nobody imports load all the rest with them.
    """
    ours = [f"--target-python={OURS}"]
    start = ["--controller", f"origin:python={OURS}"]
    if arguments:
        return [[*start, *ours, *others, *arguments]]
    compiled = [[*start, *others, "--test", "compile"]] if others else []
    return [
        [*start, *ours, "--skip-test", "import"],
        *compiled,
        [*start, *ours, *others, "--test", "import", *import_tops.tops(tree)],
    ]


def copy_checkout(tree: Path) -> None:
    for file in checkout.files():
        copy = tree / file.relative_to(checkout.ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy)


def seed_pip_bootstrap() -> None:
    if not PIP_BOOTSTRAP.exists():
        PIP_BOOTSTRAP.parent.mkdir(parents=True, exist_ok=True)
        PIP_BOOTSTRAP.write_text(PIP_FROM_PYTHON)


def other_pythons() -> list[str]:
    found = interpreters(version for version in TARGET_PYTHONS if version != OURS)
    shelf = shelf_of(found)
    os.environ["PATH"] = f"{os.environ['PATH'].split(os.pathsep)[0]}{os.pathsep}{shelf}{os.pathsep}{os.environ['PATH']}"
    return [f"--target-python={version}" for version in found]


def interpreters(versions: Iterable[str]) -> dict[str, Path]:
    """The real ones: a pyenv shim on PATH may name a version that is not switched on, so pyenv's folder counts too."""
    found = {}
    for version in versions:
        name = f"python{version}"
        candidates = [Path(place) / name for place in os.get_exec_path()]
        candidates += sorted(pyenv_versions().glob(f"{version}.*/bin/{name}"))
        working = next((path for path in candidates if answers(path, version)), None)
        if working:
            found[version] = working
    return found


def pyenv_versions() -> Path:
    return Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"


def answers(python: Path, version: str) -> bool:
    if not python.exists():
        return False
    asked = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
    return asked.returncode == 0 and re.match(rf"Python {re.escape(version)}\.", asked.stdout) is not None


def shelf_of(found: dict[str, Path]) -> Path:
    """A folder with exactly these interpreters, because ansible-test looks them up by name on PATH."""
    shelf = artefact.WORK / "pythons"
    shutil.rmtree(shelf, ignore_errors=True)
    shelf.mkdir(parents=True)
    for version, python in found.items():
        (shelf / f"python{version}").symlink_to(python)
    return shelf


def surroundings() -> dict[str, str]:
    ours = ("PYTHONPATH", "ANSIBLE_COLLECTIONS_PATH")  # ansible-test sets its own
    return {name: value for name, value in os.environ.items() if name not in ours}


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the copy goes, whoever ends us
    sys.exit(main())
