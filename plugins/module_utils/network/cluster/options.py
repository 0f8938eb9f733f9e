# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task about a policy on the cluster may say, checked before anything is sent.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...limits import check_run_options
from ...problems import BadFields
from ...shown import NOTHING_SHOWN, Shown
from .kinds import LONGEST_NAME

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_COUNT = re.compile(r"\d+%?")


@dataclass(frozen=True)
class NncpOptions:
    policy: str
    state: str = "absent"
    mode: str = "auto"
    force: bool = False
    canary: int = 1
    max_unavailable: Any = None  # None: as the policy says
    on_failure: str = "stop"
    unreachable: str = "fail"
    node_selector: Mapping[str, str] | None = None
    namespace: str = ""  # where records are kept; empty: where the handlers run
    timeout: float = 600.0
    max_objects: int | None = None
    plan_hash: str | None = None
    shown: Shown = NOTHING_SHOWN  # the plan of that hash, where it is known: for going on with it
    check_mode: bool = False
    hashed: Mapping[str, Any] = field(default_factory=dict)  # options that the plan's hash covers


def parse_nncp(
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    shown: Shown = NOTHING_SHOWN,
    hashed: Mapping[str, Any] | None = None,
) -> NncpOptions:
    bad = BadFields()
    check_run_options(params, bad)
    policy = params["policy"]
    if len(policy) > LONGEST_NAME or not _NAME.fullmatch(policy):
        bad.add("policy", f"{policy!r} cannot be the name of a policy: {LONGEST_NAME} letters, digits, - and . at most")
    if params["canary"] < 0:
        bad.add("canary", f"must be 0 or more, not {params['canary']}")
    given = params.get("max_unavailable")
    if given is not None and not _COUNT.fullmatch(str(given)):
        bad.add("max_unavailable", f"must be a number or a percentage such as 30%, not {given!r}")
    if params.get("node_selector") is not None and params["state"] != "prepared":
        bad.add("node_selector", "is for state: prepared; what is reverted is known from the records and the cluster")
    bad.raise_if_any()
    return NncpOptions(
        policy=policy,
        state=params["state"],
        mode=params["mode"],
        force=params["force"],
        canary=params["canary"],
        max_unavailable=int(given) if given is not None and str(given).isdigit() else given,
        on_failure=params["on_failure"],
        unreachable=params["unreachable"],
        node_selector=params.get("node_selector"),
        namespace=params.get("namespace") or "",
        timeout=float(params["timeout"]),
        max_objects=params.get("max_objects"),
        plan_hash=params.get("plan_hash"),
        shown=shown,
        check_mode=check_mode,
        hashed=hashed or {},
    )
