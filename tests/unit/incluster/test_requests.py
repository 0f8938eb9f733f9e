# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a custom resource asks for, at which moment, with which arguments of which role."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.incluster import status
from ansible_collections.sunset.kube.plugins.module_utils.incluster.kinds import WORKS, arguments_of, work_of
from ansible_collections.sunset.kube.plugins.module_utils.incluster.reach import refuse_beyond_reach, why_out_of_reach
from ansible_collections.sunset.kube.plugins.module_utils.incluster.requests import Request, what_is_asked
from ansible_collections.sunset.kube.plugins.module_utils.incluster.shown import digest_of
from ansible_collections.sunset.kube.plugins.module_utils.objects import parse_time
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption

BORN = "2026-11-16T20:00:00Z"
NOW = parse_time("2026-11-16T21:00:00Z")


def resource(kind: str, *phases: str, deleting: bool = False, generation: int = 1, **spec: Any) -> dict[str, Any]:
    """A resource whose status went through these phases, for the spec it has now."""
    metadata = {"name": "one", "namespace": "home", "uid": "u", "generation": generation, "creationTimestamp": BORN}
    item: dict[str, Any] = {"apiVersion": "sunset.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    for phase in phases:
        item["status"] = status.in_phase(item, phase, BORN)
    if deleting:
        metadata["deletionTimestamp"] = BORN
    return item


def shown(item: dict[str, Any], plan_hash: str = "abc") -> dict[str, Any]:
    """The same, after its plan was shown for the spec it has now."""
    kept = {"planHash": plan_hash, "spec": digest_of(item["spec"])}
    return {**item, "status": {**item.get("status", {}), "shown": kept}}


def asked(item: dict[str, Any], home: str = "") -> Request:
    work = work_of(item["apiVersion"], item["kind"])
    assert work is not None
    return what_is_asked(item, work, NOW, home)


ONCE = {
    "new": (resource("Uninstall"), "plan"),
    "planned": (resource("Uninstall", "planned"), "nothing"),
    "planned, then changed": (resource("Uninstall", "planned") | {"spec": {"release": "b"}}, "nothing"),
    "approved": (shown(resource("Uninstall", "planned", approve="abc")), "run"),
    "approved as it is created": (resource("Uninstall", approve="abc"), "plan"),
    "approved is another plan": (shown(resource("Uninstall", approve="abd")), "plan"),
    "approved is another plan, and this one is seen": (
        shown(resource("Uninstall", "planned", approve="abd")),
        "nothing",
    ),
    "approved, then changed": (
        shown(resource("Uninstall", approve="abc")) | {"spec": {"approve": "abc", "force": True}},
        "plan",
    ),
    "approved with more time": (
        shown(resource("Uninstall", timeout=9)) | {"spec": {"approve": "abc", "timeout": 99}},
        "run",
    ),
    "blocked": (shown(resource("Uninstall", "blocked", approve="abc")), "run"),
    "blocked while it planned": (resource("Uninstall", "blocked"), "plan"),
    "done": (resource("Uninstall", "completed", approve="always"), "nothing"),
    "suspended": (resource("Uninstall", approve="always", suspend=True), "nothing"),
    "deleted": (resource("Uninstall", deleting=True, approve="always"), "nothing"),
    "a drain that waits for its deletion": (resource("Drain", onDeletion=True, approve="always"), "plan"),
    "such a drain, deleted": (resource("Drain", "planned", deleting=True, onDeletion=True), "run"),
    "such a drain, done": (resource("Drain", "completed", deleting=True, onDeletion=True), "nothing"),
    "such a drain, suspended": (resource("Drain", deleting=True, onDeletion=True, suspend=True), "nothing"),
    "any other drain, deleted": (resource("Drain", deleting=True, approve="always"), "nothing"),
}


@pytest.mark.parametrize("case", ONCE)
def test_what_is_done_once(case: str) -> None:
    item, go = ONCE[case]
    assert asked(item).go == go


def test_what_is_done_is_done_for_that_spec_only() -> None:
    item = resource("Uninstall", "completed", approve="always")
    item["metadata"]["generation"] = 2
    assert asked(item).go == "run"


def test_an_approval_becomes_the_arguments_that_the_role_asks_for() -> None:
    assert asked(shown(resource("Uninstall", approve="abc"))).arguments == {"uninstall_confirm": "abc"}
    assert asked(resource("Uninstall", approve="always")).arguments == {"uninstall_confirm": "skip"}
    assert asked(shown(resource("Drain", approve="abc"))).arguments == {"drain_plan_hash": "abc"}
    assert asked(resource("Drain", approve="always")).arguments == {}
    assert asked(resource("Uninstall")).arguments == {"uninstall_confirm": "skip", "uninstall_planning": True}


def test_names_become_those_of_the_role_and_what_is_somebodys_own_stays() -> None:
    spec = {
        "deleteNamespace": True,
        "headers": {"X-Retry-At": "now"},
        "targets": [{"labelSelector": "a=b", "ingressClass": "x"}],
        "manifests": [{"apiVersion": "v1", "metadata": {"generateName": "a"}}],
        "workload": {"pullSecrets": ["a"], "tolerations": [{"tolerationSeconds": 5}]},
        "routeKinds": [{"backends": [{"knownBy": ["/a"], "page": {"serviceName": "$(service)"}}]}],
        "page": {"configMap": "a"},
        "profile": {
            "externalIds": {"CloudEndpoint": ["a"]},
            "ownPolicy": {"Bucket": {}},
            "labels": {"controllerName": []},
        },
        "suspend": False,
    }
    assert arguments_of(spec, "r") == {
        "r_delete_namespace": True,
        "r_headers": {"X-Retry-At": "now"},
        "r_targets": [{"label_selector": "a=b", "ingress_class": "x"}],
        "r_manifests": [{"apiVersion": "v1", "metadata": {"generateName": "a"}}],
        "r_workload": {"pull_secrets": ["a"], "tolerations": [{"tolerationSeconds": 5}]},
        "r_route_kinds": [{"backends": [{"known_by": ["/a"], "page": {"serviceName": "$(service)"}}]}],
        "r_page": {"config_map": "a"},
        "r_profile": {
            "external_ids": {"CloudEndpoint": ["a"]},
            "own_policy": {"Bucket": {}},
            "labels": {"controller_name": []},
        },
    }


def test_a_maintenance_waits_for_its_start_and_ends_at_its_end() -> None:
    early = asked(resource("Maintenance", state="enabled", start="2026-11-16T21:30:00Z", end="1h"))
    assert (early.go, early.phase, early.wake_after) == ("nothing", "scheduled", 1800.0)
    during = asked(resource("Maintenance", state="enabled", end="90m"))
    assert (during.go, during.then, during.wake_after) == ("run", "standing", 1800.0)
    assert during.arguments["maintenance_end"] == "2026-11-16T21:30:00Z", "the same at every look"
    stands = asked(resource("Maintenance", "standing", state="enabled", end="90m"))
    assert (stands.go, stands.wake_after) == ("nothing", 1800.0)
    over = asked(resource("Maintenance", "standing", state="enabled", end="30m"))
    assert (over.go, over.then) == ("run", "completed")
    assert over.arguments == {"maintenance_state": "disabled", "maintenance_holder": "u"}
    assert asked(resource("Maintenance", "completed", state="enabled", end="30m")).go == "nothing"


def test_a_maintenance_that_is_deleted_gives_back_what_it_holds_and_nothing_else() -> None:
    spec = {"state": "enabled", "targets": [{"name": "a"}], "page": {"name": "b"}, "routeKinds": [{"kind": "A"}]}
    item = resource("Maintenance", "standing", deleting=True, reopenEndpoints=False, **spec)
    request = asked(item)
    assert request.go == "run"
    own = {"maintenance_state": "disabled", "maintenance_holder": "u", "maintenance_reopen_endpoints": False}
    assert request.arguments == {**own, "maintenance_route_kinds": [{"kind": "A"}]}, "wherever that is"
    assert asked(item, "home").arguments == request.arguments
    assert asked(item, "sunset-system").arguments == {**own, "maintenance_namespace": "home", "maintenance_timeout": 60}


LEAVING = {
    "never begun": ((), "nothing"),
    "scheduled": (("scheduled",), "nothing"),
    "suspended": (("suspended",), "nothing"),
}
LEAVING |= {"over": (("completed",), "run"), "standing": (("standing",), "run"), "under way": (("running",), "run")}
LEAVING |= {"half done": (("blocked",), "run")}


@pytest.mark.parametrize("case", LEAVING)
def test_a_maintenance_that_is_deleted_has_something_to_give_back_or_not(case: str) -> None:
    phases, go = LEAVING[case]
    assert asked(resource("Maintenance", *phases, deleting=True, state="enabled")).go == go


def test_a_maintenance_that_stands_ends_at_its_time_though_it_is_suspended() -> None:
    stands = resource("Maintenance", "standing", state="enabled", end="90m", suspend=True)
    assert (asked(stands).go, asked(stands).phase, asked(stands).wake_after) == ("nothing", "", 1800.0)
    over = resource("Maintenance", "standing", state="enabled", end="30m", suspend=True)
    assert (asked(over).go, asked(over).arguments["maintenance_state"]) == ("run", "disabled")
    never = resource("Maintenance", state="enabled", end="90m", suspend=True)
    assert (asked(never).go, asked(never).phase) == ("nothing", "suspended")
    missed = resource("Maintenance", state="enabled", end="30m", suspend=True)
    assert (asked(missed).go, asked(missed).phase) == ("nothing", "suspended")


@pytest.mark.parametrize("state", ["swept", "disabled"])
def test_a_maintenance_that_shows_no_page_any_more_first_gives_back_what_it_holds(state: str) -> None:
    """Its spec may name fewer routes by now, or none: nobody else would know of the others."""
    edited = resource("Maintenance", "standing", state=state, targets=[{"name": "a"}])
    edited["metadata"]["generation"] = 2
    first = asked(edited)
    assert first.arguments == {"maintenance_state": "disabled", "maintenance_holder": "u"}
    assert (first.go, first.then, first.wake_after) == ("run", "returned", 1.0)
    edited["status"] = status.in_phase(edited, first.then, BORN)
    second = asked(edited)
    assert (second.go, second.then, second.wake_after) == ("run", "completed", 0.0)
    assert second.arguments["maintenance_targets"] == [{"name": "a", "namespace": "home"}]
    assert second.arguments["maintenance_state"] == state
    edited["status"] = status.in_phase(edited, second.then, BORN)
    assert asked(edited).go == "nothing"


def test_a_maintenance_whose_start_is_moved_waits_for_it_without_its_page() -> None:
    moved = asked(resource("Maintenance", "standing", state="enabled", start="2026-11-16T21:30:00Z"))
    assert (moved.go, moved.then, moved.wake_after) == ("run", "scheduled", 1800.0)
    assert moved.arguments["maintenance_state"] == "disabled"


@pytest.mark.parametrize("nowhere", [None, ""])
def test_no_namespace_is_its_own_and_never_every_one(nowhere: str | None) -> None:
    named = asked(resource("Maintenance", state="enabled", targets=[{"kind": "Ingress", "namespace": nowhere}]))
    assert named.arguments["maintenance_targets"] == [{"kind": "Ingress", "namespace": "home"}]
    whole = asked(resource("Maintenance", state="enabled", namespace=nowhere))
    assert whole.arguments["maintenance_namespace"] == "home"


def test_a_time_that_is_none_is_told() -> None:
    with pytest.raises(BadOption, match=r"spec\.end"):
        asked(resource("Maintenance", state="enabled", end="tomorrow"))


def others(api_version: str, kind: str, *, deleting: bool = False, **annotations: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "one", "namespace": "shop", "annotations": annotations}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {**metadata, "deletionTimestamp": BORN} if deleting else metadata,
    }


def test_kinds_of_others_are_touched_when_they_are_deleted() -> None:
    cluster, policy = "cluster.open-cluster-management.io/v1", "nmstate.io/v1"
    assert asked(others(cluster, "ManagedCluster")).go == "nothing"
    assert asked(others(cluster, "ManagedCluster", deleting=True)).arguments == {"managed_cluster_names": ["one"]}
    assert asked(others(policy, "NodeNetworkConfigurationPolicy")).go == "nothing"
    gone = asked(others(policy, "NodeNetworkConfigurationPolicy", deleting=True))
    assert (gone.go, gone.arguments) == ("run", {"network_revert_nncp": "one"})


def test_a_route_follows_its_annotation() -> None:
    on = {"maintenance-operator.mithucste30.io/enabled": "true", "maintenance-operator.mithucste30.io/custom-page": "x"}
    route = [{"kind": "Ingress", "name": "one", "namespace": "shop"}]
    assert asked(others("networking.k8s.io/v1", "Ingress", **on)).arguments == {
        "maintenance_state": "enabled",
        "maintenance_targets": route,
        "maintenance_holder": "annotation",
        "maintenance_page": {"name": "x"},
    }
    off = asked(others("networking.k8s.io/v1", "Ingress"))
    assert off.arguments == {
        "maintenance_state": "disabled",
        "maintenance_targets": route,
        "maintenance_holder": "annotation",
    }
    assert asked(others("networking.k8s.io/v1", "Ingress", deleting=True, **on)).go == "nothing"


REACH = {
    "at home": (resource("Uninstall", namespace="shop"), "home", None),
    "no home is known": (resource("Uninstall", namespace="shop"), "", "its own namespace"),
    "no home is known, for routes": (resource("Maintenance", namespace="home"), "", "its own namespace"),
    "elsewhere": (resource("Uninstall"), "sunset-system", "whole cluster"),
    "own routes": (resource("Maintenance", targets=[{"name": "a"}]), "sunset-system", None),
    "own routes by name": (resource("Maintenance", namespace="home"), "sunset-system", None),
    "others' routes": (resource("Maintenance", targets=[{"namespace": "shop"}]), "sunset-system", "shop"),
    "others' namespace": (resource("Maintenance", namespace="shop"), "sunset-system", "shop"),
    "a page of its own": (resource("Maintenance", page={"configMap": {"name": "a"}}), "sunset-system", None),
    "a page by its name": (resource("Maintenance", page="night"), "sunset-system", None),
    "others' page": (
        resource("Maintenance", page={"configMap": {"name": "a", "namespace": "kube-system"}}),
        "sunset-system",
        "kube-system",
    ),
    "others' page, spelled as the role does": (
        resource("Maintenance", page={"config_map": {"name": "a", "namespace": "kube-system"}}),
        "sunset-system",
        "kube-system",
    ),
    "others' page, at home": (
        resource("Maintenance", page={"configMap": {"name": "a", "namespace": "shop"}}),
        "home",
        None,
    ),
    "a file as a page": (resource("Maintenance", page="/var/run/secrets/token"), "sunset-system", "a file"),
    "a file as a page, at home": (resource("Maintenance", page="token.txt"), "home", "a file"),
    "a dictionary in disguise": (resource("Maintenance", page=r"{'html_file': '\x2fetc'}"), "home", "looks like"),
    "a list in disguise": (resource("Maintenance", targets=[], namespace="['shop']"), "home", "looks like"),
    "a word that is no word": (resource("Uninstall", release="True"), "home", "looks like"),
    "a name with a way up": (resource("Maintenance", page="..%2f..%2fsecrets"), "sunset-system", "no name of a page"),
    "a page that is a number": (resource("Maintenance", page=7), "sunset-system", "neither"),
    "a file, spelled as the role does": (resource("Maintenance", page={"html_file": "a"}), "home", "a file"),
    "a file as a page of an application": (resource("Uninstall", page={"htmlFile": "/etc/passwd"}), "home", "a file"),
    "a file with manifests": (resource("Uninstall", manifests=["/var/run/secrets"]), "home", "a file"),
    "a file among sources": (resource("Uninstall", manifests={"sources": ["a*"], "namespace": "b"}), "home", "a file"),
    "a single file": (resource("Uninstall", manifests="a"), "home", "a file"),
    "documents": (resource("Uninstall", manifests=[{"kind": "Pod"}, "kind: Pod"]), "home", None),
    "kinds that are no routes": (
        resource("Maintenance", routeKinds=[{"group": "", "kind": "Node"}]),
        "sunset-system",
        "routeKinds",
    ),
    "the same, at home": (resource("Maintenance", routeKinds=[{"group": "", "kind": "Node"}]), "home", None),
    "somebody's Application": (resource("Maintenance", gitops="pause"), "sunset-system", "Application"),
    "nobody's Application": (resource("Maintenance", gitops="ignore"), "sunset-system", None),
}


@pytest.mark.parametrize("case", REACH)
def test_how_far_a_resource_reaches(case: str) -> None:
    item, home, word = REACH[case]
    refusal = why_out_of_reach(item, WORKS["sunset.dev", item["kind"]], home)
    assert (refusal is None) if word is None else (refusal is not None and word in refusal[0])


def test_a_page_that_is_one_word_is_handed_on_as_a_dictionary() -> None:
    assert asked(resource("Maintenance", page="night")).arguments["maintenance_page"] == {"name": "night"}


OPTIONS = {
    "its own routes": ({"targets": [{"namespace": "tenant"}], "page": {"name": "night"}}, None),
    "a file": ({"targets": [{"namespace": "tenant"}], "page": {"html_file": "/token"}}, "a file"),
    "a folder to write to": ({"targets": [{"namespace": "tenant"}], "evidence_dir": "/tmp/x"}, "a file"),
    "others' ConfigMap": (
        {"targets": [{"namespace": "tenant"}], "page": {"config_map": {"name": "a", "namespace": "kube-system"}}},
        "kube-system",
    ),
    "others' routes": ({"targets": [{"namespace": "tenant"}, {"namespace": "shop"}]}, "shop"),
    "routes everywhere": ({"targets": [{"kind": "Ingress"}]}, "every namespace"),
    "all there is": ({"state": "swept", "targets": None}, "every namespace"),
    "any kind": ({"targets": [{"namespace": "tenant"}], "route_kinds": [{"kind": "Node"}]}, "routeKinds"),
    "an address": ({"targets": [{"namespace": "tenant"}], "verify": {"url": "http://10.0.0.1"}}, "an address"),
}


@pytest.mark.parametrize("kind", ["sunset.dev/v1alpha1 Maintenance", "networking.k8s.io/v1 Ingress"])
@pytest.mark.parametrize("case", OPTIONS)
def test_options_of_a_module_that_works_for_a_tenant_are_judged_once_more(case: str, kind: str) -> None:
    params, word = OPTIONS[case]
    api_version, _blank, name = kind.partition(" ")
    by = {"api_version": api_version, "kind": name, "name": "one", "namespace": "tenant", "home": "sunset-system"}
    if word is None:
        return refuse_beyond_reach(params, by)
    with pytest.raises(BadOption, match=word):
        refuse_beyond_reach(params, by)
    return None


def test_a_maintenance_of_a_tenant_holds_a_worker_for_a_minute_at_most() -> None:
    """One in the operator's own namespace as long as it says."""
    item = resource("Maintenance", timeout=86400, linger=600)
    short = resource("Maintenance", timeout=5, linger=0)
    for ends in ({}, {"state": "disabled"}):
        item["spec"].update(ends)
        tenants = asked(item, "sunset-system").arguments
        assert (tenants["maintenance_timeout"], tenants["maintenance_linger"]) == (60, 30)
    assert asked(short, "sunset-system").arguments["maintenance_timeout"] == 5
    assert asked(short, "sunset-system").arguments["maintenance_linger"] == 0
    assert asked(item, "home").arguments["maintenance_timeout"] == 86400
