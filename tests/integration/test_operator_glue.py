# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a custom resource to a role and back to its status, on a real API server, turn by turn."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.forging import BACKEND, forged, shown
from integration.glue import CLEAR_UP, Glue, conditions, definitions, did_nothing, request, requeued, why
from integration.maintaining import Maintenance, ingress, services_in
from integration.nmstate_fleet import Fleet
from integration.stage import CLEANUP, GROUP, Body, Stage, config_map, widget
from lab.node.images import NGINX_IMAGE
from lab.plane.controlplane import ControlPlane
from lab.waiting import until


@pytest.fixture(scope="module")
def own_kinds(plane: ControlPlane) -> Iterator[None]:
    made = definitions()
    for one in made:
        plane.api.apply_crd(one)
    yield
    for one in made:
        plane.api.delete(plane.api.path_of(one))
    for one in made:
        until(lambda one=one: plane.api.get(plane.api.path_of(one))[0] == 404, "a definition to go")


@pytest.fixture
def glue(plane: ControlPlane, own_kinds: None, tmp_path: Path, namespace: str) -> Glue:
    return Glue(plane, tmp_path, namespace)


def manifests(*things: Body) -> list[dict[str, Any]]:
    return [{key: thing[key] for key in ("apiVersion", "kind", "metadata")} for thing in things]


@pytest.mark.quick
def test_an_uninstall_shows_its_plan_waits_for_approval_and_is_done_once(glue: Glue, stage: Stage) -> None:
    [kept] = stage.put(config_map("mine", glue.home))
    [asked] = glue.api.create(
        request("Uninstall", "shop", glue.home, manifests=manifests(config_map("mine", glue.home)))
    )
    first = glue.turn(asked)
    assert first.rc == 0, first.stdout
    planned = glue.status(asked)
    assert conditions(planned) == {"Planned": "PlanMade"}
    assert planned["outcome"] == "planned"
    assert any("ConfigMap" in line for line in planned["text"])
    assert not stage.is_gone(kept)
    assert requeued(first) == ""

    second = glue.turn(asked)
    assert glue.status(asked) == planned, "nothing is done while nobody approves"
    assert did_nothing(second)

    glue.change(asked, approve=planned["planHash"])
    third = glue.turn(asked)
    assert third.rc == 0, third.stdout
    done = glue.status(asked)
    assert conditions(done) == {"Planned": "CarriedOut", "Completed": "Completed"}
    assert stage.is_gone(kept)

    [again] = stage.put(config_map("mine", glue.home))
    glue.turn(asked)
    assert not stage.is_gone(again), "what came later under the same name was never meant"


def test_an_approval_of_another_plan_changes_nothing(glue: Glue, stage: Stage) -> None:
    [kept] = stage.put(config_map("mine", glue.home))
    spec = {"manifests": manifests(config_map("mine", glue.home)), "approve": "0123456789abcdef"}
    [asked] = glue.api.create(request("Uninstall", "shop", glue.home, **spec))
    run = glue.turn(asked)
    status = glue.status(asked)
    assert conditions(status) == {"Planned": "PlanMade"}
    assert "not for this plan" in why(status, "Progressing")
    assert not stage.is_gone(kept)
    assert requeued(run) == ""
    second = glue.turn(asked)
    assert did_nothing(second)
    assert not stage.is_gone(kept)


def test_an_approval_that_was_given_before_the_plan_was_made_counts_and_its_rest_is_gone_on_with(
    glue: Glue, stage: Stage
) -> None:
    """A newcomer changed the plan, the new one is approved, and its run comes half way."""
    first, held = stage.put(widget("first", glue.home, CLEANUP), widget("held", glue.home, CLEANUP))
    profile = {"name": "own", "finalizers": [CLEANUP], "operatorKinds": [{"group": GROUP, "kind": "Widget"}]}
    spec = {"profile": profile, "policy": "Delete", "instance": {"namespaces": [glue.home]}, "timeout": 10}
    [asked] = glue.api.create(request("Drain", "own", glue.home, **spec))
    glue.turn(asked)
    assert glue.status(asked)["text"][1:3] == ["policy Delete", "Widget: 2 to delete, 0 to let go"]
    glue.change(asked, approve=glue.status(asked)["planHash"])
    [newcomer] = stage.put(widget("newcomer", glue.home, CLEANUP))
    glue.turn(asked)
    assert conditions(glue.status(asked))["Blocked"] == "Refused"
    assert f"  delete {glue.home}/newcomer" in glue.status(asked)["text"], "that is what is to be approved now"
    assert "deletionTimestamp" not in stage.look(first)["metadata"]

    glue.change(asked, approve=glue.status(asked)["planHash"])
    assert requeued(glue.turn(asked)) == "1s"
    glue.turn(asked)
    for one in (first, newcomer):
        assert "deletionTimestamp" in stage.look(one)["metadata"]
        stage.release(one)
    run = glue.turn(asked)
    assert conditions(glue.status(asked))["Blocked"] != "Refused", run.stdout
    assert glue.status(asked)["planHash"] != glue.status(asked)["shown"]["planHash"], "the rest has another hash"
    stage.release(held)
    run = glue.turn(asked)
    assert "Completed" in conditions(glue.status(asked)), run.stdout


FOLDERS = {
    "a resource of a namespace": ("home", "Drain", ["home/live", "home/gone"], "home/gone"),
    "one of the whole cluster": ("", "ManagedCluster", ["live", "gone"], "gone"),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_folders_of_resources_that_are_gone_go_and_those_of_others_stay_whole(case: str, tmp_path: Path) -> None:
    namespace, kind, places, gone = FOLDERS[case]
    for place in places:
        for part in ("project", "env", "inventory"):
            (tmp_path / kind / place / part).mkdir(parents=True)
    live = [place for place in places if place != gone]
    variables = {
        "sunset_kind": kind,
        "sunset_runs": str(tmp_path / kind),
        "sunset_runs_kept": "0s",
        "sunset_asked": {"others": live},
        "ansible_operator_meta": {"name": "live", "namespace": namespace},
    }
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"include_tasks": str(CLEAR_UP)}]}]
    (tmp_path / "play.json").write_text(json.dumps(play))
    command = ["ansible-playbook", str(tmp_path / "play.json"), "--extra-vars", json.dumps(variables)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    left = {str(path.relative_to(tmp_path / kind)) for path in (tmp_path / kind).rglob("*") if path.is_dir()}
    assert gone not in left, run.stdout
    assert left >= {f"{place}/{part}" for place in live for part in ("project", "env", "inventory")}


def test_a_suspended_resource_does_nothing(glue: Glue, stage: Stage) -> None:
    [kept] = stage.put(config_map("mine", glue.home))
    spec = {"manifests": manifests(config_map("mine", glue.home)), "approve": "always", "suspend": True}
    [asked] = glue.api.create(request("Uninstall", "shop", glue.home, **spec))
    glue.turn(asked)
    assert "suspend" in why(glue.status(asked), "Progressing")
    assert not stage.is_gone(kept)
    glue.change(asked, suspend=False)
    glue.turn(asked)
    assert "Completed" in conditions(glue.status(asked))
    assert stage.is_gone(kept)


def test_a_drain_that_is_held_names_who_holds_and_ends_when_that_goes(glue: Glue, stage: Stage) -> None:
    [held] = stage.hang(widget("held", glue.home, CLEANUP, "other.example.com/hold"))
    profile = {"name": "own", "finalizers": [CLEANUP], "operatorKinds": [{"group": GROUP, "kind": "Widget"}]}
    spec = {"profile": profile, "policy": "Delete", "approve": "always", "timeout": 10}
    [asked] = glue.api.create(request("Drain", "own", glue.home, instance={"namespaces": [glue.home]}, **spec))
    run = glue.turn(asked)
    status = glue.status(asked)
    assert "Blocked" in conditions(status), run.stdout
    assert status["drainStatus"] == "failed"
    assert [row["name"] for row in status["survivors"]] == ["held"]
    assert "other.example.com/hold" in status["survivors"][0]["finalizers"]
    assert requeued(run) == "15s"
    stage.release(held)
    glue.turn(asked)
    done = glue.status(asked)
    assert conditions(done) == {"Planned": "CarriedOut", "Completed": "Completed"}
    assert (done["drainStatus"], done["survivors"]) == ("completed", [])


def test_values_of_a_spec_are_never_templates(glue: Glue, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    text = "x{{ lookup('ansible.builtin.pipe', 'touch " + str(trap) + "') }}"
    asked = glue.api.create(
        request("Uninstall", "a", glue.home, release=text, namespace=text, manifests=[{"text": text}]),
        request("Drain", "b", glue.home, profile=text),
        request("Maintenance", "c", glue.home, reason=text, headers={"X-A": text}, targets=[{"kind": text}]),
        request("ManagedClusterDeletion", "d", glue.home, names=[text]),
        request("NetworkRevert", "e", glue.home, nncp=text),
    )
    for one in asked:
        run = glue.turn(one)
        assert run.rc == 0, run.stdout
    assert not trap.exists()


def test_what_acts_on_the_whole_cluster_is_heard_at_home_only(glue: Glue, stage: Stage) -> None:
    [asked] = glue.api.create(request("Uninstall", "shop", glue.home, release="x", approve="always"))
    glue.home = "sunset-system"
    glue.turn(asked)
    status = glue.status(asked)
    assert conditions(status) == {"Blocked": "InvalidSpec"}
    assert "sunset-system" in why(status)
    [page] = glue.api.create(request("Maintenance", "page", asked["metadata"]["namespace"], namespace="kube-system"))
    glue.turn(page)
    assert "kube-system" in why(glue.status(page))


def moment(seconds: float) -> str:
    then = datetime.datetime.now(tz=datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_maintenance_begins_and_ends_by_itself(glue: Glue, stage: Stage) -> None:
    later = request("Maintenance", "later", glue.home, start=moment(300), end="1h")
    over = request("Maintenance", "over", glue.home, start=moment(-7200), end="1h")
    later, over = glue.api.create(later, over)
    run = glue.turn(later)
    assert "begins at" in why(glue.status(later), "Progressing")
    assert 290 <= int(requeued(run).rstrip("s")) <= 300
    assert glue.turn(over).rc == 0
    assert "Completed" in conditions(glue.status(over))


def test_a_resource_that_is_deleted_in_mid_run_stops_it(glue: Glue, stage: Stage) -> None:
    stage.put(widget("held", glue.home, CLEANUP))
    things = manifests(widget("held", glue.home), config_map("later", glue.home))
    [later] = stage.put(config_map("later", glue.home))
    [asked] = glue.api.create(request("Uninstall", "shop", glue.home, manifests=things, approve="always", timeout=90))
    with glue.turning(asked) as play:
        play.until(lambda: glue.status(asked).get("progress"), "the first progress")
        assert glue.api.delete(glue.api.path_of(asked))[0] == 200
        run = play.finish()
    assert run.rc == 0, run.stdout
    assert "was deleted" in run.stdout
    assert not stage.is_gone(later)


def test_an_approved_plan_is_gone_on_with_and_nobody_else_goes(glue: Glue, stage: Stage) -> None:
    """Cut off in the middle, the rest of what was seen may go without a new approval; a newcomer may not."""
    there = stage.another_namespace()
    one, two = stage.put(config_map("one", there), config_map("two", there, CLEANUP))
    spec = {"namespace": there, "source": "namespace", "timeout": 10}
    [asked] = glue.api.create(request("Uninstall", "all", glue.home, **spec))
    assert glue.turn(asked).rc == 0
    glue.change(asked, approve=glue.status(asked)["planHash"])
    glue.turn(asked)
    assert stage.is_gone(one)
    assert conditions(glue.status(asked))["Blocked"] == "Blocked"

    [newcomer] = stage.put(config_map("newcomer", there))
    glue.turn(asked)
    assert conditions(glue.status(asked))["Blocked"] == "Refused"
    assert not stage.is_gone(newcomer)

    assert glue.api.delete(glue.api.path_of(newcomer))[0] == 200
    stage.release(two)
    run = glue.turn(asked)
    assert "Completed" in conditions(glue.status(asked)), run.stdout


def test_an_approved_plan_is_gone_on_with_however_much_is_left(glue: Glue, stage: Stage) -> None:
    """The first step hangs at every try; the second one was approved as well, and waits."""
    held, later = stage.put(widget("held", glue.home, CLEANUP), config_map("later", glue.home))
    things = manifests(widget("held", glue.home), config_map("later", glue.home))
    [asked] = glue.api.create(request("Uninstall", "shop", glue.home, manifests=things, timeout=10))
    glue.turn(asked)
    glue.change(asked, approve=glue.status(asked)["planHash"])
    for _try in range(2):
        run = glue.turn(asked)
        assert conditions(glue.status(asked))["Blocked"] == "Blocked", run.stdout
        assert not stage.is_gone(later)
    stage.release(held)
    run = glue.turn(asked)
    assert "Completed" in conditions(glue.status(asked)), run.stdout
    assert stage.is_gone(later)


def test_an_approval_is_for_the_spec_that_was_shown(glue: Glue, stage: Stage) -> None:
    """Approved was to let go of what exists elsewhere, not to delete it."""
    first, second = stage.put(widget("first", glue.home, CLEANUP), widget("second", glue.home, CLEANUP))
    profile = {"name": "own", "finalizers": [CLEANUP], "operatorKinds": [{"group": GROUP, "kind": "Widget"}]}
    spec = {"profile": profile, "policy": "Retain", "instance": {"namespaces": [glue.home]}}
    [asked] = glue.api.create(request("Drain", "own", glue.home, **spec))
    glue.turn(asked)
    seen = glue.status(asked)
    assert f"  let go {glue.home}/first, without {CLEANUP}" in seen["text"]
    glue.change(asked, approve=seen["planHash"], policy="Delete")
    run = glue.turn(asked)
    status = glue.status(asked)
    assert conditions(status) == {"Planned": "PlanMade"}, run.stdout
    assert status["planHash"] != seen["planHash"]
    assert f"  delete {glue.home}/first" in status["text"], "the new plan is shown"
    glue.turn(asked)
    assert not stage.is_gone(first)
    assert not stage.is_gone(second)


def test_an_approval_covers_no_option_that_was_not_shown(glue: Glue, fleet: Fleet) -> None:
    """Whether nodes that fail are put back is in no node's plan, and approved with it all the same."""
    fleet.nodes(2)
    with fleet.alive():
        policy = fleet.prepared_policy()
        [asked] = glue.api.create(request("NetworkRevert", "vlan", glue.home, nncp=policy))
        glue.turn(asked)
        seen = glue.status(asked)["planHash"]
        glue.change(asked, approve=seen, force=True, onFailure="undo")
        run = glue.turn(asked)
        status = glue.status(asked)
        assert conditions(status) == {"Planned": "PlanMade"}, run.stdout
        assert status["planHash"] != seen
        glue.turn(asked)
        assert fleet.look(policy) is not None
        glue.change(asked, approve=status["planHash"])
        assert requeued(glue.turn(asked)) == "1s"
        run = glue.turn(asked)
    assert "Completed" in conditions(glue.status(asked)), run.stdout
    assert fleet.look(policy) is None


def test_an_approval_to_let_go_is_none_to_delete_whatever_the_anchor_says_later(glue: Glue, stage: Stage) -> None:
    """The spec leaves the policy to the anchor: it is the same before and after, and the work is another."""
    anchor = {**config_map("main", glue.home), "data": {"policy": "Retain"}}
    held, anchor = stage.put(widget("held", glue.home, CLEANUP), anchor)
    profile = {
        "name": "own",
        "finalizers": [CLEANUP],
        "operatorKinds": [{"group": GROUP, "kind": "Widget"}],
        "anchor": {"group": "", "kind": "ConfigMap", "policy": "data.policy"},
    }
    named = {"name": "main", "namespace": glue.home}
    spec = {"profile": profile, "anchor": named, "instance": {"namespaces": [glue.home]}, "timeout": 10}
    [asked] = glue.api.create(request("Drain", "own", glue.home, **spec))
    glue.turn(asked)
    assert glue.status(asked)["shown"]["released"]
    glue.change(asked, approve=glue.status(asked)["planHash"])
    stage.api.patch(stage.api.path_of(anchor), {"data": {"policy": "Delete"}})
    run = glue.turn(asked)
    assert conditions(glue.status(asked))["Blocked"] == "Refused", run.stdout
    assert "has changed" in run.stdout
    assert "deletionTimestamp" not in stage.look(held)["metadata"]


def test_an_approved_network_revert_goes_on_with_the_nodes_that_are_left(glue: Glue, fleet: Fleet) -> None:
    """One node is taken back, the other fails: what is left has another hash, and nothing else is done to anybody."""
    good, bad = sorted(fleet.nodes(2))
    with fleet.alive():
        policy = fleet.prepared_policy()
        fleet.handlers.fails = lambda node, name: node == bad and name != policy
        [asked] = glue.api.create(request("NetworkRevert", "vlan", glue.home, nncp=policy))
        glue.turn(asked)
        shown = glue.status(asked)["planHash"]
        glue.change(asked, approve=shown)
        run = glue.turn(asked)
        assert conditions(glue.status(asked))["Blocked"] == "Blocked", run.stdout
        assert fleet.look(policy) is not None

        fleet.handlers.fails = lambda node, name: False
        run = glue.turn(asked)
    assert "Completed" in conditions(glue.status(asked)), run.stdout
    assert f"{good}: unchanged" in run.stdout
    assert fleet.look(policy) is None


def test_a_drain_that_is_deleted_in_mid_run_stops_although_its_finalizer_holds_it(glue: Glue, stage: Stage) -> None:
    [held] = stage.put(widget("held", glue.home, CLEANUP, "other.example.com/hold"))
    profile = {"name": "own", "finalizers": [CLEANUP], "operatorKinds": [{"group": GROUP, "kind": "Widget"}]}
    spec = {"profile": profile, "policy": "Delete", "instance": {"namespaces": [glue.home]}, "timeout": 90}
    wanted = request("Drain", "own", glue.home, approve="always", failFast=False, **spec)
    wanted["metadata"]["finalizers"] = ["sunset.dev/drain"]
    [asked] = glue.api.create(wanted)
    with glue.turning(asked) as play:
        play.until(lambda: glue.status(asked).get("drainStatus") == "draining", "the drain to be seen")
        assert glue.api.delete(glue.api.path_of(asked))[0] == 200
        run = play.finish()
    assert "was deleted" in run.stdout
    assert not stage.is_gone(held)
    glue.api.patch(glue.api.path_of(asked), {"metadata": {"finalizers": None}})


@pytest.mark.quick
def test_a_resource_reads_nothing_that_its_author_could_not_read(glue: Glue, stage: Stage, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("nobody reads this")
    there = stage.another_namespace()
    disguised = str(secret).replace("/", r"\x2f").replace(".", r"\x2e")
    asked = glue.api.create(
        request("Maintenance", "a", there, page=str(secret)),
        request("Maintenance", "f", there, page="{'html_file': '" + disguised + "'}"),
        request("Maintenance", "g", there, page="{'config_map': {'name': 'a', 'namespace': 'kube-system'}}"),
        request("Maintenance", "h", there, namespace="['kube-system']"),
        request("Maintenance", "b", there, page={"htmlFile": str(secret)}),
        request("Maintenance", "c", there, page={"configMap": {"name": "a", "namespace": glue.home}}),
        request("Maintenance", "d", there, routeKinds=[{"group": "", "kind": "Node"}]),
        request("Uninstall", "e", glue.home, manifests=[str(secret)]),
    )
    for one in asked:
        run = glue.turn(one)
        assert conditions(glue.status(one)) == {"Blocked": "InvalidSpec"}, run.stdout
        assert "nobody reads this" not in run.stdout


# Nobody waits for what is not there, and the page is the lab's own.
PAGE = {"workload": {"image": NGINX_IMAGE, "replicas": 1}, "linger": 0, "reopenEndpoints": False}


def test_a_maintenance_ends_what_it_has_begun_and_nothing_of_others(
    glue: Glue, maintenance_on_node: Maintenance
) -> None:
    """Last week's, tonight's, and one that has not begun: two of them are deleted in mid-upgrade."""
    there = maintenance_on_node
    [route] = glue.api.create(ingress(there.namespace))
    over, tonight, tomorrow = glue.api.create(
        request("Maintenance", "last-week", there.namespace, start=moment(-7200), end="1h", **PAGE),
        request("Maintenance", "tonight", there.namespace, **PAGE),
        request("Maintenance", "tomorrow", there.namespace, start=moment(7200), **PAGE),
    )
    for one in (over, tonight, tomorrow):
        run = glue.turn(one)
        assert run.rc == 0, run.stdout
    assert conditions(glue.status(tonight))["Progressing"] == "InMaintenance"
    for one in (over, tomorrow):
        glue.delete(one)
        assert services_in(there.live(route)) != {"shop"}
    # Whatever its spec says by now, and though it is suspended.
    glue.change(tonight, namespace="kube-system", suspend=True)
    run = glue.delete(tonight)
    assert services_in(there.live(route)) == {"shop"}, run.stdout
    assert there.ours() == []


def test_a_maintenance_that_names_fewer_routes_gives_the_others_back(
    glue: Glue, maintenance_on_node: Maintenance
) -> None:
    there = maintenance_on_node
    one, other = glue.api.create(*(ingress(there.namespace, name, f"{name}.example.com") for name in ("one", "other")))
    targets = [{"name": "one"}, {"name": "other"}]
    [asked] = glue.api.create(request("Maintenance", "tonight", there.namespace, targets=targets, **PAGE))
    glue.turn(asked)
    assert "shop" not in services_in(there.live(one)) | services_in(there.live(other))
    glue.change(asked, targets=targets[:1])
    run = glue.turn(asked)
    assert services_in(there.live(one)) != {"shop"}
    assert services_in(there.live(other)) == {"shop"}, run.stdout
    glue.delete(asked)
    assert there.ours() == []


def test_a_maintenance_that_is_told_to_sweep_gives_back_what_it_holds(
    glue: Glue, maintenance_on_node: Maintenance, stage: Stage
) -> None:
    """Also where somebody else has left something that only looks like a backup."""
    there = maintenance_on_node
    [route] = glue.api.create(ingress(there.namespace))
    junk = {**config_map("junk", stage.another_namespace()), "data": {"target": "x"}}
    junk["metadata"]["labels"] = {"sunset.dev/maintenance": "backup"}
    stage.put(junk)
    [asked] = glue.api.create(request("Maintenance", "tonight", there.namespace, **PAGE))
    run = glue.turn(asked)
    assert conditions(glue.status(asked))["Progressing"] == "InMaintenance", run.stdout
    glue.change(asked, state="swept")
    run = glue.turn(asked)
    assert services_in(there.live(route)) == {"shop"}, run.stdout
    assert (requeued(run), conditions(glue.status(asked))["Progressing"]) == ("1s", "RoutesBack")
    run = glue.turn(asked)
    assert "Completed" in conditions(glue.status(asked)), run.stdout
    glue.delete(asked)
    assert there.ours() == []


def test_a_backup_that_a_tenant_has_written_is_not_restored_by_the_operator(
    glue: Glue, maintenance_here: Maintenance
) -> None:
    there = maintenance_here
    [route] = glue.api.create(shown(there.namespace))
    [backup] = glue.api.create(forged(route, **{"0000": BACKEND}))
    before = there.live(route)["spec"]
    [asked] = glue.api.create(request("Maintenance", "tonight", there.namespace, state="disabled", **PAGE))
    glue.turn(asked)
    blocked = why(glue.status(asked))
    assert f"the backup is not trusted ConfigMap {there.namespace}/{backup['metadata']['name']}" in blocked
    assert f"Secret {glue.home}/sunset-operator-backup-key" in blocked
    assert there.live(route)["spec"] == before


def test_a_route_that_follows_its_annotation_keeps_the_page_of_a_maintenance(
    glue: Glue, maintenance_on_node: Maintenance
) -> None:
    there = maintenance_on_node
    body = ingress(there.namespace)
    body["metadata"]["labels"] = {"sunset.dev/managed": "true"}
    [route] = glue.api.create(body)
    [asked] = glue.api.create(request("Maintenance", "tonight", there.namespace, **PAGE))
    glue.turn(asked)
    run = glue.turn(route)  # which has no annotation
    assert services_in(there.live(route)) != {"shop"}, run.stdout
    glue.delete(asked)
    assert services_in(there.live(route)) == {"shop"}


def test_what_blocks_a_route_again_and_again_is_one_event(glue: Glue, maintenance_here: Maintenance) -> None:
    body = ingress(maintenance_here.namespace)
    wanted = {"enabled": "true", "custom-page": "nowhere"}
    body["metadata"]["labels"] = {"sunset.dev/managed": "true"}
    body["metadata"]["annotations"] = {f"maintenance-operator.mithucste30.io/{key}": wanted[key] for key in wanted}
    [route] = glue.api.create(body)
    for _try in range(2):
        run = glue.turn(route)
        assert requeued(run) == "15s", run.stdout
    path = f"/api/v1/namespaces/{maintenance_here.namespace}/events"
    told = glue.api.get(path, fieldSelector="involvedObject.kind=Ingress")[1]["items"]
    assert [(one["reason"], one["type"], one["count"]) for one in told] == [("Blocked", "Warning", 2)]
    assert "maintenance-page-nowhere" in told[0]["message"]
