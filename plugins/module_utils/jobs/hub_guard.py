# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.hub_guard`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.guard_results import guard_diff, guard_result
from ..front import CONNECTION, RUN, Context, Job
from ..limits import check_run_options
from ..problems import BadFields
from ..reporting import Report
from ..teardown.managed_cluster.guard import GuardOptions, set_guard

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
    check(context.params)
    options = GuardOptions(context.params["state"], float(context.params["timeout"]), context.check_mode)
    outcome = set_guard(options, context.cluster, context.clock, context.tell)
    return Report(guard_result(outcome, context.cluster.requests()), diff=guard_diff(outcome))


JOB = Job(name="hub_guard", arguments=ARGUMENTS, check=check, work=work)
