# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions of roles and playbooks on every Ansible we support, and in check mode, however that was said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import jinja2.nodes
import pytest
import yaml
from ansible.plugins.filter.core import to_bool

ROOT = Path(__file__).parents[3]
PLACES = ("roles/*/tasks/*.yml", "playbooks/**/*.yml", "operator/playbooks/**/*.yml")
FILES = sorted(file for place in PLACES for file in ROOT.glob(place))
_GREATER_OR_LESS = {"gt", "gteq", "lt", "lteq"}
_GIVE_NUMBERS = {"int", "float", "length", "count"}
_CONDITIONS = ("when", "that", "changed_when", "failed_when")


def tasks_of(file: str) -> dict[str, dict[str, Any]]:
    return {task["name"]: task for task in yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))}


def conditions_in(value: Any) -> Iterator[str]:
    """Of tasks, at any depth: expressions without braces."""
    for entry in value if isinstance(value, list) else ():
        yield from conditions_in(entry)
    for key, entry in value.items() if isinstance(value, dict) else ():
        if key in _CONDITIONS:
            yield from (str(one) for one in (entry if isinstance(entry, list) else [entry]))
        else:
            yield from conditions_in(entry)


def is_a_number(node: jinja2.nodes.Node) -> bool:
    return isinstance(node, jinja2.nodes.Const) or (
        isinstance(node, jinja2.nodes.Filter) and node.name in _GIVE_NUMBERS
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_only_numbers_are_compared_as_numbers(file: Path) -> None:
    """A fact made of a number is a word before ansible-core 2.19, and a word is not more than 0."""
    for condition in conditions_in(yaml.safe_load(file.read_text(encoding="utf-8"))):
        tree = jinja2.Environment().parse(f"{{{{ {condition} }}}}")
        for compared in tree.find_all(jinja2.nodes.Compare):
            if {operand.op for operand in compared.ops} & _GREATER_OR_LESS:
                sides = [compared.expr, *(operand.expr for operand in compared.ops)]
                assert all(map(is_a_number, sides)), condition


@pytest.mark.parametrize(("total", "asks"), [(0, False), (12, True)])
def test_the_question_comes_where_facts_are_words_as_well(total: int, asks: bool) -> None:
    tasks = tasks_of("roles/uninstall/tasks/carry_out.yml")
    words = jinja2.Environment()
    remembered = tasks["Remember the plan"]["ansible.builtin.set_fact"]["uninstall_total"]
    facts = {
        "uninstall_confirm": "prompt",
        "uninstall_routes": ["a route"],
        "uninstall_total": words.from_string(remembered).render(uninstall_result={"total": total}),
    }
    for name in ("Ask", "Put a page in front of it"):
        assert bool(words.compile_expression(tasks[name]["when"])(**facts)) is asks


@pytest.mark.parametrize(("rehearse", "told"), [("false", "not taken back"), ("true", "could be taken back")])
def test_an_answer_of_the_command_line_is_a_word_and_no_is_no(rehearse: str, told: str) -> None:
    task = tasks_of("roles/network_revert/tasks/node.yml")["Show what came of it"]["vars"]
    plain = jinja2.Environment()
    plain.filters["bool"] = to_bool
    facts = {
        "network_revert_planning": False,
        "network_revert_policy": "vlan100",
        "network_revert_rehearse": rehearse,
        "network_revert_result": {"outcome": "rolled_back", "changed": False},
        "network_revert_words": task["network_revert_words"],
    }
    assert f"vlan100: {told}" in plain.from_string(task["network_revert_told"]).render(facts)


def test_what_a_play_says_of_check_mode_is_never_taken_back() -> None:
    """`ansible_check_mode` knows --check only, so a play's check_mode: true has to reach the task."""
    for file in FILES:
        for said in check_modes_in(yaml.safe_load(file.read_text(encoding="utf-8"))):
            assert said is True or re.fullmatch(r"\{\{ true if \w+_(rehearses|plans) else omit \}\}", said), file


def check_modes_in(value: Any) -> Iterator[Any]:
    for entry in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from check_modes_in(entry)
    if isinstance(value, dict) and "check_mode" in value:
        yield value["check_mode"]
