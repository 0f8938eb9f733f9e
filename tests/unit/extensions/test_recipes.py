# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Recipes for pipelines and platforms use only what there is: playbooks, their variables and choices, their tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
CI = ROOT / "extensions" / "ci"
FILES = sorted(file for file in CI.rglob("*.yml"))


def loaded(*path: str) -> Any:
    return yaml.safe_load(CI.joinpath(*path).read_text(encoding="utf-8"))


def options_of(playbook: str) -> dict[str, Any]:
    """What the playbook takes by short names, as its role specifies it."""
    [play] = yaml.safe_load((ROOT / "playbooks" / f"{playbook}.yml").read_text(encoding="utf-8"))
    [taking] = [task["vars"] for task in play["tasks"] if "ansible.builtin.import_tasks" in task]
    role = taking["take_role"]
    specified = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    options = specified["argument_specs"]["main"]["options"]
    return {name.removeprefix(f"{role}_"): option for name, option in options.items()}


def tags_of(playbook: str) -> set[str]:
    [play] = yaml.safe_load((ROOT / "playbooks" / f"{playbook}.yml").read_text(encoding="utf-8"))
    return {tag for task in play["tasks"] for tag in task["tags"]}


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


def commands(file: Path) -> list[str]:
    """Every ansible-playbook command of a recipe, in one line."""
    texts = "\n".join(strings(yaml.safe_load(file.read_text(encoding="utf-8"))))
    joined = texts.replace("\\\n", " ")
    return [line for line in joined.splitlines() if "ansible-playbook " in line]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CI)))
def test_every_recipe_is_yaml(file: Path) -> None:
    assert yaml.safe_load(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["github-actions.yml", "gitlab-ci.yml"])
def test_every_command_uses_a_playbook_variables_and_tags_that_exist(name: str) -> None:
    found = commands(CI / name)
    assert len(found) == 2, "a plan and a run"
    for command in found:
        [playbook] = re.findall(r"ansible-playbook sunset\.kube\.(\w+)", command)
        assert set(re.findall(r"-e (\w+)=", command)) <= set(options_of(playbook))
        assert set(re.findall(r"--tags (\w+)", command)) <= tags_of(playbook)


@pytest.mark.parametrize("name", ["github-actions.yml", "gitlab-ci.yml"])
def test_the_run_carries_out_the_plan_that_was_seen(name: str) -> None:
    plan, run = commands(CI / name)
    assert ("--tags plan" in plan, "confirm=" in plan) == (True, False)
    assert ('-e confirm="$PLAN_HASH"' in run, "--tags" in run) == (True, False)
    same = [re.findall(r'-e (?:release|namespace)="\$\w+"', command) for command in (plan, run)]
    assert (same[0], len(same[0])) == (same[1], 2)


def test_what_people_type_never_becomes_part_of_a_script_of_github() -> None:
    steps = [step for job in loaded("github-actions.yml")["jobs"].values() for step in job["steps"]]
    assert not [step["run"] for step in steps if "${{" in step.get("run", "")]


def test_gitlab_waits_for_a_person_and_keeps_what_it_shows() -> None:
    recipe = loaded("gitlab-ci.yml")
    assert (recipe["run"]["when"], recipe["run"]["needs"]) == ("manual", ["plan"])
    assert recipe["plan"]["artifacts"]["reports"] == {"dotenv": "plan.env"}
    assert recipe["run"]["artifacts"]["reports"] == {"junit": "report/junit.xml"}
    assert {recipe[job]["artifacts"]["when"] for job in ("plan", "run")} == {"always"}, "after a failure above all"


# -- AWX ---------------------------------------------------------------------------------------------------------------

TYPES = {"text": "str", "integer": "int", "multiplechoice": None}


def test_every_question_of_the_survey_is_a_variable_with_its_choices_and_default() -> None:
    [workflow] = loaded("awx.yml")["controller_workflows"]
    options = options_of("uninstall")
    for question in workflow["survey_spec"]["spec"]:
        option = options[question["variable"]]
        if question["type"] == "multiplechoice" and option["type"] != "bool":
            assert question["choices"] == option["choices"]
        if option["type"] == "bool":
            assert question["choices"] == ["false", "true"]
        assert TYPES[question["type"]] in (None, option["type"])
        if "default" in option:
            assert str(question["default"]).lower() == str(option["default"]).lower()


def test_the_workflow_of_awx_has_an_approval_between_plan_and_run() -> None:
    recipe = loaded("awx.yml")
    [workflow] = recipe["controller_workflows"]
    nodes = {node["identifier"]: node for node in workflow["simplified_workflow_nodes"]}
    assert (nodes["plan"]["success_nodes"], nodes["approve"]["success_nodes"]) == (["approve"], ["run"])
    templates = {template["name"]: template for template in recipe["controller_templates"]}
    plan, run = (templates[nodes[name]["unified_job_template"]] for name in ("plan", "run"))
    assert (plan["job_type"], run["job_type"]) == ("check", "run")
    guide = (ROOT / "docs" / "docsite" / "rst" / "guide_ci.rst").read_text(encoding="utf-8")
    assert all(f":caption: {template['playbook']}" in guide for template in (plan, run))


# -- execution environment ---------------------------------------------------------------------------------------------


def test_the_execution_environment_names_files_that_are_beside_it() -> None:
    definition = loaded("execution_environment", "execution-environment.yml")
    assert definition["version"] == 3
    for key in ("galaxy", "system"):
        assert (CI / "execution_environment" / definition["dependencies"][key]).exists()
    wanted = loaded("execution_environment", "requirements.yml")
    assert [one["name"] for one in wanted["collections"]] == ["sunset.kube"]
