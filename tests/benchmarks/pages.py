# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans over lists that no server ever held: the pages are made up, everything that reads them is the real thing.

A script: `python -m benchmarks.pages PLAN OBJECTS` prints the most memory it held, as JSON. A process of its own, so
that nothing but the plan is counted; tests/integration/test_budget.py holds it to a bound.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ansible_collections.sunset.kube.plugins.module_utils.clock import RealClock, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.transport import Transport
from ansible_collections.sunset.kube.plugins.module_utils.kube.wire import Left
from benchmarks import ours
from benchmarks.seeding import FINALIZER

_JSON = {"content-type": "application/json"}
_DISCOVERY_KIND = {"content-type": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
_ENDPOINT = Endpoint("127.0.0.1", 1)


def main() -> None:
    plan, objects = sys.argv[1], int(sys.argv[2])
    run = PaperRun(objects)
    found = ours.ACTIONS[plan](run)
    print(json.dumps({"objects": found, "peak_mib": ours.peak_mib()}))


class PaperRun(ours.Run):
    """What our own actions need, with a cluster of paper."""

    def __init__(self, objects: int) -> None:
        self.options = ours.parse(["--kubeconfig=", "--kind=ConfigMap", "--api-version=v1", "--action=delete"])
        self.options.finalizer = FINALIZER
        self.stop = StopSign()
        self.clock = RealClock(self.stop)
        self.cluster = PaperCluster(objects, self.clock, self.stop)


class PaperCluster(Cluster):
    def __init__(self, objects: int, clock: RealClock, stop: StopSign) -> None:
        super().__init__(lambda: _ENDPOINT, clock, stop)
        self._transport = Transport(lambda: _ENDPOINT, clock, stop, 16, connect=lambda endpoint: PaperWire(objects))


class PaperWire:
    """Answers as a server with that many ConfigMaps would, one page at a time."""

    is_open = True

    def __init__(self, objects: int) -> None:
        self._objects = objects

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, left: Left
    ) -> tuple[int, dict[str, str], bytes]:
        if method != "GET":
            raise AssertionError(f"a plan writes nothing, and this is {method} {target}")
        url = urlsplit(target)
        if url.path == "/api":
            return 200, _DISCOVERY_KIND, json.dumps(DISCOVERY).encode()
        if url.path.endswith("/configmaps"):
            query = parse_qs(url.query)
            start = int(query.get("continue", ["0"])[0])
            return 200, _JSON, _page(start, min(start + int(query["limit"][0]), self._objects), self._objects)
        return 200, _JSON, b'{"kind": "List", "items": []}'  # groups, and the workloads an owner is looked for in

    def open_stream(
        self, target: str, headers: Mapping[str, str], left: Left, quiet: float, on_quiet: Callable[[], None]
    ) -> tuple[int, Iterator[bytes]]:
        raise AssertionError(f"a plan watches nothing, and this is {target}")

    def cut(self) -> None: ...

    def close(self) -> None: ...


DISCOVERY: dict[str, Any] = {
    "kind": "APIGroupDiscoveryList",
    "apiVersion": "apidiscovery.k8s.io/v2",
    "items": [
        {
            "metadata": {},
            "versions": [
                {
                    "version": "v1",
                    "freshness": "Current",
                    "resources": [
                        {
                            "resource": "configmaps",
                            "singularResource": "configmap",
                            "scope": "Namespaced",
                            "responseKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
                            "verbs": ["delete", "get", "list", "patch", "watch"],
                        }
                    ],
                }
            ],
        }
    ],
}


def _page(start: int, end: int, objects: int) -> bytes:
    token = f', "continue": "{end}"' if end < objects else ""
    head = '{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "9"'
    items = ",".join(_ITEM % {"number": number, "release": number % 20} for number in range(start, end))
    return f'{head}{token}}}, "items": [{items}]}}'.encode()


# As large as a chart makes it: labels, annotations, an owner, managed fields and the last applied object.
_ITEM = json.dumps(
    {
        "metadata": {
            "name": "checkout-settings-%(number)06d",
            "namespace": "team-%(release)d",
            "uid": "00000000-0000-4000-8000-%(number)012d",
            "resourceVersion": "%(number)09d",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "deletionTimestamp": "2026-01-02T00:00:00Z",
            "deletionGracePeriodSeconds": 0,
            "finalizers": [FINALIZER],
            "labels": {
                "app.kubernetes.io/name": "checkout",
                "app.kubernetes.io/instance": "checkout-%(release)d",
                "app.kubernetes.io/managed-by": "Helm",
                "helm.sh/chart": "checkout-1.2.3",
            },
            "annotations": {
                "meta.helm.sh/release-name": "checkout-%(release)d",
                "kubectl.kubernetes.io/last-applied-configuration": "x" * 500,
            },
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "checkout", "uid": "owner-%(release)d"}
            ],
            "managedFields": [
                {
                    "manager": "helm",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "2026-01-01T00:00:00Z",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:metadata": {"f:finalizers": {".": {}, f'v:"{FINALIZER}"': {}}}},
                }
            ],
        }
    }
)


if __name__ == "__main__":
    main()
