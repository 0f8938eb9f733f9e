# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan: which step takes which member, what becomes of it, and its hash."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.teardown.dialects import read_order
from ansible_collections.sunset.kube.plugins.module_utils.teardown.guards import Facts
from ansible_collections.sunset.kube.plugins.module_utils.teardown.matching import Matcher
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Claim, Membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Looker, Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import (
    Ground,
    Plan,
    gather_ground,
    make_plan,
    plan_elsewhere,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import DEFAULT_STEPS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.waves import OrderFacts
from ansible_collections.sunset.kube.plugins.module_utils.terms import Terms
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, NAMESPACES, NODES, PODS, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import (
    CONDITIONS,
    KUSTOMIZATIONS,
    SUBSCRIPTIONS,
    VERSIONS,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    DEFINITIONS,
    ROLES,
    SECRETS,
    SERVICES,
    WEBHOOKS,
    ZONES,
    InMemoryCluster,
    member,
    show,
)

DEFINITION = "domains.ingress.example.com"
CUSTOM = frozenset({("ingress.example.com", "domains"), ("ingress.example.com", "zones")})
RELEASE = [
    member(DEFINITIONS, DEFINITION),
    member(ROLES, "web"),
    member(DEPLOYMENTS, "operator"),
    member(DOMAINS, "web"),
    member(CONFIG_MAPS, "web"),
    member(SECRETS, "web"),
]
P = "predefinedResourceGroup"


def plan_of(
    members: list[Member],
    groups: list[dict[str, Any]] | None = None,
    rules: list[dict[str, Any]] | None = None,
    *,
    records: tuple[Member, ...] = (),
    order: OrderFacts | None = None,
    facts: Facts | None = None,
    annotations: tuple[str, ...] = (),
) -> Plan:
    steps = read_order(groups, rules)
    cluster = InMemoryCluster()
    types = {e.path: cluster.resolve(e.kind)[0] for step in steps for e in (*step.types, *step.exclude)}
    ground = Ground(
        members=members,
        records=list(records),
        facts=facts or Facts(),
        order=order or OrderFacts(),
        matcher=Matcher(steps, types, explicit_first=bool(rules)),
        default_order=not groups and not rules,
        order_annotations=annotations,
    )
    return make_plan(ground)


def stays(plan: Plan) -> list[tuple[str, str]]:
    return [(str(entry.member.ref), entry.verdict.fate.value) for entry in plan.kept]


# -- steps -------------------------------------------------------------------------------------------------------------


def test_by_default_custom_resources_go_first_and_definitions_last() -> None:
    assert show(plan_of(RELEASE, order=OrderFacts(custom_kinds=CUSTOM))) == (
        "1 Domain shop/web\n"
        "2 ConfigMap shop/web, Deployment shop/operator, Secret shop/web\n"
        "3 ClusterRole web\n"
        f"4 CustomResourceDefinition {DEFINITION}\n"
    )


def test_groups_replace_the_default_and_what_they_leave_is_unmatched() -> None:
    plan = plan_of(RELEASE, [{"resources": [{"kind": "secret"}]}, {P: "namespaced-resources"}])
    assert show(plan) == "1 Secret shop/web\n2 ConfigMap shop/web, Deployment shop/operator, Domain shop/web\n"
    assert stays(plan) == [(f"CustomResourceDefinition {DEFINITION}", "unmatched"), ("ClusterRole web", "unmatched")]


def test_rules_add_to_the_default_and_a_named_type_beats_its_rank() -> None:
    rules = [{"deletionRank": 250, "types": [{"kind": "cm"}]}, {"deletionRank": -1, "types": [{"kind": "secret"}]}]
    assert show(plan_of(RELEASE, None, rules)) == (
        "1 Secret shop/web\n"
        "2 Deployment shop/operator, Domain shop/web\n"
        "3 ClusterRole web\n"
        "4 ConfigMap shop/web\n"
        f"5 CustomResourceDefinition {DEFINITION}\n"
    )


def test_every_step_is_in_the_plan_even_an_empty_one() -> None:
    assert [(step.rule.name, len(step.going)) for step in plan_of([]).steps] == [
        ("namespaced resources", 0),
        ("cluster-scoped resources", 0),
        ("custom resource definitions", 0),
    ]


def test_an_empty_group_leaves_everything() -> None:
    plan = plan_of(RELEASE, [{P: "empty"}])
    assert (show(plan), len(plan.unmatched)) == ("", len(RELEASE))


def test_records_go_last_whatever_the_order() -> None:
    records = (member(SECRETS, "sh.helm.release.v1.shop.v1"),)
    assert show(plan_of(RELEASE[1:2], [{P: "cluster-scoped-resources"}], records=records)) == (
        "1 ClusterRole web\n2 Secret shop/sh.helm.release.v1.shop.v1\n"
    )


def test_a_record_is_kept_by_no_marker() -> None:
    records = (member(SECRETS, "record", annotations={"helm.sh/resource-policy": "keep"}),)
    assert show(plan_of([], records=records)) == "1 Secret shop/record\n"


def test_annotations_order_a_step_when_the_task_says_so() -> None:
    late = member(CONFIG_MAPS, "late", annotations={"argocd.argoproj.io/sync-wave": "1"})
    plan = plan_of([member(CONFIG_MAPS, "early"), late], annotations=("argocd",))
    assert show(plan) == "1 ConfigMap shop/late\n2 ConfigMap shop/early\n"


def test_an_order_that_had_to_be_dropped_is_a_warning_with_its_step() -> None:
    operator = member(
        DEPLOYMENTS,
        "operator",
        annotations={"config.kubernetes.io/depends-on": "ingress.example.com/namespaces/shop/Domain/web"},
    )
    plan = plan_of([member(DOMAINS), operator], order=OrderFacts(custom_kinds=CUSTOM))
    assert plan.warnings == [
        "namespaced resources: custom resources before their operator: would close a circle, left out"
    ]


# -- what must be earlier than its standard step -----------------------------------------------------------------------

HOOKED = [member(WEBHOOKS, "check"), member(ROLES), member(DEPLOYMENTS, "server", "ops")]


def test_by_default_webhook_configurations_go_before_everything() -> None:
    plan = plan_of(HOOKED)
    assert show(plan) == "1 ValidatingWebhookConfiguration check\n2 Deployment ops/server\n3 ClusterRole web\n"
    assert plan.steps[0].rule.name == "webhook configurations"


@pytest.mark.parametrize("force", [False, True])
def test_what_is_taken_out_of_a_step_is_forced_as_that_step_is(force: bool) -> None:
    members = [*HOOKED, member(ZONES), member(SUBSCRIPTIONS), member(VERSIONS)]
    order = OrderFacts(custom_kinds=CUSTOM)
    rules = tuple(dataclasses.replace(rule, force=force) for rule in DEFAULT_STEPS)
    plan = make_plan(Ground(members, [], Facts(), order, Matcher(rules, {}, False)))
    early = {step.rule.name: step.rule.force for step in plan.steps if step.rule.standard is None}
    assert early == dict.fromkeys(
        ("subscriptions", "custom resources", "installed versions", "webhook configurations"), force
    )


def test_in_an_order_of_the_tasks_own_they_stay_where_it_puts_them() -> None:
    groups = [{P: "namespaced-resources"}, {P: "cluster-scoped-resources"}]
    assert (
        show(plan_of(HOOKED, groups))
        == "1 Deployment ops/server\n2 ClusterRole web, ValidatingWebhookConfiguration check\n"
    )


def test_a_webhook_configuration_that_is_kept_stays_in_its_step() -> None:
    kept = member(WEBHOOKS, "check", annotations={"sunset.dev/keep": "true"})
    assert plan_of([kept]).steps[0].rule.name == "namespaced resources"


def test_by_default_custom_resources_without_a_namespace_go_before_their_operator_too() -> None:
    """Their finalizers are served by the operator, wherever they live."""
    plan = plan_of([member(DEPLOYMENTS, "operator"), member(ZONES)], order=OrderFacts(custom_kinds=CUSTOM))
    assert show(plan) == "1 Zone web\n2 Deployment shop/operator\n"


def test_by_default_a_converter_outlives_its_resources_without_a_namespace_too() -> None:
    order = OrderFacts(conversion_backends={("ingress.example.com", "zones"): ("ops", "hook")})
    plan = plan_of([member(SERVICES, "hook", "ops"), member(ZONES)], order=order)
    assert show(plan) == "1 Zone web\n2 Service ops/hook\n"


# -- verdicts ----------------------------------------------------------------------------------------------------------


OPERATOR = [
    member(WEBHOOKS, "hook"),
    member(DEPLOYMENTS, "operator"),
    member(VERSIONS, "shop.v1"),
    member(VERSIONS, "shop.v1", "bank", labels={"olm.copiedFrom": "shop"}),
    member(CONDITIONS, "shop.v1"),
    member(DOMAINS, "web"),
    member(ZONES, "wide"),
    member(DEFINITIONS, DEFINITION),
    member(SUBSCRIPTIONS, "shop"),
]


def test_what_olm_would_install_or_repair_goes_after_whoever_would() -> None:
    assert show(plan_of(OPERATOR, order=OrderFacts(custom_kinds=CUSTOM))) == (
        "1 Subscription shop/shop\n"
        "2 Domain shop/web\n"
        "3 Zone wide\n"
        "4 ClusterServiceVersion shop/shop.v1\n"
        "5 ValidatingWebhookConfiguration hook\n"
        "6 ClusterServiceVersion bank/shop.v1, Deployment shop/operator, OperatorCondition shop/shop.v1\n"
        "7 CustomResourceDefinition domains.ingress.example.com\n"
    )


def test_so_it_does_inside_a_step_of_the_tasks_own() -> None:
    here = [one for one in OPERATOR if one.resource.namespaced]
    plan = plan_of(here, [{P: {"type": "namespaced-resources"}}], order=OrderFacts(custom_kinds=CUSTOM))
    assert show(plan) == (
        "1 Subscription shop/shop\n"
        "2 Domain shop/web\n"
        "3 ClusterServiceVersion shop/shop.v1\n"
        "4 ClusterServiceVersion bank/shop.v1, Deployment shop/operator, OperatorCondition shop/shop.v1\n"
    )
    assert plan.warnings == [], "no rule had to be left out"


def test_finalizers_that_a_record_gives_up_are_released_in_its_step() -> None:
    owner = member(KUSTOMIZATIONS, "shop", finalizers=["finalizers.fluxcd.io", "example.com/other"])
    step = plan_of([], records=(owner, member(SECRETS, "shop", finalizers=["finalizers.fluxcd.io"]))).steps[-1]
    assert [(str(release.ref), release.finalizers) for release in step.releases] == [
        ("Kustomization shop/shop", ("finalizers.fluxcd.io",))
    ]


def test_every_member_gets_a_verdict() -> None:
    plan = plan_of(
        [
            member(CONFIG_MAPS, "goes"),
            member(CONFIG_MAPS, "going", deleted=True),
            member(CONFIG_MAPS, "kept", annotations={"sunset.dev/keep": "true"}),
            member(CONFIG_MAPS, "theirs", marked=True, labels={"owner": "bank"}),
            member(CONFIG_MAPS, "kube-root-ca.crt"),
            member(NODES, "n"),
        ],
        [{P: "namespaced-resources"}],
        facts=Facts(not_ours=lambda record, marked: "no" if record.labels else ""),
    )
    assert show(plan) == "1 ConfigMap shop/goes, ConfigMap shop/going\n"
    assert stays(plan) == [
        ("ConfigMap shop/kept", "keep"),
        ("ConfigMap shop/theirs", "not_owned"),
        ("ConfigMap shop/kube-root-ca.crt", "protected"),
        ("Node n", "protected"),  # no step takes it, but that is not why it stays
    ]
    assert plan.counts() == {"delete": 1, "terminating": 1, "keep": 1, "not_owned": 1, "protected": 2}


def test_what_is_kept_holds_up_nobody_else() -> None:
    kept = member(DOMAINS, annotations={"sunset.dev/keep": "true"})
    assert show(plan_of([kept, member(NAMESPACES, "shop")])) == "1 Namespace shop\n"


# -- the hash ----------------------------------------------------------------------------------------------------------


def test_the_hash_does_not_depend_on_the_order_of_finding() -> None:
    hashes = set()
    for seed in range(5):
        members = list(RELEASE)
        random.Random(seed).shuffle(members)
        hashes.add(plan_of(members, order=OrderFacts(custom_kinds=CUSTOM)).hash)
    assert len(hashes) == 1


def test_the_hash_does_not_depend_on_what_changes_by_itself() -> None:
    one = [member(CONFIG_MAPS, "web", resourceVersion="1", labels={"a": "b"})]
    other = [member(CONFIG_MAPS, "web", resourceVersion="2", finalizers=["x/y"], source="elsewhere")]
    assert plan_of(one).hash == plan_of(other).hash


def forced(plan: Plan, **change: Any) -> Plan:
    plan.steps[0].rule = dataclasses.replace(plan.steps[0].rule, **change)
    return plan


CHANGES: dict[str, Callable[[], Plan]] = {
    "one object more": lambda: plan_of([*RELEASE, member(CONFIG_MAPS, "new")]),
    "one object less": lambda: plan_of(RELEASE[:-1]),
    "another uid": lambda: plan_of([*RELEASE[:-1], member(SECRETS, "web", uid="other")]),
    "one kept": lambda: plan_of([*RELEASE[:-1], member(SECRETS, "web", annotations={"sunset.dev/keep": "true"})]),
    "another order inside a step": lambda: plan_of(RELEASE, order=OrderFacts(custom_kinds=CUSTOM)),
    "another order of steps": lambda: plan_of(RELEASE, None, [{"deletionRank": 400, "types": [{"kind": "secret"}]}]),
    "by force": lambda: forced(plan_of(RELEASE), force=True),
    "with a patch before": lambda: forced(plan_of(RELEASE), before_delete={"scale": 0}),
    "with records": lambda: plan_of(RELEASE, records=(member(SECRETS, "record"),)),
}


def test_the_hash_does_not_depend_on_what_goes_with_its_owners() -> None:
    """Also where a search has found it, as in a whole namespace."""
    owner = {"ownerReferences": [{"uid": "Deployment-shop-operator"}]}
    pods = [member(PODS, name, **owner) for name in ("a", "b")]
    assert len({plan_of([*RELEASE, *some]).hash for some in ([], pods[:1], pods)}) == 1
    orphan = member(PODS, "a", ownerReferences=[{"uid": "somebody"}])
    assert plan_of([*RELEASE, orphan]).hash != plan_of(RELEASE).hash


@pytest.mark.parametrize("change", named(CHANGES))
def test_the_hash_is_another_when_anything_else_would_be_done(change: Callable[[], Plan]) -> None:
    assert change().hash != plan_of(RELEASE).hash


def test_the_hash_names_the_cluster_and_the_options_also_of_an_empty_plan() -> None:
    everywhere = [Terms(), Terms({"": "here"}), Terms({"": "there"}), Terms({"": "here"}, {"force": True})]
    for plan in (plan_of(RELEASE), Plan()):
        assert len({dataclasses.replace(plan, terms=terms).hash for terms in everywhere}) == len(everywhere)


# -- looking at the cluster --------------------------------------------------------------------------------------------


def gathered(
    cluster: InMemoryCluster,
    claims: list[Claim],
    groups: list[dict[str, Any]] | None = None,
    rules: list[dict[str, Any]] | None = None,
) -> Ground:
    steps = read_order(groups, rules)
    membership = Membership("release", claims=claims)
    return gather_ground(membership, steps, Looker(cluster, Told()), cluster, explicit_first=bool(rules))


def claim(kind: str, name: str, group: str = "", namespace: str = "shop") -> Claim:
    return Claim(group, kind, name, namespace, source="release")


ALL_CONFIG_MAPS = {"kind": "cm", "selector": {"all": True}}


def test_a_step_for_everything_reaches_beyond_the_members() -> None:
    cluster = InMemoryCluster()
    for name, namespace in (("mine", "shop"), ("other", "shop"), ("far", "bank")):
        cluster.add(CONFIG_MAPS, name, namespace)
    plan = make_plan(gathered(cluster, [claim("ConfigMap", "mine")], [{"resources": [ALL_CONFIG_MAPS]}]))
    assert show(plan) == "1 ConfigMap bank/far, ConfigMap shop/mine, ConfigMap shop/other\n"
    assert sorted(entry.verdict.why for entry in plan.going) == [
        "every ConfigMap (deletion_groups[0].resources[0])",
        "every ConfigMap (deletion_groups[0].resources[0])",
        "release",
    ]


NARROWED: dict[str, dict[str, Any]] = {
    "the type by namespace": {"resources": [{**ALL_CONFIG_MAPS, "namespaces": ["bank"]}]},
    "the group by namespace": {"resources": [ALL_CONFIG_MAPS], "namespaces": ["bank"]},
    "the type by name": {"resources": [{**ALL_CONFIG_MAPS, "names": ["far"]}]},
    "the group by label": {"resources": [ALL_CONFIG_MAPS], "labelSelector": "far"},
    "by what it excludes": {"resources": [ALL_CONFIG_MAPS], "exclude": [{"kind": "cm", "namespaces": ["shop"]}]},
}


@pytest.mark.parametrize("group", named(NARROWED))
def test_a_step_for_everything_may_be_narrowed(group: dict[str, Any]) -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "near")
    cluster.add(CONFIG_MAPS, "far", "bank", labels={"far": ""})
    assert show(make_plan(gathered(cluster, [], [group]))) == "1 ConfigMap bank/far\n"


def test_a_step_for_everything_leaves_the_cluster_itself_alone() -> None:
    cluster = InMemoryCluster()
    for name, namespace in (("web", "shop"), ("kube-root-ca.crt", "shop"), ("cluster-info", "kube-public")):
        cluster.add(CONFIG_MAPS, name, namespace)
    plan = make_plan(gathered(cluster, [], [{"resources": [ALL_CONFIG_MAPS]}]))
    assert (show(plan), len(plan.kept)) == ("1 ConfigMap shop/web\n", 2)


def test_a_type_that_is_not_installed_is_an_empty_set_and_a_warning() -> None:
    cluster, steps = (
        InMemoryCluster(),
        read_order([{"resources": [{"group": "g1.io", "version": "v1", "kind": "k1"}]}], None),
    )
    looker = Looker(cluster, Told())
    plan = make_plan(gather_ground(Membership("release"), steps, looker, cluster, explicit_first=False))
    assert (show(plan), looker.warnings) == (
        "",
        ["k1 (g1.io/v1) is not installed: the server has no such kind in group g1.io"],
    )


def definition(name: str, service: dict[str, Any] | None = None) -> dict[str, Any]:
    plural, _dot, group = name.partition(".")
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}}} if service else None
    return {"group": group, "names": {"plural": plural}, "conversion": conversion}


def test_definitions_and_webhooks_are_read_for_the_order() -> None:
    cluster = InMemoryCluster()
    service = {"namespace": "ops", "name": "hook"}
    cluster.add(DEFINITIONS, DEFINITION, spec=definition(DEFINITION, service))
    cluster.add(DEFINITIONS, "zones.ingress.example.com", spec=definition("zones.ingress.example.com"))
    hooks = [{"clientConfig": {"service": service}}, {"clientConfig": {"url": "https://x"}}, {}]
    cluster.add(WEBHOOKS, "check", webhooks=hooks)
    cluster.add(WEBHOOKS, "not-ours", webhooks=hooks)
    cluster.add(DOMAINS, "web")
    group = "admissionregistration.k8s.io"
    ground = gathered(
        cluster,
        [
            claim("Domain", "web", "ingress.example.com"),
            claim("ValidatingWebhookConfiguration", "check", group, ""),
        ],
    )
    assert ground.order == OrderFacts(
        custom_kinds=CUSTOM,
        webhook_backends={"ValidatingWebhookConfiguration--check": frozenset({("ops", "hook")})},
        conversion_backends={("ingress.example.com", "domains"): ("ops", "hook")},
    )


def test_nothing_more_is_read_where_there_is_nothing_to_order() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "web")
    gathered(cluster, [claim("ConfigMap", "web")])
    assert cluster.lists == ["configmaps in namespace shop"]


def test_what_the_source_names_and_is_not_there_is_absent() -> None:
    ground = gathered(InMemoryCluster(), [claim("ConfigMap", "web")])
    assert ([found.name for found in ground.absent], ground.members) == (["web"], [])


def test_steps_elsewhere_take_what_is_there_and_guard_it_too() -> None:
    edge = InMemoryCluster()
    for name in ("web", "kube-root-ca.crt"):
        edge.add(CONFIG_MAPS, name)
    edge.add(SECRETS, "web")
    groups = [{"resources": [{"kind": "secret", "selector": {"all": True}}]}, {"resources": [ALL_CONFIG_MAPS]}]
    rules = read_order([{**group, "targetName": "edge"} for group in groups], None)
    steps, _matcher = plan_elsewhere(rules, Looker(edge, Told()), Facts())
    assert show(Plan(steps)) == "1 Secret shop/web\n2 ConfigMap shop/web\n"
    assert [(step.rule.context, len(step.kept)) for step in steps] == [("edge", 0), ("edge", 1)]
