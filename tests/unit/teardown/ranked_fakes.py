# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The real client on an API server in memory, kinds that it serves, and the whole of a ranked deletion on it."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs.ranked_delete import ARGUMENTS
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError, error_from
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Listing
from ansible_collections.sunset.kube.plugins.module_utils.kube.watches import Listener
from ansible_collections.sunset.kube.plugins.module_utils.kube.workers import Workers
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource, record_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import Plan
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ranked_delete import (
    RankedOutcome,
    delete_ranked,
    parse_ranked,
)
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer, uid_of
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DAEMONSETS,
    DEPLOYMENTS,
    DOMAINS,
    ENDPOINT,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    STATEFULSETS,
    VERBS,
    FakeClock,
    Told,
    metadata,
    refusal,
    transport_to,
)

Item = TypeVar("Item")
# What the client says of a group version that is stale.
STALE = "the server behind it does not answer (stale discovery; see kubectl get apiservices)"


def a_kind(group: str, kind: str, plural: str, namespaced: bool = True, *short: str, version: str = "v1") -> Resource:
    return Resource(group, version, kind, plural, namespaced, kind.lower(), short, VERBS)


CONFIG_MAPS = a_kind("", "ConfigMap", "configmaps", True, "cm")
SECRETS = a_kind("", "Secret", "secrets")
SERVICES = a_kind("", "Service", "services", True, "svc")
ENDPOINTS = a_kind("", "Endpoints", "endpoints", True, "ep")
EVENTS = a_kind("", "Event", "events", True, "ev")
ACCOUNTS = a_kind("", "ServiceAccount", "serviceaccounts", True, "sa")
REPLICA_SETS = a_kind("apps", "ReplicaSet", "replicasets", True, "rs")
SLICES = a_kind("discovery.k8s.io", "EndpointSlice", "endpointslices")
ROLES = a_kind("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", False)
ROLE_BINDINGS = a_kind("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", False)
WEBHOOKS = a_kind(
    "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False
)
MUTATING_WEBHOOKS = a_kind(
    "admissionregistration.k8s.io", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False
)
BUDGETS = a_kind("policy", "PodDisruptionBudget", "poddisruptionbudgets", True, "pdb")
API_SERVICES = a_kind("apiregistration.k8s.io", "APIService", "apiservices", False)
DEFINITIONS = a_kind("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", False, "crd")
ZONES = a_kind("ingress.example.com", "Zone", "zones", False)  # a custom resource without a namespace
SERVED = (
    *(PODS, CONFIG_MAPS, SECRETS, SERVICES, ENDPOINTS, EVENTS, ACCOUNTS, NAMESPACES, NODES),
    *(DEPLOYMENTS, STATEFULSETS, DAEMONSETS, REPLICA_SETS, LEASES, SLICES, ROLES, ROLE_BINDINGS),
    *(BUDGETS, WEBHOOKS, MUTATING_WEBHOOKS, API_SERVICES, DEFINITIONS, DOMAINS, ZONES),
)

_OF_THE_MEMBER = ("source", "marked", "keep", "named")


def member(resource: Resource, name: str = "web", namespace: str = "shop", **more: Any) -> Member:
    """A member. `source`, `marked`, `keep` and `named` are its own, everything else goes to its metadata."""
    own = {key: more.pop(key) for key in _OF_THE_MEMBER if key in more}
    facts = metadata(
        name, namespace if resource.namespaced else "", **{"uid": uid_of(resource, name, namespace), **more}
    )
    return Member(resource, record_of(facts), **{"source": "release", **own})


def show(plan: Plan) -> str:
    """A plan as text: one line a wave, counted through all steps."""
    waves = [wave for step in plan.steps for wave in step.waves]
    return show_waves([[entry.member for entry in wave] for wave in waves])


def show_waves(waves: Sequence[Sequence[Member]]) -> str:
    return "".join(
        f"{number} {', '.join(sorted(str(member.ref) for member in wave))}\n" for number, wave in enumerate(waves, 1)
    )


def api_error(status: int, reason: str = "", message: str = "", which: str = "") -> ApiError:
    return error_from(refusal(status, reason, message), "cannot", which)


DEFAULTS: dict[str, Any] = {name: entry.get("default") for name, entry in ARGUMENTS.items()}


def ranked(
    cluster: InMemoryCluster,
    *,
    check_mode: bool = False,
    stop: StopSign | None = None,
    told: Callable[[Any], None] | None = None,
    others: Mapping[str, InMemoryCluster] | None = None,
    **params: Any,
) -> RankedOutcome:
    """The whole use case, from a task's options to the outcome."""
    options = parse_ranked({**DEFAULTS, **params}, check_mode=check_mode)
    elsewhere = others or {}
    return delete_ranked(
        options, cluster, elsewhere.__getitem__, cluster.clock, stop or StopSign(), _nobody if told is None else told
    )


# Of a task that names no other cluster.
NO_CONTEXTS: Callable[[str], Any] = {}.__getitem__


def _nobody(event: Any) -> None:
    """Nobody listens."""


def named_members(*things: tuple[Resource, str]) -> dict[str, Any]:
    """The option `members` with these objects, in namespace shop."""
    return {
        "objects": [
            {
                "api_version": resource.api_version,
                "kind": resource.kind,
                "name": name,
                **({"namespace": "shop"} if resource.namespaced else {}),
            }
            for resource, name in things
        ]
    }


class When:
    """Listens to events; when the first of a class comes that `fits`, something happens."""

    def __init__(self, event: type, action: Callable[[], Any], fits: Callable[[Any], bool] = bool) -> None:
        self._event = event
        self._action: Callable[[], Any] | None = action
        self._fits = fits
        self.told = Told()

    def __call__(self, event: Any) -> None:
        self.told(event)
        if self._action and isinstance(event, self._event) and self._fits(event):
            action, self._action = self._action, None
            action()


class InThread(Workers):
    """One after the other, in the thread that asks."""

    def for_each(self, items: Iterable[Item], work: Callable[[Item], None]) -> None:
        for item in list(items):
            work(item)


class InMemoryCluster(Cluster):
    """The real client, and within reach what a test does to the server behind it."""

    def __init__(self, *resources: Resource, clock: FakeClock | None = None, endpoint: Endpoint = ENDPOINT) -> None:
        self.clock = clock or FakeClock()
        self.stop = StopSign()
        self.server = server = FakeServer(*(resources or SERVED), clock=self.clock)
        server.system_uid = "7c1f"
        super().__init__(lambda: endpoint, self.clock, self.stop)
        self._transport = transport_to(server, self.clock, self.stop, load=lambda: endpoint, parallel=48)
        self._workers = InThread(1)
        self.objects, self.served, self.log, self.lists = server.objects, server.served, server.log, server.lists
        self.bodies, self.asked_rights, self.forbidden = server.bodies, server.asked_rights, server.forbidden
        self.refusals, self.unseen, self.unlisted = server.refusals, server.unseen, server.unlisted
        self.not_cluster_wide, self.stale, self.hidden = server.not_cluster_wide, server.stale, server.hidden
        self.change, self.release, self.remove, self.left = server.change, server.release, server.remove, server.left

    def add(self, resource: Resource, name: str, namespace: str = "shop", **more: Any) -> dict[str, Any]:
        """Put an object there, with a uid that names it. See `FakeServer.add`."""
        return self.server.add(resource, name, namespace, **{"uid": uid_of(resource, name, namespace), **more})

    def of_another_task(self) -> InMemoryCluster:
        """Which asks the same server, and knows nothing yet."""
        other = copy.copy(self)
        other.forget_catalogue()
        other._identity = ""
        return other

    @contextlib.contextmanager
    def following(self, listings: Iterable[Listing], listener: Listener) -> Iterator[None]:
        """As the real one does, once every watch is open: nothing depends on how fast a thread starts."""
        listings = list(listings)
        scopes = {(listing.scope.resource, listing.scope.namespace) for listing in listings}
        watched = self.server.watched + sum("watch" in resource.verbs for resource, _namespace in scopes)
        with super().following(listings, listener):
            self.server.wait_for_watches(watched)
            yield
