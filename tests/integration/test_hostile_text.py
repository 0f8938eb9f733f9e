# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and messages that attack the reader, on a real API server, which takes them: shown as escapes, never run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import ranked_delete
from integration.admission_hook import refusing_webhook
from integration.explaining import Explainer, causes, row_of
from integration.ranked import failed, succeeded
from integration.running import run_job, run_playbook, settings, warnings_of
from integration.stage import CLEANUP, GROUP, WIDGETS, Body, Stage, body, config_map, widget
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick

RBAC = "rbac.authorization.k8s.io/v1"
TEMPLATE = "{{ lookup('pipe', 'touch pwned') }}"
MORE_OPTIONS = "x owner=any allow_protected=true terminating_only=false"
# NUL, a title and a cleared line, a forged line, a name turned around, a C1 control, an invisible letter.
HOSTILE = (
    "nul\x00",
    "esc\x1b]0;PWNED\x07\x1b[2K\x1b[1A",
    "line\r\nplan: 0 objects",
    "bidi\u202egnihton\u2066",
    "c1\x9b2Jzw\u200b\u2028",
    "<img src=x onerror=alert(1)>[click](javascript:x)|`",
)
# What no output may hold: controls but for the line's end, bidi marks, separators, what is not seen.
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def role(name: str, namespace: str, *finalizers: str, labels: Mapping[str, str] | None = None) -> Body:
    return body(RBAC, "Role", name, namespace, *finalizers, labels=labels, rules=[])


def test_a_suggestion_that_is_pasted_runs_nothing_that_an_objects_name_says(
    stage: Stage, explain: Explainer, tmp_path: Path
) -> None:
    here = stage.namespace
    names = (TEMPLATE, MORE_OPTIONS, "$(touch pwned)", "--all")
    stage.hang(*(role(name, here, f"{number}.example.com/x") for number, name in enumerate(names)))
    steps = explain(kind="roles", namespace=here)["next_steps"]
    commands = [line for step in steps for line in re.findall(r"ansible localhost .*", step)]
    assert len(steps) == len(names)
    for name in (TEMPLATE, "$(touch pwned)", "--all"):
        assert any(name in step and "no command is shown" in step for step in steps)
    environment = {
        **settings(tmp_path),
        "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1",
        "K8S_AUTH_KUBECONFIG": str(explain.user.kubeconfig),
    }
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    [command] = commands
    ran = subprocess.run(
        ["bash", "-c", f"{command} --check"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert not list(tmp_path.glob("pwned*"))
    [told] = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [row["object"]["name"] for row in told["removed"] or told["kept"]] == [MORE_OPTIONS], ran.stdout
    assert told["counts"]["looked_at"] == 1


def test_names_that_attack_a_terminal_or_a_report_are_escapes_in_every_output(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    """Roles with such names hang, are explained, deleted, and survive: nothing raw on the screen, nor in any file."""
    here = stage.namespace
    stage.hang(*(role(name, here, CLEANUP) for name in HOSTILE))
    stage.put(*(role(f"{name} ", here, labels={"app": "shop"}) for name in HOSTILE))
    explained, deleted = tmp_path / "explained", tmp_path / "deleted"
    label = {"namespaces": [here], "label_selector": "app=shop", "kinds": ["roles.rbac.authorization.k8s.io"]}
    tasks: list[dict[str, Any]] = [
        {"sunset.kube.blockers_info": {"kind": "roles", "namespace": here, "evidence_dir": str(explained)}},
        {"sunset.kube.ranked_delete": {"members": {"selector": label}, "evidence_dir": str(deleted)}},
    ]
    # Prints the whole result of what failed.
    hanging = {"objects": [{"kind": "Role", "name": name, "namespace": here} for name in HOSTILE]}
    tasks.append({"sunset.kube.ranked_delete": {"members": hanging, "timeout": 1, "fail_fast": False}})
    run = run_playbook(tasks, plane.admin.kubeconfig, diff=True)
    assert run.rc == 2, run.stdout
    assert len(run.results[2]["survivors"]) == len(HOSTILE)
    assert not FORBIDDEN.search(run.stdout), FORBIDDEN.findall(run.stdout)
    assert "esc\\x1b]0;PWNED\\x07" in run.stdout
    assert "\nplan: 0 objects" not in run.stdout
    blockers = run.results[0]["blockers"]
    assert sorted(row["object"]["name"] for row in blockers) == sorted(HOSTILE), "data stay as they are"
    for folder in (explained, deleted):
        for file in sorted((folder / "latest").iterdir()):
            if file.is_file():
                text = file.read_text(encoding="utf-8")
                assert not FORBIDDEN.search(text), (file.name, FORBIDDEN.findall(text))
        page = (folder / "latest" / "report.html").read_text()
        assert "<img" not in page
        ET.fromstring((folder / "latest" / "junit.xml").read_text())
    assert "<img" not in (explained / "latest" / "report.md").read_text().replace("\\<img", "")


def test_an_object_nested_4000_levels_deep_stops_only_what_needs_its_content(
    stage: Stage, explain: Explainer, plane: ControlPlane, tmp_path: Path
) -> None:
    here = stage.namespace
    stage.put(widget("plain", here, labels={"app": "shop"}))
    path = f"/apis/{GROUP}/v1/namespaces/{here}/widgets"
    deep = '{"a":' * 4000 + "1" + "}" * 4000
    head = '{"apiVersion":"%s/v1","kind":"Widget","metadata":{"name":"deep","labels":{"app":"shop"}},"spec":%s}'
    assert stage.api.post(path, (head % (GROUP, deep)).encode())[0] == 201
    stage.afterwards(lambda: stage.api.delete(f"{path}/deep"))
    assert explain(namespace=here)["missing"] == ""
    label = {"namespaces": [here], "label_selector": "app=shop", "kinds": [WIDGETS]}
    params = {"members": {"selector": label}, "timeout": 60}
    # A bundle needs the content: nothing is deleted that cannot be kept.
    refused = failed(run_job(ranked_delete.JOB, {**params, "evidence_dir": str(tmp_path)}, plane.admin.kubeconfig))
    assert f"{WIDGETS} in namespace {here}" in refused
    assert "nested too deeply" in refused
    assert stage.api.get(f"{path}/plain")[0] == 200
    result = succeeded(run_job(ranked_delete.JOB, params, plane.admin.kubeconfig))
    assert result["counts"]["deleted"] == 2
    assert stage.api.get(f"{path}/deep")[0] == 404


def test_a_webhook_that_speaks_like_an_admission_policy_becomes_no_command(
    stage: Stage, explain: Explainer, tmp_path: Path
) -> None:
    here = stage.namespace
    (held,) = stage.hang(widget("held", here, CLEANUP))
    rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["widgets"]}
    inside = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": here}}}
    words = "ValidatingAdmissionPolicy 'p' with binding 'b; touch pwned #' denied request: no"
    with refusing_webhook(stage, tmp_path, "porter.example.com", words, rule, **inside):
        path, touch = stage.api.path_of(held), {"metadata": {"annotations": {"a": "b"}}}
        until(lambda: stage.api.patch(path, touch, dryRun="All")[0] == 409, "the webhook in force", every=0.05)
        result = explain(kind=WIDGETS, name="held", namespace=here)
    assert "policy" not in causes(row_of(result, "held"))
    assert result["next_steps"][0] == "do as webhook porter.example.com says: it is its application's word"
    assert not any("touch pwned" in step for step in result["next_steps"])


def test_a_forged_plan_in_the_evidence_directory_is_no_consent(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    """Whoever may write there could say yes in another's name; the plan that this user left there still counts."""
    here = stage.namespace
    made = stage.put(config_map("a", here), config_map("b", here))
    manifests = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": one["metadata"]} for one in made]
    options = {"manifests": manifests, "profile": "none", "evidence_dir": str(tmp_path)}
    run = run_playbook([{"check_mode": True, "sunset.kube.uninstall": options}], plane.admin.kubeconfig)
    seen = run.result["plan_hash"]
    true = json.loads((tmp_path / "latest" / "plan.json").read_text())
    objects = [{"object": {"uid": one["metadata"]["uid"]}} for one in made]
    forged = {**true, "plan_hash": "a" * 16, "steps": [{"objects": objects}]}
    (tmp_path / "9-uninstall").mkdir()
    (tmp_path / "9-uninstall" / "plan.json").write_text(json.dumps(forged))
    assert stage.api.delete(stage.api.path_of(made[0]))[0] == 200
    given: list[dict[str, Any]] = [
        {"sunset.kube.uninstall": {**options, "plan_hash": hash_}, "ignore_errors": True} for hash_ in ("a" * 16, seen)
    ]
    refused, done = run_playbook(given, plane.admin.kubeconfig).results
    assert f"and plan_hash is {'a' * 16}" in refused["msg"]
    assert "its content does not give this hash" in warnings_of(refused)
    assert refused["changed"] is False
    assert not done.get("failed"), done["msg"]
    assert done["counts"]["deleted"] == 1
