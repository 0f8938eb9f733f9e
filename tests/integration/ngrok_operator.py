# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ngrok operator 0.22 (chart 0.24), played: what its source does, as far as a teardown meets it.

Its module is not to be had from the Go proxy, so neither its program nor its definitions can be. Read in its source and
played here: `internal/drain`, `internal/controller/{service,bindings,ngrok,ingress,agent}`, `cmd/*-manager.go`, the
chart. Three Deployments with the chart's labels; each is a program that lives while it has a pod. The manager has the
anchor, which drains, and controllers that look at that: of CloudEndpoint, Domain, IPPolicy; and two that do not, which
put their finalizer back whatever the anchor says: of Service and of BoundEndpoint. The agent has AgentEndpoint.
A write that is refused is tried again after 5 ms, and twice as long each time, as in every controller-runtime.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import threading
import time
from collections.abc import Callable

from integration.products import API_VERSIONS, LEGACY, OPERATOR_KINDS, marked
from integration.stage import Body, Stage, body, deployment
from lab.plane.api import Api
from lab.waiting import until

MANAGER, AGENT, FORWARDER = "controller", "agent", "bindings-forwarder"  # app.kubernetes.io/component
DEPLOYMENTS = {MANAGER: "manager", AGENT: "agent", FORWARDER: "bindings-forwarder"}
FIELD_MANAGER = "ngrok-operator"
LOAD_BALANCER_CLASS = "ngrok"
_FIRST_RETRY, _LAST_RETRY = 0.005, 1000.0  # controller-runtime's: 5 ms, doubled each time
_LOOK = 0.1
_DRAINED_KINDS = (
    ("Ingress", False),
    ("Service", False),
    ("CloudEndpoint", True),
    ("AgentEndpoint", True),
    ("Domain", True),
    ("IPPolicy", True),
    ("BoundEndpoint", True),
)  # in the order of its drain; those that are True are deleted by policy Delete


def load_balancer(name: str, namespace: str, *finalizers: str) -> Body:
    """A user's Service that ngrok answers for."""
    spec = {"type": "LoadBalancer", "loadBalancerClass": LOAD_BALANCER_CLASS, "ports": [{"port": 80}]}
    return body("v1", "Service", name, namespace, *finalizers, spec=spec)


def chart_labels(component: str = "", name: str = "ngrok-operator") -> dict[str, str]:
    labels = {"app.kubernetes.io/name": "ngrok-operator", "app.kubernetes.io/instance": name}
    return {**labels, "app.kubernetes.io/component": component} if component else labels


class NgrokOperator:
    """One installation: put there by the first `with`, it works until the end of it.

    `watched` are the namespaces whose objects it cares for, besides its own. `dials_for` is how long its test of a
    BoundEndpoint takes, which fails: no forwarder listens here. It looks again after that, for ever.
    """

    def __init__(
        self,
        stage: Stage,
        namespace: str,
        *watched: str,
        name: str = "ngrok-operator",
        policy: str = "",
        dials_for: float = 1.0,
        drains_after: float = 0.3,
        anchored: bool = True,
    ) -> None:
        self.api: Api = stage.api
        self.stage = stage
        self.namespace, self.name = namespace, name
        self.watched = (namespace, *watched)
        self.policy = policy
        self.outside: dict[str, str] = {}  # what exists at ngrok: id → "Kind namespace/name"
        self.deleted_outside: list[str] = []
        self.dials_for, self.drains_after, self.anchored = dials_for, drains_after, anchored
        self._ended = threading.Event()
        self.manager, self.agent = _Program(self, MANAGER), _Program(self, AGENT)
        self._controllers = [
            _Controller(self, self.manager, "Service", self._service, _any_change),
            _Controller(self, self.manager, "BoundEndpoint", self._bound_endpoint, _spec_or_annotations),
            _Controller(self, self.manager, "KubernetesOperator", self._anchor, _spec_or_annotations),
            *(
                _Controller(self, self.manager, kind, self._respectful, _spec_or_annotations)
                for kind in ("CloudEndpoint", "Domain", "IPPolicy")
            ),
            _Controller(self, self.agent, "AgentEndpoint", self._respectful, _spec_or_annotations),
        ]
        self._threads: list[threading.Thread] = []

    # -- installing, living, going -------------------------------------------------------------------------------------

    def deployments(self) -> dict[str, Body]:
        """As the chart writes them."""
        found = {}
        for component, suffix in DEPLOYMENTS.items():
            made = deployment(f"{self.name}-{suffix}", self.namespace, container="ngrok-operator")
            selector = chart_labels(component, self.name)
            made["metadata"]["labels"] = {
                "helm.sh/chart": "ngrok-operator-0.24.0",
                **selector,
                "app.kubernetes.io/version": "0.22.0",
                "app.kubernetes.io/part-of": "ngrok-operator",
                "app.kubernetes.io/managed-by": "Helm",
            }
            made["spec"]["selector"]["matchLabels"] = selector
            made["spec"]["template"]["metadata"]["labels"] = selector
            found[component] = made
        return found

    def __enter__(self) -> NgrokOperator:
        self.stage.put(*self.deployments().values(), manager="helm")
        self._threads = [threading.Thread(target=self._play_the_kubelet, daemon=True)]
        self._threads += [threading.Thread(target=one.work, daemon=True) for one in self._controllers]
        watches = [(one, path) for one in self._controllers for path in one.paths]
        watching = [threading.Thread(target=one.follow, args=(path,), daemon=True) for one, path in watches]
        for thread in (*self._threads, *watching):
            thread.start()
        everybody = (self.manager, self.agent)
        until(lambda: all(one.alive for one in everybody), "the operator's pods", every=0.05)
        until(lambda: all(self._available(one.component) for one in everybody), "the operator to be available")
        if self.anchored:
            until(lambda: self.anchor_status().get("id"), "the operator to be registered", every=0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:  # those that only watch end with their next event
            thread.join(10)
        for item in self._objects():  # so that the namespaces can go
            if item["metadata"].get("finalizers"):
                self.api.patch(self._place(item), {"metadata": {"finalizers": None}})

    def scale(self, component: str, replicas: int) -> None:
        """As a person would, and until it is so."""
        path = self.api.path_of(self.deployments()[component])
        assert self.api.patch(path, {"spec": {"replicas": replicas}})[0] == 200
        until(lambda: self._available(component) == replicas, f"{component} to be scaled to {replicas}", every=0.05)
        if component != FORWARDER:
            program = self.manager if component == MANAGER else self.agent
            until(lambda: program.alive == bool(replicas), f"{component} to live or not", every=0.05)

    def replicas(self) -> dict[str, int]:
        """What is wanted of each Deployment; those that are gone are left out."""
        found = {component: self.api.get(self.api.path_of(one)) for component, one in self.deployments().items()}
        return {component: one["spec"]["replicas"] for component, (status, one) in found.items() if status == 200}

    def anchor_body(self) -> Body:
        return body(API_VERSIONS["KubernetesOperator"], "KubernetesOperator", self.name, self.namespace)

    def anchor_status(self) -> Body:
        answer, item = self.api.get(self.api.path_of(self.anchor_body()))
        return item.get("status") or {} if answer == 200 else {}

    def bind(self, url: str, service: str, namespace: str) -> Body:
        """A BoundEndpoint as its poller makes one: named by the hash, without labels and without an owner."""
        name = f"ngrok-{hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()}"
        target = {"protocol": "TCP", "namespace": namespace, "service": service, "port": 80}
        spec = {"endpointURL": url, "scheme": "http", "port": 10000, "target": target}
        one = {"metadata": {"name": name, "namespace": self.namespace}, "spec": spec}
        one = {"apiVersion": API_VERSIONS["BoundEndpoint"], "kind": "BoundEndpoint", **one}
        status, made = self.api.post(self.api.path_of(one, collection=True), one, fieldManager=FIELD_MANAGER)
        assert status == 201, made
        until(lambda: self.stage.find(self._services_of(made)[0]), "the binding's Services", every=0.05)
        return made

    def holds(self) -> list[str]:
        """Every object in its namespaces that carries its finalizer."""
        return sorted(_name(item) for item in self._objects() if LEGACY in _finalizers(item))

    def touch(self) -> None:
        """Change every object in its namespaces and remove its finalizers: running controllers reconcile it."""
        for item in self._objects():
            change = {"metadata": {"finalizers": None, "annotations": {"example.com/touched": "yes"}}}
            assert self.api.patch(self._place(item), change)[0] == 200, _name(item)

    # -- its controllers -----------------------------------------------------------------------------------------------

    def _service(self, program: _Program, item: Body) -> float | None:
        """Knows nothing of a drain. Any change of the Service, or of an endpoint it made for it, calls it."""
        handled = item["spec"].get("type") == "LoadBalancer" and (
            item["spec"].get("loadBalancerClass") == LOAD_BALANCER_CLASS
        )
        uid = item["metadata"]["uid"]
        mine = [one for one in self._all("AgentEndpoint") if uid in (owner["uid"] for owner in _owners(one))]
        if item["metadata"].get("deletionTimestamp") or not handled:
            for one in mine:
                program.write("DELETE", self._place(one))
            if mine:
                return 0.5  # it waits until they are gone
            self._take_off(program, item)
            return None
        self._put_on(program, item)
        if not mine:
            owner = {"apiVersion": "v1", "kind": "Service", "name": item["metadata"]["name"], "uid": uid}
            metadata = {
                "generateName": f"{item['metadata']['name']}-",
                "namespace": item["metadata"]["namespace"],
                "labels": marked(self.namespace, f"{self.name}-manager"),
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            }
            spec = {"url": f"tls://{item['metadata']['name']}.example.com:443", "upstream": {"url": "tcp://lb:80"}}
            one = {"apiVersion": API_VERSIONS["AgentEndpoint"], "kind": "AgentEndpoint", "metadata": metadata}
            program.write("POST", self.api.path_of(one, collection=True), {**one, "spec": spec})
        return None

    def _bound_endpoint(self, program: _Program, item: Body) -> float | None:
        """Knows nothing of a drain either, and is called again as long as the endpoint cannot be dialled."""
        target, upstream = self._services_of(item)
        if item["metadata"].get("deletionTimestamp"):
            if LEGACY in _finalizers(item):
                for one in (target, upstream):
                    program.write("DELETE", self.api.path_of(one), fine=(200, 404))
                self._take_off(program, item)
            return None
        self._put_on(program, item)
        for one in (upstream, target):
            if self.api.get(self.api.path_of(one))[0] == 404:
                program.write("POST", self.api.path_of(one, collection=True), one)
        if program.rest(self.dials_for):
            raise _Retry("the endpoint cannot be dialled")
        return None

    def _respectful(self, program: _Program, item: Body) -> float | None:
        """Once the operator drains, it only cares for what is being deleted."""
        deleted = item["metadata"].get("deletionTimestamp")
        if not deleted and program.drains():
            return None
        if deleted:
            if LEGACY in _finalizers(item):
                self._delete_outside(item)
                self._take_off(program, item)
            return None
        self._put_on(program, item)
        if item["kind"] != "AgentEndpoint" and not (item.get("status") or {}).get("id"):
            program.write("PATCH", f"{self._place(item)}/status", {"status": {"id": self._make_outside(item)}})
        return None

    def _anchor(self, program: _Program, item: Body) -> float | None:
        if item["metadata"]["name"] != self.name:
            return None
        place = self._place(item)
        if not item["metadata"].get("deletionTimestamp"):
            self._put_on(program, item)
            if not (item.get("status") or {}).get("id"):
                program.write("PATCH", f"{place}/status", {"status": {"id": self._make_outside(item)}})
            return None
        if LEGACY not in _finalizers(item):
            return None
        self._set_draining(program, place, "True", "DrainInProgress")
        program.draining = True
        program.rest(self.drains_after)  # so that the agent sees it too
        self._drain(program, (item["spec"].get("drain") or {}).get("policy") or "Retain")
        self._set_draining(program, place, "False", "DrainCompleted")
        self._delete_outside(item)
        self._take_off(program, item)
        return None

    def _drain(self, program: _Program, policy: str) -> None:
        for kind, is_own in _DRAINED_KINDS:
            for item in self._all(kind):
                if LEGACY not in _finalizers(item):
                    continue
                if not is_own or policy == "Retain":
                    self._take_off(program, item)
                    continue
                program.write("DELETE", self._place(item), fine=(200, 404))
                while self.api.get(self._place(item))[1].get("metadata", {}).get("uid") == item["metadata"]["uid"]:
                    program.rest(_LOOK)  # its controller cleans up first

    def _set_draining(self, program: _Program, place: str, status: str, reason: str) -> None:
        condition = {"type": "Draining", "status": status, "reason": reason, "message": reason}
        condition["lastTransitionTime"] = _now()
        program.write("PATCH", f"{place}/status", {"status": {"conditions": [condition]}})

    # -- the small things they all do ----------------------------------------------------------------------------------

    def _put_on(self, program: _Program, item: Body) -> None:
        names = _finalizers(item)
        if LEGACY not in names:
            program.write("PATCH", self._place(item), {"metadata": {"finalizers": [*names, LEGACY]}})

    def _take_off(self, program: _Program, item: Body) -> None:
        names = _finalizers(item)
        if LEGACY in names:
            left = [name for name in names if name != LEGACY]
            program.write("PATCH", self._place(item), {"metadata": {"finalizers": left or None}}, fine=(200, 404))

    def _make_outside(self, item: Body) -> str:
        made = f"{item['kind'].lower()}_{item['metadata']['uid'][:8]}"
        self.outside[made] = _name(item)
        return made

    def _delete_outside(self, item: Body) -> None:
        found = (item.get("status") or {}).get("id")
        if found and self.outside.pop(found, None):
            self.deleted_outside.append(_name(item))

    def _services_of(self, item: Body) -> tuple[Body, Body]:
        """The two Services of a BoundEndpoint: an alias in the user's namespace, and what it points to."""
        name, target = item["metadata"]["name"], item["spec"]["target"]
        labels = {"app.kubernetes.io/managed-by": "ngrok-operator"}
        for prefix in ("ngrok.com", "bindings.k8s.ngrok.com"):
            labels[f"{prefix}/endpoint-binding-name"] = name
            labels[f"{prefix}/endpoint-binding-namespace"] = self.namespace
        port = {"name": item["spec"]["scheme"], "port": target["port"], "targetPort": target["port"]}
        alias = {"type": "ExternalName", "externalName": f"{name}.{self.namespace}.svc.cluster.local", "ports": [port]}
        pods = {"type": "ClusterIP", "selector": {"app.kubernetes.io/component": FORWARDER}, "ports": [port]}
        return (
            body("v1", "Service", target["service"], target["namespace"], labels=labels, spec=alias),
            body("v1", "Service", name, self.namespace, labels=labels, spec=pods),
        )

    def _place(self, item: Body) -> str:
        return self.api.path_of(item)

    def _objects(self) -> list[Body]:
        kinds = (*(kind for _group, kind, *_more in OPERATOR_KINDS), "Service", "Ingress")
        return [item for kind in kinds for item in self._all(kind)]

    def _all(self, kind: str) -> list[Body]:
        version = {"Service": "v1", "Ingress": "networking.k8s.io/v1", **API_VERSIONS}[kind]
        found = []
        for namespace in self.watched:
            probe = {"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace}}
            with contextlib.suppress(Exception):  # its definition is gone
                listed = self.api.get(self.api.path_of(probe, collection=True))[1]
                found += [{"apiVersion": version, "kind": kind, **item} for item in listed.get("items") or ()]
        return found

    def _available(self, component: str) -> int:
        answer, item = self.api.get(self.api.path_of(self.deployments()[component]))
        return int(item.get("status", {}).get("availableReplicas") or 0) if answer == 200 else 0

    # -- its pods ------------------------------------------------------------------------------------------------------

    def _play_the_kubelet(self) -> None:
        """There are no nodes: pods become ready, and programs begin and end with them."""
        pods = f"/api/v1/namespaces/{self.namespace}/pods"
        selector = ",".join(f"{key}={value}" for key, value in chart_labels(name=self.name).items())
        while not self._ended.wait(_LOOK):
            with contextlib.suppress(Exception):
                listed = self.api.get(pods, labelSelector=selector)[1]["items"]
                for pod in listed:
                    if not (pod.get("status") or {}).get("conditions"):
                        ready = {"type": "Ready", "status": "True", "lastTransitionTime": _now()}
                        status = {"status": {"phase": "Running", "conditions": [ready]}}
                        self.api.patch(f"{pods}/{pod['metadata']['name']}/status", status)
                for program in (self.manager, self.agent):
                    names = [pod["metadata"]["name"] for pod in listed if _is_pod_of(pod, program.component)]
                    if program.lives(bool(names)):
                        self._begin(program)
                    if names and program is self.manager:
                        self._renew_the_lease(names[0])

    def _begin(self, program: _Program) -> None:
        """A new program knows nothing: it meets every object for the first time."""
        for one in self._controllers:
            if one.program is program:
                one.forget()
        if program is not self.manager:
            return
        if self.anchored:
            spec = {"enabledFeatures": ["ingress", "bindings"], "deployment": {"name": self.name}}
            spec["binding"] = {"tlsSecretName": f"{self.name}-default-tls"}
            if self.policy:
                spec["drain"] = {"policy": self.policy}
            self._create({**self.anchor_body(), "spec": spec})
        secret = body("v1", "Secret", f"{self.name}-default-tls", self.namespace, type="kubernetes.io/tls")
        self._create({**secret, "data": {"tls.crt": "", "tls.key": ""}})

    def _renew_the_lease(self, holder: str) -> None:
        spec = {"holderIdentity": f"{holder}_{self.name}", "leaseDurationSeconds": 15, "renewTime": _now()}
        lease = body("coordination.k8s.io/v1", "Lease", f"{self.name}-leader", self.namespace, spec=spec)
        if self.api.patch(self.api.path_of(lease), {"spec": spec}, fieldManager=FIELD_MANAGER)[0] != 404:
            return
        # A pod that the ReplicaSet puts in the place of a deleted one gets no time to start: that is deleted as well.
        if self.api.get(self.api.path_of(self.deployments()[MANAGER]))[0] == 200:
            self._create(lease)

    def _create(self, one: Body) -> None:
        self.api.post(self.api.path_of(one, collection=True), one, fieldManager=FIELD_MANAGER)

    @property
    def ended(self) -> bool:
        return self._ended.is_set()


class _Retry(Exception):
    """Back into the queue."""


class _Killed(Exception):
    """Its pod is gone."""


class _Program:
    """What runs in the pods of one Deployment. It knows whether it drains until it ends."""

    def __init__(self, operator: NgrokOperator, component: str) -> None:
        self._operator = operator
        self.component = component
        self.alive = False
        self.draining = False

    def lives(self, alive: bool) -> bool:
        """Whether it begins just now."""
        begins = alive and not self.alive
        self.draining = self.draining and not begins
        self.alive = alive
        return begins

    def drains(self) -> bool:
        """Remembered, or said by the anchor's condition. Without an anchor nothing says so."""
        conditions = self._operator.anchor_status().get("conditions") or ()
        said = any(one["type"] == "Draining" and one["status"] == "True" for one in conditions)
        self.draining = self.draining or said
        return self.draining

    def write(self, method: str, path: str, sent: object = None, fine: tuple[int, ...] = (200, 201)) -> None:
        if not self.alive or self._operator.ended:
            raise _Killed
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        # With a body the server ignores the query of a DELETE, and it has no field manager.
        query = {} if method == "DELETE" else {"fieldManager": FIELD_MANAGER}
        status, answer = self._operator.api.request(method, path, sent, query=query, content_type=kind)
        if status not in fine:
            raise _Retry(answer.get("message") or str(status))

    def rest(self, seconds: float) -> bool:
        """Takes its time; True unless it ended meanwhile."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.alive or self._operator.ended:
                raise _Killed
            time.sleep(min(_LOOK, seconds))
        return True


class _Controller:
    """A watch of one kind, and a queue with what was refused."""

    def __init__(
        self,
        operator: NgrokOperator,
        program: _Program,
        kind: str,
        reconcile: Callable[[_Program, Body], float | None],
        mark: Callable[[Body], object],
    ) -> None:
        self._operator, self.program, self._kind = operator, program, kind
        self._reconcile, self._mark = reconcile, mark
        self._seen: dict[str, object] = {}  # uid → what it looked like
        self._due: dict[tuple[str, str], float] = {}  # namespace and name → when
        self._failures: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()
        self._restart = 0

    def forget(self) -> None:
        with self._lock:
            self._seen, self._due, self._failures = {}, {}, {}
            self._restart += 1

    @property
    def paths(self) -> list[str]:
        """What it watches: its kind, and what belongs to an object of it."""
        plurals = {kind: f"/apis/{group}/{version}/{plural}" for group, kind, plural, version, _scope in OPERATOR_KINDS}
        return ["/api/v1/services", plurals["AgentEndpoint"]] if self._kind == "Service" else [plurals[self._kind]]

    def follow(self, path: str) -> None:
        while not self._operator.ended:
            began = self._restart
            with contextlib.suppress(Exception):  # the kind is not served (any more)
                for event in self._operator.api.watch(path, seconds=5):
                    if self._operator.ended or began != self._restart:
                        break
                    if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
                        self._on(event)
            time.sleep(0.02)

    def _on(self, event: Body) -> None:
        item = event["object"]
        metadata = item["metadata"]
        if metadata["namespace"] not in self._operator.watched or not self.program.alive:
            return
        if item["kind"] != self._kind:  # an endpoint that belongs to a Service
            mark: object = (event["type"], metadata["resourceVersion"])
            names = [owner["name"] for owner in _owners(item) if owner["kind"] == "Service"]
        else:
            mark = self._mark(item)
            names = [metadata["name"]] if event["type"] != "DELETED" else []
        with self._lock:
            if self._seen.get(metadata["uid"]) == mark:
                return
            self._seen[metadata["uid"]] = mark
            for name in names:
                self._due.setdefault((metadata["namespace"], name), 0.0)

    def work(self) -> None:
        while not self._operator.ended:
            key = self._next()
            if key is None or not self.program.alive:
                time.sleep(0.02)
                continue
            again = self._once(key)
            if again is not None:
                with self._lock:
                    self._due[key] = min(self._due.get(key, again), again)

    def _next(self) -> tuple[str, str] | None:
        now = time.monotonic()
        with self._lock:
            ready = [key for key, when in self._due.items() if when <= now]
            if ready:
                del self._due[ready[0]]
            return ready[0] if ready else None

    def _once(self, key: tuple[str, str]) -> float | None:
        namespace, name = key
        version = {"Service": "v1", **API_VERSIONS}[self._kind]
        one = {"apiVersion": version, "kind": self._kind, "metadata": {"name": name, "namespace": namespace}}
        try:
            status, item = self._operator.api.get(self._operator.api.path_of(one))
            if status != 200:
                return None
            after = self._reconcile(self.program, item)
        except _Killed:
            return None
        except Exception:
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            return time.monotonic() + min(_LAST_RETRY, _FIRST_RETRY * 2 ** (failures - 1))
        self._failures.pop(key, None)
        return None if after is None else time.monotonic() + after


def _any_change(item: Body) -> object:
    return item["metadata"]["resourceVersion"]


def _spec_or_annotations(item: Body) -> object:
    """The start of a deletion is a new generation too."""
    metadata = item["metadata"]
    return metadata.get("generation"), tuple(sorted((metadata.get("annotations") or {}).items()))


def _finalizers(item: Body) -> list[str]:
    return list(item["metadata"].get("finalizers") or ())


def _owners(item: Body) -> list[Body]:
    return list(item["metadata"].get("ownerReferences") or ())


def _name(item: Body) -> str:
    return f"{item['kind']} {item['metadata']['namespace']}/{item['metadata']['name']}"


def _is_pod_of(pod: Body, component: str) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return labels.get("app.kubernetes.io/component") == component and not pod["metadata"].get("deletionTimestamp")


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
