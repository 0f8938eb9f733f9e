# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetes.core, taken out of the package that ships it, once, into the cache."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from benchmarks.measuring import say
from lab import paths

PACKAGE = "ansible==12.3.0"
_PART = "ansible_collections/kubernetes/core/"


def kubernetes_core() -> Path:
    """A folder for ANSIBLE_COLLECTIONS_PATH with nothing but this collection in it."""
    home = paths.cache() / f"kubernetes.core-of-{PACKAGE.replace('==', '-')}"
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        say(f"fetching {PACKAGE} for kubernetes.core (55 MB, once)")
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=home.parent) as scratch:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, PACKAGE]
            subprocess.run(pip, check=True)
            whole = Path(scratch) / "whole"
            (package,) = Path(scratch).glob("*.whl")
            with zipfile.ZipFile(package) as archive:
                archive.extractall(whole, [name for name in archive.namelist() if name.startswith(_PART)])
            whole.rename(home)  # appears whole or not at all
    return home
