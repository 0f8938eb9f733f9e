# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster in memory and in one thread: whoever follows it is told at once, and every write is a line in its log.

What the real `Cluster` does over the wire is tested in kube/; here only decisions count.
"""

from __future__ import annotations

import contextlib
import copy
import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs.ranked_delete import ARGUMENTS
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError, error_from
from ansible_collections.sunset.kube.plugins.module_utils.kube.discovery import Catalogue, Finding, GroupVersion
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Listing, Scope
from ansible_collections.sunset.kube.plugins.module_utils.kube.naming import is_installed, must_resolve
from ansible_collections.sunset.kube.plugins.module_utils.kube.writes import Effect, Written
from ansible_collections.sunset.kube.plugins.module_utils.objects import Record, Resource, record_of
from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import Plan
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ranked_delete import (
    RankedOutcome,
    delete_ranked,
    parse_ranked,
)
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DEPLOYMENTS,
    DOMAINS,
    ENDPOINT,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    SERVER_NOW,
    STATEFULSETS,
    VERBS,
    FakeClock,
    Told,
    metadata,
    refusal,
)


def _kind(group: str, kind: str, plural: str, namespaced: bool = True, *short: str, version: str = "v1") -> Resource:
    return Resource(group, version, kind, plural, namespaced, kind.lower(), short, VERBS)


CONFIG_MAPS = _kind("", "ConfigMap", "configmaps", True, "cm")
SECRETS = _kind("", "Secret", "secrets")
SERVICES = _kind("", "Service", "services", True, "svc")
ENDPOINTS = _kind("", "Endpoints", "endpoints", True, "ep")
EVENTS = _kind("", "Event", "events", True, "ev")
ACCOUNTS = _kind("", "ServiceAccount", "serviceaccounts", True, "sa")
REPLICA_SETS = _kind("apps", "ReplicaSet", "replicasets", True, "rs")
SLICES = _kind("discovery.k8s.io", "EndpointSlice", "endpointslices")
ROLES = _kind("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", False)
ROLE_BINDINGS = _kind("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", False)
WEBHOOKS = _kind(
    "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False
)
DEFINITIONS = _kind("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", False, "crd")
ZONES = _kind("ingress.example.com", "Zone", "zones", False)  # a custom resource without a namespace
SERVED = (
    *(PODS, CONFIG_MAPS, SECRETS, SERVICES, ENDPOINTS, EVENTS, ACCOUNTS, NAMESPACES, NODES),
    *(
        DEPLOYMENTS,
        STATEFULSETS,
        REPLICA_SETS,
        LEASES,
        SLICES,
        ROLES,
        ROLE_BINDINGS,
        WEBHOOKS,
        DEFINITIONS,
        DOMAINS,
        ZONES,
    ),
)

_OF_THE_OBJECT = ("spec", "status", "data", "webhooks", "type", "rules", "roleRef", "subjects")
_OF_THE_MEMBER = ("source", "marked", "keep", "named")


def member(resource: Resource, name: str = "web", namespace: str = "shop", **more: Any) -> Member:
    """A member. `source`, `marked`, `keep` and `named` are its own, everything else goes to its metadata."""
    own = {key: more.pop(key) for key in _OF_THE_MEMBER if key in more}
    return Member(resource, record_of(_metadata(resource, name, namespace, **more)), **{"source": "release", **own})


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
    cluster: FakeCluster,
    *,
    check_mode: bool = False,
    stop: StopSign | None = None,
    told: Callable[[Any], None] | None = None,
    others: Mapping[str, FakeCluster] | None = None,
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


class FakeCluster:
    """As much of `Cluster` as teardown/ uses.

    `log` has one line for each write and for each object that went. `refusals` and `unseen` let writes and lists fail.
    """

    endpoint = ENDPOINT
    known_as = "kube-system 7c1f"

    def __init__(self, *resources: Resource, clock: FakeClock | None = None) -> None:
        self.served = list(resources or SERVED)
        self.clock = clock or FakeClock()
        self._began = self.clock.now()
        self.objects: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        self.log: list[str] = []
        self.lists: list[str] = []
        self.bodies: list[dict[str, Any]] = []  # of patches
        self.asked_rights: list[tuple[str, str, tuple[str, ...]]] = []
        self.forbidden: set[tuple[str, str]] = set()
        self.refusals: dict[str, ApiError] = {}  # "Kind ns/name" → the answer to every write
        self.unseen: dict[str, Problem] = {}  # plural → the answer to every list and read
        self.unlisted: dict[str, Problem] = {}  # plural → the answer to every list; single ones can be read
        self.not_cluster_wide: set[str] = set()  # plurals that may be listed in a namespace only
        self.blind: list[GroupVersion] = []  # groups that discovery cannot see
        self.cleaning = False
        self._followers: list[tuple[list[Scope], Any]] = []
        self._version = 100

    # -- what tests do -------------------------------------------------------------------------------------------------

    def add(self, resource: Resource, name: str, namespace: str = "shop", **more: Any) -> dict[str, Any]:
        """Put an object there. `spec`, `data` … are its own, `grace` its grace period, all else metadata."""
        whole = {key: more.pop(key) for key in (*_OF_THE_OBJECT, "grace") if key in more}
        thing = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": _metadata(resource, name, namespace, **more),
            **whole,
        }
        self._store(resource, thing)
        return thing

    def change(self, resource: Resource, name: str, namespace: str = "shop", **more: Any) -> None:
        """Somebody else changes an object's metadata."""
        thing = self.objects[_key(resource, namespace, name)]
        thing["metadata"].update(more)
        self._store(resource, thing)

    def release(self, resource: Resource, name: str, namespace: str = "shop") -> None:
        """Its controller takes the finalizers off; if it is being deleted, it goes."""
        self.change(resource, name, namespace, finalizers=[])
        if self.objects[_key(resource, namespace, name)]["metadata"].get("deletionTimestamp"):
            self.remove(resource, name, namespace)

    def remove(self, resource: Resource, name: str, namespace: str = "shop") -> None:
        thing = self.objects.pop(_key(resource, namespace, name))
        self.log.append(f"gone {_ref(thing)}")
        self._publish(resource, thing, gone=True)

    def left(self) -> list[str]:
        return sorted(_ref(thing) for thing in self.objects.values())

    # -- what the engine asks ------------------------------------------------------------------------------------------

    @property
    def catalogue(self) -> Catalogue:
        groups: dict[tuple[str, str], list[Resource]] = {}
        for resource in self.served:
            groups.setdefault((resource.group, resource.version), []).append(resource)
        seen = [GroupVersion(group, version, tuple(found)) for (group, version), found in groups.items()]
        return Catalogue([*seen, *self.blind])

    def forget_catalogue(self) -> None:
        """It is made anew each time anyway."""

    def find_kind(self, group: str, kind: str) -> Finding:
        return self.catalogue.find(group, lambda resource: resource.kind == kind)

    def resolve(
        self, name: str, api_version: str | None = None, *, by_hand: bool = True
    ) -> tuple[Resource | None, str]:
        return must_resolve(self.catalogue, name, api_version, by_hand=by_hand)

    def is_installed(self, resource: Resource) -> bool:
        return is_installed(self.catalogue, resource)

    def deletable_kinds(self) -> list[Resource]:
        return list(self.catalogue.resources())

    def list(self, resource: Resource, namespace: str | None = None, label_selector: str | None = None) -> Listing:
        scope = Scope(resource, namespace, label_selector)
        found = [record_of(thing["metadata"]) for thing in self._fitting(scope)]
        return Listing(scope, found, str(self._version))

    def list_everywhere(self, resource: Resource, label_selector: str | None = None) -> Sequence[Listing]:
        return [self.list(resource, None, label_selector)]

    def list_whole(
        self, resource: Resource, namespace: str | None = None, label_selector: str | None = None
    ) -> Sequence[dict[str, Any]]:
        found = self._fitting(Scope(resource, namespace, label_selector))
        # As the API server does: objects of a list do not say what they are.
        return [{key: value for key, value in thing.items() if key not in ("apiVersion", "kind")} for thing in found]

    def definitions(self) -> Sequence[dict[str, Any]]:
        return self.list_whole(DEFINITIONS)

    def read(self, resource: Resource, namespace: str, name: str) -> Record | None:
        thing = self.read_whole(resource, namespace, name)
        return record_of(thing["metadata"]) if thing else None

    def read_whole(self, resource: Resource, namespace: str, name: str) -> dict[str, Any] | None:
        if resource.plural in self.unseen:
            raise self.unseen[resource.plural]
        return copy.deepcopy(self.objects.get(_key(resource, namespace, name)))

    @contextlib.contextmanager
    def following(self, listings: Iterable[Listing], listener: Any) -> Iterator[None]:
        follower = ([listing.scope for listing in listings], listener)
        self._followers.append(follower)
        try:
            yield
        finally:
            self._followers.remove(follower)

    def delete(
        self,
        resource: Resource,
        record: Record,
        *,
        propagation: str = "Background",
        grace_seconds: int | None = None,
        unchanged: bool = False,
        dry_run: bool = False,
    ) -> Written:
        how = [f"grace {grace_seconds}"] if grace_seconds is not None else []
        how += [propagation] if propagation != "Background" else []
        how += ["dry run"] if dry_run else []
        thing, refused = self._begin("delete", resource, record, ", ".join(how))
        if refused:
            return refused
        meta = thing["metadata"]
        if unchanged and record.resource_version != meta["resourceVersion"]:
            problem = api_error(409, "Conflict", "the object has changed")
            return Written(
                Effect.ALREADY if meta.get("deletionTimestamp") else Effect.REFUSED, record_of(meta), problem
            )
        if dry_run:
            return Written(Effect.DONE, record_of(meta))
        grace = thing.get("grace", 0) if grace_seconds is None else grace_seconds
        if not meta.get("finalizers") and not grace:
            self.remove(resource, record.name, record.namespace)
            return Written(Effect.GONE, record)
        end = datetime.datetime.fromtimestamp(self.server_time() + grace, tz=datetime.timezone.utc)
        meta["deletionTimestamp"] = end.isoformat().replace("+00:00", "Z")
        meta["deletionGracePeriodSeconds"] = grace
        self._store(resource, thing)
        return Written(Effect.DONE, record_of(copy.deepcopy(meta)))

    def remove_finalizers(
        self, resource: Resource, record: Record, names: Sequence[str], *, dry_run: bool = False
    ) -> Written:
        how = [*names, *(["dry run"] if dry_run else [])]
        thing, refused = self._begin("strip", resource, record, ", ".join(how))
        if refused:
            return refused
        meta = thing["metadata"]
        if dry_run:
            return Written(Effect.DONE, record_of(copy.deepcopy(meta)))
        meta["finalizers"] = [name for name in meta.get("finalizers") or () if name not in names]
        if meta.get("deletionTimestamp") and not meta["finalizers"]:
            self.remove(resource, record.name, record.namespace)
            return Written(Effect.GONE, record)
        self._store(resource, thing)
        return Written(Effect.DONE, record_of(copy.deepcopy(meta)))

    def remove_owner_references(
        self, resource: Resource, record: Record, uids: Collection[str], *, dry_run: bool = False
    ) -> Written:
        how = [*sorted(uids), *(["dry run"] if dry_run else [])]
        thing, refused = self._begin("detach", resource, record, ", ".join(how))
        if refused:
            return refused
        if not dry_run:
            owners = thing["metadata"].get("ownerReferences") or ()
            thing["metadata"]["ownerReferences"] = [owner for owner in owners if owner["uid"] not in uids]
            self._store(resource, thing)
        return Written(Effect.DONE, record_of(copy.deepcopy(thing["metadata"])))

    def merge_patch(
        self, resource: Resource, record: Record, patch: Mapping[str, Any], *, dry_run: bool = False
    ) -> Written:
        thing, refused = self._begin("patch", resource, record, "dry run" if dry_run else "")
        if refused:
            return refused
        self.bodies.append(dict(patch))
        if not dry_run:
            _merge(thing, patch)
            self._store(resource, thing)
        return Written(Effect.DONE, record_of(copy.deepcopy(thing["metadata"])))

    def create(self, resource: Resource, namespace: str, item: Mapping[str, Any], *, dry_run: bool = False) -> Written:
        facts = {key: value for key, value in item["metadata"].items() if key not in ("name", "namespace")}
        meta = _metadata(resource, item["metadata"]["name"], namespace, **facts)
        thing = {**copy.deepcopy(dict(item)), "apiVersion": resource.api_version, "kind": resource.kind}
        thing["metadata"] = meta
        which = _ref(thing)
        self.log.append(f"create {which}" + (" (dry run)" if dry_run else ""))
        if which in self.refusals:
            return Written(Effect.REFUSED, problem=self.refusals[which])
        there = self.objects.get(_key(resource, namespace, meta["name"]))
        if there is not None:
            return Written(Effect.ALREADY, record_of(copy.deepcopy(there["metadata"])))
        if not dry_run:
            self._store(resource, thing)
        return Written(Effect.DONE, record_of(copy.deepcopy(meta)))

    @contextlib.contextmanager
    def cleaning_up(self) -> Iterator[None]:
        self.cleaning = True
        try:
            yield
        finally:
            self.cleaning = False

    def finalize_namespace(self, record: Record) -> Written:
        _thing, refused = self._begin("finalize", NAMESPACES, record)
        if refused:
            return refused
        self.remove(NAMESPACES, record.name)
        return Written(Effect.DONE, record)

    def require(self, verb: str, resource: Resource, namespaces: Iterable[str] = (), *, subresource: str = "") -> None:
        thing = f"{resource.plural}/{subresource}" if subresource else resource.plural
        self.asked_rights.append((verb, thing, tuple(namespaces)))
        if (verb, resource.plural) in self.forbidden:
            raise Refused("not allowed", which=f"to {verb} {resource.plural}")

    def may(self, verb: str, resource: Resource, namespace: str = "") -> bool:
        self.asked_rights.append((verb, resource.plural, (namespace,)))
        return (verb, resource.plural) not in self.forbidden

    def for_each(self, items: Iterable[Any], work: Callable[[Any], None]) -> None:
        for item in list(items):
            work(item)

    def limit_to(self, deadline: Deadline) -> None:
        """Requests take no time here."""

    def identity(self) -> str:
        return self.known_as

    def server_time(self) -> float:
        return SERVER_NOW + self.clock.now() - self._began

    # -- inside --------------------------------------------------------------------------------------------------------

    def _fitting(self, scope: Scope) -> list[dict[str, Any]]:
        self.lists.append(f"{scope}{f' {scope.label_selector}' if scope.label_selector else ''}")
        problem = self.unseen.get(scope.resource.plural) or self.unlisted.get(scope.resource.plural)
        if scope.resource.plural in self.not_cluster_wide and not scope.namespace:
            problem = api_error(403, "Forbidden", f"cannot list {scope.resource.plural} at the cluster scope")
        if problem:
            raise problem
        return [
            copy.deepcopy(thing)
            for (group, plural, namespace, _name), thing in sorted(self.objects.items())
            if (group, plural) == (scope.resource.group, scope.resource.plural)
            and scope.namespace in (None, "", namespace)
            and _selected(thing["metadata"].get("labels") or {}, scope.label_selector or "")
        ]

    def _begin(self, action: str, resource: Resource, record: Record, how: str = "") -> tuple[Any, Written | None]:
        which = f"{resource.kind} {record.place}"
        self.log.append(f"{action} {which}" + (f" ({how})" if how else ""))
        thing = self.objects.get(_key(resource, record.namespace, record.name))
        if which in self.refusals:
            return None, Written(Effect.REFUSED, record, self.refusals[which])
        if thing is None:
            return None, Written(Effect.GONE)
        if thing["metadata"]["uid"] != record.uid:
            return None, Written(Effect.REPLACED, record_of(thing["metadata"]))
        return thing, None

    def _store(self, resource: Resource, thing: dict[str, Any]) -> None:
        meta = thing["metadata"]
        self.objects[_key(resource, meta.get("namespace", ""), meta["name"])] = thing
        self._publish(resource, thing, gone=False)

    def _publish(self, resource: Resource, thing: dict[str, Any], *, gone: bool) -> None:
        self._version += 1
        thing["metadata"]["resourceVersion"] = str(self._version)
        record = record_of(copy.deepcopy(thing["metadata"]))
        for scopes, listener in list(self._followers):
            seen = next((scope for scope in scopes if _covers(scope, resource, record)), None)
            if seen is not None:
                (listener.vanished if gone else listener.changed)(seen, record)


def _metadata(resource: Resource, name: str, namespace: str, **more: Any) -> dict[str, Any]:
    place = namespace if resource.namespaced else ""
    return metadata(name, place, **{"uid": f"{resource.kind}-{place}-{name}", **more})


def _merge(thing: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """A JSON merge patch: null takes a key away."""
    for key, value in patch.items():
        if value is None:
            thing.pop(key, None)
        elif isinstance(value, Mapping):
            known = thing.setdefault(key, {})
            _merge(known, value)
        else:
            thing[key] = copy.deepcopy(value)


def _key(resource: Resource, namespace: str, name: str) -> tuple[str, str, str, str]:
    return resource.group, resource.plural, namespace if resource.namespaced else "", name


def _ref(thing: Mapping[str, Any]) -> str:
    meta = thing["metadata"]
    return (
        f"{thing['kind']} {meta['namespace']}/{meta['name']}"
        if meta.get("namespace")
        else f"{thing['kind']} {meta['name']}"
    )


def _covers(scope: Scope, resource: Resource, record: Record) -> bool:
    same = (scope.resource.group, scope.resource.plural) == (resource.group, resource.plural)
    return same and scope.namespace in (None, "", record.namespace)


def _selected(labels: Mapping[str, str], selector: str) -> bool:
    """`a=b`, `a` and `!a`, joined by commas: what the engine sends."""
    for part in filter(None, selector.split(",")):
        if part.startswith("!"):
            if part[1:] in labels:
                return False
            continue
        key, sign, value = part.partition("=")
        if (labels.get(key) != value) if sign else (key not in labels):
            return False
    return True
