# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody has seen in a plan and said yes to: the rest of it may be gone on with, under another hash.

Room: teardown (pure values). Not only which objects, but what was said of them: to let go of one is no consent to
delete it, and a plan without force none to strip anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shown:
    """uids, by what was to happen to them. Truthy when there is anything."""

    deleted: frozenset[str] = frozenset()
    released: frozenset[str] = frozenset()
    forced: bool = False
    allow: frozenset[str] | None = frozenset()  # protected finalizers. None: nobody has kept that apart
    # Product → how its drain deals with what is outside of the cluster. None: nobody has kept that apart.
    policies: Mapping[str, str] | None = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return bool(self.deleted or self.released)

    @property
    def size(self) -> int:
        return len(self.deleted | self.released)

    @property
    def touched(self) -> frozenset[str]:
        return self.deleted | self.released

    def consents_to(self, allow: Iterable[str]) -> bool:
        """To force, and to these protected finalizers with it."""
        return self.forced and (self.allow is None or self.allow.issuperset(allow))

    def allows(self, policy: str, product: str) -> bool:
        return self.policies is None or self.policies.get(product) == policy


NOTHING_SHOWN = Shown()


def shown_under_the_same_options(uids: Set[str]) -> Shown:
    """Where only the objects were kept, and whoever kept them sees to it that the options are still the same."""
    return Shown(frozenset(uids), frozenset(uids), forced=True, allow=None, policies=None)
