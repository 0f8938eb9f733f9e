# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.blockers_info`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.blocker_results import blockers_result
from ..evidence.blocker_tree import Where
from ..evidence.wait_graph import wait_graph
from ..front import CONNECTION, RUN, Context, Job, names_a_cluster
from ..limits import check_run_options
from ..problems import BadFields
from ..reporting import Report
from ..teardown.blockers.blockers import explain_blockers
from ..teardown.blockers.target import parse_target
from .members_option import MEMBERS

ARGUMENTS = {
    **CONNECTION,
    "parallel": RUN["parallel"],
    "evidence_dir": RUN["evidence_dir"],
    "api_version": {"type": "str"},
    "kind": {"type": "str"},
    "name": {"type": "str"},
    "namespace": {"type": "str"},
    "label_selector": {"type": "str"},
    "dry_run": {"type": "bool", "default": True},
    "members": {key: value for key, value in MEMBERS.items() if key != "required"},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_target(params)
    bad = BadFields()
    check_run_options(params, bad)
    bad.raise_if_any()


def work(context: Context) -> Report:
    told = explain_blockers(parse_target(context.params), context.cluster, context.other_cluster, context.tell)
    where = Where(str(context.cluster.endpoint), names_a_cluster(context.params))
    return Report(result=blockers_result(told, context.cluster.requests(), where), graph=wait_graph([told]))


JOB = Job(name="blockers_info", arguments=ARGUMENTS, check=check, work=work, plans=False)
