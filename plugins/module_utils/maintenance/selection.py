# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which routes a task means, and for which of them there can be no page.

Room: maintenance (pure, but for the names of kinds).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..pointers import values
from ..problems import Refused
from ..profiles.route_annotations import ROUTE_ANNOTATIONS
from .changes import latest
from .claims import claim, services_in
from .locations import Location, ServiceRef
from .markers import MANAGED, SOLVER
from .options import Target
from .route_kinds import RouteKind
from .scene import Route, Scene, find_kinds
from .swap import Wish

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


@dataclass
class Chosen:
    """A route, and which of its places are meant."""

    route: Route
    wishes: list[Wish] = field(default_factory=list)

    def means(self, location: Location, route: Route) -> bool:
        """`route`: the same one, as it is now."""
        return any(_is_meant(wish, location, route) for wish in self.wishes)


def kinds_of(
    targets: Sequence[Target], kinds: Sequence[RouteKind], cluster: Cluster
) -> dict[str, frozenset[tuple[str, str]]]:
    """What each spelling of a kind means here; the empty one means all."""
    meant = {"": frozenset((one.group, one.kind) for one in kinds)}
    for target in targets:
        if target.kind and target.kind not in meant:
            found = find_kinds([target.kind], kinds, cluster)
            meant[target.kind] = frozenset((one.group, one.kind) for one in found)
    return meant


def needed_kinds(targets: Sequence[Target], meant: dict[str, frozenset[tuple[str, str]]]) -> frozenset[tuple[str, str]]:
    """Kinds that must be seen to know which routes are meant."""
    return frozenset().union(*(meant[target.kind] for target in targets or (Target(),)))


def namespaces_of(targets: Sequence[Target]) -> frozenset[str] | None:
    """Where targets may be; None for everywhere."""
    named = frozenset(target.namespace for target in targets)
    return None if not named or "" in named else named


def choose(
    targets: Sequence[Target], meant: dict[str, frozenset[tuple[str, str]]], scene: Scene, *, before: bool = False
) -> list[Chosen]:
    """The routes that fit, in a steady order. `before`: also those that have no place left that could show a page."""
    chosen: dict[str, Chosen] = {}
    for target in targets or (Target(),):
        for route in scene.routes.values():
            if _fits(target, meant, route, before=before):
                chosen.setdefault(route.uid, Chosen(route)).wishes.append(_wish(target))
    return sorted(chosen.values(), key=lambda one: (one.route.ref.kind, one.route.ref.namespace, one.route.ref.name))


def missing(targets: Sequence[Target], meant: dict[str, frozenset[tuple[str, str]]], scene: Scene) -> list[str]:
    """Targets that are named and not there."""
    names = [target for target in targets if target.name]
    return [
        str(target)
        for target in names
        if not any(
            (route.ref.namespace, route.ref.name) == (target.namespace, target.name)
            and (route.kind.group, route.kind.kind) in meant[target.kind]
            for route in scene.routes.values()
        )
    ]


def _fits(target: Target, meant: dict[str, frozenset[tuple[str, str]]], route: Route, *, before: bool) -> bool:
    record = route.record
    return (
        (route.kind.group, route.kind.kind) in meant[target.kind]
        and target.namespace in ("", record.namespace)
        and target.name in ("", record.name)
        and target.labels(record.labels)
        and (not target.ingress_class or target.ingress_class in classes_of(route))
        and (
            (before and not target.is_narrow)
            or any(_is_meant(_wish(target), place, route) for place in route.locations)
        )
    )


def _wish(target: Target) -> Wish:
    return Wish(target.hosts, target.paths, target.service)


def classes_of(route: Route) -> list[str]:
    return [name for pattern in route.kind.classes for name in values(route.item, pattern) if isinstance(name, str)]


def _is_meant(wish: Wish, location: Location, route: Route) -> bool:
    if location.page is None:
        return wish.takes(location)
    if not dataclasses.replace(wish, service="").takes(location):
        return False
    # It shows a page: which Service it leads to stands in the backup only.
    return not wish.service or wish.service in {one.name for one in former_services(route, location)}


def former_services(route: Route, location: Location) -> list[ServiceRef]:
    """Where a place led before it showed a page."""
    change = claim(route.locations, latest(route.known).values()).of(location)
    return services_in(change, route.kind, route.namespace) if change is not None else []


def is_a_solver(route: Route) -> bool:
    """cert-manager's own routes must be reachable whatever happens: without them there is no new certificate."""
    return SOLVER in route.record.labels


def why_no_page(route: Route, *, takeover: bool = False) -> str:
    """Empty where a page can be shown. `takeover`: also where the maintenance-operator shows one."""
    if route.record.terminating:
        return "it is being deleted"
    for refusal in route.kind.refusals:
        found = values(route.item, refusal.pattern)
        if any(not refusal.values or value in refusal.values for value in found):
            return refusal.why
    for key, value in route.annotations.items():
        rule = ROUTE_ANNOTATIONS.get(key)
        if rule and rule.refuse and value == "true":
            return f"{rule.refuse} ({key})"
    if not takeover and (asks_operator(route) or _has_seed_page(route)):
        return "the maintenance-operator shows a page there; set takeover: true, or take it away with state: disabled"
    return ""


def asks_operator(route: Route) -> bool:
    """The maintenance-operator of the community is asked for its page, not our own operator."""
    return route.is_flagged and not follows_annotation(route)


def follows_annotation(route: Route) -> bool:
    """Where a route follows our own operator, the annotation is the wish, not the other operator's page."""
    return route.record.labels.get(MANAGED) == "true"


def _has_seed_page(route: Route) -> bool:
    return route.backup is None and any(len(page) == len("maintenance-") + 8 for page in route.pages)


def refuse_all(reasons: Sequence[tuple[Route, str]], what: str = "no page can be shown") -> None:
    """One list of everything that is in the way, before the first write."""
    if not reasons:
        return
    named = "; ".join(f"{route.ref}: {why}" for route, why in reasons[:20])
    more = f"; and {len(reasons) - 20} more" if len(reasons) > 20 else ""
    raise Refused(
        what,
        which=f"for {len(reasons)} routes" if len(reasons) > 1 else "for one route",
        why=named + more,
        next_step="mend these or leave them out of targets; nothing was changed",
    )
