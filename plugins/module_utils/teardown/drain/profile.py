# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A profile: what we know of one product. Shipped ones and those a task writes are read by the same function.

Room: teardown (pure values). The shipped ones are data, in profiles/products.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...labels import parse_selector
from ...problems import BadFields, BadOption


@dataclass(frozen=True)
class ProfileKind:
    """One kind a product puts its finalizers on. Addressed by group and kind: versions come and go."""

    group: str
    kind: str
    finalizers: tuple[str, ...]
    external_ids: tuple[str, ...] = ()  # paths to what exists outside the cluster
    own_policy: tuple[str, str] | None = None  # a path, and its value that lets the outside part go

    @property
    def title(self) -> str:
        return f"{self.kind} ({self.group})" if self.group else self.kind


@dataclass(frozen=True)
class AnchorRule:
    """The object that stands for one installation: deleting it tells the operator to drain."""

    kind: ProfileKind
    policy: str = ""  # path of the drain policy in it
    status: str = ""  # path of a word: pending, draining, completed, failed
    condition: str = ""  # or the type of a condition


@dataclass(frozen=True)
class Profile:
    name: str
    title: str
    finalizers: tuple[str, ...]
    anchor: AnchorRule | None = None
    user_kinds: tuple[ProfileKind, ...] = ()
    operator_kinds: tuple[ProfileKind, ...] = ()
    ingress_controllers: tuple[str, ...] = ()
    gateway_controllers: tuple[str, ...] = ()
    controller_name_labels: tuple[str, ...] = ()
    controller_namespace_labels: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()  # label selectors of the product's own controllers
    notes: tuple[str, ...] = ()  # what a person should know before draining


def read_profile(data: Mapping[str, Any], path: str, bad: BadFields) -> Profile:
    """A profile from its written form. Complaints go to `bad`; the caller raises them."""
    reader = _Reader(data, path, bad)
    reader.only("name", "title", "finalizers", "anchor", "user_kinds", "operator_kinds")
    reader.only("classes", "labels", "workloads", "external_ids", "own_policy", "notes")
    reader.complain_about_others()
    finalizers = reader.texts("finalizers")
    if not finalizers:
        bad.add(f"{path}.finalizers", "name at least one finalizer of the product")
    if any(not text.strip("*?/.") for text in finalizers):
        bad.add(f"{path}.finalizers", "a lone * would take finalizers nobody thought of; name them, or their domain")
    kinds = _Kinds(finalizers, _external_ids(reader), _own_policies(reader), bad)
    classes, labels = reader.within("classes"), reader.within("labels")
    classes.only("ingress_controllers", "gateway_controllers")
    classes.complain_about_others()
    labels.only("controller_name", "controller_namespace")
    labels.complain_about_others()
    users, operators = kinds.read(reader, "user_kinds"), kinds.read(reader, "operator_kinds")
    if not users and not operators:
        bad.add(path, "name kinds under user_kinds or operator_kinds")
    workloads = reader.texts("workloads")
    for place, selector in enumerate(workloads):
        with _complaining(f"{path}.workloads[{place}]", bad):
            parse_selector(selector)
    name = reader.text("name") or "profile"
    return Profile(
        name=name,
        title=reader.text("title") or name,
        finalizers=finalizers,
        anchor=_anchor(reader.within("anchor"), kinds) if data.get("anchor") else None,
        user_kinds=users,
        operator_kinds=operators,
        ingress_controllers=classes.texts("ingress_controllers"),
        gateway_controllers=classes.texts("gateway_controllers"),
        controller_name_labels=labels.texts("controller_name"),
        controller_namespace_labels=labels.texts("controller_namespace"),
        workloads=workloads,
        notes=reader.texts("notes"),
    )


def _external_ids(reader: _Reader) -> dict[str, tuple[str, ...]]:
    inner = reader.within("external_ids")
    return {str(kind): inner.texts(kind) for kind in inner.data}


def _own_policies(reader: _Reader) -> dict[str, tuple[str, str]]:
    inner = reader.within("own_policy")
    found = {}
    for kind in inner.data:
        rule = _Reader(inner.data[kind], f"{inner.path}.{kind}", reader.bad)
        rule.only("path", "deletes")
        rule.complain_about_others()
        if not rule.text("path"):
            reader.bad.add(f"{rule.path}.path", "is needed")
        found[str(kind)] = (rule.text("path"), rule.text("deletes"))
    return found


@contextlib.contextmanager
def _complaining(path: str, bad: BadFields) -> Iterator[None]:
    try:
        yield
    except BadOption as problem:
        bad.add(path, problem.why)


def _anchor(reader: _Reader, kinds: _Kinds) -> AnchorRule | None:
    reader.only("group", "kind", "finalizers", "policy", "status", "condition")
    reader.complain_about_others()
    kind = kinds.one(reader)
    if kind is None:
        return None
    return AnchorRule(kind, reader.text("policy"), reader.text("status"), reader.text("condition"))


@dataclass
class _Kinds:
    """Reads kinds, with what the profile says about all of them."""

    finalizers: tuple[str, ...]
    external_ids: Mapping[str, tuple[str, ...]]
    own_policy: Mapping[str, tuple[str, str]]
    bad: BadFields

    def read(self, reader: _Reader, key: str) -> tuple[ProfileKind, ...]:
        entries = reader.data.get(key) or []
        if not isinstance(entries, list):
            self.bad.add(f"{reader.path}.{key}", "must be a list")
            return ()
        found = []
        for place, entry in enumerate(entries):
            inner = _Reader(entry, f"{reader.path}.{key}[{place}]", self.bad)
            inner.only("group", "kind", "finalizers")
            inner.complain_about_others()
            found.append(self.one(inner))
        return tuple(kind for kind in found if kind is not None)

    def one(self, reader: _Reader) -> ProfileKind | None:
        kind = reader.text("kind")
        if not kind:
            self.bad.add(f"{reader.path}.kind", "is needed")
            return None
        return ProfileKind(
            group=reader.text("group"),
            kind=kind,
            finalizers=reader.texts("finalizers") or self.finalizers,
            external_ids=self.external_ids.get(kind, ()),
            own_policy=self.own_policy.get(kind),
        )


@dataclass
class _Reader:
    """One hash of a profile, and where it stands."""

    data: Mapping[str, Any]
    path: str
    bad: BadFields
    known: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not isinstance(self.data, Mapping):
            self.bad.add(self.path, "must be a hash")
            self.data = {}

    def only(self, *keys: str) -> None:
        self.known.extend(keys)

    def complain_about_others(self) -> None:
        for key in sorted(set(self.data) - set(self.known), key=str):
            self.bad.add(f"{self.path}.{key}", f"is not known; there are {', '.join(self.known)}")

    def text(self, key: str) -> str:
        found: str = self._checked(key, "a text", str, "")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key)
        value = [value] if isinstance(value, str) else value or []
        if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
            self.bad.add(f"{self.path}.{key}", "must be a list of texts, none of them empty")
            return ()
        return tuple(value)

    def table(self, key: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._checked(key, "a hash", Mapping, {})
        return found

    def within(self, key: str) -> _Reader:
        return _Reader(self.table(key), f"{self.path}.{key}", self.bad)

    def _checked(self, key: str, what: str, wanted: Any, empty: Any) -> Any:
        value = self.data.get(key)
        if value is None:
            return empty
        if not isinstance(value, wanted):
            self.bad.add(f"{self.path}.{key}", f"must be {what}")
            return empty
        return value
