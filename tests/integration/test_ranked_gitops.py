# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Argo CD and Flux put there goes for good: with controllers beside us that put back whatever they miss."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import pytest

from integration.gitops import (
    ARGO,
    FLUX,
    SELF_HEAL,
    SKIP,
    Healer,
    application,
    is_skipped,
    is_suspended,
    labelled,
    owner,
    tracked,
    with_annotations,
)
from integration.products import set_status
from integration.ranked import Remover, failed, kept, remaining, succeeded
from integration.running import Result, warnings_of
from integration.stage import Body, Stage, config_map, widget
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane

RESOURCES, FLUX_FINALIZER = "resources-finalizer.argocd.argoproj.io", "finalizers.fluxcd.io"
KEEP = {"sunset.dev/keep": "true"}
pytestmark = pytest.mark.usefixtures("gitops_kinds")


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


@pytest.fixture
def name() -> str:
    return f"shop-{secrets.token_hex(4)}"


def listed(thing: Body) -> Body:
    """A line of an Application's status."""
    group, _slash, version = thing["apiVersion"].rpartition("/")
    place = {"namespace": thing["metadata"]["namespace"], "name": thing["metadata"]["name"]}
    return {"group": group, "version": version, "kind": thing["kind"], "status": "Synced", **place}


def an_application(stage: Stage, name: str, things: list[Body], *finalizers: str, **more: Any) -> Body:
    [made] = stage.put(application(name, stage.namespace, finalizers=list(finalizers), **more))
    answer = stage.api.patch(stage.api.path_of(made), {"status": {"resources": [listed(one) for one in things]}})
    assert answer[0] == 200, answer
    return made


def a_kustomization(stage: Stage, name: str, things: list[Body], *finalizers: str, **spec: Any) -> Body:
    here = stage.namespace
    [made] = stage.put(owner(FLUX, "Kustomization", name, here, spec, finalizers=list(finalizers)))
    entries = [{"id": f"{here}_{one['metadata']['name']}_{_group(one)}_{one['kind']}", "v": "v1"} for one in things]
    set_status(stage, made, {"inventory": {"entries": entries}})
    return made


def _group(thing: Body) -> str:
    group: str = thing["apiVersion"].rpartition("/")[0]
    return group


def of_argo(name: str, stage: Stage) -> dict[str, Any]:
    return {"argocd": {"name": name, "namespace": stage.namespace}}


def of_flux(name: str, stage: Stage) -> dict[str, Any]:
    return {"flux": {"name": name, "namespace": stage.namespace}}


def written(audit: AuditTrail, remove: Remover) -> list[str]:
    return [f"{event.verb} {event.name}" for event in audit.writes(remove.user.name) if event.verb != "create"]


def unchanged(remove: Remover, members: Mapping[str, Any]) -> Result:
    result = succeeded(remove(members))
    assert result["changed"] is False
    return result


# -- Argo CD -----------------------------------------------------------------------------------------------------------


def test_an_application_goes_for_good_although_argo_cd_heals(
    remove: Remover, stage: Stage, name: str, audit: AuditTrail
) -> None:
    here = stage.namespace
    made = stage.put(*(tracked(one, name) for one in (config_map("settings", here), widget("web", here))))
    app = an_application(stage, name, made, RESOURCES)
    with Healer(stage.api, app, made, is_skipped, RESOURCES) as argo_cd:
        argo_cd.prove_that_it_heals(stage, made[0])
        audit.begin_anew()
        succeeded(remove(of_argo(name, stage)))
        assert (argo_cd.healed, argo_cd.cleaned_up) == ([], [])
    assert remaining(stage, [app]) == []
    assert [stage.api.get(stage.api.path_of(one))[0] for one in made] == [404, 404]
    assert written(audit, remove) == [
        f"patch {name}",
        "delete web",
        "delete settings",
        f"patch {name}",
        f"delete {name}",
    ]
    assert "there is no Argo CD Application" in warnings_of(unchanged(remove, of_argo(name, stage)))


def test_what_is_kept_outlives_the_application_that_would_take_it_along(
    remove: Remover, stage: Stage, name: str
) -> None:
    here = stage.namespace
    data = with_annotations(tracked(config_map("data", here), name), KEEP)
    made = stage.put(data, tracked(config_map("settings", here), name))
    app = an_application(stage, name, made, RESOURCES)
    with Healer(stage.api, app, made, is_skipped, RESOURCES) as argo_cd:
        result = succeeded(remove(of_argo(name, stage)))
        assert argo_cd.cleaned_up == []
    assert kept(result)["data"][0] == "keep"
    assert remaining(stage, [*made, app]) == ["data"]


def test_an_application_goes_when_argo_cd_is_long_gone(remove: Remover, stage: Stage, name: str) -> None:
    made = stage.put(tracked(config_map("settings", stage.namespace), name))
    app = an_application(stage, name, made, RESOURCES)
    succeeded(remove(of_argo(name, stage)))
    assert remaining(stage, [*made, app]) == []


def test_objects_that_another_application_took_over_stay(remove: Remover, stage: Stage, name: str) -> None:
    here = stage.namespace
    made = stage.put(
        tracked(config_map("mine", here), name),
        tracked(config_map("theirs", here), "other"),
        config_map("nobodys", here),
    )
    an_application(stage, name, made)
    result = succeeded(remove(of_argo(name, stage)))
    assert {row: verdict for row, (verdict, _why) in kept(result).items()} == {
        "theirs": "not_owned",
        "nobodys": "not_owned",
    }
    assert remaining(stage, made) == ["nobodys", "theirs"]


def test_an_application_about_another_cluster_is_refused(
    remove: Remover, stage: Stage, name: str, audit: AuditTrail
) -> None:
    far = {**SELF_HEAL, "destination": {"server": "https://far.example.com", "namespace": "default"}}
    made = stage.put(tracked(config_map("settings", stage.namespace), name))
    an_application(stage, name, made, spec=far)
    audit.begin_anew()
    assert "its destination is the cluster at https://far.example.com" in failed(remove(of_argo(name, stage)))
    assert written(audit, remove) == []


def test_check_mode_tries_the_pause_and_changes_nothing(remove: Remover, stage: Stage, name: str) -> None:
    made = stage.put(tracked(config_map("settings", stage.namespace), name))
    app = an_application(stage, name, made, RESOURCES)
    before = stage.versions([*made, app])
    succeeded(remove(of_argo(name, stage), check_mode=True))
    assert stage.versions([*made, app]) == before


def test_an_application_that_may_not_be_patched_stops_everything_before_the_first_delete(
    remove: Remover, stage: Stage, name: str, as_user: AsUser, audit: AuditTrail
) -> None:
    made = stage.put(tracked(config_map("settings", stage.namespace), name))
    an_application(stage, name, made)
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch", "delete"]}
    weak = as_user(f"weak-{name}", [everything])
    audit.begin_anew()
    assert f"to patch applications.{ARGO}" in failed(remove(of_argo(name, stage), user=weak))
    assert [event for event in audit.writes(weak.name) if event.verb == "delete"] == []


# -- Flux --------------------------------------------------------------------------------------------------------------


def test_a_kustomization_goes_for_good_although_flux_heals(
    remove: Remover, stage: Stage, name: str, audit: AuditTrail
) -> None:
    here = stage.namespace
    kept_one = with_annotations(labelled(config_map("data", here), FLUX, name, here), KEEP)
    made = stage.put(labelled(config_map("settings", here), FLUX, name, here), kept_one)
    kustomization = a_kustomization(stage, name, made, FLUX_FINALIZER, prune=True)
    with Healer(stage.api, kustomization, made, is_suspended, FLUX_FINALIZER) as flux:
        flux.prove_that_it_heals(stage, made[0])
        audit.begin_anew()
        succeeded(remove(of_flux(name, stage)))
        assert (flux.healed, flux.cleaned_up) == ([], [])
    assert remaining(stage, [kept_one, kustomization]) == ["data"]
    assert written(audit, remove)[:2] == [f"patch {name}", "delete settings"]
    unchanged(remove, of_flux(name, stage))


def test_a_run_that_ends_early_says_who_still_waits(remove: Remover, stage: Stage, name: str) -> None:
    made = stage.put(labelled(config_map("stuck", stage.namespace, "example.com/hold"), FLUX, name, stage.namespace))
    kustomization = a_kustomization(stage, name, made, FLUX_FINALIZER)
    stage.api.patch(stage.api.path_of(made[0]), {"metadata": {"finalizers": ["example.com/hold"]}})
    result = remove(of_flux(name, stage), timeout=10)
    failed(result)
    assert f"flux resume kustomization {name} -n {stage.namespace}" in warnings_of(result)
    assert is_suspended(stage.look(kustomization))
    stage.release(made[0])
    succeeded(remove(of_flux(name, stage)))
    assert remaining(stage, [*made, kustomization]) == []
    assert SKIP not in str(result)
