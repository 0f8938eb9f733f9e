# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What would go along unseen with a definition or a namespace."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.foreign import (
    find_foreign,
    look_into_namespaces,
    refuse,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Looker, Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import Entry, Plan, Step
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import StepRule
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, LEASES, NAMESPACES, PODS, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    ACCOUNTS,
    CONFIG_MAPS,
    DEFINITIONS,
    ENDPOINTS,
    EVENTS,
    SLICES,
    InMemoryCluster,
    api_error,
    member,
)

DEFINITION = "domains.ingress.example.com"


def plan_of(*waves: list[Member], kept: tuple[Member, ...] = ()) -> Plan:
    def entries(members: Any, fate: Fate) -> list[Entry]:
        return [Entry(each, Verdict(fate, "")) for each in members]

    steps = [Step(StepRule("step", place), [entries(wave, Fate.DELETE)]) for place, wave in enumerate(waves)]
    return Plan(steps, unmatched=entries(kept, Fate.KEEP))


def strangers(cluster: InMemoryCluster, plan: Plan) -> list[str]:
    looker = Looker(cluster, Told())
    look_into_namespaces([entry.member for entry in plan.going], looker)
    return [f"{each.member.ref}: {each.why}" for each in find_foreign(plan, looker)]


def test_a_definition_whose_instances_all_go_takes_nobody_along() -> None:
    cluster = InMemoryCluster()
    cluster.add(DOMAINS, "web")
    for waves in (
        ([member(DOMAINS)], [member(DEFINITIONS, DEFINITION)]),
        ([member(DEFINITIONS, DEFINITION)], [member(DOMAINS)]),
    ):
        assert strangers(cluster, plan_of(*waves)) == []


def test_a_definition_with_instances_outside_the_plan_takes_them_along() -> None:
    cluster = InMemoryCluster()
    for name in ("web", "a", "b"):
        cluster.add(DOMAINS, name)
    assert strangers(cluster, plan_of([member(DOMAINS)], [member(DEFINITIONS, DEFINITION)])) == [
        f"CustomResourceDefinition {DEFINITION}: 2 objects that are not in this plan would go with it,"
        " Domain shop/a among them"
    ]


def test_an_instance_that_is_kept_would_go_along_too() -> None:
    cluster = InMemoryCluster()
    cluster.add(DOMAINS, "web")
    plan = plan_of([member(DEFINITIONS, DEFINITION)], kept=(member(DOMAINS),))
    assert len(strangers(cluster, plan)) == 1


def test_a_definition_that_is_not_served_any_more_has_no_instances() -> None:
    cluster = InMemoryCluster(DEFINITIONS)
    assert strangers(cluster, plan_of([member(DEFINITIONS, DEFINITION)])) == []


def test_instances_that_cannot_be_seen_are_a_failure() -> None:
    cluster = InMemoryCluster()
    cluster.unseen["domains"] = api_error(500, "InternalError", "conversion webhook failed")
    with pytest.raises(Problem, match="conversion webhook failed"):
        strangers(cluster, plan_of([member(DEFINITIONS, DEFINITION)]))


def test_a_namespace_with_content_outside_the_plan_takes_it_along() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "web")
    cluster.add(PODS, "stranger")
    cluster.add(PODS, "elsewhere", "bank")
    assert strangers(cluster, plan_of([member(CONFIG_MAPS), member(NAMESPACES, "shop")])) == [
        "Namespace shop: Pod shop/stranger, which is not in this plan, would go with it"
    ]


COMES_BY_ITSELF = {
    "its certificate": (CONFIG_MAPS, "kube-root-ca.crt"),
    "its account": (ACCOUNTS, "default"),
    "an event": (EVENTS, "x"),
    "a lease": (LEASES, "x"),
    "an endpoint slice": (SLICES, "x"),
    "endpoints": (ENDPOINTS, "x"),
}


@pytest.mark.parametrize(("resource", "name"), named(COMES_BY_ITSELF))
def test_what_comes_and_goes_with_a_namespace_is_nobodys(resource: Any, name: str) -> None:
    cluster = InMemoryCluster()
    cluster.add(resource, name)
    assert strangers(cluster, plan_of([member(NAMESPACES, "shop")])) == []


def test_other_kinds_take_nobody_along() -> None:
    cluster = InMemoryCluster()
    cluster.add(PODS, "x")
    assert strangers(cluster, plan_of([member(CONFIG_MAPS)])) == []


def test_a_refusal_names_the_first_and_counts_the_rest() -> None:
    cluster = InMemoryCluster()
    for name in ("a", "b"):
        cluster.add(PODS, "x", name)
    plan = plan_of([member(NAMESPACES, "a"), member(NAMESPACES, "b")])
    looker = Looker(cluster, Told())
    look_into_namespaces([entry.member for entry in plan.going], looker)
    with pytest.raises(Refused, match=r"delete Namespace a \(and 1 more\): Pod a/x, .*foreign_instances"):
        refuse(find_foreign(plan, looker))


def test_without_strangers_nothing_is_refused() -> None:
    refuse([])
