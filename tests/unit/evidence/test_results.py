# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Outcomes to results."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.results import (
    MOST,
    bounded,
    finalizer_diff,
    finalizer_plan,
    finalizer_result,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.survivors import explain_met
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer import FinalizerOutcome
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer_plan import (
    FinalizerPlan,
    Release,
    Skip,
    left_after,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.plugins.module_utils.well_known import (
    API_SERVICES,
    DEFINITIONS,
    WEBHOOK_CONFIGURATIONS,
)
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DOMAINS,
    SERVED,
    SERVER_NOW,
    FakeClock,
    Told,
    cluster_on,
    named,
    record,
)
from ansible_collections.sunset.kube.tests.unit.teardown.finalizer_runs import F, run

G = "example.com/other"
REQUESTS = {"list": 1}


def server_with_all() -> FakeServer:
    """With the kinds in which the explanation of a survivor looks."""
    return FakeServer(*SERVED, *WEBHOOK_CONFIGURATIONS, DEFINITIONS, API_SERVICES)


def obj(name: str) -> dict[str, str]:
    return {
        "api_version": "ingress.example.com/v1",
        "kind": "Domain",
        "namespace": "shop",
        "name": name,
        "uid": f"uid-{name}",
    }


def release(name: str, *finalizers: str, goes: tuple[str, ...] = (F,), **how: Any) -> Release:
    return Release(DOMAINS, record(name, deleted=True, finalizers=list(finalizers or (F,))), goes, **how)


def skip(name: str, finalizer: str, verdict: Verdict, **facts: Any) -> Skip:
    subject = record(name, finalizers=[finalizer], **facts)
    return Skip(DOMAINS, subject, finalizer, verdict)


GONE = {"done": True, "changed": True, "gone": True}
REFUSED = {"problem": Refused("cannot", why="HTTP 403 Forbidden")}
REFUSAL = {"what": "refused", "text": "HTTP 403 Forbidden"}
PROTECTED = skip("kept", G, Verdict(Fate.PROTECTED, "it guards data"))


def outcome(*releases: Release, check_mode: bool = False, **more: Any) -> FinalizerOutcome:
    plan = FinalizerPlan(list(releases), looked_at=9, **more)
    cluster = cluster_on(server_with_all())
    try:
        diagnosis = explain_met(left_after(plan), cluster, Told())
    finally:
        cluster.close()
    return FinalizerOutcome(plan, check_mode, diagnosis=diagnosis, seconds=1.23456, server_time=SERVER_NOW + 90.0)


def nobody(name: str, finalizer: str) -> dict[str, str]:
    """A finalizer that nobody stands behind, as far as can be seen."""
    command = f"kind=domains.ingress.example.com namespace=shop name={name} finalizers={finalizer}"
    return {
        "what": "finalizer",
        "finalizer": finalizer,
        "alive": "unknown",
        "text": f"no workload or Lease fits {finalizer}",
        "suggestion": "find out who should remove it; or, if you know that nobody should remove it any more"
        f" (what is lost without it is not known): ansible localhost -m sunset.kube.finalizer -a '{command}'",
    }


def test_a_result_has_every_key_and_says_what_happened() -> None:
    finished = outcome(
        release("a", **GONE),
        release("b", G, F, done=True, changed=True, left=(G,)),
        release("c", **REFUSED),
        release("d", done=True),
        skips=[PROTECTED],
        held=[(DOMAINS, record("e", deleted=True, finalizers=[G]))],
    )
    assert finalizer_result(finished, REQUESTS) == {
        "changed": True,
        "plan_hash": finished.plan.hash,
        "steps": [
            {"name": "finalizers", "rank": 1, "total": 4, "deleted": 1, "released": 2, "kept": 1, "seconds": 1.235}
        ],
        "counts": {"looked_at": 9, "release": 4, "protected": 1, "removed": 2, "gone": 1, "failed": 1},
        "removed": [
            {"object": obj("a"), "finalizers": [F], "gone": True},
            {"object": obj("b"), "finalizers": [F], "gone": False},
            {"object": obj("d"), "finalizers": [F], "gone": False},
        ],
        "kept": [{"object": obj("kept"), "finalizer": G, "verdict": "protected", "reason": "it guards data"}],
        "survivors": [
            {**obj("b"), "finalizers": [G], "deleting_for": 90, "blocked_by": [nobody("b", G)]},
            {**obj("c"), "finalizers": [F], "deleting_for": 90, "blocked_by": [REFUSAL, nobody("c", F)]},
            {**obj("e"), "finalizers": [G], "deleting_for": 90, "blocked_by": [nobody("e", G)]},
        ],
        "unmatched": [],
        "requests": REQUESTS,
        "truncated": {},
    }


def test_check_mode_shows_the_plan_and_claims_no_deed() -> None:
    planned = outcome(release("a", **GONE), release("b", **REFUSED), check_mode=True)
    result = finalizer_result(planned, REQUESTS)
    assert result["changed"] is True
    assert result["removed"] == [{"object": obj("a"), "finalizers": [F], "gone": True}]
    assert result["plan"] == [
        {
            "name": "finalizers",
            "rank": 1,
            "objects": [{"object": obj("a"), "finalizers": [F]}, {"object": obj("b"), "finalizers": [F]}],
        }
    ]
    assert (result["steps"][0]["total"], result["steps"][0]["deleted"], result["steps"][0]["released"]) == (2, 0, 0)
    assert (result["counts"]["removed"], result["counts"]["gone"], result["counts"]["failed"]) == (0, 0, 1)


CHANGED = {
    "nothing to do": ([], False),
    "somebody else did it": ([release("a", done=True)], False),
    "it was gone before we came": ([release("a", done=True, gone=True)], False),
    "everything refused": ([release("a", **REFUSED)], False),
    "one of several": ([release("a", **REFUSED), release("b", **GONE)], True),
}


@pytest.mark.parametrize(("releases", "changed"), named(CHANGED))
def test_changed_means_that_a_write_of_ours_changed_something(releases: list[Release], changed: bool) -> None:
    assert finalizer_result(outcome(*releases), REQUESTS)["changed"] is changed


def test_an_object_that_was_replaced_is_kept_and_not_removed() -> None:
    replaced = skip("a", F, Verdict(Fate.REPLACED, "created anew"), deleted=True)
    result = finalizer_result(outcome(release("a", done=True, replaced=True), skips=[replaced]), REQUESTS)
    assert (result["removed"], [kept["verdict"] for kept in result["kept"]], result["survivors"]) == (
        [],
        ["replaced"],
        [],
    )


# -- survivors ---------------------------------------------------------------------------------------------------------


def survivors(result: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return sorted((row["name"], row["finalizers"]) for row in result["survivors"])


def test_whoever_was_not_reached_in_time_is_a_survivor() -> None:
    clock, server = FakeClock(), server_with_all()
    for name in ("a", "b", "c"):
        server.add(DOMAINS, name, deleted=True, finalizers=[F])
    server.before("PATCH", lambda: clock.advance(601.0))
    assert survivors(finalizer_result(run(server, clock=clock), REQUESTS)) == [("b", [F]), ("c", [F])]


KEPT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "inside the grace": ({"finalizers": [F]}, {"grace": 3600}),
    "protected": ({"finalizers": ["kubernetes.io/pvc-protection"]}, {"finalizers": ["kubernetes.io/*"]}),
    "one protected, one not named": ({"finalizers": ["orphan", G]}, {"finalizers": ["orphan"]}),
}


@pytest.mark.parametrize(("facts", "params"), named(KEPT))
def test_whoever_hangs_on_a_finalizer_that_stays_is_a_survivor_with_the_reason(
    facts: dict[str, Any], params: dict[str, Any]
) -> None:
    server = server_with_all()
    server.add(DOMAINS, "web", deleted=True, **facts)
    result = finalizer_result(run(server, **params), REQUESTS)
    assert survivors(result) == [("web", facts["finalizers"])]
    [kept] = result["kept"]
    told = [(one["finalizer"], one["text"]) for one in result["survivors"][0]["blocked_by"]]
    assert (kept["finalizer"], kept["reason"]) in told
    assert len(told) == len(facts["finalizers"])


def test_a_survivor_is_listed_once_with_everything_that_still_holds_it() -> None:
    server = server_with_all()
    server.add(DOMAINS, "web", deleted=True, finalizers=[F, "orphan", G])
    server.add(DOMAINS, "alive", finalizers=[F])
    result = finalizer_result(run(server, finalizers=[F, "orphan"]), REQUESTS)
    assert survivors(result) == [("web", ["orphan", G])]
    holders = [blocker["finalizer"] for blocker in result["survivors"][0]["blocked_by"]]
    assert sorted(holders) == [G, "orphan"]


def test_a_survivors_age_counts_from_its_deletion_and_not_from_the_end_of_its_grace() -> None:
    # A pod with 30 s of grace, asked to go 20 s ago: its deletionTimestamp still lies 10 s ahead.
    pod = record(deletionTimestamp="2026-01-01T00:01:40Z", deletionGracePeriodSeconds=30, finalizers=[G])
    [row] = finalizer_result(outcome(held=[(DOMAINS, pod)]), REQUESTS)["survivors"]
    assert row["deleting_for"] == 20


# -- length ------------------------------------------------------------------------------------------------------------


def test_lists_are_cut_and_say_so() -> None:
    many = [release(f"d{number}", **GONE) for number in range(MOST + 1)]
    result = finalizer_result(outcome(*many, check_mode=True), REQUESTS)
    assert (len(result["removed"]), result["truncated"]["removed"]) == (MOST, MOST + 1)
    assert len(result["plan"][0]["objects"]) == MOST


def test_lists_that_fit_are_left_alone() -> None:
    assert bounded({"a": [1] * MOST, "b": 5}) == {"a": [1] * MOST, "b": 5, "truncated": {}}


def test_the_plan_for_the_files_is_complete() -> None:
    many = outcome(*[release(f"d{number}") for number in range(MOST + 1)], skips=[PROTECTED])
    plan = finalizer_plan(many)
    assert (plan["plan_hash"], len(plan["steps"][0]["objects"]), len(plan["kept"])) == (many.plan.hash, MOST + 1, 1)


# -- the diff ----------------------------------------------------------------------------------------------------------


def test_the_diff_shows_the_finalizers_before_and_after() -> None:
    assert finalizer_diff(outcome(release("a", **GONE), release("b", G, F, done=True, changed=True, left=(G,)))) == {
        "before_header": "finalizers",
        "after_header": "finalizers",
        "before": f"Domain shop/a: {F}\nDomain shop/b: {G}, {F}\n",
        "after": f"Domain shop/a: none\nDomain shop/b: {G}\n",
    }


NOT_DONE = {"refused": REFUSED, "not reached": {}, "replaced": {"done": True, "replaced": True}}


@pytest.mark.parametrize("how", named(NOT_DONE))
def test_the_diff_of_a_real_run_shows_no_change_that_did_not_happen(how: dict[str, Any]) -> None:
    diff = finalizer_diff(outcome(release("a", **how)))
    assert diff["after"] == diff["before"]
