# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.nmstate_revert`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

import secrets
from typing import Any

from ..network.intents import intent_to_revert
from ..network.node_options import COMMON, parse_wishes, state_given
from ..network.node_run import NodeRun
from ..node_front import NodeContext, NodeJob
from ..reporting import Report
from .begun_reports import report_of

ARGUMENTS = {
    **COMMON,
    "mode": {"type": "str", "choices": ["auto", "journal", "delete"], "default": "auto"},
    "desired_state": {"type": "raw"},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is looked at."""
    parse_wishes(params, secrets.token_hex(8))
    state_given(params)


def work(context: NodeContext) -> Report:
    params = context.params
    wishes = parse_wishes(params, secrets.token_hex(8))
    run = NodeRun(wishes, context.environ, context.clock, context.check_mode)
    now, contents = run.look()
    intent = intent_to_revert(params["policy"], params["mode"], state_given(params), params["force"], now, contents)
    if intent is None:
        return Report({"changed": False, "outcome": "unchanged", "policy": params["policy"], **NOTHING})
    return report_of(run.carry_out(intent))


# The keys of a result are always there.
NOTHING: dict[str, Any] = {"probes": [], "reverted": [], "kept": [], "drifted": [], "revert_state": {}, "effects": []}

JOB = NodeJob(name="nmstate_revert", arguments=ARGUMENTS, check=check, work=work)
