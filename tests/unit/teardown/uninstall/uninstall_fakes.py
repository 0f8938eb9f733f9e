# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A whole uninstall on a cluster in memory, from a task's options to the outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs.uninstall import ARGUMENTS, JOB
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.shown import NOTHING_SHOWN, Shown
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.options import parse_uninstall
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.uninstall import (
    UninstallOutcome,
    uninstall,
)
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS, Told
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import PRODUCT
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import GITOPS, OLM
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVED, FakeCluster


def _kind(group: str, kind: str, plural: str, namespaced: bool = True) -> Resource:
    return Resource(group, "v1", kind, plural, namespaced, kind.lower(), (), VERBS)


RBAC = "rbac.authorization.k8s.io"
CLAIMS = _kind("", "PersistentVolumeClaim", "persistentvolumeclaims")
EVERYTHING = (
    *(*SERVED, *GITOPS, *OLM, *PRODUCT, CLAIMS),
    _kind("apps", "DaemonSet", "daemonsets"),
    _kind("apps", "ControllerRevision", "controllerrevisions"),
    _kind(RBAC, "RoleBinding", "rolebindings"),
    _kind(RBAC, "ClusterRoleBinding", "clusterrolebindings", False),
    _kind("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False),
    _kind("apiregistration.k8s.io", "APIService", "apiservices", False),
)
DEFAULTS: dict[str, Any] = {name: entry.get("default") for name, entry in ARGUMENTS.items()}


def a_cluster() -> FakeCluster:
    return FakeCluster(*EVERYTHING)


def uninstalled(
    cluster: FakeCluster,
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
    return uninstall(
        options,
        cluster,  # type: ignore[arg-type]
        {}.__getitem__,
        cluster.clock,
        StopSign(),
        Told() if told is None else told,
    )


def stays(outcome: UninstallOutcome) -> dict[str, str]:
    """What the plan keeps, with the reason."""
    assert outcome.scheme is not None
    return {str(entry.member.ref): entry.verdict.why for entry in outcome.scheme.plan.kept}


def goes(outcome: UninstallOutcome) -> set[str]:
    assert outcome.scheme is not None
    return {str(entry.member.ref) for entry in outcome.scheme.plan.going}
