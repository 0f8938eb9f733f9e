# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draining a product: the order of things, what is switched off and on again, and all that can go wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import (
    Did,
    Planned,
    StepBegan,
    StepEnded,
    Warned,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import (
    CannotLook,
    Interrupted,
    Problem,
    Refused,
    TimedOut,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.drain import DrainOutcome
from ansible_collections.sunset.kube.tests.unit.fakes import Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    BASKETS,
    GATEWAYS,
    INGRESSES,
    NAME,
    OPERATORS,
    PLACE,
    ROUTES,
    SHOP,
    STORES,
    DrainCluster,
    F,
    G,
    LivingOperator,
    drained,
    held,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVICES, When, api_error

MARKED = {NAME: "shop", PLACE: "ops"}
NO = api_error(403, "Forbidden", "no")
ANCHOR = "ShopOperator ops/main"
FREEZE = [
    "create ValidatingAdmissionPolicy sunset-drain-shop",
    "create ValidatingAdmissionPolicyBinding sunset-drain-shop",
]
LIFT = [line.replace("create", "delete") for line in reversed(FREEZE)]


def shop(available: int = 0, anchor: str | None = "") -> DrainCluster:
    """A Service, a Basket and a Store that are held; the operator, and its anchor with this policy (None: none)."""
    cluster = DrainCluster()
    cluster.deploy(available, available)
    if anchor is not None:
        cluster.anchor(policy=anchor)
    held(cluster, (SERVICES, "web"))
    held(cluster, (BASKETS, "b"), (STORES, "s"), labels=MARKED)
    return cluster


def strip(thing: str) -> str:
    return f"strip {thing} ({F})"


SCALED = "patch Deployment ops/shop-operator"
RELEASED = [strip("Service shop/web"), strip("Basket shop/b"), strip("Store shop/s")]


def free(cluster: DrainCluster) -> bool:
    """Does nothing carry the finalizer any more?"""
    return not any(F in (thing["metadata"].get("finalizers") or ()) for thing in cluster.objects.values())


def seconds(cluster: DrainCluster, after: float, action: Callable[[], Any]) -> None:
    cluster.clock.at(cluster.clock.now() + after, action)


# -- nobody runs -------------------------------------------------------------------------------------------------------


def test_without_an_operator_everything_is_released_kind_by_kind_and_the_anchor_goes_last() -> None:
    cluster = shop()
    outcome = drained(cluster)
    assert cluster.writes() == [*RELEASED, strip(ANCHOR), f"delete {ANCHOR}"]
    assert (free(cluster), outcome.status, outcome.changed, outcome.failure) == (True, "completed", True, None)
    assert cluster.left() == ["Basket shop/b", "Deployment ops/shop-operator", "Service shop/web", "Store shop/s"]


@pytest.mark.parametrize(("settle", "seconds_taken"), [(0, 0.0), (3, 3.0)])
def test_without_an_operator_only_the_pause_takes_time(settle: int, seconds_taken: float) -> None:
    """Somebody who is labelled otherwise, and so was not found, would put the finalizers back all the same."""
    assert drained(shop(), settle=settle).seconds == seconds_taken


def test_a_drain_needs_no_anchor() -> None:
    cluster = shop(anchor=None)
    outcome = drained(cluster)
    assert (cluster.writes(), outcome.status) == (RELEASED, "completed")


def test_routes_go_before_their_gateway_and_users_before_the_operators_kinds() -> None:
    cluster = DrainCluster()
    cluster.add(GATEWAYS, "g", finalizers=[F], spec={"gatewayClassName": "x"})
    cluster.add(ROUTES, "r", finalizers=[F], spec={"parentRefs": [{"name": "g"}]})
    held(cluster, (BASKETS, "b"), (SERVICES, "web"))
    drained(cluster, profile={**SHOP, "classes": {}})
    assert cluster.writes() == [
        strip("HTTPRoute shop/r"),
        strip("Service shop/web"),
        strip("Gateway shop/g"),
        strip("Basket shop/b"),
    ]


def test_foreign_finalizers_stay() -> None:
    cluster = DrainCluster()
    cluster.add(SERVICES, "web", finalizers=[G, F])
    drained(cluster)
    assert cluster.finalizers(SERVICES, "web") == [G]


def test_a_second_run_changes_nothing() -> None:
    cluster = shop()
    drained(cluster)
    before, log = copy.deepcopy(cluster.objects), len(cluster.log)
    outcome = drained(cluster)
    assert (outcome.changed, outcome.status, cluster.objects, len(cluster.log)) == (False, "completed", before, log)


def test_an_empty_cluster_is_drained_at_once() -> None:
    outcome = drained(DrainCluster())
    assert (outcome.status, outcome.changed, outcome.runs, outcome.seconds) == ("completed", False, [], 0.0)


def test_an_anchor_alone_is_work_too() -> None:
    cluster = DrainCluster()
    cluster.anchor()
    outcome = drained(cluster)
    assert (cluster.left(), outcome.changed) == ([], True)


def test_an_anchor_that_is_to_stay_stays() -> None:
    cluster = shop()
    drained(cluster, remove_anchor=False)
    assert (cluster.writes(), cluster.finalizers(OPERATORS, "main", "ops")) == (RELEASED, [F])


def test_a_hanging_anchor_is_freed_and_not_deleted_again() -> None:
    cluster = DrainCluster()
    cluster.anchor(deleted=True)
    drained(cluster)
    assert (cluster.log, cluster.left()) == ([strip(ANCHOR), f"gone {ANCHOR}"], [])


# -- a running operator ------------------------------------------------------------------------------------------------


def test_a_running_operator_is_told_first_its_anchor_is_left_to_it_and_then_it_is_stopped() -> None:
    cluster = shop(1)
    operator = LivingOperator(cluster)
    outcome = drained(cluster, told=operator)
    assert cluster.writes() == [f"delete {ANCHOR}", *RELEASED, SCALED]
    assert cluster.log.index(f"gone {ANCHOR}") < cluster.log.index(SCALED)
    assert (operator.ledger, outcome.status, "ShopOperator ops/main" in cluster.left()) == (
        ["ShopOperator main"],
        "completed",
        False,
    )


def test_delete_deletes_the_operators_objects_and_waits_until_it_has_cleaned_up() -> None:
    cluster = shop(1, "Delete")
    operator = LivingOperator(cluster)
    outcome = drained(cluster, told=operator)
    assert cluster.writes() == [
        f"delete {ANCHOR}",
        strip("Service shop/web"),
        "delete Basket shop/b",
        "delete Store shop/s",
        SCALED,
    ]
    assert {"Basket b", "Store s"} <= set(operator.ledger)
    assert (cluster.left(), outcome.status) == (["Deployment ops/shop-operator", "Service shop/web"], "completed")


def test_delete_begins_a_kind_only_when_the_one_before_is_gone() -> None:
    cluster = shop(1, None)
    drained(cluster, told=LivingOperator(cluster, 5.0), policy="Delete")
    assert cluster.log.index("gone Basket shop/b") < cluster.log.index("delete Store shop/s")


POLICY_CHANGES: dict[str, tuple[str, str]] = {
    "to Retain": ("Delete", "Retain"),
    "to Delete": ("Retain", "Delete"),
    "to Delete from nothing": ("", "Delete"),
}


@pytest.mark.parametrize(("anchors", "tasks"), named(POLICY_CHANGES))
def test_the_anchors_policy_is_set_before_the_operator_is_told(anchors: str, tasks: str) -> None:
    cluster = shop(1, anchors)
    drained(cluster, told=LivingOperator(cluster), policy=tasks)
    assert cluster.writes()[:2] == [f"patch {ANCHOR}", f"delete {ANCHOR}"]
    assert cluster.bodies[0] == {"spec": {"drain": {"policy": tasks}}}


def test_a_policy_that_cannot_be_set_stops_everything() -> None:
    """Otherwise the operator would delete what the task wants to retain."""
    cluster = shop(1, "Delete")
    cluster.refusals[ANCHOR] = NO
    outcome = drained(cluster, policy="Retain")
    assert (cluster.writes(), outcome.status, outcome.changed) == ([f"patch {ANCHOR}"], "failed", False)


def test_an_operator_that_cannot_be_told_stops_everything() -> None:
    cluster = shop(1)
    cluster.refusals[ANCHOR] = NO
    outcome = drained(cluster)
    assert cluster.writes() == [f"delete {ANCHOR}"]
    assert str(outcome.failure).startswith(f"cannot delete {ANCHOR}: {NO.why}. ")


def test_a_half_done_drain_goes_on_and_the_anchor_is_not_deleted_again() -> None:
    cluster = shop(1, None)
    cluster.anchor(deleted=True)
    seconds(cluster, 2.0, lambda: cluster.release(OPERATORS, "main", "ops"))
    outcome = drained(cluster)
    assert (cluster.writes(), outcome.status) == ([*RELEASED, SCALED], "completed")


def test_an_anchor_whose_operator_does_not_let_go_is_a_time_out_that_names_it() -> None:
    cluster = shop(1)
    outcome = drained(cluster, timeout=60)
    assert isinstance(outcome.failure, TimedOut)
    assert ANCHOR in str(outcome.failure)
    assert ([str(one.ref) for one in outcome.diagnosis.survivors], outcome.seconds) == ([ANCHOR], 60.0)


def test_an_anchor_that_was_created_anew_is_not_touched() -> None:
    cluster = shop(1)

    def recreate() -> None:
        cluster.release(OPERATORS, "main", "ops")
        cluster.anchor(uid="another")

    outcome = drained(cluster, told=When(StepBegan, recreate))
    assert cluster.finalizers(OPERATORS, "main", "ops") == [F]
    assert (outcome.status, outcome.warnings[-1]) == (
        "completed",
        f"{ANCHOR} was created anew meanwhile; it is not touched",
    )


# -- check mode --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("available", [0, 1])
@pytest.mark.parametrize("params", [{}, {"freeze": True}, {"quiesce": "scale"}, {"policy": "Delete", "force": True}])
def test_check_mode_lets_the_server_try_everything_and_changes_nothing(available: int, params: dict[str, Any]) -> None:
    cluster = shop(available)
    before = copy.deepcopy(cluster.objects)
    if available and params.get("policy") == "Delete":
        params = {"policy": "Delete"}
    outcome = drained(cluster, check_mode=True, **params)
    assert (cluster.objects, outcome.status, outcome.changed) == (before, "pending", False)
    assert cluster.log
    assert all(line.endswith("dry run)") for line in cluster.log)


def test_check_mode_and_run_have_the_same_hash() -> None:
    cluster = shop()
    planned, done = drained(cluster, check_mode=True), drained(cluster)
    assert planned.survey is not None
    assert done.survey is not None
    assert planned.survey.plan.whole.hash == done.survey.plan.whole.hash


def test_check_mode_tries_releases_deletes_and_the_policy() -> None:
    cluster = shop(1, "Retain")
    drained(cluster, check_mode=True, policy="Delete")
    assert sorted(cluster.log) == [
        "delete Basket shop/b (dry run)",
        "delete ShopOperator ops/main (dry run)",
        "delete Store shop/s (dry run)",
        f"{SCALED} (dry run)",
        f"patch {ANCHOR} (dry run)",
        f"strip Service shop/web ({F}, dry run)",
    ]


def test_a_refusal_shows_in_check_mode_already() -> None:
    cluster = shop()
    cluster.refusals["Basket shop/b"] = NO
    outcome = drained(cluster, check_mode=True)
    assert str(outcome.failure).startswith("the API server would refuse to drain Basket shop/b: HTTP 403 Forbidden, no")


def test_a_controller_that_could_not_be_stopped_is_a_failure_with_the_plan() -> None:
    cluster = shop(1)
    cluster.refusals["Deployment ops/shop-operator"] = NO
    failure = drained(cluster, check_mode=True, quiesce="scale").failure
    assert str(failure).startswith(f"cannot patch Deployment ops/shop-operator: {NO.why}. ")


# -- reasons not to begin ----------------------------------------------------------------------------------------------


def no_rights(verb: str, plural: str) -> Callable[[DrainCluster], Any]:
    return lambda cluster: cluster.forbidden.add((verb, plural))


def unreadable(cluster: DrainCluster) -> None:
    cluster.unseen["stores"] = api_error(500, "InternalError", "conversion webhook failed")


def nothing(cluster: DrainCluster) -> None:
    """As it is."""


NOT_BEGUN: dict[str, tuple[Callable[[DrainCluster], Any], dict[str, Any], int, type, str]] = {
    "a kind that cannot be read": (unreadable, {}, 0, CannotLook, "cannot see everything"),
    "too many objects": (nothing, {"max_objects": 2}, 0, Refused, "the plan touches 3"),
    "another plan": (nothing, {"plan_hash": "0" * 16}, 0, Refused, "the plan has changed"),
    "no right to release": (no_rights("patch", "baskets"), {}, 0, Refused, "to patch baskets"),
    "no right to delete": (no_rights("delete", "stores"), {"policy": "Delete"}, 1, Refused, "to delete stores"),
    "no right to delete the anchor": (no_rights("delete", "shopoperators"), {}, 1, Refused, "to delete shopop"),
    "no right to free the anchor": (no_rights("patch", "shopoperators"), {}, 0, Refused, "to patch shopoperators"),
    "no right to set the policy": (
        no_rights("patch", "shopoperators"),
        {"policy": "Delete"},
        1,
        Refused,
        "to patch shopoperators",
    ),
    "no right to stop controllers": (
        no_rights("patch", "deployments"),
        {"quiesce": "scale"},
        1,
        Refused,
        "to patch deployments",
    ),
    "no right to stop them later": (
        no_rights("patch", "deployments"),
        {},
        1,
        Refused,
        "set quiesce: none to let the operator run on",
    ),
    "policy Delete, and nobody runs": (nothing, {"policy": "Delete"}, 0, Refused, "needs the running operator"),
}


@pytest.mark.parametrize(("prepare", "params", "available", "kind", "text"), named(NOT_BEGUN))
def test_nothing_is_written_when_it_is_not_safe_and_the_plan_is_shown(
    prepare: Callable[[DrainCluster], Any], params: dict[str, Any], available: int, kind: type, text: str
) -> None:
    cluster = shop(available)
    prepare(cluster)
    outcome = drained(cluster, **params)
    assert (cluster.log, outcome.changed, outcome.status, type(outcome.failure)) == ([], False, "failed", kind)
    assert text in str(outcome.failure)
    assert outcome.survey is not None


def test_rights_that_are_not_needed_are_not_asked_for() -> None:
    cluster = shop(1)
    no_rights("patch", "shopoperators")(cluster)  # a running operator takes the finalizer off
    no_rights("patch", "deployments")(cluster)
    assert drained(cluster, told=LivingOperator(cluster), quiesce="none").status == "completed"


# -- when something goes wrong -----------------------------------------------------------------------------------------


def test_one_that_refuses_does_not_keep_the_others_but_the_anchor() -> None:
    """With the anchor gone, nobody would look after what is left."""
    cluster = shop()
    held(cluster, (BASKETS, "a"), (BASKETS, "c"))
    cluster.refusals["Basket shop/b"] = NO
    outcome = drained(cluster)
    assert cluster.writes() == [
        strip("Service shop/web"),
        *(strip(f"Basket shop/{name}") for name in "abc"),
        strip("Store shop/s"),
    ]
    assert (outcome.status, outcome.changed, [str(one.ref) for one in outcome.diagnosis.survivors]) == (
        "failed",
        True,
        ["Basket shop/b"],
    )
    assert str(outcome.failure).startswith("could not remove finalizers from Basket shop/b: HTTP 403 Forbidden, no.")


def test_a_time_out_names_who_is_left_and_what_holds_it() -> None:
    cluster = shop(1, None)
    outcome = drained(cluster, policy="Delete", timeout=60)
    assert isinstance(outcome.failure, TimedOut)
    assert f"Basket shop/b (finalizer {F}: " in str(outcome.failure)
    assert outcome.seconds == 60.0


def test_objects_that_are_gone_or_replaced_meanwhile_are_fine() -> None:
    cluster = shop()
    told = When(Planned, lambda: (cluster.remove(SERVICES, "web"), cluster.metadata(BASKETS, "b").update(uid="new")))
    outcome = drained(cluster, told=told)
    # The namesake is another object: not touched by the first plan, but seen by the next look.
    assert (outcome.status, outcome.came_back, cluster.finalizers(BASKETS, "b")) == ("completed", 1, [])


def test_an_object_that_is_labelled_as_somebody_elses_before_its_delete_stays() -> None:
    cluster = shop(1, None)
    theirs = {PLACE: "dev"}
    told = LivingOperator(cluster)

    def relabel(event: Any) -> None:
        told(event)
        if isinstance(event, StepBegan) and "Store" in event.step:
            cluster.change(STORES, "s", labels=theirs)

    drained(cluster, told=relabel, policy="Delete", instance={"controller_namespace": "ops"})
    assert "Store shop/s" in cluster.left()


def test_force_strips_what_stays_after_its_time_and_says_so() -> None:
    cluster = shop(0, None)
    outcome = drained(cluster, policy="Delete", force=True, force_after=30)
    assert cluster.writes() == [
        strip("Service shop/web"),
        "delete Basket shop/b",
        strip("Basket shop/b"),
        "delete Store shop/s",
        strip("Store shop/s"),
    ]
    assert (outcome.status, [str(ref) for run in outcome.runs for step in run.steps for ref in step.stripped]) == (
        "completed",
        ["Basket shop/b", "Store shop/s"],
    )


# -- stopping controllers ----------------------------------------------------------------------------------------------


def test_a_running_operator_without_an_anchor_is_stopped_first_and_stays_so() -> None:
    cluster = shop(1, None)
    outcome = drained(cluster)
    assert (cluster.writes(), cluster.replicas()) == ([SCALED, *RELEASED], 0)
    assert ([str(one.ref) for one in outcome.stopped], outcome.status) == (
        ["Deployment ops/shop-operator"],
        "completed",
    )


def test_a_running_operator_may_be_left_running() -> None:
    cluster = shop(1, None)
    drained(cluster, quiesce="none")
    assert (cluster.writes(), cluster.replicas()) == (RELEASED, 1)


def fails(cluster: DrainCluster) -> None:
    cluster.refusals["Basket shop/b"] = NO


def raises(cluster: DrainCluster) -> None:
    """In the middle of the run a kind cannot be read any more."""
    at_the_first_removal(cluster, lambda: cluster.unseen.update(stores=api_error(500, "InternalError", "x")))


def interrupts(cluster: DrainCluster) -> None:
    at_the_first_removal(cluster, lambda: cluster.stop.set("received SIGTERM"))


def at_the_first_removal(cluster: DrainCluster, action: Callable[[], Any]) -> None:
    cluster.server.controllers.append(lambda call: action() if call.line().startswith("strip") else None)


TROUBLE: dict[str, tuple[Callable[[DrainCluster], None], type]] = {
    "a refusal": (fails, Refused),
    "an error": (raises, CannotLook),
    "the wish to stop": (interrupts, Interrupted),
}


@pytest.mark.parametrize(("trouble", "kind"), named(TROUBLE))
def test_stopped_controllers_are_started_again_when_it_does_not_end_well(
    trouble: Callable[[DrainCluster], None], kind: type
) -> None:
    cluster = shop(3, None)
    trouble(cluster)
    outcome = drained(cluster)
    assert (cluster.replicas(), outcome.stopped, outcome.status) == (3, [], "failed")
    assert isinstance(outcome.failure, kind)


def test_controllers_are_started_again_although_somebody_breaks_in() -> None:
    cluster = shop(3, None)

    def told(event: Any) -> None:
        if isinstance(event, StepBegan):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drained(cluster, told=told)
    assert cluster.replicas() == 3


def test_controllers_are_started_again_when_the_second_cannot_be_stopped() -> None:
    cluster = shop(3, None)
    cluster.deploy(name="shop-operator-2")
    cluster.refusals["Deployment ops/shop-operator-2"] = NO
    outcome = drained(cluster)
    assert (cluster.replicas(), outcome.status, free(cluster)) == (3, "failed", False)


def test_a_controller_that_cannot_be_started_again_is_a_warning() -> None:
    cluster = shop(3, None)
    fails(cluster)
    told = When(StepEnded, lambda: cluster.refusals.update({"Deployment ops/shop-operator": NO}))
    warning = "Deployment ops/shop-operator could not be scaled back to 3: HTTP 403 Forbidden, no"
    outcome = drained(cluster, told=told)
    assert (outcome.warnings[-1], Warned(warning) in told.told) == (warning, True)


def test_a_controller_that_stays_stopped_is_listed() -> None:
    cluster = shop(3, None)
    fails(cluster)
    told = When(StepEnded, lambda: cluster.refusals.update({"Deployment ops/shop-operator": NO}))
    outcome = drained(cluster, told=told)
    assert (cluster.replicas(), len(outcome.stopped)) == (0, 1)


# -- the freeze --------------------------------------------------------------------------------------------------------


def test_the_rights_for_a_freeze_are_asked_for_before_the_first_write() -> None:
    cluster = shop()
    cluster.forbidden.add(("delete", "validatingadmissionpolicybindings"))
    outcome = drained(cluster, freeze=True)
    assert (type(outcome.failure), cluster.writes()) == (Refused, [])


def test_a_freeze_stands_before_the_first_write_and_is_lifted_when_everything_is_free() -> None:
    """The anchor goes when it has been quiet without it."""
    cluster = shop()
    outcome = drained(cluster, freeze=True)
    assert cluster.writes() == [*FREEZE, *RELEASED, *LIFT, strip(ANCHOR), f"delete {ANCHOR}"]
    assert (outcome.frozen, outcome.changed) == ("sunset-drain-shop", True)


def test_controllers_are_stopped_before_the_freeze() -> None:
    """What it refuses, they would try again when it is over."""
    cluster = shop(1, None)
    drained(cluster, freeze=True)
    assert cluster.writes() == [SCALED, *FREEZE, *RELEASED, *LIFT]


def test_an_operator_that_has_done_its_part_is_stopped_before_the_freeze_is_lifted() -> None:
    cluster = shop(1)
    drained(cluster, told=LivingOperator(cluster), freeze=True)
    assert cluster.writes() == [*FREEZE, f"delete {ANCHOR}", *RELEASED, SCALED, *LIFT]


def thawed(freeze_lasts: float, comes_back: float | None, **params: Any) -> tuple[DrainCluster, DrainOutcome]:
    """A freeze that takes so long; then a write that it has refused is tried again."""
    cluster = shop(1, None)

    def told(event: Any) -> None:
        if isinstance(event, StepBegan) and "Store" in event.step:
            cluster.clock.advance(freeze_lasts)
        if isinstance(event, Did) and event.action == "lift freeze" and comes_back is not None:
            seconds(cluster, comes_back, lambda: cluster.change(SERVICES, "web", finalizers=[F]))

    return cluster, drained(cluster, told=told, quiesce="none", freeze=True, **params)


def test_after_a_freeze_it_must_stay_quiet_for_as_long_as_the_freeze_was_in_force() -> None:
    cluster, outcome = thawed(20.0, 19.0)
    assert (free(cluster), outcome.status, outcome.came_back) == (True, "completed", 1)


def test_after_a_short_freeze_the_time_to_settle_counts() -> None:
    _cluster, outcome = thawed(1.0, None, settle=5)
    assert outcome.seconds >= 6.0


def test_a_quiet_time_after_a_freeze_that_does_not_fit_into_the_task_is_said() -> None:
    _cluster, outcome = thawed(20.0, None, timeout=30)
    assert (outcome.status, outcome.seconds) == ("completed", 30.0)
    assert [text for text in outcome.warnings if "not for 20 s (as long as the freeze was in force)" in text]


def test_an_operator_that_was_stopped_has_nothing_to_try_again() -> None:
    cluster = shop(1, None)
    told = When(StepBegan, lambda: cluster.clock.advance(20.0))
    assert drained(cluster, told=told, freeze=True).seconds < 25.0


def test_a_freeze_forbids_the_operators_kinds_and_the_finalizers_of_all_and_ends_by_itself() -> None:
    cluster = shop()
    seen: list[Any] = []

    def look() -> None:
        frozen = [value for key, value in cluster.objects.items() if key[3].startswith("sunset-drain-shop-")]
        seen.extend(copy.deepcopy(sorted(frozen, key=lambda thing: "policyName" in thing["spec"])))

    told = When(StepBegan, look)
    drained(cluster, freeze=True, timeout=540, instance={"namespaces": ["shop"]}, told=told)
    policy, binding = seen
    rules = policy["spec"]["matchConstraints"]["resourceRules"][:-1]
    assert {rule["resources"][0] for rule in rules} == {
        *("httproutes", "ingresses", "services", "gateways", "gatewayclasses", "baskets", "stores"),
    }
    assert policy["metadata"]["annotations"] == {"sunset.dev/freeze-ends": "2026-01-01T00:10:00Z"}
    assert '["shop.example.com/Basket", "shop.example.com/Store"]' in policy["spec"]["validations"][0]["expression"]
    assert binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"][0]["values"] == ["shop"]


@pytest.mark.parametrize(("trouble", "kind"), named(TROUBLE))
def test_a_freeze_is_lifted_when_it_does_not_end_well(trouble: Callable[[DrainCluster], None], kind: type) -> None:
    cluster = shop(1, None)
    trouble(cluster)
    outcome = drained(cluster, freeze=True)
    assert (cluster.writes()[-3:], isinstance(outcome.failure, kind), cluster.replicas()) == ([*LIFT, SCALED], True, 1)


def test_a_freeze_is_lifted_although_somebody_breaks_in() -> None:
    cluster = shop()

    def told(event: Any) -> None:
        if isinstance(event, StepBegan):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drained(cluster, freeze=True, told=told)
    assert cluster.writes()[-2:] == LIFT


def test_a_freeze_that_cannot_be_lifted_is_a_failure() -> None:
    cluster = shop()
    told = When(StepBegan, lambda: cluster.refusals.update({"ValidatingAdmissionPolicyBinding sunset-drain-shop": NO}))
    failure = drained(cluster, freeze=True, told=told).failure
    assert str(failure).startswith(f"cannot delete ValidatingAdmissionPolicyBinding sunset-drain-shop: {NO.why}. ")


def test_nothing_is_drained_under_a_freeze_that_does_not_work() -> None:
    cluster = shop()
    cluster.freeze_works = False
    outcome = drained(cluster, freeze=True)
    assert (free(cluster), outcome.failure and outcome.failure.what) == (False, "the freeze does not work")


def never_works(cluster: DrainCluster) -> None:
    cluster.freeze_works = False


def half_refused(cluster: DrainCluster) -> None:
    cluster.refusals["ValidatingAdmissionPolicyBinding sunset-drain-shop"] = NO


def stopped_meanwhile(cluster: DrainCluster) -> None:
    cluster.freeze_works = False
    seconds(cluster, 1.0, lambda: cluster.stop.set("received SIGTERM"))


HALF_FROZEN = {"it never works": never_works, "only half of it": half_refused, "somebody stops it": stopped_meanwhile}


@pytest.mark.parametrize("trouble", named(HALF_FROZEN))
def test_a_freeze_is_taken_away_again_when_it_does_not_work(trouble: Callable[[DrainCluster], None]) -> None:
    cluster = shop()
    trouble(cluster)
    drained(cluster, freeze=True)
    assert not any("Validating" in thing for thing in cluster.left())


def test_a_freeze_is_a_change_although_nobody_had_to_be_stopped() -> None:
    cluster = shop(0, None)
    fails(cluster)
    for kind, name in ((SERVICES, "web"), (STORES, "s")):
        cluster.remove(kind, name)
    assert drained(cluster, freeze=True, quiesce="scale").changed


# -- stopping them when they have done their part ----------------------------------------------------------------------


def test_where_nothing_is_released_the_operator_runs_on() -> None:
    cluster = shop(1, None)
    cluster.remove(SERVICES, "web")
    outcome = drained(cluster, told=LivingOperator(cluster), policy="Delete")
    assert (outcome.status, outcome.stopped, cluster.replicas()) == ("completed", [], 1)


def test_an_operator_that_does_not_let_its_anchor_go_is_not_stopped() -> None:
    cluster = shop(1)
    outcome = drained(cluster, timeout=60)
    assert (outcome.status, SCALED in cluster.writes(), cluster.replicas()) == ("failed", False, 1)


def test_an_operator_that_was_stopped_late_is_started_again_when_it_does_not_end_well() -> None:
    cluster = shop(1)
    operator = LivingOperator(cluster)

    def told(event: Any) -> None:
        operator(event)
        if isinstance(event, Did) and event.action == "scale to 0":
            cluster.unseen["stores"] = api_error(500, "InternalError", "x")

    outcome = drained(cluster, told=told)
    assert (outcome.status, outcome.stopped, cluster.replicas()) == ("failed", [], 1)


def test_what_is_made_again_is_left_to_the_operator_before_it_is_stopped() -> None:
    cluster = shop(1, "Delete")
    operator = LivingOperator(cluster)

    def told(event: Any) -> None:
        operator(event)
        if isinstance(event, StepEnded) and "Store" in event.step and "Basket again" not in operator.ledger:
            held(cluster, (BASKETS, "again"), labels=MARKED)

    outcome = drained(cluster, told=told)
    assert (outcome.status, operator.ledger.count("Basket again"), cluster.replicas()) == ("completed", 1, 0)
    assert cluster.log.index("gone Basket shop/again") < cluster.log.index(SCALED)


def test_what_is_stopped_is_known_beforehand() -> None:
    cluster = shop(1)
    outcome = drained(cluster, check_mode=True)
    assert ([str(one.ref) for one in outcome.stopped], cluster.replicas()) == (["Deployment ops/shop-operator"], 1)


def test_an_operator_that_runs_on_is_a_warning() -> None:
    cluster = shop(1)
    outcome = drained(cluster, told=LivingOperator(cluster), quiesce="none")
    assert [text for text in outcome.warnings if "runs on, and may put its finalizers back later" in text]


# -- what comes back ---------------------------------------------------------------------------------------------------


class Stubborn:
    """Somebody who puts the finalizer back on the Service, so many times, so long after it was taken off."""

    def __init__(self, cluster: DrainCluster, times: int, after: float) -> None:
        self._cluster, self._times, self._after = cluster, times, after

    def __call__(self, event: Any) -> None:
        ours = isinstance(event, Did) and event.action == "remove finalizer" and event.object.name == "web"
        if ours and self._times:
            self._times -= 1
            seconds(self._cluster, self._after, self._put_back)
            if not self._after:
                self._cluster.clock.advance(0)

    def _put_back(self) -> None:
        managed = [{"manager": "shop-operator", "fieldsV1": {"f:metadata": {"f:finalizers": {f'v:"{F}"': {}}}}}]
        self._cluster.change(SERVICES, "web", finalizers=[F], managedFields=managed)


def stubborn(times: int, after: float, **params: Any) -> tuple[DrainCluster, DrainOutcome]:
    cluster = shop(1, None)
    return cluster, drained(cluster, told=Stubborn(cluster, times, after), quiesce="none", **params)


def test_where_nobody_puts_anything_back_the_pause_is_all_it_costs() -> None:
    _cluster, outcome = stubborn(0, 0.0, settle=7)
    assert (outcome.seconds, outcome.came_back, outcome.status) == (7.0, 0, "completed")


@pytest.mark.parametrize("after", [0.0, 0.5, 2.9])
def test_what_comes_back_is_released_again(after: float) -> None:
    cluster, outcome = stubborn(1, after)
    assert (free(cluster), outcome.status, outcome.came_back) == (True, "completed", 1)
    assert cluster.writes().count(strip("Service shop/web")) == 2


def test_nobody_looks_after_the_pause() -> None:
    cluster, outcome = stubborn(1, 3.5)
    assert (free(cluster), outcome.status) == (True, "completed")
    cluster.clock.advance(1.0)
    assert not free(cluster)


def test_what_comes_back_for_ever_ends_in_a_failure_that_names_who_does_it() -> None:
    cluster, outcome = stubborn(100, 0.0)
    assert str(outcome.failure).startswith(
        "the finalizers keep coming back: on 1 objects, Service shop/web among them, set by shop-operator."
    )
    assert (outcome.status, cluster.writes().count(strip("Service shop/web"))) == ("failed", 5)


def test_what_comes_back_in_the_pause_for_ever_is_named_too() -> None:
    _cluster, outcome = stubborn(100, 1.0)
    assert "on 1 objects, Service shop/web among them, set by shop-operator" in str(outcome.failure)


def test_a_pause_between_two_rounds_ends_with_the_time_of_the_task() -> None:
    _cluster, outcome = stubborn(100, 0.0, timeout=5)
    assert (outcome.status, outcome.seconds) == ("failed", 5.0)


class Restless(LivingOperator):
    """Cleans up behind a Basket, slowly, and makes it again."""

    def _clean_up(self) -> None:
        super()._clean_up()
        if (BASKETS.group, BASKETS.plural, "shop", "b") not in self._cluster.objects:
            held(self._cluster, (BASKETS, "b"), labels=MARKED)


@pytest.mark.parametrize(("timeout", "says"), [(16, "out of time"), (22, "the finalizers keep coming back")])
def test_time_that_went_into_what_is_brought_back_is_not_blamed_on_a_slow_controller(timeout: int, says: str) -> None:
    cluster = shop(1, None)
    outcome = drained(cluster, told=Restless(cluster, 6.0), policy="Delete", timeout=timeout)
    assert (outcome.seconds, str(outcome.failure)[: len(says)]) == (timeout, says)


def test_a_pause_that_the_time_of_the_task_cuts_short_is_said() -> None:
    cluster = shop(1, None)
    outcome = drained(cluster, quiesce="none", settle=7, timeout=5)
    assert (outcome.status, outcome.seconds) == ("completed", 5.0)
    assert [text for text in outcome.warnings if "watched for 5 s, not for 7 s (settle)" in text]


def test_what_comes_back_in_the_pause_four_times_is_released_four_times() -> None:
    _cluster, outcome = stubborn(4, 1.0)
    assert (outcome.status, outcome.came_back) == ("completed", 4)


def test_an_installation_that_is_not_ours_may_keep_its_finalizers() -> None:
    cluster = shop(1, None)
    cluster.add(BASKETS, "theirs", "bank", finalizers=[F], labels={PLACE: "dev"})
    seconds(cluster, 1.0, lambda: cluster.change(BASKETS, "theirs", "bank", annotations={"a": "b"}))
    outcome = drained(cluster, quiesce="none", instance={"controller_namespace": "ops"})
    assert (outcome.seconds, outcome.came_back) == (3.0, 0)
    assert (outcome.status, cluster.finalizers(BASKETS, "theirs", "bank")) == ("completed", [F])


def test_another_installation_may_work_on_meanwhile() -> None:
    cluster = shop(1, None)
    for number in range(40):
        seconds(
            cluster,
            0.5 * number,
            lambda number=number: cluster.add(BASKETS, f"new-{number}", "bank", finalizers=[F], labels={PLACE: "dev"}),
        )
    outcome = drained(cluster, quiesce="none", instance={"controller_namespace": "ops"})
    assert outcome.status == "completed"


def test_the_wish_to_stop_while_it_settles_is_no_completion() -> None:
    cluster = shop(1, None)
    seconds(cluster, 2.0, lambda: cluster.stop.set("received SIGTERM"))
    outcome = drained(cluster, settle=60)
    assert (outcome.status, cluster.replicas()) == ("failed", 1)


def test_what_the_operator_makes_again_under_delete_is_seen() -> None:
    cluster = shop(1, None)
    cluster.remove(SERVICES, "web")
    operator = LivingOperator(cluster)
    made = iter(range(1, 4))

    def told(event: Any) -> None:
        operator(event)
        if isinstance(event, StepEnded) and "Basket" in event.step and next(made, 0):
            cluster.add(BASKETS, "again", uid=f"again-{event.seconds}", finalizers=[F], labels=MARKED)

    outcome = drained(cluster, told=told, policy="Delete")
    assert outcome.status == "failed" or not any("Basket" in thing for thing in cluster.left())


# -- the operator is faster --------------------------------------------------------------------------------------------


def anchor_goes_at_once(cluster: DrainCluster) -> Callable[[Any], None]:
    """The operator finishes its own drain and lets the anchor go as soon as it is told."""

    def told(event: Any) -> None:
        if isinstance(event, Did) and event.detail == "tells the operator to drain":
            cluster.release(OPERATORS, "main", "ops")

    return told


def test_an_anchor_that_its_operator_lets_go_at_once_is_fine() -> None:
    cluster = shop(1)
    outcome = drained(cluster, told=anchor_goes_at_once(cluster))
    assert (outcome.status, cluster.writes()) == ("completed", [f"delete {ANCHOR}", *RELEASED, SCALED])


def test_another_installations_objects_stay_untouched_when_the_anchor_went_meanwhile() -> None:
    cluster = shop(1)
    cluster.add(BASKETS, "theirs", "bank", finalizers=[F], labels={NAME: "shop", PLACE: "dev"})
    drained(cluster, told=anchor_goes_at_once(cluster))
    assert cluster.finalizers(BASKETS, "theirs", "bank") == [F]


def test_the_policy_stays_what_it_was_when_the_anchor_went_meanwhile() -> None:
    cluster = shop(1, "Delete")
    operator, gone = LivingOperator(cluster), anchor_goes_at_once(cluster)

    def told(event: Any) -> None:
        operator(event)
        gone(event)
        if isinstance(event, StepEnded) and "Store" in event.step:
            cluster.add(BASKETS, "late", finalizers=[F], labels=MARKED)

    drained(cluster, told=told)
    assert strip("Basket shop/late") not in cluster.writes()


def test_an_anchor_goes_although_helm_was_told_to_keep_it() -> None:
    cluster = DrainCluster()
    cluster.anchor(annotations={"helm.sh/resource-policy": "keep"})
    outcome = drained(cluster)
    assert cluster.left() == [] or outcome.status == "failed"


# -- what is told ------------------------------------------------------------------------------------------------------


def planned(cluster: DrainCluster, **params: Any) -> str:
    told = Told()
    drained(cluster, told=told, check_mode=True, **params)
    return next(str(event.summary) for event in told if isinstance(event, Planned))


SUMMARIES: dict[str, tuple[Callable[[], DrainCluster], dict[str, Any], str]] = {
    "nobody runs": (shop, {}, f"policy Retain: release 3 objects, then {ANCHOR}; about 4 s"),
    "a longer pause": (lambda: shop(1), {"settle": 30}, f"policy Retain: release 3 objects, then {ANCHOR}; about 31 s"),
    "both": (lambda: shop(1, "Delete"), {}, f"policy Delete: release 1 and delete 2 objects, then {ANCHOR}; about 4 s"),
    "nothing": (DrainCluster, {}, "policy Retain: nothing to release"),
    "others": (
        shop,
        {"instance": {"controller_namespace": "dev"}},
        f"policy Retain: release 1 objects, then {ANCHOR}; 2 not ours; about 4 s",
    ),
}


@pytest.mark.parametrize(("make", "params", "text"), named(SUMMARIES))
def test_the_plan_is_one_line_with_a_forecast(
    make: Callable[[], DrainCluster], params: dict[str, Any], text: str
) -> None:
    assert planned(make(), **params) == f"drain Shop operator, {text}"


def warnings(cluster: DrainCluster, **params: Any) -> list[str]:
    return drained(cluster, check_mode=True, **params).warnings


def test_the_profiles_notes_are_warnings_when_there_is_anything_to_do() -> None:
    note = "Shop operator: Baskets hold money."
    assert (warnings(shop()), warnings(DrainCluster())) == ([note], [])


def test_what_is_unclear_is_a_warning_with_an_example() -> None:
    cluster = DrainCluster()
    held(cluster, (INGRESSES, "a"), (INGRESSES, "b"))
    assert warnings(cluster) == [
        "2 objects carry the finalizer, and it is not clear whose they are; they are left alone: "
        "Ingress shop/a (it has no ingress class, and no default one is known)"
    ]


def test_a_time_that_will_not_be_enough_is_a_warning() -> None:
    assert warnings(shop(1), settle=30, timeout=20)[-1] == "this will take about 31 s, and timeout is 20 s"


def test_an_operator_of_which_nothing_is_known_is_a_warning_under_delete() -> None:
    cluster = shop(1)
    cluster.unseen["deployments"] = NO
    text = "whether the operator runs could not be found out (could not look: HTTP 403 Forbidden, no)"
    assert (text in warnings(cluster, policy="Delete"), text in warnings(cluster)) == (True, False)


@pytest.mark.parametrize(("folder", "names"), [("somewhere", ["b", "s"]), (None, None)])
def test_what_is_deleted_is_kept_for_the_undo_folder(folder: str | None, names: list[str] | None) -> None:
    cluster = shop(1, None)
    outcome = drained(cluster, told=LivingOperator(cluster), policy="Delete", evidence_dir=folder)
    kept = outcome.keepsakes
    found = [item["metadata"]["name"] for step in kept.steps for item in step.objects] if kept else None
    assert found == names


def test_a_problem_before_the_plan_is_raised() -> None:
    cluster = shop()
    cluster.anchor("second", "dev")
    with pytest.raises(Problem, match="which installation is meant"):
        drained(cluster)
    assert cluster.log == []
