# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From claims and searches to the objects that are really there: one list a kind, never a GET an object.

Room: teardown. What cannot be listed is an error: a member we could not look for must not pass for one that is gone.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...events import Looked, Tell
from ...objects import ObjectRef, Record, Resource, ref_to
from ...problems import Problem
from .claims import Claim, Membership, Search

if TYPE_CHECKING:
    from ...kube.cluster import Cluster
    from ...kube.lists import Listing

# More namespaces than this, and one list of the whole cluster is cheaper.
_FEW_NAMESPACES = 10
# Comes and goes by itself while others work; nobody owns it and nobody waits for it.
TRANSIENT = frozenset(
    {
        ("", "events"),
        ("events.k8s.io", "events"),
        ("coordination.k8s.io", "leases"),
        ("discovery.k8s.io", "endpointslices"),
        ("", "endpoints"),
    }
)


@dataclass
class Member:
    """An object that belongs to what is being removed, and where we learned it."""

    resource: Resource
    record: Record
    source: str
    marked: bool = True
    keep: str = ""
    named: bool = False  # by the task itself, one by one
    evidence: str = ""  # the annotation that confirms what only the release metadata says
    disputed: str = ""  # why another release may own it as well, or why it is not the object that was recorded
    dependant: bool = False  # found because another member owns it
    searched: bool = False  # found by looking around: nobody has named it
    before_delete: Mapping[str, Any] = field(default_factory=dict)  # as its source wants it

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.resource, self.record)


@dataclass(frozen=True)
class _Scope:
    resource: Resource
    namespace: str | None
    label_selector: str


@dataclass
class Found:
    """What is there of a membership."""

    members: list[Member] = field(default_factory=list)
    records: list[Member] = field(default_factory=list)
    absent: list[Claim] = field(default_factory=list)


class Looker:
    """Looks for things and remembers every list it made, so that nothing is listed twice."""

    def __init__(self, cluster: Cluster, tell: Tell) -> None:
        self._cluster = cluster
        self._tell = tell
        self._lists: dict[_Scope, list[Listing]] = {}
        self._lock = threading.Lock()
        self.warnings: list[str] = []

    @property
    def listings(self) -> list[Listing]:
        return [listing for listings in self._lists.values() for listing in listings]

    def find(self, membership: Membership) -> Found:
        found = Found()
        wanted = self._wanted([*membership.claims, *membership.records], membership.default_namespace, found.absent)
        searches = [(search, resource) for search in membership.searches for resource in self._searched(search)]
        scopes = [scope for (resource, claims) in wanted for scope in _scopes(resource, claims)]
        scopes += [_Scope(resource, search.namespace, search.label_selector) for search, resource in searches]
        self.list_all(scopes)
        members: dict[str, Member] = {}
        records: dict[str, Member] = {}
        own_records = {_key(claim) for claim in membership.records}
        for resource, claims in wanted:
            here = self._by_place(resource, _scopes(resource, claims))
            for claim in claims:
                record = here.get((claim.namespace, claim.name))
                if record is None:
                    found.absent.extend([] if claim.past else [claim])
                    continue
                pile = records if _key(claim) in own_records else members
                pile.setdefault(record.uid, _member(resource, record, claim))
        for search, resource in searches:
            for listing in self._lists[_Scope(resource, search.namespace, search.label_selector)]:
                for record in listing.records:
                    members.setdefault(record.uid, Member(resource, record, search.source, searched=True))
        found.members = [member for uid, member in members.items() if uid not in records]
        found.records = list(records.values())
        return found

    def everything(self, resource: Resource, namespace: str | None = None, label_selector: str = "") -> list[Record]:
        """All objects of a kind, in the cluster or one namespace."""
        scope = _Scope(resource, namespace, label_selector)
        self.list_all([scope])
        return [record for listing in self._lists[scope] for record in listing.records]

    def again(self, resource: Resource, namespace: str | None = None) -> list[Record]:
        """The same list once more, as it is now."""
        scope = _Scope(resource, namespace, "")
        self._list_one(scope)
        return [record for listing in self._lists[scope] for record in listing.records]

    def look_into_namespace(self, name: str) -> None:
        """List every kind of a namespace: what goes with it must be known."""
        kinds = [resource for resource in self._cluster.deletable_kinds() if resource.namespaced]
        wanted = [kind for kind in kinds if (kind.group, kind.plural) not in TRANSIENT]
        self.list_all([_Scope(kind, name, "") for kind in wanted])

    def look_around(self, namespaces: Collection[str]) -> list[str]:
        """List every kind in these namespaces that was not listed yet, for what its objects own.

        A tenant may not list every kind, and a dead API serves none: what cannot be seen is told, and no error.
        """
        unseen = [f"{version.name} ({version.blind})" for version in self._cluster.catalogue.blind_spots()]
        kinds = [kind for kind in self._cluster.catalogue.resources() if {"list", "delete"} <= kind.verbs]
        wanted = [kind for kind in kinds if kind.namespaced and (kind.group, kind.plural) not in TRANSIENT]
        places = [None] if len(namespaces) > _FEW_NAMESPACES else sorted(namespaces)
        unlisted = [kind for kind in wanted if _Scope(kind, None, "") not in self._lists]
        scopes = [_Scope(kind, place, "") for kind in unlisted for place in places]

        def list_if_possible(scope: _Scope) -> None:
            try:
                self._list_one(scope)
            except Problem as problem:
                unseen.append(f"{scope.resource.qualified} ({problem.why})")

        self._cluster.for_each([scope for scope in scopes if scope not in self._lists], list_if_possible)
        return unseen

    def search(
        self, kinds: Iterable[Resource], namespaces: Sequence[str], wanted: Callable[[Record], bool]
    ) -> tuple[dict[Resource, list[Record]], dict[Resource, Problem]]:
        """Wanted objects by kind, in these namespaces (none: in the whole cluster); and kinds that cannot be listed.

        At most one list a kind, or one a kind and namespace. Only those with something wanted in them are remembered.
        """
        found: dict[Resource, list[Record]] = {}
        unseen: dict[Resource, Problem] = {}

        def look_at(resource: Resource) -> None:
            try:
                listings = self._listings_in(resource, namespaces)
            except Problem as problem:
                # 404: its definition went, and discovery is a moment late.
                if getattr(problem, "status", 0) != 404:
                    unseen[resource] = problem
                return
            records = [record for listing in listings for record in listing.records if wanted(record)]
            if records:
                found[resource] = records
                with self._lock:
                    for one in listings:
                        self._lists.setdefault(_Scope(resource, one.scope.namespace, ""), [one])

        self._cluster.for_each(kinds, look_at)
        return found, unseen

    def _listings_in(self, resource: Resource, namespaces: Sequence[str]) -> list[Listing]:
        few = 0 < len(namespaces) <= _FEW_NAMESPACES
        try:
            return [one for name in (namespaces if few else (None,)) for one in self._listed(resource, name)]
        except Problem as problem:
            if few or not namespaces or not problem.is_forbidden:
                raise
        return [one for name in namespaces for one in self._listed(resource, name)]

    def _listed(self, resource: Resource, namespace: str | None) -> list[Listing]:
        return self._lists.get(_Scope(resource, namespace, "")) or [self._cluster.list(resource, namespace)]

    def resolve(self, kind: str, api_version: str | None, *, by_hand: bool = True) -> Resource | None:
        """The kind meant. Records may name kinds that went; only what people write is checked for mistakes."""
        resource, warning = self._cluster.resolve(kind, api_version, by_hand=by_hand)
        if warning and warning not in self.warnings:
            self.warnings.append(warning)
        return resource

    def list_all(self, scopes: list[_Scope]) -> None:
        missing = [scope for scope in dict.fromkeys(scopes) if scope not in self._lists]
        self._cluster.for_each(missing, self._list_one)

    def _list_one(self, scope: _Scope) -> None:
        selector = scope.label_selector or None
        if scope.namespace or not scope.resource.namespaced:
            listings = [self._cluster.list(scope.resource, scope.namespace, selector)]
        else:
            listings = self._cluster.list_everywhere(scope.resource, selector)
        with self._lock:
            self._lists[scope] = listings
        place = f"namespace {scope.namespace}" if scope.namespace else "the cluster"
        self._tell(Looked(scope.resource.kind, sum(len(listing.records) for listing in listings), place))

    def _wanted(
        self, claims: list[Claim], default_namespace: str, absent: list[Claim]
    ) -> list[tuple[Resource, list[Claim]]]:
        """Claims by kind, with their namespaces filled in. Kinds that are not installed have no objects."""
        by_kind: dict[tuple[str | None, str], list[Claim]] = defaultdict(list)
        for claim in claims:
            by_kind[claim.group, claim.kind].append(claim)
        wanted = []
        for (_group, kind), of_kind in by_kind.items():
            resource = self.resolve(kind, of_kind[0].api_version, by_hand=of_kind[0].named)
            if resource is None:
                absent.extend(claim for claim in of_kind if not claim.past)
            else:
                wanted.append((resource, [_placed(claim, resource, default_namespace) for claim in of_kind]))
        return wanted

    def _searched(self, search: Search) -> list[Resource]:
        if search.kind != "*":
            resource = self.resolve(search.kind, search.api_version, by_hand=search.by_hand)
            return [resource] if resource else []
        return [
            resource
            for resource in self._cluster.deletable_kinds()
            if (resource.group, resource.plural) not in TRANSIENT and (search.namespace is None or resource.namespaced)
        ]

    def _by_place(self, resource: Resource, scopes: list[_Scope]) -> dict[tuple[str, str], Record]:
        return {
            (record.namespace, record.name): record
            for scope in scopes
            for listing in self._lists[scope]
            for record in listing.records
        }


def _member(resource: Resource, record: Record, claim: Claim) -> Member:
    disputed = claim.disputed or _why_another(record, claim)
    return Member(
        *(resource, record, claim.source, claim.marked, claim.keep, claim.named, claim.evidence, disputed),
        before_delete=claim.before_delete,
    )


def _why_another(record: Record, claim: Claim) -> str:
    if claim.uid in ("", record.uid):
        return ""
    return f"it is another object of that name: {claim.source} recorded uid {claim.uid}, its own is {record.uid}"


def _placed(claim: Claim, resource: Resource, default_namespace: str) -> Claim:
    namespace = (claim.namespace or default_namespace or "default") if resource.namespaced else ""
    return dataclasses.replace(claim, namespace=namespace)


def _key(claim: Claim) -> tuple[str | None, str, str, str]:
    return claim.group, claim.kind, claim.namespace, claim.name


def _scopes(resource: Resource, claims: list[Claim]) -> list[_Scope]:
    namespaces = sorted({claim.namespace for claim in claims})
    if not resource.namespaced or len(namespaces) > _FEW_NAMESPACES:
        return [_Scope(resource, None, "")]
    return [_Scope(resource, namespace, "") for namespace in namespaces]
