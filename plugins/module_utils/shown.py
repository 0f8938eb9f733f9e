# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody has seen in a plan and said yes to: the rest of it may be gone on with, under another hash.

Shared by all rooms, pure. Not only which objects, but what was said of them: to let go of one is no consent to delete
it. And only under the same terms: the same cluster, the same options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .terms import Terms


@dataclass(frozen=True)
class Shown:
    """uids, by what was to happen to them. Truthy when there is anything."""

    deleted: frozenset[str] = frozenset()
    released: frozenset[str] = frozenset()
    detached: frozenset[str] = frozenset()  # kept, and without their owners
    work: frozenset[str] = frozenset()  # of another kind: names that change with what is to be done
    terms: str = ""  # the digest of the terms it was shown under
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

    def allows(self, policy: str, product: str) -> bool:
        return self.policies.get(product) == policy


NOTHING_SHOWN = Shown()


def shown_by(plan: Mapping[str, Any]) -> Shown:
    """What the plan of a result or of an evidence folder says."""
    steps = plan.get("steps") or ()
    return Shown(
        deleted=frozenset(uid for step in steps for uid in _uids(step, "objects")),
        released=frozenset(uid for step in steps for uid in _uids(step, "release")),
        detached=frozenset(uid for step in steps for uid in _uids(step, "detach")),
        work=frozenset(plan.get("work") or ()),
        terms=_terms(plan),
        policies={str(drain["profile"]): str(drain["policy"]) for drain in plan.get("drains") or ()},
    )


def _terms(plan: Mapping[str, Any]) -> str:
    found = plan.get("terms")
    return Terms(found["clusters"], found["options"]).digest if found else ""


def _uids(step: Mapping[str, Any], rows: str) -> Iterator[str]:
    for row in step.get(rows) or ():
        yield str(row["object"]["uid"])
