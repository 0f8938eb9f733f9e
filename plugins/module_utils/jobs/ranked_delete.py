# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.ranked_delete`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.ranked_results import ranked_diff, ranked_plan, ranked_result, undo_bundle
from ..evidence.wait_graph import wait_graph
from ..front import CONNECTION, RUN, WAITING, Context, Job
from ..reporting import Report
from ..teardown.ranked_delete import delete_ranked, parse_ranked
from .members_option import MEMBERS

ARGUMENTS = {
    **CONNECTION,
    **RUN,
    **WAITING,
    "members": MEMBERS,
    "state": {"type": "str", "choices": ["absent", "pruned"], "default": "absent"},
    "desired": {"type": "raw"},
    "deletion_groups": {"type": "list", "elements": "dict"},
    "deletion_order_rules": {"type": "list", "elements": "dict"},
    "deletion_groups_during_update": {"type": "list", "elements": "dict"},
    "order_annotations": {"type": "list", "elements": "str", "choices": ["kapp", "argocd"]},
    "force_after": {"type": "int", "default": 30},
    "force_deny": {"type": "list", "elements": "str"},
    "force_allow": {"type": "list", "elements": "str"},
    "on_timeout": {"type": "str", "choices": ["fail", "continue"], "default": "fail"},
    "foreign_instances": {"type": "str", "choices": ["refuse", "cascade", "keep"], "default": "refuse"},
    "keep_markers": {"type": "bool", "default": True},
    "ownership": {"type": "str", "choices": ["check", "ignore"], "default": "check"},
    "missing": {"type": "str", "choices": ["warn", "fail"], "default": "warn"},
    "delete_namespace": {"type": "bool", "default": False},
    "propagation_policy": {
        "type": "str",
        "choices": ["Background", "Foreground", "Orphan"],
        "default": "Background",
    },
    "grace_period_seconds": {"type": "int"},
    "undo_vault_password": {"type": "str", "no_log": True},
    "finalize_namespaces": {"type": "bool", "default": False},
    "before_delete": {
        "type": "dict",
        "options": {"annotate": {"type": "dict"}, "patch": {"type": "dict"}, "scale": {"type": "int"}},
    },
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_ranked(params, check_mode=True)


def work(context: Context) -> Report:
    options = parse_ranked(context.params, check_mode=context.check_mode, here=context.here, hashed=context.hashed)
    outcome = delete_ranked(options, context.cluster, context.other_cluster, context.clock, context.stop, context.tell)
    return Report(
        result=ranked_result(outcome, context.cluster.requests()),
        failure=outcome.failure,
        warnings=outcome.warnings,
        diff=ranked_diff(outcome),
        plan=ranked_plan(outcome),
        undo=undo_bundle(outcome),
        graph=wait_graph(outcome.diagnosis.explained),
    )


UNHASHED = {
    "members": "what it selects is in the plan, object by object",
    "desired": "what it leaves out is in the plan, object by object",
    "missing": "it can only refuse, and only where there is nothing to delete",
}

JOB = Job(name="ranked_delete", arguments=ARGUMENTS, check=check, work=work, unhashed=UNHASHED)
