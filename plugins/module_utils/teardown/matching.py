# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Does a step take an object? By type, names, namespaces, labels and exclusions.

Room: teardown (pure). Types are compared by group and plural, after discovery has told what the task's spelling means.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..labels import parse_selector
from ..objects import Resource
from .guards import CRD
from .members.looking import Member
from .steps import Narrowing, Standard, StepRule, TypeRule

# The task's types, by their path in the options, with what they resolve to. None: not installed, so an empty set.
Types: TypeAlias = Mapping[str, Resource | None]


def is_definition(member: Member) -> bool:
    return (member.resource.group, member.resource.plural) == CRD


STANDARD_TESTS: dict[Standard, Callable[[Member], bool]] = {
    Standard.NAMESPACED: lambda member: member.resource.namespaced,
    Standard.CLUSTER_SCOPED: lambda member: not member.resource.namespaced and not is_definition(member),
    Standard.CRDS: is_definition,
    Standard.EMPTY: lambda member: False,
}


@dataclass(frozen=True)
class Matcher:
    """Assigns members to steps. `explicit_first` is dialect B's rule: a named type beats a standard rank."""

    rules: tuple[StepRule, ...]
    types: Types
    explicit_first: bool = False

    def step_of(self, member: Member) -> int | None:
        """The place of the step that takes it, or None."""
        places = list(range(len(self.rules)))
        if self.explicit_first:
            places.sort(key=lambda place: self.rules[place].standard is not None)
        return next((place for place in places if self._takes(self.rules[place], member)), None)

    def excludes(self, member: Member) -> bool:
        """Whether a step says that it does not take this one."""
        return any(self._excluded(rule, member) for rule in self.rules if not rule.context)

    def _takes(self, rule: StepRule, member: Member) -> bool:
        if rule.context:
            return False  # that step is about another cluster
        if rule.standard is not None:
            fits = STANDARD_TESTS[rule.standard](member)
        else:
            fits = any(self.is_of(entry, member) for entry in rule.types)
        return fits and fits_narrowing(rule.narrowing, member) and not self._excluded(rule, member)

    def _excluded(self, rule: StepRule, member: Member) -> bool:
        return any(self.is_of(entry, member) for entry in rule.exclude)

    def reaches(self, rule: StepRule, entry: TypeRule, member: Member) -> bool:
        """Does a step that takes everything of a type take this object?"""
        return self.is_of(entry, member) and fits_narrowing(rule.narrowing, member) and not self._excluded(rule, member)

    def is_of(self, entry: TypeRule, member: Member) -> bool:
        resource = self.types.get(entry.path)
        if resource is None:
            return False
        same = (resource.group, resource.plural) == (member.resource.group, member.resource.plural)
        return same and fits_narrowing(entry.narrowing, member)


def fits_narrowing(narrowing: Narrowing, member: Member) -> bool:
    record = member.record
    return (
        _fits(narrowing.names, record.name)
        and _fits(narrowing.namespaces, record.namespace)
        and (not narrowing.label_selector or parse_selector(narrowing.label_selector)(record.labels))
    )


def _fits(patterns: tuple[str, ...], text: str) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)
