# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.nmstate_info`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..network.journal import Journal
from ..network.journal_files import refuse_unsafe_place
from ..network.node_info import tell_policies
from ..network.node_options import COMMON, check_directory
from ..node_front import NodeContext, NodeJob
from ..problems import BadFields
from ..reporting import Report

ARGUMENTS = {"policy": {"type": "str"}, "journal_dir": COMMON["journal_dir"]}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is looked at."""
    bad = BadFields()
    check_directory(params["journal_dir"], bad)
    bad.raise_if_any()


def work(context: NodeContext) -> Report:
    journal = Path(context.params["journal_dir"])
    refuse_unsafe_place(journal)
    found, warnings = tell_policies(Journal(journal), context.params["policy"])
    return Report({"changed": False, **found}, warnings=warnings)


JOB = NodeJob(name="nmstate_info", arguments=ARGUMENTS, check=check, work=work)
