# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base class of actions on a node's network: begin there, come back over a new connection, confirm.

Room: action (base). The node decides alone if we never come back. A lost answer is no loss: the transaction's id is
made here, so that we can always ask what came of it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..module_utils.clock import Deadline, RealClock, StopSign
from ..module_utils.network.hidden import without_secrets
from ..module_utils.network.node_follow import OVER, UNKNOWN, failure_of
from ..module_utils.network.node_options import state_given
from ..module_utils.node_front import NodeJob
from ..module_utils.problems import Problem
from ..module_utils.reporting import stop_on_signals
from ..module_utils.visible import visible

# Seconds a change and a way back may take, beyond the task's own time-out.
_CHANGE, _WAY_BACK = 180.0, 120.0
_PAUSE = 1.0
# A connection that the change has cut must be noticed soon, not when TCP gives up.
_KEEP_ALIVE = "-o ServerAliveInterval=2 -o ServerAliveCountMax=3"
_CONNECT_TIMEOUT = 5
_FOR_US = ("phase", "left", "problem", "rehearsed")
_LINES = {
    "opened": "guards are in place",
    "applying": "changing the network",
    "probing": "changed; probing",
    "ready": "probes hold; confirming over a new connection",
    "ending": "rolling back",
}


class NodeAction(ActionBase):
    """One change of a node's network."""

    JOB: NodeJob
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        base = super().run(tmp, task_vars)
        if base.get("skipped"):
            return base
        self._task_vars = task_vars
        self._stop = StopSign()
        self._clock = RealClock(self._stop)
        _checked, params = self.validate_argument_spec(argument_spec=self.JOB.arguments, **self.JOB.rules)
        arguments = self._arguments(params)
        with stop_on_signals(self._stop):
            result = self._begin_and_follow(arguments, params)
        if not self._task.diff:
            result.pop("diff", None)
        return {**base, **result}

    def _arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """As given, with an id of ours, passwords apart, and no YAML: a node may not be able to read it."""
        try:
            self.JOB.check(dict(params))
            state = state_given(dict(params))
        except Problem as problem:
            raise AnsibleActionFail(str(problem)) from problem
        arguments = {**self._task.args, "transaction": params["transaction"] or secrets.token_hex(8)}
        if state is not None:
            passwords: list[str] = []
            arguments["desired_state"] = without_secrets(state, passwords)
            arguments["desired_secrets"] = passwords
        return arguments

    def _begin_and_follow(self, arguments: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
        self._watch_the_line()
        lost: AnsibleConnectionFailure | None = None
        begun: dict[str, Any] = {}
        try:
            begun = self._execute_module(
                module_name=f"sunset.kube.{self.JOB.name}", module_args=arguments, task_vars=self._task_vars
            )
            if begun.get("outcome") != "pending":
                return begun
        except AnsibleConnectionFailure as problem:
            lost = problem  # perhaps the change itself has cut us off
        seen = self._follow(arguments["transaction"], params, lost)
        return self._result(seen, begun)

    def _result(self, seen: dict[str, Any], begun: dict[str, Any]) -> dict[str, Any]:
        result = {key: value for key, value in seen.items() if key not in _FOR_US}
        result["changed"] = seen["outcome"] == "committed"
        for key in ("warnings", "diff"):
            if begun.get(key):
                result[key] = begun[key]
        failure = failure_of(seen)
        if failure is not None:
            result |= {"failed": True, "msg": str(failure)}
        return result

    # -- over the network that is being changed ------------------------------------------------------------------------

    def _follow(
        self, transaction: str, params: Mapping[str, Any], lost: AnsibleConnectionFailure | None
    ) -> dict[str, Any]:
        deadline = Deadline(self._clock, _CHANGE + params["timeout"] + _WAY_BACK)
        told = ""
        new_connection = False
        while not deadline.passed():
            try:
                if not new_connection:
                    self._connection.reset()
                    new_connection = True
                seen = self._ask("rolled_back" if self._stop.is_set() else "watched", transaction, params)
                phase = seen.get("phase")
                if phase == UNKNOWN and lost is not None:
                    raise lost  # it never came to pass
                if phase == OVER:
                    return seen
                if phase != told:
                    self._show(_LINES.get(str(phase), str(phase)), seen)
                    told = str(phase)
                if phase == "ready":
                    self._connection.reset()
                    seen = self._ask("confirmed", transaction, params)
                    if seen.get("phase") == OVER:
                        return seen
            except AnsibleConnectionFailure as problem:
                if problem is lost:
                    raise
                if told != "gone":
                    self._show("the node does not answer; it goes back by itself unless we find it again", {})
                    told = "gone"
                new_connection = False
                self._clock.sleep(_PAUSE)
        raise AnsibleConnectionFailure(
            f"the node did not answer within {deadline.seconds:.0f} s. It brings itself back when nobody confirms "
            f"transaction {transaction}; if it stays away, look at its console and at {params['journal_dir']}"
        )

    def _ask(self, state: str, transaction: str, params: Mapping[str, Any]) -> dict[str, Any]:
        seen: dict[str, Any] = self._execute_module(
            module_name="sunset.kube.nmstate_confirm",
            module_args={"transaction": transaction, "state": state, "journal_dir": params["journal_dir"]},
            task_vars=self._task_vars,
        )
        if "phase" not in seen and state == "watched":
            # Cut off in mid-answer, or something that asking again will not mend: both end at the deadline.
            raise AnsibleConnectionFailure(str(seen.get("msg") or seen))
        return seen

    def _watch_the_line(self) -> None:
        if self._task.check_mode or self._connection.transport != "ssh":
            return
        given = self._connection.get_option("ssh_common_args") or ""
        self._connection.set_option("ssh_common_args", f"{given} {_KEEP_ALIVE}".strip())
        self._connection.set_option("timeout", _CONNECT_TIMEOUT)
        self._connection.reset()

    def _show(self, line: str, seen: Mapping[str, Any]) -> None:
        left = f" ({seen['left']:.0f} s left)" if seen.get("left") else ""
        Display().display(f"  {self.JOB.name}: {visible(line)}{left}")
