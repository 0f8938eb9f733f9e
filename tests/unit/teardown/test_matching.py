# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which step takes an object."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.dialects import read_order
from ansible_collections.sunset.kube.plugins.module_utils.teardown.matching import Matcher
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import StepRule
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, NAMESPACES, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    DEFINITIONS,
    ROLES,
    SECRETS,
    ZONES,
    InMemoryCluster,
    member,
)

MEMBERS: dict[str, Member] = {
    "cm": member(CONFIG_MAPS, "web-1", labels={"app": "shop"}),
    "far": member(CONFIG_MAPS, "web-2", "bank"),
    "secret": member(SECRETS, "web-1"),
    "deploy": member(DEPLOYMENTS, "web-1", labels={"app": "shop"}),
    "domain": member(DOMAINS, "web-1"),
    "zone": member(ZONES, "web-1"),
    "role": member(ROLES, "web-1"),
    "ns": member(NAMESPACES, "shop"),
    "crd": member(DEFINITIONS, "domains.ingress.example.com"),
}


def types_of(rules: tuple[StepRule, ...]) -> dict[str, Resource | None]:
    cluster = InMemoryCluster()
    entries = [entry for rule in rules for entry in (*rule.types, *rule.exclude)]
    return {entry.path: cluster.resolve(entry.kind, None, by_hand=False)[0] for entry in entries}


def taken(rules: tuple[StepRule, ...], *, explicit_first: bool = False) -> list[str]:
    """What each step takes, and last what none takes."""
    matcher = Matcher(rules, types_of(rules), explicit_first)
    places: list[list[str]] = [[] for _rule in (*rules, None)]
    for name, each in MEMBERS.items():
        place = matcher.step_of(each)
        places[-1 if place is None else place].append(name)
    return [" ".join(names) for names in places]


P = "predefinedResourceGroup"
GROUPS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "namespaced objects": ([{P: "namespaced-resources"}], ["cm far secret deploy domain", "zone role ns crd"]),
    "cluster-scoped objects are no definitions": (
        [{P: "cluster-scoped-resources"}],
        ["zone role ns", "cm far secret deploy domain crd"],
    ),
    "definitions": ([{P: "crds"}], ["crd", "cm far secret deploy domain zone role ns"]),
    "nothing": ([{P: "empty"}], ["", "cm far secret deploy domain zone role ns crd"]),
    "the first group that fits takes it": (
        [
            {"resources": [{"kind": "secret"}]},
            {P: "namespaced-resources"},
            {"resources": [{"kind": "cm"}]},
            {P: "crds"},
        ],
        ["secret", "cm far deploy domain", "", "crd", "zone role ns"],
    ),
    "any spelling of a type": (
        [{"resources": [{"kind": kind}]} for kind in ("CONFIGMAPS", "Secret", "deploy", "clusterrole")],
        ["cm far", "secret", "deploy", "role", "domain zone ns crd"],
    ),
    "a type that is not installed takes nothing": (
        [{"resources": [{"kind": "gateways"}]}, {P: "crds"}],
        ["", "crd", "cm far secret deploy domain zone role ns"],
    ),
    "by names": ([{P: "namespaced-resources", "names": ["*-2"]}], ["far", "cm secret deploy domain zone role ns crd"]),
    "by names, in the right case only": (
        [{P: "namespaced-resources", "names": ["WEB-*"]}],
        ["", "cm far secret deploy domain zone role ns crd"],
    ),
    "by namespaces": (
        [{P: "namespaced-resources", "namespaces": ["ba?k", "other"]}],
        ["far", "cm secret deploy domain zone role ns crd"],
    ),
    "namespaces of cluster-scoped objects": (
        [{P: "cluster-scoped-resources", "namespaces": ["shop"]}],
        ["", "cm far secret deploy domain zone role ns crd"],
    ),
    "by labels": (
        [{P: "namespaced-resources", "labelSelector": "app=shop"}],
        ["cm deploy", "far secret domain zone role ns crd"],
    ),
    "by names of one type and none of the other": (
        [{"resources": [{"kind": "cm", "names": ["web-2"]}, {"kind": "secret"}]}],
        ["far secret", "cm deploy domain zone role ns crd"],
    ),
    "type and group narrow together": (
        [{"resources": [{"kind": "cm", "namespaces": ["shop"]}, {"kind": "secret"}], "labelSelector": "app"}],
        ["cm", "far secret deploy domain zone role ns crd"],
    ),
    "all but some": (
        [{P: "namespaced-resources", "exclude": [{"kind": "cm", "names": ["web-1"]}, {"kind": "domain"}]}],
        ["far secret deploy", "cm domain zone role ns crd"],
    ),
    "a type of its own without some": (
        [{"resources": [{"kind": "cm"}], "exclude": [{"kind": "cm", "labelSelector": "app=shop"}]}],
        ["far", "cm secret deploy domain zone role ns crd"],
    ),
    "another cluster's step takes nothing here": (
        [{"resources": [{"kind": "cm", "selector": {"all": True}}], "targetName": "edge"}, {P: "namespaced-resources"}],
        ["", "cm far secret deploy domain", "zone role ns crd"],
    ),
}


@pytest.mark.parametrize(("groups", "expected"), named(GROUPS))
def test_a_group_takes_what_fits_and_no_earlier_one_took(groups: list[dict[str, Any]], expected: list[str]) -> None:
    assert taken(read_order(groups, None)) == expected


RULES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "a named type leaves its standard rank, even for a later one": (
        [{"deletionRank": 150, "types": [{"kind": "cm"}]}],
        ["secret deploy domain", "cm far", "zone role ns", "crd", ""],
    ),
    "what a rule does not fit stays at its standard rank": (
        [{"deletionRank": 250, "types": [{"kind": "cm", "names": ["web-1"]}]}],
        ["far secret deploy domain", "zone role ns", "cm", "crd", ""],
    ),
    "the lower of two ranks takes it": (
        [{"deletionRank": 20, "types": [{"kind": "cm"}]}, {"deletionRank": 10, "types": [{"kind": "configmaps"}]}],
        ["cm far", "", "secret deploy domain", "zone role ns", "crd", ""],
    ),
    "a rank left out leaves its objects": (
        [{"deletionRank": 300, "skip": True}],
        ["cm far secret deploy domain", "zone role ns", "crd"],
    ),
    "a narrowed standard rank leaves the rest": (
        [{"deletionRank": 100, "namespaces": ["bank"]}],
        ["far", "zone role ns", "crd", "cm secret deploy domain"],
    ),
}


@pytest.mark.parametrize(("rules", "expected"), named(RULES))
def test_a_rule_that_names_a_type_beats_the_standard_ranks(rules: list[dict[str, Any]], expected: list[str]) -> None:
    assert taken(read_order(None, rules), explicit_first=True) == expected


def test_versions_do_not_count_only_group_and_plural() -> None:
    old = Resource("ingress.example.com", "v1beta1", "Domain", "domains", True)
    rules = read_order([{"resources": [{"kind": "domains", "group": "ingress.example.com", "version": "v1"}]}], None)
    assert Matcher(rules, types_of(rules)).step_of(member(old)) == 0


def test_a_namesake_of_another_group_is_another_type() -> None:
    rules = read_order([{"resources": [{"kind": "domain"}]}], None)
    assert (
        Matcher(rules, types_of(rules)).step_of(member(Resource("other.io", "v1", "Domain", "domains", True))) is None
    )
