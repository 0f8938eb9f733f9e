# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of a drain, from the task's parameters to values.

Room: teardown (pure).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...limits import check_run_options
from ...problems import BadFields
from ...profiles.known_products import PRODUCTS
from ...shown import NOTHING_SHOWN, Shown
from ..ladder import Ladder
from .profile import Profile, read_profile

AUTO, NONE, SCALE = "auto", "none", "scale"
RETAIN, DELETE = "Retain", "Delete"


@dataclass(frozen=True)
class Instance:
    """Which of several installations of a product is meant. Empty fields say nothing."""

    namespaces: tuple[str, ...] = ()
    ingress_classes: tuple[str, ...] = ()
    ingress_controllers: tuple[str, ...] = ()
    gateway_controllers: tuple[str, ...] = ()
    controller_name: str = ""
    controller_namespace: str = ""

    @property
    def is_given(self) -> bool:
        return self != Instance()


@dataclass(frozen=True)
class AnchorWish:
    """What the task says of the anchor; empty fields are found out."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""


@dataclass(frozen=True)
class DrainOptions:
    profile: Profile | None  # None: draft one
    policy: str = ""
    anchor: AnchorWish = field(default_factory=AnchorWish)
    remove_anchor: bool = True
    instance: Instance = field(default_factory=Instance)
    quiesce: str = AUTO
    settle: float = 3.0
    freeze: bool = False
    user_authored: str = "report"
    only_with_finalizer: bool = True
    ladder: Ladder = field(default_factory=Ladder)
    timeout: float = 600.0
    max_objects: int | None = None
    plan_hash: str | None = None
    shown: Shown = NOTHING_SHOWN  # the plan of that hash, where it is known: for going on with it
    check_mode: bool = False
    keepsakes: bool = False
    fail_fast: bool = True
    hashed: Mapping[str, Any] = field(default_factory=dict)  # options that the plan's hash covers


def parse_drain(
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    shown: Shown = NOTHING_SHOWN,
    hashed: Mapping[str, Any] | None = None,
) -> DrainOptions:
    """Every bad field is reported at once, before anything is sent."""
    bad = BadFields()
    profile = _profile(params["profile"], bad)
    instance, anchor = params.get("instance") or {}, params.get("anchor") or {}
    _no_empty_texts(instance, "instance", bad)
    _no_empty_texts(anchor, "anchor", bad)
    if params["settle"] < 0:
        bad.add("settle", f"must be 0 or more, not {params['settle']}")
    if anchor.get("api_version") and not anchor.get("kind"):
        bad.add("anchor.api_version", "says nothing without anchor.kind")
    check_run_options(params, bad)
    bad.raise_if_any()
    return DrainOptions(
        profile=profile,
        policy=params["policy"] or "",
        anchor=AnchorWish(**{key: value or "" for key, value in anchor.items()}),
        remove_anchor=params["remove_anchor"],
        instance=Instance(
            **{key: tuple(instance.get(key) or ()) for key in _LISTS},
            controller_name=instance.get("controller_name") or "",
            controller_namespace=instance.get("controller_namespace") or "",
        ),
        quiesce=params["quiesce"],
        settle=float(params["settle"]),
        freeze=params["freeze"],
        user_authored=params["user_authored"],
        only_with_finalizer=params["only_with_finalizer"],
        ladder=Ladder(
            force=params["force"],
            after=float(params["force_after"]),
            deny=tuple(params["force_deny"] or ()),
            allow=tuple(params["force_allow"] or ()),
        ),
        timeout=float(params["timeout"]),
        max_objects=params["max_objects"],
        plan_hash=params["plan_hash"],
        shown=shown,
        check_mode=check_mode,
        keepsakes=bool(params["evidence_dir"]),
        fail_fast=params["fail_fast"],
        hashed=hashed or {},
    )


_LISTS = ("namespaces", "ingress_classes", "ingress_controllers", "gateway_controllers")


def _profile(given: Any, bad: BadFields) -> Profile | None:
    if isinstance(given, Mapping):
        return read_profile(given, "profile", bad)
    name = str(given).strip()
    if name == AUTO:
        return None
    if name in PRODUCTS:
        return read_profile(PRODUCTS[name], "profile", bad)
    close = difflib.get_close_matches(name.lower(), PRODUCTS, n=1)
    hint = f"did you mean {close[0]}? There" if close else "there"
    there = f"{', '.join(sorted(PRODUCTS))}, auto, or a dictionary with a profile of your own"
    bad.add("profile", f"{name!r} is not known; {hint} are {there}")
    return None


def _no_empty_texts(given: Mapping[str, Any], path: str, bad: BadFields) -> None:
    """A variable that came out empty must not mean "all of them"."""
    for key, value in given.items():
        texts = value if isinstance(value, list) else [value]
        empty = value == [] or any(isinstance(text, str) and not text.strip() for text in texts)
        if empty:
            bad.add(f"{path}.{key}", "is empty; leave it out or give a value")
