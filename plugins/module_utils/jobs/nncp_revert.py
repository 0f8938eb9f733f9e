# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.nncp_revert`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.nncp_results import nncp_diff, nncp_plan, nncp_result
from ..front import CONNECTION, RUN, Context, Job
from ..network.cluster.nncp_revert import revert_policy
from ..network.cluster.options import parse_nncp
from ..reporting import Report

ARGUMENTS = {
    **CONNECTION,
    **RUN,
    "policy": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["absent", "prepared"], "default": "absent"},
    "mode": {"type": "str", "choices": ["auto", "journal", "delete"], "default": "auto"},
    "force": {"type": "bool", "default": False},
    "canary": {"type": "int", "default": 1},
    "max_unavailable": {"type": "str"},
    "on_failure": {"type": "str", "choices": ["stop", "undo"], "default": "stop"},
    "unreachable": {"type": "str", "choices": ["fail", "leave"], "default": "fail"},
    "node_selector": {"type": "dict"},
    "namespace": {"type": "str"},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_nncp(params, check_mode=True)


def work(context: Context) -> Report:
    options = parse_nncp(context.params, check_mode=context.check_mode, shown=context.shown, hashed=context.hashed)
    outcome = revert_policy(options, context.cluster, context.clock, context.stop, context.tell)
    return Report(
        result=nncp_result(outcome, context.cluster.requests()),
        failure=outcome.failure,
        warnings=outcome.warnings,
        diff=nncp_diff(outcome),
        plan=nncp_plan(outcome),
    )


UNHASHED = {"policy": "it is in the plan, by its uid"}

JOB = Job(name="nncp_revert", arguments=ARGUMENTS, check=check, work=work, unhashed=UNHASHED)
