# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of guarding a hub as result and diff.

Room: evidence.
"""

from __future__ import annotations

from typing import Any

from ..teardown.managed_cluster.guard import GuardOutcome
from .results import MOST, bounded


def guard_result(outcome: GuardOutcome, requests: dict[str, Any]) -> dict[str, Any]:
    return bounded(
        {
            "changed": outcome.changed,
            "namespaces": outcome.namespaces,
            "added": outcome.added,
            "dropped": outcome.dropped,
            "without_cluster": [str(ref) for ref in outcome.strays],
            "requests": requests,
        }
    )


def guard_diff(outcome: GuardOutcome) -> dict[str, str]:
    def lines(names: list[str]) -> str:
        cut = [*names[:MOST], f"… and {len(names) - MOST} more"] if len(names) > MOST else names
        return "".join(f"guard {name}\n" for name in cut)

    return {"before": lines(outcome.dropped), "after": lines(outcome.added)}
