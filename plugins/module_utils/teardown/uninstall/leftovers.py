# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is it really gone? One look at every kind, for anything that still bears a trace of the application.

Room: teardown. What cannot be looked at is said: nobody may conclude from it that nothing is there. Things that are on
their way out are given some seconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...clock import Clock, Deadline
from ...commands import kubectl
from ...events import Tell
from ...objects import ObjectRef, Record, Resource, record_of, ref_to
from ...paths import value_at
from ...problems import Problem
from ...well_known import API_SERVICES, BINDINGS, LEASES, WEBHOOK_CONFIGURATIONS
from ..guards import CRD, keep_marker_of
from ..looking_around import listed_or_said
from ..members.looking import TRANSIENT, Member
from .making import making_of
from .traces import INSTANCE, WORKLOADS, Place, Traces

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

DEFINITION, LEASE, MADE, NAME = "definition", "lease", "made", "name"
_LEADERS = frozenset({*WORKLOADS, "ServiceAccount"})
# Something holds these, or brought them back.
_NO_MERE_DELETION = frozenset({"plan", "finalizer", "owner"})
_LOOKS = 8
_PAUSE = 1.5


@dataclass(frozen=True)
class Leftover:
    ref: ObjectRef
    trace: str  # plan, mark, label, group, definition, finalizer, owner, rbac, webhook, api service, lease, made, name
    why: str
    passing: bool = False  # it is going by itself
    command: str = ""  # deletes it, where that is all there is to do


@dataclass
class Leftovers:
    found: list[Leftover] = field(default_factory=list)
    possible: list[Leftover] = field(default_factory=list)  # they bear its name; no proof that it made them
    unseen: list[str] = field(default_factory=list)
    looked_at: int = 0


def look_for_leftovers(traces: Traces, cluster: Cluster, clock: Clock, deadline: Deadline, tell: Tell) -> Leftovers:
    for turn in range(_LOOKS):
        found = _look(traces, cluster)
        passing = any(one.passing for one in (*found.found, *found.possible))
        if turn + 1 == _LOOKS or deadline.passed() or not passing:
            return found
        clock.sleep(min(_PAUSE, deadline.left()))
    return found


def _look(traces: Traces, cluster: Cluster) -> Leftovers:
    cluster.forget_catalogue()
    result = Leftovers(unseen=[f"{version.name}: {version.blind}" for version in cluster.catalogue.blind_spots()])
    found: dict[str, Leftover] = {}
    inhabited: set[str] = set()
    living: set[Place] = set()  # whose names Leases may have as well
    rivals: set[str] = set()  # namespaces of workloads that stay and are called like those of the application
    kinds = [one for one in cluster.catalogue.resources() if {"list", "delete"} <= one.verbs and _is_worth_it(one)]

    def look_at(resource: Resource) -> None:
        for record in _records(resource, cluster, result):
            result.looked_at += 1
            inhabited.add(f"{resource.plural}.{resource.group}")
            if _may_lead(resource) and not record.terminating:
                living.add((record.namespace, record.name))
                if resource.kind in WORKLOADS and record.uid not in traces.gone and traces.product.has_program(record):
                    rivals.add(record.namespace)
            trace = _trace_in(resource, record, traces)
            if trace is not None and record.uid not in traces.kept and not keep_marker_of(Member(resource, record, "")):
                found.setdefault(record.uid, trace)

    cluster.for_each(kinds, look_at)
    for uid in [uid for uid, one in found.items() if one.trace == DEFINITION and one.ref.name in inhabited]:
        del found[uid]  # whoever made what is left of this kind needs its definition
    for uid in [uid for uid, one in found.items() if one.trace == LEASE and _is_of_somebody_else(one, traces, living)]:
        del found[uid]
    for uid, one in [(uid, one) for uid, one in found.items() if rivals and one.trace in (MADE, NAME)]:
        del found[uid]
        if one.trace == MADE and one.ref.namespace in traces.product.homes - rivals:
            found[uid] = dataclasses.replace(one, trace=NAME)  # or another installation made it
    for leftover in _that_point_to_it(traces, cluster, result):
        if leftover.ref.uid not in traces.kept:
            found.setdefault(leftover.ref.uid, leftover)
    for one in sorted(found.values(), key=lambda one: (one.passing, one.ref.kind, str(one.ref))):
        (result.possible if one.trace == NAME else result.found).append(one)
    return result


def _is_worth_it(resource: Resource) -> bool:
    kind = (resource.group, resource.plural)
    return kind not in TRANSIENT or kind == (LEASES.group, LEASES.plural)


def _records(resource: Resource, cluster: Cluster, result: Leftovers) -> Iterable[Record]:
    try:
        return [record for listing in cluster.list_everywhere(resource) for record in listing.records]
    except Problem as problem:
        # 404: its definition went with the application, and discovery is a moment late.
        if getattr(problem, "status", 0) != 404:
            result.unseen.append(f"{resource.qualified}: {problem.why}")
        return []


def _trace_in(resource: Resource, record: Record, traces: Traces) -> Leftover | None:
    """What metadata alone tells. The strongest reason is named."""

    def leftover(trace: str, why: str, *, passing: bool = False) -> Leftover:
        return _leftover(resource, record, trace, why, passing=passing)

    kind = (resource.group, resource.plural)
    if record.uid in traces.gone:
        return leftover("plan", "it was in the plan and is still there")
    if kind == CRD and record.name.partition(".")[2] in traces.groups:
        return leftover("group", f"its group {record.name.partition('.')[2]} belongs to it")
    plural, _dot, group = record.name.partition(".")
    if kind == CRD and (group, plural) in traces.orphans:
        return leftover(DEFINITION, "nothing of its kind is left, and the record that says whose it is, is gone")
    if resource.group in traces.groups:
        return leftover("group", f"its group {resource.group} belongs to it")
    if finalizer := traces.finalizer_of(record):
        return leftover("finalizer", f"it still waits for {finalizer}")
    if record.owner_uids and set(record.owner_uids) <= traces.gone:
        return leftover("owner", "its owner is gone; the garbage collector takes it", passing=True)
    if traces.is_marked is not None and _has_a_mark(record) and traces.is_marked(record):
        return leftover("mark", f"it carries the mark of {traces.source}")
    if kind == (LEASES.group, LEASES.plural) and _is_lease_of(record, traces.workloads):
        return leftover(LEASE, "a workload that is gone held it")
    if kind == (LEASES.group, LEASES.plural) and _is_lease_of(record, traces.accounts):
        return leftover(LEASE, "it is named after a ServiceAccount that is gone")
    if record.namespace in traces.namespaces and traces.release and record.labels.get(INSTANCE) == traces.release:
        return leftover("label", f"it is labelled {INSTANCE}={traces.release}")
    if kind == (LEASES.group, LEASES.plural) and record.namespace not in traces.product.homes:
        return None  # each installation of a program has one, by the name of the program
    making = making_of(record, traces.product) if record.uid not in traces.undrained else None
    return leftover(MADE if making.certain else NAME, making.why) if making else None


def _leftover(resource: Resource, record: Record, trace: str, why: str, *, passing: bool = False) -> Leftover:
    passing = passing or record.terminating
    words = {"kind": resource.qualified, "name": record.name}
    simple = not passing and trace not in _NO_MERE_DELETION
    command = kubectl("delete {kind} {name}", namespace=record.namespace, **words) if simple else ""
    return Leftover(ref_to(resource, record), trace, why, passing, command)


def _has_a_mark(record: Record) -> bool:
    return bool(record.labels or record.annotations)


def _is_lease_of(record: Record, holders: frozenset[Place]) -> bool:
    return _likeness(record.namespace, record.name, holders) > 0


def _likeness(namespace: str, lease: str, holders: Iterable[Place]) -> int:
    """How much of its name a Lease has of one of these: it is named after the program, maybe with something behind."""
    alike = [
        len(name)
        for place, name in holders
        if place == namespace and (lease == name or lease.startswith((f"{name}-", f"{name}.")))
    ]
    return max(alike, default=0)


def _may_lead(resource: Resource) -> bool:
    return resource.group in ("", "apps") and resource.kind in _LEADERS


def _is_of_somebody_else(lease: Leftover, traces: Traces, living: Iterable[Place]) -> bool:
    """shop-billing-leader is of shop-billing, if that is there, and not of shop."""
    ours = _likeness(lease.ref.namespace, lease.ref.name, traces.workloads | traces.accounts)
    return _likeness(lease.ref.namespace, lease.ref.name, living) > ours


def _that_point_to_it(traces: Traces, cluster: Cluster, result: Leftovers) -> Iterator[Leftover]:
    """What names an account or a Service that is gone: only whole objects tell."""
    for resources, points, trace, why in (
        (BINDINGS if traces.accounts else (), _binds, "rbac", "it binds a ServiceAccount that is gone"),
        (WEBHOOK_CONFIGURATIONS if traces.services else (), _calls, "webhook", "it calls a Service that is gone"),
        ((API_SERVICES,) if traces.services else (), _serves, "api service", "it asks a Service that is gone"),
    ):
        for resource in resources:
            for item in listed_or_said(resource, cluster, result.unseen) or ():
                if points(item, traces):
                    record = record_of(item["metadata"])
                    yield _leftover(resource, record, trace, why)


def _binds(item: Mapping[str, Any], traces: Traces) -> bool:
    subjects = item.get("subjects") or ()
    return any(
        one.get("kind") == "ServiceAccount" and (one.get("namespace") or "", one.get("name")) in traces.accounts
        for one in subjects
    )


def _calls(item: Mapping[str, Any], traces: Traces) -> bool:
    services = (value_at(hook, "clientConfig.service") or {} for hook in item.get("webhooks") or ())
    return any((one.get("namespace"), one.get("name")) in traces.services for one in services)


def _serves(item: Mapping[str, Any], traces: Traces) -> bool:
    service = value_at(item, "spec.service") or {}
    return (service.get("namespace"), service.get("name")) in traces.services
