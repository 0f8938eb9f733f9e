# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Traefik's Middlewares that would keep a page from being seen: logins, and pages of their own for errors.

Room: maintenance. A chain that holds one of them is replaced by its other members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..pointers import value_of, values
from ..problems import CannotLook, Problem

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from .scene import Route

# A login would stand before the page, an error page would replace it, and a breaker would count it as a failure.
_HIDING = frozenset({"basicAuth", "digestAuth", "forwardAuth", "errors", "circuitBreaker", "retry"})
# On an Ingress: `namespace-name@kubernetescrd`, separated by commas.
ROUTER_MIDDLEWARES = "traefik.ingress.kubernetes.io/router.middlewares"
_PROVIDER = "@kubernetescrd"
GROUPS = ("traefik.io", "traefik.containo.us")

Place = tuple[str, str]  # namespace and name


@dataclass(frozen=True)
class Middlewares:
    """What each Middleware does, as far as we can see. Those we do not know (of files, of plugins) are left alone."""

    specs: Mapping[Place, Mapping[str, Any]] = field(default_factory=dict)

    def left_of_references(self, references: Sequence[Mapping[str, Any]], namespace: str) -> list[Mapping[str, Any]]:
        """The references of an IngressRoute without those that hide."""
        left: list[Mapping[str, Any]] = []
        for one in references:
            name = str(one.get("name") or "")
            place = self.place_of(name) if "@" in name else (str(one.get("namespace") or namespace), name)
            members = self._shown(place)
            left += [one] if members is None else [{"name": name, "namespace": space} for space, name in members]
        return left

    def left_of_annotation(self, text: str) -> str:
        """The same for the annotation of an Ingress; unchanged where nothing hides."""
        left = []
        for name in filter(None, (one.strip() for one in text.split(","))):
            members = self._shown(self.place_of(name))
            left += [name] if members is None else [f"{space}-{member}{_PROVIDER}" for space, member in members]
        unchanged = left == [one.strip() for one in text.split(",")]
        return text if unchanged else ",".join(left)

    def place_of(self, name: str) -> Place | None:
        """Whom `namespace-name@kubernetescrd` means: both parts may hold dashes, so only the known ones can tell."""
        if not name.endswith(_PROVIDER):
            return None
        return next((place for place in self.specs if f"{place[0]}-{place[1]}{_PROVIDER}" == name), None)

    def _shown(self, place: Place | None, above: frozenset[Place] = frozenset()) -> list[Place] | None:
        """What is left of one: None for all of it, else the members of a chain that do not hide."""
        if place is None or place in above or place not in self.specs:
            return None
        spec = self.specs[place]
        if _HIDING & spec.keys():
            return []
        members = _members(spec)
        if not members:
            return None
        places = [(str(one.get("namespace") or place[0]), str(one.get("name") or "")) for one in members]
        shown = [self._shown(one, above | {place}) for one in places]
        if all(one is None for one in shown):
            return None
        left = [[one] if inner is None else inner for one, inner in zip(places, shown, strict=True)]
        return [one for inner in left for one in inner]


NO_MIDDLEWARES = Middlewares()


def known_middlewares(routes: Iterable[Route], cluster: Cluster) -> Middlewares:
    """Those that routes refer to, and what these refer to. Nothing is asked where no route refers to a Middleware."""
    wanted = {place for route in routes for place in _places(route)}
    asked: set[Place] = set()
    specs: dict[Place, Mapping[str, Any]] = {}
    while wanted - asked:
        group, namespace = min(wanted - asked)
        asked.add((group, namespace))
        found = _listed(group, namespace, cluster)
        specs.update(found)
        wanted |= {
            (group, str(one["namespace"])) for spec in found.values() for one in _members(spec) if one.get("namespace")
        }
    return Middlewares(specs)


def _listed(group: str, namespace: str, cluster: Cluster) -> dict[Place, Mapping[str, Any]]:
    resource = cluster.find_kind(group, "Middleware").resource
    if resource is None:
        return {}
    try:
        items = cluster.list_whole(resource, namespace)
    except Problem as problem:
        raise CannotLook(
            "cannot see what Traefik's Middlewares do",
            why=problem.why,
            next_step="ask for the right to list middlewares: one of them may hide the page behind a login",
        ) from problem
    return {(namespace, str(item["metadata"].get("name"))): item.get("spec") or {} for item in items}


def _members(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    members = value_of(spec, "/chain/middlewares")
    return [one for one in members if isinstance(one, Mapping)] if isinstance(members, list) else []


def _places(route: Route) -> Iterator[tuple[str, str]]:
    """Groups and namespaces of what a route refers to."""
    text = route.annotations.get(ROUTER_MIDDLEWARES, "")
    for name in filter(None, (one.strip() for one in text.split(","))):
        yield from ((group, namespace) for group in GROUPS for namespace in _namespaces_in(name, route.namespace))
    if not route.kind.middlewares:
        return
    for listed in values(route.item, route.kind.middlewares.replace("{0}", "*")):
        for one in listed if isinstance(listed, list) else ():
            name = str(one.get("name") or "")
            own = [str(one.get("namespace") or route.namespace)]
            for namespace in _namespaces_in(name, route.namespace) if "@" in name else own:
                yield route.kind.group, namespace


def _namespaces_in(name: str, own: str) -> list[str]:
    """Where `namespace-name@kubernetescrd` may be: both parts may hold dashes."""
    if not name.endswith(_PROVIDER):
        return []
    if name.startswith(f"{own}-"):
        return [own]
    words = name.removesuffix(_PROVIDER).split("-")
    return ["-".join(words[:number]) for number in range(1, len(words))]
