# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A product to drain: its profile, its kinds, an operator that does its work, and a cluster with all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from ansible_collections.sunset.kube.plugins.module_utils.jobs.drain import ARGUMENTS
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.drain import DrainOutcome, drain
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.options import DrainOptions, parse_drain
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.profile import Profile, read_profile
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, Call, Told
from ansible_collections.sunset.kube.tests.unit.teardown.policy_fakes import BINDINGS, POLICIES, PoliciesWork
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVED, a_kind

F, OLD, G = "shop.example.com/cleanup", "old.example.com/cleanup", "bank.example.com/hold"
EXISTS = "gateway-exists-finalizer.gateway.networking.k8s.io"
NAME, PLACE = "shop.example.com/controller-name", "shop.example.com/controller-namespace"
OURS, OURS_GATEWAY = "shop.example.com/ingress-controller", "shop.example.com/gateway-controller"


INGRESSES = a_kind("networking.k8s.io", "Ingress", "ingresses")
INGRESS_CLASSES = a_kind("networking.k8s.io", "IngressClass", "ingressclasses", False)
ROUTES = a_kind("gateway.networking.k8s.io", "HTTPRoute", "httproutes")
GATEWAYS = a_kind("gateway.networking.k8s.io", "Gateway", "gateways")
GATEWAY_CLASSES = a_kind("gateway.networking.k8s.io", "GatewayClass", "gatewayclasses", False)
BASKETS = a_kind("shop.example.com", "Basket", "baskets")
STORES = a_kind("shop.example.com", "Store", "stores")
OPERATORS = a_kind("shop.example.com", "ShopOperator", "shopoperators")
PRODUCT = (INGRESSES, INGRESS_CLASSES, ROUTES, GATEWAYS, GATEWAY_CLASSES, BASKETS, STORES, OPERATORS)

SHOP: dict[str, Any] = {
    "name": "shop",
    "title": "Shop operator",
    "finalizers": [F, OLD],
    "anchor": {
        "group": "shop.example.com",
        "kind": "ShopOperator",
        "policy": "spec.drain.policy",
        "status": "status.drainStatus",
        "condition": "Draining",
    },
    "user_kinds": [
        {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"},
        {"group": "networking.k8s.io", "kind": "Ingress"},
        {"group": "", "kind": "Service"},
        {"group": "gateway.networking.k8s.io", "kind": "Gateway"},
        {"group": "gateway.networking.k8s.io", "kind": "GatewayClass", "finalizers": [EXISTS]},
    ],
    "operator_kinds": [
        {"group": "shop.example.com", "kind": "Basket"},
        {"group": "shop.example.com", "kind": "Store"},
    ],
    "classes": {"ingress_controllers": [OURS], "gateway_controllers": [OURS_GATEWAY]},
    "labels": {"controller_name": [NAME], "controller_namespace": [PLACE]},
    "workloads": ["app=shop-operator"],
    "external_ids": {"ShopOperator": ["status.id"], "Basket": ["status.id", "spec.url"], "Store": ["status.id"]},
    "own_policy": {"Store": {"path": "spec.reclaimPolicy", "deletes": "Delete"}},
    "notes": ["Baskets hold money."],
}
DEFAULTS: dict[str, Any] = {**{name: entry.get("default") for name, entry in ARGUMENTS.items()}, "profile": SHOP}


def profile_of(**changes: Any) -> Profile:
    """The shop's profile, changed where told so."""
    bad = BadFields()
    found = read_profile({**SHOP, **changes}, "profile", bad)
    bad.raise_if_any()
    return found


def options_of(check_mode: bool = False, **params: Any) -> DrainOptions:
    return parse_drain({**DEFAULTS, **params}, check_mode=check_mode)


class DrainCluster(PoliciesWork):
    """With the product's kinds, admission policies that work, and pods that go when their controller is scaled."""

    def __init__(self) -> None:
        super().__init__(*SERVED, *PRODUCT, POLICIES, BINDINGS)
        self.pods_stay = False
        self.server.controllers.append(self._scale)

    def deploy(
        self, available: int = 1, replicas: int = 1, namespace: str = "ops", name: str = "shop-operator"
    ) -> None:
        self.add(
            DEPLOYMENTS,
            name,
            namespace,
            labels={"app": "shop-operator"},
            spec={"replicas": replicas},
            status={"availableReplicas": available, "replicas": replicas},
        )

    def anchor(self, name: str = "main", namespace: str = "ops", policy: str = "", **more: Any) -> dict[str, Any]:
        spec = {"drain": {"policy": policy}} if policy else {}
        return self.add(OPERATORS, name, namespace, **{"finalizers": [F], "spec": spec, **more})

    def finalizers(self, resource: Resource, name: str, namespace: str = "shop") -> list[str]:
        return list(self.metadata(resource, name, namespace).get("finalizers") or ())

    def metadata(self, resource: Resource, name: str, namespace: str = "shop") -> dict[str, Any]:
        thing: Any = self.server.get(resource, name, namespace)
        found: dict[str, Any] = thing["metadata"]
        return found

    def replicas(self, name: str = "shop-operator", namespace: str = "ops") -> int:
        return int(self.objects["apps", "deployments", namespace, name]["spec"]["replicas"])

    def writes(self) -> list[str]:
        """Every write but probes of the freeze, without what went by itself."""
        return [line for line in self.log if not line.startswith("gone") and "-probe" not in line]

    def _scale(self, call: Call) -> None:
        thing = self.objects.get(call.key)
        if call.verb == "patch" and call.resource.group == "apps" and thing and not self.pods_stay:
            thing["status"]["replicas"] = thing["spec"]["replicas"]


class LivingOperator:
    """Listens as `told`, and cleans up behind what is being deleted, a second later. Keeps a ledger of that."""

    def __init__(self, cluster: DrainCluster, seconds: float = 1.0) -> None:
        self._cluster = cluster
        self._seconds = seconds
        self.ledger: list[str] = []
        self.told = Told()

    def __call__(self, event: Any) -> None:
        self.told(event)
        if isinstance(event, Did) and event.action == "delete" and event.effect == "done" and not event.dry_run:
            self._cluster.clock.at(self._cluster.clock.now() + self._seconds, self._clean_up)

    def _clean_up(self) -> None:
        kinds = {(resource.group, resource.plural): resource for resource in (BASKETS, STORES, OPERATORS)}
        for (group, plural, namespace, name), thing in list(self._cluster.objects.items()):
            resource = kinds.get((group, plural))
            last = plural == OPERATORS.plural and any(key[1] in ("baskets", "stores") for key in self._deleting())
            if resource and thing["metadata"].get("deletionTimestamp") and not last:
                self.ledger.append(f"{resource.kind} {name}")
                self._cluster.release(resource, name, namespace)

    def _deleting(self) -> list[tuple[str, str, str, str]]:
        items = self._cluster.objects.items()
        return [key for key, thing in items if thing["metadata"].get("deletionTimestamp")]


def drained(
    cluster: DrainCluster,
    *,
    check_mode: bool = False,
    told: Callable[[Any], None] | None = None,
    **params: Any,
) -> DrainOutcome:
    """The whole use case, from a task's options to the outcome."""
    options = options_of(check_mode, **params)
    assert options.profile is not None
    listener = Told() if told is None else told
    return drain(options, options.profile, cluster, cluster.clock, cluster.stop, listener)


def held(cluster: DrainCluster, *things: tuple[Resource, str], **more: Any) -> None:
    """Objects that carry the product's finalizer, in namespace shop."""
    for resource, name in things:
        cluster.add(resource, name, **{"finalizers": [F], **more})
