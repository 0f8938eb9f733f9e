# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who must be gone before whom inside a step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.waves import (
    EDGE_RULES,
    ORDER_ANNOTATIONS,
    Edge,
    EdgeRule,
    OrderFacts,
    waves_of,
)
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, NAMESPACES, PODS, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    ACCOUNTS,
    CONFIG_MAPS,
    DEFINITIONS,
    ROLES,
    SERVICES,
    WEBHOOKS,
    ZONES,
    member,
    show_waves,
)

DOMAIN_KIND = ("ingress.example.com", "domains")
CUSTOM = OrderFacts(custom_kinds=frozenset({DOMAIN_KIND}))
SERVICE = ("ops", "hook")
DEPENDS = "config.kubernetes.io/depends-on"
KAPP = "kapp.k14s.io/change-"
WAVE = "argocd.argoproj.io/sync-wave"


def cm(name: str, **annotations: str) -> Member:
    return member(CONFIG_MAPS, name, annotations={key.replace("__", "."): value for key, value in annotations.items()})


def annotated(name: str, key: str, value: str) -> Member:
    return member(CONFIG_MAPS, name, annotations={key: value})


def depends(name: str, *on: str) -> Member:
    return annotated(name, DEPENDS, ", ".join(f"/namespaces/shop/ConfigMap/{other}" for other in on))


def waves(members: list[Member], facts: OrderFacts | None = None, *more: str) -> str:
    found, _dropped = waves_of(
        members, facts or OrderFacts(), (*EDGE_RULES, *(ORDER_ANNOTATIONS[name] for name in more))
    )
    return show_waves(found)


ORDER: dict[str, tuple[list[Member], OrderFacts, str]] = {
    "nobody": ([], CUSTOM, ""),
    "strangers go together": (
        [member(CONFIG_MAPS), member(ROLES), member(PODS)],
        CUSTOM,
        "1 ClusterRole web, ConfigMap shop/web, Pod shop/web\n",
    ),
    "a custom resource before its definition": (
        [member(DEFINITIONS, "domains.ingress.example.com"), member(DOMAINS), member(DEFINITIONS, "zones.other.io")],
        OrderFacts(),
        "1 CustomResourceDefinition zones.other.io, Domain shop/web\n"
        "2 CustomResourceDefinition domains.ingress.example.com\n",
    ),
    "content before its namespace": (
        [member(NAMESPACES, "shop"), member(CONFIG_MAPS), member(CONFIG_MAPS, "web", "bank"), member(ROLES)],
        OrderFacts(),
        "1 ClusterRole web, ConfigMap bank/web, ConfigMap shop/web\n2 Namespace shop\n",
    ),
    "custom resources before their operator and everything else": (
        [member(DEPLOYMENTS, "operator"), member(ACCOUNTS, "operator"), member(DOMAINS, "a"), member(DOMAINS, "b")],
        CUSTOM,
        "1 Domain shop/a, Domain shop/b\n2 Deployment shop/operator, ServiceAccount shop/operator\n",
    ),
    "operator and definition go together when the custom resources are gone": (
        [member(DEPLOYMENTS, "operator"), member(DEFINITIONS, "domains.ingress.example.com"), member(DOMAINS)],
        CUSTOM,
        "1 Domain shop/web\n2 CustomResourceDefinition domains.ingress.example.com, Deployment shop/operator\n",
    ),
    "a whole release in one step": (
        [
            member(NAMESPACES, "shop"),
            member(DEPLOYMENTS, "operator"),
            member(DEFINITIONS, "domains.ingress.example.com"),
            member(DOMAINS),
        ],
        CUSTOM,
        "1 Domain shop/web\n"
        "2 CustomResourceDefinition domains.ingress.example.com, Deployment shop/operator\n"
        "3 Namespace shop\n",
    ),
    "a webhook configuration before its backend": (
        [
            member(DEPLOYMENTS, "server", "ops"),
            member(SERVICES, "hook", "ops"),
            member(SERVICES, "other", "ops"),
            member(DEPLOYMENTS, "server", "shop"),
            member(WEBHOOKS, "check"),
        ],
        OrderFacts(webhook_backends={"ValidatingWebhookConfiguration--check": frozenset({SERVICE})}),
        "1 Deployment shop/server, Service ops/other, ValidatingWebhookConfiguration check\n"
        "2 Deployment ops/server, Service ops/hook\n",
    ),
    "converted resources before the converter": (
        [member(SERVICES, "hook", "ops"), member(DEPLOYMENTS, "server", "ops"), member(DOMAINS), member(CONFIG_MAPS)],
        OrderFacts(conversion_backends={DOMAIN_KIND: SERVICE}),
        "1 ConfigMap shop/web, Domain shop/web\n2 Deployment ops/server, Service ops/hook\n",
    ),
    "a converter without anything to convert waits for nobody": (
        [member(SERVICES, "hook", "ops"), member(CONFIG_MAPS)],
        OrderFacts(conversion_backends={DOMAIN_KIND: SERVICE}),
        "1 ConfigMap shop/web, Service ops/hook\n",
    ),
    "the dependent before what it depends on": (
        [depends("a", "b"), depends("b", "c"), depends("c")],
        OrderFacts(),
        "1 ConfigMap shop/a\n2 ConfigMap shop/b\n3 ConfigMap shop/c\n",
    ),
    "dependent on two, on nobody here, and on itself": (
        [depends("a", "b", "c", "elsewhere", "a"), depends("b"), depends("c")],
        OrderFacts(),
        "1 ConfigMap shop/a\n2 ConfigMap shop/b, ConfigMap shop/c\n",
    ),
    "dependent on something without a namespace": (
        [annotated("a", DEPENDS, "rbac.authorization.k8s.io/ClusterRole/web"), member(ROLES)],
        OrderFacts(),
        "1 ConfigMap shop/a\n2 ClusterRole web\n",
    ),
    "dependent on something of a group": (
        [annotated("a", DEPENDS, "apps/namespaces/shop/Deployment/web"), member(DEPLOYMENTS)],
        OrderFacts(),
        "1 ConfigMap shop/a\n2 Deployment shop/web\n",
    ),
}


@pytest.mark.parametrize(("members", "facts", "expected"), named(ORDER))
def test_objects_go_in_waves(members: list[Member], facts: OrderFacts, expected: str) -> None:
    assert waves(members, facts) == expected


# -- annotations of other tools ----------------------------------------------------------------------------------------


def kapp(name: str, group: str = "", *rules: str) -> Member:
    texts = {f"{KAPP}rule" + (f".{place}" if place else ""): rule for place, rule in enumerate(rules)}
    return member(CONFIG_MAPS, name, annotations={**({f"{KAPP}group": group} if group else {}), **texts})


OTHER_TOOLS: dict[str, tuple[str, list[Member], str]] = {
    "kapp: after": (
        "kapp",
        [kapp("a", "", "delete after deleting apps.big.co/db"), kapp("db", "apps.big.co/db")],
        "1 ConfigMap shop/db\n2 ConfigMap shop/a\n",
    ),
    "kapp: before": (
        "kapp",
        [kapp("db", "db"), kapp("a", "", "delete before deleting db")],
        "1 ConfigMap shop/a\n2 ConfigMap shop/db\n",
    ),
    "kapp: rules about creating do not concern us": (
        "kapp",
        [kapp("a", "", "upsert after upserting db", "delete after upserting db"), kapp("db", "db")],
        "1 ConfigMap shop/a, ConfigMap shop/db\n",
    ),
    "kapp: several rules, one annotation each": (
        "kapp",
        [kapp("a", "", "delete after deleting b", " delete  before  deleting c "), kapp("b", "b"), kapp("c", "c")],
        "1 ConfigMap shop/b\n2 ConfigMap shop/a\n3 ConfigMap shop/c\n",
    ),
    "kapp: several groups, one annotation each": (
        "kapp",
        [
            kapp("a", "", "delete after deleting two"),
            member(CONFIG_MAPS, "b", annotations={f"{KAPP}group": "one", f"{KAPP}group.x": "two"}),
        ],
        "1 ConfigMap shop/b\n2 ConfigMap shop/a\n",
    ),
    "kapp: a group nobody is in": ("kapp", [kapp("a", "", "delete after deleting x")], "1 ConfigMap shop/a\n"),
    "kapp: a member of the group it waits for": (
        "kapp",
        [kapp("a", "g", "delete after deleting g")],
        "1 ConfigMap shop/a\n",
    ),
    "Argo CD: the last wave first": (
        "argocd",
        [annotated("first", WAVE, "-5"), annotated("last", WAVE, "10"), cm("none"), annotated("zero", WAVE, "0")],
        "1 ConfigMap shop/last\n2 ConfigMap shop/none, ConfigMap shop/zero\n3 ConfigMap shop/first\n",
    ),
    "Argo CD: nonsense is wave 0": (
        "argocd",
        [annotated("a", WAVE, "soon"), annotated("b", WAVE, "+1"), annotated("c", WAVE, " 0 ")],
        "1 ConfigMap shop/b\n2 ConfigMap shop/a, ConfigMap shop/c\n",
    ),
    "Argo CD: one wave is no order": (
        "argocd",
        [annotated("a", WAVE, "3"), annotated("b", WAVE, "3")],
        "1 ConfigMap shop/a, ConfigMap shop/b\n",
    ),
}


@pytest.mark.parametrize(("tool", "members", "expected"), named(OTHER_TOOLS))
def test_annotations_of_other_tools_count_when_asked_for(tool: str, members: list[Member], expected: str) -> None:
    assert waves(members, None, tool) == expected
    assert waves(members).count("\n") == 1


# -- circles -----------------------------------------------------------------------------------------------------------

CIRCLES: dict[str, tuple[list[Member], str]] = {
    "two": ([depends("a", "b"), depends("b", "a")], ""),
    "three": ([depends("a", "b"), depends("b", "c"), depends("c", "a")], ""),
    "of kapp": ([kapp("a", "a", "delete after deleting b"), kapp("b", "b", "delete after deleting a")], "kapp"),
    "against content before its namespace": (
        [member(NAMESPACES, "shop", annotations={DEPENDS: "/namespaces/shop/ConfigMap/a"}), depends("a")],
        "",
    ),
}


@pytest.mark.parametrize(("members", "tool"), named(CIRCLES))
def test_a_circle_of_required_edges_is_an_error_with_a_way_out(members: list[Member], tool: str) -> None:
    with pytest.raises(BadOption, match="closes a circle among") as refused:
        waves(members, None, *filter(None, [tool]))
    assert refused.value.next_step == "put these objects into steps of their own"


def test_a_circle_names_the_objects_in_it_and_not_those_beside_it() -> None:
    with pytest.raises(BadOption) as refused:
        waves([cm("x"), cm("y"), cm("z"), depends("a", "b"), depends("b", "a")])
    assert refused.value.why == f"annotation {DEPENDS} closes a circle among ConfigMap shop/a, ConfigMap shop/b"


def test_a_circle_of_good_manners_is_dropped_and_told() -> None:
    """The operator's own wish, to go before the custom resource, is stronger than our guess."""
    operator = member(DEPLOYMENTS, "operator", annotations={DEPENDS: "ingress.example.com/namespaces/shop/Domain/web"})
    found, dropped = waves_of([member(DOMAINS), operator], CUSTOM)
    assert (show_waves(found), dropped) == (
        "1 Deployment shop/operator\n2 Domain shop/web\n",
        ["custom resources before their operator: would close a circle, left out"],
    )


def test_an_argo_cd_wave_against_kubernetes_itself_is_dropped_and_told() -> None:
    namespace = member(NAMESPACES, "shop", annotations={WAVE: "5"})
    found, dropped = waves_of([namespace, cm("a")], OrderFacts(), (*EDGE_RULES, ORDER_ANNOTATIONS["argocd"]))
    assert (show_waves(found), dropped) == (
        "1 ConfigMap shop/a\n2 Namespace shop\n",
        ["Argo CD sync waves: would close a circle, left out"],
    )


def test_only_the_set_that_closes_the_circle_is_dropped() -> None:
    hooked = OrderFacts(
        custom_kinds=frozenset({DOMAIN_KIND}),
        webhook_backends={"ValidatingWebhookConfiguration--check": frozenset({SERVICE})},
    )
    operator = member(DEPLOYMENTS, "o", "ops", annotations={DEPENDS: "ingress.example.com/namespaces/shop/Domain/web"})
    found, dropped = waves_of([operator, member(DOMAINS), member(WEBHOOKS, "check")], hooked)
    assert (show_waves(found), len(dropped)) == (
        "1 ValidatingWebhookConfiguration check\n2 Deployment ops/o\n3 Domain shop/web\n",
        1,
    )


# -- levels ------------------------------------------------------------------------------------------------------------


def rule(edges: list[Edge], *, required: bool = False, name: str = "rule") -> EdgeRule:
    return EdgeRule(name, lambda _members, _facts: edges, required)


def test_a_meeting_point_costs_no_barrier() -> None:
    edges = [("ConfigMap-shop-a", "m1"), ("m1", "m2"), ("m2", "ConfigMap-shop-b")]
    found, _dropped = waves_of([cm("a"), cm("b")], OrderFacts(), [rule(edges)])
    assert show_waves(found) == "1 ConfigMap shop/a\n2 ConfigMap shop/b\n"


def test_a_meeting_point_that_nobody_reaches_holds_nobody() -> None:
    found, _dropped = waves_of([cm("a")], OrderFacts(), [rule([("nobody", "ConfigMap-shop-a")])])
    assert show_waves(found) == "1 ConfigMap shop/a\n"


def test_the_longest_way_decides() -> None:
    edges = [(f"ConfigMap-shop-{one}", f"ConfigMap-shop-{other}") for one, other in ("ab", "bc", "cd", "ad", "xd")]
    found, _dropped = waves_of([cm(name) for name in "dcbax"], OrderFacts(), [rule(edges)])
    assert show_waves(found) == (
        "1 ConfigMap shop/a, ConfigMap shop/x\n2 ConfigMap shop/b\n3 ConfigMap shop/c\n4 ConfigMap shop/d\n"
    )


UIDS = st.sampled_from([f"ConfigMap-shop-{name}" for name in "abcdef"] + ["meeting", "point"])
MEETING_POINTS = {"meeting", "point"}
# As rules make them: no edge joins two meeting points.
EDGES = st.lists(st.tuples(UIDS, UIDS).filter(lambda edge: not set(edge) <= MEETING_POINTS), max_size=8)


@given(st.lists(st.tuples(EDGES, st.booleans()), max_size=3))
def test_every_edge_that_was_not_dropped_is_kept_to_by_the_waves(sets: list[tuple[list[Edge], bool]]) -> None:
    rules = [rule(edges, required=required, name=str(place)) for place, (edges, required) in enumerate(sets)]
    members = [cm(name) for name in "abcdef"]
    try:
        found, dropped = waves_of(members, OrderFacts(), rules)
    except BadOption:
        assert any(required for _edges, required in sets)
        return
    assert sorted(each.record.name for wave in found for each in wave) == list("abcdef")
    place = {each.record.uid: number for number, wave in enumerate(found) for each in wave}
    kept = [set(edges) for number, (edges, _req) in enumerate(sets) if f"{number}: would" not in "".join(dropped)]
    for before, after in _through_meeting_points({edge for edges in kept for edge in edges}):
        assert before == after or place[before] < place[after]


def _through_meeting_points(edges: set[Edge]) -> set[tuple[Any, Any]]:
    """Pairs of real nodes that an edge joins, directly or over meeting points."""
    joined = set(edges)
    while True:
        more = {(a, d) for a, b in joined for c, d in joined if b == c and b in MEETING_POINTS} - joined
        if not more:
            break
        joined |= more
    return {(a, b) for a, b in joined if not {a, b} & MEETING_POINTS}


@given(st.permutations([depends("a", "b"), depends("b", "c"), depends("c"), cm("d"), member(NAMESPACES, "shop")]))
def test_the_order_of_finding_does_not_count(members: list[Member]) -> None:
    assert waves(members) == (
        "1 ConfigMap shop/a, ConfigMap shop/d\n2 ConfigMap shop/b\n3 ConfigMap shop/c\n4 Namespace shop\n"
    )


def test_a_zone_without_a_namespace_is_a_custom_resource_too() -> None:
    facts = OrderFacts(custom_kinds=frozenset({("ingress.example.com", "zones")}))
    assert waves([member(ROLES), member(ZONES)], facts) == "1 Zone web\n2 ClusterRole web\n"
