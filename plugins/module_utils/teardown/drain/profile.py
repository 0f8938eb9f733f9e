# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A profile: what we know of one product. Shipped ones and those a task writes are read by the same function.

Room: teardown (pure values). The shipped ones are data, in profiles/products.
"""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...labels import parse_selector
from ...objects import Record
from ...problems import BadFields, BadOption
from ...profiles.built_in_groups import BUILT_IN_GROUPS
from ..catalogue import known


@dataclass(frozen=True)
class Use:
    """How objects of one kind name an object of another one in their namespace: by its name, or by a host of both."""

    kind: str
    name: str = ""  # path of the name
    url: str = ""  # path of a URL, or a host
    host: str = ""  # path of the host in the object that is used


@dataclass(frozen=True)
class ProfileKind:
    """One kind a product puts its finalizers on. Addressed by group and kind: versions come and go."""

    group: str
    kind: str
    finalizers: tuple[str, ...]
    external_ids: tuple[str, ...] = ()  # paths to what exists outside the cluster
    own_policy: tuple[str, str] | None = None  # a path, and its value that lets the outside part go
    finalized_by: tuple[str, ...] = ()  # label selectors of who takes them off, if that is not the profile's
    made_by_operator: bool = False  # always, labels or not: people write none
    in_operator_namespace: bool = False  # each installation has its own there
    uses: tuple[Use, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()  # without which its deletion is refused
    also: tuple[str, ...] = ()  # finalizers of the product that it has besides its own, against expectation

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
class DeleteRefusal:
    """As long as an object of this kind has a value at this path, policy Delete is refused."""

    group: str
    kind: str
    path: str
    name: str = ""  # only the object of this name
    why: str = ""
    fix: str = ""


_MAKING = ("made_by_operator", "in_operator_namespace")  # what an operator's kind may say of its origin
HOW_CHECKED = ("source read", "CRDs applied", "controller run")


@dataclass(frozen=True)
class Checked:
    """A release of the product that the profile was compared with, and how."""

    version: str
    how: tuple[str, ...]  # of HOW_CHECKED


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
    finalized_by: tuple[str, ...] = ()  # of those that take the finalizers off; all of them, if it does not say
    notes: tuple[str, ...] = ()  # what a person should know before draining
    refuse_delete_while: tuple[DeleteRefusal, ...] = ()
    checked: tuple[Checked, ...] = ()

    @property
    def controller_labels(self) -> tuple[str, ...]:
        """Labels that the product puts on what it makes."""
        return self.controller_name_labels + self.controller_namespace_labels

    @property
    def own_groups(self) -> frozenset[str]:
        """API groups that the product itself brings."""
        kinds = (*self.operator_kinds, *([self.anchor.kind] if self.anchor else []))
        return frozenset(kind.group for kind in kinds) - BUILT_IN_GROUPS


def finalizers_of(record: Record, kind: ProfileKind) -> tuple[str, ...]:
    """Those of the object's finalizers that are the product's."""
    patterns = kind.finalizers + kind.also
    return tuple(name for name in dict.fromkeys(record.finalizers) if _is_of(name, patterns))


def _is_of(name: str, patterns: tuple[str, ...]) -> bool:
    """Some guard data or money: a glob never takes one of these."""
    entry = known(name)
    if name in patterns:
        return True
    return not (entry and entry.protected) and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def read_profile(data: Mapping[str, Any], path: str, bad: BadFields) -> Profile:
    """A profile from its written form. Complaints go to `bad`; the caller raises them."""
    reader = _Reader(data, path, bad)
    reader.only("name", "title", "finalizers", "anchor", "user_kinds", "operator_kinds")
    reader.only("classes", "labels", "workloads", "finalized_by", "external_ids", "own_policy", "uses")
    reader.only("annotate_before_delete", "refuse_delete_while", "notes", "checked")
    reader.complain_about_others()
    finalizers = reader.texts("finalizers")
    if not finalizers:
        bad.add(f"{path}.finalizers", "name at least one finalizer of the product")
    if any(not text.strip("*?/.") for text in finalizers):
        bad.add(f"{path}.finalizers", "a lone * would take finalizers nobody thought of; name them, or their domain")
    uses = _uses(reader)
    kinds = _Kinds(finalizers, _external_ids(reader), _own_policies(reader), uses, _annotations(reader), bad)
    classes, labels = reader.within("classes"), reader.within("labels")
    classes.only("ingress_controllers", "gateway_controllers")
    classes.complain_about_others()
    labels.only("controller_name", "controller_namespace")
    labels.complain_about_others()
    users, operators = kinds.read(reader, "user_kinds"), kinds.read(reader, "operator_kinds")
    if not users and not operators:
        bad.add(path, "name kinds under user_kinds or operator_kinds")
    _check_uses((*users, *operators), uses, path, bad)
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
        workloads=reader.selectors("workloads"),
        finalized_by=reader.selectors("finalized_by"),
        notes=reader.texts("notes"),
        refuse_delete_while=tuple(
            _delete_refusal(entry)
            for entry in reader.entries("refuse_delete_while", "group", "kind", "path", "name", "why", "fix")
        ),
        checked=tuple(_checked(entry) for entry in reader.entries("checked", "version", "how")),
    )


def _delete_refusal(reader: _Reader) -> DeleteRefusal:
    for key in ("kind", "path", "why", "fix"):
        if not reader.text(key):
            reader.bad.add(f"{reader.path}.{key}", "is needed")
    return DeleteRefusal(
        reader.text("group"),
        reader.text("kind"),
        reader.text("path"),
        reader.text("name"),
        reader.text("why"),
        reader.text("fix"),
    )


def _checked(reader: _Reader) -> Checked:
    found = Checked(reader.text("version"), reader.texts("how"))
    if not found.version:
        reader.bad.add(f"{reader.path}.version", "is needed")
    if not found.how or not set(found.how) <= set(HOW_CHECKED):
        reader.bad.add(f"{reader.path}.how", f"must be a list of {', '.join(HOW_CHECKED)}")
    return found


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


def _uses(reader: _Reader) -> dict[str, tuple[Use, ...]]:
    inner = reader.within("uses")
    keys = ("kind", "name", "url", "host")
    return {str(kind): tuple(_use(one) for one in inner.entries(kind, *keys)) for kind in inner.data}


def _use(reader: _Reader) -> Use:
    use = Use(*(reader.text(key) for key in ("kind", "name", "url", "host")))
    if not use.kind:
        reader.bad.add(f"{reader.path}.kind", "is needed")
    if bool(use.url) != bool(use.host) or not (use.name or use.url):
        reader.bad.add(reader.path, "say the path of a name, or of a url and of the host it has in the other kind")
    return use


def _check_uses(kinds: tuple[ProfileKind, ...], uses: Mapping[str, Any], path: str, bad: BadFields) -> None:
    """What uses another kind comes before it: when that is planned, it must be known what stays."""
    order = [kind.kind for kind in kinds]
    for name in sorted(set(uses) - set(order)):
        bad.add(f"{path}.uses.{name}", "is no kind of this profile")
    for place, kind in enumerate(kinds):
        for use in kind.uses:
            if use.kind and use.kind not in order[place + 1 :]:
                bad.add(f"{path}.uses.{kind.kind}", f"{use.kind} must stand after {kind.kind} among the kinds")


def _annotations(reader: _Reader) -> dict[str, tuple[tuple[str, str], ...]]:
    inner = reader.within("annotate_before_delete")
    found = {}
    for kind in inner.data:
        texts = _Reader(inner.data[kind], f"{inner.path}.{kind}", reader.bad)
        found[str(kind)] = tuple((str(name), texts.text(name)) for name in texts.data)
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
    uses: Mapping[str, tuple[Use, ...]]
    annotations: Mapping[str, tuple[tuple[str, str], ...]]
    bad: BadFields

    def read(self, reader: _Reader, key: str) -> tuple[ProfileKind, ...]:
        about = ("group", "kind", "finalizers", "finalized_by", *(_MAKING if key == "operator_kinds" else ()))
        found = [self.one(inner) for inner in reader.entries(key, *about)]
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
            also=self.finalizers if reader.texts("finalizers") else (),
            external_ids=self.external_ids.get(kind, ()),
            own_policy=self.own_policy.get(kind),
            finalized_by=reader.selectors("finalized_by"),
            annotations=self.annotations.get(kind, ()),
            uses=self.uses.get(kind, ()),
            **{key: reader.flag(key) for key in _MAKING},
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

    def flag(self, key: str) -> bool:
        found: bool = self._checked(key, "true or false", bool, False)
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key)
        value = [value] if isinstance(value, str) else value or []
        if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
            self.bad.add(f"{self.path}.{key}", "must be a list of texts, none of them empty")
            return ()
        return tuple(value)

    def selectors(self, key: str) -> tuple[str, ...]:
        found = self.texts(key)
        for place, selector in enumerate(found):
            with _complaining(f"{self.path}.{key}[{place}]", self.bad):
                parse_selector(selector)
        return found

    def table(self, key: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._checked(key, "a hash", Mapping, {})
        return found

    def entries(self, key: str, *keys: str) -> list[_Reader]:
        """The dictionaries of a list, each with these keys and no others."""
        entries = self.data.get(key) or []
        if not isinstance(entries, list):
            self.bad.add(f"{self.path}.{key}", "must be a list")
            return []
        found = [_Reader(entry, f"{self.path}.{key}[{place}]", self.bad) for place, entry in enumerate(entries)]
        for reader in found:
            reader.only(*keys)
            reader.complain_about_others()
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
