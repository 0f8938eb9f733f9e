# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Put a freeze in place, lift it, or sweep those whose time is over: the use case behind the module `freeze`.

Room: teardown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..clock import Clock, Deadline
from ..events import Tell
from ..objects import Resource
from ..problems import BadFields, BadOption
from .freeze import Freeze, expired, freeze, lift, try_freeze, would_lift

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_NAME_LENGTH = 200
_NAME = re.compile(rf"(?=.{{1,{_NAME_LENGTH}}}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@dataclass(frozen=True)
class FreezeOptions:
    name: str
    state: str = "present"
    kinds: tuple[str, ...] = ()
    finalizers: tuple[str, ...] = ()
    on_kinds: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    allow_users: tuple[str, ...] = ()
    expires_after: float = 3600.0
    timeout: float = 600.0
    check_mode: bool = False


@dataclass
class FreezeOutcome:
    changed: bool = False
    name: str = ""
    ends: str = ""
    swept: list[str] = field(default_factory=list)


def parse_freeze(params: Mapping[str, Any], *, check_mode: bool) -> FreezeOptions:
    bad = BadFields()
    lists = {key: params[key] or [] for key in ("kinds", "finalizers", "on_kinds", "namespaces", "allow_users")}
    for key, value in lists.items():
        if params[key] == [] or any(not text.strip() for text in value):
            bad.add(key, "is empty; leave it out or give a value")
    present = params["state"] == "present"
    if params["state"] != "swept" and not (params["name"] or "").strip():
        bad.add("name", f"is needed with state: {params['state']}")
    elif params["name"] is not None and not _NAME.fullmatch(params["name"]):
        bad.add("name", f"must be lower-case letters, digits, dashes and dots, at most {_NAME_LENGTH} of them")
    if present and not (lists["kinds"] or lists["finalizers"]):
        bad.add("kinds", "say what is forbidden: kinds to create, or finalizers to add")
    if bool(lists["finalizers"]) != bool(lists["on_kinds"]) and present:
        bad.add("on_kinds", "finalizers and on_kinds go together")
    if any("*" in name[:-1] or not name.strip("*/.") for name in lists["finalizers"]):
        bad.add("finalizers", "a glob may only have its star at the end, after a name: example.com/*")
    if params["expires_after"] < 1:
        bad.add("expires_after", f"must be 1 or more, not {params['expires_after']}")
    bad.raise_if_any()
    return FreezeOptions(
        name=params["name"] or "",
        state=params["state"],
        **{key: tuple(value) for key, value in lists.items()},
        expires_after=float(params["expires_after"]),
        timeout=float(params["timeout"]),
        check_mode=check_mode,
    )


def set_freeze(options: FreezeOptions, cluster: Cluster, clock: Clock, tell: Tell) -> FreezeOutcome:
    cluster.limit_to(Deadline(clock, options.timeout))
    if options.state == "present":
        return _present(options, cluster, clock, tell)
    names = [options.name] if options.state == "absent" else expired(cluster)
    if options.check_mode:
        there = [name for name in names if would_lift(name, cluster)]
    else:
        there = [name for name in names if lift(name, cluster, clock, tell)]
    return FreezeOutcome(bool(there), options.name, swept=there)


def _present(options: FreezeOptions, cluster: Cluster, clock: Clock, tell: Tell) -> FreezeOutcome:
    cluster.catalogue  # noqa: B018 - the first answer also tells the server's time
    wanted = Freeze(
        name=options.name,
        no_creation_of=tuple(_resolved(kind, "kinds", cluster) for kind in options.kinds),
        no_finalizers=options.finalizers,
        finalizers_on=tuple(_resolved(kind, "on_kinds", cluster) for kind in options.on_kinds),
        namespaces=options.namespaces,
        allow_users=options.allow_users,
        expires_at=cluster.server_time() + options.expires_after,
    )
    if options.check_mode:
        return FreezeOutcome(bool(try_freeze(wanted, cluster)), options.name, wanted.end)
    return FreezeOutcome(freeze(wanted, cluster, clock, tell), options.name, wanted.end)


def _resolved(kind: str, option: str, cluster: Cluster) -> Resource:
    resource, _warning = cluster.resolve(kind)
    if resource is None:
        raise BadOption(
            f"{option}: {kind}", why="this kind is not installed", next_step="leave it out, or install it first"
        )
    return resource
