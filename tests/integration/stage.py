# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test puts on the stage: objects that hang, controllers that live or are dead. All of it is cleared afterwards.

Everything goes through the lab's own client, as the administrator: the product has no part in it.
"""

from __future__ import annotations

import datetime
import functools
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest

from lab.plane.controlplane import ControlPlane
from lab.plane.namespaces import delete_namespace
from lab.waiting import until

Body = dict[str, Any]
GROUP = "lab.example.com"
WIDGETS = f"widgets.{GROUP}"
CLEANUP = "keeper.example.com/cleanup"  # nobody in the cluster fits it, so nobody is alive behind it
FOREIGN = "foreign.example.org/hold"
GUARD = "service.kubernetes.io/load-balancer-cleanup"  # of money
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
APISERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
OPEN = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}


def crd(
    kind: str = "Widget", group: str = GROUP, *, scope: str = "Namespaced", schema: Mapping[str, Any] | None = None
) -> Body:
    """Served in two versions, and known in a third that is not served any more."""
    plural = f"{kind.lower()}s"
    versions = [
        {"name": "v1", "served": True, "storage": True},
        {"name": "v1beta1", "served": True, "storage": False},
        {"name": "v1alpha1", "served": False, "storage": False},
    ]
    shared = {"schema": OPEN if schema is None else schema, "subresources": {"status": {}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [{**version, **shared} for version in versions],
        },
    }


def widget(name: str, namespace: str, *finalizers: str, labels: Mapping[str, str] | None = None, **more: Any) -> Body:
    return body(f"{GROUP}/v1", "Widget", name, namespace, *finalizers, labels=labels, **more)


def gadget(name: str, *finalizers: str) -> Body:
    """Of a cluster-scoped kind."""
    return body(f"{GROUP}/v1", "Gadget", name, "", *finalizers)


def config_map(name: str, namespace: str, *finalizers: str, labels: Mapping[str, str] | None = None) -> Body:
    return body("v1", "ConfigMap", name, namespace, *finalizers, labels=labels)


def body(
    api_version: str,
    kind: str,
    name: str,
    namespace: str,
    *finalizers: str,
    labels: Mapping[str, str] | None = None,
    **more: Any,
) -> Body:
    metadata: Body = {"name": name, "finalizers": list(finalizers), "labels": dict(labels or {})}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


class Stage:
    """One test's namespaces and objects."""

    def __init__(self, plane: ControlPlane) -> None:
        self.api = plane.api
        self._plane = plane
        self._namespaces: list[str] = []
        self._collections: set[str] = set()
        self._mine: set[str] = set()
        self._afterwards: list[Callable[[], Any]] = []

    # -- putting things there ----------------------------------------------------------------------------------------

    @functools.cached_property
    def namespace(self) -> str:
        """The test's own namespace, made when it is first asked for."""
        return self.another_namespace()

    def another_namespace(self) -> str:
        name = f"stage-{secrets.token_hex(5)}"
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self._namespaces.append(name)
        return name

    def put(self, *bodies: Body, manager: str = "lab") -> list[Body]:
        """Create these objects, as this field manager, and return them as the server has them."""

        def create(one: Body) -> Body:
            path = self.api.path_of(one, collection=True)
            status, made = self.api.post(path, one, fieldManager=manager)
            assert status == 201, made
            return made

        self._collections.update(self.api.path_of(one, collection=True) for one in bodies)
        made = _each(create, bodies)
        self._mine.update(one["metadata"]["uid"] for one in made)
        return made

    def hang(self, *bodies: Body, manager: str = "lab") -> list[Body]:
        """Create these objects and delete them, so that their finalizers hold them; as they are then."""
        made = self.put(*bodies, manager=manager)

        def delete(one: Body) -> Body:
            status, left = self.api.delete(self.api.path_of(one))
            assert status == 200, left
            return left

        return _each(delete, made)

    # -- looking -----------------------------------------------------------------------------------------------------

    def find(self, thing: Body) -> Body | None:
        """This object as it is now; None when there is none of that name or when it is another one by now."""
        status, seen = self.api.get(self.api.path_of(thing))
        assert status in (200, 404), seen
        same = status == 200 and seen["metadata"]["uid"] == thing["metadata"].get("uid", seen["metadata"]["uid"])
        return seen if same else None

    def look(self, thing: Body) -> Body:
        seen = self.find(thing)
        assert seen is not None, f"{thing['kind']} {thing['metadata']['name']} is gone"
        return seen

    def finalizers(self, thing: Body) -> list[str]:
        found: list[str] = self.look(thing)["metadata"].get("finalizers", [])
        return found

    def is_gone(self, thing: Body) -> bool:
        return self.find(thing) is None

    def versions(self, things: Iterable[Body]) -> list[str]:
        """Their resourceVersions: unequal afterwards means that somebody wrote."""
        return [self.look(thing)["metadata"]["resourceVersion"] for thing in things]

    # -- changing them behind the product's back ---------------------------------------------------------------------

    def release(self, thing: Body) -> None:
        """Take all finalizers off, as the controllers behind them would."""
        self.api.patch(self.api.path_of(thing), {"metadata": {"finalizers": None}})

    def afterwards(self, act: Callable[[], Any]) -> None:
        """To be done before the stage is cleared."""
        self._afterwards.append(act)

    def clear(self) -> None:
        """Nothing of this test stays, whatever it left half done."""
        for act in self._afterwards:
            act()

        def remove(path: str) -> None:
            self.api.delete(path, gracePeriodSeconds=0)
            # An admission policy of the test may be in force for a moment after it was deleted.
            freed = {"metadata": {"finalizers": None}}
            until(lambda: self.api.patch(path, freed)[0] in (200, 404), f"{path} to be freed")

        for collection in self._collections:
            status, listed = self.api.get(collection)
            found = [one["metadata"] for one in listed.get("items") or ()] if status == 200 else []
            _each(remove, [f"{collection}/{quote(one['name'], safe=':')}" for one in found if one["uid"] in self._mine])
        for name in self._namespaces:
            delete_namespace(self._plane, name)


@pytest.fixture(scope="session")
def kinds(plane: ControlPlane) -> None:
    """Our two own kinds: Widget in namespaces, Gadget of the whole cluster."""
    plane.api.apply_crd(crd("Widget"))
    plane.api.apply_crd(crd("Gadget", scope="Cluster"))


@pytest.fixture(scope="session")
def narrow_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A second control plane: it lets in few requests at once, and without controllers nothing happens by itself."""
    flags = [
        "--enable-priority-and-fairness=false",
        "--max-mutating-requests-inflight=2",
        "--max-requests-inflight=4",
    ]
    directory = tmp_path_factory.mktemp("narrow-plane")
    with ControlPlane.start(directory, apiserver_flags=flags, controller_manager=False) as running:
        running.api.apply_crd(crd("Widget"))
        yield running


@pytest.fixture(scope="module")
def second_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Another cluster, without controllers: nothing in it happens by itself, and it may be restarted."""
    with ControlPlane.start(tmp_path_factory.mktemp("second"), controller_manager=False) as running:
        running.api.apply_crd(crd("Widget"))
        yield running


@pytest.fixture
def elsewhere(second_plane: ControlPlane) -> Iterator[Stage]:
    there = Stage(second_plane)
    yield there
    there.clear()


@pytest.fixture
def stage(plane: ControlPlane, kinds: None) -> Iterator[Stage]:
    here = Stage(plane)
    yield here
    here.clear()


@pytest.fixture
def dead_group(plane: ControlPlane) -> Iterator[str]:
    """An API group whose server does not exist."""
    group = "dead.example.com"
    name = f"v1.{group}"
    service = {"name": "nobody", "namespace": "default"}
    spec = {
        "group": group,
        "version": "v1",
        "service": service,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
    }
    api = plane.api
    api.create(body("apiregistration.k8s.io/v1", "APIService", name, "", spec=spec))
    until(lambda: api.get(f"/apis/{group}/v1")[0] == 503, "the group to be announced")
    yield group
    api.delete(f"{APISERVICES}/{name}")
    until(lambda: api.get(f"/apis/{group}/v1")[0] == 404, "the group to be withdrawn")


# -- controllers -----------------------------------------------------------------------------------------------------


def deployment(
    name: str,
    namespace: str,
    *,
    container: str = "main",
    image: str = "example/main:1",
    replicas: int = 1,
    account: str = "",
) -> Body:
    labels = {"run": name}
    pod: Body = {"containers": [{"name": container, "image": image}], "automountServiceAccountToken": False}
    if account:
        pod["serviceAccountName"] = account
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return body("apps/v1", "Deployment", name, namespace, spec=spec)


def bring_to_life(stage: Stage, workload: Body) -> None:
    """There are no nodes, so play the kubelet: report the pod as ready, and its controllers count it as available."""
    api, namespace, name = stage.api, workload["metadata"]["namespace"], workload["metadata"]["name"]
    pods = f"/api/v1/namespaces/{namespace}/pods"

    def first_pod() -> Body | None:
        _status, listed = api.get(pods, labelSelector=f"run={name}")
        return next(iter(listed["items"] or ()), None)

    pod = until(first_pod, f"a pod of {name}", every=0.05)
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": _rfc3339(0)}
    status = {"phase": "Running", "conditions": [ready]}
    answer = api.patch(f"{pods}/{pod['metadata']['name']}/status", {"status": status})
    assert answer[0] == 200, answer
    until(
        lambda: stage.look(workload).get("status", {}).get("availableReplicas"),
        f"{name} to be available",
        timeout=30,
        every=0.05,
    )


def lease(name: str, namespace: str, *, renewed_ago: float, holder: str = "pod-0") -> Body:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": _rfc3339(renewed_ago)}
    return body("coordination.k8s.io/v1", "Lease", name, namespace, spec=spec)


def _rfc3339(ago: float) -> str:
    moment = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=ago)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _each(work: Any, things: Sequence[Any]) -> list[Any]:
    if len(things) < 3:
        return [work(thing) for thing in things]
    with ThreadPoolExecutor(8, thread_name_prefix="stage") as pool:
        return list(pool.map(work, things))
