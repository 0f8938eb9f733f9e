# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions as the handlers of kubernetes-nmstate write them, as tables, and how they decide on them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

Condition = dict[str, str]
TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"

# On an enactment: Available, Failing, Progressing, Pending, Aborted, and the reason of all.
ENACTMENT: dict[str, tuple[tuple[str, ...], str]] = {
    "progressing": ((UNKNOWN, UNKNOWN, TRUE, FALSE, FALSE), "ConfigurationProgressing"),
    "retrying": ((FALSE, TRUE, TRUE, FALSE, FALSE), "Retrying"),
    "failed": ((FALSE, TRUE, FALSE, FALSE, FALSE), "FailedToConfigure"),
    "aborted": ((FALSE, FALSE, FALSE, FALSE, TRUE), "ConfigurationAborted"),
    "pending": ((FALSE, FALSE, FALSE, TRUE, FALSE), "MaxUnavailableLimitReached"),
    "available": ((TRUE, FALSE, FALSE, FALSE, FALSE), "SuccessfullyConfigured"),
}
# On a policy: Available, Degraded, Progressing, Ignored.
POLICY: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown": ((UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN), ""),
    "ignored": ((FALSE, FALSE, FALSE, TRUE), "NoMatchingNode"),
    "degraded": ((FALSE, TRUE, FALSE, FALSE), "FailedToConfigure"),
    "progressing": ((UNKNOWN, UNKNOWN, TRUE, FALSE), "ConfigurationProgressing"),
    "available": ((TRUE, FALSE, FALSE, FALSE), "SuccessfullyConfigured"),
}


def of_enactment(word: str, message: str = "") -> list[Condition]:
    return _conditions(("Available", "Failing", "Progressing", "Pending", "Aborted"), *ENACTMENT[word], message)


def of_policy(word: str) -> list[Condition]:
    return _conditions(("Available", "Degraded", "Progressing", "Ignored"), *POLICY[word], "")


def _conditions(types: Sequence[str], statuses: Sequence[str], reason: str, message: str) -> list[Condition]:
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    common = {"reason": reason, "message": message, "lastHeartbeatTime": now, "lastTransitionTime": now}
    return [{"type": kind, "status": status, **common} for kind, status in zip(types, statuses, strict=True)]


def is_true(item: Mapping[str, Any], kind: str) -> bool:
    conditions = (item.get("status") or {}).get("conditions") or ()
    return any(one["type"] == kind and one["status"] == TRUE for one in conditions)


def policy_word(matching: int, ready: int, enactments: Sequence[Mapping[str, Any]], generation: int) -> str:
    """From the enactments of this generation, in the handlers' own order."""
    current = [one for one in enactments if (one.get("status") or {}).get("policyGeneration") == generation]

    def count(*kinds: str) -> int:
        return sum(any(is_true(one, kind) for kind in kinds) for one in current)

    failed = sum(is_true(one, "Failing") and not is_true(one, "Progressing") for one in current)
    if not matching:
        return "ignored"
    if failed or count("Aborted"):
        return "degraded"
    if count("Available") < ready or count("Pending"):
        return "progressing"
    return "available"


def slots(policy: Mapping[str, Any], enactments: int) -> int:
    """maxUnavailable; a text without a percent sign means nothing, and half is taken instead."""
    given = policy["spec"].get("maxUnavailable", "50%")
    if isinstance(given, str):
        digits = given.removesuffix("%") if given.endswith("%") and given[:-1].isdigit() else "50"
        given = math.ceil(enactments * int(digits) / 100)
    return max(1, given)
