# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of a cluster's removal from its hub, from the task's parameters to values.

Room: teardown (pure).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...limits import check_run_options
from ...problems import BadFields
from ...profiles.ocm import DEFAULT_CLEANUP
from ...shown import NOTHING_SHOWN, Shown

# A kind, a resource with or without version and group, or a part of group/version/resource.
_WORD = re.compile(r"[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class ClusterOptions:
    names: tuple[str, ...] = ()
    label_selector: str = ""
    wait_for: tuple[str, ...] = ()
    wait_for_missing: str = "fail"
    cleanup: tuple[str, ...] = DEFAULT_CLEANUP
    manifestworks: str = "all"
    namespace: str = "auto"
    on_unreachable: str = "fail"
    spoke_content: str = "delete"
    freeze: bool = True
    spoke: Mapping[str, Any] | None = None
    force_after: float = 30.0
    concurrency: int = 10
    timeout: float = 600.0
    max_objects: int | None = None
    plan_hash: str | None = None
    shown: Shown = NOTHING_SHOWN  # the plan of that hash, where it is known: for going on with it
    check_mode: bool = False
    keepsakes: bool = False
    hashed: Mapping[str, Any] = field(default_factory=dict)  # options that the plan's hash covers


def parse_clusters(
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    shown: Shown = NOTHING_SHOWN,
    hashed: Mapping[str, Any] | None = None,
) -> ClusterOptions:
    """Every bad field is reported at once, before anything is sent."""
    bad = BadFields()
    names = [params["name"]] if params["name"] is not None else list(params["names"] or ())
    given = [key for key in ("name", "names", "label_selector") if params[key] is not None]
    if len(given) != 1:
        bad.add("name", "give exactly one of name, names and label_selector")
    elif "label_selector" not in given and (not names or any(not name.strip() for name in names)):
        bad.add(given[0], "is empty; leave it out or give a value")
    if params["label_selector"] is not None and not params["label_selector"].strip():
        bad.add("label_selector", "is empty, and would mean every cluster of the hub")
    for key in ("wait_for", "cleanup"):
        for place, text in enumerate(params[key] or ()):
            complaint = _complaint(text)
            if complaint:
                bad.add(f"{key}[{place}]", complaint)
    if params["cleanup"] == []:
        bad.add("cleanup", "is empty; leave it out or give a value")
    if params["concurrency"] < 1:
        bad.add("concurrency", f"must be 1 or more, not {params['concurrency']}")
    if params["spoke"] is not None and len(names) != 1:
        bad.add("spoke", "goes with exactly one cluster")
    check_run_options(params, bad)
    bad.raise_if_any()
    return ClusterOptions(
        names=tuple(dict.fromkeys(names)),
        label_selector=params["label_selector"] or "",
        wait_for=tuple(params["wait_for"] or ()),
        wait_for_missing=params["wait_for_missing"],
        cleanup=tuple(params["cleanup"] or DEFAULT_CLEANUP),
        manifestworks=params["manifestworks"],
        namespace=params["namespace"],
        on_unreachable=params["on_unreachable"],
        spoke_content=params["spoke_content"],
        freeze=params["freeze"],
        spoke=params["spoke"],
        force_after=float(params["force_after"]),
        concurrency=params["concurrency"],
        timeout=float(params["timeout"]),
        max_objects=params["max_objects"],
        plan_hash=params["plan_hash"],
        shown=shown,
        check_mode=check_mode,
        keepsakes=bool(params["evidence_dir"]),
        hashed=hashed or {},
    )


def spelled(text: str) -> tuple[str, str | None]:
    """Kind and api_version of `resource.version.group`, `group/version/resource` or a plain kind."""
    if "/" in text:
        group, version, resource = text.split("/")
        return resource, f"{group}/{version}"
    return text, None


def _complaint(text: str) -> str:
    if not text.strip():
        return "is empty; leave it out or give a value"
    if text.count("/") not in (0, 2) or not all(map(_WORD.fullmatch, text.split("/"))):
        return f"cannot read {text!r}; write resource.version.group, group/version/resource or a kind"
    return ""
