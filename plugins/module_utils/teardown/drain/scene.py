# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is of a product: its kinds as they are served, their objects, and the classes they refer to.

Room: teardown. Everything is looked at before the first write. A kind that cannot be read is never taken for empty.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import ObjectRef, Record, Resource, record_of, ref_to
from ...paths import value_at
from ...problems import CannotLook, Problem, Refused
from ...profiles.built_in_groups import BUILT_IN_GROUPS
from ...well_known import DEFINITIONS
from ..catalogue import known
from ..members.looking import TRANSIENT, Looker
from .instance import GATEWAY, INGRESS, Classes, Yardstick, classes_of
from .options import DELETE
from .profile import DeleteRefusal, Profile, ProfileKind, finalizers_of

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

USER, OPERATOR = "user", "operator"
UNKNOWN = "unknown"  # not in the profile, found by the product's finalizer
_NOT_INSTALLED = "not installed"
_FEW_NAMESPACES = 10


@dataclass
class KindView:
    """One kind of the profile: whether it is served, and its objects. Of an unknown kind, those with the finalizer."""

    kind: ProfileKind
    role: str
    state: str = "served"  # or: not installed, not served, terminating, group unavailable, forbidden
    why: str = ""
    resource: Resource | None = None
    records: list[Record] = field(default_factory=list)
    items: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # uid → whole object, where one was needed


@dataclass
class Scene:
    views: list[KindView] = field(default_factory=list)
    classes: Classes = field(default_factory=Classes)
    refusals: list[tuple[ObjectRef, DeleteRefusal]] = field(default_factory=list)  # why policy Delete is refused
    not_looked_at: list[str] = field(default_factory=list)  # other kinds, and why

    @property
    def unknown(self) -> list[KindView]:
        return [view for view in self.views if view.role == UNKNOWN]

    @property
    def unreadable(self) -> list[str]:
        blind = ("group unavailable", "forbidden", "not served")
        return [f"{view.kind.title}: {view.why}" for view in self.views if view.state in blind]

    def refuse_if_unreadable(self) -> None:
        if self.unreadable:
            raise CannotLook(
                "cannot see everything that would have to be drained",
                why="; ".join(self.unreadable),
                next_step="bring these APIs back or ask for the right to list them; nothing was changed",
            )

    def refuse_to_delete(self) -> None:
        """Whatever the task's other options are: what would be lost cannot be brought back."""
        for ref, rule in self.refusals:
            raise Refused(
                "policy Delete is refused because of",
                which=str(ref),
                why=f"its {rule.path} is set: {rule.why}",
                next_step=f"{rule.fix}; or use policy Retain",
            )


class Look:
    """One look at the cluster, by one profile."""

    def __init__(self, profile: Profile, yardstick: Yardstick, policy: str, cluster: Cluster, looker: Looker) -> None:
        self._profile = profile
        self._yardstick = yardstick
        self._policy = policy
        self._cluster = cluster
        self._looker = looker

    def scene(
        self, unknown: Iterable[ProfileKind] = (), *, everywhere: bool = True, anchor: ProfileKind | None = None
    ) -> Scene:
        """Every kind of the profile, then these unknown ones, then what else is found, if it is to look everywhere."""
        views = [self._view(kind, USER) for kind in self._profile.user_kinds]
        views += [self._view(kind, OPERATOR) for kind in self._profile.operator_kinds]
        self._note_definitions(views)
        views += [self._view(kind, UNKNOWN) for kind in unknown]
        scene = Scene(views)
        if everywhere:
            self._look_at_other_kinds(scene, anchor)
        if not scene.unreadable:
            scene.classes = self._classes(views)
        if self._policy == DELETE:
            scene.refusals = list(self._refusals())
        return scene

    def _refusals(self) -> Iterator[tuple[ObjectRef, DeleteRefusal]]:
        for rule in self._profile.refuse_delete_while:
            finding = self._cluster.find_kind(rule.group, rule.kind)
            if finding.resource is None and finding.availability.value != _NOT_INSTALLED:
                raise CannotLook(f"cannot look for {rule.kind}", why=finding.why, next_step="bring that API back")
            for item in self._all(rule.group, rule.kind, self._yardstick.instance.namespaces):
                record = record_of(item["metadata"])
                if finding.resource and rule.name in ("", record.name) and value_at(item, rule.path):
                    yield ref_to(finding.resource, record), rule

    def _look_at_other_kinds(self, scene: Scene, anchor: ProfileKind | None) -> None:
        """Who else carries the product's finalizers? Kinds of its own groups must be readable, others need not."""
        catalogue = self._cluster.catalogue
        namespaces = self._yardstick.instance.namespaces
        anchors = [anchor] if anchor else []  # they have a step of their own
        looked_at = {(kind.group, kind.kind) for kind in (*anchors, *(view.kind for view in scene.views))}
        wanted = [
            resource
            for resource in catalogue.resources()
            if (resource.group, resource.kind) not in looked_at
            and may_carry_finalizers(resource)
            and (resource.namespaced or not namespaces)
        ]
        seen = {record.uid for view in scene.views for record in view.records}  # one object may be served by two groups
        found, unseen = self._looker.search(wanted, namespaces, self._carries)
        self._look_in_every_namespace(found, unseen)
        # Kinds of Kubernetes first: what an aggregated API also serves is released where it is at home.
        for resource in sorted(found, key=lambda one: (one.group not in BUILT_IN_GROUPS, one.group, one.plural)):
            records = [record for record in found[resource] if record.uid not in seen]
            seen |= {record.uid for record in records}
            if records:
                scene.views.append(self._unknown_view(resource, records))
        own = self._profile.own_groups
        for resource, problem in sorted(unseen.items(), key=lambda one: one[0].qualified):
            if resource.group in own:
                view = KindView(self._kind_of(resource), UNKNOWN, resource=resource)
                self._note_failure(view, problem)
                scene.views.append(view)
            else:
                scene.not_looked_at.append(f"{resource.qualified}: {problem.why or problem}")
        scene.not_looked_at += [f"{version.name}: {version.blind}" for version in catalogue.blind_spots()]

    def _look_in_every_namespace(self, found: dict[Resource, list[Record]], unseen: dict[Resource, Problem]) -> None:
        """The product's own kinds, where the cluster as a whole may not be listed: as kinds of the profile are."""
        for resource in [one for one in unseen if one.group in self._profile.own_groups]:
            with contextlib.suppress(Problem):
                found[resource] = [record for record in self._records(resource) if self._carries(record)]
                del unseen[resource]

    def _unknown_view(self, resource: Resource, records: list[Record]) -> KindView:
        view = KindView(self._kind_of(resource), UNKNOWN, resource=resource, records=records)
        try:
            view.items = self._whole(view)
        except Problem as problem:
            self._note_failure(view, problem)
        return view

    def _kind_of(self, resource: Resource) -> ProfileKind:
        return dataclasses.replace(self._whatever, group=resource.group, kind=resource.kind)

    @functools.cached_property
    def _whatever(self) -> ProfileKind:
        """The product's own: what clusters and clouds put everywhere belongs to others as well."""
        entries = {name: known(name) for name in self._profile.finalizers}
        names = tuple(name for name, entry in entries.items() if not (entry and entry.shared))
        return ProfileKind("", "", names)

    def _carries(self, record: Record) -> bool:
        namespaces = self._yardstick.instance.namespaces
        here = not namespaces or record.namespace in namespaces
        return here and bool(finalizers_of(record, self._whatever))

    def _view(self, kind: ProfileKind, role: str) -> KindView:
        finding = self._cluster.find_kind(kind.group, kind.kind)
        view = KindView(kind, role, finding.availability.value, finding.why, finding.resource)
        if view.resource is None:
            return view
        try:
            view.records = self._records(view.resource)
            if role == UNKNOWN:
                view.records = [record for record in view.records if self._carries(record)]
            view.items = self._whole(view)
        except Problem as problem:
            self._note_failure(view, problem)
        return view

    def _note_failure(self, view: KindView, problem: Problem) -> None:
        if getattr(problem, "status", 0) == 404 and view.resource and not self._cluster.is_installed(view.resource):
            view.state, view.why, view.resource = _NOT_INSTALLED, "its definition went while we looked", None
            return
        view.state = "forbidden" if problem.is_forbidden else "group unavailable"
        view.why = problem.why or str(problem)

    def _records(self, resource: Resource) -> list[Record]:
        namespaces = self._yardstick.instance.namespaces if resource.namespaced else ()
        if not namespaces:
            return self._looker.everything(resource)
        return [record for name in namespaces for record in self._looker.everything(resource, name)]

    def _whole(self, view: KindView) -> dict[str, Mapping[str, Any]]:
        """Whole objects, only of kinds where metadata does not tell enough, and only if any of them matters."""
        kind = view.kind
        asked = self._yardstick.needs_whole(kind) or kind.external_ids or kind.own_policy or self._has_uses(kind)
        relevant = [record for record in view.records if record.finalizers or self._policy == DELETE]
        if not asked or not relevant or view.resource is None:
            return {}
        return {str(value_at(item, "metadata.uid")): item for item in self._list_whole(view.resource, relevant)}

    def _has_uses(self, kind: ProfileKind) -> bool:
        others = (*self._profile.user_kinds, *self._profile.operator_kinds)
        used = {use.kind for other in others for use in other.uses}
        return self._policy == DELETE and (bool(kind.uses) or kind.kind in used)

    def _list_whole(self, resource: Resource, relevant: Iterable[Record]) -> list[dict[str, Any]]:
        namespaces = sorted({record.namespace for record in relevant if record.namespace})
        if not namespaces or len(namespaces) > _FEW_NAMESPACES:
            return self._cluster.list_whole(resource)
        return [item for name in namespaces for item in self._cluster.list_whole(resource, name)]

    def _note_definitions(self, views: Iterable[KindView]) -> None:
        """A kind nobody serves may still have a definition and objects; and a definition may be on its way out."""
        kind = self._cluster.find_kind(DEFINITIONS.group, DEFINITIONS.kind).resource or DEFINITIONS
        try:
            definitions = {one.name: one for one in self._looker.everything(kind)}
        except Problem:
            return  # no right to look; what is served was seen all the same
        for view in views:
            if view.resource is not None:
                definition = definitions.get(view.resource.qualified)
                if definition is not None and definition.terminating and view.state == "served":
                    view.state, view.why = "terminating", "its definition is being deleted, and its objects with it"
            elif view.state == _NOT_INSTALLED:
                self._look_for_unserved(view, definitions)

    def _look_for_unserved(self, view: KindView, definitions: Mapping[str, Record]) -> None:
        candidates = [name for name in definitions if name.partition(".")[2] == view.kind.group]
        for name in candidates:
            item = self._cluster.read_whole(DEFINITIONS, "", name) or {}
            if value_at(item, "spec.names.kind") == view.kind.kind:
                view.state, view.why = "not served", f"{name} exists, but none of its versions is served"

    def _classes(self, views: Iterable[KindView]) -> Classes:
        """IngressClasses, GatewayClasses and Gateways: only when an object asks for them."""
        asking = {(view.kind.group, view.kind.kind) for view in views if view.items}
        by_gateway = {key for key in asking if key[0] == GATEWAY}
        return classes_of(
            ingress=self._ingress_classes() if INGRESS in asking else (),
            gateway=self._all(GATEWAY, "GatewayClass") if by_gateway else (),
            gateways=self._all(GATEWAY, "Gateway", self._parents_homes(by_gateway)) if by_gateway else (),
        )

    def _ingress_classes(self) -> list[dict[str, Any]]:
        try:
            return self._all("networking.k8s.io", "IngressClass")
        except Problem:
            if not self._yardstick.instance.ingress_classes:
                raise
            return []  # the task names its classes; only which is the default stays unknown

    def _parents_homes(self, asking: set[tuple[str, str]]) -> tuple[str, ...]:
        """Where Gateways matter: in the named namespaces; everywhere for a class, which others may use as well."""
        return () if (GATEWAY, "GatewayClass") in asking else self._yardstick.instance.namespaces

    def _all(self, group: str, kind: str, namespaces: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        resource = self._cluster.find_kind(group, kind).resource
        if resource is None:
            return []
        return [item for name in namespaces or (None,) for item in self._cluster.list_whole(resource, name)]


def may_carry_finalizers(resource: Resource) -> bool:
    """Kinds that cannot be written have none, and transient kinds hold nothing up."""
    writable = not resource.verbs.isdisjoint({"patch", "update"})
    return writable and "list" in resource.verbs and (resource.group, resource.plural) not in TRANSIENT
