# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that appear while a step runs that takes everything of a type: a controller still at work.

Room: teardown. A step that takes all of a type is over only when the type stays empty. Somebody who brings the same
object back again and again is named, instead of being fought for ever.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..objects import Resource
from ..problems import Problem, Refused
from .guards import Facts, judge
from .matching import Matcher
from .members.looking import Looker, Member
from .plan import GOING, Entry
from .steps import StepRule, TypeRule

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

PATIENCE = 3  # how often the same name may come back


class Arrivals:
    def __init__(self, matcher: Matcher, facts: Facts, looker: Looker, cluster: Cluster) -> None:
        self._matcher = matcher
        self._facts = facts
        self._looker = looker
        self._cluster = cluster
        self._came_back: Counter[tuple[Resource, str, str]] = Counter()

    def since(self, rule: StepRule, known: set[str]) -> list[Entry]:
        """What is there now of the step's types and was not before. Raises when the same names keep coming back."""
        found = []
        for entry in (entry for entry in rule.types if entry.everything):
            found += self._of_type(rule, entry, known)
        for arrival in found:
            self._count(arrival.member)
        return found

    def _of_type(self, rule: StepRule, entry: TypeRule, known: set[str]) -> list[Entry]:
        resource = self._matcher.types.get(entry.path)
        if resource is None:
            return []
        try:
            records = self._looker.again(resource)
        except Problem:
            if self._cluster.is_installed(resource):
                raise
            return []  # its definition went with the step
        members = [
            Member(resource, record, f"every {resource.kind} ({entry.path})", marked=False) for record in records
        ]
        fitting = [
            member
            for member in members
            if member.record.uid not in known and self._matcher.reaches(rule, entry, member)
        ]
        judged = [Entry(member, judge(member, self._facts)) for member in fitting]
        return [entry for entry in judged if entry.verdict.fate in GOING]

    def _count(self, member: Member) -> None:
        key = (member.resource, member.record.namespace, member.record.name)
        self._came_back[key] += 1
        if self._came_back[key] > PATIENCE:
            raise Refused(
                "gave up on",
                which=str(member.ref),
                why=f"it was recreated {PATIENCE} times by {self._manager_of(member)}",
                next_step="stop whoever recreates it, then run the task again",
            )

    def _manager_of(self, member: Member) -> str:
        try:
            item = self._cluster.read_whole(member.resource, member.record.namespace, member.record.name) or {}
        except Problem:
            return "somebody"
        fields = (item.get("metadata") or {}).get("managedFields") or [{}]
        return str(fields[0].get("manager") or "somebody")
