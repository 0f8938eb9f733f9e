# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.reconcile_begin`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from ..front import CONNECTION, RUN, Context, Job
from ..incluster.reconcile import begin
from ..reporting import Report
from .resource_option import RESOURCE, as_period, check, named_in

ARGUMENTS = {
    **CONNECTION,
    "parallel": RUN["parallel"],
    **RESOURCE,
    "home": {"type": "str"},
    "defaults": {"type": "dict", "default": {}},
}


def work(context: Context) -> Report:
    params = context.params
    begun = begin(
        named_in(params),
        params["home"] or "",
        context.cluster,
        context.clock,
        defaults=params["defaults"],
        check_mode=context.check_mode,
    )
    result = {
        "changed": False,
        "go": begun.go,
        "role": begun.role,
        "arguments": begun.arguments,
        "then": begun.then,
        "requeue_after": as_period(begun.wake_after),
        "message": begun.message,
        "others": begun.others,
        "spec_digest": begun.spec_digest,
        "generation": begun.generation,
        "requests": context.cluster.requests(),
    }
    return Report(result)


JOB = Job(name="reconcile_begin", arguments=ARGUMENTS, check=check, work=work)
