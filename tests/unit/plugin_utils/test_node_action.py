# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action on a node's network: begins, loses the node, finds it again over a new connection, confirms."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from ansible_collections.sunset.kube.plugins.module_utils.jobs.nmstate_apply import JOB as APPLY
from ansible_collections.sunset.kube.plugins.plugin_utils import node_action
from ansible_collections.sunset.kube.plugins.plugin_utils.node_action import NodeAction

GONE = AnsibleConnectionFailure("no route")
PENDING = {"outcome": "pending", "changed": True, "diff": {"before": "a", "after": "b"}, "warnings": ["careful"]}
STATE = {"interfaces": [{"name": "eth1", "type": "ethernet", "802.1x": {"password": "s3cret"}}]}


def seen(phase: str, outcome: str = "pending", **more: Any) -> dict[str, Any]:
    found = {"phase": phase, "outcome": outcome, "left": 20.0, "problem": "", "rehearsed": False}
    return {**found, "differences": [], "ended_by": "confirmation", "tried": [], **more}


class Line:
    """A connection that counts how often it was made anew."""

    transport = "ssh"

    def __init__(self) -> None:
        self.options: dict[str, Any] = {"ssh_common_args": "-o X=1"}
        self.resets = 0

    def get_option(self, name: str) -> Any:
        return self.options[name]

    def set_option(self, name: str, value: Any) -> None:
        self.options[name] = value

    def reset(self) -> None:
        self.resets += 1


class Now(node_action.RealClock):
    def sleep(self, seconds: float) -> None:
        """Nobody waits here."""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[dict[str, Any], list[dict[str, Any]], Line]]:
    """Answers of the node, one a call; an exception is raised."""
    monkeypatch.setattr(ActionBase, "run", lambda self, tmp=None, task_vars=None: {})
    monkeypatch.setattr(node_action, "RealClock", Now)
    monkeypatch.setattr(node_action, "Display", lambda: SimpleNamespace(display=lambda text: None))

    def go(*answers: Any, check: bool = False, **args: Any) -> tuple[dict[str, Any], list[dict[str, Any]], Line]:
        left, calls, line = list(answers), [], Line()

        class Apply(NodeAction):
            JOB = APPLY

            def _execute_module(self, module_name: str = "", module_args: Any = None, **other: Any) -> Any:
                calls.append({"module": module_name.rpartition(".")[2], **module_args})
                answer = left.pop(0)
                if isinstance(answer, Exception):
                    raise AnsibleConnectionFailure(str(answer))  # another one each time, as in life
                return answer

        made = Apply.__new__(Apply)
        made._task = SimpleNamespace(
            args={"policy": "web", "desired_state": STATE, **args}, diff=True, check_mode=check, action="x",
            async_val=0, collections=[], environment=None,
        )  # fmt: skip
        made._connection = line
        return made.run(), calls, line

    return go


def test_a_change_is_confirmed_over_a_connection_made_after_its_probes_held(run: Any) -> None:
    result, calls, line = run(PENDING, seen("probing"), seen("ready"), seen("over", "committed"))
    assert [call.get("state") for call in calls] == [None, "watched", "watched", "confirmed"]
    assert (result["outcome"], result["changed"], result["warnings"]) == ("committed", True, ["careful"])
    assert result["diff"] == PENDING["diff"]
    assert line.resets == 3  # before the change, after it, and before the confirmation
    assert "ServerAliveInterval" in line.options["ssh_common_args"]
    assert line.options["ssh_common_args"].startswith("-o X=1")


def test_the_id_is_ours_so_a_lost_answer_is_no_loss(run: Any) -> None:
    result, calls, _line = run(GONE, GONE, seen("ready"), GONE, seen("over", "committed"))
    assert result["outcome"] == "committed"
    assert len({call["transaction"] for call in calls}) == 1


def test_a_node_that_went_back_is_a_failed_task_and_not_an_unreachable_host(run: Any) -> None:
    result, _calls, _line = run(PENDING, GONE, GONE, seen("over", "rolled_back", ended_by="watchdog"))
    assert (result["failed"], result["changed"], result["outcome"]) == (True, False, "rolled_back")
    assert "nobody confirmed it in time" in result["msg"]


def test_a_host_that_was_never_reached_stays_unreachable(run: Any) -> None:
    with pytest.raises(AnsibleConnectionFailure, match="no route"):
        run(GONE, {"phase": "unknown", "transaction": "x"})


def test_what_needs_no_change_is_over_at_once(run: Any) -> None:
    result, calls, _line = run({"outcome": "unchanged", "changed": False})
    assert (result, len(calls)) == ({"outcome": "unchanged", "changed": False}, 1)


def test_a_refusal_is_handed_back_as_it_is(run: Any) -> None:
    result, _calls, _line = run({"failed": True, "msg": "this could cut the node off"})
    assert result["msg"] == "this could cut the node off"


def test_passwords_travel_apart(run: Any) -> None:
    _result, calls, _line = run({"outcome": "unchanged"})
    assert calls[0]["desired_secrets"] == ["s3cret"]
    assert "s3cret" not in str(calls[0]["desired_state"])


def test_check_mode_leaves_the_connection_alone(run: Any) -> None:
    _result, _calls, line = run({"outcome": "unchanged"}, check=True)
    assert (line.resets, line.options) == (0, {"ssh_common_args": "-o X=1"})


def test_a_bad_option_is_told_before_anything_is_sent(run: Any) -> None:
    with pytest.raises(AnsibleActionFail, match="settle: must be shorter than timeout"):
        run(settle=200)
