# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options that name a custom resource: for both ends of a reconciliation.

Room: jobs. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..limits import check_run_options
from ..problems import BadFields

RESOURCE: dict[str, dict[str, Any]] = {
    "api_version": {"type": "str", "required": True},
    "kind": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "namespace": {"type": "str"},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    bad = BadFields()
    check_run_options(params, bad)
    bad.raise_if_any()


def named_in(params: dict[str, Any]) -> dict[str, str]:
    return {name: params[name] or "" for name in RESOURCE}


def as_period(seconds: float) -> str:
    """As Go writes a duration; empty for never."""
    return f"{max(1, round(seconds))}s" if seconds > 0 else ""
