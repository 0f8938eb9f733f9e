# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Uninstall finds out by itself where an application comes from, and who else would bring it back."""

from __future__ import annotations

import secrets

import pytest

from integration.gitops import FLUX, IN_CLUSTER, SELF_HEAL, Healer, application, is_skipped, labelled, owner, tracked
from integration.ranked import failed, remaining, succeeded
from integration.running import warnings_of
from integration.stage import FOREIGN, Body, Stage, config_map
from integration.uninstalling import Uninstaller, findings, left
from lab.fixtures import AsUser

RESOURCES = "resources-finalizer.argocd.argoproj.io"
pytestmark = pytest.mark.usefixtures("gitops_kinds")


@pytest.fixture
def name() -> str:
    return f"shop-{secrets.token_hex(4)}"


def an_application_about(stage: Stage, name: str, things: list[Body], *finalizers: str) -> Body:
    """In a namespace of Argo CD's own, as it mostly is."""
    spec = {**SELF_HEAL, "destination": {**IN_CLUSTER, "namespace": stage.namespace}}
    [made] = stage.put(application(name, stage.another_namespace(), spec, finalizers=list(finalizers)))
    rows = [
        {"version": "v1", "kind": one["kind"], "namespace": stage.namespace, "name": one["metadata"]["name"]}
        for one in things
    ]
    answer = stage.api.patch(stage.api.path_of(made), {"status": {"resources": rows}})
    assert answer[0] == 200, answer
    return made


def test_an_application_of_argo_cd_is_found_and_goes_for_good(
    stage: Stage, uninstaller: Uninstaller, name: str
) -> None:
    made = stage.put(*(tracked(config_map(one, stage.namespace), name) for one in ("settings", "more")))
    namesake = config_map("of-another-program", stage.another_namespace())
    namesake["metadata"]["labels"] = {"app.kubernetes.io/name": name}
    stage.put(namesake)
    app = an_application_about(stage, name, made, RESOURCES)
    place = f"{app['metadata']['namespace']}/{name}"
    with Healer(stage.api, app, made, is_skipped, RESOURCES) as argo_cd:
        argo_cd.prove_that_it_heals(stage, made[0])
        result = succeeded(uninstaller(release=name, namespace=stage.namespace))
        assert (argo_cd.healed, argo_cd.cleaned_up) == ([], [])
    assert result["source"] == f"Argo CD Application {place}"
    assert left(result) == {}
    assert f"gitops owners: Application {place} waits while its objects go, and goes last" in findings(result, "ok")
    assert [stage.api.get(stage.api.path_of(one))[0] for one in (*made, app)] == [404, 404, 404]
    again = succeeded(uninstaller(release=name, namespace=stage.namespace))
    assert again["changed"] is False


def test_an_owner_that_was_made_to_wait_is_named_by_every_run_that_fails(
    stage: Stage, uninstaller: Uninstaller, name: str
) -> None:
    made = stage.put(tracked(config_map("settings", stage.namespace, FOREIGN), name))
    app = an_application_about(stage, name, made)
    place = app["metadata"]["namespace"]
    for _run in range(2):
        stopped = uninstaller(release=name, namespace=stage.namespace, timeout=10, fail_fast=False)
        failed(stopped)
        way_back = f"kubectl annotate application {name} -n {place} argocd.argoproj.io/skip-reconcile-"
        assert f"Application {place}/{name} still waits" in warnings_of(stopped)
        assert way_back in warnings_of(stopped)
    stage.release(made[0])


def test_a_named_source_is_found_where_it_is(stage: Stage, uninstaller: Uninstaller, name: str) -> None:
    made = stage.put(tracked(config_map("settings", stage.namespace), name))
    app = an_application_about(stage, name, made)
    succeeded(uninstaller(release=name, namespace=stage.namespace, source="argocd"))
    assert remaining(stage, [*made, app]) == []


def test_a_named_source_that_is_not_there_is_no_helm_release(stage: Stage, uninstaller: Uninstaller, name: str) -> None:
    of_helm = config_map("settings", stage.namespace)
    marks = {"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": stage.namespace}
    of_helm["metadata"] |= {"annotations": marks, "labels": {"app.kubernetes.io/managed-by": "Helm"}}
    made = stage.put(of_helm)
    done = succeeded(uninstaller(release=name, namespace=stage.namespace, source="argocd"))
    assert not done["changed"]
    assert done["missing"] == f"there is no Argo CD Application {stage.namespace}/{name}"
    assert remaining(stage, made) == ["settings"]


def test_of_two_owners_of_one_name_the_person_chooses(stage: Stage, uninstaller: Uninstaller, name: str) -> None:
    places = [stage.namespace, stage.another_namespace()]
    owners = stage.put(*(owner(FLUX, "Kustomization", name, place, {}) for place in places))
    message = failed(uninstaller(release=name))
    assert all(f"Flux Kustomization {place}/{name}" in message for place in places)
    assert "say which, for example namespace: " in message
    assert len(remaining(stage, owners)) == 2
    succeeded(uninstaller(release=name, namespace=places[0]))
    assert [stage.is_gone(one) for one in owners] == [True, False]


def test_whoever_would_bring_it_back_stops_the_run_before_it_begins(
    stage: Stage, uninstaller: Uninstaller, name: str
) -> None:
    here = stage.namespace
    made = stage.put(labelled(config_map("settings", here), FLUX, name, here))
    stage.put(owner(FLUX, "Kustomization", name, here, {}))
    message = failed(uninstaller(*made))
    assert f"Flux, Kustomization {here}/{name} brings back ConfigMap {here}/settings" in message
    assert f"flux suspend kustomization {name} -n {here}, or set gitops: ignore; nothing was changed" in message
    assert remaining(stage, made) == ["settings"]
    result = succeeded(uninstaller(*made, gitops="ignore"))
    assert f"Flux, Kustomization {here}/{name} brings back" in findings(result, "warn")[0]
    assert remaining(stage, made) == []


def test_an_owner_that_is_suspended_is_only_told_about(stage: Stage, uninstaller: Uninstaller, name: str) -> None:
    here = stage.namespace
    made = stage.put(labelled(config_map("settings", here), FLUX, name, here))
    stage.put(owner(FLUX, "Kustomization", name, here, {"suspend": True}))
    result = succeeded(uninstaller(*made))
    assert "does not bring it back by itself: it is suspended" in findings(result, "warn")[0]


def test_what_could_not_be_seen_is_not_taken_for_not_there(
    stage: Stage, uninstaller: Uninstaller, name: str, as_user: AsUser
) -> None:
    """A tenant who sees no Applications cannot know whether one owns what he finds."""
    tenant = as_user(f"tenant-{name}", [{"apiGroups": [""], "resources": ["*"], "verbs": ["*"]}], stage.namespace)
    message = failed(uninstaller(release=name, namespace=stage.namespace, user=tenant))
    assert f"cannot see whether {name} belongs to Argo CD Applications" in message
    assert "name the source in the task" in message
