# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring back what a run deleted, from what it kept: the other way round, and honest about what cannot come back.

Room: teardown. Nothing that is there is touched: an object of the same name stays as it is and is listed. Every object
comes back as another one, with another uid; what its controllers had made of it they make again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..clock import Clock, Deadline, StopSign
from ..commands import playbook
from ..events import Did, StepBegan, StepEnded, Tell
from ..objects import ObjectRef, Resource
from ..problems import ENDS_THE_TASK, Problem, TimedOut
from .undo_items import as_it_can_come_back, ref_of, without_cluster_address

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_NAP = 0.5
# What others live in, or are defined by, comes first, whatever step it was deleted in.
_DEFINITION = ("CustomResourceDefinition", "apiextensions.k8s.io")
_FIRST = (("Namespace", ""), _DEFINITION)
_SECRET = ("Secret", "")
Item = Mapping[str, Any]


@dataclass(frozen=True)
class Bundle:
    """What a run kept, in the order of deletion; `uids` by kind, namespace and name."""

    steps: Sequence[tuple[str, Sequence[Item]]]
    secrets: Sequence[Item] = ()
    left_out: Sequence[str] = ()
    uids: Mapping[tuple[str, str, str], str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.secrets and not any(items for _step, items in self.steps)


@dataclass(frozen=True)
class Back:
    ref: ObjectRef
    old_uid: str


@dataclass
class UndoOutcome:
    back: list[Back] = field(default_factory=list)
    there: list[ObjectRef] = field(default_factory=list)
    lost: list[tuple[ObjectRef, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class Undo:
    def __init__(
        self,
        bundle: Bundle,
        cluster: Cluster,
        clock: Clock,
        stop: StopSign,
        tell: Tell,
        *,
        timeout: float,
        dry_run: bool,
    ) -> None:
        self.bundle = bundle
        self.cluster = cluster
        self.clock = clock
        self.stop = stop
        self.tell = tell
        self.deadline = Deadline(clock, timeout)
        self.dry_run = dry_run
        self.outcome = UndoOutcome()
        # What a dry run cannot try, as what it needs does not really come back.
        self._only_promised: set[str] = set()

    def run(self) -> UndoOutcome:
        self.cluster.limit_to(self.deadline)
        self._require_rights()
        for rank, (name, items) in enumerate(layers_of(self.bundle), 1):
            self.stop.raise_if_set()
            if self.dry_run:  # the plan has lines of its own, and nothing has come back
                self._bring_back(items)
                continue
            began, before = self.clock.now(), len(self.outcome.back)
            self.tell(StepBegan(name, rank, len(items)))
            self._bring_back(items)
            came = len(self.outcome.back) - before
            self.tell(StepEnded(name, rank, 0, len(items) - came, self.clock.now() - began, back=came))
        return self.outcome

    def _require_rights(self) -> None:
        """Of every layer, before the first creation; also of kinds that only come back with the bundle."""
        items = [item for _name, layer in layers_of(self.bundle) for item in layer]
        to_come = {_defines(item): item for item in items if _kind(item) == _DEFINITION}
        places: dict[Resource, set[str]] = {}
        for item in items:
            resource = self._served(item)[0] or _defined_by(to_come.get(_kind(item)))
            if resource is not None:
                places.setdefault(resource, set()).add(_namespace(item))
        for resource, namespaces in places.items():
            self.cluster.require("create", resource, sorted(namespaces))

    def _bring_back(self, items: Sequence[Item]) -> None:
        self.cluster.forget_catalogue()  # definitions may have come back with the layer before
        placed = [(item, resource) for item in items if (resource := self._resource_of(item)) is not None]
        for item, resource in placed:
            if resource.kind == "Namespace":
                self._wait_until_gone(resource, item)
        self.cluster.for_each(placed, lambda one: self._create(*one))
        if not self.dry_run:
            for item, resource in placed:
                if resource.kind == "CustomResourceDefinition":
                    self._wait_until_served(item)

    def _resource_of(self, item: Item) -> Resource | None:
        if self.dry_run and str(item["apiVersion"]).partition("/")[0] in self._only_promised:
            self.outcome.back.append(Back(ref_of(item), self._old_uid(item)))
            return None
        resource, why = self._served(item)
        if resource is None:
            self.outcome.lost.append((ref_of(item), why))
        return resource

    def _served(self, item: Item) -> tuple[Resource | None, str]:
        try:
            return self.cluster.resolve(str(item["kind"]), str(item["apiVersion"]), by_hand=False)
        except ENDS_THE_TASK:
            raise
        except Problem as problem:
            return None, str(problem)

    def _create(self, item: Item, resource: Resource) -> None:
        self.stop.raise_if_set()
        wanted, remark = as_it_can_come_back(item, self.cluster)
        namespace = _namespace(item)
        if self.dry_run and namespace in self._only_promised:
            self.outcome.back.append(Back(ref_of(item), self._old_uid(item)))
            return
        written = self.cluster.create(resource, namespace, wanted, dry_run=self.dry_run)
        if written.problem is not None and resource.kind == "Service":
            bare = without_cluster_address(wanted)
            if bare is not None and "allocated" in str(written.problem):
                written = self.cluster.create(resource, namespace, bare, dry_run=self.dry_run)
                remark = f"{ref_of(item)}: its cluster address is taken, so it got another one"
        self._note(item, resource, written)
        if remark and written.changed:
            self.outcome.remarks.append(remark)

    def _note(self, item: Item, resource: Resource, written: Any) -> None:
        record = written.record
        ref = ref_of(item, record.uid if record is not None else "")
        effect = written.effect.value
        if written.problem is not None:
            self.outcome.lost.append((ref, str(written.problem)))
        elif written.changed:
            self.outcome.back.append(Back(ref, self._old_uid(item)))
            if self.dry_run:
                self._promise(item, resource)
        elif record.terminating:
            self.outcome.lost.append((ref, _still_going(ref)))
        else:
            self.outcome.there.append(ref)
        version = record.resource_version if record is not None else ""
        self.tell(Did("create", ref, effect, str(written.problem or ""), version, dry_run=self.dry_run))

    def _promise(self, item: Item, resource: Resource) -> None:
        if resource.kind == "Namespace":
            self._only_promised.add(ref_of(item).name)
        elif resource.kind == "CustomResourceDefinition":
            self._only_promised.add(str(item["spec"]["group"]))

    def _old_uid(self, item: Item) -> str:
        ref = ref_of(item)
        return self.bundle.uids.get((ref.kind, ref.namespace, ref.name), "")

    # -- waiting ---------------------------------------------------------------------------------------------------

    def _wait_until_gone(self, resource: Resource, item: Item) -> None:
        """A namespace of the same name may still be on its way out."""
        name = ref_of(item).name
        while (record := self.cluster.read(resource, "", name)) is not None and record.terminating:
            self._nap(
                f"Namespace {name}",
                "it is still being deleted",
                f"ask what holds it with {playbook('explain', {'namespace': name})}",
            )

    def _wait_until_served(self, item: Item) -> None:
        spec = item["spec"]
        while True:
            self.cluster.forget_catalogue()
            if self.cluster.find_kind(spec["group"], spec["names"]["kind"]).resource is not None:
                return
            self._nap(f"CustomResourceDefinition {ref_of(item).name}", "it is not served yet", "look at its conditions")

    def _nap(self, which: str, why: str, next_step: str) -> None:
        self.stop.raise_if_set()
        if self.deadline.passed():
            raise TimedOut(
                "the time is over, waiting for", which=which, why=why, next_step=f"{next_step}; then run again"
            )
        self.clock.sleep(_NAP)


def layers_of(bundle: Bundle) -> Iterator[tuple[str, Sequence[Item]]]:
    """Steps from the last to the first, each from its end; homes and definitions before all of them, then Secrets."""
    steps = [(name, list(reversed(items))) for name, items in reversed(bundle.steps)]
    for kind in _FIRST:
        found = [item for _name, items in steps for item in items if _kind(item) == kind]
        if found:
            yield f"{kind[0]}s", found
    if bundle.secrets:
        yield f"{_SECRET[0]}s", list(reversed(bundle.secrets))
    for name, items in steps:
        rest = [item for item in items if _kind(item) not in _FIRST]
        if rest:
            yield name, rest


def _still_going(ref: ObjectRef) -> str:
    """It is there and will not stay: nobody may take it for the one that was wanted back."""
    ask = playbook("explain", {"kind": ref.kind, "name": ref.name, "namespace": ref.namespace})
    return f"the old one is still being deleted; what holds it says {ask}"


def _kind(item: Item) -> tuple[str, str]:
    group, slash, _version = str(item["apiVersion"]).partition("/")
    return str(item["kind"]), group if slash else ""


def _defines(definition: Item) -> tuple[str, str]:
    spec = definition["spec"]
    return str(spec["names"]["kind"]), str(spec["group"])


def _defined_by(definition: Item | None) -> Resource | None:
    """The kind that a definition brings; as much of it as a question about rights needs."""
    if definition is None:
        return None
    kind, group = _defines(definition)
    spec = definition["spec"]
    version = str((spec.get("versions") or [{}])[0].get("name") or "")
    return Resource(group, version, kind, str(spec["names"]["plural"]), spec.get("scope") == "Namespaced")


def _namespace(item: Item) -> str:
    return str((item.get("metadata") or {}).get("namespace") or "")
