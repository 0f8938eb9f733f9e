# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How each kind of route tells some requests from others: a table of small functions.

Room: maintenance (pure). All of them take a place as it was before maintenance and give entries beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..pointers import value_of
from ..problems import Refused
from .bypass import Bypass, cookie_pattern
from .locations import Location
from .route_kinds import RouteKind
from .traefik_rules import (
    HIGHEST_PRIORITY,
    V3,
    Dialect,
    Router,
    any_path,
    anybody,
    dialect_of,
    router_of,
    without_rivals,
)

Entry = dict[str, Any]
_PATTERN = re.compile(r"[\\^$*+?()\[\]{}|]")
_BY_PATTERN = "its path is a regular expression, and whether {} is below it cannot be told"


class CannotCarve(Refused):
    """This place cannot keep open what shall stay open."""

    def __init__(self, why: str) -> None:
        super().__init__("cannot stay open", why=why)


@dataclass(frozen=True)
class Place:
    """One place of a route that will show the page, and the route as it was before."""

    item: Mapping[str, Any]
    kind: RouteKind
    location: Location
    routers: Sequence[Router] = ()
    dialect: Dialect = V3

    @property
    def entry(self) -> Entry:
        found: Entry = value_of(self.item, self.location.pointer.rpartition("/")[0])
        return found


@dataclass(frozen=True)
class Carving:
    """`cannot`: what of a bypass this kind cannot tell, and what can be done instead."""

    paths: Callable[[Place, Sequence[str]], Iterator[Entry]]
    bypass: Callable[[Place, Bypass], Iterator[Entry]]
    cannot: Mapping[str, str] = field(default_factory=dict)
    in_front: bool = False  # the first entry that fits counts, so ours come before


# -- Ingress -----------------------------------------------------------------------------------------------------------


def _ingress_paths(place: Place, paths: Sequence[str]) -> Iterator[Entry]:
    rules = place.item["spec"].get("rules") or []
    if not place.location.chosen:
        if not rules:
            raise CannotCarve("it has only a default backend, and no rule to put an exempt path into")
        return
    host = rules[place.location.chosen[0]].get("host")
    entry = place.entry
    siblings = [
        str(one.get("path") or "/")
        for rule in rules
        if rule.get("host") == host
        for one in (rule.get("http") or {}).get("paths") or ()
        if one.get("pathType") != "Exact"
    ]
    own = str(entry.get("path") or "/")
    for path in paths:
        if entry.get("pathType") == "Exact":
            continue  # nothing is below it
        if entry.get("pathType") == "ImplementationSpecific" and _PATTERN.search(own):
            raise CannotCarve(_BY_PATTERN.format(path))
        closest = max((one for one in siblings if _holds(one, path)), key=len, default="")
        if closest == own:
            yield {"path": path.rstrip("/"), "pathType": "Prefix", "backend": entry["backend"]}


def _nobody(_place: Place, _bypass: Bypass) -> Iterator[Entry]:
    return iter(())


def _holds(prefix: str, path: str) -> bool:
    """Path by path, as most kinds do it: /shop holds /shop/cart, and not /shopping."""
    start = prefix.rstrip("/")
    return path.rstrip("/") == start or path.startswith(f"{start}/")


# -- Traefik -----------------------------------------------------------------------------------------------------------


def _traefik_paths(place: Place, paths: Sequence[str]) -> Iterator[Entry]:
    known, match = place.location.paths, str(place.entry.get("match") or "")
    certain = bool(known) and "PathRegexp" not in match and "!" not in match
    inside = [
        path for path in paths if not certain or any(path.startswith(one) or one.startswith(path) for one in known)
    ]
    if inside:
        yield _beside_rule(place, any_path(inside))


def _traefik_bypass(place: Place, bypass: Bypass) -> Iterator[Entry]:
    dialect = dialect_of(place.item, place.kind, place.location, place.dialect)
    yield _beside_rule(place, anybody(bypass, dialect))


def _beside_rule(place: Place, condition: str) -> Entry:
    router = router_of(place.item, place.kind, place.location, place.dialect)
    if router is None:
        raise CannotCarve("Traefik does not serve it: a bracket or a quote of its rule is not closed")
    if router.high >= HIGHEST_PRIORITY:
        raise CannotCarve("its priority is the highest there is: nothing can be put above it")
    rule = without_rivals(router, place.routers)
    return {**place.entry, "match": f"{rule} && ({condition})", "priority": router.priority_above}


# -- Gateway API -------------------------------------------------------------------------------------------------------

_PREFIX = "PathPrefix"


def _gateway_paths(place: Place, paths: Sequence[str]) -> Iterator[Entry]:
    rule = place.entry
    others = [
        match
        for other in place.item["spec"].get("rules") or ()
        for match in _matches(other)
        if not (match.keys() & {"headers", "method", "queryParams"}) and _path_of(match)[0] == _PREFIX
    ]
    together = []
    for path in paths:
        for match in _matches(rule):
            kind, prefix = _path_of(match)
            if kind == "RegularExpression":
                raise CannotCarve(_BY_PATTERN.format(path))
            closer = any(_holds(one, path) and len(one) > len(prefix) for _kind, one in map(_path_of, others))
            if kind != _PREFIX or not _holds(prefix, path) or closer:
                continue
            narrow = {**match, "path": {"type": _PREFIX, "value": path}}
            if _rewritten(rule, prefix, path) != rule:
                yield {**_unnamed(_rewritten(rule, prefix, path)), "matches": [narrow]}
            else:
                together.append(narrow)
    if together:
        yield {**_unnamed(rule), "matches": together}


def _matches(entry: Mapping[str, Any], key: str = "matches") -> list[Entry]:
    """Without any, everything fits."""
    return entry.get(key) or [{}]


def _path_of(match: Mapping[str, Any]) -> tuple[str, str]:
    path = match.get("path") or {}
    return str(path.get("type") or _PREFIX), str(path.get("value") or "/")


def _unnamed(entry: Entry) -> Entry:
    return {key: value for key, value in entry.items() if key != "name"}  # names are used once only


def _rewritten(rule: Entry, prefix: str, path: str) -> Entry:
    """A filter that replaces the matched prefix would replace more, now that a longer one matches."""
    filters = []
    for one in rule.get("filters") or ():
        for word in ("urlRewrite", "requestRedirect"):
            new = value_of(one, f"/{word}/path/replacePrefixMatch")
            if isinstance(new, str):
                longer = {**one[word]["path"], "replacePrefixMatch": _joined(new, prefix, path)}
                one = {**one, word: {**one[word], "path": longer}}
        filters.append(one)
    return {**rule, "filters": filters} if filters else rule


def _joined(new: str, prefix: str, path: str) -> str:
    rest = path.rstrip("/")[len(prefix.rstrip("/")) :].lstrip("/")
    return f"{new.rstrip('/')}/{rest}"


def _gateway_bypass(place: Place, bypass: Bypass) -> Iterator[Entry]:
    rule = place.entry
    matches = [
        {**match, "headers": [*_apart(match.get("headers") or [], name), one]}
        for name, value in bypass.headers
        for one in ({"type": "Exact", "name": name, "value": value},)
        for match in _matches(rule)
    ]
    yield {**_unnamed(rule), "matches": matches}


def _apart(known: Sequence[Mapping[str, Any]], name: str) -> Sequence[Mapping[str, Any]]:
    if any(str(one.get("name")).lower() == name.lower() for one in known):
        raise CannotCarve(f"bypass.headers: its rules tell requests apart by {name} already; take another header")
    return known


# -- Contour -----------------------------------------------------------------------------------------------------------


def _contour_paths(place: Place, paths: Sequence[str]) -> Iterator[Entry]:
    if not place.item["spec"].get("virtualhost"):
        raise CannotCarve("it is included by other HTTPProxies, which decide about its paths")
    entry = place.entry
    prefix, others = _conditions(entry)
    prefixes = [one for one, more in map(_conditions, place.item["spec"].get("routes") or ()) if one and not more]
    for path in paths:
        if prefix is None:
            if any("regex" in one for one in others):
                raise CannotCarve(_BY_PATTERN.format(path))
            continue  # exact: nothing is below it
        closer = any(_holds(one, path) and len(one) > len(prefix) for one in prefixes)
        if _holds(prefix, path) and not closer:
            yield {**_replaced(entry, prefix, path), "conditions": [{"prefix": path}, *others]}


def _conditions(entry: Mapping[str, Any]) -> tuple[str | None, list[Mapping[str, Any]]]:
    """Its prefix, and everything else it asks for."""
    known = entry.get("conditions") or []
    others = [one for one in known if "prefix" not in one]
    if any(one.keys() & {"exact", "regex"} for one in others):
        return None, others
    return next((str(one["prefix"]) for one in known if "prefix" in one), "/"), others


def _replaced(entry: Entry, prefix: str, path: str) -> Entry:
    policy = entry.get("pathRewritePolicy") or {}
    if not policy.get("replacePrefix"):
        return entry
    longer = [
        {
            **one,
            **({"prefix": path} if "prefix" in one else {}),
            "replacement": _joined(str(one.get("replacement")), prefix, path),
        }
        for one in policy["replacePrefix"]
        if one.get("prefix") in (None, prefix)
    ]
    return {**entry, "pathRewritePolicy": {**policy, "replacePrefix": longer}}


def _contour_bypass(place: Place, bypass: Bypass) -> Iterator[Entry]:
    entry = place.entry
    known = entry.get("conditions") or []
    # Whoever sends the cookie knows its value, whatever else he sends before and behind it.
    tests = [(name, {"name": name, "exact": value}) for name, value in bypass.headers]
    tests += [("Cookie", {"name": "Cookie", "contains": f"{name}={value}"}) for name, value in bypass.cookies]
    for name, header in tests:
        _apart([one["header"] for one in known if "header" in one], name)
        yield {**entry, "conditions": [*known, {"header": header}]}


# -- Istio -------------------------------------------------------------------------------------------------------------


def _istio_paths(place: Place, paths: Sequence[str]) -> Iterator[Entry]:
    entry = place.entry
    rewrite = value_of(entry, "/rewrite/uri")
    entries: dict[str, list[Entry]] = {}
    for path in paths:
        for match in _matches(entry, "match"):
            uri = match.get("uri") or {"prefix": "/"}
            if "regex" in uri:
                raise CannotCarve(_BY_PATTERN.format(path))
            if "prefix" not in uri or not path.startswith(uri["prefix"]):
                continue
            start = path.rstrip("/")
            for word, text in (("exact", start), ("prefix", f"{start}/")):
                new = f"{rewrite}{text[len(uri['prefix']) :]}" if isinstance(rewrite, str) else ""
                entries.setdefault(new, []).append({**match, "uri": {word: text}})
    for new, matches in entries.items():
        rewritten = {"rewrite": {**entry["rewrite"], "uri": new}} if new else {}
        yield {**_unnamed(entry), **rewritten, "match": matches}


def _istio_bypass(place: Place, bypass: Bypass) -> Iterator[Entry]:
    entry = place.entry
    tests = [(name.lower(), {"exact": value}) for name, value in bypass.headers]
    tests += [("cookie", {"regex": cookie_pattern(name, value)}) for name, value in bypass.cookies]
    matches = []
    for name, test in tests:
        for match in _matches(entry, "match"):
            known = match.get("headers") or {}
            _apart([{"name": one} for one in known], name)
            matches.append({**match, "headers": {**known, name: test}})
    yield {**_unnamed(entry), "match": matches}


_NO_ADDRESSES = "its rules cannot tell where a request comes from; use a header"
_NO_INGRESS = "an Ingress cannot tell; use strategy: overlay where Traefik serves it"

CARVINGS: dict[str, Carving] = {
    "ingress": Carving(_ingress_paths, _nobody, {"headers": _NO_INGRESS, "cookies": _NO_INGRESS, "cidrs": _NO_INGRESS}),
    "traefik": Carving(_traefik_paths, _traefik_bypass),
    "gateway": Carving(
        _gateway_paths,
        _gateway_bypass,
        {
            # A pattern that an implementation does not know may cost the whole route.
            "cookies": "Gateway API leaves patterns, which a cookie needs, to each implementation; use a header",
            "cidrs": _NO_ADDRESSES,
        },
    ),
    "contour": Carving(_contour_paths, _contour_bypass, {"cidrs": _NO_ADDRESSES}),
    "istio": Carving(_istio_paths, _istio_bypass, {"cidrs": _NO_ADDRESSES}, in_front=True),
}
