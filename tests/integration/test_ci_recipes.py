# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes for pipelines, carried out: each job's own script, on a real release, with the plan's hash in between."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.collection_playbooks import ending, play_named
from integration.guides import files_of
from integration.helm import Helm
from integration.running import PATIENCE, _surroundings
from integration.stage import config_map
from lab.plane.controlplane import ControlPlane

CI = Path(__file__).parents[2] / "extensions" / "ci"


class Shop:
    """A release to uninstall, and the machine of a pipeline with one folder a job."""

    def __init__(self, plane: ControlPlane, directory: Path, namespace: str) -> None:
        self.helm = Helm(plane, directory / "helm", namespace)
        self.kubeconfig = plane.admin.kubeconfig
        self.typed = {"release": "shop", "namespace": namespace}
        self._directory = directory
        chart = self.helm.chart({"templates/front.yaml": config_map("front", namespace)})
        self.helm("install", "shop", str(chart))

    def job(self, name: str) -> Path:
        folder = self._directory / name
        folder.mkdir()
        return folder

    def run(self, folder: Path, script: str, environment: Mapping[str, str]) -> str:
        """As a runner does it: bash, which stops at the first failure."""
        env = {**_surroundings(folder, self.kubeconfig), **environment}
        env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def is_gone(self) -> bool:
        return self.helm.records() == []


@pytest.fixture
def shop(plane: ControlPlane, tmp_path: Path, namespace: str) -> Shop:
    return Shop(plane, tmp_path, namespace)


def pairs(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


def test_github_actions_plan_and_carry_out_what_was_planned(shop: Shop) -> None:
    recipe = yaml.safe_load((CI / "github-actions.yml").read_text())
    known = {f"inputs.{name}": value for name, value in shop.typed.items()}
    known["secrets.KUBECONFIG"] = shop.kubeconfig.read_text()

    def resolved(values: Mapping[str, Any]) -> dict[str, str]:
        return {
            name: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: known[found[1]], text) for name, text in values.items()
        }

    for job in ("plan", "run"):
        folder = shop.job(job)
        files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for step in recipe["jobs"][job]["steps"]:
            if "run" in step and step["name"] != "Install":
                shop.run(folder, step["run"], {**files, **resolved(recipe["env"]), **resolved(step.get("env", {}))})
        assert "sunset.kube.uninstall" in (folder / "GITHUB_STEP_SUMMARY").read_text()
        assert not (folder / "kubeconfig").exists()
        if job == "plan":
            assert not shop.is_gone
            outputs = pairs(folder / "GITHUB_OUTPUT")
            assert outputs["outcome"] == "planned"
            known["needs.plan.outputs.plan_hash"] = outputs["plan_hash"]
    assert shop.is_gone
    assert {"report.html", "junit.xml", "result.json"} <= {file.name for file in (folder / "report").iterdir()}


def test_gitlab_plans_waits_and_carries_out_what_was_planned(shop: Shop) -> None:
    recipe = yaml.safe_load((CI / "gitlab-ci.yml").read_text())
    environment = {name.upper(): value for name, value in shop.typed.items()}
    folder = shop.job("checkout")
    for job in ("plan", "run"):
        for part in ("script", "after_script"):
            shop.run(folder, "\n".join(recipe[job][part]), environment)
        if job == "plan":
            assert not shop.is_gone
            environment |= pairs(folder / recipe["plan"]["artifacts"]["reports"]["dotenv"])
    assert shop.is_gone
    assert 'failures="0"' in (folder / recipe["run"]["artifacts"]["reports"]["junit"]).read_text()


def test_awx_hands_the_hash_of_the_plan_to_the_last_node(shop: Shop, tmp_path: Path) -> None:
    templates = yaml.safe_load((CI / "awx.yml").read_text())["controller_templates"]
    shown = files_of("guide_ci", tmp_path)
    playbooks = {template["job_type"]: shown[template["playbook"]] for template in templates}
    variables = {**shop.typed, "evidence_dir": str(tmp_path / "evidence"), "awx_job_id": 7, "tower_user_name": "ada"}
    plan = play_named(str(playbooks["check"]), tmp_path / "plan", shop.kubeconfig, "--check", **variables)
    assert plan.rc == 0, plan.stdout
    assert not shop.is_gone
    [handed_on] = [result["ansible_stats"]["data"] for result in plan.results if "ansible_stats" in result]
    assert handed_on == {"confirm": ending(tmp_path / "evidence")["plan_hash"]}
    run = play_named(str(playbooks["run"]), tmp_path / "run", shop.kubeconfig, **variables, **handed_on)
    assert run.rc == 0, run.stdout
    assert shop.is_gone
