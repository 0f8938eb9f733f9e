# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A whole uninstall on a cluster in memory, from a task's options to the outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs.uninstall import ARGUMENTS, JOB
from ansible_collections.sunset.kube.plugins.module_utils.shown import NOTHING_SHOWN, Shown
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.options import parse_uninstall
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.uninstall import (
    UninstallOutcome,
    uninstall,
)
from ansible_collections.sunset.kube.tests.unit.fakes import Told
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import PRODUCT
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import GITOPS, OLM
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    NO_CONTEXTS,
    SERVED,
    InMemoryCluster,
    a_kind,
)

RBAC = "rbac.authorization.k8s.io"
CLAIMS = a_kind("", "PersistentVolumeClaim", "persistentvolumeclaims")
EVERYTHING = (
    *(*SERVED, *GITOPS, *OLM, *PRODUCT, CLAIMS),
    a_kind("apps", "ControllerRevision", "controllerrevisions"),
    a_kind(RBAC, "RoleBinding", "rolebindings"),
)
DEFAULTS: dict[str, Any] = {name: entry.get("default") for name, entry in ARGUMENTS.items()}


def a_cluster() -> InMemoryCluster:
    return InMemoryCluster(*EVERYTHING)


def uninstalled(
    cluster: InMemoryCluster,
    *,
    check_mode: bool = False,
    told: Callable[[Any], None] | None = None,
    shown: Shown = NOTHING_SHOWN,
    keep_secrets: bool = False,
    **params: Any,
) -> UninstallOutcome:
    if keep_secrets:
        params["undo_vault_password"] = "sesame"
    given = {**DEFAULTS, **params}
    options = parse_uninstall(given, check_mode=check_mode, here=True, shown=shown, hashed=JOB.hashed(given))
    listener = Told() if told is None else told
    return uninstall(options, cluster, NO_CONTEXTS, cluster.clock, StopSign(), listener)


def stays(outcome: UninstallOutcome) -> dict[str, str]:
    """What the plan keeps, with the reason."""
    assert outcome.scheme is not None
    return {str(entry.member.ref): entry.verdict.why for entry in outcome.scheme.plan.kept}


def goes(outcome: UninstallOutcome) -> set[str]:
    assert outcome.scheme is not None
    return {str(entry.member.ref) for entry in outcome.scheme.plan.going}
