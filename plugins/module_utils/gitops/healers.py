# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who would put an object back: what the object says of its owners, and whether an owner heals at all.

Room: gitops (pure). owners.py looks for the owners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..commands import command
from ..pointers import ABSENT, value_of, values
from ..profiles.gitops_owners import GITOPS_OWNERS, GitopsOwner, Sign

Item = Mapping[str, Any]
# On an owner that was asked to wait: for which objects, one of each namespace. Without it, a pause is not ours to end.
PAUSED_FOR = "sunset.dev/paused-for"


@dataclass(frozen=True)
class Claim:
    """An object says: this one is my owner."""

    owner: GitopsOwner
    name: str
    namespace: str = ""  # empty: the sign does not say it
    ambiguous: bool = False

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.owner.tool}, {self.owner.kind} {place}".strip()


@dataclass(frozen=True)
class Healer:
    """An owner of an object, as far as it could be seen."""

    claim: Claim
    item: Item | None = None
    unseen: str = ""  # why it could not be looked at

    @property
    def owner(self) -> GitopsOwner:
        return self.claim.owner

    @property
    def name(self) -> str:
        return str(self.item["metadata"].get("name") or "") if self.item else self.claim.name

    @property
    def namespace(self) -> str:
        return str(self.item["metadata"].get("namespace") or "") if self.item else self.claim.namespace

    @property
    def way_out(self) -> str:
        """Empty where the mark may be anybody's, and nobody could look: there may be nothing to be made to wait."""
        if self.claim.ambiguous and self.unseen:
            return ""
        line = self.owner.way_out if self.namespace else self.owner.way_out.replace("{namespace}", "<namespace>")
        return command(line, name=self.name, namespace=self.namespace)

    @property
    def why_quiet(self) -> str:
        """Why it leaves the object as it is; empty when it puts it back, or may."""
        if self.item is None:
            return ""
        if PAUSED_FOR in annotations_of(self.item):
            return ""  # paused by us, for other objects: it goes on as soon as these are done
        for quiet in self.owner.quiet:
            found = value_of(self.item, quiet.pointer)
            if (None if found is ABSENT else found) in quiet.values:
                return quiet.why
        return ""

    def __str__(self) -> str:
        return str(Claim(self.owner, self.name, self.namespace))


def annotations_of(item: Item) -> Mapping[str, str]:
    return (item.get("metadata") or {}).get("annotations") or {}


def _labels_of(item: Item) -> Mapping[str, str]:
    return (item.get("metadata") or {}).get("labels") or {}


def claims_on(item: Item, owners: Sequence[GitopsOwner] = GITOPS_OWNERS) -> list[Claim]:
    """Whom this object names as its owners. Those that are told to leave it alone do not count."""
    found: dict[tuple[GitopsOwner, str, str], Claim] = {}
    for owner in owners:
        if _is_left_alone(item, owner):
            continue
        for sign in owner.signs:
            for name, namespace in _READERS[sign.how](item, sign):
                key = (owner, name, namespace)
                if key not in found or not sign.ambiguous:
                    found[key] = Claim(owner, name, namespace, sign.ambiguous)
    return list(found.values())


def _is_left_alone(item: Item, owner: GitopsOwner) -> bool:
    known = annotations_of(item)
    return any(known.get(key) in words for key, words in owner.left_alone)


Named = Iterable[tuple[str, str]]


def _by_pair(values_of: Callable[[Item], Mapping[str, str]]) -> Callable[[Item, Sign], Named]:
    def read(item: Item, sign: Sign) -> Named:
        known = values_of(item)
        if known.get(sign.keys[0]):
            yield known[sign.keys[0]], known.get(sign.keys[1], "")

    return read


def _tracking_id(item: Item, sign: Sign) -> Named:
    """`[namespace_]application:group/Kind:namespace/name`. One copied from another object is no claim."""
    application, _colon, rest = annotations_of(item).get(sign.keys[0], "").partition(":")
    if not application or not rest:
        return
    kind, _colon, place = rest.partition(":")
    metadata = item.get("metadata") or {}
    group = str(item.get("apiVersion") or "").rpartition("/")[0]
    own_kind = item.get("kind")
    # An item of a list may not say its kind; then the name has to do.
    same_kind = own_kind is None or kind == f"{group}/{own_kind}"
    if same_kind and place == f"{metadata.get('namespace') or ''}/{metadata.get('name')}":
        yield _instance_name(application)


def _instance(item: Item, sign: Sign) -> Named:
    value = _labels_of(item).get(sign.keys[0])
    if value:
        yield _instance_name(value)


def _instance_name(text: str) -> tuple[str, str]:
    """Applications outside of Argo CD's own namespace are called `namespace_name`."""
    namespace, underscore, name = text.partition("_")
    return (name, namespace) if underscore else (text, "")


def _label(item: Item, sign: Sign) -> Named:
    value = _labels_of(item).get(sign.keys[0])
    if value:
        yield f"{sign.keys[0]}={value}", ""


def _object_set(item: Item, sign: Sign) -> Named:
    """Others use object sets, too; those say who they are."""
    known = annotations_of(item)
    kind = known.get(sign.keys[1], "")
    if known.get(sign.keys[0]) and (not kind or kind.startswith("fleet.cattle.io")):
        yield known[sign.keys[0]], ""


def _managed(item: Item, sign: Sign) -> Named:
    known = annotations_of(item)
    if known.get(sign.keys[0]) == "enabled":
        yield known.get(sign.keys[1], ""), ""


def _owner_reference(item: Item, sign: Sign) -> Named:
    for reference in (item.get("metadata") or {}).get("ownerReferences") or ():
        group = str(reference.get("apiVersion") or "").rpartition("/")[0]
        if (group, reference.get("kind")) == sign.keys:
            yield str(reference.get("name") or ""), ""


_READERS: dict[str, Callable[[Item, Sign], Named]] = {
    "labels": _by_pair(_labels_of),
    "annotations": _by_pair(annotations_of),
    "tracking-id": _tracking_id,
    "instance": _instance,
    "label": _label,
    "object-set": _object_set,
    "managed": _managed,
    "owner": _owner_reference,
}


def owners_meant(claim: Claim, owned: Item, candidates: Sequence[Item]) -> list[Item]:
    """Which of these a claim means. Several only where nothing tells namesakes apart."""
    fitting = [one for one in candidates if _is_meant(claim, one)]
    if len(fitting) > 1 and claim.owner.lists:
        listing = [one for one in fitting if _lists(one, claim.owner.lists, owned)]
        fitting = listing or fitting
    return fitting


def _is_meant(claim: Claim, candidate: Item) -> bool:
    metadata = candidate.get("metadata") or {}
    if claim.owner.marks_with:
        return bool(value_of(candidate, claim.owner.marks_with) == claim.name)
    if claim.namespace and claim.namespace != metadata.get("namespace"):
        return False
    name = str(metadata.get("name") or "")
    if any(sign.how == "object-set" for sign in claim.owner.signs):
        return claim.name == name or claim.name.endswith(f"-{name}")  # with the name of the set in front
    return claim.name == name


def _lists(candidate: Item, pattern: str, owned: Item) -> bool:
    metadata = owned.get("metadata") or {}
    own = (metadata.get("namespace"), metadata.get("name"))
    return any((one.get("namespace"), one.get("name")) == own for one in values(candidate, f"{pattern}/*"))


def maker_of(item: Item) -> tuple[str, str]:
    """Kind and name of the controller that made this object; empty when nobody did."""
    for reference in (item.get("metadata") or {}).get("ownerReferences") or ():
        if reference.get("controller"):
            return str(reference.get("kind") or ""), str(reference.get("name") or "")
    return "", ""


def preserves(generator: Item, owner: GitopsOwner, keys: Sequence[str]) -> bool:
    """Whether a generator lets annotations stay on the owners that it has made."""
    if owner.generator is None or value_of(generator, owner.generator.mode) in owner.generator.hands_off:
        return True
    kept = value_of(generator, owner.generator.preserves)
    return isinstance(kept, list) and set(keys) <= set(kept)
