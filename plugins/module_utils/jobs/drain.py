# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.drain`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.drain_results import drafts_result, drain_diff, drain_plan, drain_result, drain_undo
from ..evidence.wait_graph import wait_graph
from ..front import CONNECTION, RUN, WAITING, Context, Job
from ..reporting import Report
from ..teardown.drain.draft import draft_profiles
from ..teardown.drain.drain import drain
from ..teardown.drain.options import parse_drain

ARGUMENTS = {
    **CONNECTION,
    **RUN,
    **WAITING,
    "profile": {"type": "raw", "required": True},
    "policy": {"type": "str", "choices": ["Retain", "Delete"]},
    "anchor": {
        "type": "dict",
        "options": {
            "api_version": {"type": "str"},
            "kind": {"type": "str"},
            "name": {"type": "str"},
            "namespace": {"type": "str"},
        },
    },
    "remove_anchor": {"type": "bool", "default": True},
    "instance": {
        "type": "dict",
        "options": {
            "namespaces": {"type": "list", "elements": "str"},
            "ingress_classes": {"type": "list", "elements": "str"},
            "ingress_controllers": {"type": "list", "elements": "str"},
            "gateway_controllers": {"type": "list", "elements": "str"},
            "controller_name": {"type": "str"},
            "controller_namespace": {"type": "str"},
        },
    },
    "quiesce": {"type": "str", "choices": ["auto", "none", "scale"], "default": "auto"},
    "settle": {"type": "int", "default": 3},
    "freeze": {"type": "bool", "default": False},
    "user_authored": {"type": "str", "choices": ["report", "drain"], "default": "report"},
    "only_with_finalizer": {"type": "bool", "default": True},
    "force": {"type": "bool", "default": False},
    "force_after": {"type": "int", "default": 30},
    "force_deny": {"type": "list", "elements": "str"},
    "force_allow": {"type": "list", "elements": "str"},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_drain(params, check_mode=True)


def work(context: Context) -> Report:
    options = parse_drain(context.params, check_mode=context.check_mode, shown=context.shown, hashed=context.hashed)
    if options.profile is None:
        return Report(drafts_result(draft_profiles(context.cluster, context.tell), context.cluster.requests()))
    outcome = drain(options, options.profile, context.cluster, context.clock, context.stop, context.tell)
    return Report(
        result=drain_result(outcome, options, context.cluster.requests()),
        failure=outcome.failure,
        warnings=outcome.warnings,
        diff=drain_diff(outcome),
        plan=drain_plan(outcome),
        undo=drain_undo(outcome),
        graph=wait_graph(outcome.diagnosis.explained),
    )


JOB = Job(name="drain", arguments=ARGUMENTS, check=check, work=work)
