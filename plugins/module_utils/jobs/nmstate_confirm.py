# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.nmstate_confirm`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..network.journal_files import refuse_unsafe_place
from ..network.node_follow import accept, failure_of, refuse, watch
from ..network.node_options import COMMON, check_directory
from ..node_front import NodeContext, NodeJob
from ..problems import BadFields
from ..reporting import Report

ARGUMENTS: dict[str, dict[str, Any]] = {
    "transaction": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["confirmed", "rolled_back", "watched"], "default": "confirmed"},
    "journal_dir": COMMON["journal_dir"],
}
# Seconds one look may wait for news.
_PATIENCE = 3.0


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is looked at."""
    bad = BadFields()
    check_directory(params["journal_dir"], bad)
    bad.raise_if_any()


def work(context: NodeContext) -> Report:
    journal, transaction = Path(context.params["journal_dir"]), context.params["transaction"]
    refuse_unsafe_place(journal)
    if context.check_mode or context.params["state"] == "watched":
        return Report({**watch(journal, transaction, context.clock, _PATIENCE), "changed": False})
    if context.params["state"] == "rolled_back":
        found = refuse(journal, transaction, context.clock)
        return Report({**found, "changed": True})
    found = accept(journal, transaction, context.clock)
    return Report(found, failure=failure_of(found))


JOB = NodeJob(name="nmstate_confirm", arguments=ARGUMENTS, check=check, work=work)
