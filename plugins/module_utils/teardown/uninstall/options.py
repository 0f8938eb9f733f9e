# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of an uninstall, from the task's parameters to values.

Room: teardown (pure).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...limits import check_run_options
from ...problems import BadFields
from ...shown import NOTHING_SHOWN, Shown
from ..drain.options import AUTO, NONE, DrainOptions, parse_drain
from ..ladder import Ladder
from ..ranked_delete import RankedOptions
from ..run_outcome import RunOptions
from ..steps import DEFAULT_STEPS

SOURCES = (AUTO, "helm", "kapp", "flux", "argocd", "olm", "manifests", "namespace")
STAGES = ("preflight", "drain", "delete", "verify")
# Sources that are found by a name.
_NAMED = frozenset({"helm", "kapp", "flux", "argocd", "olm"})


@dataclass(frozen=True)
class UninstallOptions:
    release: str = ""
    namespace: str = ""
    source: str = AUTO
    manifests: Any = None
    drain: DrainOptions = field(default_factory=lambda: DrainOptions(None))
    finds_profiles: bool = True
    crds: str = "delete"
    instances: str = "refuse"
    ownership: str = "check"
    volumes: str = "keep"
    routes: str = "delete"
    delete_namespace: bool = False
    force: bool = False
    ladder: Ladder = field(default_factory=Ladder)
    gitops: str = "fail"
    missing: str = "ok"
    on_leftovers: str = "warn"
    stages: frozenset[str] = frozenset(STAGES)
    timeout: float = 600.0
    max_objects: int | None = None
    plan_hash: str | None = None
    shown: Shown = NOTHING_SHOWN  # the plan of that hash, where it is at hand: for going on with it
    check_mode: bool = False
    keepsakes: bool = False
    keep_secrets: bool = False
    hashed: Mapping[str, Any] = field(default_factory=dict)  # options that the plan's hash covers

    def deletion(self, members: Mapping[str, Any], seconds: float) -> RankedOptions:
        """The same wishes in the words of a ranked deletion. Limits are those of the whole uninstall, checked there."""
        foreign = "keep" if self.instances == "keep" else "refuse"
        return RankedOptions(
            members=members,
            rules=tuple(dataclasses.replace(rule, force=self.force) for rule in DEFAULT_STEPS),
            run=RunOptions(timeout=seconds, ladder=self.ladder, fail_fast=self.drain.fail_fast, foreign=foreign),
            foreign=foreign,
            ownership=self.ownership,
            check_mode=self.check_mode,
            keepsakes=self.keepsakes,
            keep_secrets=self.keep_secrets,
            hashed=self.hashed,
        )


def parse_uninstall(
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    here: bool = False,
    shown: Shown = NOTHING_SHOWN,
    hashed: Mapping[str, Any] | None = None,
) -> UninstallOptions:
    """Every bad field is reported at once, before anything is sent."""
    bad = BadFields()
    for name in ("release", "namespace"):
        if params[name] is not None and not params[name].strip():
            bad.add(name, "is empty; leave it out or give a value")
    _check_what(params, bad)
    check_run_options(params, bad)
    bad.raise_if_any()
    profile = params["profile"]
    by_hand = isinstance(profile, Mapping) or profile not in (AUTO, NONE)
    return UninstallOptions(
        release=params["release"] or "",
        namespace=params["namespace"] or "",
        source=params["source"],
        manifests=params["manifests"],
        drain=parse_drain(_drain_params(params, profile if by_hand else AUTO), check_mode=check_mode, hashed=hashed),
        finds_profiles=profile == AUTO,
        crds=params["crds"],
        instances=params["instances"],
        ownership=params["ownership"],
        volumes=params["volumes"],
        routes=params["routes"],
        delete_namespace=params["delete_namespace"],
        force=params["force"],
        ladder=Ladder(after=float(params["force_after"]), allow=tuple(params["force_allow"] or ())),
        gitops=params["gitops"],
        missing=params["missing"],
        on_leftovers=params["on_leftovers"],
        stages=frozenset(params["stages"]),
        timeout=float(params["timeout"]),
        max_objects=params["max_objects"],
        plan_hash=params["plan_hash"],
        shown=shown,
        check_mode=check_mode,
        keepsakes=bool(params["evidence_dir"]),
        # Only where they do not have to travel: they are encrypted on the controller.
        keep_secrets=here and bool(params["undo_vault_password"]),
        hashed=hashed or {},
    )


def _check_what(params: Mapping[str, Any], bad: BadFields) -> None:
    source = params["source"]
    given = [name for name in ("release", "namespace", "manifests") if params[name]]
    if not given:
        bad.complain("say what to uninstall: release and namespace, or manifests, or a namespace alone")
    if source in _NAMED and not params["release"]:
        bad.add("release", f"is needed with source: {source}")
    if source in _NAMED and not params["namespace"]:
        bad.add("namespace", f"is needed with source: {source}")
    if source == "manifests" and not params["manifests"]:
        bad.add("manifests", "is needed with source: manifests")
    if source == "namespace" and not params["namespace"]:
        bad.add("namespace", "is needed with source: namespace")
    if params["manifests"] and source not in (AUTO, "manifests"):
        bad.add("manifests", f"says nothing with source: {source}")
    if params["release"] and (source == "namespace" or params["manifests"]):
        bad.add("release", "says nothing for manifests or a whole namespace; leave it out")
    if params["delete_namespace"] and not params["namespace"]:
        bad.add("delete_namespace", "needs namespace")
    if not params["stages"]:
        bad.add("stages", f"is empty; there are {', '.join(STAGES)}")


# Options that mean the same for a drain and for the deletion.
_SAME = (
    *("policy", "anchor", "instance", "quiesce", "settle", "freeze", "user_authored"),
    *("force", "force_after", "force_allow", "timeout", "fail_fast"),
)


def _drain_params(params: Mapping[str, Any], profile: Any) -> dict[str, Any]:
    """A drain as it is by default, but for what the task says."""
    return {
        **{name: params[name] for name in _SAME},
        "profile": profile,
        "remove_anchor": True,
        "only_with_finalizer": True,
        "force_deny": None,
        "max_objects": None,
        "plan_hash": None,
        "evidence_dir": params["evidence_dir"],
    }
