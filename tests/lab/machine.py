# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment for what fetches and builds: with the home folder and the proxies that tests do without."""

from __future__ import annotations

import json
import os

PUT_ASIDE = "SUNSET_KUBE_PUT_ASIDE"  # as in tests/unit/own_settings.py


def environment() -> dict[str, str]:
    """Ours, and what the tests have put aside."""
    return {**os.environ, **json.loads(os.environ.get(PUT_ASIDE, "{}"))}
