# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which failures are worth another try, and after what pause: one table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.kube.patience import (
    RULES,
    Situation,
    pause_before_next_try,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named


def after(status: int | None, tries: int = 1, elapsed: float = 0.0, **more: Any) -> Situation:
    return Situation(status, tries, elapsed, **more)


PAUSES: dict[str, tuple[Situation, float | None]] = {
    # What the server means for good.
    "400 is final": (after(400), None),
    "401 is final": (after(401), None),
    "403 is final": (after(403), None),
    "404 is final": (after(404), None),
    "405 is final": (after(405), None),
    "409 is final": (after(409), None),
    "410 is final": (after(410), None),
    "422 is final": (after(422), None),
    "422 is final even with Retry-After": (after(422, retry_after=1.0), None),
    # What passes.
    "429, first pause": (after(429), 0.1),
    "429, second pause doubles": (after(429, tries=2), 0.2),
    "429, fifth pause": (after(429, tries=5), 1.6),
    "429, pauses have a limit": (after(429, tries=20), 5.0),
    "429, Retry-After wins over the pause": (after(429, tries=5, retry_after=1.0), 1.0),
    "429, Retry-After 0 is a short pause": (after(429, retry_after=0.0), 0.05),
    "429, Retry-After that just fits": (after(429, elapsed=50.0, retry_after=10.0), 10.0),
    "429, Retry-After for longer than the rule is not waited for": (after(429, retry_after=86400.0), None),
    "429, Retry-After beyond the rule's end is not waited for": (after(429, elapsed=55.0, retry_after=10.0), None),
    "503, Retry-After for longer than the rule is not waited for": (after(503, retry_after=11.0), None),
    "408, the request was not taken": (after(408), 0.1),
    "408 ends after four tries": (after(408, tries=4), None),
    "429 ends after a minute": (after(429, tries=5, elapsed=60.0), None),
    "429 ends after many tries": (after(429, tries=100), None),
    "500 again": (after(500, tries=3), 0.4),
    "500 ends after four tries": (after(500, tries=4), None),
    "500 ends after ten seconds": (after(500, elapsed=10.0), None),
    "502 again": (after(502, tries=5), 1.6),
    "502 ends after six tries": (after(502, tries=6), None),
    "502 ends after ten seconds": (after(502, elapsed=10.0), None),
    "503 again": (after(503, tries=5), 1.6),
    "503 ends after six tries": (after(503, tries=6), None),
    "503 ends after ten seconds": (after(503, elapsed=10.0), None),
    "504 again": (after(504, tries=2, elapsed=29.0), 0.2),
    "504 ends after three tries": (after(504, tries=3), None),
    # No answer at all.
    "no answer": (after(None), 0.1),
    "no answer, many times": (after(None, tries=500, elapsed=59.0), 5.0),
    "no answer ends after a minute": (after(None, tries=20, elapsed=60.0), None),
    "no answer from a server never heard of": (after(None, ever_answered=False), 0.1),
    "never heard of, third try was the last": (after(None, tries=3, ever_answered=False), None),
    "never heard of, three seconds are enough": (after(None, tries=1, elapsed=3.0, ever_answered=False), None),
    # A server that has just come back refuses what it would allow a moment later.
    "401 just after an outage": (after(401, since_outage=1.0), 0.1),
    "403 just after an outage": (after(403, since_outage=1.0), 0.1),
    "403 a while after an outage": (after(403, since_outage=14.9), 0.1),
    "403 long after an outage": (after(403, since_outage=15.0), None),
    "502 just after an outage is tried more often": (after(502, tries=10, elapsed=20.0, since_outage=1.0), 5.0),
    "504 just after an outage is tried more often": (after(504, tries=10, elapsed=40.0, since_outage=1.0), 5.0),
    "404 just after an outage is final": (after(404, since_outage=1.0), None),
    "409 just after an outage is final": (after(409, since_outage=1.0), None),
    "500 just after an outage is tried more often": (after(500, tries=10, elapsed=20.0, since_outage=1.0), 5.0),
    "503 just after an outage is tried more often": (after(503, tries=10, elapsed=20.0, since_outage=1.0), 5.0),
    "403 after an outage ends after a minute": (after(403, tries=9, elapsed=60.0, since_outage=1.0), None),
}


@pytest.mark.parametrize(("situation", "pause"), named(PAUSES))
def test_the_pause_before_the_next_try(situation: Situation, pause: float | None) -> None:
    assert pause_before_next_try(situation) == pytest.approx(pause)


statuses = st.one_of(st.none(), st.sampled_from(sorted(RULES)), st.integers(300, 599))
situations = st.builds(
    Situation,
    status=statuses,
    tries=st.integers(1, 2000),
    elapsed=st.floats(0, 100),
    retry_after=st.one_of(st.none(), st.floats(0, 1e9)),
    ever_answered=st.booleans(),
    since_outage=st.one_of(st.none(), st.floats(0, 100)),
)


@given(situations)
def test_no_failure_is_tried_again_for_more_than_a_minute_or_without_a_pause(situation: Situation) -> None:
    pause = pause_before_next_try(situation)
    assert pause is None or (pause >= 0.05 and situation.elapsed < 60.0)
    assert pause is None or situation.retry_after is None or situation.elapsed + pause <= 60.0
