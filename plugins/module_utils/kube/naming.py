# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From what people write to the kind they mean: Kind, plural, singular, short name, any case, group optional.

Room: kube (pure). A name close to a served one is an error with the suggestion, never an empty set: a typo must not
look like "nothing there".
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ..objects import Resource
from ..problems import BadOption, CannotLook
from .discovery import Availability, Catalogue, Finding


def split_api_version(api_version: str | None) -> tuple[str | None, str | None]:
    """`apps/v1` → (apps, v1); `v1` → ("", v1); `apps/` and `apps` style groups without a version are accepted too."""
    if not api_version:
        return None, None
    group, slash, version = api_version.strip().lower().rpartition("/")  # both are lower case by definition
    if slash:
        return group, version or None
    return ("", version) if _looks_like_version(version) else (version, None)


def _looks_like_version(text: str) -> bool:
    return len(text) >= 2 and text[0] == "v" and text[1].isdigit() and "." not in text


def resolve(catalogue: Catalogue, name: str, api_version: str | None = None, *, by_hand: bool = True) -> Finding:
    """The finding for a name. Raises `BadOption` for an ambiguous name and, if written `by_hand`, for a near miss."""
    group, version = split_api_version(api_version)
    if group is None:
        group, version, name = _split_qualified(catalogue, name)
    if group is None:
        return _resolve_anywhere(catalogue, name, by_hand)
    wanted = name.lower().removesuffix(f".{group}")
    finding = catalogue.find(group, lambda resource: wanted in _names(resource), version)
    if by_hand and finding.availability is Availability.NOT_INSTALLED:
        _complain_about_near_miss(catalogue, name, group)
    return finding


def must_resolve(
    catalogue: Catalogue, name: str, api_version: str | None = None, *, by_hand: bool = True
) -> tuple[Resource | None, str]:
    """The served resource and a warning, if any. None means: not installed, so there is nothing of that kind.

    Raises `CannotLook` when that cannot be known.
    """
    finding = resolve(catalogue, name, api_version, by_hand=by_hand)
    asked = f"{name} ({api_version})" if api_version else name
    if finding.availability is Availability.SERVED:
        return finding.resource, ""
    if finding.availability is Availability.VERSION_NOT_SERVED and finding.resource is not None:
        return (
            finding.resource,
            f"{asked} is not served in this version; {finding.resource.api_version} is used instead",
        )
    if finding.availability is Availability.NOT_INSTALLED:
        return None, f"{asked} is not installed: {finding.why}"
    raise CannotLook(
        f"cannot look for {asked}",
        why=finding.why,
        next_step="bring that API back (kubectl get apiservices), or ask for the right to see it",
    )


def is_installed(catalogue: Catalogue, resource: Resource) -> bool:
    """Whether a kind is there. Raises when that cannot be seen."""
    finding = catalogue.find(resource.group, lambda other: other.plural == resource.plural)
    if finding.availability in (Availability.UNAVAILABLE, Availability.FORBIDDEN):
        raise CannotLook(f"cannot see whether {resource.qualified} is installed", why=finding.why)
    return finding.availability is not Availability.NOT_INSTALLED


def _resolve_anywhere(catalogue: Catalogue, name: str, by_hand: bool) -> Finding:
    fitting = [resource for resource in catalogue.resources() if name.lower() in _names(resource)]
    if fitting:
        best = min(_closeness(resource, name) for resource in fitting)
        closest = [resource for resource in fitting if _closeness(resource, name) == best]
        if len(closest) == 1:
            return Finding(Availability.SERVED, closest[0])
        raise BadOption(
            f"the kind {name} is ambiguous",
            why="it is served as " + ", ".join(sorted(f"{r.kind} in {r.api_version}" for r in closest)),
            next_step="set api_version to one of these",
        )
    blind = catalogue.blind_spots()
    if blind:
        why = "; ".join(f"{version.name}: {version.blind}" for version in blind)
        forbidden = any(version.forbidden for version in blind)
        return Finding(Availability.FORBIDDEN if forbidden else Availability.UNAVAILABLE, why=why)
    if by_hand:
        _complain_about_near_miss(catalogue, name, None)
    return Finding(Availability.NOT_INSTALLED, why="the server has no such kind in any group")


def _closeness(resource: Resource, name: str) -> tuple[bool, int]:
    """Smaller is closer. The core group wins, as it does for kubectl: plain `Service` is never Knative's."""
    wanted = name.lower()
    spellings = (resource.kind.lower(), resource.plural.lower(), resource.singular.lower())
    rank = spellings.index(wanted) if wanted in spellings else len(spellings)
    return bool(resource.group), rank


def _split_qualified(catalogue: Catalogue, name: str) -> tuple[str | None, str | None, str]:
    """`domains.ingress.example.com` and `domains.v1.ingress.example.com`, with the longest group that fits."""
    first, dot, rest = name.lower().partition(".")
    if not dot:
        return None, None, name
    groups = {version.group for version in catalogue.versions}
    version, _dot, group = rest.partition(".")
    if _looks_like_version(version) and (group in groups or rest not in groups):
        return group, version, first
    return rest, None, first


def _names(resource: Resource) -> set[str]:
    return {name.lower() for name in (resource.kind, resource.plural, resource.singular, *resource.short_names) if name}


def _complain_about_near_miss(catalogue: Catalogue, name: str, group: str | None) -> None:
    suggestion = nearest(name, (r for r in catalogue.resources() if group is None or r.group == group))
    if suggestion is None and group is not None:
        suggestion = _same_name_in_likely_group(catalogue, name, group)
    if suggestion is not None:
        raise BadOption(
            f"unknown kind {name}" + (f" in group {group or 'core'}" if group is not None else ""),
            why="the server does not have it",
            next_step=f"did you mean {suggestion.kind} ({suggestion.api_version})? Correct kind or api_version",
        )


def _same_name_in_likely_group(catalogue: Catalogue, name: str, group: str) -> Resource | None:
    """`v1 Deployment` means apps/v1, and `app/v1` too. In any other group a namesake is another product's kind."""
    groups = {version.group for version in catalogue.versions}
    likely = groups if group == "" else set(difflib.get_close_matches(group, groups, n=3, cutoff=0.85)) - {group}
    for resource in catalogue.resources():
        if resource.group in likely and name.lower() in _names(resource):
            return resource
    return None


def nearest(name: str, resources: Iterable[Resource]) -> Resource | None:
    """The resource whose name is closest to a mistyped one, if any is close enough to be meant."""
    by_name: dict[str, Resource] = {}
    for resource in resources:
        for spelling in _names(resource):
            by_name.setdefault(spelling, resource)
    close = difflib.get_close_matches(name.lower(), [n for n in by_name if len(n) > 3], n=1, cutoff=0.8)
    return by_name[close[0]] if close else None
