# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator of the demo's shop, as a process.

Run: python -m lab.controllers.shop_operator KUBECONFIG NAMESPACE RELEASE [GROUP]

There are no nodes, so it plays the kubelet as well: while it runs its pod is ready, and told to end it is not. It puts
its finalizer on every Storefront and Order, takes it off those being deleted, and renews its Lease.
"""

from __future__ import annotations

import contextlib
import datetime
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from lab.plane.api import Api
from lab.waiting import until

GROUP, VERSION = "shop.example.com", "v1"
FINALIZER = f"{GROUP}/cleanup"
PLURALS = ("storefronts", "orders")
MANAGER = "shop-operator"
LEASE_SECONDS = 2  # short, so that nobody waits long for proof of its death
SIGN_OF_LIFE = 0.5  # seconds between two renewals


class Operator:
    """One shop's operator: a watch for each of its kinds, and the sign that it lives."""

    def __init__(self, api: Api, namespace: str, release: str, group: str = GROUP) -> None:
        self._api = api
        self._finalizer = f"{group}/cleanup"
        self._home = f"/apis/{group}/{VERSION}/namespaces/{namespace}"
        self._pods = f"/api/v1/namespaces/{namespace}/pods"
        self._leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._name = f"{release}-operator"
        self._selector = f"app.kubernetes.io/instance={release},app.kubernetes.io/component=operator"
        self._ended = threading.Event()

    def end(self) -> None:
        self._ended.set()

    def run(self) -> None:
        for plural in PLURALS:
            threading.Thread(target=self._follow, args=(f"{self._home}/{plural}",), daemon=True).start()
        self._report_pod(ready=True)
        while not self._ended.wait(SIGN_OF_LIFE):
            pods = self._pods_of_mine()
            if not pods:  # a kubelet would have ended it with its pod
                return
            self._renew(pods[0]["metadata"]["name"])
        self._report_pod(ready=False)

    # -- custom resources --------------------------------------------------------------------------------------------

    def _follow(self, path: str) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(Exception):  # a kind not served yet, or not any more: look again soon
                for event in self._api.watch(path, seconds=30):
                    if event["type"] in ("ADDED", "MODIFIED"):
                        self._reconcile(f"{path}/{event['object']['metadata']['name']}", event["object"])
            self._ended.wait(0.2)

    def _reconcile(self, path: str, item: dict[str, Any]) -> None:
        metadata = item["metadata"]
        finalizers = metadata.get("finalizers") or []
        # The resourceVersion makes it fail, and come again by the next event, when somebody else was quicker.
        known = {"resourceVersion": metadata["resourceVersion"]}
        if metadata.get("deletionTimestamp"):
            if self._finalizer in finalizers:
                left = [name for name in finalizers if name != self._finalizer]
                self._write(path, {"metadata": {**known, "finalizers": left}})
        elif self._finalizer not in finalizers:
            self._write(path, {"metadata": {**known, "finalizers": [*finalizers, self._finalizer]}})
        elif not item.get("status"):
            self._write(f"{path}/status", {"metadata": known, "status": {"state": "Ready"}})

    def _write(self, path: str, patch: dict[str, Any]) -> None:
        self._api.patch(path, patch, fieldManager=MANAGER)

    # -- signs of life -----------------------------------------------------------------------------------------------

    def _renew(self, pod: str) -> None:
        spec = {"holderIdentity": pod, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": _now()}
        name = f"{self._name}-leader"
        status, _answer = self._api.patch(f"{self._leases}/{name}", {"spec": spec}, fieldManager=MANAGER)
        if status == 404:
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec}
            self._api.post(self._leases, lease, fieldManager=MANAGER)

    def _report_pod(self, *, ready: bool) -> None:
        """As a kubelet would. When the Deployment is gone there is no pod to report."""
        mine = self._pods_of_mine
        found = until(mine, "the operator's pod", every=0.05) if ready else mine()
        condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": _now()}
        status = {"phase": "Running", "conditions": [condition]}
        for pod in found:
            self._api.patch(f"{self._pods}/{pod['metadata']['name']}/status", {"status": status})

    def _pods_of_mine(self) -> list[dict[str, Any]]:
        listed = self._api.get(self._pods, labelSelector=self._selector)[1]
        return [pod for pod in listed.get("items") or () if not pod["metadata"].get("deletionTimestamp")]


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def main(kubeconfig: str, *shop: str) -> None:
    operator = Operator(Api(Path(kubeconfig)), *shop)
    signal.signal(signal.SIGTERM, lambda number, frame: operator.end())
    operator.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
