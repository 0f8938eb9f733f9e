# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.freeze`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..front import CONNECTION, RUN, Context, Job
from ..reporting import Report
from ..teardown.freezing import parse_freeze, set_freeze

ARGUMENTS = {
    **CONNECTION,
    "timeout": RUN["timeout"],
    "parallel": RUN["parallel"],
    "name": {"type": "str"},
    "state": {"type": "str", "choices": ["present", "absent", "swept"], "default": "present"},
    "kinds": {"type": "list", "elements": "str"},
    "finalizers": {"type": "list", "elements": "str"},
    "on_kinds": {"type": "list", "elements": "str"},
    "namespaces": {"type": "list", "elements": "str"},
    "allow_users": {"type": "list", "elements": "str"},
    "expires_after": {"type": "int", "default": 3600},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    parse_freeze(params, check_mode=True)


def work(context: Context) -> Report:
    options = parse_freeze(context.params, check_mode=context.check_mode)
    outcome = set_freeze(options, context.cluster, context.clock, context.tell)
    result = {
        "changed": outcome.changed,
        "name": outcome.name,
        "ends": outcome.ends,
        "lifted": outcome.swept,
        "requests": context.cluster.requests(),
    }
    return Report(result, diff=_diff(options.state, outcome.name, outcome.swept, changed=outcome.changed))


def _diff(state: str, name: str, lifted: list[str], *, changed: bool) -> dict[str, str]:
    if state == "present":
        return {"before": "" if changed else f"freeze {name}\n", "after": f"freeze {name}\n"}
    return {"before": "".join(f"freeze {one}\n" for one in lifted), "after": ""}


JOB = Job(name="freeze", arguments=ARGUMENTS, check=check, work=work)
