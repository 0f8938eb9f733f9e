# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.uninstall`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.earlier_plans import plan_under
from ..evidence.uninstall_results import uninstall_diff, uninstall_plan, uninstall_result, uninstall_undo
from ..evidence.wait_graph import wait_graph
from ..front import CONNECTION, RUN, WAITING, Context, Job
from ..reporting import Report
from ..shown import NOTHING_SHOWN
from ..teardown.uninstall.options import SOURCES, STAGES, parse_uninstall
from ..teardown.uninstall.uninstall import uninstall
from .drain import ARGUMENTS as DRAIN

ARGUMENTS = {
    **CONNECTION,
    **RUN,
    **WAITING,
    "release": {"type": "str"},
    "namespace": {"type": "str"},
    "source": {"type": "str", "choices": list(SOURCES), "default": "auto"},
    "manifests": {"type": "raw"},
    "profile": {"type": "raw", "default": "auto"},
    "policy": DRAIN["policy"],
    "anchor": DRAIN["anchor"],
    "instance": DRAIN["instance"],
    "quiesce": DRAIN["quiesce"],
    "settle": DRAIN["settle"],
    "freeze": DRAIN["freeze"],
    "user_authored": DRAIN["user_authored"],
    "crds": {"type": "str", "choices": ["delete", "keep"], "default": "delete"},
    "instances": {"type": "str", "choices": ["refuse", "delete", "keep"], "default": "refuse"},
    "ownership": {"type": "str", "choices": ["check", "ignore"], "default": "check"},
    "volumes": {"type": "str", "choices": ["keep", "delete"], "default": "keep"},
    "routes": {"type": "str", "choices": ["delete", "last", "keep"], "default": "delete"},
    "delete_namespace": {"type": "bool", "default": False},
    "force": {"type": "bool", "default": False},
    "force_after": {"type": "int", "default": 30},
    "force_allow": {"type": "list", "elements": "str"},
    "gitops": {"type": "str", "choices": ["fail", "ignore"], "default": "fail"},
    "missing": {"type": "str", "choices": ["ok", "fail"], "default": "ok"},
    "on_leftovers": {"type": "str", "choices": ["warn", "fail"], "default": "warn"},
    "stages": {"type": "list", "elements": "str", "choices": list(STAGES), "default": list(STAGES)},
    "undo_vault_password": {"type": "str", "no_log": True},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_uninstall(params, check_mode=True)


def work(context: Context) -> Report:
    params = context.params
    seen, no_consent = plan_under(params["plan_hash"], params["evidence_dir"]) if context.here else (NOTHING_SHOWN, "")
    shown = context.shown or seen
    options = parse_uninstall(
        params, check_mode=context.check_mode, here=context.here, shown=shown, hashed=context.hashed
    )
    outcome = uninstall(options, context.cluster, context.other_cluster, context.clock, context.stop, context.tell)
    return Report(
        result=uninstall_result(outcome, options, context.cluster.requests()),
        failure=outcome.failure,
        warnings=[*outcome.warnings, *([no_consent] if no_consent else [])],
        diff=uninstall_diff(outcome),
        plan=uninstall_plan(outcome),
        undo=uninstall_undo(outcome),
        graph=wait_graph(outcome.explained),
    )


UNHASHED = {
    **dict.fromkeys(
        ("release", "namespace", "source", "manifests"), "what it selects is in the plan, object by object"
    ),
    "on_leftovers": "whether the run fails when all is done",
    "missing": "it can only refuse, and only where there is nothing to delete",
}

JOB = Job(name="uninstall", arguments=ARGUMENTS, check=check, work=work, unhashed=UNHASHED)
