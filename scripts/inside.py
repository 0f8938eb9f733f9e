# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a command among our tools: their environment first on PATH, the built collection and the test helpers importable.

Run: python3 scripts/inside.py python -m pytest tests/unit -k plan
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import artefact
import environments
from checkout import ROOT


def surroundings(venv: Path) -> dict[str, str]:
    """Environment variables for anything that tests the built collection."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **inherited,
        "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYTHONPATH": f"{artefact.WORK}{os.pathsep}{ROOT / 'tests'}",
        # Compiled once, not by each worker, and no bytecode lies between the files of a checkout.
        "PYTHONPYCACHEPREFIX": str(environments.cache() / "bytecode"),
        "ANSIBLE_COLLECTIONS_PATH": str(artefact.WORK),
        # For tools that ask git which files count: the built tree is no part of the checkout, which ignores it.
        "GIT_CEILING_DIRECTORIES": str(artefact.WORK),
        "SUNSET_KUBE_CACHE": str(environments.cache()),
        "VIRTUAL_ENV": str(venv),
    }


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: inside.py command [argument ...]")
    venv = environments.ensure("tools")
    artefact.build()
    os.chdir(ROOT)
    wanted = surroundings(venv)
    os.environ.clear()
    os.environ.update(wanted)  # before the search for the command, which goes by PATH
    sys.stdout.flush()
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as problem:
        sys.exit(f"cannot run {sys.argv[1]}: {problem.strerror}")


if __name__ == "__main__":
    main()
