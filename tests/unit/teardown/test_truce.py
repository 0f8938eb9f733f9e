# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The owner that goes last waits before the first of its objects goes."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Noted
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, Told, named, refusal
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import (
    APPLICATIONS,
    GITOPS,
    HELM_RELEASES,
    KUSTOMIZATIONS,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    SERVED,
    InMemoryCluster,
    When,
    api_error,
    ranked,
)

FLUX = "kustomize.toolkit.fluxcd.io"
TRACKING = {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}
RESOURCES = "resources-finalizer.argocd.argoproj.io"
KUSTOMIZATION = {"flux": {"kind": "Kustomization", "name": "shop", "namespace": "flux"}}
APPLICATION = {"argocd": {"name": "shop", "namespace": "argocd"}}


def of_flux(**more: Any) -> InMemoryCluster:
    cluster = InMemoryCluster(*SERVED, *GITOPS)
    entries = [{"id": "shop_web_apps_Deployment", "v": "v1"}]
    facts = {"finalizers": ["finalizers.fluxcd.io"], "spec": {"prune": True}, **more}
    facts["status"] = {"inventory": {"entries": entries}, **facts.get("status", {})}
    cluster.add(KUSTOMIZATIONS, "shop", "flux", **facts)
    cluster.add(DEPLOYMENTS, "web", labels={f"{FLUX}/name": "shop", f"{FLUX}/namespace": "flux"})
    return cluster


def of_argo(*finalizers: str, **more: Any) -> InMemoryCluster:
    cluster = InMemoryCluster(*SERVED, *GITOPS)
    web = {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
    spec = {"destination": {"name": "in-cluster"}, "syncPolicy": {"automated": {"selfHeal": True}}}
    facts = {"finalizers": list(finalizers), "spec": spec, "status": {"resources": [web]}, **more}
    cluster.add(APPLICATIONS, "shop", "argocd", **facts)
    cluster.add(DEPLOYMENTS, "web", annotations=TRACKING)
    return cluster


def test_a_kustomization_is_suspended_first_and_goes_last() -> None:
    cluster = of_flux()
    outcome = ranked(cluster, members=KUSTOMIZATION)
    assert outcome.failure is None
    assert cluster.log == [
        "patch Kustomization flux/shop",
        "delete Deployment shop/web",
        "gone Deployment shop/web",
        "strip Kustomization flux/shop (finalizers.fluxcd.io)",
        "delete Kustomization flux/shop",
        "gone Kustomization flux/shop",
    ]
    assert cluster.bodies[0]["spec"] == {"suspend": True}
    assert "resourceVersion" in cluster.bodies[0]["metadata"], "a change meanwhile must be noticed"
    assert (outcome.run.changed, outcome.run.paused) == (True, 1)


def test_an_application_is_told_to_skip_and_loses_the_finalizer_that_would_cascade() -> None:
    cluster = of_argo(f"{RESOURCES}/background", "example.com/other")
    outcome = ranked(cluster, members=APPLICATION, timeout=5)
    assert cluster.bodies[0]["metadata"]["annotations"] == {"argocd.argoproj.io/skip-reconcile": "true"}
    assert cluster.log[:4] == [
        "patch Application argocd/shop",
        "delete Deployment shop/web",
        "gone Deployment shop/web",
        f"strip Application argocd/shop ({RESOURCES}/background)",
    ]
    assert [leaver.record.finalizers for leaver in outcome.run.survivors] == [("example.com/other",)]
    assert "still waits; run the task again, or let it go on: kubectl annotate" in outcome.warnings[-1]


def test_what_is_kept_is_not_taken_by_the_owner_either() -> None:
    cluster = of_argo(RESOURCES)
    cluster.change(DEPLOYMENTS, "web", annotations={**TRACKING, "sunset.dev/keep": "true"})
    ranked(cluster, members=APPLICATION)
    assert cluster.log == [
        "patch Application argocd/shop",
        f"strip Application argocd/shop ({RESOURCES})",
        "delete Application argocd/shop",
        "gone Application argocd/shop",
    ]
    assert cluster.left() == ["Deployment shop/web"]


def test_hooks_that_run_afterwards_find_a_controller_that_looks_and_does_not_heal() -> None:
    cluster = of_argo("post-delete-finalizer.argocd.argoproj.io")
    ranked(cluster, members=APPLICATION, timeout=5)
    assert cluster.log[-2:] == ["patch Application argocd/shop", "delete Application argocd/shop"]
    thing = cluster.objects["argoproj.io", "applications", "argocd", "shop"]
    assert (thing["metadata"]["annotations"], thing["spec"]["syncPolicy"]) == ({}, {})


WAITING: dict[str, tuple[InMemoryCluster, dict[str, Any]]] = {
    "a suspended Kustomization": (of_flux(spec={"suspend": True}), KUSTOMIZATION),
    "a skipped Application": (of_argo(annotations={"argocd.argoproj.io/skip-reconcile": "true"}), APPLICATION),
}


@pytest.mark.parametrize(("cluster", "members"), named(WAITING))
def test_who_waits_already_is_not_asked_again(cluster: InMemoryCluster, members: dict[str, Any]) -> None:
    outcome = ranked(cluster, members=members)
    assert outcome.run.paused == 0
    assert not [line for line in cluster.log if line.startswith("patch")]
    assert cluster.left() == []


def test_check_mode_only_tries_it() -> None:
    cluster = of_flux()
    told = Told()
    outcome = ranked(cluster, members=KUSTOMIZATION, check_mode=True, told=told)
    assert cluster.log[0] == "patch Kustomization flux/shop (dry run)"
    assert [event.dry_run for event in told if isinstance(event, Did) and event.action == "pause"] == [True]
    assert outcome.failure is None
    assert cluster.left() == ["Deployment shop/web", "Kustomization flux/shop"]


def test_rights_are_asked_before_anything_is_written() -> None:
    cluster = of_flux()
    cluster.forbidden.add(("patch", "kustomizations"))
    outcome = ranked(cluster, members=KUSTOMIZATION)
    assert "to patch kustomizations" in str(outcome.failure)
    assert cluster.log == []


@pytest.mark.parametrize("check_mode", [False, True])
def test_an_owner_that_cannot_be_stopped_stops_the_run(check_mode: bool) -> None:
    cluster = of_flux()
    cluster.refusals["Kustomization flux/shop"] = api_error(422, "Invalid", "a policy says no")
    outcome = ranked(cluster, members=KUSTOMIZATION, check_mode=check_mode)
    assert "a policy says no" in str(outcome.failure)
    assert "Deployment shop/web" in cluster.left()
    assert "delete Deployment shop/web" not in cluster.log


def test_a_race_is_run_again_with_what_is_there_now() -> None:
    cluster = of_flux()
    refused = [refusal(409, "Conflict", "the object has been modified")] * 3
    cluster.server.meddlers.append(lambda call: refused.pop() if call.verb == "patch" and refused else None)
    assert ranked(cluster, members=KUSTOMIZATION).failure is None
    assert cluster.left() == []


BUSY = {"conditions": [{"type": "Reconciling", "status": "True"}]}


def test_what_an_owner_is_in_the_middle_of_is_waited_for() -> None:
    cluster = of_flux(status=BUSY)
    thing = cluster.objects[FLUX, "kustomizations", "flux", "shop"]
    cluster.clock.at(cluster.clock.now() + 3, lambda: thing["status"].update(conditions=[]))
    began = cluster.clock.now()
    deleted: list[float] = []
    told = When(Did, lambda: deleted.append(cluster.clock.now() - began), lambda event: event.action == "delete")
    ranked(cluster, members=KUSTOMIZATION, told=told)
    assert deleted == [3.0]


def test_a_sync_under_way_ends_before_argo_cd_is_told_to_skip() -> None:
    """Once it skips, it would stay in the middle of it."""
    cluster = of_argo()
    thing = cluster.objects["argoproj.io", "applications", "argocd", "shop"]
    thing["status"]["operationState"] = {"phase": "Running"}
    cluster.clock.at(cluster.clock.now() + 3, lambda: thing["status"]["operationState"].update(phase="Succeeded"))
    began = cluster.clock.now()
    paused: list[float] = []
    told = When(Did, lambda: paused.append(cluster.clock.now() - began), lambda event: event.action == "pause")
    ranked(cluster, members=APPLICATION, told=told)
    assert (paused, cluster.left()) == ([3.0], [])


def test_one_that_is_busy_for_ever_is_told_about_and_not_waited_for() -> None:
    cluster = of_flux(status=BUSY)
    told = Told()
    assert ranked(cluster, members=KUSTOMIZATION, told=told).failure is None
    assert any("still works on something" in event.text for event in told if isinstance(event, Noted))


def test_a_helm_release_of_flux_is_suspended_too() -> None:
    cluster = InMemoryCluster(*SERVED, *GITOPS)
    cluster.add(HELM_RELEASES, "web", finalizers=["finalizers.fluxcd.io"])
    ranked(cluster, members={"flux": {"kind": "HelmRelease", "name": "web", "namespace": "shop"}})
    assert cluster.log[:2] == ["patch HelmRelease shop/web", "strip HelmRelease shop/web (finalizers.fluxcd.io)"]
    assert cluster.left() == []


def test_the_owner_of_what_is_only_pruned_lives_on_and_is_not_stopped() -> None:
    cluster = of_flux()
    cluster.add(CONFIG_MAPS, "settings")
    ranked(cluster, members=KUSTOMIZATION, state="pruned", desired=[{"kind": "ConfigMap", "metadata": {"name": "x"}}])
    assert "patch Kustomization flux/shop" not in cluster.log
    assert "Kustomization flux/shop" in cluster.left()
