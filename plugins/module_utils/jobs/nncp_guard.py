# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.nncp_guard`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..front import CONNECTION, RUN, Context, Job
from ..limits import check_run_options
from ..network.cluster.guard import NAME, NncpGuardOptions, set_nncp_guard
from ..problems import BadFields
from ..reporting import Report

ARGUMENTS = {
    **CONNECTION,
    "timeout": RUN["timeout"],
    "parallel": RUN["parallel"],
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    bad = BadFields()
    check_run_options(params, bad)
    bad.raise_if_any()


def work(context: Context) -> Report:
    state = context.params["state"]
    options = NncpGuardOptions(state, float(context.params["timeout"]), context.check_mode)
    changed = set_nncp_guard(options, context.cluster, context.clock, context.tell)
    line = f"guard {NAME}\n"
    was_there = (state == "present") != changed
    diff = {"before": line if was_there else "", "after": line if state == "present" else ""}
    return Report({"changed": changed, "guard": NAME, "requests": context.cluster.requests()}, diff=diff)


JOB = Job(name="nncp_guard", arguments=ARGUMENTS, check=check, work=work)
