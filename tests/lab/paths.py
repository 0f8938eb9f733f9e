# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the lab keeps things between runs: the cache of built tools and the directory of the long-lived lab."""

from __future__ import annotations

import os
from pathlib import Path

from lab import machine


def cache() -> Path:
    """The cache outside the checkout: $SUNSET_KUBE_CACHE, else sunset-kube below the user's cache directory."""
    if chosen := os.environ.get("SUNSET_KUBE_CACHE"):
        return Path(chosen)
    known = machine.environment()
    return Path(known.get("XDG_CACHE_HOME") or Path(known.get("HOME") or Path.home()) / ".cache") / "sunset-kube"


def long_lived_lab() -> Path:
    """The directory of the lab that `python -m lab up` starts: $SUNSET_KUBE_LAB, else below the cache."""
    chosen = os.environ.get("SUNSET_KUBE_LAB")
    return Path(chosen).absolute() if chosen else cache() / "lab"
