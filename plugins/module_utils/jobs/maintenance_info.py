# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.maintenance_info`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.maintenance_results import maintenance_result
from ..front import CONNECTION, RUN, Context, Job
from ..maintenance.info import tell_maintenance
from ..maintenance.options import parse_info
from ..reporting import Report
from .targets_option import MAINTENANCE_OPERATOR, ROUTE_KINDS, TARGETS

ARGUMENTS = {
    **CONNECTION,
    "timeout": RUN["timeout"],
    "parallel": RUN["parallel"],
    "targets": TARGETS,
    "coverage": {"type": "bool", "default": True},
    "route_kinds": ROUTE_KINDS,
    "maintenance_operator": MAINTENANCE_OPERATOR,
}
_KEYS = (
    "changed",
    "targets",
    "page_sets",
    "coverage",
    "unseen",
    "maintenance_operator",
    "counts",
    "truncated",
    "requests",
)


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_info(params)


def work(context: Context) -> Report:
    options = parse_info(context.params)
    outcome = tell_maintenance(options, context.cluster, context.clock, context.stop, context.tell)
    result = maintenance_result(outcome, context.cluster.requests())
    return Report({key: result[key] for key in _KEYS}, warnings=outcome.warnings)


JOB = Job(name="maintenance_info", arguments=ARGUMENTS, check=check, work=work)
