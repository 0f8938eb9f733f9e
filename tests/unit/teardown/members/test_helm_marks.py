# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is left of a Helm release whose record is gone, and how far one could look."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Problem, TimedOut, Unreachable
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.helm_marks import marked_membership
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    ROLES,
    InMemoryCluster,
    api_error,
)

MARKED: dict[str, Any] = {
    "labels": {"app.kubernetes.io/managed-by": "Helm"},
    "annotations": {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"},
}


def of_tenants(*plurals: str) -> InMemoryCluster:
    """Nobody sees more than a namespace of these kinds."""
    cluster = InMemoryCluster()
    cluster.not_cluster_wide.update(plurals)
    cluster.unseen["namespaces"] = api_error(403, "Forbidden", "no")
    return cluster


def marked(cluster: InMemoryCluster) -> Membership:
    return marked_membership("web", "shop", cluster)


def test_marks_are_found_wherever_they_are() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "settings", **MARKED)
    cluster.add(ROLES, "reader", "", **MARKED)
    cluster.add(CONFIG_MAPS, "other", labels=MARKED["labels"])
    found = marked(cluster)
    assert (found.missing, sorted(claim.name for claim in found.claims)) == ("", ["reader", "settings"])
    assert "could be looked at" not in found.warnings[0]


def test_a_tenant_finds_what_is_in_his_namespace_and_is_told_that_this_is_not_all() -> None:
    cluster = of_tenants("configmaps")
    cluster.add(CONFIG_MAPS, "settings", **MARKED)
    cluster.add(CONFIG_MAPS, "elsewhere", "bank", **MARKED)
    found = marked(cluster)
    assert [claim.name for claim in found.claims] == ["settings"]
    assert "not every kind could be looked at, configmaps: seen in namespace shop only" in found.warnings[0]


def test_a_tenant_who_finds_nothing_is_told_how_far_he_saw() -> None:
    assert "configmaps: seen in namespace shop only" in marked(of_tenants("configmaps")).missing


def test_what_could_not_be_seen_is_not_taken_for_nothing() -> None:
    cluster = InMemoryCluster()
    cluster.unseen["domains"] = api_error(500, "InternalError", "conversion webhook failed")
    with pytest.raises(CannotLook, match=r"conversion webhook failed.*nothing was changed"):
        marked(cluster)
    cluster.add(CONFIG_MAPS, "settings", **MARKED)
    assert f"not every kind could be looked at, {DOMAINS.qualified}" in marked(cluster).warnings[0]


def test_a_kind_that_went_meanwhile_has_no_objects() -> None:
    cluster = InMemoryCluster()
    cluster.unseen["domains"] = api_error(404, "NotFound")
    assert marked(cluster).missing.endswith("nothing carries its marks")


@pytest.mark.parametrize("problem", [Unreachable("no answer"), TimedOut("out of time")], ids=["no answer", "no time"])
def test_a_task_that_cannot_go_on_ends(problem: Problem) -> None:
    cluster = InMemoryCluster()
    cluster.unseen["configmaps"] = problem
    with pytest.raises(type(problem)):
        marked(cluster)
