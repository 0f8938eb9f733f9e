# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task about maintenance wants, read once and checked whole.

Room: maintenance (pure).
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..durations import seconds_in
from ..labels import Test, parse_selector
from ..limits import check_run_options
from ..objects import parse_time
from ..problems import BadFields, BadOption
from ..profiles.maintenance_operator import Names
from .bypass import Bypass
from .pages.bundle import Answering, PageSource, PageText
from .route_kinds import ROUTE_KINDS, SERVICE, Backend, RouteKind
from .seed_names import names_given
from .workload import Autoscaling, Workload

ACME = "/.well-known/acme-challenge/"
LONGEST_LINGER = 600  # seconds
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_|~-]+")


@dataclass(frozen=True)
class Target:
    """One wish for routes: everything that is given must fit."""

    kind: str = ""
    name: str = ""
    namespace: str = ""
    labels: Test = field(default=lambda _labels: True)
    hosts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    ingress_class: str = ""
    service: str = ""

    @property
    def is_narrow(self) -> bool:
        """Only some places of a route are meant."""
        return bool(self.hosts or self.paths or self.service)

    def __str__(self) -> str:
        place = "/".join(filter(None, (self.namespace, self.name)))
        return f"{self.kind or 'route'} {place}".strip()


@dataclass(frozen=True)
class PageWish:
    """Where the page comes from: given here, or a ConfigMap that is read when the task runs."""

    source: PageSource = field(default_factory=PageSource)
    html_file: str = ""
    config_map: str = ""
    config_map_namespace: str = ""  # empty: the target's
    config_map_key: str = ""  # empty: page.html, and what stands beside it for other readers


@dataclass(frozen=True)
class EndJob:
    """A CronJob that ends the window by itself, in the cluster."""

    image: str
    service_account: str


@dataclass(frozen=True)
class Verify:
    """Ask the controller over HTTP, as a user would."""

    url: str  # where the controller listens, e.g. http://127.0.0.1:8080
    timeout: float = 30.0
    validate_certs: bool = True


@dataclass(frozen=True)
class MaintenanceOptions:
    state: str
    targets: tuple[Target, ...] = ()
    page: PageWish = field(default_factory=PageWish)
    answering: Answering = field(default_factory=Answering)
    workload: Workload = field(default_factory=Workload)
    exempt: tuple[str, ...] = (ACME,)
    opened: tuple[str, ...] = ()  # exempt paths that were asked for: cut out where no place of their own is there
    bypass: Bypass = field(default_factory=Bypass)
    strategy: str = "swap"
    gitops: str = "fail"
    ends_at: float | None = None
    lasts: float | None = None
    job: EndJob | None = None
    reopen_endpoints: bool = True
    verify: Verify | None = None
    linger: float = 5.0
    sweep_after: float = 600.0
    reason: str = ""
    holder: str = ""  # on whose behalf; empty: that of whoever runs the task
    coverage: bool = True
    kinds: tuple[RouteKind, ...] = ROUTE_KINDS
    timeout: float = 600.0
    max_objects: int | None = None
    plan_hash: str | None = None
    check_mode: bool = False
    hashed: Mapping[str, Any] = field(default_factory=dict)  # options that the plan's hash covers
    backup_key_secret: str = ""  # namespace/name; empty: backups are not signed
    takeover: bool = False  # routes that the maintenance-operator holds are taken from it
    operator: Names | None = None  # how it calls its annotations; None: as its Deployment says, or as usual


def parse_maintenance(
    params: Mapping[str, Any], *, check_mode: bool, hashed: Mapping[str, Any] | None = None
) -> MaintenanceOptions:
    """Every bad field at once."""
    bad = BadFields()
    check_run_options(params, bad)
    state = params["state"]
    kinds = ROUTE_KINDS + tuple(_route_kinds(params.get("route_kinds"), bad))
    holder = params.get("holder") or ""
    if re.search(r"\s", holder):
        bad.add("holder", "is one word, without spaces")
    # What somebody holds can be found by his name alone.
    anywhere = state == "swept" or (state == "disabled" and bool(holder))
    targets = parse_targets(params.get("targets"), bad, needed=not anywhere)
    ends_at, lasts, job = _window(params.get("window"), bad)
    options = MaintenanceOptions(
        state=state,
        targets=targets,
        page=_page(params.get("page") or {}, bad),
        answering=_answering(params, bad),
        workload=_workload(params.get("workload") or {}, bad),
        exempt=_exempt(params.get("exempt_paths"), bad),
        opened=tuple(params.get("exempt_paths") or ()),
        bypass=_bypass(params.get("bypass") or {}, bad),
        strategy=params["strategy"],
        gitops=params["gitops"],
        ends_at=ends_at,
        lasts=lasts,
        job=job,
        reopen_endpoints=(params.get("reopen") or {}).get("endpoints", True) is not False,
        verify=_verify(params.get("verify"), bad),
        linger=float(_at_most("linger", _at_least("linger", params["linger"], 0, bad), LONGEST_LINGER, bad)),
        sweep_after=float(_at_least("sweep_after", params["sweep_after"], 0, bad)),
        reason=(params.get("reason") or "").strip(),
        holder=holder,
        coverage=params["coverage"],
        kinds=kinds,
        timeout=float(params["timeout"]),
        max_objects=params.get("max_objects"),
        plan_hash=params.get("plan_hash"),
        check_mode=check_mode,
        hashed=hashed or {},
        backup_key_secret=_secret(params.get("backup_key_secret") or "", bad),
        takeover=params["takeover"],
        operator=names_given(params.get("maintenance_operator"), bad),
    )
    bad.raise_if_any()
    return options


def parse_info(params: Mapping[str, Any]) -> MaintenanceOptions:
    bad = BadFields()
    check_run_options(params, bad)
    options = MaintenanceOptions(
        state="info",
        targets=parse_targets(params.get("targets"), bad, needed=False),
        coverage=params["coverage"],
        kinds=ROUTE_KINDS + tuple(_route_kinds(params.get("route_kinds"), bad)),
        timeout=float(params["timeout"]),
        operator=names_given(params.get("maintenance_operator"), bad),
    )
    bad.raise_if_any()
    return options


def parse_targets(given: Sequence[Mapping[str, Any]] | None, bad: BadFields, *, needed: bool) -> tuple[Target, ...]:
    if given is None or given == []:
        if given == [] or needed:
            bad.add("targets", "say which routes: at least a namespace, or a kind and a name")
        return ()
    return tuple(_target(number, one, bad) for number, one in enumerate(given))


def _target(number: int, given: Mapping[str, Any], bad: BadFields) -> Target:
    path = f"targets[{number}]"
    known = {key: value for key, value in given.items() if value is not None}
    if not known:
        bad.add(path, "is empty; name routes, or a namespace")
    for key, value in known.items():
        entries = value if isinstance(value, list) else [value]
        if not entries or any(not str(one).strip() for one in entries):
            bad.add(f"{path}.{key}", "is empty; leave it out or give a value")
    if "name" in known and "namespace" not in known:
        bad.add(f"{path}.namespace", "is needed with a name")
    labels: Test = lambda _labels: True  # noqa: E731
    try:
        labels = parse_selector(known.get("label_selector") or "", f"{path}.label_selector")
    except BadOption as problem:
        bad.complain(problem.why)
    return Target(
        kind=known.get("kind", ""),
        name=known.get("name", ""),
        namespace=known.get("namespace", ""),
        labels=labels,
        hosts=tuple(known.get("hosts") or ()),
        paths=tuple(known.get("paths") or ()),
        ingress_class=known.get("ingress_class", ""),
        service=known.get("service", ""),
    )


_BODIES = ("html", "html_file", "config_map", "name")
# option → what the built-in page calls it
_TEXTS = {"title": "title", "details": "message", "contact": "contact", "product": "product"}


def _page(given: Mapping[str, Any], bad: BadFields) -> PageWish:
    chosen = [key for key in _BODIES if given.get(key) is not None]
    if len(chosen) > 1:
        bad.add("page", f"give one of {', '.join(chosen)}, not all")
    texts = [key for key in (*_TEXTS, "language", "words", "refresh") if given.get(key)]
    if chosen and texts:
        bad.add("page", f"{', '.join(texts)} are for the built-in page; leave them out, or leave out {chosen[0]}")
    text = PageText(
        **{word: str(given.get(key) or "") for key, word in _TEXTS.items()},
        language=given.get("language") or "en",
        words=given.get("words") or {},
        refresh=_at_least("page.refresh", given.get("refresh") or 0, 0, bad),
    )
    body = given.get("json")
    if body is not None and not isinstance(body, str):
        body = json.dumps(body, indent=2)
    if given.get("html_file") is not None and not str(given["html_file"]).strip():
        bad.add("page.html_file", "is empty; leave it out to get the built-in page")
    source = PageSource(given.get("html"), body, given.get("xml"), given.get("text"), text)
    name, namespace, key = _config_map(given, bad)
    return PageWish(source, given.get("html_file") or "", name, namespace, key)


def _config_map(given: Mapping[str, Any], bad: BadFields) -> tuple[str, str, str]:
    if given.get("name") is not None:
        return f"maintenance-page-{given['name']}", "", ""
    value = given.get("config_map")
    if value is None:
        return "", "", ""
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, Mapping) or not value.get("name") or set(value) - {"name", "namespace", "key"}:
        bad.add("page.config_map", "is a name, or a hash of name, namespace and key")
        return "", "", ""
    return str(value["name"]), str(value.get("namespace") or ""), str(value.get("key") or "")


def _answering(params: Mapping[str, Any], bad: BadFields) -> Answering:
    after = params.get("retry_after")
    if after is not None:
        _at_least("retry_after", after, 0, bad)
    workload = params.get("workload") or {}
    image = {"image": workload["image"]} if workload.get("image") else {}
    headers = {str(key): "" if value is None else str(value) for key, value in (params.get("headers") or {}).items()}
    return Answering(
        status=params["status_code"],
        retry_after=after,
        retry_spread=_at_least("retry_spread", params["retry_spread"], 0, bad),
        headers=headers,
        robots=params.get("robots"),
        **image,
    )


_WORKLOAD = ("kind", "replicas", "resources", "run_as_user", "node_selector", "tolerations", "service_type")


def _workload(given: Mapping[str, Any], bad: BadFields) -> Workload:
    known = {key: given[key] for key in _WORKLOAD if given.get(key) is not None}
    scaling = given.get("autoscaling")
    if scaling is not None:
        known["autoscaling"] = Autoscaling(scaling["min"], scaling["max"], scaling["cpu"])
    workload = Workload(**known, pull_secrets=tuple(given.get("pull_secrets") or ()))
    try:
        workload.check()
    except BadOption as problem:
        bad.complain(problem.why)
    return workload


def _exempt(given: Sequence[str] | None, bad: BadFields) -> tuple[str, ...]:
    paths = [ACME] if given is None else list(given)
    for path in paths:
        if not path.startswith("/") or path.strip("/") == "":
            bad.add("exempt_paths", f"{path!r} is no path below /")
    return tuple(paths)


def _bypass(given: Mapping[str, Any], bad: BadFields) -> Bypass:
    headers = tuple(sorted((given.get("headers") or {}).items()))
    cookies = tuple(sorted((given.get("cookies") or {}).items()))
    for word, pairs in (("headers", headers), ("cookies", cookies)):
        for key, value in pairs:
            if not _HEADER.fullmatch(str(key)) or value in (None, "") or re.search(r"[`\"';,\s\\]", str(value)):
                bad.add(f"bypass.{word}", f"{key} needs a plain name and a value without quotes, commas and spaces")
    cidrs = tuple(given.get("cidrs") or ())
    for cidr in cidrs:
        try:
            ipaddress.ip_network(cidr, strict=False)
        except ValueError:
            bad.add("bypass.cidrs", f"{cidr!r} is no address range")
    return Bypass(headers, cookies, cidrs)


def _window(given: Mapping[str, Any] | None, bad: BadFields) -> tuple[float | None, float | None, EndJob | None]:
    if not given:
        return None, None, None
    if (given.get("end") is None) == (given.get("for") is None):
        bad.add("window", "give either end or for")
    ends_at = lasts = None
    if given.get("end") is not None:
        try:
            ends_at = parse_time(given["end"])
        except ValueError:
            bad.add("window.end", f"{given['end']!r} is no time; write it like 2026-11-16T23:30:00Z")
    if given.get("for") is not None:
        lasts = seconds_in(str(given["for"]))
        if not lasts:
            bad.add("window.for", f"{given['for']!r} is no duration; write it like 90m, 2h or 1h30m")
    job = given.get("job")
    return ends_at, lasts, EndJob(job["image"], job["service_account"]) if job else None


def _verify(given: Mapping[str, Any] | None, bad: BadFields) -> Verify | None:
    if not given:
        return None
    if not re.match(r"https?://[^/\s]+", given["url"]):
        bad.add("verify.url", "is where the ingress controller listens, like https://203.0.113.7")
    return Verify(given["url"], float(_at_least("verify.timeout", given["timeout"], 1, bad)), given["validate_certs"])


def _route_kinds(given: Sequence[Mapping[str, Any]] | None, bad: BadFields) -> list[RouteKind]:
    found = []
    for number, one in enumerate(given or ()):
        backends = [
            _backend(f"route_kinds[{number}].backends[{place}]", data, bad)
            for place, data in enumerate(one.get("backends") or ())
        ]
        if not backends:
            bad.add(f"route_kinds[{number}].backends", "say where the kind keeps its backends")
        found.append(
            RouteKind(
                one["group"],
                one["kind"],
                tuple(backends),
                hosts=tuple(one.get("hosts") or ()),
                paths=tuple(one.get("paths") or ()),
            )
        )
    return found


def _backend(path: str, data: Mapping[str, Any], bad: BadFields) -> Backend:
    if not str(data.get("pattern") or "").startswith("/spec/"):
        bad.add(f"{path}.pattern", "is a place below /spec, like /spec/routes/*/services")
    if SERVICE not in repr(data.get("page")):
        bad.add(f"{path}.page", f"is what a reference to a Service looks like, with {SERVICE} for its name")
    return Backend(
        str(data.get("pattern") or ""),
        data.get("page"),
        tuple(data.get("known_by") or ()),
        name="/name" if data.get("name") is None else data["name"],  # "" for a backend that is a plain name
        namespace=data.get("namespace") or "",
        kind="",
    )


def _secret(place: str, bad: BadFields) -> str:
    if place and not re.fullmatch(r"[a-z0-9-]+/[a-z0-9.-]+", place):
        bad.add("backup_key_secret", f"{place!r} is not namespace/name of a Secret")
    return place


def _at_most(path: str, value: int, most: int, bad: BadFields) -> int:
    if value > most:
        bad.add(path, f"must be {most} or less, not {value}")
    return value


def _at_least(path: str, value: int, least: int, bad: BadFields) -> int:
    if value < least:
        bad.add(path, f"must be {least} or more, not {value}")
    return value
