# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Order inside a step: who must be gone before whom, as edges, and the waves that follow from them.

Room: teardown (pure). Required edges come from Kubernetes itself or were declared by the owner; a circle of them is an
error. Optional ones are good manners; a set of them that would close a cycle is dropped and named.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..problems import BadOption
from .guards import CRD
from .members.looking import Member

DEPENDS_ON = "config.kubernetes.io/depends-on"
KAPP_GROUP = "kapp.k14s.io/change-group"
KAPP_RULE = "kapp.k14s.io/change-rule"
ARGOCD_WAVE = "argocd.argoproj.io/sync-wave"
_KAPP_DELETE = re.compile(r"^\s*delete\s+(after|before)\s+deleting\s+(\S+)\s*$")
WORKLOADS = frozenset(
    {("apps", "deployments"), ("apps", "statefulsets"), ("apps", "daemonsets"), ("apps", "replicasets"), ("", "pods")}
)
WEBHOOKS = "admissionregistration.k8s.io"
# OLM's own kinds are defined like custom resources, but no operator is needed to let them go: they bring the operator.
OLM = "operators.coreos.com"
_COPIED = "olm.copiedFrom"

# (earlier, later): node keys. A member's node is its uid; other hashables are meeting points that save edges.
Edge = tuple[Hashable, Hashable]


@dataclass(frozen=True)
class EdgeRule:
    name: str
    edges: Callable[[Sequence[Member], OrderFacts], Iterable[Edge]]
    required: bool = False


@dataclass
class OrderFacts:
    """What edges are made of, besides the members themselves."""

    # (group, plural) of kinds that custom resource definitions make.
    custom_kinds: frozenset[tuple[str, str]] = frozenset()
    # uid of a webhook configuration → (namespace, name) of the Services it calls.
    webhook_backends: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    # (group, plural) → the Service that converts between its versions.
    conversion_backends: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def is_custom(self, member: Member) -> bool:
        return _type(member) in self.custom_kinds or _type(member) in self.conversion_backends


def is_installer(member: Member) -> bool:
    return _type(member) == (OLM, "subscriptions")


def is_healer(member: Member) -> bool:
    return _type(member) == (OLM, "clusterserviceversions") and _COPIED not in member.record.labels


def custom_resource_before_its_definition(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    definitions = {member.record.name: member.record.uid for member in members if _type(member) == CRD}
    for member in members:
        uid = definitions.get(member.resource.qualified)
        if uid:
            yield member.record.uid, uid


def content_before_its_namespace(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    namespaces = {member.record.name: member.record.uid for member in members if _type(member) == ("", "namespaces")}
    for member in members:
        uid = namespaces.get(member.record.namespace)
        if uid:
            yield member.record.uid, uid


def declared_depends_on(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    """`depends-on` names what must be there first; on the way out the dependent goes first."""
    by_path = {_depends_path(member): member.record.uid for member in members}
    for member in members:
        for path in member.record.annotations.get(DEPENDS_ON, "").split(","):
            uid = by_path.get(path.strip())
            if uid:
                yield member.record.uid, uid


def webhook_configuration_before_its_backend(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    """Without its backend a webhook refuses every later write, our own finalizer patches among them."""
    for member in members:
        for service in facts.webhook_backends.get(member.record.uid, ()):
            yield from ((member.record.uid, backend) for backend in _backends(members, service))


def converted_resources_before_the_converter(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    """Without its conversion webhook a kind can be neither listed nor deleted."""
    for member in members:
        service = facts.conversion_backends.get(_type(member))
        if service:
            meeting = ("converter", service)
            yield member.record.uid, meeting
    for service in set(facts.conversion_backends.values()):
        yield from ((("converter", service), backend) for backend in _backends(members, service))


def custom_resources_before_everything_else(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    """The controller that finalizes them is most likely among the rest."""
    for member in members:
        if _type(member) in facts.custom_kinds:
            yield member.record.uid, "custom resources are gone"
        elif _type(member) != CRD and not is_installer(member):
            yield "custom resources are gone", member.record.uid


def installer_before_everything(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    """An OLM Subscription installs again what is gone."""
    if any(map(is_installer, members)):
        for member in members:
            first = is_installer(member)
            yield (member.record.uid, "installers are gone") if first else ("installers are gone", member.record.uid)


def healer_before_what_it_heals(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    """An OLM ClusterServiceVersion puts back its workloads and its copies, as long as it is there."""
    if not any(map(is_healer, members)):
        return
    for member in members:
        if is_healer(member):
            yield member.record.uid, "healers are gone"
        elif not is_installer(member) and not facts.is_custom(member) and _type(member) != CRD:
            yield "healers are gone", member.record.uid


def declared_in_kapp_rules(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    """`delete after deleting <group>` and `delete before deleting <group>`; rules about creating do not concern us."""
    groups: dict[str, list[str]] = defaultdict(list)
    for member in members:
        for name in _annotations(member, KAPP_GROUP):
            groups[name].append(member.record.uid)
    for member in members:
        for text in _annotations(member, KAPP_RULE):
            match = _KAPP_DELETE.match(text)
            for uid in groups[match[2]] if match else ():
                yield (uid, member.record.uid) if match and match[1] == "after" else (member.record.uid, uid)


def argocd_waves_reversed(members: Sequence[Member], facts: OrderFacts) -> Iterable[Edge]:
    """What came last goes first. No annotation is wave 0."""
    waves: dict[int, list[str]] = defaultdict(list)
    for member in members:
        text = member.record.annotations.get(ARGOCD_WAVE, "0").strip()
        waves[int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else 0].append(member.record.uid)
    order = sorted(waves, reverse=True)
    for wave, lower in itertools.pairwise(order):
        meeting = ("Argo CD wave", wave)
        yield from ((uid, meeting) for uid in waves[wave])
        yield from ((meeting, uid) for uid in waves[lower])


EDGE_RULES = (
    EdgeRule("a custom resource before its definition", custom_resource_before_its_definition, required=True),
    EdgeRule("content before its namespace", content_before_its_namespace, required=True),
    EdgeRule(f"annotation {DEPENDS_ON}", declared_depends_on, required=True),
    EdgeRule("Subscriptions before what they install", installer_before_everything),
    EdgeRule("converted resources before the converter", converted_resources_before_the_converter),
    EdgeRule("webhook configurations before their backends", webhook_configuration_before_its_backend),
    EdgeRule("custom resources before their operator", custom_resources_before_everything_else),
    EdgeRule("ClusterServiceVersions before what they repair", healer_before_what_it_heals),
)


# Annotations of other tools that order objects; the task says which of them count.
ORDER_ANNOTATIONS = {
    "kapp": EdgeRule("kapp change rules", declared_in_kapp_rules, required=True),
    "argocd": EdgeRule("Argo CD sync waves", argocd_waves_reversed),
}


def waves_of(
    members: Sequence[Member], facts: OrderFacts, rules: Sequence[EdgeRule] = EDGE_RULES
) -> tuple[list[list[Member]], list[str]]:
    """Members in waves, each to be gone before the next, and what had to be dropped."""
    edges: set[Edge] = set()
    dropped: list[str] = []
    for rule in rules:
        more = {edge for edge in rule.edges(members, facts) if edge[0] != edge[1]}
        if not more - edges:
            continue
        circle = _in_a_circle(members, edges | more)
        if circle:
            if rule.required:
                raise BadOption(
                    "the order contradicts itself",
                    why=f"{rule.name} closes a circle among {_named(circle)}",
                    next_step="put these objects into steps of their own",
                )
            dropped.append(f"{rule.name}: would close a circle, left out")
            continue
        edges |= more
    levels = _levels(members, edges)
    waves: dict[int, list[Member]] = defaultdict(list)
    for member in members:
        waves[levels.get(member.record.uid, 0)].append(member)
    return [waves[level] for level in sorted(waves)], dropped


def _levels(members: Sequence[Member], edges: set[Edge]) -> dict[Hashable, int]:
    """How many barriers lie before each node. Nodes in or behind a circle have no level. Meeting points cost none."""
    later: dict[Hashable, list[Hashable]] = defaultdict(list)
    waiting: dict[Hashable, int] = defaultdict(int)
    for before, after in edges:
        later[before].append(after)
        waiting[after] += 1
    real = {member.record.uid for member in members}
    free = [node for node in real | set(later) | set(waiting) if not waiting[node]]
    levels: dict[Hashable, int] = dict.fromkeys(free, 0)
    reached: dict[Hashable, int] = {}
    while free:
        node = free.pop()
        reached[node] = levels[node]
        for after in later[node]:
            levels[after] = max(levels.get(after, 0), levels[node] + (node in real))
            waiting[after] -= 1
            if not waiting[after]:
                free.append(after)
    return reached


def _in_a_circle(members: Sequence[Member], edges: set[Edge]) -> list[Member]:
    """Members that no order can place, neither forwards nor backwards: those in a circle, or between two."""
    placed = _levels(members, edges)
    backwards = _levels(members, {(after, before) for before, after in edges})
    return [member for member in members if member.record.uid not in placed and member.record.uid not in backwards]


def _type(member: Member) -> tuple[str, str]:
    return member.resource.group, member.resource.plural


def _backends(members: Sequence[Member], service: tuple[str, str]) -> Iterable[str]:
    """A Service, and the workloads beside it: which of them it selects is not in their metadata."""
    for member in members:
        if member.record.namespace != service[0]:
            continue
        if _type(member) in WORKLOADS or (_type(member) == ("", "services") and member.record.name == service[1]):
            yield member.record.uid


def _annotations(member: Member, key: str) -> list[str]:
    """An annotation that may be given several times, as `key`, `key.one`, `key.two` …"""
    pairs = member.record.annotations.items()
    return [value.strip() for name, value in pairs if name == key or name.startswith(f"{key}.")]


def _depends_path(member: Member) -> str:
    resource, record = member.resource, member.record
    if record.namespace:
        return f"{resource.group}/namespaces/{record.namespace}/{resource.kind}/{record.name}"
    return f"{resource.group}/{resource.kind}/{record.name}"


def _named(members: Sequence[Member]) -> str:
    shown = ", ".join(str(member.ref) for member in members[:3])
    return f"{shown} and {len(members) - 3} more" if len(members) > 3 else shown
