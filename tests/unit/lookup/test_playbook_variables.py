# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a playbook takes from short variables, and what it says about those it does not know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleLookupError

from ansible_collections.sunset.kube.plugins.lookup import playbook_variables
from ansible_collections.sunset.kube.plugins.lookup.playbook_variables import LookupModule, judged, short_names
from ansible_collections.sunset.kube.tests.unit.fakes import named

PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
KNOWN = {"profile", "policy", "timeout", "force"}
ELSEWHERE = {"drain_profile", "drain_policy", "maintenance_force_page"}

JUDGED: dict[str, tuple[list[str], list[str], list[str]]] = {
    "known": (["profile", "policy"], [], []),
    "a letter wrong": (["polici"], ["policy"], []),
    "one too many": (["policys", "profiles"], ["policy", "profile"], []),
    "by its whole name": (["drain_policy"], [], []),
    "by its whole name, a letter wrong": (["drain_polcy"], ["drain_policy"], []),
    "of another role": (["maintenance_force_page"], [], []),
    "of Ansible and of platforms": (["ansible_user", "awx_job_id", "tower_user_name"], [], []),
    "of an inventory": (["region", "stage"], [], ["region", "stage"]),
}


@pytest.mark.parametrize(("given", "meant", "strange"), named(JUDGED))
def test_a_name_is_known_or_nearly_known_or_strange(given: list[str], meant: list[str], strange: list[str]) -> None:
    misspelt, others = judged(given, KNOWN, ELSEWHERE)
    assert ([one["meant"] for one in misspelt], others) == (meant, strange)
    assert all(one["given"] in given for one in misspelt)


def looked_up(monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any], **options: Any) -> dict[str, Any]:
    monkeypatch.setattr(playbook_variables, "load_extra_vars", lambda loader: extra)
    plugin = LookupModule()
    monkeypatch.setattr(plugin, "set_options", lambda var_options, direct: None)
    monkeypatch.setattr(plugin, "get_option", lambda name: options.get(name, []))
    [found] = plugin.run(["drain"], {**extra, "policy": "Retain", "groups": {}})
    return found


def test_what_was_given_is_taken_wherever_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    found = looked_up(monkeypatch, {"profile": "ngrok", "serial": 1, "tiemout": 3}, also=["serial"])
    assert found == {
        "taken": ["profile", "policy"],
        "misspelt": [{"given": "tiemout", "meant": "timeout"}],
        "strange": [],
    }


def test_a_name_that_the_playbook_leaves_out_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked_up(monkeypatch, {"profile": "ngrok"}, without=["policy"])["taken"] == ["profile"]


def test_a_playbook_without_a_role_says_its_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    found = looked_up(monkeypatch, {"kind": "Domain", "nmae": "web"}, names=["kind", "name", "policy"])
    assert (found["taken"], found["misspelt"]) == (["kind", "policy"], [{"given": "nmae", "meant": "name"}])


def test_a_role_that_does_not_exist_is_told() -> None:
    with pytest.raises(AnsibleLookupError, match="no role nothing"):
        short_names("nothing", [])


def test_one_role_at_a_time() -> None:
    with pytest.raises(AnsibleLookupError, match="name one role"):
        LookupModule().run(["drain", "maintenance"], {})


# -- the playbooks -----------------------------------------------------------------------------------------------------

FILES = [
    PLAYBOOKS / f"{name}.yml" for name in ("delete_cluster", "drain", "maintenance", "revert_network", "uninstall")
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_playbook_takes_its_variables_first_and_always(file: Path) -> None:
    [play] = yaml.safe_load(file.read_text(encoding="utf-8"))
    imports = [task for task in play["tasks"] if "ansible.builtin.import_tasks" in task]
    [taking] = [task for task in imports if task["ansible.builtin.import_tasks"] == "tasks/take_variables.yml"]
    assert (taking["tags"], set(taking["vars"])) == (["always"], {"take_role", "take_also", "take_without"})
    names = short_names(taking["vars"]["take_role"], [])
    assert set(taking["vars"]["take_without"]) <= set(names)
    assert not set(taking["vars"]["take_also"]) & set(names)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_playbook_can_plan_only_and_plans_only_when_asked(file: Path) -> None:
    [play] = yaml.safe_load(file.read_text(encoding="utf-8"))
    roles = [task for task in play["tasks"] if "ansible.builtin.include_role" in task]
    plan, run = roles
    assert (plan["tags"], run["tags"]) == (["never", "plan"], ["run"])
    assert plan["ansible.builtin.include_role"]["apply"] == {"check_mode": True, "tags": ["plan"]}
    assert run["ansible.builtin.include_role"]["apply"] == {"tags": ["run"]}
    others = [task for task in play["tasks"] if task not in roles]
    assert {str(task["tags"]) for task in others} == {"['always']"}, (
        "what is left out with --tags plan is not asked for"
    )
