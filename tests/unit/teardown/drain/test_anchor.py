# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The anchor: finding the right one, and reading what it says."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import record_of
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, CannotLook, Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.anchor import Anchor, find_anchor
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.options import AnchorWish
from ansible_collections.sunset.kube.tests.unit.fakes import metadata, named, refusal
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    OPERATORS,
    STORES,
    DrainCluster,
    profile_of,
)

SHOP = profile_of()
NO_STATUS = profile_of(anchor={"group": "shop.example.com", "kind": "ShopOperator"})


def anchor(deleted: bool = False, profile: Any = SHOP, **item: Any) -> Anchor:
    facts = metadata("main", "ops", deleted=deleted)
    return Anchor(profile.anchor, OPERATORS, record_of(facts), {"metadata": facts, **item})


def find(cluster: DrainCluster, profile: Any = SHOP, **wish: str) -> Anchor | None:
    return find_anchor(profile, AnchorWish(**wish), cluster)


def found(cluster: DrainCluster, **wish: str) -> tuple[str, list[str]]:
    """The anchor and the others that live, as text."""
    one = find(cluster, **wish)
    return (str(one.ref), [str(ref) for ref in one.others]) if one else ("", [])


# -- what it says ------------------------------------------------------------------------------------------------------


def condition(status: str, reason: str = "", kind: str = "Draining") -> dict[str, Any]:
    return {"conditions": [{"type": "Ready", "status": "True"}, {"type": kind, "status": status, "reason": reason}]}


STATUS: dict[str, tuple[dict[str, Any], bool, str]] = {
    "nothing yet": ({}, False, "pending"),
    "nothing yet, but being deleted": ({}, True, "draining"),
    "the word pending": ({"drainStatus": "pending"}, True, "pending"),
    "the word draining": ({"drainStatus": "draining"}, False, "draining"),
    "the word completed": ({"drainStatus": "completed"}, True, "completed"),
    "the word failed": ({"drainStatus": "failed"}, True, "failed"),
    "a word nobody knows": ({"drainStatus": "sleeping"}, True, "draining"),
    "a number": ({"drainStatus": 3}, False, "pending"),
    "the condition, under way": (condition("True", "DrainInProgress"), False, "draining"),
    "the condition, failed": (condition("True", "DrainFailed"), True, "failed"),
    "the condition, done": (condition("False", "DrainCompleted"), True, "completed"),
    "the condition, not begun": (condition("False", "NotDraining"), False, "pending"),
    "the condition, off while being deleted": (condition("False", "NotDraining"), True, "draining"),
    "the condition, unknown": (condition("Unknown"), False, "pending"),
    "another condition": (condition("True", "DrainFailed", kind="Other"), False, "pending"),
    "conditions that are no list": ({"conditions": "x"}, False, "pending"),
    "both, where the word is older and goes first": (
        {"drainStatus": "completed", **condition("True", "DrainFailed")},
        True,
        "completed",
    ),
}


@pytest.mark.parametrize(("status", "deleted", "word"), named(STATUS))
def test_both_generations_of_status_come_to_one_word(status: dict[str, Any], deleted: bool, word: str) -> None:
    assert anchor(deleted, status=status).status == word


@pytest.mark.parametrize(("deleted", "word"), [(False, "pending"), (True, "draining")])
def test_an_anchor_without_any_status_is_known_by_its_deletion(deleted: bool, word: str) -> None:
    assert anchor(deleted, NO_STATUS, status={"drainStatus": "failed"}).status == word


POLICY: dict[str, tuple[dict[str, Any], str]] = {
    "Delete": ({"drain": {"policy": "Delete"}}, "Delete"),
    "Retain": ({"drain": {"policy": "Retain"}}, "Retain"),
    "none": ({}, ""),
    "a word nobody knows": ({"drain": {"policy": "Burn"}}, ""),
    "another shape": ({"drain": "Delete"}, ""),
}


@pytest.mark.parametrize(("spec", "policy"), named(POLICY))
def test_only_a_policy_that_is_known_counts(spec: dict[str, Any], policy: str) -> None:
    assert anchor(spec=spec).policy == policy


def test_an_anchor_without_a_path_has_no_policy() -> None:
    assert anchor(profile=NO_STATUS, spec={"drain": {"policy": "Delete"}}).policy == ""


# -- finding it --------------------------------------------------------------------------------------------------------


def cluster_with(*places: str) -> DrainCluster:
    cluster = DrainCluster()
    for place in places:
        namespace, _slash, name = place.partition("/")
        cluster.anchor(name, namespace)
    return cluster


FOUND: dict[str, tuple[list[str], dict[str, str], str, list[str]]] = {
    "none": ([], {}, "", []),
    "one": (["ops/main"], {}, "ShopOperator ops/main", []),
    "one by name": (["ops/main"], {"name": "main"}, "ShopOperator ops/main", []),
    "one, but another name is wanted": (["ops/main"], {"name": "other"}, "", []),
    "one, but in another namespace": (["ops/main"], {"namespace": "dev"}, "", []),
    "one of two by name": (
        ["ops/a", "ops/b"],
        {"name": "b"},
        "ShopOperator ops/b",
        ["ShopOperator ops/a"],
    ),
    "one of two by namespace": (
        ["dev/main", "ops/main"],
        {"namespace": "ops"},
        "ShopOperator ops/main",
        ["ShopOperator dev/main"],
    ),
    "its kind is the profile's": (["ops/main"], {"kind": "ShopOperator"}, "ShopOperator ops/main", []),
}


@pytest.mark.parametrize(("places", "wish", "ref", "others"), named(FOUND))
def test_the_anchor_is_found_with_those_that_live_beside_it(
    places: list[str], wish: dict[str, str], ref: str, others: list[str]
) -> None:
    assert found(cluster_with(*places), **wish) == (ref, others)


def test_another_anchor_that_is_on_its_way_out_does_not_count() -> None:
    cluster = cluster_with("ops/a")
    cluster.anchor("b", "dev", deleted=True)
    assert found(cluster, name="a") == ("ShopOperator ops/a", [])


TWO: dict[str, tuple[list[str], dict[str, str]]] = {
    "no wish": (["ops/a", "dev/b"], {}),
    "a name that two have": (["ops/main", "dev/main"], {"name": "main"}),
    "a namespace that has two": (["ops/a", "ops/b"], {"namespace": "ops"}),
}


@pytest.mark.parametrize(("places", "wish"), named(TWO))
def test_one_of_several_has_to_be_named(places: list[str], wish: dict[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        find(cluster_with(*places), **wish)
    assert refused.value.why == f"there are 2 of ShopOperator: {', '.join(sorted(places))}"


def test_a_kind_that_is_not_installed_has_no_anchor() -> None:
    cluster = DrainCluster()
    cluster.served.remove(OPERATORS)
    assert find(cluster) is None


@pytest.mark.parametrize("how", ["stale", "hidden"])
def test_a_group_that_cannot_be_seen_is_not_taken_for_one_without_an_anchor(how: str) -> None:
    cluster = DrainCluster()
    cluster.served.remove(OPERATORS)
    getattr(cluster, how).append("shop.example.com/v1")
    with pytest.raises(CannotLook, match=r"ShopOperator \(shop.example.com\)"):
        find(cluster)


def test_a_profile_without_an_anchor_has_none() -> None:
    assert find(cluster_with("ops/main"), profile_of(anchor=None)) is None


def test_a_name_without_a_kind_is_refused_where_the_profile_has_no_anchor() -> None:
    with pytest.raises(BadOption, match="bad options"):
        find(DrainCluster(), profile_of(anchor=None), name="main")


def test_an_anchor_may_be_of_a_kind_of_the_tasks_own() -> None:
    cluster = cluster_with("ops/main")
    cluster.add(STORES, "central", "ops")
    one = find(cluster, kind="Store", api_version="shop.example.com/v9")
    assert one is not None
    assert (str(one.ref), one.rule.kind.finalizers, one.policy) == ("Store ops/central", SHOP.finalizers, "")


# -- without the right to see all --------------------------------------------------------------------------------------


class Narrow(DrainCluster):
    """Only single objects may be read."""

    status = 403

    def __init__(self) -> None:
        super().__init__()
        self.server.meddlers.append(
            lambda call: refusal(self.status, "Forbidden", "no") if call.verb == "list" else None
        )


@pytest.mark.parametrize(("name", "ref"), [("main", "ShopOperator ops/main"), ("other", "")])
def test_a_named_anchor_is_read_where_they_may_not_be_listed(name: str, ref: str) -> None:
    cluster = Narrow()
    cluster.anchor()
    assert found(cluster, name=name, namespace="ops") == (ref, [])


CANNOT: dict[str, tuple[int, dict[str, str]]] = {
    "no name to read": (403, {}),
    "another reason": (500, {"name": "main", "namespace": "ops"}),
}


@pytest.mark.parametrize(("status", "wish"), named(CANNOT))
def test_a_list_that_fails_is_no_empty_list(status: int, wish: dict[str, str]) -> None:
    cluster = Narrow()
    cluster.status = status
    cluster.anchor()
    with pytest.raises(Problem):
        find(cluster, **wish)


def test_a_mistyped_kind_of_the_tasks_own_is_refused() -> None:
    with pytest.raises(Problem):
        find(cluster_with("ops/main"), kind="ShopOperators")
