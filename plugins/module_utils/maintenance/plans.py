# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task is about to do to each route, before anything is sent.

Room: maintenance (pure).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..terms import Terms
from .backups import Paused
from .markers import OVERLAY_DIGEST
from .outcome import PageSetOutcome, TargetOutcome, counted
from .overlay import Overlay
from .overlaying import is_in_front
from .pages.bundle import Bundle
from .scene import Route, Scene
from .swap import Selection, Swap


@dataclass
class Plan:
    """One route, the page it shall show, and what that changes."""

    route: Route
    selection: Selection
    bundle: Bundle
    swap: Swap
    outcome: TargetOutcome
    paused: list[Paused] = field(default_factory=list)
    before: frozenset[str] = frozenset()  # pages it showed when we came
    overlay: Overlay | None = None  # what is put in front of it, instead of a change to the route itself

    @property
    def needed(self) -> bool:
        if self.overlay is not None:
            return not is_in_front(self.route, self.overlay)
        return self.swap.needed


def plan_hash(plans: Sequence[Plan], terms: Terms) -> str:
    content = [
        [
            plan.route.uid,
            [step for step in plan.swap.operations if step["op"] != "test"],
            *([plan.overlay.annotations[OVERLAY_DIGEST]] if plan.overlay else ()),
        ]
        for plan in sorted(plans, key=lambda one: one.route.uid)
    ]
    return terms.hash_of(content)


def summary(plans: Sequence[Plan]) -> str:
    places, pages = sum(len(plan.swap.swapped) for plan in plans), len(one_a_page(plans))
    return f"{counted(len(plans), 'route')} with {counted(places, 'place')} behind {counted(pages, 'page')}"


def one_a_page(plans: Sequence[Plan]) -> list[Plan]:
    """One plan for each page and namespace."""
    return list({(plan.route.namespace, plan.bundle.name): plan for plan in reversed(plans)}.values())[::-1]


def is_hosted(plan: Plan, scene: Scene) -> bool:
    return (plan.route.namespace, plan.bundle.name) in scene.pages


def is_claimed(plan: Plan, scene: Scene) -> bool:
    page = scene.pages.get((plan.route.namespace, plan.bundle.name))
    return page is not None and plan.route.uid in page.owners


def page_set_of(plan: Plan, state: str) -> PageSetOutcome:
    return PageSetOutcome(plan.route.namespace, plan.bundle.name, plan.bundle.digest, state)
