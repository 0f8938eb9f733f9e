# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drafts of profiles, from the finalizers in a cluster."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.draft import (
    Drafts,
    draft_profiles,
    registered_domain,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.profile import read_profile
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, NAMESPACES, PODS, Told
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    BASKETS,
    INGRESSES,
    NAME,
    OLD,
    PLACE,
    STORES,
    DrainCluster,
    F,
    G,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVICES, STALE, api_error


def drafts(cluster: DrainCluster) -> Drafts:
    return draft_profiles(cluster, Told())


def full() -> DrainCluster:
    cluster = DrainCluster()
    cluster.add(BASKETS, "a", finalizers=[F], labels={NAME: "x", PLACE: "y", "app": "z"})
    cluster.add(BASKETS, "b", finalizers=["shop.example.com/second"])
    cluster.add(STORES, "s", finalizers=[OLD])
    cluster.add(SERVICES, "web", finalizers=[F, "acme.io/lb"])
    cluster.add(INGRESSES, "web", finalizers=[F])
    return cluster


def test_there_is_one_draft_for_each_domain_of_finalizers() -> None:
    assert drafts(full()).profiles == [
        {
            "name": "acme",
            "finalizers": ["acme.io/lb"],
            "user_kinds": [{"group": "", "kind": "Service"}],
            "operator_kinds": [],
            "labels": {},
        },
        {
            "name": "example",
            "finalizers": [OLD, F, "shop.example.com/second"],
            "user_kinds": [{"group": "", "kind": "Service"}, {"group": "networking.k8s.io", "kind": "Ingress"}],
            "operator_kinds": [
                {"group": "shop.example.com", "kind": "Basket"},
                {"group": "shop.example.com", "kind": "Store"},
            ],
            "labels": {"controller_name": [NAME], "controller_namespace": [PLACE]},
        },
    ]


def test_a_draft_can_be_given_back_as_a_profile() -> None:
    for draft in drafts(full()).profiles:
        bad = BadFields()
        found = read_profile(draft, "profile", bad)
        bad.raise_if_any()
        assert (found.name, list(found.finalizers)) == (draft["name"], draft["finalizers"])


def test_nothing_is_written() -> None:
    cluster = full()
    drafts(cluster)
    assert cluster.log == []


def test_the_clusters_own_finalizers_are_no_product() -> None:
    cluster = DrainCluster()
    cluster.add(SERVICES, "web", finalizers=["service.kubernetes.io/load-balancer-cleanup"])
    cluster.add(BASKETS, "b", finalizers=["foregroundDeletion"])
    assert drafts(cluster) == Drafts()


def test_a_product_whose_finalizers_guard_data_gets_its_draft_too() -> None:
    cluster = DrainCluster()
    cluster.add(BASKETS, "b", finalizers=["longhorn.io"])
    [draft] = drafts(cluster).profiles
    assert draft["finalizers"] == ["longhorn.io"]


def test_every_kind_that_may_carry_a_finalizer_is_looked_at_once() -> None:
    cluster = DrainCluster()
    cluster.add(PODS, "p", finalizers=[G])
    cluster.add(DEPLOYMENTS, "d", finalizers=[G])
    cluster.add(NAMESPACES, "n", finalizers=[G])
    [draft] = drafts(cluster).profiles
    assert draft["user_kinds"] == [
        {"group": "", "kind": "Namespace"},
        {"group": "", "kind": "Pod"},
        {"group": "apps", "kind": "Deployment"},
    ]
    assert len(cluster.lists) == len(set(cluster.lists))
    assert "leases.coordination.k8s.io" not in cluster.lists


def test_kinds_that_cannot_be_listed_are_left_out() -> None:
    cluster = DrainCluster()
    cluster.served.remove(BASKETS)
    cluster.served.append(type(BASKETS)("shop.example.com", "v1", "Basket", "baskets", True))
    assert drafts(cluster) == Drafts()
    assert BASKETS.qualified not in cluster.lists


def test_what_cannot_be_read_is_told_and_does_not_keep_the_rest() -> None:
    cluster = full()
    cluster.unseen["baskets"] = api_error(403, "Forbidden", "no")
    cluster.stale.append("metrics.example.com/v1")
    found = drafts(cluster)
    assert found.unreadable == [f"metrics.example.com/v1: {STALE}", "baskets.shop.example.com: HTTP 403 Forbidden, no"]
    assert [draft["name"] for draft in found.profiles] == ["acme", "example"]


@pytest.mark.parametrize(
    ("finalizer", "domain"),
    [
        ("k8s.ngrok.com/finalizer", "ngrok.com"),
        ("ngrok.com/finalizer", "ngrok.com"),
        ("longhorn.io", "longhorn.io"),
        ("resources-finalizer.argocd.argoproj.io/foreground", "argoproj.io"),
        ("hold", "hold"),
    ],
)
def test_products_share_a_domain_between_their_groups(finalizer: str, domain: str) -> None:
    assert registered_domain(finalizer) == domain
