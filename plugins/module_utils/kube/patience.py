# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which failures are worth another try, for how long, and after what pause. Decides; sends and sleeps nothing.

Room: kube. Permanent answers (403, 404, 405, 409, 422 …) are never tried again, with one exception: an API server
that has just come back may refuse what it would allow a moment later, because it has not yet read its roles.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    seconds: float  # how long after the first try
    tries: int  # how often at most


# status → rule. A list against a dead conversion webhook may answer 500 or 429 for ever: both end.
RULES = {
    # The server did not take the request, and closed the connection: for the next one it is a new one.
    408: Rule(seconds=10.0, tries=4),
    429: Rule(seconds=60.0, tries=100),
    500: Rule(seconds=10.0, tries=4),
    502: Rule(seconds=10.0, tries=6),
    503: Rule(seconds=10.0, tries=6),
    504: Rule(seconds=30.0, tries=3),
}
NO_ANSWER = Rule(seconds=60.0, tries=1000)
# A first contact that fails is a wrong address far more often than a passing fault: say so soon.
NO_ANSWER_EVER = Rule(seconds=3.0, tries=3)
AFTER_AN_OUTAGE = Rule(seconds=60.0, tries=1000)
OUTAGE_ECHO = 15.0
_EARLY = frozenset({401, 403, 500, 502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


@dataclass(frozen=True)
class Situation:
    """What is known when a try has failed. `status` is None when no answer came."""

    status: int | None
    tries: int
    elapsed: float
    retry_after: float | None = None
    ever_answered: bool = True
    since_outage: float | None = None


def pause_before_next_try(situation: Situation) -> float | None:
    """Seconds to wait, or None: this answer is final."""
    rule = _rule_for(situation)
    if rule is None or situation.tries >= rule.tries or situation.elapsed >= rule.seconds:
        return None
    backoff: float = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(situation.tries - 1, 16))
    if situation.retry_after is None:
        return backoff
    pause = max(situation.retry_after, 0.05)
    # A server that asks for more time than the rule has is not waited for: all workers would stand still meanwhile.
    return pause if situation.elapsed + pause <= rule.seconds else None


def _rule_for(situation: Situation) -> Rule | None:
    if situation.status is None:
        return NO_ANSWER if situation.ever_answered else NO_ANSWER_EVER
    echo = situation.since_outage is not None and situation.since_outage < OUTAGE_ECHO
    if echo and situation.status in _EARLY:
        return AFTER_AN_OUTAGE
    return RULES.get(situation.status)
