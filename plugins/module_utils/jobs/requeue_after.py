# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.requeue_after`: it only hands on what it was given.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

import re
from typing import Any

from ..node_front import NodeContext, NodeJob
from ..problems import BadOption
from ..reporting import Report

ARGUMENTS: dict[str, dict[str, Any]] = {"period": {"type": "str", "required": True}}


def check(params: dict[str, Any]) -> None:
    """ansible-operator breaks off where it cannot read the duration."""
    if not re.fullmatch(r"([0-9]+(\.[0-9]+)?(ms|h|m|s))+", params["period"]):
        raise BadOption(
            "bad options", why=f"period: {params['period']!r} is no duration", next_step="write 30s or 1h30m"
        )


def work(context: NodeContext) -> Report:
    return Report({"changed": False, "period": context.params["period"]})


JOB = NodeJob(name="requeue_after", arguments=ARGUMENTS, check=check, work=work)
