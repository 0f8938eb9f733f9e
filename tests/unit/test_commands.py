# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands to paste: whatever a cluster calls its objects, a command says that word and no more, or there is none."""

from __future__ import annotations

import ast
import itertools
import json
import re
import shlex
from pathlib import Path

import pytest
from ansible.parsing.splitter import parse_kv
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.commands import ad_hoc, command, kubectl, playbook
from ansible_collections.sunset.kube.tests.unit.hostile import NAMES

NONE = "no command is shown"
PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
# The beginning of a command that has not ended yet: no sentence, no colon and no bracket ends it.
OPEN = re.compile(r"\b(?:kubectl|ansible|ansible-playbook|helm|argocd|virtctl|flux) -?[a-z](?:(?!\. )[^;:)])*$")
# Where nothing from a cluster is put into one: the builder itself, layout of what it made, templates for it.
NOT_FROM_A_CLUSTER = {"commands.py", "blocker_tree.py", "gitops_owners.py"}
# Not only noise: what is nearly a name, an option, a template or a second command.
WORDS = st.one_of(st.sampled_from(NAMES), st.text(max_size=12), st.text("ab-=, {}%#'\"$;&|@/~!\\\n", max_size=12))


def options_of(line: str, start: str, flag: str) -> dict[str, str]:
    """As the shell and then Ansible understand it."""
    words = shlex.split(line)
    assert words[: len(start.split())] == start.split()
    found: dict[str, str] = {}
    for word, value in itertools.pairwise(words):
        if word == flag:
            assert not value.startswith("@")
            assert not any(sign in value for sign in ("{{", "{%", "{#"))
            found |= json.loads(value) if value.startswith("{") else parse_kv(value)
    return found


@given(WORDS, WORDS)
def test_a_task_to_paste_has_the_options_that_were_meant(name: str, finalizer: str) -> None:
    line = ad_hoc("finalizer", {"kind": "roles", "name": name, "finalizers": [finalizer]})
    if NONE not in line:
        found = options_of(line, "ansible localhost -m sunset.kube.finalizer", "-a")
        assert found.pop("finalizers", "") in (finalizer, [finalizer], "")
        assert found == {"kind": "roles", **({"name": name} if name else {})}


@given(WORDS)
def test_a_playbook_to_paste_has_the_variables_that_were_meant(name: str) -> None:
    line = playbook("explain", {"kind": "Role", "name": name, "namespace": ""})
    if NONE not in line:
        expected = {"kind": "Role", **({"name": name} if name else {})}
        assert options_of(line, "ansible-playbook sunset.kube.explain", "-e") == expected


@given(WORDS)
def test_kubectl_is_told_one_name_and_no_option(name: str) -> None:
    line = kubectl("delete role {name}", namespace="shop", name=name)
    if NONE not in line:
        assert shlex.split(line) == ["kubectl", "-n", "shop", "delete", "role", name]
        assert not name.startswith("-")


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_hostile_name_gets_a_sentence_that_shows_it(name: str) -> None:
    for line in (ad_hoc("finalizer", {"name": name}), playbook("explain", {"name": name}), kubectl("get {x}", x=name)):
        assert NONE in line
        assert line.isprintable()


@pytest.mark.parametrize("path", sorted(PLUGINS.rglob("*.py")), ids=lambda path: str(path.relative_to(PLUGINS)))
def test_no_command_is_put_together_by_hand(path: Path) -> None:
    """A word of the cluster in an f-string behind `kubectl …` would be neither quoted nor checked."""
    by_hand = [
        f"{path.name}:{node.lineno}: {before.value}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.JoinedStr) and path.name not in NOT_FROM_A_CLUSTER
        for before, after in itertools.pairwise(node.values)
        if isinstance(before, ast.Constant) and isinstance(after, ast.FormattedValue)
        if OPEN.search(str(before.value)) and not (isinstance(after.value, ast.Name) and after.value.id.isupper())
    ]
    assert by_hand == []


def test_usual_names_give_usual_commands() -> None:
    assert kubectl("describe {what}", namespace="shop", what="deploy/web") == "kubectl -n shop describe deploy/web"
    assert ad_hoc("finalizer", {"kind": "domains.example.com", "name": "", "finalizers": ["a.b/c"]}) == (
        "ansible localhost -m sunset.kube.finalizer -a 'kind=domains.example.com finalizers=a.b/c'"
    )
    assert playbook("explain", {"namespace": "shop"}) == "ansible-playbook sunset.kube.explain -e namespace=shop"
    assert ad_hoc("finalizer", {"name": "x owner=any"}) == (
        """ansible localhost -m sunset.kube.finalizer -a '{"name": "x owner=any"}'"""
    )
    assert command("it helps: argocd app delete {name}", name="a;b").startswith("it helps: by hand (no command")
    assert kubectl('patch pv {name} -p \'[{"op":"x"}]\'', name="v") == 'kubectl patch pv v -p \'[{"op":"x"}]\''
