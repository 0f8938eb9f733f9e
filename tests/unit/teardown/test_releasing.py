# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Taking finalizers off one object, and what came of it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from ansible_collections.sunset.kube.plugins.module_utils.kube.writes import Effect, Written
from ansible_collections.sunset.kube.plugins.module_utils.objects import Record, Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.releasing import Release, first_refusal, set_free
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, Told, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import api_error

F, G = "example.com/cleanup", "example.com/other"
NO = api_error(403, "Forbidden", "no")


class Answering:
    """Answers every removal the same way, and remembers what it was asked."""

    def __init__(self, written: Written) -> None:
        self._written = written
        self.asked: list[Any] = []

    def remove_finalizers(self, resource: Resource, record: Record, names: Any, *, dry_run: bool = False) -> Written:
        self.asked.append((resource, record.name, names, dry_run))
        return self._written


def release(name: str = "web", problem: Problem | None = None) -> Release:
    return Release(DOMAINS, record(name, finalizers=[F, G]), (F,), problem=problem)


LEFT, NAMESAKE = record(finalizers=[G]), record(uid="another", finalizers=[F])
# done, changed, gone, replaced, untried, left
ENDS: dict[str, tuple[Written, tuple[bool, bool, bool, bool, bool, tuple[str, ...]]]] = {
    "written": (Written(Effect.DONE, LEFT), (True, True, False, False, False, (G,))),
    "gone with it": (Written(Effect.GONE, LEFT), (True, True, True, False, False, ())),
    "was gone": (Written(Effect.GONE), (True, False, True, False, False, ())),
    "somebody was faster": (Written(Effect.ALREADY, LEFT), (True, False, False, False, False, (G,))),
    "replaced": (Written(Effect.REPLACED, NAMESAKE), (True, False, False, True, False, ())),
    "refused": (Written(Effect.REFUSED, LEFT, NO), (False, False, False, False, False, (G,))),
}


@pytest.mark.parametrize(("written", "expected"), named(ENDS))
def test_every_end_of_a_removal_is_noted(written: Written, expected: tuple[Any, ...]) -> None:
    one = release()
    set_free(one, Answering(written), Told())
    assert (one.done, one.changed, one.gone, one.replaced, one.untried, one.left) == expected
    assert one.problem is written.problem


def test_what_was_never_tried_is_neither_done_nor_refused() -> None:
    assert (release().untried, release(problem=NO).untried) == (True, False)


@pytest.mark.parametrize("dry_run", [True, False])
def test_only_the_named_finalizers_are_asked_for_and_it_is_told(dry_run: bool) -> None:
    cluster, told, one = Answering(Written(Effect.DONE, record(resourceVersion="7"))), Told(), release()
    set_free(one, cluster, told, dry_run=dry_run)
    assert cluster.asked == [(DOMAINS, "web", (F,), dry_run)]
    assert told == [Did("remove finalizer", one.ref, "done", F, "7", dry_run)]


def test_no_refusal_is_no_failure() -> None:
    assert first_refusal([release(), release()]) is None


@pytest.mark.parametrize(("count", "more"), [(1, ""), (3, " (and 2 more, see survivors)")])
def test_the_first_refusal_is_named_and_the_rest_counted(count: int, more: str) -> None:
    found = first_refusal([release("fine"), *(release(f"bad{number}", NO) for number in range(count))])
    assert isinstance(found, Refused)
    assert (found.what, found.which, found.why, found.next_step) == (
        "could not remove finalizers from",
        f"Domain shop/bad0{more}",
        NO.why,
        NO.next_step,
    )


def test_a_refusal_without_advice_leads_to_the_survivors() -> None:
    found = first_refusal([release("bad", Problem("x", why="y"))])
    assert found is not None
    assert (found.why, found.next_step) == ("y", "see survivors in the result")
