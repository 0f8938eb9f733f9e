# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A product with an operator, as drain meets it: its kinds, its objects, and a controller that keeps a ledger."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs import drain
from integration.ranked import OnEvent
from integration.running import Result, run_job
from integration.stage import OPEN, Body, Stage, body, bring_to_life, deployment
from lab.plane.api import Api
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User
from lab.waiting import until

LEGACY, NEW = "k8s.ngrok.com/finalizer", "ngrok.com/finalizer"
GATEWAY = "gateway.networking.k8s.io"
NAME_LABEL, NAMESPACE_LABEL = "k8s.ngrok.com/controller-name", "k8s.ngrok.com/controller-namespace"
GATEWAY_EXISTS = "gateway-exists-finalizer.gateway.networking.k8s.io"

# group, kind, plural, version, scope
OPERATOR_KINDS = (
    ("ngrok.k8s.ngrok.com", "KubernetesOperator", "kubernetesoperators", "v1alpha1", "Namespaced"),
    ("ngrok.k8s.ngrok.com", "CloudEndpoint", "cloudendpoints", "v1alpha1", "Namespaced"),
    ("ngrok.k8s.ngrok.com", "AgentEndpoint", "agentendpoints", "v1alpha1", "Namespaced"),
    ("ingress.k8s.ngrok.com", "Domain", "domains", "v1alpha1", "Namespaced"),
    ("ingress.k8s.ngrok.com", "IPPolicy", "ippolicies", "v1alpha1", "Namespaced"),
    ("bindings.k8s.ngrok.com", "BoundEndpoint", "boundendpoints", "v1alpha1", "Namespaced"),
)
GATEWAY_KINDS = (
    (GATEWAY, "GatewayClass", "gatewayclasses", "v1", "Cluster"),
    (GATEWAY, "Gateway", "gateways", "v1", "Namespaced"),
    (GATEWAY, "HTTPRoute", "httproutes", "v1", "Namespaced"),
    (GATEWAY, "TCPRoute", "tcproutes", "v1alpha2", "Namespaced"),
    # As the standard channel of Gateway API 1.5 serves it; the shipped ngrok drain looks for v1alpha2 only.
    (GATEWAY, "TLSRoute", "tlsroutes", "v1", "Namespaced"),
)
API_VERSIONS = {
    kind: f"{group}/{version}" for group, kind, _plural, version, _scope in (*OPERATOR_KINDS, *GATEWAY_KINDS)
}


def definition(group: str, kind: str, plural: str, version: str, scope: str) -> Body:
    metadata: Body = {"name": f"{plural}.{group}"}
    if group == GATEWAY:  # the API server guards these groups
        metadata["annotations"] = {"api-approved.kubernetes.io": "https://example.org/not-the-real-one"}
    served = {"name": version, "served": True, "storage": True, "schema": OPEN, "subresources": {"status": {}}}
    names = {"plural": plural, "singular": kind.lower(), "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {"group": group, "scope": scope, "names": names, "versions": [served]},
    }


@pytest.fixture(scope="session")
def ngrok_kinds(plane: ControlPlane) -> None:
    """All kinds of the profile that the API server does not have by itself."""
    for entry in (*OPERATOR_KINDS, *GATEWAY_KINDS):
        plane.api.apply_crd(definition(*entry))


OPERATOR_NAMES = ("CloudEndpoint", "AgentEndpoint", "Domain", "IPPolicy", "BoundEndpoint")
ROUTES = ("HTTPRoute", "TCPRoute", "TLSRoute")


class Drainer:
    """Runs `drain`, by default as somebody who may do everything."""

    def __init__(self, plane: ControlPlane) -> None:
        self.user = plane.user("drainer", (MASTERS,))

    def __call__(
        self,
        profile: Any = "ngrok",
        *,
        check_mode: bool = False,
        user: User | None = None,
        kubeconfig: Any = None,
        stop: StopSign | None = None,
        on_event: OnEvent | None = None,
        **options: Any,
    ) -> Result:
        params = {"profile": profile, "timeout": 60, "settle": 0, **options}
        where = kubeconfig or (user or self.user).kubeconfig
        return run_job(drain.JOB, params, where, check_mode=check_mode, stop=stop, on_event=on_event)


@pytest.fixture
def drainer(plane: ControlPlane, ngrok_kinds: None) -> Drainer:
    return Drainer(plane)


# -- objects -----------------------------------------------------------------------------------------------------------


def marked(namespace: str, name: str = "ngrok-operator-manager") -> dict[str, str]:
    """The labels the operator puts on what it makes."""
    return {NAME_LABEL: name, NAMESPACE_LABEL: namespace}


def custom(
    kind: str, name: str, namespace: str, *finalizers: str, labels: Mapping[str, str] | None = None, **more: Any
) -> Body:
    return body(API_VERSIONS[kind], kind, name, namespace, *finalizers, labels=labels, **more)


def anchor(name: str, namespace: str, *finalizers: str, policy: str = "", **more: Any) -> Body:
    spec = {"drain": {"policy": policy}} if policy else {}
    return custom("KubernetesOperator", name, namespace, *finalizers, spec=spec, **more)


def ingress_class(name: str, controller: str = "k8s.ngrok.com/ingress-controller") -> Body:
    return body("networking.k8s.io/v1", "IngressClass", name, "", spec={"controller": controller})


def ingress(name: str, namespace: str, *finalizers: str, of_class: str = "") -> Body:
    spec: Body = {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}
    if of_class:
        spec["ingressClassName"] = of_class
    return body("networking.k8s.io/v1", "Ingress", name, namespace, *finalizers, spec=spec)


def service(name: str, namespace: str, *finalizers: str) -> Body:
    return body("v1", "Service", name, namespace, *finalizers, spec={"ports": [{"port": 80}]})


def gateway_class(name: str, *finalizers: str, controller: str = "ngrok.com/gateway-controller") -> Body:
    return custom("GatewayClass", name, "", *finalizers, spec={"controllerName": controller})


def gateway(name: str, namespace: str, *finalizers: str, of_class: str) -> Body:
    return custom("Gateway", name, namespace, *finalizers, spec={"gatewayClassName": of_class})


def route(kind: str, name: str, namespace: str, *finalizers: str, parents: list[Body]) -> Body:
    return custom(kind, name, namespace, *finalizers, spec={"parentRefs": parents})


def operator_deployment(stage: Stage, namespace: str) -> Body:
    """The operator's Deployment, with one available replica."""
    workload = deployment("ngrok-operator", namespace)
    workload["metadata"]["labels"] = {
        "app.kubernetes.io/name": "ngrok-operator",
        "app.kubernetes.io/component": "controller",
    }
    stage.put(workload)
    bring_to_life(stage, workload)
    return workload


def one_of_each(stage: Stage, *finalizers: str) -> tuple[list[Body], list[Body]]:
    """User's objects and operator's objects of every kind, all in order."""
    here = stage.namespace
    stage.put(ingress_class("ngrok"), gateway_class("ngrok"))
    user = stage.put(
        ingress("web", here, *finalizers, of_class="ngrok"),
        service("lb", here, *finalizers),
        gateway("gw", here, *finalizers, of_class="ngrok"),
        *(route(kind, "r", here, *finalizers, parents=[{"name": "gw"}]) for kind in ROUTES),
    )
    operator = stage.put(*(custom(kind, "o", here, *finalizers, labels=marked(here)) for kind in OPERATOR_NAMES))
    return user, operator


def set_status(stage: Stage, thing: Body, status: Mapping[str, Any]) -> None:
    answer = stage.api.patch(f"{stage.api.path_of(thing)}/status", {"status": dict(status)})
    assert answer[0] == 200, answer


def kind_row(result: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What the result says of one kind."""
    (row,) = [row for row in result["kinds"] if row["kind"] == kind]
    return dict(row)


@contextlib.contextmanager
def refusing(stage: Stage, thing: Body, expression: str, message: str, *operations: str) -> Iterator[None]:
    """An admission policy: what makes the expression false is refused. `thing` is of the kind, and itself refused."""
    name = f"refusing-{secrets.token_hex(4)}"
    version = "admissionregistration.k8s.io/v1"
    group, _slash, _version = thing["apiVersion"].rpartition("/")
    plural = stage.api.path_of(thing, collection=True).rpartition("/")[2]
    rule = {"apiGroups": [group], "apiVersions": ["*"], "resources": [plural], "operations": list(operations)}
    here = {"matchLabels": {"kubernetes.io/metadata.name": thing["metadata"]["namespace"]}}
    test = {"expression": expression, "message": message}
    spec = {"matchConstraints": {"resourceRules": [rule], "namespaceSelector": here}, "validations": [test]}
    parts = [body(version, "ValidatingAdmissionPolicy", name, "", spec=spec)]
    binding = {"policyName": name, "validationActions": ["Deny"]}
    parts.append(body(version, "ValidatingAdmissionPolicyBinding", name, "", spec=binding))
    stage.api.create(*parts)
    path = stage.api.path_of(thing)

    def in_force() -> bool:
        if "UPDATE" in operations:
            return stage.api.patch(path, {"metadata": {"labels": {"probe": "1"}}}, dryRun="All")[0] == 422
        return stage.api.delete(path, dryRun="All")[0] == 422

    try:
        until(in_force, "the policy to be in force", every=0.05)
        yield
    finally:
        for part in reversed(parts):
            stage.api.delete(stage.api.path_of(part))


# -- a controller ------------------------------------------------------------------------------------------------------


class FakeController:
    """Watches kinds like an operator would. Keeps a ledger of what exists "outside", and cleans it up on deletion.

    `ledger` holds the uid of every object that carries the finalizer; a healthy controller erases the entry before it
    takes the finalizer off a deleted object. Modes: how long that takes, how often it fails first, whether it puts
    finalizers back on live objects, whether it makes deleted objects again.
    """

    def __init__(
        self,
        api: Api,
        paths: list[str],
        finalizer: str = LEGACY,
        *,
        delay: float = 0.0,
        failures: int = 0,
        adds_back: int = 0,
        recreates: int = 0,
    ) -> None:
        self._api = api
        self._paths = paths
        self._finalizer = finalizer
        self._delay = delay
        self._failures = failures
        self._adds_back = adds_back
        self._recreates = recreates
        self._seen: set[str] = set()
        self._present: dict[str, tuple[str, Body]] = {}  # uid → path, object
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._follow, args=(path,), daemon=True) for path in paths]
        self.ledger: set[str] = set()
        self.cleaned: list[str] = []
        self.made_again: list[str] = []  # their paths

    def __enter__(self) -> FakeController:
        for path in self._paths:
            for item in self._api.get(path)[1].get("items") or ():
                self._note(item)
        for thread in self._threads:
            thread.start()
        return self

    def retire(self) -> None:
        """From now on it does nothing any more."""
        self._ended.set()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(5)
        for place in set(self.made_again):  # the stage does not know of them
            self._api.delete(place)
            self._api.patch(place, {"metadata": {"finalizers": None}})

    def _note(self, item: Body) -> None:
        if self._finalizer in (item["metadata"].get("finalizers") or ()):
            self.ledger.add(item["metadata"]["uid"])

    def _follow(self, path: str) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(Exception):
                self._catch_up(path)
                for event in self._api.watch(path, seconds=1):
                    if self._ended.is_set():
                        return
                    self._on(path, event)

    def _catch_up(self, path: str) -> None:
        """What went between two watches is in neither of them."""
        there = {item["metadata"]["uid"] for item in self._api.get(path)[1]["items"]}
        for uid in [uid for uid, (where, _item) in self._present.items() if where == path and uid not in there]:
            self._make_again(path, self._present.pop(uid)[1])

    def _on(self, path: str, event: Body) -> None:
        item = event["object"]
        metadata = item["metadata"]
        finalizers = metadata.get("finalizers") or []
        place = f"{path}/{metadata['name']}"
        if event["type"] == "DELETED":
            self._present.pop(metadata["uid"], None)
            self._make_again(path, item)
            return
        self._present[metadata["uid"]] = path, item
        if metadata.get("deletionTimestamp"):
            if self._finalizer in finalizers:
                self._clean(place, item)
        elif self._finalizer in finalizers:
            with self._lock:
                self.ledger.add(metadata["uid"])
                self._seen.add(metadata["uid"])
        elif metadata["uid"] in self._seen and self._adds_back > 0:
            self._adds_back -= 1
            self._api.patch(
                place, {"metadata": {"finalizers": [*finalizers, self._finalizer]}}, fieldManager="late-pod"
            )

    def _clean(self, place: str, item: Body) -> None:
        with self._lock:
            if self._failures > 0:
                self._failures -= 1
                threading.Timer(0.2, self._clean, (place, item)).start()
                return
        self._ended.wait(self._delay)
        with self._lock:
            self.ledger.discard(item["metadata"]["uid"])
            self.cleaned.append(item["metadata"]["name"])
        left = [name for name in item["metadata"]["finalizers"] if name != self._finalizer]
        self._api.patch(place, {"metadata": {"finalizers": left}})

    def _make_again(self, path: str, item: Body) -> None:
        if self._recreates <= 0 or self._ended.is_set():
            return
        self._recreates -= 1
        metadata = {key: item["metadata"].get(key) for key in ("name", "namespace", "labels")}
        again = {**item, "metadata": {**metadata, "finalizers": [self._finalizer]}}
        status, _answer = self._api.post(path, again)
        if status == 201:
            self.made_again.append(f"{path}/{metadata['name']}")


@contextlib.contextmanager
def controller(stage: Stage, namespace: str, *kinds: str, **modes: Any) -> Iterator[FakeController]:
    """A controller for these kinds in one namespace."""
    plurals = {
        kind: f"/apis/{group}/{version}/namespaces/{namespace}/{plural}"
        for group, kind, plural, version, _scope in (*OPERATOR_KINDS, *GATEWAY_KINDS)
    }
    plurals["Ingress"] = f"/apis/networking.k8s.io/v1/namespaces/{namespace}/ingresses"
    plurals["Service"] = f"/api/v1/namespaces/{namespace}/services"
    with FakeController(stage.api, [plurals[kind] for kind in kinds], **modes) as running:
        yield running
