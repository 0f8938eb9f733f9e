# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server serves, in two requests, with five different answers kept apart.

Room: kube. "Not installed" is the only answer that means "nothing there". A version that is not served, a group whose
server is down, and a door that is closed to us are answers of their own: from them nothing may be concluded.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..objects import Resource
from ..problems import CannotLook, Unreachable
from .answers import Answer, error_from
from .transport import Request, Transport

_ACCEPT = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)


class Availability(enum.Enum):
    SERVED = "served"
    NOT_INSTALLED = "not installed"
    VERSION_NOT_SERVED = "version not served"
    UNAVAILABLE = "group unavailable"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True)
class Finding:
    """The answer to "where does this kind live?". With VERSION_NOT_SERVED, `resource` is what is served instead."""

    availability: Availability
    resource: Resource | None = None
    why: str = ""


@dataclass(frozen=True)
class GroupVersion:
    """One version of one group as discovery shows it. `blind` says why its resources cannot be seen, if so."""

    group: str
    version: str
    resources: tuple[Resource, ...] = ()
    blind: str = ""
    forbidden: bool = False

    @property
    def name(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass
class Catalogue:
    """Everything served at one moment. Versions of a group stand in the server's order of preference."""

    versions: list[GroupVersion] = field(default_factory=list)

    def resources(self) -> Iterator[Resource]:
        """Every kind once, in its preferred version."""
        seen: set[tuple[str, str]] = set()
        for version in self.versions:
            for resource in version.resources:
                if (resource.group, resource.plural) not in seen:
                    seen.add((resource.group, resource.plural))
                    yield resource

    def blind_spots(self, group: str | None = None) -> list[GroupVersion]:
        return [v for v in self.versions if v.blind and (group is None or v.group == group)]

    def find(self, group: str, matches: Callable[[Resource], bool], version: str | None = None) -> Finding:
        """Look for a kind in one group, in the given version or the preferred one."""
        fitting = [r for v in self.versions if v.group == group for r in v.resources if matches(r)]
        for resource in fitting:
            if version in (None, resource.version):
                return Finding(Availability.SERVED, resource)
        blind = self.blind_spots(group)
        if any(v.forbidden for v in blind):
            return Finding(Availability.FORBIDDEN, why=_whys(blind))
        if blind:
            return Finding(Availability.UNAVAILABLE, why=_whys(blind))
        if fitting:
            served = ", ".join(r.api_version for r in fitting)
            return Finding(Availability.VERSION_NOT_SERVED, fitting[0], why=f"the server offers {served}")
        return Finding(Availability.NOT_INSTALLED, why=f"the server has no such kind in group {group or 'core'}")


def _whys(blind: Iterable[GroupVersion]) -> str:
    return "; ".join(f"{v.name}: {v.blind}" for v in blind)


def discover(transport: Transport) -> Catalogue:
    """Two aggregated requests; where the server does not know that form, one request a group version."""
    versions: list[GroupVersion] = []
    for root in ("/api", "/apis"):
        answer = transport.send(Request("GET", root, "get", accept=_ACCEPT))
        if answer.status == 404:  # every API server has these two
            raise Unreachable(
                "no Kubernetes API answers there",
                which=str(transport.endpoint),
                why=f"HTTP 404 at {root}",
                next_step="check host and proxy: something else answers at this address",
            )
        if not answer.ok:
            raise _cannot_look(answer, root)
        document = answer.json()
        if document.get("kind") == "APIGroupDiscoveryList":
            versions.extend(_aggregated(document))
        else:
            versions.extend(_one_by_one(transport, root, document))
    return Catalogue(versions)


def _cannot_look(answer: Answer, root: str) -> CannotLook:
    problem = error_from(answer, "reading", root)
    return CannotLook(
        "cannot see what the API server serves",
        which=f"(GET {root})",
        why=problem.why,
        next_step="ask for the ClusterRole system:discovery" if answer.status == 403 else problem.next_step,
    )


def _aggregated(document: dict[str, Any]) -> Iterator[GroupVersion]:
    for item in document.get("items") or ():
        group = (item.get("metadata") or {}).get("name") or ""
        for version in item.get("versions") or ():
            name = version.get("version") or ""
            stale = version.get("freshness") == "Stale"
            resources = tuple(
                Resource(
                    group=group,
                    version=name,
                    kind=(entry.get("responseKind") or {}).get("kind") or "",
                    plural=entry.get("resource") or "",
                    namespaced=entry.get("scope") == "Namespaced",
                    singular=entry.get("singularResource") or "",
                    short_names=tuple(entry.get("shortNames") or ()),
                    verbs=frozenset(entry.get("verbs") or ()),
                    categories=tuple(entry.get("categories") or ()),
                )
                for entry in version.get("resources") or ()
            )
            blind = (
                "the server behind it does not answer (stale discovery; see kubectl get apiservices)" if stale else ""
            )
            yield GroupVersion(group, name, resources, blind)


def _one_by_one(transport: Transport, root: str, document: dict[str, Any]) -> Iterator[GroupVersion]:
    if root == "/api":
        wanted = [("", version) for version in document.get("versions") or ()]
    else:
        wanted = [
            (group.get("name") or "", version)
            for group in document.get("groups") or ()
            for version in _preferred_first(group)
        ]
    for group, version in wanted:
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        answer = transport.send(Request("GET", path, "get"))
        if answer.status == 404:
            continue  # gone between the two requests
        if answer.ok:
            yield GroupVersion(group, version, tuple(_legacy_resources(group, version, answer.json())))
        else:
            problem = error_from(answer, "reading", path)
            yield GroupVersion(group, version, blind=problem.why, forbidden=answer.status == 403)


def _preferred_first(group: dict[str, Any]) -> list[str]:
    preferred = (group.get("preferredVersion") or {}).get("version")
    versions = [version.get("version") or "" for version in group.get("versions") or ()]
    return sorted(versions, key=lambda version: version != preferred)


def _legacy_resources(group: str, version: str, document: dict[str, Any]) -> Iterator[Resource]:
    for entry in document.get("resources") or ():
        name = entry.get("name") or ""
        if "/" in name:
            continue  # a subresource
        yield Resource(
            group=group,
            version=version,
            kind=entry.get("kind") or "",
            plural=name,
            namespaced=bool(entry.get("namespaced")),
            singular=entry.get("singularName") or "",
            short_names=tuple(entry.get("shortNames") or ()),
            verbs=frozenset(entry.get("verbs") or ()),
            categories=tuple(entry.get("categories") or ()),
        )
