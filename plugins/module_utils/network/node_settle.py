# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The journal follows the transactions: whoever decided one may have died before he could write it down.

Room: network. Private to the collection.
"""

from __future__ import annotations

import os
from typing import Any

from ..clock import RealClock
from .guard.deal import COMMITTED, Folder, boot_id
from .guard.endings import bring_back, finish_commit, roll_back
from .journal import Journal
from .journal_entries import Action, Entry, Holder, Stage
from .transaction import exists, folder_of, tidy


def settle_journal(journal: Journal, clock: RealClock) -> None:
    """Put down what came of every transaction that is over. Those under way stay."""
    if not journal.directory.is_dir():
        return
    with journal.lock(Holder(os.getpid(), boot_id()), "putting down what came of transactions"):
        for entry in journal.contents().entries:
            if entry.is_pending:
                _settle(journal, entry, folder_of(journal.directory, entry.id), clock.date())
    tidy(journal.directory)


def _settle(journal: Journal, entry: Entry, folder: Folder, at: str) -> None:
    if not exists(folder):
        journal.move(entry.id, Stage.ROLLED_BACK, at)  # its process died before it could begin
        return
    if not folder.outcome():
        _finish_what_nobody_will(folder)
    outcome = folder.outcome()
    if outcome:
        put_down(journal, entry, outcome, at)


def _finish_what_nobody_will(folder: Folder) -> None:
    """After a reboot without a boot guard nobody else is left."""
    if folder.deal().boot == boot_id():
        return
    how = folder.decided().get("how")
    if how == COMMITTED:
        finish_commit(folder)
    elif how:
        bring_back(folder, "task that found it after a reboot")
    else:
        roll_back(folder, "task that found it after a reboot")


def put_down(journal: Journal, entry: Entry, outcome: dict[str, Any], at: str) -> None:
    if entry.transaction.get("rehearse"):
        journal.forget(entry.id)
    elif outcome["how"] != COMMITTED:
        journal.move(entry.id, Stage.ROLLED_BACK, at)
    else:
        journal.move(entry.id, Stage.COMMITTED, at)
        if entry.action is Action.REVERT and entry.of:
            journal.record_reversal(entry.of, at, entry.kept)
