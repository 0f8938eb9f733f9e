# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The backends of one route: where each stands, by what it is known, and which Services it names.

Room: maintenance (pure).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..pointers import ABSENT, matches, value_of, values
from .route_kinds import NAMESPACE, SERVICE, Backend, RouteKind

# Ours have ten digits, those of the maintenance-operator eight.
PAGE_NAME = re.compile(r"maintenance-[0-9a-f]{8}(?:[0-9a-f]{2})?")
_EXPRESSION = re.compile(r"(!?)\s*\b(Host|HostHeader|HostSNI|Path|PathPrefix)\(([^()]*)\)")
_NUMBERED = re.compile(r"#\d+$")
_QUOTED = re.compile(r"`([^`]*)`|\"([^\"]*)\"|'([^']*)'")


@dataclass(frozen=True)
class ServiceRef:
    namespace: str
    name: str
    kind: str = "Service"

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Location:
    """One place of backends in one route."""

    backend: Backend
    pointer: str
    chosen: tuple[int, ...]
    identity: str  # the same for the same entry, wherever in its list it has moved
    value: Any
    hosts: tuple[str, ...]
    paths: tuple[str, ...]
    services: tuple[ServiceRef, ...]

    @property
    def page(self) -> str | None:
        """The page that stands there, if one does."""
        return page_in(self.value, self.backend.page)

    @property
    def half_page(self) -> str | None:
        """A page that stands there beside something else: not written by us, and no backend of the application."""
        if self.page is not None:
            return None
        return next((one.name for one in self.services if PAGE_NAME.fullmatch(one.name)), None)

    @property
    def where(self) -> str:
        """For people: host and path."""
        host = self.hosts[0] if self.hosts else "*"
        return host + (self.paths[0] if self.paths else "/")

    def as_dict(self) -> dict[str, Any]:
        return {
            "pointer": self.pointer,
            "hosts": list(self.hosts),
            "paths": list(self.paths),
            "services": [f"{one.namespace}/{one.name}" for one in self.services],
        }


def locations_of(item: Mapping[str, Any], kind: RouteKind) -> list[Location]:
    """Every place where backends stand. Entries without (redirects, hosts without paths) are no locations."""
    seen: Counter[str] = Counter()
    found = []
    for backend in kind.backends:
        for pointer, chosen in matches(item, backend.pattern):
            value = value_of(item, pointer)
            if value is ABSENT or value is None or value == []:
                continue
            words = [values(item, pattern, chosen) for pattern in backend.known_by]
            identity = json.dumps([backend.pattern, *words], sort_keys=True)
            seen[identity] += 1
            if seen[identity] > 1:  # the same words twice: only their order tells them apart
                identity = f"{identity}#{seen[identity]}"
            hosts, paths = _hosts_and_paths(item, kind, chosen)
            services = tuple(services_at(value, backend, _namespace(item)))
            found.append(Location(backend, pointer, chosen, identity, value, hosts, paths, services))
    return found


def words_of(identity: str) -> str:
    """What an entry is known by, without the number that tells it from others with the same words."""
    return _NUMBERED.sub("", identity)


def other_services(item: Mapping[str, Any], kind: RouteKind) -> list[ServiceRef]:
    """Services that a route names outside of its backends."""
    names = [name for pattern in kind.more_services for name in values(item, pattern)]
    return [ServiceRef(_namespace(item), name) for name in names]


def page_for(template: Any, service: str, namespace: str) -> Any:
    """What is written to put a page there."""
    if isinstance(template, Mapping):
        return {key: page_for(value, service, namespace) for key, value in template.items()}
    if isinstance(template, list):
        return [page_for(value, service, namespace) for value in template]
    if isinstance(template, str):
        return template.replace(SERVICE, service).replace(NAMESPACE, namespace)
    return template


def page_in(value: Any, template: Any) -> str | None:
    """The page's name, if a value is what `page_for` writes, whatever defaults the server has added."""
    names: set[str] = set()
    return next(iter(names)) if _fits(value, template, names) and len(names) == 1 else None


def _fits(value: Any, template: Any, names: set[str]) -> bool:
    if isinstance(template, Mapping):
        return isinstance(value, Mapping) and all(_fits(value.get(key), one, names) for key, one in template.items())
    if isinstance(template, list):
        same_length = isinstance(value, list) and len(value) == len(template)
        return same_length and all(_fits(one, other, names) for one, other in zip(value, template, strict=True))
    if isinstance(template, str) and SERVICE in template:
        pattern = re.escape(template).replace(re.escape(SERVICE), f"({PAGE_NAME.pattern})")
        found = re.fullmatch(pattern.replace(re.escape(NAMESPACE), "[a-z0-9-]+"), str(value))
        if found:
            names.add(found[1])
        return found is not None
    # The maintenance-operator names no kind, and another port; the Service's name is what tells.
    return True if not isinstance(template, str) else value in (template, None)


def services_at(value: Any, backend: Backend, namespace: str) -> Iterator[ServiceRef]:
    """The Services that a place of backends names."""
    starred = backend.name.startswith("/*/")
    entries = value if starred and isinstance(value, list) else [value]
    for entry in entries:
        name = value_of(entry, backend.name.removeprefix("/*"))
        if not isinstance(name, str):
            continue
        kind = value_of(entry, backend.kind.removeprefix("/*")) if backend.kind else "Service"
        place = value_of(entry, backend.namespace.removeprefix("/*")) if backend.namespace else ABSENT
        if backend.name.endswith("/host"):  # Istio: name, name.namespace, or the whole name in the cluster's DNS
            name, _dot, rest = name.partition(".")
            place = rest.partition(".")[0] or ABSENT
        yield ServiceRef(
            place if isinstance(place, str) and place else namespace,
            name,
            kind if isinstance(kind, str) and kind else "Service",
        )


def _hosts_and_paths(
    item: Mapping[str, Any], kind: RouteKind, chosen: tuple[int, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    hosts = [host for pattern in kind.hosts for host in _texts(item, pattern, chosen)]
    paths = [path for pattern in kind.paths for path in _texts(item, pattern, chosen)]
    for pattern in kind.expressions:
        for expression in _texts(item, pattern, chosen):
            for word, text in _words_of(expression):
                (hosts if word.startswith("Host") else paths).append(text)
    return tuple(dict.fromkeys(hosts)), tuple(dict.fromkeys(paths))


def _texts(item: Mapping[str, Any], pattern: str, chosen: tuple[int, ...]) -> list[str]:
    # A default backend has no rule: patterns that need one do not fit it.
    needed = {int(number) for number in re.findall(r"\{(\d)\}", pattern)}
    if any(number >= len(chosen) for number in needed):
        return []
    return [text for text in values(item, pattern, chosen) if isinstance(text, str)]


def _words_of(expression: str) -> Iterator[tuple[str, str]]:
    for negated, word, arguments in _EXPRESSION.findall(expression):
        if not negated:
            for quoted in _QUOTED.findall(arguments):
                yield word, next(filter(None, quoted), "")


def _namespace(item: Mapping[str, Any]) -> str:
    return str((item.get("metadata") or {}).get("namespace") or "")
