# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Traefik's rules: how requests are told apart in them, and which of two routers gets a request.

Room: maintenance (pure). The router with the higher priority wins; without one, its rule's length counts. So a router
that shall win over another one, and over nobody who won against that one, stands exactly one above it; whoever stands
there already is taken out of its rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .bypass import Bypass, cookie_pattern
from .locations import Location
from .route_kinds import RouteKind

# Traefik keeps what is above for itself.
HIGHEST_PRIORITY = 2**63 - 1 - 1000
# What a default backend gets from Traefik: below everything else.
LOWEST_PRIORITY = -(2**31)
OLD_GROUP = "traefik.containo.us"


@dataclass(frozen=True)
class Dialect:
    """How matchers are called; they have changed with Traefik 3."""

    header: str = "Header"
    header_pattern: str = "HeaderRegexp"


V2, V3 = Dialect("Headers", "HeadersRegexp"), Dialect()


@dataclass(frozen=True)
class Router:
    """One place of a route, as Traefik sees it. What it counts for may depend on settings we do not know: a range."""

    owner: str  # uid of the route
    pointer: str
    rule: str
    low: int
    high: int
    hosts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    dialect: Dialect = V3

    @property
    def priority_above(self) -> int:
        return min(self.high + 1, HIGHEST_PRIORITY)


def quoted(text: str) -> str:
    return json.dumps(text) if "`" in text else f"`{text}`"


def below(path: str) -> str:
    """The path itself and everything below it, but nothing that only begins alike."""
    if path.endswith("/"):
        return f"PathPrefix({quoted(path)})"
    return f"Path({quoted(path)}) || PathPrefix({quoted(path + '/')})"


def any_path(paths: Iterable[str]) -> str:
    return " || ".join(below(path) for path in paths)


def anybody(bypass: Bypass, dialect: Dialect) -> str:
    """A rule for everyone who still reaches the application."""
    words = [f"{dialect.header}({quoted(name)}, {quoted(value)})" for name, value in bypass.headers]
    for name, value in bypass.cookies:
        words.append(f"{dialect.header_pattern}(`Cookie`, {quoted(f'^{cookie_pattern(name, value)}$')})")
    words += [f"ClientIP({quoted(cidr)})" for cidr in bypass.cidrs]
    return " || ".join(words)


def dialect_of(item: Mapping[str, Any], kind: RouteKind, location: Location, usual: Dialect) -> Dialect:
    if kind.kind == "Ingress":
        syntax = router_setting(item, "rulesyntax")
    else:
        syntax = item["spec"]["routes"][location.chosen[0]].get("syntax")
    return V2 if kind.group == OLD_GROUP or syntax == "v2" else V3 if syntax == "v3" else usual


def router_setting(item: Mapping[str, Any], name: str) -> str:
    """What an annotation of an Ingress says to Traefik, in whatever letters it is written."""
    annotations = (item.get("metadata") or {}).get("annotations") or {}
    wanted = f"traefik.ingress.kubernetes.io/router.{name}"
    return next((str(value) for key, value in annotations.items() if key.lower() == wanted), "")


def router_of(item: Mapping[str, Any], kind: RouteKind, location: Location, usual: Dialect = V3) -> Router | None:
    """None for places that Traefik does not serve."""
    uid = str((item.get("metadata") or {}).get("uid") or "")
    dialect = dialect_of(item, kind, location, usual)
    rules = _rules_of(item, kind, location, dialect)
    if kind.kind == "Ingress":
        priority = _number(router_setting(item, "priority")) if location.chosen else LOWEST_PRIORITY
    else:
        priority = _number(item["spec"]["routes"][location.chosen[0]].get("priority"))
    if not rules or not rules[0] or not all(map(is_whole, rules)):
        return None
    counts = [priority or len(rule.encode()) for rule in rules]
    return Router(uid, location.pointer, rules[0], min(counts), max(counts), location.hosts, location.paths, dialect)


def is_broken(item: Mapping[str, Any], kind: RouteKind, location: Location, usual: Dialect = V3) -> bool:
    """Whether Traefik cannot read its rule, and so does not serve it."""
    return not all(map(is_whole, _rules_of(item, kind, location, dialect_of(item, kind, location, usual))))


_CLOSES = {")": "(", "]": "[", "}": "{"}
_QUOTES = "`\"'"


def is_whole(rule: str) -> bool:
    """Each bracket and quote that it opens it closes, and nothing of it is a comment.

    Inside of another rule, any other one would mean something else, or change what the other one means.
    """
    opened: list[str] = []
    quote, escaped = "", False
    for place, letter in enumerate(rule):
        if quote:
            if letter == quote and not escaped:
                quote = ""
            escaped = letter == "\\" and quote not in ("", "`") and not escaped
        elif letter in _QUOTES:
            quote = letter
        elif rule.startswith(("//", "/*"), place):
            return False
        elif letter in _CLOSES.values():
            opened.append(letter)
        elif letter in _CLOSES and (not opened or opened.pop() != _CLOSES[letter]):
            return False
    return not quote and not opened


def _rules_of(item: Mapping[str, Any], kind: RouteKind, location: Location, dialect: Dialect) -> list[str]:
    if kind.kind == "Ingress":
        return _rules_of_ingress(item, location, dialect)
    return [str(item["spec"]["routes"][location.chosen[0]].get("match") or "")]


def _number(value: Any) -> int:
    try:
        return int(value or 0)
    except ValueError:
        return 0


def _rules_of_ingress(item: Mapping[str, Any], location: Location, dialect: Dialect) -> list[str]:
    """What Traefik makes of a place, as it does by default first, and then with strict prefixes."""
    spec = item["spec"]
    if not location.chosen:
        return ["PathPrefix(`/`)"] if not spec.get("rules") else []  # a default backend counts only without rules
    rule = spec["rules"][location.chosen[0]]
    entry = rule["http"]["paths"][location.chosen[1]]
    host, path, kind = str(rule.get("host") or ""), str(entry.get("path") or ""), entry.get("pathType")
    hosts = [_host(host, dialect)] if host else []
    matcher = "Path" if kind == "Exact" else "PathPrefix"
    if kind not in ("Exact", "Prefix"):
        matcher = router_setting(item, "pathmatcher") or matcher
    if not path:
        return [" && ".join(hosts)]
    ways = [f"{matcher}({quoted(path)})"]
    if matcher == "PathPrefix" and path != "/":
        start = path.rstrip("/")
        ways.append(f"(Path({quoted(start)}) || PathPrefix({quoted(start + '/')}))")
    return [" && ".join([*hosts, way]) for way in ways]


def _host(host: str, dialect: Dialect) -> str:
    """Letter by letter as Traefik writes it: the length counts."""
    if not host.startswith("*."):
        return f"Host({quoted(host)})"
    if dialect == V2:
        return f"HostRegexp({quoted('{subdomain:[a-zA-Z0-9-]+}' + host[1:])})"
    pattern = "^[a-zA-Z0-9-]+" + host[1:].replace(".", r"\.") + "$"
    return f"HostRegexp({json.dumps(pattern)})"


def without_rivals(router: Router, routers: Sequence[Router]) -> str:
    """Its rule, less what belongs to those between it and the place right above it."""
    rivals = dict.fromkeys(one.rule.strip() for one in rivals_of(router, routers))
    # To Traefik the end of a line may be the end of a rule: none must stand before our bracket.
    return f"({router.rule.strip()})" + "".join(f" && !({rule})" for rule in rivals)


def rivals_of(router: Router, routers: Iterable[Router]) -> Iterator[Router]:
    for one in routers:
        itself = (one.owner, one.pointer) == (router.owner, router.pointer)
        close = one.high > router.low and one.low <= router.priority_above
        alike = one.rule == router.rule or one.dialect != router.dialect  # rules of two dialects cannot be mixed
        if close and not itself and not alike and _may_meet(one, router):
            yield one


def _may_meet(one: Router, other: Router) -> bool:
    hosts = not one.hosts or not other.hosts or bool(set(one.hosts) & set(other.hosts))
    paths = not one.paths or not other.paths
    return hosts and (paths or any(a.startswith(b) or b.startswith(a) for a in one.paths for b in other.paths))
