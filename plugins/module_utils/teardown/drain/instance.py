# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Does an object belong to the installation that is drained? By class, parent, namespace and controller labels.

Room: teardown (pure). What cannot be told is said to be so, never guessed: two installations may share a finalizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...objects import Record
from ...paths import value_at
from ..verdicts import Fate, Verdict
from .options import Instance
from .profile import Profile, ProfileKind

GATEWAY = "gateway.networking.k8s.io"
INGRESS = ("networking.k8s.io", "Ingress")
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
Item = Mapping[str, Any]


@dataclass(frozen=True)
class Classes:
    """What Ingresses and routes refer to, as it is in the cluster."""

    ingress: Mapping[str, str] = field(default_factory=dict)  # class → its controller
    default_ingress: str = ""
    gateway: Mapping[str, str] = field(default_factory=dict)  # class → its controller
    gateways: Mapping[tuple[str, str], str] = field(default_factory=dict)  # namespace, name → class


def classes_of(ingress: Iterable[Item], gateway: Iterable[Item], gateways: Iterable[Item]) -> Classes:
    known_ingress = list(ingress)
    default = [one for one in known_ingress if _annotations(one).get(_DEFAULT_CLASS) == "true"]
    return Classes(
        ingress={_name(one): str(value_at(one, "spec.controller") or "") for one in known_ingress},
        default_ingress=_name(default[0]) if len(default) == 1 else "",
        gateway={_name(one): str(value_at(one, "spec.controllerName") or "") for one in gateway},
        gateways={(_namespace(one), _name(one)): str(value_at(one, "spec.gatewayClassName") or "") for one in gateways},
    )


@dataclass(frozen=True)
class Yardstick:
    """Everything the question is measured with."""

    profile: Profile
    instance: Instance
    classes: Classes = field(default_factory=Classes)

    @property
    def ingress_controllers(self) -> tuple[str, ...]:
        return self.instance.ingress_controllers or self.profile.ingress_controllers

    @property
    def gateway_controllers(self) -> tuple[str, ...]:
        return self.instance.gateway_controllers or self.profile.gateway_controllers

    def objection(self, kind: ProfileKind, record: Record, item: Item) -> Verdict | None:
        """Why this object is not drained; None when it is ours."""
        wanted = self.instance.namespaces
        if wanted and record.namespace and record.namespace not in wanted:
            return _theirs("its namespace is not among instance.namespaces")
        rule = _RULES.get((kind.group, kind.kind)) if self._has_classes(kind) else None
        return rule(self, record, item) if rule else self.by_labels(record) or self._by_place(kind, record)

    def needs_whole(self, kind: ProfileKind) -> bool:
        """Is more than metadata needed to tell?"""
        return (kind.group, kind.kind) in _RULES and self._has_classes(kind)

    def _has_classes(self, kind: ProfileKind) -> bool:
        controllers = self.ingress_controllers if (kind.group, kind.kind) == INGRESS else self.gateway_controllers
        names = self.instance.ingress_classes if (kind.group, kind.kind) == INGRESS else ()
        return bool(controllers or names)

    def by_labels(self, record: Record) -> Verdict | None:
        """The controller's labels, where the object has any. Without them it is somebody's own handwriting."""
        for labels, wanted, option in (
            (self.profile.controller_namespace_labels, self.instance.controller_namespace, "controller_namespace"),
            (self.profile.controller_name_labels, self.instance.controller_name, "controller_name"),
        ):
            found = {record.labels[label] for label in labels if label in record.labels}
            if wanted and found and wanted not in found:
                return _theirs(f"its labels name the controller {' and '.join(sorted(found))}, not {option} {wanted}")
        return None

    def _by_place(self, kind: ProfileKind, record: Record) -> Verdict | None:
        """Without labels, what an operator makes beside itself is that of the operator there."""
        home = self.instance.controller_namespace
        labelled = any(mark in record.labels for mark in self.profile.controller_labels)
        if not kind.in_operator_namespace or labelled or not home or record.namespace == home:
            return None
        return _theirs(f"it lies in the namespace of another operator; that of this installation is {home}")

    def controllers_named_by(self, records: Iterable[Record]) -> set[str]:
        """What the labels of objects that are ours call their controller."""
        labels = self.profile.controller_name_labels
        ours = [record for record in records if self.by_labels(record) is None]
        return {record.labels[label] for record in ours for label in labels if label in record.labels}

    def is_authored(self, kind: ProfileKind, record: Record) -> bool:
        """Written by a person: the product marks what it makes, and this has no mark and no owner."""
        if kind.made_by_operator:
            return False
        marks = self.profile.controller_labels
        return bool(marks) and not any(mark in record.labels for mark in marks) and not record.owner_uids

    def by_ingress_class(self, record: Record, item: Item) -> Verdict | None:
        # The API says: the old annotation, where it is set, goes before the field.
        name = record.annotations.get(_CLASS_ANNOTATION) or value_at(item, "spec.ingressClassName")
        name = name or self.classes.default_ingress
        if not name:
            return _unclear("it has no ingress class, and no default one is known")
        if self.instance.ingress_classes:
            ours = name in self.instance.ingress_classes
            return None if ours else _theirs(f"its class {name} is not among instance.ingress_classes")
        controller = self.classes.ingress.get(name)
        if controller is None:
            return _unclear(
                f"its IngressClass {name} does not exist; name it in instance.ingress_classes if it is ours"
            )
        ours = controller in self.ingress_controllers
        return None if ours else _theirs(f"its IngressClass {name} belongs to {controller or 'no controller'}")

    def by_gateway_class(self, record: Record, item: Item) -> Verdict | None:
        return self._gateway_objection(str(value_at(item, "spec.gatewayClassName") or ""))

    def by_own_controller(self, record: Record, item: Item) -> Verdict | None:
        """A GatewayClass: ours by name, and no Gateway outside this drain needs it."""
        objection = self._gateway_objection(record.name)
        if objection:
            return objection
        users = [place for place, name in self.classes.gateways.items() if name == record.name]
        wanted = self.instance.namespaces
        others = [place for place in users if wanted and place[0] not in wanted]
        if others:
            return _theirs(f"Gateway {'/'.join(others[0])}, which is not drained, uses it")
        return None

    def by_parents(self, record: Record, item: Item) -> Verdict | None:
        parents = value_at(item, "spec.parentRefs")
        verdicts = [self._parent(record, one) for one in parents if isinstance(one, Mapping)] if parents else []
        if any(verdict is None for verdict in verdicts):
            return None
        if not verdicts:
            return _unclear("it has no parent")
        unclear = [verdict for verdict in verdicts if verdict and verdict.fate is Fate.UNMATCHED]
        return unclear[0] if unclear else verdicts[0]

    def _parent(self, record: Record, parent: Item) -> Verdict | None:
        if (parent.get("kind") or "Gateway") != "Gateway" or (parent.get("group") or GATEWAY) != GATEWAY:
            return _theirs(f"its parent is a {parent.get('kind')}")
        place = (str(parent.get("namespace") or record.namespace), str(parent.get("name") or ""))
        if self.instance.namespaces and place[0] not in self.instance.namespaces:
            return _theirs(f"its parent Gateway {'/'.join(place)} is not drained")
        if place not in self.classes.gateways:
            return _unclear(f"its parent Gateway {'/'.join(place)} does not exist")
        objection = self._gateway_objection(self.classes.gateways[place])
        return Verdict(objection.fate, f"its parent Gateway {'/'.join(place)}: {objection.why}") if objection else None

    def _gateway_objection(self, name: str) -> Verdict | None:
        controller = self.classes.gateway.get(name)
        if controller is None:
            return _unclear(f"GatewayClass {name} does not exist")
        ours = controller in self.gateway_controllers
        return None if ours else _theirs(f"GatewayClass {name} belongs to {controller or 'no controller'}")


Rule = Callable[[Yardstick, Record, Item], "Verdict | None"]
_ROUTES = ("HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute")
_RULES: dict[tuple[str, str], Rule] = {
    INGRESS: Yardstick.by_ingress_class,
    (GATEWAY, "Gateway"): Yardstick.by_gateway_class,
    (GATEWAY, "GatewayClass"): Yardstick.by_own_controller,
    **{(GATEWAY, route): Yardstick.by_parents for route in _ROUTES},
}


def _theirs(why: str) -> Verdict:
    return Verdict(Fate.NOT_OWNED, why)


def _unclear(why: str) -> Verdict:
    return Verdict(Fate.UNMATCHED, why)


def _name(item: Item) -> str:
    return str(value_at(item, "metadata.name") or "")


def _namespace(item: Item) -> str:
    return str(value_at(item, "metadata.namespace") or "")


def _annotations(item: Item) -> Mapping[str, Any]:
    return value_at(item, "metadata.annotations") or {}
