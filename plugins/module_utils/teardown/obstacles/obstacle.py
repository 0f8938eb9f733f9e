# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Something in the cluster that would stop deletes and patches, whoever sends them.

Room: teardown (pure).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from ...objects import ObjectRef

WEBHOOK = "webhook"
CONVERSION = "conversion"
API_SERVICE = "api service"

Place = tuple[str, str]  # (namespace, name) of a Service


@dataclass(frozen=True)
class Obstacle:
    """`certain`: it is in the way now. Otherwise it may be: what would decide it cannot be seen from here."""

    kind: str  # WEBHOOK, CONVERSION or API_SERVICE
    ref: ObjectRef
    why: str
    otherwise: str  # what to do where it cannot be made to answer
    services: frozenset[Place] = frozenset()  # the Services it calls in vain
    certain: bool = True
    hooks: frozenset[str] = frozenset()  # names of the webhooks that nobody answers for
    for_good: bool = False  # the namespace of its Services is being deleted: nobody can bring them back

    @property
    def suggestion(self) -> str:
        named = ", ".join("/".join(place) for place in sorted(self.services))
        if self.for_good:
            return f"Service {named} cannot come back, as its namespace is going; {self.otherwise}"
        return f"{f'bring Service {named} back' if named else 'see that it answers'}, or, {self.otherwise}"

    def while_these_go(self, namespaces: Collection[str]) -> Obstacle:
        homes = {namespace for namespace, _name in self.services}
        return replace(self, for_good=bool(homes) and homes <= set(namespaces))

    @property
    def sentence(self) -> str:
        return f"{self.ref} {self.why}" if self.kind == WEBHOOK else f"{self.ref}: {self.why}"

    def as_dict(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "object": self.ref.as_dict(),
            "why": self.why,
            "suggestion": self.suggestion,
            "services": [{"namespace": namespace, "name": name} for namespace, name in sorted(self.services)],
            "certain": self.certain,
        }


@dataclass
class Obstacles:
    """What was found, and what could not be looked at: there may be more of them behind it."""

    found: list[Obstacle] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
