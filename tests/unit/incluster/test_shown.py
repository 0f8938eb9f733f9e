# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a plan has shown, kept in a status and read again."""

from __future__ import annotations

import uuid
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.incluster.shown import MOST, digest_of, kept_of, shown_in
from ansible_collections.sunset.kube.plugins.module_utils.shown import NOTHING_SHOWN


def plan(*uids: str) -> dict[str, Any]:
    rows = [{"object": {"uid": uid}} for uid in uids]
    return {"steps": [{"objects": rows[:1], "release": rows[1:]}, {"objects": []}]}


def test_it_comes_back_for_its_own_hash_only() -> None:
    first, *others = (str(uuid.uuid4()) for _number in range(3))
    status = {"shown": kept_of(plan(first, *others), "abc", "s")}
    shown = shown_in(status, "abc", "s")
    assert (shown.deleted, shown.released) == ({first}, set(others)), "to let go of one is no consent to delete it"
    assert shown_in(status, "abd", "s") == NOTHING_SHOWN
    assert shown_in(status, None, "s") == NOTHING_SHOWN
    assert shown_in({}, "abc", "s") == NOTHING_SHOWN


def test_work_that_deletes_nothing_is_kept_too() -> None:
    work = {str(uuid.uuid4()) for _number in range(2)}
    shown = shown_in({"shown": kept_of({"work": sorted(work)}, "abc", "s")}, "abc", "s")
    assert (shown.work, shown.size, bool(shown)) == (work, 2, True)


def test_how_a_product_deals_with_what_is_outside_is_part_of_it() -> None:
    """Its anchor may say something else by the time the plan is gone on with, and the spec is still the same."""
    drains = [{"profile": "ngrok", "policy": "Retain"}]
    shown = shown_in({"shown": kept_of({**plan(str(uuid.uuid4())), "drains": drains}, "abc", "s")}, "abc", "s")
    assert [shown.allows(policy, "ngrok") for policy in ("Retain", "Delete")] == [True, False]


def test_too_many_or_strange_ones_are_not_kept_in_part() -> None:
    many = [str(uuid.UUID(int=number)) for number in range(MOST + 1)]
    assert not shown_in({"shown": kept_of(plan(*many), "abc", "s")}, "abc", "s")
    assert not shown_in({"shown": kept_of(plan(str(uuid.uuid4()), "odd"), "abc", "s")}, "abc", "s")


def test_nothing_was_shown_for_a_spec_that_asks_for_something_else() -> None:
    before = {"policy": "Retain", "timeout": 60}
    status = {"shown": kept_of(plan(str(uuid.uuid4())), "abc", digest_of(before))}
    assert shown_in(status, "abc", digest_of({**before, "policy": "Delete"})) == NOTHING_SHOWN
    assert shown_in(status, "abc", digest_of({**before, "forceAllow": ["x/y"]})) == NOTHING_SHOWN
    patient = {**before, "approve": "abc", "suspend": False, "timeout": 600, "maxObjects": 7, "failFast": False}
    assert shown_in(status, "abc", digest_of(patient)), "that says nothing of what is done"
