# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a drain: who is released, who is deleted, who stays, and what stays outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.objects import record_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.anchor import Anchor
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.instance import Yardstick
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.options import Instance
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.planning import (
    DrainPlan,
    managers_of,
    plan_drain,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.profile import (
    ProfileKind,
    Use,
    finalizers_of,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.scene import KindView, Scene
from ansible_collections.sunset.kube.tests.unit.fakes import metadata, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    BASKETS,
    NAME,
    OLD,
    OPERATORS,
    PLACE,
    STORES,
    F,
    G,
    options_of,
    profile_of,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVICES

SHOP = profile_of()
MARKED = {"labels": {NAME: "shop", PLACE: "ops"}}  # made by the operator
KINDS = {kind.kind: kind for kind in (*SHOP.user_kinds, *SHOP.operator_kinds)}
SERVED = {"Service": (SERVICES, "user"), "Basket": (BASKETS, "operator"), "Store": (STORES, "operator")}


def by_kind(counts: Mapping[ProfileKind, int]) -> dict[str, int]:
    return {kind.kind: count for kind, count in counts.items()}


def item(name: str, spec: Any = None, status: Any = None, **meta: Any) -> dict[str, Any]:
    """An object that the operator holds, unless it is told otherwise."""
    return {"metadata": metadata(name, **{"finalizers": [F], **meta}), "spec": spec or {}, "status": status or {}}


def view(kind: str, *items: dict[str, Any], state: str = "served") -> KindView:
    resource, role = SERVED[kind]
    records = [record_of(one["metadata"]) for one in items]
    found = KindView(KINDS[kind], role, state, "", resource if state == "served" else None, records)
    found.items = {one["metadata"]["uid"]: one for one in items}
    return found


def anchor(deleted: bool = False, **meta: Any) -> Anchor:
    assert SHOP.anchor is not None
    facts = metadata("main", "ops", deleted=deleted, **{"finalizers": [F], **meta})
    return Anchor(SHOP.anchor, OPERATORS, record_of(facts), {"metadata": facts, "status": {"id": "op_1"}})


def plan(
    *views: KindView, policy: str = "Retain", of: Anchor | None = None, alone: bool = False, **params: Any
) -> DrainPlan:
    yardstick = Yardstick(SHOP, Instance(**params.pop("instance", {})))
    return plan_drain(Scene(list(views)), yardstick, options_of(**params), policy, of, alone=alone)


def shown(found: DrainPlan) -> list[str]:
    """The plan as lines: what happens to whom, in order."""
    lines = []
    for step in found.whole.steps:
        lines += [f"release {one.ref} {', '.join(one.finalizers)}" for one in step.releases]
        lines += [f"delete {entry.member.ref}" for entry in step.going]
        lines += [f"{entry.verdict.fate.value} {entry.member.ref}" for entry in step.kept]
    return lines


def bill(found: DrainPlan) -> list[tuple[str, str, dict[str, Any]]]:
    return [(str(one.object), one.reason, dict(one.external)) for one in found.retained]


# -- policies ----------------------------------------------------------------------------------------------------------


def test_retain_releases_everything_and_deletes_nothing() -> None:
    found = plan(view("Service", item("web")), view("Basket", item("b", **MARKED)), view("Store", item("s")))
    assert shown(found) == [
        f"release Service shop/web {F}",
        f"release Basket shop/b {F}",
        f"release Store shop/s {F}",
    ]
    assert (found.size, by_kind(found.found)) == (3, {"Service": 1, "Basket": 1, "Store": 1})


def test_delete_releases_what_is_the_users_and_deletes_what_is_the_operators() -> None:
    found = plan(view("Service", item("web")), view("Basket", item("b", **MARKED)), policy="Delete")
    assert shown(found) == [f"release Service shop/web {F}", "delete Basket shop/b"]
    assert (found.size, bill(found)) == (
        2,
        [("Service shop/web", "it belongs to its user: released, never deleted", {})],
    )


@pytest.mark.parametrize("policy", ["Retain", "Delete"])
def test_what_is_of_an_unknown_kind_is_released_last_and_never_deleted(policy: str) -> None:
    unknown = dataclasses.replace(view("Service", item("odd", **MARKED)), role="unknown")
    found = plan(view("Basket", item("b", **MARKED)), unknown, policy=policy)
    assert shown(found)[-1] == f"release Service shop/odd {F}"
    assert [step.rule.name for step in found.steps] == ["Basket", "Service (not in the profile)"]
    assert found.unknown_text == "not in the profile: Service x1"
    assert ("Service shop/odd", "not in the profile: released, never deleted", {}) in bill(found)


def test_annotations_that_a_deletion_needs_are_set_before() -> None:
    basket = view("Basket", item("b", **MARKED))
    basket.kind = dataclasses.replace(basket.kind, annotations=(("shop.example.com/leave", ""),))
    [entry] = plan(basket, policy="Delete").whole.going
    assert entry.member.before_delete == {"annotate": {"shop.example.com/leave": ""}}


FINALIZERS: dict[str, tuple[list[str], list[str]]] = {
    "none": ([], []),
    "a foreign one": ([G], []),
    "the new name": ([F], [F]),
    "the old name": ([OLD], [OLD]),
    "both names": ([OLD, F], [OLD, F]),
    "the new one among others": ([G, F, "x/y"], [F]),
    "the old one among others": ([OLD, G], [OLD]),
    "the same one twice": ([F, F], [F]),
    "another spelling": ([F.upper()], []),
    "only its beginning": ([F + "-2"], []),
}


@pytest.mark.parametrize(("finalizers", "goes"), named(FINALIZERS))
def test_only_the_products_finalizers_go_and_all_its_names_in_one_patch(finalizers: list[str], goes: list[str]) -> None:
    found = plan(view("Service", item("web", finalizers=finalizers)))
    assert shown(found) == ([f"release Service shop/web {', '.join(goes)}"] if goes else [])
    assert (by_kind(found.found), by_kind(found.bare)) == (
        {"Service": 1} if goes else {},
        {} if goes else {"Service": 0},
    )


@given(st.lists(st.sampled_from([F, OLD, G, "x/y", "shop.example.com/other"]), max_size=5))
def test_a_glob_takes_what_it_fits_each_once_and_in_order(finalizers: list[str]) -> None:
    kind = ProfileKind("", "Service", ("shop.example.com/*", OLD))
    expected = [name for name in dict.fromkeys(finalizers) if name.startswith("shop.example.com/") or name == OLD]
    assert list(finalizers_of(record(finalizers=finalizers), kind)) == expected


BARE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "left alone": ({}, []),
    "deleted when asked to": ({"only_with_finalizer": False}, ["delete Basket shop/b"]),
    "left alone under Retain": ({"only_with_finalizer": False, "policy": "Retain"}, []),
}


@pytest.mark.parametrize(("params", "lines"), named(BARE))
def test_an_object_without_the_finalizer_is_counted_and_deleted_only_by_consent(
    params: dict[str, Any], lines: list[str]
) -> None:
    found = plan(view("Basket", item("b", finalizers=[G], **MARKED)), **{"policy": "Delete", **params})
    assert (shown(found), by_kind(found.bare), by_kind(found.found)) == (lines, {"Basket": 1}, {})


def test_a_user_object_without_the_finalizer_is_never_touched() -> None:
    found = plan(view("Service", item("web", finalizers=[])), policy="Delete", only_with_finalizer=False)
    assert (shown(found), found.size) == ([], 0)


# -- who is spared -----------------------------------------------------------------------------------------------------

AUTHORED = "written by a person, not by the operator: released, not deleted (user_authored: drain deletes)"
KEEP = {"annotations": {"sunset.dev/keep": "true"}}
SPARED: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "by hand": ({}, {}, "release", AUTHORED),
    "by hand, with consent": ({}, {"user_authored": "drain"}, "delete", ""),
    "by hand, but already being deleted": ({"deleted": True}, {}, "delete", ""),
    "with a keep marker": ({**MARKED, **KEEP}, {}, "release", "sunset.kube marker sunset.dev/keep: true"),
    "with a keep marker, whatever the consent": (KEEP, {"user_authored": "drain"}, "release", "sunset.kube marker"),
    "by the operator": (MARKED, {}, "delete", ""),
}


@pytest.mark.parametrize(("meta", "params", "action", "why"), named(SPARED))
def test_what_is_not_deleted_is_released_and_listed(
    meta: dict[str, Any], params: dict[str, Any], action: str, why: str
) -> None:
    found = plan(view("Basket", item("b", **meta)), policy="Delete", **params)
    assert [line.partition(" ")[0] for line in shown(found)] == [action]
    reasons = [reason for _ref, reason, _ids in bill(found)]
    assert [reason.startswith(why) for reason in reasons] == [True] * (action == "release")


USES = (Use("Store", "status.store", "spec.url", "spec.host"),)
BY_NAME, BY_HOST = {"status": {"store": "s"}}, {"spec": {"url": "https://S.example.com:443/a"}}
STORE = {"spec": {"host": "s.Example.com"}, **MARKED}
USED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "named by what a person wrote": (BY_NAME, {}, "release"),
    "by its host": (BY_HOST, {}, "release"),
    "by a host without a scheme": ({"spec": {"url": "s.example.com"}}, {}, "release"),
    "by another host": ({"spec": {"url": "https://t.example.com"}}, {}, "delete"),
    "by a URL that is none": ({"spec": {"url": "https://[s"}}, {}, "delete"),
    "by what is deleted": ({**BY_NAME, **MARKED}, {}, "delete"),
    "by what is deleted with consent": (BY_NAME, {"user_authored": "drain"}, "delete"),
    "by what is being deleted": ({**BY_NAME, "deleted": True}, {}, "delete"),
    "from another namespace": ({**BY_NAME, "namespace": "elsewhere"}, {}, "delete"),
    "by what carries no finalizer": ({**BY_NAME, "finalizers": []}, {}, "release"),
    "by what is not ours": (
        {**BY_NAME, "labels": {PLACE: "elsewhere"}},
        {"instance": {"controller_namespace": "ops"}},
        "release",
    ),
}


@pytest.mark.parametrize(("basket", "params", "action"), named(USED))
def test_what_something_that_stays_uses_is_released(
    basket: dict[str, Any], params: dict[str, Any], action: str
) -> None:
    baskets = view("Basket", item("b", **basket))
    baskets.kind = dataclasses.replace(baskets.kind, uses=USES)
    found = plan(baskets, view("Store", item("s", **STORE)), policy="Delete", **params)
    assert [line.partition(" ")[0] for line in shown(found) if "Store" in line] == [action]
    reasons = [reason for ref, reason, _ids in bill(found) if ref == "Store shop/s"]
    assert reasons == ["Basket shop/b, which stays, uses it: released, not deleted"] * (action == "release")


def test_what_is_being_deleted_is_not_kept_for_anybody() -> None:
    baskets = view("Basket", item("b", **BY_NAME))
    baskets.kind = dataclasses.replace(baskets.kind, uses=USES)
    found = plan(baskets, view("Store", item("s", **STORE, deleted=True)), policy="Delete")
    assert shown(found)[-1] == "delete Store shop/s"


def test_a_spared_object_without_the_finalizer_is_kept() -> None:
    found = plan(view("Basket", item("b", finalizers=[])), policy="Delete", only_with_finalizer=False)
    assert (shown(found), found.size) == (["keep Basket shop/b"], 0)


def test_what_is_not_ours_stays_and_is_told_but_counted_as_found() -> None:
    theirs = item("b", labels={PLACE: "elsewhere"})
    for policy in ("Retain", "Delete"):
        found = plan(view("Basket", theirs), policy=policy, instance={"controller_namespace": "ops"})
        assert (shown(found), found.size, by_kind(found.found)) == (["not_owned Basket shop/b"], 0, {"Basket": 1})
        assert bill(found) == []


# -- the bill ----------------------------------------------------------------------------------------------------------


def test_what_stays_outside_the_cluster_is_listed_with_its_ids() -> None:
    known = item("b", spec={"url": "https://x"}, status={"id": "b_1"})
    unknown = item("c", spec={"url": ""}, status={"id": None})
    assert bill(plan(view("Basket", known, unknown))) == [
        ("Basket shop/b", "policy Retain", {"status.id": "b_1", "spec.url": "https://x"}),
        ("Basket shop/c", "policy Retain", {}),
    ]


OWN: dict[str, tuple[dict[str, Any], list[tuple[str, str, dict[str, Any]]]]] = {
    "goes with it": ({"reclaimPolicy": "Delete"}, []),
    "says nothing": ({}, []),
    "stays": (
        {"reclaimPolicy": "Retain"},
        [("Store shop/s", "retained by its own policy: spec.reclaimPolicy is Retain", {"status.id": "s_1"})],
    ),
}


@pytest.mark.parametrize(("spec", "expected"), named(OWN))
def test_an_object_may_keep_its_outside_part_by_its_own_policy(
    spec: dict[str, Any], expected: list[tuple[str, str, dict[str, Any]]]
) -> None:
    found = plan(view("Store", item("s", spec, {"id": "s_1"}, **MARKED)), policy="Delete")
    assert (shown(found), bill(found)) == (["delete Store shop/s"], expected)


# -- order and anchor --------------------------------------------------------------------------------------------------


def test_steps_keep_the_rank_of_their_kind_although_one_before_is_not_served() -> None:
    found = plan(view("Service"), view("Basket", state="not installed"), view("Store", item("s")))
    assert [(step.rule.name, step.rule.rank) for step in found.steps] == [("Service", 1), ("Store", 3)]


def test_all_objects_of_a_kind_go_in_one_wave() -> None:
    found = plan(view("Basket", *(item(f"b{n}", **MARKED) for n in range(5))), policy="Delete")
    assert [len(wave) for wave in found.steps[0].waves] == [5]


ALONE: dict[str, tuple[bool, list[str], list[str]]] = {
    "a running operator takes it off": (False, [F], ["delete ShopOperator ops/main"]),
    "nobody else takes it off": (
        True,
        [F],
        [f"release ShopOperator ops/main {F}", "delete ShopOperator ops/main"],
    ),
    "nothing to take off": (True, [G], ["delete ShopOperator ops/main"]),
}


@pytest.mark.parametrize(("alone", "finalizers", "lines"), named(ALONE))
def test_the_anchor_goes_last_and_is_freed_where_nobody_else_would(
    alone: bool, finalizers: list[str], lines: list[str]
) -> None:
    found = plan(view("Store", item("s")), of=anchor(finalizers=finalizers), alone=alone)
    assert shown(found) == [f"release Store shop/s {F}", *lines]
    assert (found.size, found.anchor and found.anchor.rule.rank) == (1, 2)


def test_an_anchor_that_nobody_deregisters_is_on_the_bill() -> None:
    why = "the operator does not run, so nobody deregisters it outside the cluster"
    assert bill(plan(of=anchor(), alone=True)) == [("ShopOperator ops/main", why, {"status.id": "op_1"})]
    assert bill(plan(of=anchor(), alone=False)) == []


def test_an_anchor_that_is_to_stay_is_not_in_the_plan() -> None:
    found = plan(of=anchor(), alone=True, remove_anchor=False)
    assert (found.anchor, shown(found), bill(found)) == (None, [], [])


@pytest.mark.parametrize("force", [True, False])
def test_consent_to_force_is_the_tasks(force: bool) -> None:
    found = plan(view("Basket", item("b")), of=anchor(), force=force)
    assert [step.rule.force for step in found.whole.steps] == [force, force]


# -- the hash ----------------------------------------------------------------------------------------------------------

HASHES: dict[str, dict[str, Any]] = {
    "another object": {"name": "c"},
    "another finalizer": {"finalizers": [OLD]},
    "a namesake": {"uid": "another"},
}


@pytest.mark.parametrize("change", named(HASHES))
def test_another_release_gives_another_hash(change: dict[str, Any]) -> None:
    one, other = (plan(view("Basket", item(**facts))) for facts in ({"name": "b"}, {"name": "b", **change}))
    assert one.whole.hash != other.whole.hash


def test_releasing_and_deleting_have_different_hashes() -> None:
    one, other = (plan(view("Basket", item("b", **MARKED)), policy=policy) for policy in ("Retain", "Delete"))
    assert one.whole.hash != other.whole.hash


def test_the_hash_does_not_depend_on_the_order_of_the_list() -> None:
    items = [item(f"b{n}") for n in range(3)]
    assert plan(view("Basket", *items)).whole.hash == plan(view("Basket", *reversed(items))).whole.hash


# -- managers ----------------------------------------------------------------------------------------------------------


def test_only_managers_of_the_products_finalizers_are_named() -> None:
    fields = [
        {"manager": name, "fieldsV1": {"f:metadata": {"f:finalizers": {f'v:"{finalizer}"': {}}}}}
        for name, finalizer in (("shop-operator", F), ("bank", G))
    ]
    scene = Scene([view("Basket", item("b", finalizers=[F, G], managedFields=fields))])
    assert list(managers_of(scene)) == ["shop-operator"]


def test_two_kinds_of_one_name_are_counted_apart() -> None:
    """Crossplane has two kinds called Usage."""
    other = view("Basket", item("c"))
    other.kind = ProfileKind("other.example.com", "Basket", (F,))
    assert len(plan(view("Basket", item("b")), other).found) == 2


def test_a_glob_never_takes_a_finalizer_that_guards_data() -> None:
    guard = "kubernetes.io/pvc-protection"
    assert finalizers_of(record(finalizers=[guard, F]), ProfileKind("", "PersistentVolumeClaim", ("*",))) == (F,)
