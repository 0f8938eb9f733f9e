# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody has seen in a plan and said yes to: the rest of it may be gone on with, under another hash.

Shared by all rooms, pure. Not only which objects, but what was said of them: to let go of one is no consent to delete
it, and a plan without force none to strip anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Shown:
    """uids, by what was to happen to them. Truthy when there is anything."""

    deleted: frozenset[str] = frozenset()
    released: frozenset[str] = frozenset()
    work: frozenset[str] = frozenset()  # of another kind: names that change with what is to be done
    forced: bool = False
    allow: frozenset[str] | None = frozenset()  # protected finalizers. None: nobody has kept that apart
    # Product → how its drain deals with what is outside of the cluster.
    policies: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return bool(self.size)

    @property
    def size(self) -> int:
        return len(self.touched | self.work)

    @property
    def touched(self) -> frozenset[str]:
        return self.deleted | self.released

    def consents_to(self, allow: Iterable[str]) -> bool:
        """To force, and to these protected finalizers with it."""
        return self.forced and (self.allow is None or self.allow.issuperset(allow))

    def allows(self, policy: str, product: str) -> bool:
        return self.policies.get(product) == policy


NOTHING_SHOWN = Shown()


def shown_by(plan: Mapping[str, Any]) -> Shown:
    """What the plan of a result or of an evidence folder says."""
    steps = plan.get("steps") or ()
    return Shown(
        deleted=frozenset(uid for step in steps for uid in _uids(step, "objects")),
        released=frozenset(uid for step in steps for uid in _uids(step, "release")),
        work=frozenset(plan.get("work") or ()),
        forced=any(step.get("force") for step in steps if step.get("objects")),
        allow=frozenset(plan.get("force_allow") or ()),
        policies={str(drain["profile"]): str(drain["policy"]) for drain in plan.get("drains") or ()},
    )


def _uids(step: Mapping[str, Any], rows: str) -> Iterator[str]:
    for row in step.get(rows) or ():
        yield str(row["object"]["uid"])
