# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.finalizer`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.results import finalizer_diff, finalizer_plan, finalizer_result
from ..evidence.wait_graph import wait_graph
from ..front import CONNECTION, RUN, Context, Job
from ..reporting import Report
from ..teardown.finalizer import parse_options, remove_named_finalizers

ARGUMENTS = {
    **CONNECTION,
    **RUN,
    "api_version": {"type": "str"},
    "kind": {"type": "str", "required": True},
    "name": {"type": "str"},
    "namespace": {"type": "str"},
    "label_selector": {"type": "str"},
    "finalizers": {"type": "list", "elements": "str", "required": True},
    "terminating_only": {"type": "bool", "default": True},
    "grace": {"type": "int", "default": 0},
    "owner": {"type": "str", "choices": ["gone", "any"], "default": "gone"},
    "allow_protected": {"type": "bool", "default": False},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_options(params, check_mode=True)


def work(context: Context) -> Report:
    options = parse_options(context.params, check_mode=context.check_mode, hashed=context.hashed)
    outcome = remove_named_finalizers(options, context.cluster, context.clock, context.stop, context.tell)
    return Report(
        result=finalizer_result(outcome, context.cluster.requests()),
        failure=outcome.failure,
        warnings=outcome.warnings,
        diff=finalizer_diff(outcome),
        plan=finalizer_plan(outcome),
        graph=wait_graph(outcome.diagnosis.explained),
    )


UNHASHED = dict.fromkeys(
    ("api_version", "kind", "name", "namespace", "label_selector", "finalizers"),
    "what it selects is in the plan, each object and each finalizer",
)

JOB = Job(name="finalizer", arguments=ARGUMENTS, check=check, work=work, unhashed=UNHASHED)
