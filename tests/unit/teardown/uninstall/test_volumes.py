# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Claims hold data, and stay unless the task says otherwise, whoever finds them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, PODS, STATEFULSETS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, InMemoryCluster
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import (
    CLAIMS,
    a_cluster,
    stays,
    uninstalled,
)

DATA = "it holds data (volumes: keep)"
OF_THE_SET, PLAIN = "PersistentVolumeClaim shop/data-db-0", "PersistentVolumeClaim shop/uploads"
SET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}}


def claim(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}}


def with_a_database(**of_the_namespace: Any) -> InMemoryCluster:
    cluster = a_cluster()
    cluster.add(NAMESPACES, "shop", "", **of_the_namespace)
    cluster.add(STATEFULSETS, "db", spec={"volumeClaimTemplates": [{"metadata": {"name": "data"}}]})
    cluster.add(CLAIMS, "data-db-0")
    cluster.add(CLAIMS, "uploads")
    return cluster


def test_a_sweep_of_a_namespace_leaves_every_claim() -> None:
    cluster = with_a_database()
    done = uninstalled(cluster, namespace="shop")
    assert done.failure is None
    assert cluster.left() == ["Namespace shop", OF_THE_SET, PLAIN]
    assert stays(done) == {OF_THE_SET: DATA, PLAIN: DATA}


def test_they_are_left_by_a_second_run_too_when_nobody_knows_any_more_who_made_them() -> None:
    cluster = with_a_database()
    uninstalled(cluster, namespace="shop")
    again = uninstalled(cluster, namespace="shop")
    assert not again.changed
    assert stays(again) == {OF_THE_SET: DATA, PLAIN: DATA}


def test_a_sweep_takes_them_where_the_task_says_so() -> None:
    cluster = with_a_database()
    assert uninstalled(cluster, namespace="shop", volumes="delete", delete_namespace=True).failure is None
    assert cluster.left() == []


def test_a_manifest_that_lists_the_claim_of_a_set_does_not_delete_it_but_its_own() -> None:
    cluster = with_a_database()
    done = uninstalled(cluster, manifests=[SET, claim("data-db-0"), claim("uploads")], namespace="shop")
    assert cluster.left() == ["Namespace shop", OF_THE_SET]
    assert stays(done) == {OF_THE_SET: DATA}


@pytest.mark.parametrize("of", [{}, {"manifests": [SET]}], ids=["a sweep", "manifests"])
def test_a_namespace_is_not_deleted_with_data_in_it(of: dict[str, Any]) -> None:
    cluster = with_a_database()
    cluster.objects.pop(("", "persistentvolumeclaims", "shop", "uploads"))
    before = cluster.left()
    stopped = uninstalled(cluster, namespace="shop", delete_namespace=True, **of)
    assert OF_THE_SET in str(stopped.failure)
    assert "leave delete_namespace out, or set volumes: delete to delete their data, too;" in str(stopped.failure)
    assert cluster.left() == before


def test_what_else_is_in_a_namespace_is_taken_by_naming_nothing_else() -> None:
    cluster = with_a_database()
    cluster.add(CONFIG_MAPS, "others")
    stopped = uninstalled(cluster, namespace="shop", delete_namespace=True, manifests=[SET], volumes="delete")
    assert "leave delete_namespace out, or leave manifests out to take everything in it" in str(stopped.failure)


def test_nothing_is_promised_that_a_dying_namespace_takes_along() -> None:
    cluster = with_a_database(deleted=True, finalizers=["kubernetes"])
    plan = uninstalled(cluster, namespace="shop", check_mode=True)
    assert stays(plan) == {}


def test_a_claim_that_would_go_with_its_owner_is_detached_from_it() -> None:
    cluster = with_a_database()
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "StatefulSet-shop-db"}
    cluster.change(CLAIMS, "data-db-0", ownerReferences=[owner])
    plan = uninstalled(cluster, namespace="shop", check_mode=True)
    assert stays(plan) == {PLAIN: DATA, OF_THE_SET: DATA}
    assert plan.scheme is not None
    assert [one.text for one in plan.scheme.plan.detachments] == [f"{OF_THE_SET} loses its owner StatefulSet shop/db"]


def test_an_ephemeral_volume_goes_with_its_pod() -> None:
    cluster = with_a_database()
    cluster.add(PODS, "db-0")
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "db-0", "uid": "Pod-shop-db-0"}
    cluster.add(CLAIMS, "db-0-scratch", ownerReferences=[owner])
    plan = uninstalled(cluster, namespace="shop", check_mode=True)
    assert stays(plan) == {PLAIN: DATA, OF_THE_SET: DATA}
