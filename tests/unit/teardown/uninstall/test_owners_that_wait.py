# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An owner that was made to wait is not forgotten when the run fails, and is kept as it was before."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import BASKETS, SHOP, F
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import KUSTOMIZATIONS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import InMemoryCluster, api_error
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import a_cluster, uninstalled

FLUX = "kustomize.toolkit.fluxcd.io"
OURS = {f"{FLUX}/name": "shop", f"{FLUX}/namespace": "flux"}
WAITS = (
    "Kustomization flux/shop still waits; run the task again, or let it go on: flux resume kustomization shop -n flux"
)
DRAIN: dict[str, Any] = {"profile": SHOP, "instance": {"namespaces": ["shop"]}, "policy": "Retain"}
WANTED: dict[str, Any] = {"release": "shop", "namespace": "shop", "stages": ["drain", "delete"], "timeout": 5}


def of_flux(*finalizers: str) -> InMemoryCluster:
    cluster = a_cluster()
    entries = [{"id": "shop_web_apps_Deployment", "v": "v1"}, {"id": "shop_mine_shop.example.com_Basket", "v": "v1"}]
    status = {"inventory": {"entries": entries}}
    cluster.add(KUSTOMIZATIONS, "shop", "flux", spec={"prune": True}, status=status)
    cluster.add(DEPLOYMENTS, "web", labels=OURS, finalizers=list(finalizers))
    cluster.add(BASKETS, "mine", labels=OURS, finalizers=[F])
    return cluster


@pytest.mark.parametrize("drain", [{"profile": "none"}, DRAIN], ids=["no drain", "with a drain"])
def test_the_way_back_is_told_by_every_run_that_fails(drain: dict[str, Any]) -> None:
    cluster = of_flux("example.com/held")
    for _run in range(2):
        stopped = uninstalled(cluster, **WANTED, **drain)
        assert stopped.failure is not None
        assert WAITS in stopped.warnings


def test_it_is_told_when_the_drain_fails() -> None:
    cluster = of_flux()
    cluster.refusals["Basket shop/mine"] = api_error(403, "Forbidden")
    stopped = uninstalled(cluster, **WANTED, **DRAIN)
    assert stopped.failure is not None
    assert stopped.changed
    assert WAITS in stopped.warnings


def test_nobody_is_said_to_wait_who_does_not() -> None:
    cluster = of_flux()
    cluster.forbidden.add(("delete", "deployments"))
    stopped = uninstalled(cluster, **WANTED, **DRAIN)
    assert stopped.failure is not None
    assert not stopped.changed
    assert WAITS not in stopped.warnings


@pytest.mark.parametrize("drain", [{"profile": "none"}, DRAIN], ids=["no drain", "with a drain"])
def test_an_owner_is_kept_as_it_was_before_it_waited(drain: dict[str, Any]) -> None:
    cluster = of_flux()
    done = uninstalled(cluster, keep_secrets=True, **WANTED, **drain, evidence_dir="evidence")
    assert done.deletion.keepsakes is not None
    [owner] = [one for one in done.deletion.keepsakes.secrets if one["kind"] == "Kustomization"]
    assert owner["spec"] == {"prune": True}


def test_an_operator_that_the_drain_stops_is_kept_with_the_replicas_it_had() -> None:
    cluster = of_flux()
    replicas = {"spec": {"replicas": 3}, "status": {"availableReplicas": 3}}
    cluster.change(DEPLOYMENTS, "web", labels={**OURS, "app": "shop-operator"})
    cluster.objects["apps", "deployments", "shop", "web"].update(replicas)
    done = uninstalled(cluster, **{**WANTED, "timeout": 600}, **DRAIN, evidence_dir="evidence")
    assert (done.failure, [str(one.ref) for drain in done.drains for one in drain.stopped]) == (
        None,
        ["Deployment shop/web"],
    )
    assert done.deletion.keepsakes is not None
    [kept] = [one for step in done.deletion.keepsakes.steps for one in step.objects if one["kind"] == "Deployment"]
    assert kept["spec"]["replicas"] == 3
