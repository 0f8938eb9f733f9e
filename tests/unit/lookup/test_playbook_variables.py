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
from ansible_collections.sunset.kube.plugins.lookup.playbook_variables import (
    LookupModule,
    listed,
    sentence,
    short_names,
    strangers,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
KNOWN = ["profile", "policy", "timeout", "force", "context", "namespace", "confirm"]
ELSEWHERE = {"drain_profile", "drain_policy", "maintenance_force_page"}

STRANGERS: dict[str, tuple[list[str], list[str]]] = {
    "known": (["profile", "policy"], []),
    "a letter wrong": (["polici"], ["polici: did you mean policy?"]),
    "one too many": (["policys", "profiles"], ["policys: did you mean policy?", "profiles: did you mean profile?"]),
    "by its whole name": (["drain_policy"], []),
    "by its whole name, a letter wrong": (["drain_polcy"], ["drain_polcy: did you mean drain_policy?"]),
    "of another role": (["maintenance_force_page"], []),
    "of Ansible and of platforms": (["ansible_user", "awx_job_id", "tower_user_name", "eda_x"], []),
    "like none": (["region", "stage"], ["region: ", "stage: "]),
    "said to be for others": (["colour"], []),
    "a dry run": (
        ["dry_run", "check_mode", "check"],
        [f"{one}: use --check" for one in ("dry_run", "check_mode", "check")],
    ),
    "words of other tools": (
        ["kube_context", "ns", "yes"],
        ["kube_context: did you mean context?", "ns: did you mean namespace?", "yes: did you mean confirm=skip?"],
    ),
    "a word of another tool for what this playbook does not have": (["token"], ["token: "]),
}


@pytest.mark.parametrize(("given", "hints"), named(STRANGERS))
def test_a_name_is_known_or_comes_with_a_hint(given: list[str], hints: list[str]) -> None:
    found = strangers(given, KNOWN, ELSEWHERE, {"colour"})
    assert [f"{one['given']}: {one['hint']}" for one in found] == hints


def test_a_dry_run_is_a_variable_where_the_playbook_has_one() -> None:
    assert strangers(["dry_run"], [*KNOWN, "dry_run"], set(), set()) == []


def test_the_sentence_names_each_with_its_hint_and_the_way_out() -> None:
    hinted = {"given": "dry_run", "hint": "use --check"}
    assert sentence([hinted], KNOWN) == (
        "unknown variable dry_run (use --check); nothing was read from the cluster. For a variable of another play of "
        """this run, say so: -e '{"not_for_us": ["dry_run"]}'"""
    )
    assert "unknown variable dry_run (use --check), region;" in (
        told := sentence([hinted, {"given": "region", "hint": ""}], KNOWN)
    )
    assert "This playbook takes confirm, context, force, namespace, policy, profile, timeout." in told
    assert sentence([], KNOWN) == ""


def test_what_is_not_for_us_is_a_list_or_words_with_commas() -> None:
    assert listed(["a", "b"]) == listed("a, b") == {"a", "b"}
    assert listed(None) == set()


def looked_up(monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any], **options: Any) -> dict[str, Any]:
    monkeypatch.setattr(playbook_variables, "load_extra_vars", lambda loader: extra)
    plugin = LookupModule()
    monkeypatch.setattr(plugin, "set_options", lambda var_options, direct: None)
    monkeypatch.setattr(plugin, "get_option", lambda name: options.get(name, []))
    [found] = plugin.run(["drain"], {**extra, "policy": "Retain", "groups": {}, "stage": "of the inventory"})
    return found


def test_what_was_given_is_taken_wherever_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {"profile": "ngrok", "serial": 1, "tiemout": 3, "context": "staging"}
    found = looked_up(monkeypatch, extra, also=["serial"])
    assert found["taken"] == ["profile", "policy"], "the connection is no variable of a role"
    assert found["unknown"] == [{"given": "tiemout", "hint": "did you mean timeout?"}]
    assert "tiemout (did you mean timeout?)" in found["message"]


def test_a_name_that_the_playbook_leaves_out_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked_up(monkeypatch, {"profile": "ngrok"}, without=["policy"])["taken"] == ["profile"]


def test_a_playbook_without_a_role_says_its_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"kind": "Domain", "nmae": "web", "drain_kind": "Domain", "region": "north", "not_for_us": "region"}
    found = looked_up(monkeypatch, given, names=["kind", "name", "policy"])
    assert found["taken"] == ["kind", "policy"]
    assert found["unknown"] == [{"given": "nmae", "hint": "did you mean name?"}]


def test_a_role_that_does_not_exist_is_told() -> None:
    with pytest.raises(AnsibleLookupError, match="no role nothing"):
        short_names("nothing", [])


def test_one_role_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = LookupModule()
    monkeypatch.setattr(plugin, "set_options", lambda var_options, direct: None)
    with pytest.raises(AnsibleLookupError, match="name one role"):
        plugin.run(["drain", "maintenance"], {})


# -- the playbooks -----------------------------------------------------------------------------------------------------

FILES = [
    PLAYBOOKS / f"{name}.yml" for name in ("delete_cluster", "drain", "maintenance", "revert_network", "uninstall")
]


@pytest.mark.parametrize("file", sorted(PLAYBOOKS.glob("*.yml")), ids=lambda file: file.stem)
def test_every_play_takes_its_connection_from_variables(file: Path) -> None:
    for play in yaml.safe_load(file.read_text(encoding="utf-8")):
        assert play["module_defaults"] == {
            "group/sunset.kube.cluster": "{{ lookup('sunset.kube.connection_variables') }}"
        }


def tasks_of(file: Path) -> list[dict[str, Any]]:
    return [task for play in yaml.safe_load(file.read_text(encoding="utf-8")) for task in play["tasks"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_playbook_takes_its_variables_first_and_always(file: Path) -> None:
    taking = tasks_of(file)[0]
    assert taking["ansible.builtin.import_tasks"] == "tasks/take_variables.yml"
    assert (taking["tags"], set(taking["vars"])) == (["always"], {"take_role", "take_also", "take_without"})
    names = short_names(taking["vars"]["take_role"], [])
    assert set(taking["vars"]["take_without"]) <= set(names)
    assert not set(taking["vars"]["take_also"]) & set(names)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_playbook_can_plan_only_and_plans_only_when_asked(file: Path) -> None:
    tasks = tasks_of(file)
    roles = [task for task in tasks if "ansible.builtin.include_role" in task]
    plan, run = roles
    assert (plan["tags"], run["tags"]) == (["never", "plan"], ["run"])
    assert plan["ansible.builtin.include_role"]["apply"] == {"check_mode": True, "tags": ["plan"]}
    assert run["ansible.builtin.include_role"]["apply"] == {"tags": ["run"]}
    of_nodes = [task for task in tasks if task.get("ansible.builtin.import_tasks") == "tasks/plan_nodes.yml"]
    others = [task for task in tasks if task not in [*roles, *of_nodes]]
    assert {str(task["tags"]) for task in others} == {"['always']"}, (
        "what is left out with --tags plan is not asked for"
    )


@pytest.mark.parametrize("name", ["uninstall", "drain", "delete_cluster", "revert_network", "undo"])
def test_what_deletes_or_creates_can_be_confirmed(name: str) -> None:
    taking = tasks_of(PLAYBOOKS / f"{name}.yml")[0]["vars"]
    assert "confirm" in (taking.get("take_names") or short_names(taking["take_role"], []))
