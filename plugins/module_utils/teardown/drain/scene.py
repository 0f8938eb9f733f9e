# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is of a product: its kinds as they are served, their objects, and the classes they refer to.

Room: teardown. Everything is looked at before the first write. A kind that cannot be read is never taken for empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import Record, Resource
from ...paths import value_at
from ...problems import CannotLook, Problem
from ...well_known import DEFINITIONS
from ..members.looking import Looker
from .instance import GATEWAY, INGRESS, Classes, Yardstick, classes_of
from .options import DELETE
from .profile import Profile, ProfileKind

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

USER, OPERATOR = "user", "operator"
_NOT_INSTALLED = "not installed"
_FEW_NAMESPACES = 10


@dataclass
class KindView:
    """One kind of the profile: whether it is served, and its objects."""

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


class Look:
    """One look at the cluster, by one profile."""

    def __init__(self, profile: Profile, yardstick: Yardstick, policy: str, cluster: Cluster, looker: Looker) -> None:
        self._profile = profile
        self._yardstick = yardstick
        self._policy = policy
        self._cluster = cluster
        self._looker = looker

    def scene(self) -> Scene:
        views = [self._view(kind, USER) for kind in self._profile.user_kinds]
        views += [self._view(kind, OPERATOR) for kind in self._profile.operator_kinds]
        self._note_definitions(views)
        scene = Scene(views)
        if not scene.unreadable:
            scene.classes = self._classes(views)
        return scene

    def _view(self, kind: ProfileKind, role: str) -> KindView:
        finding = self._cluster.find_kind(kind.group, kind.kind)
        view = KindView(kind, role, finding.availability.value, finding.why, finding.resource)
        if view.resource is None:
            return view
        try:
            view.records = self._records(view.resource)
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
        asked = self._yardstick.needs_whole(kind) or kind.external_ids or kind.own_policy
        relevant = [record for record in view.records if record.finalizers or self._policy == DELETE]
        if not asked or not relevant or view.resource is None:
            return {}
        return {str(value_at(item, "metadata.uid")): item for item in self._list_whole(view.resource, relevant)}

    def _list_whole(self, resource: Resource, relevant: Iterable[Record]) -> list[dict[str, Any]]:
        namespaces = sorted({record.namespace for record in relevant if record.namespace})
        if not namespaces or len(namespaces) > _FEW_NAMESPACES:
            return self._cluster.list_whole(resource)
        return [item for name in namespaces for item in self._cluster.list_whole(resource, name)]

    def _note_definitions(self, views: Iterable[KindView]) -> None:
        """A kind nobody serves may still have a definition and objects; and a definition may be on its way out."""
        try:
            definitions = {one.name: one for one in self._looker.everything(DEFINITIONS)}
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
