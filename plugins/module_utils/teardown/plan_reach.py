# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a plan reaches: what it deletes outside of the release's namespace, and what only the release metadata names.

Room: teardown (pure).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .plan import RECORDS, Entry, Plan


@dataclass(frozen=True)
class Reach:
    home: str  # the namespace of the release; empty where the members are no release
    cluster_scoped: int
    namespaces: Mapping[str, int]  # other namespaces → objects there
    unconfirmed: Sequence[Entry]

    @property
    def outside(self) -> str:
        """What lies outside, in words; empty if nothing does."""
        parts = [f"{_objects(self.cluster_scoped)} cluster-scoped"] if self.cluster_scoped else []
        parts += [f"{_objects(count)} in namespace {name}" for name, count in sorted(self.namespaces.items())]
        return ", ".join(parts)


def reach_of(plan: Plan) -> Reach:
    """Without what members own and without the release metadata itself."""
    entries = [
        entry for step in plan.steps if step.rule is not RECORDS for entry in step.going if not entry.member.dependant
    ]
    outside = [entry.member for entry in entries if plan.home and entry.member.record.namespace != plan.home]
    return Reach(
        plan.home,
        cluster_scoped=sum(not one.resource.namespaced for one in outside),
        namespaces=Counter(one.record.namespace for one in outside if one.resource.namespaced),
        unconfirmed=[entry for entry in entries if entry.verdict.unconfirmed],
    )


def warnings_of(plan: Plan) -> list[str]:
    """What a person should look at: objects that are deleted although nothing but the release metadata names them."""
    found = reach_of(plan).unconfirmed
    if not found:
        return []
    first, more = found[0], f" and {len(found) - 1} more" if len(found) > 1 else ""
    return [f"{first.member.ref}{more} cannot be confirmed: {first.verdict.unconfirmed}"]


def _objects(count: int) -> str:
    return f"{count} object{'s' if count != 1 else ''}"
