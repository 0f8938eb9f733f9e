# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.managed_cluster`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.cluster_results import fleet_diff, fleet_plan, fleet_result, fleet_undo
from ..evidence.wait_graph import wait_graph
from ..front import CONNECTION, RUN, Context, Job
from ..reporting import Report
from ..teardown.managed_cluster.fleet import remove_clusters
from ..teardown.managed_cluster.options import parse_clusters

ARGUMENTS = {
    **CONNECTION,
    **RUN,
    "name": {"type": "str"},
    "names": {"type": "list", "elements": "str"},
    "label_selector": {"type": "str"},
    "state": {"type": "str", "choices": ["absent"], "default": "absent"},
    "wait_for": {"type": "list", "elements": "str"},
    "wait_for_missing": {"type": "str", "choices": ["fail", "ignore"], "default": "fail"},
    "cleanup": {"type": "list", "elements": "str"},
    "manifestworks": {"type": "str", "choices": ["all", "addon_only", "none"], "default": "all"},
    "namespace": {"type": "str", "choices": ["auto", "keep", "delete"], "default": "auto"},
    "on_unreachable": {"type": "str", "choices": ["fail", "wait", "force"], "default": "fail"},
    "spoke_content": {"type": "str", "choices": ["delete", "orphan"], "default": "delete"},
    "freeze": {"type": "bool", "default": True},
    "spoke": {"type": "dict", "options": {"kubeconfig": {"type": "raw", "required": True}, "context": {"type": "str"}}},
    "force_after": {"type": "int", "default": 30},
    "concurrency": {"type": "int", "default": 10},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_clusters(params, check_mode=True)


def work(context: Context) -> Report:
    options = parse_clusters(context.params, check_mode=context.check_mode, shown=context.shown, hashed=context.hashed)
    spoke = context.distant_cluster(options.spoke["kubeconfig"], options.spoke["context"]) if options.spoke else None
    outcome = remove_clusters(options, context.cluster, context.clock, context.stop, context.tell, spoke)
    return Report(
        result=fleet_result(outcome, context.cluster.requests()),
        failure=outcome.failure,
        warnings=outcome.warnings,
        diff=fleet_diff(outcome),
        plan=fleet_plan(outcome),
        undo=fleet_undo(outcome),
        graph=wait_graph([told for lane in outcome.lanes for told in lane.diagnosis.explained]),
    )


UNHASHED = {
    "spoke": "the hash has that cluster's own identity, and this holds credentials",
    "concurrency": "how many clusters at once, never what is done to one",
}

JOB = Job(name="managed_cluster", arguments=ARGUMENTS, check=check, work=work, unhashed=UNHASHED)
