# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pipeline relies on: exit codes, the plan it approves, the place where it finds how a run ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.collection_playbooks import ending, play_named, playing_named
from integration.maintaining import Maintenance, http_route, shape
from integration.ranked import RBAC, manifest, service_account
from integration.running import PATIENCE
from integration.stage import CLEANUP, FOREIGN, GROUP, Stage, body, config_map, widget
from lab.faults import FaultProxy, Rule, SlowAnswer
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.users import User

DRAIN = "sunset.kube.drain"
BY_PATH = Path(__file__).parents[2] / "playbooks" / "drain.yml"
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]


@pytest.fixture
def user(as_user: AsUser) -> User:
    return as_user("pipeline", EVERYTHING)


def widgets_of(stage: Stage, evidence: Path, **more: Any) -> dict[str, Any]:
    profile = {"name": "own", "finalizers": [CLEANUP], "operator_kinds": [{"group": GROUP, "kind": "Widget"}]}
    return {
        "profile": profile,
        "instance": {"namespaces": [stage.namespace]},
        "timeout": 60,
        "evidence_dir": str(evidence),
        "confirm": "skip",
        **more,
    }


# -- plan, approve, run ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("playbook", [DRAIN, str(BY_PATH)], ids=["by its name", "by its path"])
def test_a_plan_is_made_approved_by_its_hash_and_carried_out(
    stage: Stage, user: User, audit: AuditTrail, tmp_path: Path, playbook: str
) -> None:
    evidence = tmp_path / "evidence"
    things = stage.put(*(widget(f"w{number}", stage.namespace, CLEANUP) for number in range(3)))
    variables = widgets_of(stage, evidence)

    plan = play_named(playbook, tmp_path / "plan", user.kubeconfig, "--tags", "plan", **variables)
    assert (plan.rc, ending(evidence)["outcome"]) == (0, "planned"), plan.stdout
    assert audit.writes(user.name) == []
    plan_hash = ending(evidence)["plan_hash"]
    assert f"plan_hash: {plan_hash}" in plan.stdout

    run = play_named(playbook, tmp_path / "run", user.kubeconfig, **variables, plan_hash=plan_hash)
    assert (run.rc, ending(evidence)["outcome"]) == (0, "done"), run.stdout
    assert [stage.finalizers(thing) for thing in things] == [[], [], []]
    assert 'failures="0"' in (evidence / "latest" / "junit.xml").read_text()

    again = play_named(playbook, tmp_path / "again", user.kubeconfig, "--skip-tags", "report", **variables)
    assert (again.rc, ending(evidence)["outcome"]) == (0, "nothing_to_do"), again.stdout
    assert ("Show what was drained" in run.stdout, "Show what was drained" in again.stdout) == (True, False)
    assert len([name for name in evidence.iterdir() if name.name != "latest"]) == 3


def test_another_plan_than_the_approved_one_is_refused(
    stage: Stage, user: User, audit: AuditTrail, tmp_path: Path
) -> None:
    [thing] = stage.put(widget("w", stage.namespace, CLEANUP))
    variables = widgets_of(stage, tmp_path / "evidence", plan_hash="0123456789abcdef")
    run = play_named(DRAIN, tmp_path, user.kubeconfig, **variables)
    told = ending(tmp_path / "evidence")
    assert (run.rc, told["outcome"]) == (2, "refused"), run.stdout
    assert told["message"] in json.dumps(run.results[-1]["msg"]).encode().decode("unicode_escape")
    assert (stage.finalizers(thing), audit.writes(user.name)) == ([CLEANUP], [])


def test_what_cannot_go_is_counted_and_named(stage: Stage, user: User, tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    stage.put(widget("held", stage.namespace, CLEANUP, FOREIGN))
    run = play_named(
        DRAIN, tmp_path, user.kubeconfig, **widgets_of(stage, evidence, policy="Delete", timeout=10, quiesce="none")
    )
    told = ending(evidence)
    assert (run.rc, told["outcome"], told["survivors"]) == (2, "blocked", 1), run.stdout
    junit = (evidence / "latest" / "junit.xml").read_text()
    assert f"Widget {stage.namespace}/held" in junit
    assert FOREIGN in junit


def test_nobody_is_told_that_nothing_was_written_when_something_is_left(
    stage: Stage, user: User, tmp_path: Path
) -> None:
    here, evidence = stage.namespace, tmp_path / "evidence"
    [account] = stage.put(service_account("operator", here))
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
    subject = {"kind": "ServiceAccount", "name": "operator", "namespace": here}
    stage.put(body(f"{RBAC}/v1", "RoleBinding", "reads", here, roleRef=role, subjects=[subject]))
    variables = {"manifests": [manifest(account)], "namespace": here, "evidence_dir": str(evidence)}
    for number, changed in enumerate((True, False)):
        run = play_named(
            "sunset.kube.uninstall",
            tmp_path / str(number),
            user.kubeconfig,
            **variables,
            confirm="skip",
            on_leftovers="fail",
        )
        told = ending(evidence)
        assert (run.rc, told["outcome"], told["changed"]) == (2, "failed", changed), run.stdout
        assert "something is left" in told["message"]


# -- variables ---------------------------------------------------------------------------------------------------------

UNKNOWN = {
    "drain, a letter wrong": (DRAIN, {"profile": "ngrok", "polici": "Delete"}, "polici (did you mean policy?)"),
    "delete_cluster": (
        "sunset.kube.delete_cluster",
        {"cluster": "edge-7", "keepnamespace": True},
        "keepnamespace (did you mean keep_namespace?)",
    ),
    "maintenance": (
        "sunset.kube.maintenance",
        {"state": "enabled", "name_space": "shop"},
        "name_space (did you mean namespace?)",
    ),
    "revert_network": (
        "sunset.kube.revert_network",
        {"nncp": "vlan100", "max_unavailible": 1},
        "max_unavailible (did you mean max_unavailable?)",
    ),
    "explain": ("sunset.kube.explain", {"ns": "shop"}, "ns (did you mean namespace?)"),
    "uninstall, another tool's dry run": (
        "sunset.kube.uninstall",
        {"release": "shop", "confirm": "skip", "dry_run": True},
        "dry_run (use --check)",
    ),
    "uninstall, like none of ours": (
        "sunset.kube.uninstall",
        {"release": "shop", "confirm": "skip", "colour": "blue"},
        "colour; nothing was read from the cluster.",
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_variable_is_told_before_anything_is_read(
    user: User, audit: AuditTrail, tmp_path: Path, case: str
) -> None:
    """Ansible would ignore it, and do something else than was asked for."""
    playbook, variables, told = UNKNOWN[case]
    (tmp_path / "variables.yml").write_text(json.dumps(variables))  # a file counts as the command line does
    run = play_named(playbook, tmp_path, user.kubeconfig, "-e", f"@{tmp_path / 'variables.yml'}")
    assert run.rc == 2, run.stdout
    assert f"unknown variable {told}" in run.stdout
    assert audit.events(user.name) == []


def test_variables_of_others_are_left_to_them(stage: Stage, user: User, tmp_path: Path) -> None:
    [thing] = stage.put(widget("w", stage.namespace, CLEANUP))
    others = {"awx_job_id": 7, "region": "north", "time_out": 5, "not_for_us": ["region", "time_out"]}
    run = play_named(DRAIN, tmp_path, user.kubeconfig, **widgets_of(stage, tmp_path / "evidence"), **others)
    assert run.rc == 0, run.stdout
    assert stage.finalizers(thing) == []


def two_contexts(user: User, directory: Path) -> Path:
    """The cluster of the user as context `there`; the current one leads nowhere."""
    content = yaml.safe_load(user.kubeconfig.read_text())
    content["contexts"] = [{**content["contexts"][0], "name": "there"}]
    content["clusters"].append({"name": "nowhere", "cluster": {"server": "https://127.0.0.1:9"}})
    content["contexts"].append({"name": "nowhere", "context": {"cluster": "nowhere"}})
    content["current-context"] = "nowhere"
    file = directory / "two.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


@pytest.mark.quick
def test_every_playbook_goes_to_the_cluster_that_its_variables_name(
    stage: Stage, user: User, as_user: AsUser, audit: AuditTrail, tmp_path: Path
) -> None:
    """Through roles as well as without one, as another user, and with the key out of every log."""
    kubeconfig, other = two_contexts(user, tmp_path), as_user("impersonated", EVERYTHING)
    there = ("-vvv", "-e", f"kubeconfig={kubeconfig}", "-e", "context=there")
    nowhere = tmp_path / "no-such-file"
    wrong = play_named("sunset.kube.explain", tmp_path / "wrong", kubeconfig, namespace=stage.namespace)
    assert (wrong.rc, "context nowhere of kubeconfig" in wrong.stdout) == (2, True), wrong.stdout
    secret = {"namespace": stage.namespace, "api_key": "s3cr3t-key"}
    explained = play_named("sunset.kube.explain", tmp_path / "explain", nowhere, *there, **secret)
    assert (explained.rc, "(context there of kubeconfig" in explained.stdout) == (0, True), explained.stdout
    assert "s3cr3t-key" not in explained.stdout
    shop = [config_map("front", stage.namespace)]
    made = stage.put(*shop)
    variables = {"manifests": shop, "namespace": stage.namespace, "confirm": "skip", "impersonate_user": other.name}
    audit.begin_anew()
    run = play_named("sunset.kube.uninstall", tmp_path / "run", nowhere, *there, **variables)
    assert (run.rc, all(map(stage.is_gone, made))) == (0, True), run.stdout
    assert audit.events(user.name) != []
    assert {event.impersonated for event in audit.events(user.name)} == {other.name}


# -- the other playbooks -----------------------------------------------------------------------------------------------


def test_maintenance_is_planned_with_a_diff_and_its_secrets_stay_out_of_every_log(
    maintenance_here: Maintenance, audit: AuditTrail, tmp_path: Path
) -> None:
    maintenance, evidence = maintenance_here, tmp_path / "evidence"
    [route] = maintenance.api.create(http_route(maintenance.namespace, "web"))
    run = play_named(
        "sunset.kube.maintenance",
        tmp_path,
        maintenance.user.kubeconfig,
        *("--check", "--diff", "-vvv"),
        state="enabled",
        namespace=maintenance.namespace,
        bypass={"headers": {"X-Letmein": "c4nary-value"}},
        evidence_dir=str(evidence),
    )
    assert (run.rc, ending(evidence)["outcome"]) == (0, "planned"), run.stdout
    assert f"HTTPRoute {maintenance.namespace}/web: would be changed" in run.stdout
    assert "+++ after" in run.stdout
    assert shape(maintenance.live(route)) == shape(route)
    assert audit.writes(maintenance.user.name) == []
    files = [file.read_text() for file in (evidence / "latest").rglob("*") if file.is_file()]
    assert "c4nary-value" not in "".join([run.stdout, *files])


def test_an_uninstallation_is_planned_confirmed_by_its_hash_and_carried_out(
    stage: Stage, user: User, audit: AuditTrail, tmp_path: Path
) -> None:
    evidence, playbook = tmp_path / "evidence", "sunset.kube.uninstall"
    shop = [config_map("front", stage.namespace), widget("basket", stage.namespace)]
    made = stage.put(*shop)
    variables = {"manifests": shop, "namespace": stage.namespace, "timeout": 60, "evidence_dir": str(evidence)}
    plan = play_named(playbook, tmp_path / "plan", user.kubeconfig, "--tags", "plan", **variables)
    assert (plan.rc, ending(evidence)["outcome"]) == (0, "planned"), plan.stdout
    assert audit.writes(user.name) == []
    plan_hash = ending(evidence)["plan_hash"]
    wrong = play_named(playbook, tmp_path / "wrong", user.kubeconfig, **variables, plan_hash=plan_hash)
    assert (wrong.rc, f"-e confirm={plan_hash}" in wrong.stdout) == (2, True), wrong.stdout
    run = play_named(playbook, tmp_path / "run", user.kubeconfig, **variables, confirm=plan_hash)
    assert (run.rc, ending(evidence)["outcome"]) == (0, "done"), run.stdout
    assert all(map(stage.is_gone, made))


# -- killed ------------------------------------------------------------------------------------------------------------


def test_a_killed_run_leaves_its_timeline_and_no_ending(
    stage: Stage, faults: FaultProxy, user: User, tmp_path: Path
) -> None:
    """Whoever reads it afterwards knows how far it came, and that nobody said how it ended."""
    evidence = tmp_path / "evidence"
    stage.put(*(widget(f"w{number}", stage.namespace, CLEANUP) for number in range(3)))
    faults.add(Rule(SlowAnswer(PATIENCE), method="PATCH", path="/w2$"))
    variables = widgets_of(stage, evidence)
    with playing_named(DRAIN, tmp_path / "play", faults.kubeconfig(user), **variables) as play:
        timeline = evidence / "latest" / "timeline.jsonl"
        play.until(lambda: timeline.exists() and timeline.read_text().count('"did"') >= 2, "the second write")
        play.kill()
    rows = [json.loads(line) for line in timeline.read_text().splitlines()]
    assert {row["object"]["name"] for row in rows if row["event"] == "did"} == {"w0", "w1"}
    assert not (evidence / "latest" / "result.json").exists()
