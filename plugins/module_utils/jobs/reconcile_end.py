# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.reconcile_end`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from ..front import CONNECTION, RUN, Context, Job
from ..incluster.reconcile import end
from ..reporting import Report
from .resource_option import RESOURCE, as_period, check, named_in

ARGUMENTS = {
    **CONNECTION,
    "parallel": RUN["parallel"],
    **RESOURCE,
    "phase": {
        "type": "str",
        "choices": ["scheduled", "planned", "standing", "returned", "completed", "blocked"],
        "required": True,
    },
    "text": {"type": "str", "default": ""},
    "generation": {"type": "int", "default": 0},
}


def work(context: Context) -> Report:
    params = context.params
    ended = end(
        named_in(params),
        params["phase"],
        params["text"],
        context.cluster,
        context.clock,
        generation=params["generation"],
        check_mode=context.check_mode,
    )
    result = {
        "changed": ended.changed,
        "requeue_after": as_period(ended.wake_after),
        "requests": context.cluster.requests(),
    }
    return Report(result)


JOB = Job(name="reconcile_end", arguments=ARGUMENTS, check=check, work=work)
