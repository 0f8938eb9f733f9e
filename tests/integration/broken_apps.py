# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's shop, installed by the real helm and then broken, in the ways that make an uninstall hang.

Its operator is a process of its own (lab/controllers/shop_operator.py), which can be killed as any other.
"""

from __future__ import annotations

import datetime
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.census import Resident, everybody, newcomers, send_home
from integration.helm import Helm
from integration.stage import CRDS
from lab import processes
from lab.controllers.shop_operator import FINALIZER, GROUP, PLURALS, VERSION
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

CHART = Path(__file__).parents[2] / "demo" / "chart"
RELEASE = "shop"
DEFINITIONS = tuple(f"{plural}.{GROUP}" for plural in PLURALS)
CANARY = "canary-Zq7Rk2vX-do-not-print"  # the database's password
ORDERS = 3  # made by the shop's users, so no part of the release


class Shop:
    """A release of the chart in a namespace of its own, its operator at work and its users' orders made."""

    def __init__(self, plane: ControlPlane, directory: Path, namespace: str) -> None:
        self.api = plane.api
        self.namespace = namespace
        self.before = everybody(plane.api)
        self.helm = Helm(plane, directory, namespace)
        self._kubeconfig = plane.admin.kubeconfig
        self._directory = directory
        self._operator: processes.Process | None = None

    def open(self) -> None:
        """Install, order, and wait until the operator has everything in hand."""
        self.helm("install", RELEASE, str(CHART), "--set", f"database.password={CANARY}")
        self.start_operator()
        self.api.create(*(self._order(number) for number in range(1, ORDERS + 1)))
        until(self._is_adopted, "the operator to adopt every storefront and order")
        claims = f"/api/v1/namespaces/{self.namespace}/persistentvolumeclaims"
        until(lambda: self.api.get(claims)[1]["items"], "the database's volume claim")
        until(lambda: self._lease()[0] == 200, "the operator's Lease")

    def switch_on(self, part: str) -> None:
        """A part of the chart that is off at first."""
        self.helm("upgrade", RELEASE, str(CHART), "--reuse-values", "--set", f"{part}.enabled=true")

    # -- its operator ------------------------------------------------------------------------------------------------

    def start_operator(self) -> None:
        command = [
            sys.executable,
            "-m",
            "lab.controllers.shop_operator",
            str(self._kubeconfig),
            self.namespace,
            RELEASE,
        ]
        self._operator = processes.start(command, self._directory / "operator.log")
        until(self._is_ready, "the operator to be ready")

    def end_operator(self) -> None:
        """It ends as a crashing container does: its pod is not ready any more, the term of its Lease ends."""
        self._stop_operator()
        until(self._lease_has_ended, "the term of its Lease to end; until then it counts as running")

    def _stop_operator(self) -> None:
        if self._operator:
            self._operator.signal(signal.SIGTERM)
            until(lambda: self._operator is None or not self._operator.alive(), "the operator to end")
            self._operator = None

    def _is_ready(self) -> bool:
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/{RELEASE}-operator"
        return bool(self.api.get(path)[1].get("status", {}).get("availableReplicas"))

    def _lease_has_ended(self) -> bool:
        spec = self._lease()[1]["spec"]
        renewed = datetime.datetime.fromisoformat(spec["renewTime"].replace("Z", "+00:00"))
        age = datetime.datetime.now(datetime.timezone.utc) - renewed
        # A second more: the API server's Date header, by which the term is judged, has whole seconds.
        return age.total_seconds() > spec["leaseDurationSeconds"] + 1

    def _lease(self) -> tuple[int, dict[str, Any]]:
        return self.api.get(
            f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{RELEASE}-operator-leader"
        )

    # -- its resources -----------------------------------------------------------------------------------------------

    def custom_resources(self) -> list[dict[str, Any]]:
        answers = [self.api.get(f"/apis/{GROUP}/{VERSION}/namespaces/{self.namespace}/{name}") for name in PLURALS]
        return [item for _status, listed in answers for item in listed.get("items") or ()]

    def left(self) -> list[Resident]:
        """Everything in the whole cluster that was not there before the shop."""
        return newcomers(self.api, self.before)

    def delete_by_hand(self, *paths: str) -> None:
        for path in paths:
            status, answer = self.api.delete(path)
            assert status in (200, 202), answer

    def close(self) -> None:
        self._stop_operator()
        send_home(self.api, self.before)

    def _order(self, number: int) -> dict[str, Any]:
        metadata = {"name": f"order-{number}", "namespace": self.namespace}
        spec = {"storefront": "main", "items": number}
        return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Order", "metadata": metadata, "spec": spec}

    def _is_adopted(self) -> bool:
        found = self.custom_resources()
        adopted = [one for one in found if FINALIZER in one["metadata"].get("finalizers", ()) and one.get("status")]
        return len(found) == len(adopted) == ORDERS + 2


# -- the five ways to break it -----------------------------------------------------------------------------------------


def operator_gone(shop: Shop) -> None:
    """Somebody deleted its Deployment; nobody is left who takes the finalizers off."""
    shop.end_operator()
    shop.delete_by_hand(f"/apis/apps/v1/namespaces/{shop.namespace}/deployments/{RELEASE}-operator")


def webhook_dead(shop: Shop) -> None:
    """Nobody answers behind its Service, so every change of an order is refused, the operator's too."""
    shop.switch_on("webhook")
    order = f"/apis/{GROUP}/{VERSION}/namespaces/{shop.namespace}/orders/order-1"
    change = {"spec": {"items": 100}}
    until(lambda: shop.api.patch(order, change, dryRun="All")[0] == 500, "the webhook to be in force")


def definitions_stuck(shop: Shop) -> None:
    """The operator died, then somebody deleted the definitions: both wait for instances that wait for the operator."""
    shop.end_operator()
    shop.delete_by_hand(*(f"{CRDS}/{name}" for name in DEFINITIONS))

    def all_hang() -> bool:
        found = shop.custom_resources()
        return bool(found) and all(one["metadata"].get("deletionTimestamp") for one in found)

    until(all_hang, "the instances to hang")


def api_service_broken(shop: Shop) -> None:
    """Its aggregated API has no server, so discovery of the whole cluster fails, and no namespace can go."""
    shop.switch_on("metricsApi")
    until(lambda: shop.api.get(f"/apis/metrics.{GROUP}/v1")[0] == 503, "the API to be announced")


def namespace_terminating(shop: Shop) -> None:
    """The operator died, then somebody deleted the namespace: most is gone, Helm's record too, the rest hangs."""
    shop.end_operator()
    shop.delete_by_hand(f"/api/v1/namespaces/{shop.namespace}")

    def only_finalizers_are_left() -> bool:
        conditions = shop.api.get(f"/api/v1/namespaces/{shop.namespace}")[1]["status"].get("conditions") or ()
        return any(one["type"] == "NamespaceFinalizersRemaining" and one["status"] == "True" for one in conditions)

    until(only_finalizers_are_left, "the namespace to hang")


BREAK: dict[str, Callable[[Shop], None]] = {
    "operator gone": operator_gone,
    "webhook dead": webhook_dead,
    "definitions stuck": definitions_stuck,
    "API service broken": api_service_broken,
    "namespace terminating": namespace_terminating,
}


@pytest.fixture
def shop(plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Shop]:
    """The shop, open and in order. Whatever a test leaves of it is removed."""
    until(lambda: plane.api.get(f"/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt")[0] == 200, "its start")
    until(lambda: plane.api.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/default")[0] == 200, "its start")
    opened = Shop(plane, tmp_path, namespace)
    try:
        opened.open()
        yield opened
    except subprocess.CalledProcessError as problem:
        raise AssertionError(f"helm said: {problem.stderr}") from problem
    finally:
        opened.close()
