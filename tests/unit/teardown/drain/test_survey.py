# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a drain knows before it writes, and the reasons not to begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.survey import (
    Survey,
    make_survey,
    refuse_what_is_unsafe,
)
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, NAMESPACES, Told, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    BASKETS,
    NAME,
    PLACE,
    DrainCluster,
    held,
    options_of,
    profile_of,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVICES, api_error

MARKED = {NAME: "shop", PLACE: "ops"}


def survey(cluster: DrainCluster, profile: dict[str, Any] | None = None, **params: Any) -> Survey:
    return make_survey(options_of(**params), profile_of(**(profile or {})), cluster, Told())


def shop(available: int = 1, anchor: str | None = "", labels: dict[str, str] | None = None) -> DrainCluster:
    """One Basket and one Service that are held; the operator, and its anchor with this policy (None: no anchor)."""
    cluster = DrainCluster()
    cluster.deploy(available, available)
    if anchor is not None:
        cluster.anchor(policy=anchor)
    held(cluster, (BASKETS, "b"), labels=MARKED if labels is None else labels)
    held(cluster, (SERVICES, "web"))
    return cluster


POLICIES: dict[str, tuple[str | None, str | None, str]] = {
    "the task's": ("Retain", "Delete", "Delete"),
    "the task's against the anchor's": ("Delete", "Retain", "Retain"),
    "the anchor's": ("Delete", None, "Delete"),
    "neither": ("", None, "Retain"),
    "a word nobody knows": ("Burn", None, "Retain"),
    "no anchor": (None, None, "Retain"),
}


@pytest.mark.parametrize(("anchors", "tasks", "policy"), named(POLICIES))
def test_the_policy_is_the_tasks_else_the_anchors_else_retain(
    anchors: str | None, tasks: str | None, policy: str
) -> None:
    assert survey(shop(anchor=anchors), policy=tasks).policy == policy


PLACES: dict[str, tuple[str | None, dict[str, Any], str]] = {
    "the anchor's": ("", {}, "ops"),
    "the task's": ("", {"controller_namespace": "dev"}, "dev"),
    "nobody's": (None, {}, ""),
}


@pytest.mark.parametrize(("anchor", "instance", "namespace"), named(PLACES))
def test_controllers_live_beside_the_anchor_unless_the_task_says_where(
    anchor: str | None, instance: dict[str, Any], namespace: str
) -> None:
    assert survey(shop(anchor=anchor), instance=instance).instance.controller_namespace == namespace


# alive, anchor, params → (quiesces, tells the operator, changes its policy)
TURNS: dict[str, tuple[int, str | None, dict[str, Any], tuple[bool, bool, bool]]] = {
    "a running operator is told": (1, "", {}, (False, True, False)),
    "nobody is there to be told": (0, "", {}, (False, False, False)),
    "without an anchor it is stopped": (1, None, {}, (True, False, False)),
    "without an anchor, and nobody runs": (0, None, {}, (False, False, False)),
    "with an anchor that stays it is stopped": (1, "", {"remove_anchor": False}, (True, False, False)),
    "policy Delete needs it running": (1, None, {"policy": "Delete"}, (False, False, False)),
    "never stopped": (1, None, {"quiesce": "none"}, (False, False, False)),
    "stopped by wish, so not told": (1, "", {"quiesce": "scale"}, (True, False, False)),
    "Delete by the task, nothing by the anchor": (1, "", {"policy": "Delete"}, (False, True, True)),
    "Retain by the task, Delete by the anchor": (1, "Delete", {"policy": "Retain"}, (False, True, True)),
    "the same by both": (1, "Delete", {"policy": "Delete"}, (False, True, False)),
    "Retain by the task, nothing by the anchor": (1, "", {"policy": "Retain"}, (False, True, False)),
    "another one, but nobody follows it": (0, "Delete", {"policy": "Retain"}, (False, False, False)),
}


@pytest.mark.parametrize(("available", "anchor", "params", "expected"), named(TURNS))
def test_a_running_operator_is_told_or_stopped(
    available: int, anchor: str | None, params: dict[str, Any], expected: tuple[bool, bool, bool]
) -> None:
    found = survey(shop(available, anchor), **params)
    assert (found.quiesces, found.tells_operator, found.changes_policy) == expected


# alive, anchor, params → is it stopped when it has done its part?
LATER: dict[str, tuple[int, str | None, dict[str, Any], bool]] = {
    "an operator that is told": (1, "", {}, True),
    "one that does not run": (0, "", {}, False),
    "one that is stopped first": (1, None, {}, False),
    "policy Delete, and a user's object is released": (1, None, {"policy": "Delete"}, True),
    "never stopped": (1, "", {"quiesce": "none"}, False),
    "stopped first by wish": (1, "", {"quiesce": "scale"}, False),
}


@pytest.mark.parametrize(("available", "anchor", "params", "expected"), named(LATER))
def test_a_running_operator_that_has_to_do_its_part_is_stopped_later(
    available: int, anchor: str | None, params: dict[str, Any], expected: bool
) -> None:
    found = survey(shop(available, anchor), **params)
    assert found.stops_later is expected
    stops = [str(one.ref) for one in found.stops]
    assert stops == ["Deployment ops/shop-operator"] * (found.quiesces or found.stops_later)


def test_where_there_is_nothing_to_drain_nothing_is_stopped() -> None:
    cluster = DrainCluster()
    cluster.deploy(1, 1)
    assert survey(cluster, quiesce="scale").stops == []


def test_an_installation_that_shares_the_namespace_is_not_stopped() -> None:
    cluster = shop()
    cluster.deploy(name="edge-manager")
    cluster.anchor("edge")
    found = survey(cluster, anchor={"name": "main"}, instance={"controller_name": "shop-operator"})
    assert [str(one.ref) for one in found.stops] == ["Deployment ops/shop-operator"]


OWN = {"finalized_by": ["app=shop-operator,part=manager"]}
HELPER = {"group": "shop.example.com", "kind": "Basket", "finalized_by": ["app=shop-operator,part=agent"]}
# replicas of the manager, replicas of the agent, kinds → what the refusal names, or nothing
ABSENT: dict[str, tuple[int, int, dict[str, Any], str]] = {
    "only the helper runs": (0, 1, OWN, "Deployment ops/shop-manager has no available replica"),
    "only the manager runs": (1, 0, OWN, ""),
    "the helper is needed and runs": (0, 1, {**OWN, "operator_kinds": [HELPER]}, ""),
    "the helper is needed": (1, 0, {**OWN, "operator_kinds": [HELPER]}, "shop-agent has no available replica"),
}


@pytest.mark.parametrize(("manager", "agent", "profile", "why"), named(ABSENT))
def test_delete_needs_the_controller_that_takes_the_finalizers_off(
    manager: int, agent: int, profile: dict[str, Any], why: str
) -> None:
    cluster = DrainCluster()
    for part, replicas in (("manager", manager), ("agent", agent)):
        cluster.deploy(replicas, replicas, name=f"shop-{part}")
        cluster.metadata(DEPLOYMENTS, f"shop-{part}", "ops")["labels"]["part"] = part
    held(cluster, (BASKETS, "b"), labels=MARKED)
    found = survey(cluster, profile, policy="Delete", instance={"controller_namespace": "ops"})
    if why:
        with pytest.raises(Refused, match=why):
            refuse_what_is_unsafe(found, options_of(policy="Delete"))
    else:
        refuse_what_is_unsafe(found, options_of(policy="Delete"))


def test_a_helper_that_runs_on_its_own_is_stopped_first_although_there_is_an_anchor() -> None:
    cluster = shop(0)
    cluster.deploy(name="shop-agent")
    cluster.metadata(DEPLOYMENTS, "shop-operator", "ops")["labels"]["part"] = "manager"
    found = survey(cluster, OWN)
    assert (found.quiesces, found.tells_operator) == (True, False)
    assert [str(one.ref) for one in found.stops] == ["Deployment ops/shop-agent"]


def test_an_anchor_without_a_policy_has_none_to_change() -> None:
    anchor = {"group": "shop.example.com", "kind": "ShopOperator"}
    found = survey(shop(), {"anchor": anchor}, policy="Delete")
    assert (found.tells_operator, found.changes_policy) == (True, False)


FREED: dict[str, tuple[int, dict[str, Any], bool]] = {
    "it runs": (1, {}, False),
    "it does not run": (0, {}, True),
    "it will be stopped": (1, {"quiesce": "scale"}, True),
}


@pytest.mark.parametrize(("available", "params", "released"), named(FREED))
def test_the_anchor_is_freed_by_us_only_where_no_operator_does_it(
    available: int, params: dict[str, Any], released: bool
) -> None:
    step = survey(shop(available), **params).plan.anchor
    assert step is not None
    assert bool(step.releases) is released


def test_labels_are_asked_once_more_before_a_delete() -> None:
    found = survey(shop())
    assert found.not_ours(record(labels=MARKED), True) == ""
    assert found.not_ours(record(labels={PLACE: "dev"}), True).endswith("not controller_namespace ops")


# -- reasons not to begin ----------------------------------------------------------------------------------------------


def refusal(cluster: DrainCluster, **params: Any) -> Problem | None:
    options = options_of(**params)
    try:
        refuse_what_is_unsafe(make_survey(options, profile_of(), cluster, Told()), options)
    except Problem as problem:
        return problem
    return None


def two_installations() -> DrainCluster:
    cluster = shop()
    cluster.anchor("second", "dev")
    return cluster


def gone(cluster: DrainCluster | None = None) -> DrainCluster:
    return cluster or shop(0)


SAFE: dict[str, tuple[Callable[[], DrainCluster], dict[str, Any]]] = {
    "the usual": (shop, {}),
    "Delete with a running operator": (shop, {"policy": "Delete"}),
    "Retain without one": (gone, {"policy": "Retain"}),
    "Delete without one, by force": (gone, {"policy": "Delete", "force": True}),
    "Delete without one, when nothing is deleted": (lambda: shop(0, labels={}), {"policy": "Delete"}),
    "one of two, with its share named": (
        two_installations,
        {"anchor": {"name": "main"}, "instance": {"namespaces": ["shop"]}},
    ),
    "scale": (shop, {"quiesce": "scale"}),
    "freeze": (shop, {"freeze": True}),
    "freeze for some namespaces": (shop, {"freeze": True, "instance": {"namespaces": ["shop"]}}),
}


@pytest.mark.parametrize(("make", "params"), named(SAFE))
def test_it_may_begin(make: Callable[[], DrainCluster], params: dict[str, Any]) -> None:
    assert refusal(make(), **params) is None


def unreadable() -> DrainCluster:
    cluster = shop()
    cluster.add(NAMESPACES, "shop")
    cluster.unseen["stores"] = api_error(403, "Forbidden", "no")
    return cluster


def three_installations() -> DrainCluster:
    cluster = two_installations()
    cluster.anchor("third", "qa")
    return cluster


def one_basket() -> DrainCluster:
    cluster = DrainCluster()
    held(cluster, (BASKETS, "ours"))
    return cluster


UNSAFE: dict[str, tuple[Callable[[], DrainCluster], dict[str, Any], type, str]] = {
    "a kind that cannot be read": (
        unreadable,
        {},
        CannotLook,
        "cannot see everything that would have to be drained: Store (shop.example.com): HTTP 403 Forbidden, no.",
    ),
    "another installation": (
        two_installations,
        {"anchor": {"name": "main"}},
        Refused,
        "another installation may own some of these objects: ShopOperator dev/second is alive too.",
    ),
    "several other installations": (
        three_installations,
        {"anchor": {"name": "main"}},
        Refused,
        "another installation may own some of these objects: ShopOperator dev/second is alive too, and 1 more.",
    ),
    "Delete without an operator": (
        gone,
        {"policy": "Delete"},
        Refused,
        "policy Delete needs the running operator: only it can clean up outside the cluster, and "
        "Deployment ops/shop-operator has no available replica.",
    ),
    "Delete, with the operator stopped": (
        shop,
        {"policy": "Delete", "quiesce": "scale"},
        Refused,
        "policy Delete needs the running operator: quiesce: scale would stop it before it can clean up.",
    ),
    "nothing to stop": (
        one_basket,
        {"quiesce": "scale", "instance": {"controller_namespace": "ops"}},
        Refused,
        "there is nothing to scale down: no Deployment or StatefulSet is labelled app=shop-operator in namespace ops.",
    ),
    "a freeze for everybody": (
        shop,
        {"freeze": True, "instance": {"ingress_classes": ["shop"]}},
        Refused,
        "freeze would hold up the other installations: it works by namespaces, and instance names none.",
    ),
}


@pytest.mark.parametrize(("make", "params", "kind", "text"), named(UNSAFE))
def test_it_must_not_begin(make: Callable[[], DrainCluster], params: dict[str, Any], kind: type, text: str) -> None:
    problem = refusal(make(), **params)
    assert (type(problem), str(problem).partition(" Next: ")[0]) == (kind, text)


def test_an_operator_of_which_nothing_is_known_is_no_reason_to_refuse_delete() -> None:
    cluster = shop()
    cluster.unseen["deployments"] = api_error(403, "Forbidden", "no")
    assert refusal(cluster, policy="Delete") is None


# -- known bugs --------------------------------------------------------------------------------------------------------


def test_a_second_run_for_one_installation_leaves_the_other_alone() -> None:
    """The anchor of the first installation is gone; its namespace is still known from the task."""
    cluster = DrainCluster()
    cluster.anchor("second", "dev")
    held(cluster, (BASKETS, "theirs"), labels={NAME: "shop", PLACE: "dev"})
    wish = {"anchor": {"name": "main", "namespace": "ops"}, "instance": {"ingress_classes": ["shop"]}}
    assert survey(cluster, **wish).plan.size == 0


def test_another_live_anchor_counts_although_the_named_one_is_gone() -> None:
    cluster = DrainCluster()
    cluster.anchor("second", "dev")
    held(cluster, (BASKETS, "theirs"), labels={NAME: "shop", PLACE: "dev"})
    found = refusal(cluster, anchor={"name": "main", "namespace": "ops"})
    assert isinstance(found, Refused) or survey(cluster, anchor={"name": "main", "namespace": "ops"}).plan.size == 0


def test_nothing_to_scale_down_is_fine_where_nothing_is_to_be_done() -> None:
    assert refusal(DrainCluster(), quiesce="scale") is None
