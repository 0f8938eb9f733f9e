# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.members_info`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.ranked_results import members_result
from ..front import CONNECTION, RUN, Context, Job
from ..limits import check_run_options
from ..problems import BadFields
from ..reporting import Report
from ..teardown.members.sources import check_members
from ..teardown.members_info import show_members
from .members_option import MEMBERS
from .ranked_delete import JOB as RANKED_DELETE

ARGUMENTS = {**CONNECTION, "parallel": RUN["parallel"], "members": MEMBERS}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    bad = BadFields()
    check_members(params["members"], bad)
    check_run_options(params, bad)
    bad.raise_if_any()


def work(context: Context) -> Report:
    by_default = {name: option.get("default") for name, option in RANKED_DELETE.arguments.items()}
    hashed = RANKED_DELETE.hashed(by_default)
    shown = show_members(context.params["members"], context.cluster, context.other_cluster, context.tell, hashed)
    return Report(result=members_result(shown, context.cluster.requests()), warnings=shown.warnings)


JOB = Job(name="members_info", arguments=ARGUMENTS, check=check, work=work)
