# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Routes that Argo CD and Flux would put back: refused, or their owners wait and go on afterwards."""

from __future__ import annotations

import secrets

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from integration.gitops import (
    FLUX,
    FLUX_HELM,
    PAUSED_FOR,
    SELF_HEAL,
    SKIP,
    application,
    labelled,
    owner,
    tracked,
)
from integration.maintaining import INGRESSES, Body, Maintenance, ingress, shape
from integration.ranked import failed, succeeded
from integration.running import warnings_of
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until


@pytest.fixture
def maintenance(plane: ControlPlane, node_namespace: str, route_kinds: None, gitops_kinds: None) -> Maintenance:
    return Maintenance(plane, node_namespace)


@pytest.fixture
def name() -> str:
    """Of an owner: others of the same name may be in other tests' namespaces."""
    return f"shop-{secrets.token_hex(4)}"


def annotations(maintenance: Maintenance, thing: Body) -> dict[str, str]:
    found: dict[str, str] = maintenance.route(maintenance.api.path_of(thing))["metadata"].get("annotations") or {}
    return found


def path(maintenance: Maintenance, route: str = "web") -> str:
    return f"{INGRESSES.format(maintenance.namespace)}/{route}"


def test_every_route_that_would_be_put_back_is_named_at_once_with_its_owner_and_the_way_out(
    maintenance: Maintenance, name: str, audit: AuditTrail
) -> None:
    here = maintenance.namespace
    maintenance.api.create(
        application(name, here),
        owner(FLUX, "Kustomization", name, here, {"interval": "1m"}),
        owner(FLUX_HELM, "HelmRelease", name, here, {"driftDetection": {"mode": "enabled"}}),
        tracked(ingress(here, "argo"), name),
        labelled(ingress(here, "flux"), FLUX, name, here),
        labelled(ingress(here, "helm"), FLUX_HELM, name, here),
        tracked(ingress(here, "elsewhere"), f"{name}-of-another-cluster"),
        ingress(here, "nobodys"),
    )

    message = failed(maintenance("enabled"))

    assert "for 4 routes" in message
    assert (
        f"Ingress {here}/argo: Argo CD, Application {here}/{name} puts it back (way out: gitops: pause; or " in message
    )
    assert f"flux suspend kustomization {name} -n {here}" in message
    assert f"Ingress {here}/helm: Flux, HelmRelease {here}/{name} puts it back" in message
    assert "cannot be seen (it is not in this cluster) and may put it back" in message
    assert "nobodys" not in message
    assert audit.writes("maintainer") == []


def test_owners_that_do_not_heal_are_only_warned_of(maintenance: Maintenance, name: str) -> None:
    here = maintenance.namespace
    maintenance.api.create(
        application(name, here, {"syncPolicy": {"automated": {}}}),
        owner(FLUX, "Kustomization", name, here, {"suspend": True}),
        owner(FLUX_HELM, "HelmRelease", name, here, {}),
        tracked(ingress(here, "argo"), name),
        labelled(ingress(here, "flux"), FLUX, name, here),
        labelled(ingress(here, "helm"), FLUX_HELM, name, here),
    )

    result = succeeded(maintenance("enabled", check_mode=True))

    warned = warnings_of(result)
    assert "its self-heal is off" in warned
    assert "it is suspended" in warned
    assert "it does not correct drift" in warned


def test_the_owner_is_recorded_then_paused_then_the_route_is_changed_and_afterwards_it_goes_on(
    maintenance: Maintenance, name: str, audit: AuditTrail
) -> None:
    here = maintenance.namespace
    app = application(name, here)
    maintenance.api.create(app, tracked(ingress(here), name))
    before = shape(maintenance.route(path(maintenance)))

    tried = succeeded(maintenance("enabled", check_mode=True, gitops="pause"))
    assert tried["changed"]
    assert audit.writes("maintainer") == []
    on = succeeded(maintenance("enabled", gitops="pause"))
    order = [(event.verb, event.resource) for event in audit.writes("maintainer")]
    again = succeeded(maintenance("enabled", gitops="pause"))

    assert (on["changed"], again["changed"]) == (True, False)
    assert annotations(maintenance, app) == {SKIP: "true", PAUSED_FOR: f"Ingress {here}/web"}
    backup = len(order) - 1 - order[::-1].index(("create", "configmaps"))
    assert backup < order.index(("patch", "applications")) < order.index(("patch", "ingresses"))
    assert on["targets"][0]["paused"] == [f"Application {here}/{name}"]

    audit.begin_anew()
    succeeded(maintenance("disabled"))
    assert annotations(maintenance, app) == {}
    assert shape(maintenance.route(path(maintenance))) == before
    order = [(event.verb, event.resource) for event in audit.writes("maintainer")]
    assert (
        order.index(("patch", "ingresses"))
        < order.index(("patch", "applications"))
        < order.index(("delete", "configmaps"))
    )
    assert maintenance.ours() == []


def test_an_owner_of_several_routes_waits_until_the_last_of_them_is_back(maintenance: Maintenance, name: str) -> None:
    here = maintenance.namespace
    app = application(name, here)
    maintenance.api.create(app, tracked(ingress(here, "first"), name), tracked(ingress(here, "second"), name))

    for route in ("first", "second"):
        target = [{"kind": "Ingress", "name": route, "namespace": here}]
        succeeded(maintenance("enabled", targets=target, gitops="pause"))
    succeeded(maintenance("disabled", targets=[{"kind": "Ingress", "name": "first", "namespace": here}]))
    assert annotations(maintenance, app).get(SKIP) == "true"

    succeeded(maintenance("disabled"))
    assert annotations(maintenance, app) == {}


def test_a_pause_that_somebody_else_has_set_stays(maintenance: Maintenance, name: str) -> None:
    here = maintenance.namespace
    app = application(name, here, SELF_HEAL, annotations={SKIP: "true"})
    maintenance.api.create(app, tracked(ingress(here), name))

    assert "it is paused" in warnings_of(succeeded(maintenance("enabled", gitops="pause")))
    succeeded(maintenance("disabled"))

    assert annotations(maintenance, app) == {SKIP: "true"}


def test_flux_is_asked_on_the_route_itself_and_the_annotation_comes_back_as_it_was(
    maintenance: Maintenance, name: str
) -> None:
    here = maintenance.namespace
    key = f"{FLUX}/reconcile"
    maintenance.api.create(
        owner(FLUX, "Kustomization", name, here, {}),
        labelled(ingress(here, "plain"), FLUX, name, here),
        labelled(ingress(here, "spelled-out"), FLUX, name, here),
    )
    maintenance.api.patch(path(maintenance, "spelled-out"), {"metadata": {"annotations": {key: "enabled"}}})
    routes = [path(maintenance, route) for route in ("plain", "spelled-out")]
    before = [shape(maintenance.route(route)) for route in routes]

    succeeded(maintenance("enabled", gitops="pause"))
    assert [shape(maintenance.route(route))["annotations"][key] for route in routes] == ["disabled", "disabled"]
    assert succeeded(maintenance("enabled"))["changed"] is False

    succeeded(maintenance("disabled"))
    assert [shape(maintenance.route(route)) for route in routes] == before


def test_a_route_that_is_deleted_meanwhile_leaves_a_pause_that_the_sweep_ends(
    maintenance: Maintenance, name: str
) -> None:
    here = maintenance.namespace
    app = application(name, here)
    maintenance.api.create(app, tracked(ingress(here), name))
    succeeded(maintenance("enabled", gitops="pause"))

    maintenance.api.delete(path(maintenance))
    swept = succeeded(maintenance("swept", sweep_after=0))

    assert f"pause of Application {here}/{name}" in swept["swept"]
    assert annotations(maintenance, app) == {}


class Killed(BaseException):
    """Nothing of the task runs after this, as after kill -9."""


@pytest.mark.parametrize("afterwards", ["enabled", "disabled"])
@pytest.mark.parametrize("deed", ["back up", "pause", "show page on"])
def test_no_pause_is_lost_when_a_task_is_killed(
    maintenance: Maintenance, name: str, deed: str, afterwards: str
) -> None:
    here = maintenance.namespace
    app = application(name, here)
    maintenance.api.create(app, tracked(ingress(here), name))
    before = shape(maintenance.route(path(maintenance)))

    def kill(event: object) -> None:
        if isinstance(event, Did) and event.action == deed and not event.dry_run:
            raise Killed

    with pytest.raises(Killed):
        maintenance("enabled", gitops="pause", on_event=kill)
    assert (SKIP in annotations(maintenance, app)) is (deed != "back up")

    succeeded(maintenance(afterwards, gitops="pause"))
    assert (SKIP in annotations(maintenance, app)) is (afterwards == "enabled")
    succeeded(maintenance("disabled"))
    assert annotations(maintenance, app) == {}
    assert shape(maintenance.route(path(maintenance))) == before
    assert maintenance.ours() == []


def test_a_refusal_in_the_middle_lets_the_owner_go_on(maintenance: Maintenance, name: str) -> None:
    """The server refuses the second route only when it is really written: nobody could know it before."""
    here = maintenance.namespace
    app = application(name, here)
    maintenance.api.create(app, tracked(ingress(here, "first"), name), tracked(ingress(here, "second"), name))
    user = maintenance.plane.user("hindered", ("system:masters",))
    policy = deny_second(here)
    maintenance.api.create(*policy)
    second, touch = path(maintenance, "second"), {"metadata": {"labels": {"touched": "yes"}}}
    try:
        until(lambda: maintenance.api.patch(second, touch)[0] == 422, "the policy to be in force", every=0.1)
        message = failed(maintenance("enabled", gitops="pause", user=user, parallel=1))
    finally:
        for one in policy:
            maintenance.api.delete(maintenance.api.path_of(one))

    assert "not today" in message
    assert annotations(maintenance, app) == {}
    assert [one for one in maintenance.ours() if "backup" in one] == []


def deny_second(namespace: str) -> list[Body]:
    """Says no to the real write, and not to the dry run before it."""
    denial = f"deny-{secrets.token_hex(4)}"
    rule = {
        "apiGroups": ["networking.k8s.io"],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["ingresses"],
    }
    expression = "request.dryRun || object.metadata.name != 'second'"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "resourceRules": [rule],
        },
        "validations": [{"expression": expression, "message": "not today"}],
    }
    group = "admissionregistration.k8s.io/v1"
    return [
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": denial}, "spec": spec},
        {
            "apiVersion": group,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": denial},
            "spec": {"policyName": denial, "validationActions": ["Deny"]},
        },
    ]


def test_an_owner_that_a_generator_would_wake_up_is_not_paused(maintenance: Maintenance, name: str) -> None:
    here = maintenance.namespace
    [generator] = maintenance.api.create(owner("argoproj.io", "ApplicationSet", name, here, {}))
    reference = {
        "apiVersion": "argoproj.io/v1",
        "kind": "ApplicationSet",
        "name": name,
        "uid": generator["metadata"]["uid"],
        "controller": True,
    }
    maintenance.api.create(application(name, here, ownerReferences=[reference]), tracked(ingress(here), name))

    message = failed(maintenance("enabled", gitops="pause"))
    assert f"add {SKIP} and {PAUSED_FOR} to its spec.preservedFields.annotations" in message

    preserved = {"spec": {"preservedFields": {"annotations": [SKIP, PAUSED_FOR]}}}
    maintenance.api.patch(maintenance.api.path_of(generator), preserved)
    succeeded(maintenance("enabled", gitops="pause", check_mode=True))


def test_owners_that_may_not_be_looked_at_are_said_to_be_so(
    maintenance: Maintenance, name: str, as_user: AsUser
) -> None:
    here = maintenance.namespace
    maintenance.api.create(application(name, here), tracked(ingress(here), name))
    everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    rules = [
        {
            "apiGroups": ["", "networking.k8s.io", "apps", "policy", "autoscaling", "discovery.k8s.io"],
            "resources": ["*"],
            "verbs": ["*"],
        },
        {"apiGroups": ["traefik.io", "gateway.networking.k8s.io"], "resources": ["*"], "verbs": ["*"]},
    ]
    user = as_user("nearsighted", rules, here)

    message = failed(maintenance("enabled", user=user))

    assert f"Argo CD, Application {name} cannot be seen (HTTP 403" in message
    assert "puts it back" in failed(maintenance("enabled", user=as_user("farsighted", everything)))
