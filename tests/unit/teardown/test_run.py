# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carrying out a plan: barriers, the ladder, newcomers and all that can go wrong between plan and delete."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Progress, StepBegan, StepEnded
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource, record_of
from ansible_collections.sunset.kube.plugins.module_utils.problems import Interrupted, Problem, Refused, TimedOut
from ansible_collections.sunset.kube.plugins.module_utils.teardown.guards import Facts
from ansible_collections.sunset.kube.plugins.module_utils.teardown.matching import Matcher
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Looker, Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import Entry, Plan, Step
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ranked_delete import RankedOutcome
from ansible_collections.sunset.kube.plugins.module_utils.teardown.releasing import Release
from ansible_collections.sunset.kube.plugins.module_utils.teardown.run import Site, carry_out
from ansible_collections.sunset.kube.plugins.module_utils.teardown.run_outcome import (
    RunOptions,
    RunOutcome,
    StepOutcome,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.shares import share_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import StepRule
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, NAMESPACES, PODS, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    DEFINITIONS,
    EVENTS,
    REPLICA_SETS,
    ROLES,
    SECRETS,
    SERVICES,
    InMemoryCluster,
    When,
    api_error,
    named_members,
    ranked,
)

F, G = "example.com/cleanup", "example.com/other"
KEEP = {"sunset.dev/keep": "true"}
EVERY_CONFIG_MAP = [{"resources": [{"kind": "cm", "selector": {"all": True}}]}]
BOTH = named_members((CONFIG_MAPS, "a"), (SECRETS, "b"))
# Two steps: ConfigMaps, then Secrets.
TWO_STEPS: list[dict[str, Any]] = [{"resources": [{"kind": "cm"}]}, {"resources": [{"kind": "secret"}]}]


def two_steps(**first: Any) -> InMemoryCluster:
    """ConfigMap a for the first step, Secret b for the second."""
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", **first)
    cluster.add(SECRETS, "b")
    return cluster


def run_two(cluster: InMemoryCluster, **params: Any) -> RankedOutcome:
    return ranked(cluster, members=BOTH, **{"deletion_groups": TWO_STEPS, **params})


def kept_late(outcome: RankedOutcome) -> list[str]:
    return [f"{entry.member.ref} {entry.verdict.fate.value}" for step in outcome.run.steps for entry in step.late_kept]


def deleted(outcome: RankedOutcome) -> list[int]:
    return [step.deleted for step in outcome.run.steps]


def survivors(outcome: RankedOutcome) -> list[str]:
    return [str(leaver.ref) for leaver in outcome.run.survivors]


def second_step(event: Any) -> bool:
    return bool(event.step.startswith("step 2/2"))


# -- the barrier -------------------------------------------------------------------------------------------------------


def test_a_step_begins_only_when_every_object_of_the_one_before_is_gone() -> None:
    cluster = two_steps(finalizers=[F])
    cluster.clock.at(cluster.clock.now() + 70, lambda: cluster.release(CONFIG_MAPS, "a"))
    outcome = run_two(cluster)
    assert cluster.log == [
        "delete ConfigMap shop/a",
        "gone ConfigMap shop/a",
        "delete Secret shop/b",
        "gone Secret shop/b",
    ]
    assert (outcome.failure, outcome.run.changed, deleted(outcome)) == (None, True, [1, 1])
    assert [step.seconds for step in outcome.run.steps] == [70.0, 0.0]


def test_waves_inside_a_step_are_barriers_too() -> None:
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop")
    cluster.add(CONFIG_MAPS, "a", finalizers=[F])
    cluster.clock.at(cluster.clock.now() + 3, lambda: cluster.release(CONFIG_MAPS, "a"))
    group = {"resources": [{"kind": "ns"}, {"kind": "cm"}]}
    ranked(cluster, members=named_members((NAMESPACES, "shop"), (CONFIG_MAPS, "a")), deletion_groups=[group])
    assert cluster.log == [
        "delete ConfigMap shop/a",
        "gone ConfigMap shop/a",
        "delete Namespace shop",
        "gone Namespace shop",
    ]


def test_what_is_already_being_deleted_is_waited_for_and_not_deleted_again() -> None:
    cluster = two_steps(finalizers=[F], deleted=True)
    cluster.clock.at(cluster.clock.now() + 5, lambda: cluster.release(CONFIG_MAPS, "a"))
    run_two(cluster)
    assert cluster.log == ["gone ConfigMap shop/a", "delete Secret shop/b", "gone Secret shop/b"]


def test_what_goes_by_itself_before_its_turn_is_not_deleted() -> None:
    cluster = two_steps()
    told = When(StepBegan, lambda: cluster.remove(SECRETS, "b"))
    outcome = run_two(cluster, told=told)
    assert (cluster.log.count("delete Secret shop/b"), outcome.failure) == (0, None)


def test_owners_are_told_before_what_they_own() -> None:
    cluster = InMemoryCluster()
    owner = cluster.add(DEPLOYMENTS, "web")
    cluster.add(REPLICA_SETS, "web-1", ownerReferences=[{"uid": owner["metadata"]["uid"]}])
    cluster.add(CONFIG_MAPS, "a")
    ranked(cluster, members=named_members((REPLICA_SETS, "web-1"), (DEPLOYMENTS, "web"), (CONFIG_MAPS, "a")))
    writes = [line for line in cluster.log if line.startswith("delete")]
    assert writes.index("delete Deployment shop/web") < writes.index("delete ReplicaSet shop/web-1")


def test_a_second_run_changes_nothing() -> None:
    cluster = two_steps()
    run_two(cluster)
    before = len(cluster.log)
    outcome = run_two(cluster)
    assert (outcome.run.changed, outcome.failure, len(cluster.log)) == (False, None, before)


def test_what_was_on_its_way_before_we_came_is_no_change_of_ours() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F], deleted=True)
    cluster.clock.at(cluster.clock.now() + 5, lambda: cluster.release(CONFIG_MAPS, "a"))
    outcome = ranked(cluster, members=named_members((CONFIG_MAPS, "a")))
    assert (cluster.log, outcome.run.changed) == (["gone ConfigMap shop/a"], False)


def test_everything_is_told_in_order() -> None:
    cluster, told = two_steps(), Told()
    run_two(cluster, told=told)
    happened = [event for event in told if isinstance(event, (StepBegan, StepEnded, Did))]
    assert [(type(event).__name__, getattr(event, "step", getattr(event, "effect", ""))) for event in happened] == [
        ("StepBegan", "step 1/2 cm"),
        ("Did", "gone"),
        ("StepEnded", "step 1/2 cm"),
        ("StepBegan", "step 2/2 secret"),
        ("Did", "gone"),
        ("StepEnded", "step 2/2 secret"),
    ]


def test_how_objects_are_deleted_is_the_tasks_choice() -> None:
    cluster = two_steps()
    run_two(cluster, propagation_policy="Foreground", grace_period_seconds=5)
    assert cluster.log[0] == "delete ConfigMap shop/a (grace 5, Foreground)"


# -- the world moves on ------------------------------------------------------------------------------------------------


def test_a_keep_marker_set_meanwhile_still_counts() -> None:
    cluster = two_steps()
    told = When(StepBegan, lambda: cluster.change(SECRETS, "b", annotations=KEEP), second_step)
    outcome = run_two(cluster, told=told)
    assert cluster.left() == ["Secret shop/b"]
    assert (kept_late(outcome), deleted(outcome), outcome.failure) == (["Secret shop/b keep"], [1, 0], None)


def test_a_keep_marker_set_meanwhile_also_keeps_it_from_being_prepared() -> None:
    cluster = two_steps()
    told = When(StepBegan, lambda: cluster.change(SECRETS, "b", annotations=KEEP), second_step)
    groups = [TWO_STEPS[0], {**TWO_STEPS[1], "beforeDelete": {"annotate": {"going": "soon"}}}]
    run_two(cluster, told=told, deletion_groups=groups)
    assert "patch Secret shop/b" not in cluster.log


def test_what_is_kept_late_is_not_lost_with_its_definition() -> None:
    """A definition takes all its instances with it, so it must stay when one of them is kept after all."""
    cluster = InMemoryCluster()
    cluster.add(DEFINITIONS, "domains.ingress.example.com", spec={"group": "ingress.example.com"})
    cluster.add(DOMAINS, "web")
    told = When(StepBegan, lambda: cluster.change(DOMAINS, "web", annotations=KEEP))
    ranked(
        cluster,
        members=named_members((DOMAINS, "web"), (DEFINITIONS, "domains.ingress.example.com")),
        told=told,
    )
    assert "CustomResourceDefinition domains.ingress.example.com" in cluster.left()


def test_a_namesake_created_meanwhile_is_not_touched() -> None:
    cluster = two_steps()

    def recreate() -> None:
        cluster.remove(SECRETS, "b")
        cluster.add(SECRETS, "b", uid="another")

    outcome = run_two(cluster, told=When(StepBegan, recreate, second_step))
    assert (cluster.left(), outcome.failure) == (["Secret shop/b"], None)


def test_a_namesake_nobody_told_us_of_is_reported_as_replaced() -> None:
    cluster = two_steps()
    # Between the watch's last event and our delete.
    told = When(
        StepBegan, lambda: cluster.objects["", "secrets", "shop", "b"]["metadata"].update(uid="new"), second_step
    )
    outcome = run_two(cluster, told=told)
    [replaced] = outcome.run.steps[1].replaced
    assert (str(replaced.ref), outcome.failure, deleted(outcome)) == ("Secret shop/b", None, [1, 0])


def test_a_namesake_is_not_prepared_and_not_a_failure() -> None:
    cluster = two_steps()
    told = When(
        StepBegan, lambda: cluster.objects["", "secrets", "shop", "b"]["metadata"].update(uid="new"), second_step
    )
    groups = [TWO_STEPS[0], {**TWO_STEPS[1], "beforeDelete": {"annotate": {"going": "soon"}}}]
    outcome = run_two(cluster, told=told, deletion_groups=groups)
    assert (outcome.failure, len(outcome.run.steps[1].replaced)) == (None, 1)


def test_what_goes_while_it_is_prepared_is_gone() -> None:
    cluster = two_steps()
    told = When(StepBegan, lambda: cluster.objects.pop(("", "secrets", "shop", "b")), second_step)
    groups = [TWO_STEPS[0], {**TWO_STEPS[1], "beforeDelete": {"annotate": {"going": "soon"}}}]
    assert run_two(cluster, told=told, deletion_groups=groups).failure is None


# -- refusals and time-outs --------------------------------------------------------------------------------------------


def test_a_refused_delete_stops_the_later_steps_and_says_why() -> None:
    cluster = two_steps()
    cluster.refusals["ConfigMap shop/a"] = api_error(403, "Forbidden", "no")
    outcome = run_two(cluster)
    assert cluster.log == ["delete ConfigMap shop/a"]
    assert isinstance(outcome.failure, Refused)
    assert str(outcome.failure).startswith("could not delete ConfigMap shop/a: HTTP 403 Forbidden, no.")
    assert (outcome.run.changed, outcome.run.steps[1].begun) == (False, False)


def test_on_timeout_continue_does_not_forgive_a_refusal() -> None:
    cluster = two_steps()
    cluster.refusals["ConfigMap shop/a"] = api_error(403, "Forbidden", "no")
    assert isinstance(run_two(cluster, on_timeout="continue").failure, Refused)
    assert "Secret shop/b" in cluster.left()


def test_the_others_of_a_step_are_deleted_although_one_is_refused() -> None:
    cluster = two_steps()
    cluster.add(CONFIG_MAPS, "z")
    cluster.refusals["ConfigMap shop/a"] = api_error(403, "Forbidden", "no")
    members = named_members((CONFIG_MAPS, "a"), (CONFIG_MAPS, "z"), (SECRETS, "b"))
    outcome = ranked(cluster, members=members, deletion_groups=TWO_STEPS)
    assert (cluster.left(), deleted(outcome)) == (["ConfigMap shop/a", "Secret shop/b"], [1, 0])


def test_a_time_out_is_a_failure_that_names_the_step_and_begins_no_later_one() -> None:
    cluster = two_steps(finalizers=[F])
    outcome = run_two(cluster, timeout=60)
    assert isinstance(outcome.failure, TimedOut)
    assert "in step cm: 1 of 1 objects are still there" in str(outcome.failure)
    assert (survivors(outcome), cluster.log) == (["ConfigMap shop/a"], ["delete ConfigMap shop/a"])
    assert (outcome.seconds, outcome.run.changed) == (60.0, True)


def test_a_time_out_without_any_change_is_none() -> None:
    cluster = two_steps(finalizers=[F], deleted=True)
    assert run_two(cluster, timeout=60).run.changed is False


def test_a_step_may_have_less_time_than_the_task() -> None:
    cluster = two_steps(finalizers=[F])
    outcome = run_two(cluster, deletion_groups=[{**TWO_STEPS[0], "timeout": 7}, TWO_STEPS[1]])
    assert (outcome.seconds, survivors(outcome)) == (7.0, ["ConfigMap shop/a"])


def test_a_steps_own_time_never_goes_beyond_the_tasks() -> None:
    outcome = run_two(two_steps(finalizers=[F]), deletion_groups=[{**TWO_STEPS[0], "timeout": 900}], timeout=60)
    assert outcome.seconds == 60.0


def test_on_timeout_continue_lists_the_survivor_and_goes_on() -> None:
    cluster = two_steps(finalizers=[F])
    groups = [{**TWO_STEPS[0], "timeout": 7}, TWO_STEPS[1]]
    outcome = run_two(cluster, deletion_groups=groups, on_timeout="continue")
    assert (outcome.failure, survivors(outcome), cluster.left()) == (
        None,
        ["ConfigMap shop/a"],
        ["ConfigMap shop/a"],
    )


def test_on_timeout_continue_leaves_every_step_its_share_of_the_time() -> None:
    cluster = two_steps(finalizers=[F])
    began = cluster.clock.now()
    outcome = run_two(cluster, on_timeout="continue", timeout=60)
    assert (survivors(outcome), deleted(outcome)) == (["ConfigMap shop/a"], [0, 1])
    assert cluster.clock.now() - began == 30.0


def test_on_timeout_continue_leaves_every_wave_its_share_of_the_time() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F])
    cluster.add(SECRETS, "b")
    waves = [[entry(cluster, CONFIG_MAPS, "a")], [entry(cluster, SECRETS, "b")]]
    outcome = carry(cluster, Step(StepRule("both", 1), waves), timeout=60.0, on_timeout="continue")
    assert [str(leaver.ref) for leaver in outcome.survivors] == ["ConfigMap shop/a"]


SHARES: dict[str, tuple[list[float | None], str, list[float]]] = {
    "one may take all that is left": ([None, None], "fail", [60.0, 60.0]),
    "an equal share, and what is left over": ([None, None, None], "continue", [20.0, 30.0, 60.0]),
    "a time of its own": ([40.0, None, None], "continue", [40.0, 30.0, 60.0]),
    "the others share what is left beside it": ([None, 40.0], "continue", [20.0, 40.0]),
    "times of their own beyond the task's": ([None, 90.0], "continue", [30.0, 60.0]),
}


@pytest.mark.parametrize(("own", "on_timeout", "shares"), named(SHARES))
def test_how_much_time_a_step_gets(own: list[float | None], on_timeout: str, shares: list[float]) -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a")
    waves = [[entry(cluster, CONFIG_MAPS, "a")]]
    steps = [StepOutcome(Step(StepRule("step", place, timeout=seconds), waves)) for place, seconds in enumerate(own)]
    options = RunOptions(on_timeout=on_timeout)
    assert [share_of(step, steps[place:], 60.0, options) for place, step in enumerate(steps)] == shares


# -- stopping ----------------------------------------------------------------------------------------------------------


def test_the_stop_sign_ends_the_wait_and_no_later_step_begins() -> None:
    cluster, stop = two_steps(finalizers=[F]), StopSign()
    cluster.clock.at(cluster.clock.now() + 5, lambda: stop.set("received SIGTERM"))
    outcome = run_two(cluster, stop=stop)
    assert isinstance(outcome.failure, Interrupted)
    assert (outcome.seconds, survivors(outcome), cluster.log) == (
        5.0,
        ["ConfigMap shop/a"],
        ["delete ConfigMap shop/a"],
    )


def test_after_the_stop_sign_nothing_more_is_written() -> None:
    cluster, stop = two_steps(), StopSign()
    for number in range(5):
        cluster.add(CONFIG_MAPS, f"c{number}")
    cluster.add(NAMESPACES, "shop")
    told = When(Did, lambda: stop.set("received SIGINT"))
    outcome = ranked(cluster, members={"namespace": "shop"}, stop=stop, told=told)
    assert (len(cluster.log), len(cluster.left())) == (2, 7)
    assert isinstance(outcome.failure, Interrupted)


def test_after_the_stop_sign_nothing_is_forced() -> None:
    cluster, stop = InMemoryCluster(), StopSign()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F])
    cluster.clock.at(cluster.clock.now() + 3, lambda: stop.set("received SIGTERM"))
    force(cluster, force_after=3, stop=stop)
    assert cluster.log == ["delete ConfigMap shop/a"]


def test_a_run_that_was_stopped_goes_on_where_it_stopped() -> None:
    cluster, stop = two_steps(finalizers=[F]), StopSign()
    cluster.clock.at(cluster.clock.now() + 5, lambda: stop.set("received SIGTERM"))
    run_two(cluster, stop=stop)
    cluster.clock.at(cluster.clock.now() + 5, lambda: cluster.release(CONFIG_MAPS, "a"))
    outcome = run_two(cluster)
    assert (outcome.failure, cluster.left(), cluster.log.count("delete ConfigMap shop/a")) == (None, [], 1)


# -- the ladder --------------------------------------------------------------------------------------------------------


def force(cluster: InMemoryCluster, **params: Any) -> RankedOutcome:
    groups = [{"predefinedResourceGroup": "namespaced-resources", "forceDelete": True}]
    things = [(resource, name) for resource in (CONFIG_MAPS, PODS, SERVICES) for name in "ab"]
    return ranked(cluster, members=named_members(*things), **{"deletion_groups": groups, **params})


def test_finalizers_are_stripped_only_after_their_controller_had_its_time() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F, G])
    outcome = force(cluster, force_after=30)
    assert cluster.log == [
        "delete ConfigMap shop/a",
        f"strip ConfigMap shop/a ({F}, {G})",
        "gone ConfigMap shop/a",
    ]
    assert (outcome.failure, outcome.seconds, outcome.run.steps[0].released) == (None, 30.0, 1)


def test_force_at_once_strips_at_the_first_look() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F])
    assert force(cluster, force_after=0).seconds <= 1.0


def test_what_goes_by_itself_in_time_is_not_forced() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F])
    cluster.clock.at(cluster.clock.now() + 29, lambda: cluster.release(CONFIG_MAPS, "a"))
    outcome = force(cluster, force_after=30)
    assert (outcome.run.steps[0].released, cluster.left()) == (0, [])


def test_nothing_is_forced_without_the_groups_consent() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F])
    outcome = force(cluster, deletion_groups=None, force_after=0, timeout=60)
    assert (cluster.log, isinstance(outcome.failure, TimedOut)) == (["delete ConfigMap shop/a"], True)


def test_a_grace_period_is_cut_short_before_finalizers_go() -> None:
    cluster = InMemoryCluster()
    cluster.add(PODS, "a", finalizers=[F], grace=300)
    force(cluster, force_after=30)
    assert cluster.log == [
        "delete Pod shop/a",
        "delete Pod shop/a (grace 0)",
        f"strip Pod shop/a ({F})",
        "gone Pod shop/a",
    ]


def test_cutting_a_grace_period_short_keeps_to_the_propagation_policy() -> None:
    """The API server takes the policy of the latest delete: Background would undo Orphan."""
    cluster = InMemoryCluster()
    cluster.add(PODS, "a", grace=300)
    force(cluster, force_after=30, propagation_policy="Orphan")
    assert cluster.log[:2] == ["delete Pod shop/a (Orphan)", "delete Pod shop/a (grace 0, Orphan)"]


GUARD = "kubernetes.io/pvc-protection"
STRIPPED: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "one that guards data stays": ({}, [GUARD], ""),
    "beside one that may go": ({}, [F, GUARD], F),
    "one that guards data, allowed by name": ({"force_allow": [GUARD]}, [GUARD], GUARD),
    "denied by name": ({"force_deny": [F]}, [F, G], G),
    "denied by a glob": ({"force_deny": ["example.com/*"]}, [F, G], ""),
    "deny is stronger than allow": ({"force_deny": ["*"], "force_allow": [GUARD]}, [GUARD], ""),
}


@pytest.mark.parametrize(("params", "finalizers", "stripped"), named(STRIPPED))
def test_only_what_may_be_stripped_is_stripped(params: dict[str, Any], finalizers: list[str], stripped: str) -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=finalizers)
    force(cluster, timeout=60, **params)
    expected = [f"strip ConfigMap shop/a ({stripped})"] if stripped else []
    assert [line for line in cluster.log if line.startswith("strip")] == expected


def test_a_refused_strip_is_no_release_and_the_object_survives() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F], deleted=True)
    cluster.refusals["ConfigMap shop/a"] = api_error(403, "Forbidden", "no")
    outcome = force(cluster, timeout=60)
    assert (survivors(outcome), outcome.run.steps[0].released) == (["ConfigMap shop/a"], 0)


def test_a_finalizer_that_is_put_back_does_not_start_a_fight() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F, GUARD], deleted=True)
    told = When(Did, lambda: cluster.change(CONFIG_MAPS, "a", finalizers=[F, GUARD]))
    force(cluster, timeout=90, told=told)
    assert len([line for line in cluster.log if line.startswith("strip")]) == 1


# -- namespaces that stay ----------------------------------------------------------------------------------------------


def stuck_namespace() -> InMemoryCluster:
    """As without a namespace controller: it is asked to go, and stays for ever."""
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop", grace=1)
    return cluster


def finalize(cluster: InMemoryCluster, **params: Any) -> RankedOutcome:
    members = named_members((NAMESPACES, "shop"))
    return ranked(cluster, members=members, **{"finalize_namespaces": True, "timeout": 120, **params})


def test_a_namespace_is_finalized_once_it_is_proven_to_be_empty() -> None:
    cluster = stuck_namespace()
    outcome = finalize(cluster)
    assert cluster.log == ["delete Namespace shop", "finalize Namespace shop", "gone Namespace shop"]
    assert (outcome.failure, outcome.seconds) == (None, 30.0)


def test_the_right_to_finalize_is_asked_for_beforehand() -> None:
    cluster = stuck_namespace()
    finalize(cluster)
    assert ("update", "namespaces/finalize", "") in cluster.asked_rights


NOT_FINALIZED: dict[str, tuple[Callable[[InMemoryCluster], Any], dict[str, Any]]] = {
    "without the task's consent": (lambda cluster: None, {"finalize_namespaces": False}),
    "while something is in it, even an Event": (
        lambda cluster: cluster.add(EVENTS, "e"),
        {"foreign_instances": "cascade"},
    ),
    "while it has finalizers of its own": (lambda cluster: cluster.change(NAMESPACES, "shop", finalizers=[F]), {}),
    "before its time": (lambda cluster: None, {"force_after": 600}),
}


@pytest.mark.parametrize(("prepare", "params"), named(NOT_FINALIZED))
def test_a_namespace_is_never_finalized(prepare: Callable[[InMemoryCluster], Any], params: dict[str, Any]) -> None:
    cluster = stuck_namespace()
    prepare(cluster)
    finalize(cluster, **params)
    assert "finalize Namespace shop" not in cluster.log


def test_a_namespace_that_cannot_be_seen_through_is_not_finalized() -> None:
    cluster = stuck_namespace()
    told = When(Progress, lambda: cluster.unseen.update(pods=api_error(503)))
    with_problem = finalize(cluster, told=told)
    assert ("finalize Namespace shop" in cluster.log, isinstance(with_problem.failure, Problem)) == (False, True)


def test_a_strip_that_the_server_could_not_do_now_is_tried_again() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F], deleted=True)
    cluster.refusals["ConfigMap shop/a"] = api_error(500, "InternalError", "failed calling webhook")
    cluster.clock.at(cluster.clock.now() + 40, cluster.refusals.clear)
    outcome = force(cluster, timeout=120)
    assert (cluster.left(), outcome.failure) == ([], None)


def test_a_strip_that_failed_is_told_at_the_survivor() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F], deleted=True)
    cluster.refusals["ConfigMap shop/a"] = api_error(500, "InternalError", "failed calling webhook x")
    [blocked] = force(cluster, timeout=60).diagnosis.survivors
    assert any("failed calling webhook x" in blocker.text for blocker in blocked.blockers)


# -- records -----------------------------------------------------------------------------------------------------------


def recorded(**member: Any) -> InMemoryCluster:
    """A kapp application: one ConfigMap, and its record."""
    cluster = InMemoryCluster()
    spec = {"labelKey": "kapp.k14s.io/app", "labelValue": "1", "usedGKs": [{"Group": "", "Kind": "ConfigMap"}]}
    cluster.add(CONFIG_MAPS, "web", labels={"kapp.k14s.io/is-app": ""}, data={"spec": json.dumps(spec)})
    cluster.add(CONFIG_MAPS, "a", labels={"kapp.k14s.io/app": "1"}, **member)
    return cluster


KAPP = {"kapp": {"app": "web", "namespace": "shop"}}


def test_the_record_goes_when_all_else_is_gone() -> None:
    cluster = recorded()
    ranked(cluster, members=KAPP)
    assert [line for line in cluster.log if line.startswith("gone")] == [
        "gone ConfigMap shop/a",
        "gone ConfigMap shop/web",
    ]


@pytest.mark.parametrize("policy", ["fail", "continue"])
def test_the_record_stays_while_anything_survives_so_that_a_next_run_finds_it(policy: str) -> None:
    cluster = recorded(finalizers=[F])
    groups = [{"predefinedResourceGroup": "namespaced-resources", "timeout": 10}]
    ranked(cluster, members=KAPP, deletion_groups=groups, on_timeout=policy)
    assert cluster.left() == ["ConfigMap shop/a", "ConfigMap shop/web"]


# -- newcomers ---------------------------------------------------------------------------------------------------------


def everything(cluster: InMemoryCluster, **params: Any) -> RankedOutcome:
    return ranked(cluster, **{"members": named_members((SECRETS, "x")), "deletion_groups": EVERY_CONFIG_MAP, **params})


def test_what_appears_while_a_step_for_everything_runs_goes_too() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a")
    told = When(Did, lambda: cluster.add(CONFIG_MAPS, "late"))
    outcome = everything(cluster, told=told)
    assert (cluster.left(), outcome.run.steps[0].newcomers, deleted(outcome)) == ([], 1, [2])


def test_a_newcomer_of_a_kind_that_had_no_objects_is_seen_to_go() -> None:
    cluster = InMemoryCluster()
    begin = cluster.clock.now()
    cluster.add(SECRETS, "x", finalizers=[F])
    groups = [{"resources": [{"kind": "secret"}]}, *EVERY_CONFIG_MAP]
    cluster.clock.at(begin + 2, lambda: cluster.add(CONFIG_MAPS, "late", finalizers=[F]))
    cluster.clock.at(begin + 4, lambda: cluster.release(SECRETS, "x"))
    cluster.clock.at(begin + 9, lambda: cluster.release(CONFIG_MAPS, "late"))
    outcome = everything(cluster, deletion_groups=groups)
    assert (cluster.left(), outcome.failure) == ([], None)
    assert outcome.seconds < 20


def test_what_a_step_for_everything_excludes_stays() -> None:
    cluster = InMemoryCluster()
    for name in ("a", "b", "precious"):
        cluster.add(CONFIG_MAPS, name)
    group = {**EVERY_CONFIG_MAP[0], "exclude": [{"kind": "cm", "names": ["precious"]}]}
    everything(cluster, deletion_groups=[group])
    assert cluster.left() == ["ConfigMap shop/precious"]


STAYING: dict[str, dict[str, Any]] = {
    "a keep marker": {"annotations": KEEP},
    "another namespace": {"namespace": "bank"},
    "the cluster itself": {"namespace": "kube-system"},
}


@pytest.mark.parametrize("thing", named(STAYING))
def test_a_newcomer_that_the_plan_would_have_left_stays(thing: dict[str, Any]) -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a")
    told = When(Did, lambda: cluster.add(CONFIG_MAPS, "late", **thing))
    everything(cluster, deletion_groups=[{**EVERY_CONFIG_MAP[0], "namespaces": ["shop", "kube-system"]}], told=told)
    assert len(cluster.left()) == 1


def test_a_step_for_members_only_does_not_look_for_newcomers() -> None:
    cluster = two_steps()
    told = When(Did, lambda: cluster.add(CONFIG_MAPS, "late"))
    run_two(cluster, told=told)
    assert cluster.left() == ["ConfigMap shop/late"]


def test_a_quiet_type_is_listed_twice_with_a_pause() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a")
    outcome = everything(cluster)
    assert (outcome.seconds, cluster.lists.count("configmaps")) == (0.5, 3)


def test_somebody_who_brings_the_same_object_back_for_ever_is_named() -> None:
    cluster = InMemoryCluster()
    managed = [{"manager": "shop-operator"}]
    cluster.add(CONFIG_MAPS, "a", uid="uid-0")
    uids = iter(range(1, 100))

    def told(event: Any) -> None:
        if isinstance(event, Did):
            cluster.add(CONFIG_MAPS, "a", uid=f"uid-{next(uids)}", managedFields=managed)

    outcome = everything(cluster, told=told)
    assert isinstance(outcome.failure, Refused)
    assert "ConfigMap shop/a: it was recreated 3 times by shop-operator" in str(outcome.failure)
    assert cluster.log.count("delete ConfigMap shop/a") == 4


def test_a_type_whose_definition_went_with_the_step_is_quiet() -> None:
    cluster = InMemoryCluster()
    cluster.add(DOMAINS, "web")

    def uninstall() -> None:
        cluster.served.remove(DOMAINS)
        cluster.unseen["domains"] = api_error(404, "NotFound")

    groups = [{"resources": [{"kind": "domain", "selector": {"all": True}}]}]
    assert everything(cluster, deletion_groups=groups, told=When(Did, uninstall)).failure is None


def test_a_type_that_cannot_be_seen_any_more_is_a_failure_and_not_quiet() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a")
    outcome = everything(cluster, told=When(Did, lambda: cluster.unseen.update(configmaps=api_error(503))))
    assert "HTTP 503" in str(outcome.failure)


# -- before the first delete -------------------------------------------------------------------------------------------


def test_a_whole_step_is_prepared_before_its_first_delete() -> None:
    cluster = InMemoryCluster()
    for name in "ab":
        cluster.add(CONFIG_MAPS, name)
    members = named_members((CONFIG_MAPS, "a"), (CONFIG_MAPS, "b"))
    outcome = ranked(cluster, members=members, before_delete={"annotate": {"x": "y"}, "patch": None, "scale": None})
    assert [line.partition(" shop")[0] for line in cluster.log] == [
        *["patch ConfigMap"] * 2,
        *["delete ConfigMap", "gone ConfigMap"] * 2,
    ]
    assert (cluster.bodies, outcome.run.steps[0].prepared) == ([{"metadata": {"annotations": {"x": "y"}}}] * 2, 2)


def test_a_steps_own_preparation_is_stronger_than_the_tasks() -> None:
    cluster = two_steps()
    groups = [{**TWO_STEPS[0], "beforeDelete": {"annotate": {"own": "1"}}}, TWO_STEPS[1]]
    run_two(cluster, deletion_groups=groups, before_delete={"annotate": {"task": "1"}})
    assert [body["metadata"]["annotations"] for body in cluster.bodies] == [{"own": "1"}, {"task": "1"}]


def test_what_is_being_deleted_is_not_prepared() -> None:
    cluster = two_steps(deleted=True, finalizers=[F])
    run_two(cluster, before_delete={"annotate": {"x": "y"}}, timeout=10)
    assert "patch ConfigMap shop/a" not in cluster.log


def test_a_refused_preparation_deletes_nothing_in_that_step() -> None:
    cluster = two_steps()
    cluster.refusals["ConfigMap shop/a"] = api_error(422, "Invalid", "bad patch")
    outcome = run_two(cluster, before_delete={"annotate": {"x": "y"}})
    assert (cluster.log, "bad patch" in str(outcome.failure)) == (["patch ConfigMap shop/a"], True)


# -- elsewhere ---------------------------------------------------------------------------------------------------------


def test_a_step_in_another_cluster_is_part_of_the_order() -> None:
    here, edge = InMemoryCluster(), InMemoryCluster()
    edge.clock = here.clock
    edge.add(CONFIG_MAPS, "far", finalizers=[F])
    here.add(SECRETS, "b")
    here.clock.at(here.clock.now() + 5, lambda: edge.release(CONFIG_MAPS, "far"))
    seen: list[str] = []
    here.clock.at(here.clock.now() + 4, lambda: seen.extend(here.log))
    groups = [{**EVERY_CONFIG_MAP[0], "targetName": "edge"}, TWO_STEPS[1]]
    outcome = ranked(here, members=BOTH, deletion_groups=groups, others={"edge": edge})
    assert (seen, edge.left(), here.left(), outcome.failure) == ([], [], [], None)


def test_an_object_of_this_cluster_is_never_taken_by_a_step_elsewhere() -> None:
    here, edge = InMemoryCluster(), InMemoryCluster()
    here.add(CONFIG_MAPS, "a")
    groups = [{**EVERY_CONFIG_MAP[0], "targetName": "edge"}]
    outcome = ranked(here, members=BOTH, deletion_groups=groups, others={"edge": edge})
    assert (here.left(), [str(entry.member.ref) for entry in outcome.plan.unmatched]) == (
        ["ConfigMap shop/a"],
        ["ConfigMap shop/a"],
    )


def test_a_role_is_deleted_without_a_namespace() -> None:
    cluster = InMemoryCluster()
    cluster.add(ROLES, "web")
    ranked(cluster, members=named_members((ROLES, "web")))
    assert cluster.log == ["delete ClusterRole web", "gone ClusterRole web"]


# -- releases ----------------------------------------------------------------------------------------------------------


def released(cluster: InMemoryCluster, resource: Resource, name: str, *names: str) -> Release:
    return Release(
        resource, record_of(cluster.objects[resource.group, resource.plural, "shop", name]["metadata"]), names
    )


def entry(cluster: InMemoryCluster, resource: Resource, name: str) -> Entry:
    found = record_of(cluster.objects[resource.group, resource.plural, "shop", name]["metadata"])
    return Entry(Member(resource, found, "plan"), Verdict(Fate.DELETE, "plan"))


def carry(
    cluster: InMemoryCluster,
    *steps: Step,
    stop: StopSign | None = None,
    told: Any = None,
    watched: tuple[Resource, ...] = (CONFIG_MAPS, SECRETS),
    **how: Any,
) -> RunOutcome:
    looker: Any = Looker(cluster, Told())
    for resource in watched:
        looker.everything(resource)
    site: Any = Site(cluster, looker, Matcher((), {}), Facts())
    options = RunOptions(**{"timeout": 60.0, **how})
    return carry_out(
        Plan(list(steps)), {None: site}, options, cluster.clock, stop or StopSign(), Told() if told is None else told
    )


def three(**more: Any) -> tuple[InMemoryCluster, Step]:
    """A step that releases ConfigMaps a, b and c."""
    cluster = InMemoryCluster()
    for name in "abc":
        cluster.add(CONFIG_MAPS, name, **{"finalizers": [F, G], **more})
    return cluster, Step(StepRule("free", 1), releases=[released(cluster, CONFIG_MAPS, name, F) for name in "abc"])


def test_releases_lose_their_finalizers_and_stay() -> None:
    cluster, step = three()
    told = Told()
    outcome = carry(cluster, step, told=told)
    assert cluster.log == [f"strip ConfigMap shop/{name} ({F})" for name in "abc"]
    assert (outcome.failure, outcome.changed, outcome.unfinished, outcome.steps[0].released) == (None, True, 0, 3)
    assert (len(cluster.left()), [event.word for event in told if isinstance(event, Progress)]) == (3, ["released"] * 3)
    assert [event for event in told if isinstance(event, (StepBegan, StepEnded))] == [
        StepBegan("step 1/1 free", 1, 3),
        StepEnded("step 1/1 free", 1, 0, 0, 0.0, 3),
    ]


def test_what_was_free_already_is_done_and_no_change() -> None:
    cluster, step = three()
    for name in "abc":
        cluster.remove(CONFIG_MAPS, name)
    outcome = carry(cluster, step)
    assert (outcome.failure, outcome.changed, outcome.unfinished) == (None, False, 0)


def test_a_release_that_is_refused_does_not_keep_the_others_but_the_later_steps() -> None:
    cluster, step = three()
    cluster.add(SECRETS, "s")
    cluster.refusals["ConfigMap shop/b"] = api_error(403, "Forbidden", "no")
    outcome = carry(cluster, step, Step(StepRule("next", 2), [[entry(cluster, SECRETS, "s")]]))
    assert (outcome.steps[0].released, outcome.unfinished, outcome.steps[1].begun) == (2, 1, False)
    assert str(outcome.failure).startswith("could not remove finalizers from ConfigMap shop/b: HTTP 403 Forbidden, no")


def test_keep_going_begins_later_steps_and_tells_the_first_failure() -> None:
    cluster, step = three()
    cluster.add(SECRETS, "s")
    cluster.refusals.update({"ConfigMap shop/b": api_error(403, "Forbidden", "no"), "Secret shop/s": api_error(409)})
    outcome = carry(cluster, step, Step(StepRule("next", 2), [[entry(cluster, SECRETS, "s")]]), keep_going=True)
    assert (outcome.steps[1].begun, outcome.unfinished) == (True, 2)
    assert "ConfigMap shop/b" in str(outcome.failure)


def test_keep_going_ends_when_the_time_is_over() -> None:
    cluster, step = three(deleted=True)
    cluster.add(SECRETS, "s")
    hanging = Step(StepRule("hang", 1), [[entry(cluster, CONFIG_MAPS, "a")]])
    outcome = carry(cluster, hanging, Step(StepRule("next", 2), [[entry(cluster, SECRETS, "s")]]), keep_going=True)
    assert (isinstance(outcome.failure, TimedOut), outcome.steps[1].begun, step.releases[0].untried) == (
        True,
        False,
        True,
    )


def test_keep_going_ends_with_the_wish_to_stop() -> None:
    cluster, step = three()
    stop = StopSign()
    told = When(Did, lambda: stop.set("received SIGTERM"))
    later = Step(StepRule("next", 2), releases=[released(cluster, CONFIG_MAPS, "c", G)])
    outcome = carry(cluster, step, later, stop=stop, told=told, keep_going=True)
    assert (cluster.log, outcome.steps[1].begun) == ([f"strip ConfigMap shop/a ({F})"], False)
    assert (isinstance(outcome.failure, Interrupted), outcome.unfinished, outcome.changed) == (True, 3, True)


def test_releases_that_the_time_does_not_reach_are_a_time_out() -> None:
    cluster, step = three()
    told = When(Did, lambda: cluster.clock.advance(61))
    outcome = carry(cluster, step, told=told)
    assert isinstance(outcome.failure, TimedOut)
    assert "in step free: 2 of 3 objects still have their finalizers" in str(outcome.failure)


def test_an_object_may_be_released_and_then_deleted_in_one_step() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F])
    step = Step(StepRule("anchor", 1), [[entry(cluster, CONFIG_MAPS, "a")]])
    step.releases = [released(cluster, CONFIG_MAPS, "a", F)]
    outcome = carry(cluster, step)
    assert cluster.log == [f"strip ConfigMap shop/a ({F})", "delete ConfigMap shop/a", "gone ConfigMap shop/a"]
    assert (outcome.failure, outcome.steps[0].deleted, outcome.steps[0].released) == (None, 1, 1)


@pytest.mark.parametrize("watched", [(CONFIG_MAPS,), ()], ids=["seen by the watch", "by the answer alone"])
def test_an_object_that_goes_by_its_release_is_not_deleted_again_and_counts_as_gone(
    watched: tuple[Resource, ...],
) -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F], deleted=True)
    step = Step(StepRule("anchor", 1), [[entry(cluster, CONFIG_MAPS, "a")]])
    step.releases = [released(cluster, CONFIG_MAPS, "a", F)]
    outcome = carry(cluster, step, watched=watched)
    assert cluster.log == [f"strip ConfigMap shop/a ({F})", "gone ConfigMap shop/a"]
    [step] = outcome.steps
    # Another client had deleted it; all that this run did was to remove the finalizer.
    assert (outcome.failure, step.deleted, [str(ref) for ref in step.gone]) == (None, 0, ["ConfigMap shop/a"])


CLEAN: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all went well": ({}, []),
    "something was refused": ({"ConfigMap shop/b": api_error(403, "Forbidden", "no")}, ["Secret shop/s keep"]),
}


@pytest.mark.parametrize(("refusals", "kept"), named(CLEAN))
def test_a_step_for_a_clean_end_is_kept_when_a_release_before_it_failed(
    refusals: dict[str, Any], kept: list[str]
) -> None:
    cluster, step = three()
    cluster.add(SECRETS, "s")
    cluster.refusals.update(refusals)
    last = Step(StepRule("last", 2, only_if_clean=True), [[entry(cluster, SECRETS, "s")]])
    outcome = carry(cluster, step, last, keep_going=True)
    late = outcome.steps[1].late_kept
    assert [f"{one.member.ref} {one.verdict.fate.value}" for one in late] == kept
    assert [one.verdict.why for one in late] == ["1 objects of the steps before it are still there"] * len(kept)
    assert ("Secret shop/s" in cluster.left()) is bool(kept)


def test_what_was_stripped_by_force_is_remembered() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F])
    [step] = force(cluster).run.steps
    assert [str(ref) for ref in step.stripped] == ["ConfigMap shop/a"]


def test_a_strip_that_was_refused_is_not_remembered_as_one() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "a", finalizers=[F], deleted=True)
    cluster.refusals["ConfigMap shop/a"] = api_error(403, "Forbidden", "no")
    assert force(cluster, timeout=60).run.steps[0].stripped == []


def test_each_finalizer_is_judged_by_who_has_set_it() -> None:
    """One controller runs, the other does not: that is said, and not hidden by the one who runs."""
    cluster, told = InMemoryCluster(), Told()
    managed = [
        {"manager": name, "fieldsV1": {"f:metadata": {"f:finalizers": {f'v:"{name}-hold"': {}}}}}
        for name in ("weaver", "dyer")
    ]
    cluster.add(CONFIG_MAPS, "a", finalizers=["weaver-hold", "dyer-hold"], managedFields=managed)
    cluster.add(DEPLOYMENTS, "weaver", "ops", spec={"replicas": 1}, status={"availableReplicas": 1})
    cluster.add(DEPLOYMENTS, "dyer", "ops", spec={"replicas": 0}, status={})
    ranked(cluster, members=named_members((CONFIG_MAPS, "a")), timeout=20, told=told)
    held = {what for event in told if isinstance(event, Progress) for what in event.waiting}
    assert any("(controller not running)" in what for what in held), held
