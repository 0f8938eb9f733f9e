# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which ServiceAccounts may change objects of a kind: the controllers of that kind are among them.

Room: teardown. `fetch_permits` looks, four lists whatever there is in the cluster; `Permits` decides, and looks at
nothing else. A rule that names the kind or its group says something; one for everything says nothing about anybody,
and neither does a role that is put together from others, such as edit: every product adds its kinds to that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..objects import Resource
from ..well_known import BINDINGS, ROLES
from .looking_around import listed_or_said

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

Account = tuple[str, str]  # namespace, name
Rules = Sequence[Mapping[str, Any]]
# To remove a finalizer it takes one of these.
_CHANGES = frozenset({"patch", "update", "*"})
_CLUSTER_ROLE = "ClusterRole"


@dataclass(frozen=True)
class Permit:
    """An account may change objects of a kind, in a namespace or (empty) everywhere."""

    account: Account
    namespace: str
    by_name: bool  # the rule names the kind or its group

    def covers(self, namespace: str) -> bool:
        return self.namespace in ("", namespace)


@dataclass(frozen=True)
class Binding:
    namespace: str
    role: tuple[str, str, str]  # kind, namespace, name
    accounts: tuple[Account, ...]


@dataclass
class Permits:
    rules: Mapping[tuple[str, str, str], Rules] = field(default_factory=dict)
    bindings: Sequence[Binding] = ()
    aggregated: Collection[tuple[str, str, str]] = frozenset()  # roles that are put together from others
    unreadable: list[str] = field(default_factory=list)
    _known: dict[tuple[str, str], list[Permit]] = field(default_factory=dict)

    def to_change(self, kind: Resource, namespace: str) -> list[Permit]:
        key = (kind.group, kind.plural)
        if key not in self._known:
            self._known[key] = list(self._permits(kind))
        return [permit for permit in self._known[key] if permit.covers(namespace)]

    def _permits(self, kind: Resource) -> Iterator[Permit]:
        for binding in self.bindings:
            answers = [_allows(rule, kind) for rule in self.rules.get(binding.role) or ()]
            found = [by_name for by_name in answers if by_name is not None]
            if found:
                by_name = any(found) and binding.role not in self.aggregated
                yield from (Permit(account, binding.namespace, by_name) for account in binding.accounts)


def _allows(rule: Mapping[str, Any], kind: Resource) -> bool | None:
    """None: not at all. Otherwise whether it names the kind, or at least its group."""
    groups, resources = set(rule.get("apiGroups") or ()), set(rule.get("resources") or ())
    if not _CHANGES & set(rule.get("verbs") or ()) or rule.get("resourceNames"):
        return None
    named = bool({kind.plural, f"{kind.plural}/finalizers"} & resources)
    if not {kind.group, "*"} & groups or not (named or {"*", "*/*"} & resources):
        return None
    return kind.group in groups or (named and kind.group != "")


def fetch_permits(cluster: Cluster) -> Permits:
    """Roles and bindings of the whole cluster, a list each. What may not be listed is remembered."""
    permits = Permits()
    rules: dict[tuple[str, str, str], Rules] = {}
    aggregated: set[tuple[str, str, str]] = set()
    for resource in ROLES:
        for item in _listed(resource, cluster, permits):
            metadata = item["metadata"]
            role = (resource.kind, metadata.get("namespace") or "", metadata["name"])
            rules[role] = item.get("rules") or ()
            if item.get("aggregationRule"):
                aggregated.add(role)
    permits.rules, permits.aggregated = rules, aggregated
    permits.bindings = [
        binding
        for resource in BINDINGS
        for item in _listed(resource, cluster, permits)
        if (binding := _binding(item)).accounts
    ]
    return permits


def _listed(resource: Resource, cluster: Cluster, permits: Permits) -> Sequence[dict[str, Any]]:
    """A cluster may go without roles, and decide over rights in another way."""
    if cluster.find_kind(resource.group, resource.kind).availability.value == "not installed":
        return ()
    return listed_or_said(resource, cluster, permits.unreadable) or ()


def _binding(item: Mapping[str, Any]) -> Binding:
    namespace = item["metadata"].get("namespace") or ""
    role = item.get("roleRef") or {}
    kind = role.get("kind") or ""
    accounts = [one for one in item.get("subjects") or () if one.get("kind") == "ServiceAccount"]
    return Binding(
        namespace,
        (kind, "" if kind == _CLUSTER_ROLE else namespace, role.get("name") or ""),
        tuple((one.get("namespace") or namespace, one.get("name") or "") for one in accounts),
    )
