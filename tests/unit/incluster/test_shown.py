# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a plan has shown, kept in a status and read again."""

from __future__ import annotations

import uuid
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.incluster.shown import MOST, digest_of, kept_of, shown_in


def plan(*uids: str) -> dict[str, Any]:
    rows = [{"object": {"uid": uid}} for uid in uids]
    return {"steps": [{"objects": rows[:1], "release": rows[1:]}, {"objects": []}]}


def test_it_comes_back_for_its_own_hash_only() -> None:
    uids = {str(uuid.uuid4()) for _number in range(3)}
    status = {"shown": kept_of(plan(*uids), "abc", "s")}
    assert shown_in(status, "abc", "s") == uids
    assert shown_in(status, "abd", "s") == frozenset()
    assert shown_in(status, None, "s") == frozenset()
    assert shown_in({}, "abc", "s") == frozenset()


def test_too_many_or_strange_ones_are_not_kept_in_part() -> None:
    many = [str(uuid.UUID(int=number)) for number in range(MOST + 1)]
    assert shown_in({"shown": kept_of(plan(*many), "abc", "s")}, "abc", "s") == frozenset()
    assert shown_in({"shown": kept_of(plan(str(uuid.uuid4()), "odd"), "abc", "s")}, "abc", "s") == frozenset()


def test_nothing_was_shown_for_a_spec_that_asks_for_something_else() -> None:
    before = {"policy": "Retain", "timeout": 60}
    status = {"shown": kept_of(plan(str(uuid.uuid4())), "abc", digest_of(before))}
    assert shown_in(status, "abc", digest_of({**before, "policy": "Delete"})) == frozenset()
    assert shown_in(status, "abc", digest_of({**before, "forceAllow": ["x/y"]})) == frozenset()
    patient = {**before, "approve": "abc", "suspend": False, "timeout": 600, "maxObjects": 7, "failFast": False}
    assert shown_in(status, "abc", digest_of(patient)) != frozenset(), "that says nothing of what is done"
