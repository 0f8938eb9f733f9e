# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.maintenance`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.maintenance_results import maintenance_diff, maintenance_plan, maintenance_result
from ..front import CONNECTION, RUN, Context, Job
from ..maintenance.maintenance import set_maintenance
from ..maintenance.options import parse_maintenance
from ..reporting import Report
from .targets_option import MAINTENANCE_OPERATOR, ROUTE_KINDS, TARGETS

ARGUMENTS = {
    **CONNECTION,
    **RUN,
    "state": {"type": "str", "choices": ["enabled", "disabled", "swept"], "default": "enabled"},
    "targets": TARGETS,
    "page": {
        "type": "dict",
        "options": {
            "html": {"type": "str"},
            "html_file": {"type": "path"},
            "json": {"type": "raw"},
            "xml": {"type": "str"},
            "text": {"type": "str"},
            "config_map": {"type": "raw"},
            "name": {"type": "str"},
            "title": {"type": "str"},
            "details": {"type": "str"},
            "contact": {"type": "str"},
            "product": {"type": "str"},
            "language": {"type": "str"},
            "words": {"type": "dict"},
            "refresh": {"type": "int"},
        },
    },
    "status_code": {"type": "int", "default": 503},
    "retry_after": {"type": "int"},
    "retry_spread": {"type": "int", "default": 0},
    "robots": {"type": "str"},
    "headers": {"type": "dict"},
    "workload": {
        "type": "dict",
        "options": {
            "kind": {"type": "str", "choices": ["deployment", "pod"], "default": "deployment"},
            "replicas": {"type": "int", "default": 2},
            "image": {"type": "str"},
            "pull_secrets": {"type": "list", "elements": "str", "no_log": False},
            "resources": {"type": "dict"},
            "run_as_user": {"type": "int"},
            "node_selector": {"type": "dict"},
            "tolerations": {"type": "list", "elements": "dict"},
            "service_type": {"type": "str", "choices": ["ClusterIP", "NodePort"], "default": "ClusterIP"},
            "autoscaling": {
                "type": "dict",
                "options": {
                    "min": {"type": "int", "default": 2},
                    "max": {"type": "int", "default": 6},
                    "cpu": {"type": "int", "default": 80},
                },
            },
        },
    },
    "exempt_paths": {"type": "list", "elements": "str"},
    "bypass": {
        "type": "dict",
        "no_log": True,
        "options": {
            "headers": {"type": "dict"},
            "cookies": {"type": "dict"},
            "cidrs": {"type": "list", "elements": "str"},
        },
    },
    "strategy": {"type": "str", "choices": ["swap", "overlay", "auto"], "default": "swap"},
    "gitops": {"type": "str", "choices": ["fail", "pause", "ignore"], "default": "fail"},
    "window": {
        "type": "dict",
        "options": {
            "end": {"type": "str"},
            "for": {"type": "str"},
            "job": {
                "type": "dict",
                "options": {
                    "image": {"type": "str", "required": True},
                    "service_account": {"type": "str", "required": True},
                },
            },
        },
    },
    "reopen": {"type": "dict", "options": {"endpoints": {"type": "bool", "default": True}}},
    "verify": {
        "type": "dict",
        "options": {
            "url": {"type": "str", "required": True},
            "timeout": {"type": "int", "default": 30},
            "validate_certs": {"type": "bool", "default": True},
        },
    },
    "linger": {"type": "int", "default": 5},
    "sweep_after": {"type": "int", "default": 600},
    "reason": {"type": "str"},
    "holder": {"type": "str"},
    "coverage": {"type": "bool", "default": True},
    "route_kinds": ROUTE_KINDS,
    "takeover": {"type": "bool", "default": False},
    "maintenance_operator": MAINTENANCE_OPERATOR,
    "backup_key_secret": {"type": "str", "no_log": False},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_maintenance(params, check_mode=True)


def work(context: Context) -> Report:
    options = parse_maintenance(context.params, check_mode=context.check_mode, hashed=context.hashed)
    outcome = set_maintenance(options, context.cluster, context.clock, context.stop, context.tell, context.ask_web)
    return Report(
        result=maintenance_result(outcome, context.cluster.requests()),
        failure=outcome.failure,
        warnings=outcome.warnings,
        diff=maintenance_diff(outcome),
        plan=maintenance_plan(outcome),
    )


UNHASHED = {
    "targets": "what it selects is in the plan, route by route",
    "coverage": "what is reported of other routes, never what is done",
    "verify": "what is asked when all is done",
}

JOB = Job(name="maintenance", arguments=ARGUMENTS, check=check, work=work, unhashed=UNHASHED)
