# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From claims and searches to the objects that are really there."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Looked
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, Problem
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Claim, Membership, Search
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Found, Looker
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, LEASES, NAMESPACES, PODS, Told
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    EVENTS,
    ROLES,
    SECRETS,
    SLICES,
    InMemoryCluster,
    api_error,
)


@pytest.fixture
def cluster() -> InMemoryCluster:
    made = InMemoryCluster()
    made.add(CONFIG_MAPS, "a", labels={"app": "shop"})
    made.add(CONFIG_MAPS, "b")
    made.add(CONFIG_MAPS, "a", "bank")
    made.add(ROLES, "reader", labels={"app": "shop"})
    return made


def find(cluster: InMemoryCluster, **membership: Any) -> Found:
    return Looker(cluster, Told()).find(Membership("release", **membership))


def refs(found: Found) -> list[str]:
    return sorted(str(member.ref) for member in found.members)


def claim(kind: str, name: str, namespace: str = "", group: str | None = "", **more: Any) -> Claim:
    return Claim(group, kind, name, namespace, "v1", "release", **more)


RBAC = "rbac.authorization.k8s.io"


def test_claims_are_looked_up_with_one_list_a_kind_and_namespace(cluster: InMemoryCluster) -> None:
    found = find(cluster, claims=[claim("ConfigMap", "a", "shop"), claim("ConfigMap", "b", "shop")])
    assert (refs(found), cluster.lists) == (
        ["ConfigMap shop/a", "ConfigMap shop/b"],
        ["configmaps in namespace shop"],
    )


def test_many_namespaces_are_one_list_of_the_whole_cluster(cluster: InMemoryCluster) -> None:
    find(cluster, claims=[claim("ConfigMap", "a", f"n{number}") for number in range(11)])
    assert cluster.lists == ["configmaps"]


def test_a_namespaced_object_without_a_namespace_lives_in_the_sources(cluster: InMemoryCluster) -> None:
    assert refs(find(cluster, claims=[claim("ConfigMap", "a")], default_namespace="bank")) == ["ConfigMap bank/a"]


def test_without_any_namespace_it_lives_in_default(cluster: InMemoryCluster) -> None:
    cluster.add(CONFIG_MAPS, "a", "default")
    assert refs(find(cluster, claims=[claim("ConfigMap", "a")])) == ["ConfigMap default/a"]


def test_the_namespace_of_a_cluster_scoped_object_does_not_count(cluster: InMemoryCluster) -> None:
    assert refs(find(cluster, claims=[claim("ClusterRole", "reader", "shop", RBAC)])) == ["ClusterRole reader"]


def test_what_is_not_there_is_absent(cluster: InMemoryCluster) -> None:
    found = find(cluster, claims=[claim("ConfigMap", "a", "shop"), claim("ConfigMap", "gone", "shop")])
    assert [absent.name for absent in found.absent] == ["gone"]


def test_an_object_of_a_kind_that_is_not_installed_is_absent_too(cluster: InMemoryCluster) -> None:
    found = find(cluster, claims=[claim("Widget", "w", "shop", "widgets.io")])
    assert ([absent.name for absent in found.absent], found.members) == (["w"], [])


def test_a_mistyped_kind_is_an_error_only_where_a_person_wrote_it(cluster: InMemoryCluster) -> None:
    assert find(cluster, claims=[claim("ConfigMpa", "a", "shop")]).members == []
    with pytest.raises(BadOption, match="did you mean ConfigMap"):
        find(cluster, claims=[claim("ConfigMpa", "a", "shop", named=True)])


def test_an_object_claimed_twice_in_two_spellings_is_one_member(cluster: InMemoryCluster) -> None:
    claims = [claim("ConfigMap", "a", "shop"), claim("configmaps", "a", "shop"), claim("cm", "a", "shop", None)]
    assert refs(find(cluster, claims=claims)) == ["ConfigMap shop/a"]


def test_what_the_claim_says_of_the_object_reaches_the_member(cluster: InMemoryCluster) -> None:
    claims = [claim("ConfigMap", "a", "shop", marked=False, keep="policy", named=True)]
    [member] = find(cluster, claims=claims).members
    assert (member.source, member.marked, member.keep, member.named) == ("release", False, "policy", True)


def test_records_are_no_members(cluster: InMemoryCluster) -> None:
    record = claim("ConfigMap", "b", "shop")
    found = find(cluster, searches=[Search("ConfigMap", "/", "shop")], records=[record])
    assert (refs(found), [str(each.ref) for each in found.records]) == (["ConfigMap shop/a"], ["ConfigMap shop/b"])


def test_a_search_takes_what_the_labels_say(cluster: InMemoryCluster) -> None:
    assert refs(find(cluster, searches=[Search("cm", label_selector="app=shop")])) == ["ConfigMap shop/a"]


def test_a_search_for_every_kind_takes_namespaced_and_other_objects(cluster: InMemoryCluster) -> None:
    assert refs(find(cluster, searches=[Search("*", label_selector="app=shop")])) == [
        "ClusterRole reader",
        "ConfigMap shop/a",
    ]


def test_a_sweep_of_a_namespace_leaves_out_what_comes_and_goes_by_itself(cluster: InMemoryCluster) -> None:
    for resource in (EVENTS, LEASES, SLICES, PODS, SECRETS):
        cluster.add(resource, "x")
    cluster.add(NAMESPACES, "shop")
    assert refs(find(cluster, searches=[Search("*", namespace="shop")])) == [
        "ConfigMap shop/a",
        "ConfigMap shop/b",
        "Pod shop/x",
        "Secret shop/x",
    ]


def test_what_cannot_be_listed_is_an_error_and_not_nothing(cluster: InMemoryCluster) -> None:
    cluster.unseen["configmaps"] = api_error(403, "Forbidden")
    with pytest.raises(Problem, match="HTTP 403"):
        find(cluster, claims=[claim("ConfigMap", "a", "shop")])


def test_nothing_is_listed_twice(cluster: InMemoryCluster) -> None:
    looker = Looker(cluster, Told())
    for _time in range(2):
        looker.everything(CONFIG_MAPS)
        looker.find(Membership("x", searches=[Search("cm")]))
    assert cluster.lists == ["configmaps"]


def test_unless_it_is_asked_for_again(cluster: InMemoryCluster) -> None:
    looker = Looker(cluster, Told())
    looker.everything(CONFIG_MAPS)
    cluster.add(CONFIG_MAPS, "new")
    assert (len(looker.everything(CONFIG_MAPS)), len(looker.again(CONFIG_MAPS))) == (3, 4)


def test_every_look_is_told(cluster: InMemoryCluster) -> None:
    told = Told()
    looker = Looker(cluster, told)
    looker.everything(CONFIG_MAPS)
    looker.everything(CONFIG_MAPS, "shop")
    assert told == [Looked("ConfigMap", 3, "the cluster"), Looked("ConfigMap", 2, "namespace shop")]


def test_a_namespace_is_looked_into_kind_by_kind(cluster: InMemoryCluster) -> None:
    looker = Looker(cluster, Told())
    looker.look_into_namespace("shop")
    assert "events in namespace shop" not in cluster.lists
    assert {"configmaps in namespace shop", "domains.ingress.example.com in namespace shop"} <= set(cluster.lists)


def test_a_warning_is_given_once(cluster: InMemoryCluster) -> None:
    looker = Looker(cluster, Told())
    for _time in range(2):
        looker.resolve("Widget", "widgets.io/v1")
    assert looker.warnings == [
        "Widget (widgets.io/v1) is not installed: the server has no such kind in group widgets.io"
    ]


def test_a_version_that_is_not_served_any_more_finds_the_same_objects(cluster: InMemoryCluster) -> None:
    cluster.add(DEPLOYMENTS, "web")
    cluster.add(DOMAINS, "web")
    claims = [
        Claim("apps", "Deployment", "web", "shop", "v1beta1", "release"),
        Claim("ingress.example.com", "Domain", "web", "shop", "v1alpha1", "release"),
    ]
    assert refs(find(cluster, claims=claims)) == ["Deployment shop/web", "Domain shop/web"]
