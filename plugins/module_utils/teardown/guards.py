# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must not be deleted, and why: one pure function for each guard, asked in order.

Room: teardown (pure). Facts are fetched before; a guard never fetches.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass, field

from ..profiles.keep_markers import DELETION_APPROVED, KEEP_MARKERS
from ..profiles.system_objects import SYSTEM_OBJECTS, SystemObject
from .members.claims import OwnershipTest
from .members.looking import Member
from .verdicts import Fate, Verdict

CRD = ("apiextensions.k8s.io", "customresourcedefinitions")
# Kinds that the cluster's own controllers make for their owners.
MADE_BY_CONTROLLERS = frozenset(
    {("", "pods"), ("apps", "replicasets"), ("apps", "controllerrevisions"), ("batch", "jobs")}
)


@dataclass
class Facts:
    """All that guards may ask for."""

    not_ours: OwnershipTest | None = None
    home: str = ""  # the namespace of the release
    check_ownership: bool = True
    keep_markers: bool = True
    # uid of a definition or namespace → why others would go with it. Only filled where the task says to keep such.
    takes_others_along: dict[str, str] = field(default_factory=dict)
    # Kind → why objects of it are kept although something in the plan owns them.
    keep_owned: dict[tuple[str, str], str] = field(default_factory=dict)


def judge(member: Member, facts: Facts) -> Verdict:
    """The first guard that objects decides; silence means delete."""
    objections = (guard(member, facts) for guard in GUARDS)
    if objection := next(filter(None, objections), None):
        return objection
    if member.record.terminating:
        return Verdict(Fate.TERMINATING, "it is already being deleted; it is waited for")
    return Verdict(Fate.DELETE, member.source, unconfirmed=why_unconfirmed(member, facts))


def part_of_the_cluster(member: Member, facts: Facts) -> Verdict | None:
    if member.named:
        return None
    entry = next((entry for entry in SYSTEM_OBJECTS if _is(member, entry)), None)
    return Verdict(Fate.PROTECTED, f"{entry.why}; only members.objects can name it") if entry else None


def kept_by_its_source(member: Member, facts: Facts) -> Verdict | None:
    return Verdict(Fate.KEEP, member.keep) if member.keep else None


def carries_a_keep_marker(member: Member, facts: Facts) -> Verdict | None:
    if not facts.keep_markers:
        return None
    marker = keep_marker_of(member)
    return Verdict(Fate.KEEP, marker) if marker else None


def owned_by_somebody_else(member: Member, facts: Facts) -> Verdict | None:
    if not facts.check_ownership or facts.not_ours is None:
        return None
    if member.dependant and (member.resource.group, member.resource.plural) in MADE_BY_CONTROLLERS:
        return None  # its labels come from a template; whose it is, its owner reference says
    why = facts.not_ours(member.record, member.marked)
    return Verdict(Fate.NOT_OWNED, why) if why else None


def claimed_by_another_release(member: Member, facts: Facts) -> Verdict | None:
    return Verdict(Fate.NOT_OWNED, member.disputed) if facts.check_ownership and member.disputed else None


def named_by_metadata_only(member: Member, facts: Facts) -> Verdict | None:
    """Release metadata is what somebody wrote into a namespace: it proves nothing about what is outside of it."""
    why = why_unconfirmed(member, facts)
    if not why or not facts.check_ownership or member.record.namespace == facts.home:
        return None
    where = "in another namespace" if member.record.namespace else "cluster-scoped"
    return Verdict(Fate.NOT_OWNED, f"{why}, and it is {where}")


def why_not_owned(member: Member, facts: Facts) -> str:
    """Why an object is not the release's own, by what it says itself; empty if it is."""
    guards = (owned_by_somebody_else, claimed_by_another_release, named_by_metadata_only)
    return next((verdict.why for guard in guards if (verdict := guard(member, facts))), "")


def why_unconfirmed(member: Member, facts: Facts) -> str:
    """Why nothing but the release metadata says that an object is the release's; empty where it says so itself."""
    if not member.evidence or member.evidence in member.record.annotations:
        return ""
    if facts.not_ours is not None and not facts.not_ours(member.record, True):
        return ""
    return f"only the release metadata names it: it carries no annotation {member.evidence}"


def takes_others_along(member: Member, facts: Facts) -> Verdict | None:
    why = facts.takes_others_along.get(member.record.uid)
    return Verdict(Fate.KEEP, why) if why else None


Guard = Callable[[Member, Facts], "Verdict | None"]
GUARDS: tuple[Guard, ...] = (
    part_of_the_cluster,
    kept_by_its_source,
    carries_a_keep_marker,
    owned_by_somebody_else,
    claimed_by_another_release,
    named_by_metadata_only,
    takes_others_along,
)


def keep_marker_of(member: Member) -> str:
    """The keep marker an object carries, in words; empty if none."""
    record = member.record
    for marker in KEEP_MARKERS:
        value = record.annotations.get(marker.key) or record.labels.get(marker.key)
        if value is None:
            continue
        # In any case of letters, as Helm and Flux read theirs: a doubt keeps.
        said = {word.strip().lower() for word in value.split(",")}
        words = said & {word.lower() for word in marker.words}
        if words and all(word.endswith("=confirm") for word in words) and DELETION_APPROVED in record.annotations:
            continue
        if words:
            return f"{marker.tool} marker {marker.key}: {value}"
    return ""


def _is(member: Member, entry: SystemObject) -> bool:
    resource, record = member.resource, member.record
    return (
        fnmatch.fnmatchcase(resource.group, entry.group)
        and fnmatch.fnmatchcase(resource.plural, entry.plural)
        and fnmatch.fnmatchcase(record.namespace, entry.namespace)
        and fnmatch.fnmatchcase(record.name, entry.name)
        and entry.labels.items() <= dict(record.labels).items()
        and entry.annotations.items() <= dict(record.annotations).items()
    )
