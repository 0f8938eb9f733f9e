# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is of a product: kinds, objects and classes; and kinds that cannot be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.instance import Classes, Yardstick
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.options import Instance
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.scene import KindView, Look, Scene
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Looker
from ansible_collections.sunset.kube.tests.unit.fakes import LEASES, NAMESPACES, NODES, PODS, Call, Told, named, refusal
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    BASKETS,
    GATEWAY_CLASSES,
    GATEWAYS,
    INGRESS_CLASSES,
    INGRESSES,
    OURS,
    OURS_GATEWAY,
    ROUTES,
    STORES,
    DrainCluster,
    F,
    held,
    profile_of,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import DEFINITIONS, SERVICES, STALE, api_error


def scene(cluster: DrainCluster, policy: str = "Retain", profile: Any = None, **instance: Any) -> Scene:
    shop = profile_of(**(profile or {}))
    yardstick = Yardstick(shop, Instance(**instance))
    looker = Looker(cluster, Told())
    return Look(shop, yardstick, policy, cluster, looker).scene()


def view(found: Scene, kind: str) -> KindView:
    return next(one for one in found.views if one.kind.kind == kind)


def names(found: KindView) -> list[str]:
    return [record.place for record in found.records]


def test_kinds_are_seen_in_the_profiles_order_with_their_role() -> None:
    assert [(one.kind.kind, one.role, one.state) for one in scene(DrainCluster()).views] == [
        ("HTTPRoute", "user", "served"),
        ("Ingress", "user", "served"),
        ("Service", "user", "served"),
        ("Gateway", "user", "served"),
        ("GatewayClass", "user", "served"),
        ("Basket", "operator", "served"),
        ("Store", "operator", "served"),
    ]


def test_every_object_of_a_kind_is_seen_with_or_without_the_finalizer() -> None:
    cluster = DrainCluster()
    held(cluster, (BASKETS, "a"))
    cluster.add(BASKETS, "b", "bank")
    assert names(view(scene(cluster), "Basket")) == ["bank/b", "shop/a"]


def test_only_the_named_namespaces_are_looked_through() -> None:
    cluster = DrainCluster()
    for namespace in ("shop", "bank", "park"):
        cluster.add(BASKETS, "a", namespace, finalizers=[F])
    assert names(view(scene(cluster, namespaces=("shop", "bank")), "Basket")) == ["shop/a", "bank/a"]
    assert "baskets.shop.example.com" not in cluster.lists


def test_a_kind_is_found_in_whatever_version_is_served() -> None:
    """TLSRoute, for example, was v1alpha2 for years, and is only v1 now."""
    cluster = DrainCluster()
    cluster.served.remove(BASKETS)
    newer = type(BASKETS)("shop.example.com", "v7", "Basket", "baskets", True, verbs=BASKETS.verbs)
    cluster.served.append(newer)
    held(cluster, (newer, "a"))
    assert (view(scene(cluster), "Basket").resource, names(view(scene(cluster), "Basket"))) == (newer, ["shop/a"])


# -- kinds that are not there, or cannot be seen -----------------------------------------------------------------------


def not_installed(cluster: DrainCluster) -> None:
    cluster.served.remove(BASKETS)


def not_served(cluster: DrainCluster) -> None:
    cluster.served.remove(BASKETS)
    cluster.add(DEFINITIONS, "stores.shop.example.com", spec={"names": {"kind": "Store"}})
    cluster.add(DEFINITIONS, "baskets.shop.example.com", spec={"names": {"kind": "Basket"}})


def terminating(cluster: DrainCluster) -> None:
    cluster.add(DEFINITIONS, "baskets.shop.example.com", deleted=True, finalizers=["x"])


def unavailable(cluster: DrainCluster) -> None:
    cluster.served.remove(BASKETS)
    cluster.stale.append("shop.example.com/v1")


def hidden(cluster: DrainCluster) -> None:
    cluster.served.remove(BASKETS)
    cluster.hidden.append("shop.example.com/v2")


def forbidden(cluster: DrainCluster) -> None:
    cluster.add(NAMESPACES, "shop")
    cluster.unseen["baskets"] = api_error(403, "Forbidden", "no")


def broken(cluster: DrainCluster) -> None:
    cluster.unseen["baskets"] = api_error(500, "InternalError", "conversion webhook for baskets failed")


def gone_meanwhile(cluster: DrainCluster) -> None:
    def uninstall(call: Call) -> None:
        if call.verb == "list" and call.resource == BASKETS:
            cluster.served.remove(BASKETS)

    cluster.server.meddlers.append(uninstall)
    cluster.unseen["baskets"] = api_error(404, "NotFound")


def not_found_but_installed(cluster: DrainCluster) -> None:
    cluster.unseen["baskets"] = api_error(404, "NotFound")


STATES: dict[str, tuple[Callable[[DrainCluster], None], str, bool, str]] = {
    "not installed": (not_installed, "not installed", True, "the server has no such kind in group shop.example.com"),
    "not served": (
        not_served,
        "not served",
        False,
        "baskets.shop.example.com exists, but none of its versions is served",
    ),
    "on its way out": (terminating, "terminating", True, "its definition is being deleted, and its objects with it"),
    "its group is down": (unavailable, "group unavailable", False, "does not answer"),
    "its group may not be seen": (hidden, "forbidden", False, "HTTP 403 Forbidden, no"),
    "may not be listed": (forbidden, "forbidden", False, "HTTP 403 Forbidden, no"),
    "cannot be listed": (broken, "group unavailable", False, "conversion webhook for baskets failed"),
    "went while we looked": (gone_meanwhile, "not installed", True, "its definition went while we looked"),
    "not found, though it is installed": (not_found_but_installed, "group unavailable", False, "404"),
}


@pytest.mark.parametrize(("prepare", "state", "readable", "why"), named(STATES))
def test_reasons_why_a_kind_has_no_objects_are_kept_apart(
    prepare: Callable[[DrainCluster], None], state: str, readable: bool, why: str
) -> None:
    cluster = DrainCluster()
    prepare(cluster)
    found = scene(cluster)
    basket = view(found, "Basket")
    assert (basket.state, why in basket.why) == (state, True)
    assert [text.startswith("Basket (shop.example.com): ") for text in found.unreadable] == [True] * (not readable)


def test_a_kind_that_cannot_be_read_is_never_taken_for_empty() -> None:
    cluster = DrainCluster()
    forbidden(cluster)
    cluster.unseen["stores"] = api_error(500, "InternalError", "x")
    with pytest.raises(CannotLook) as refused:
        scene(cluster).refuse_if_unreadable()
    assert refused.value.why == (
        "Basket (shop.example.com): HTTP 403 Forbidden, no; Store (shop.example.com): HTTP 500 InternalError, x"
    )


def test_everything_readable_is_no_reason_to_refuse() -> None:
    scene(DrainCluster()).refuse_if_unreadable()


def test_a_kind_on_its_way_out_is_drained_all_the_same() -> None:
    cluster = DrainCluster()
    terminating(cluster)
    held(cluster, (BASKETS, "a"))
    assert names(view(scene(cluster), "Basket")) == ["shop/a"]


def test_definitions_that_may_not_be_seen_do_not_matter() -> None:
    cluster = DrainCluster()
    cluster.unseen["customresourcedefinitions"] = api_error(403, "Forbidden", "no")
    assert scene(cluster).unreadable == []


# -- whole objects, only where they are needed -------------------------------------------------------------------------

WHOLE: dict[str, tuple[Any, list[str], str, int]] = {
    "an Ingress with a finalizer": (INGRESSES, [F], "Retain", 1),
    "an Ingress without": (INGRESSES, [], "Retain", 0),
    "a Service": (SERVICES, [F], "Retain", 0),
    "an object with ids outside": (BASKETS, [F], "Retain", 1),
    "an object with ids outside, but free": (BASKETS, [], "Retain", 0),
    "an object with ids outside that may be deleted": (BASKETS, [], "Delete", 1),
}


@pytest.mark.parametrize(("resource", "finalizers", "policy", "count"), named(WHOLE))
def test_whole_objects_are_read_only_where_metadata_does_not_tell_enough(
    resource: Any, finalizers: list[str], policy: str, count: int
) -> None:
    cluster = DrainCluster()
    cluster.add(resource, "a", finalizers=finalizers)
    assert len(view(scene(cluster, policy), resource.kind).items) == count


def test_few_namespaces_are_read_one_by_one_and_many_at_once() -> None:
    for count, whole in ((10, False), (11, True)):
        cluster = DrainCluster()
        for number in range(count):
            cluster.add(BASKETS, "a", f"ns{number:02}", finalizers=[F])
        found = view(scene(cluster), "Basket")
        # Once as metadata, and once more only where there are too many namespaces.
        assert (len(found.items), cluster.lists.count("baskets.shop.example.com")) == (count, 1 + whole)


def test_whole_objects_that_cannot_be_read_make_the_kind_unreadable() -> None:
    cluster = DrainCluster()
    cluster.server.meddlers.append(
        lambda call: refusal(403, "Forbidden", "no") if call.verb == "list" and not call.metadata_only else None
    )
    held(cluster, (BASKETS, "a"))
    assert view(scene(cluster), "Basket").state == "forbidden"


# -- classes -----------------------------------------------------------------------------------------------------------


def with_classes() -> DrainCluster:
    cluster = DrainCluster()
    cluster.add(INGRESS_CLASSES, "shop", spec={"controller": OURS})
    cluster.add(GATEWAY_CLASSES, "shop", spec={"controllerName": OURS_GATEWAY})
    cluster.add(GATEWAYS, "main", spec={"gatewayClassName": "shop"})
    return cluster


NOTHING: dict[str, Any] = {}
GATEWAY_FACTS = {"gateway": {"shop": OURS_GATEWAY}, "gateways": {("shop", "main"): "shop"}}
ASKING: dict[str, tuple[list[Any], dict[str, Any], dict[str, Any]]] = {
    "nobody": ([], {}, NOTHING),
    "a Service": ([SERVICES], {}, NOTHING),
    "an Ingress": ([INGRESSES], {}, {"ingress": {"shop": OURS}}),
    "an Ingress, with names given": ([INGRESSES], {"ingress_classes": ("shop",)}, {"ingress": {"shop": OURS}}),
    "a route": ([ROUTES], {}, GATEWAY_FACTS),
    "both": ([INGRESSES, ROUTES], {}, {"ingress": {"shop": OURS}, **GATEWAY_FACTS}),
}


@pytest.mark.parametrize(("kinds", "instance", "classes"), named(ASKING))
def test_classes_are_read_only_when_an_object_asks_for_them(
    kinds: list[Any], instance: dict[str, Any], classes: dict[str, Any]
) -> None:
    cluster = with_classes()
    held(cluster, *((kind, "web") for kind in kinds))
    assert scene(cluster, **instance).classes == Classes(**classes)


def test_classes_are_not_read_where_something_is_unreadable_anyway() -> None:
    cluster = with_classes()
    held(cluster, (INGRESSES, "web"))
    forbidden(cluster)
    assert scene(cluster).classes == Classes()


def test_one_list_a_kind_is_enough() -> None:
    cluster = DrainCluster()
    scene(cluster)
    assert len(cluster.lists) == len(set(cluster.lists))


def test_a_tenant_needs_no_rights_outside_of_the_named_namespaces() -> None:
    cluster = with_classes()
    held(cluster, (ROUTES, "web"))
    scene(cluster, namespaces=("shop",))
    assert "gateways.gateway.networking.k8s.io" not in cluster.lists


# -- other kinds -------------------------------------------------------------------------------------------------------

LOCKS = type(BASKETS)("shop.example.com", "v1", "Lock", "locks", True, verbs=BASKETS.verbs)
PROJECTS = type(BASKETS)("project.example.io", "v1", "Project", "projects", True, verbs=BASKETS.verbs)
METRICS = type(BASKETS)("metrics.k8s.io", "v1", "PodMetrics", "podmetrics", True, verbs=frozenset({"get", "list"}))


def others(found: Scene) -> dict[str, list[str]]:
    return {one.kind.title: names(one) for one in found.unknown}


def test_every_kind_that_carries_the_finalizer_is_seen_after_those_of_the_profile() -> None:
    cluster = DrainCluster()
    cluster.served.append(LOCKS)
    held(cluster, (LOCKS, "l"), (PODS, "p"))
    cluster.add(PODS, "free")
    cluster.add(PODS, "theirs", finalizers=["bank.example.com/hold"])
    found = scene(cluster)
    assert others(found) == {"Pod": ["shop/p"], "Lock (shop.example.com)": ["shop/l"]}
    assert [one.role for one in found.views[-2:]] == ["unknown", "unknown"]


def test_a_kind_that_cannot_be_written_or_comes_and_goes_is_not_looked_at() -> None:
    cluster = DrainCluster()
    cluster.served.append(METRICS)
    held(cluster, (LEASES, "l"), (METRICS, "m"))
    assert (others(scene(cluster)), {"podmetrics.metrics.k8s.io", LEASES.qualified} & set(cluster.lists)) == ({}, set())


def test_an_anchor_is_no_other_kind() -> None:
    cluster = DrainCluster()
    cluster.anchor()
    shop = profile_of()
    look = Look(shop, Yardstick(shop, Instance()), "Retain", cluster, Looker(cluster, Told()))
    assert shop.anchor is not None
    assert others(look.scene(anchor=shop.anchor.kind)) == {}


def test_a_finalizer_of_the_cluster_itself_is_looked_for_on_the_profiles_kinds_only() -> None:
    cluster = DrainCluster()
    guard = "service.kubernetes.io/load-balancer-cleanup"
    cluster.add(PODS, "p", finalizers=[guard])
    assert others(scene(cluster, profile={"finalizers": [F, guard]})) == {}


def test_an_object_that_two_groups_serve_is_seen_once_where_kubernetes_has_it() -> None:
    cluster = DrainCluster()
    cluster.served.append(PROJECTS)
    held(cluster, (PODS, "p"), (PROJECTS, "p"))
    uid = cluster.metadata(PODS, "p")["uid"]
    cluster.metadata(PROJECTS, "p")["uid"] = uid
    assert others(scene(cluster)) == {"Pod": ["shop/p"]}


def test_in_named_namespaces_only_these_are_searched_and_nothing_of_the_whole_cluster() -> None:
    cluster = DrainCluster()
    for namespace in ("shop", "bank"):
        cluster.add(PODS, "p", namespace, finalizers=[F])
    cluster.add(NODES, "n", finalizers=[F])
    assert others(scene(cluster, namespaces=("shop",))) == {"Pod": ["shop/p"]}
    assert not {"pods", "nodes"} & set(cluster.lists)


def test_many_namespaces_are_one_list() -> None:
    wanted = tuple(f"n{number}" for number in range(11))
    cluster = DrainCluster()
    for namespace in (*wanted, "bank"):
        cluster.add(PODS, "p", namespace, finalizers=[F])
    assert len(others(scene(cluster, namespaces=wanted))["Pod"]) == 11
    assert [name for name in cluster.lists if name.startswith("pods")] == ["pods"]


@pytest.mark.parametrize("resource", [LOCKS, PODS], ids=["its own group", "another group"])
def test_only_a_kind_of_the_products_own_groups_must_be_readable(resource: Any) -> None:
    cluster = DrainCluster()
    cluster.add(NAMESPACES, "shop")
    cluster.served.append(LOCKS)
    cluster.unseen[resource.plural] = api_error(403, "Forbidden", "no")
    found = scene(cluster)
    own = resource is LOCKS
    assert found.unreadable == (["Lock (shop.example.com): HTTP 403 Forbidden, no"] if own else [])
    assert found.not_looked_at == ([] if own else ["pods: HTTP 403 Forbidden, no"])


def test_a_group_that_does_not_answer_is_named() -> None:
    cluster = DrainCluster()
    cluster.stale.append("metrics.example.com/v1")
    assert scene(cluster).not_looked_at == [f"metrics.example.com/v1: {STALE}"]


def test_a_kind_that_went_meanwhile_is_no_gap() -> None:
    cluster = DrainCluster()
    cluster.unseen["pods"] = api_error(404, "NotFound")
    assert (scene(cluster).not_looked_at, scene(cluster).unreadable) == ([], [])


# -- what forbids policy Delete ----------------------------------------------------------------------------------------

RULE = {"group": "shop.example.com", "kind": "Store", "path": "spec.url", "why": "money is lost", "fix": "empty it"}
REFUSING: dict[str, tuple[dict[str, Any], dict[str, Any], str, bool]] = {
    "a value": ({}, {"url": "s3://x"}, "Delete", True),
    "an empty one": ({}, {"url": ""}, "Delete", False),
    "none": ({}, {}, "Delete", False),
    "policy Retain": ({}, {"url": "s3://x"}, "Retain", False),
    "its name": ({"name": "s"}, {"url": "s3://x"}, "Delete", True),
    "another name": ({"name": "t"}, {"url": "s3://x"}, "Delete", False),
}


@pytest.mark.parametrize(("rule", "spec", "policy", "refused"), named(REFUSING))
def test_policy_delete_is_refused_while_an_object_says_so(
    rule: dict[str, Any], spec: dict[str, Any], policy: str, refused: bool
) -> None:
    cluster = DrainCluster()
    cluster.add(STORES, "s", spec=spec)
    found = scene(cluster, policy, {"refuse_delete_while": [{**RULE, **rule}]})
    assert [str(ref) for ref, _rule in found.refusals] == (["Store shop/s"] if refused else [])
    if refused:
        with pytest.raises(
            Refused, match=r"Store shop/s.*spec.url is set: money is lost.*empty it; or use policy Retain"
        ):
            found.refuse_to_delete()


def test_what_would_forbid_it_and_cannot_be_seen_forbids_it() -> None:
    cluster = DrainCluster()
    cluster.stale.append("bank.example.com/v1")
    with pytest.raises(CannotLook, match="cannot look for Vault"):
        scene(cluster, "Delete", {"refuse_delete_while": [{**RULE, "group": "bank.example.com", "kind": "Vault"}]})
