# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Traefik's Middlewares that would keep a page from being seen: logins, and pages of their own for errors.

Room: maintenance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..problems import CannotLook, Problem
from .pointers import values
from .scene import Route
from .swap import Hides

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

# A login would stand before the page, an error page would replace it, and a breaker would count it as a failure.
_HIDING = frozenset({"basicAuth", "digestAuth", "forwardAuth", "errors", "circuitBreaker", "retry"})


def hiding_middlewares(routes: Sequence[Route], cluster: Cluster) -> Hides:
    """A test for references. Nothing is asked where no route refers to a Middleware."""
    places = {(route.kind.group, namespace) for route in routes for namespace in _namespaces(route)}
    known: dict[tuple[str, str], frozenset[str]] = {}
    for group, namespace in sorted(places):
        resource = cluster.find_kind(group, "Middleware").resource
        if resource is None:
            continue
        try:
            items = cluster.list_whole(resource, namespace)
        except Problem as problem:
            raise CannotLook(
                "cannot see what Traefik's Middlewares do",
                why=problem.why,
                next_step="ask for the right to list middlewares: one of them may hide the page behind a login",
            ) from problem
        for item in items:
            metadata = item["metadata"]
            known[metadata.get("namespace") or "", metadata.get("name") or ""] = frozenset(item.get("spec") or {})
    return lambda namespace, name: bool(known.get((namespace, name), frozenset()) & _HIDING)


def _namespaces(route: Route) -> set[str]:
    """Where the Middlewares are that a route refers to."""
    if not route.kind.middlewares:
        return set()
    lists = values(route.item, route.kind.middlewares.replace("{0}", "*"))
    references = [one for listed in lists if isinstance(listed, list) for one in listed if isinstance(one, dict)]
    return {str(one.get("namespace") or route.namespace) for one in references}
