# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A change that is undone unless somebody confirms it in time: opened, looked at, renewed, confirmed, taken back.

Room: network. Three guards, whoever fires first: NetworkManager's checkpoint, a process of our own that needs nobody,
and one that is started after a reboot. The worker that carries the change out is a process of its own, too: it goes on
when the connection over which it was started is cut by the very change it makes.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..clock import Deadline, RealClock
from ..problems import BadOption, Problem, Refused
from .guard import boot, checkpoints, kernel, profiles
from .guard.deal import COMMITTED, Deal, Folder, boot_id, is_id, now
from .guard.detaching import start_detached
from .guard.endings import bring_back, finish_commit, roll_back
from .guard.files import write_text
from .guard.kernel import Scope
from .own_code import copy_guard, copy_worker

# While the change is made the worker renews this itself: a worker that died is noticed so many seconds later.
LEASE_OF_WORKER = 20.0
_STARTING = 20.0  # seconds a process of ours may take to begin
_NAP = 0.1
_KEPT = 20  # ended transactions that stay readable
_PHASES_TO_RENEW = ("probing", "ready")


class RolledBack(Problem):
    """The node is as it was before the change."""


def folder_of(journal: Path, transaction: str) -> Folder:
    return Folder(journal / "transactions" / transaction)


def find(journal: Path, transaction: str) -> Folder:
    folder = folder_of(journal, transaction)
    if not is_id(transaction) or not exists(folder):
        raise BadOption(
            "no such transaction on this node:", which=transaction, next_step="sunset.kube.nmstate_info lists them"
        )
    return folder


def exists(folder: Folder) -> bool:
    return (folder.path / "deal.json").exists()


def open_transaction(
    journal: Path,
    transaction: str,
    policy: str,
    scope: Scope,
    order: dict[str, Any],
    clock: RealClock,
    *,
    managed: bool,
) -> Folder:
    """Everything the guards need is on disk, and the watchdog runs, before anything is changed."""
    folder = folder_of(journal, transaction)
    folder.path.mkdir(mode=0o700, parents=True)
    profiles.keep(folder.profiles)
    write_text(folder.path / "order.json", json.dumps(order))
    folder.renew(LEASE_OF_WORKER)
    copy_guard(folder.path / "code")
    copy_guard(journal / "boot")
    active = profiles.active() if managed else {}
    folder.write_deal(
        Deal(transaction, policy, float(order["lease"]), boot_id(), scope, kernel.look(scope), active, managed=managed)
    )
    folder.report(phase="opened", boot_guard=boot.install(journal))
    os.sync()  # code and copies too: a power cut right after this must find them
    code, log = folder.path / "code", folder.path / "log"
    start_detached(["guard.watching", "watch", str(folder.path)], code, log)
    _wait_for(folder.is_watched, folder, "its watchdog", clock)
    start_detached([copy_worker(code), str(folder.path)], code, log)
    _wait_for(lambda: "worker" in folder.status(), folder, "the process that makes it", clock)
    return folder


def _wait_for(is_there: Callable[[], bool], folder: Folder, who: str, clock: RealClock) -> None:
    """Nothing may be changed before somebody watches."""
    deadline = Deadline(clock, _STARTING)
    while not is_there():
        if deadline.passed():
            roll_back(folder, "task")
            said = (folder.path / "log").read_text(errors="replace").strip().splitlines()[-3:]
            raise Refused(
                "cannot begin the change:",
                which=f"{who} does not start",
                why="; ".join(said) or "it says nothing",
                next_step="mend that; nothing was changed",
            )
        clock.sleep(_NAP)


def order_of(folder: Folder) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder.path / "order.json").read_text())
    return found


def pending(journal: Path) -> list[Folder]:
    """Those nobody has decided, or whose end is not finished."""
    return [folder for folder in _all(journal) if not folder.outcome()]


def _all(journal: Path) -> list[Folder]:
    folders = [Folder(path) for path in (journal / "transactions").glob("*") if is_id(path.name)]
    return sorted(filter(exists, folders), key=lambda folder: (folder.path / "deal.json").stat().st_mtime)


def refuse_second(journal: Path) -> None:
    for folder in pending(journal):
        raise Refused(
            "another change is under way on this node:",
            which=f"transaction {folder.path.name} of policy {folder.deal().policy}",
            why=f"it is undone in {max(0.0, folder.left()):.0f} s unless it is confirmed",
            next_step="wait for it, then run the task again",
        )


def renew(folder: Folder) -> None:
    """Somebody is there: the lease starts anew, but never beyond the end of the task's time-out."""
    status = folder.status()
    if status.get("phase") in _PHASES_TO_RENEW and not folder.decided() and folder.left() > 0:
        folder.renew(min(float(order_of(folder)["lease"]), float(status["ends"]) - now()))


def confirm(folder: Folder) -> None:
    """Idempotent. Too late is an error, because the node is already on its way back, or should be."""
    how = folder.decided().get("how")
    if not how:
        _refuse_early(folder)
        _roll_back_if_late(folder)
        folder.decide(COMMITTED, "confirmation")
    if folder.decided()["how"] == COMMITTED:
        if not folder.outcome():
            finish_commit(folder)
        return
    raise RolledBack(
        "too late",
        which=f"to confirm transaction {folder.path.name}",
        why=f"it was rolled back by the {folder.decided().get('by')}",
        next_step="find out what took so long, then run the task again",
    )


def _refuse_early(folder: Folder) -> None:
    phase = folder.status().get("phase")
    if phase != "ready" and folder.left() > 0:
        raise Refused(
            "cannot confirm yet:",
            which=f"transaction {folder.path.name}",
            why=f"it is {phase}, and its probes have not all held",
            next_step="ask again until it is ready",
        )


def _roll_back_if_late(folder: Folder) -> None:
    if folder.left() <= 0:
        roll_back(folder, "end of its lease")
        return
    checkpoint = folder.deal().checkpoint
    if checkpoint and checkpoint not in _checkpoints():
        # It has fired, or somebody has taken it, or NetworkManager died: what is there now is nobody's plan.
        roll_back(folder, "loss of NetworkManager's checkpoint")


def _checkpoints() -> list[str]:
    try:
        return checkpoints.listed()
    except checkpoints.NoCheckpoint:
        return []


def take_back(folder: Folder, by: str) -> None:
    """Back at once, whatever it is at. Nothing when it is over."""
    if roll_back(folder, by) or folder.outcome():
        return
    if folder.decided()["how"] == COMMITTED:
        raise Refused(
            "cannot roll back transaction",
            which=folder.path.name,
            why="it was confirmed",
            next_step="take the policy back with sunset.kube.nmstate_revert",
        )
    bring_back(folder, by)


def tidy(journal: Path) -> None:
    """Guards nobody needs any more go, and so do old transactions."""
    ended = [folder for folder in _all(journal) if folder.outcome()]
    for folder in ended:
        for name in ("code", "profiles"):
            shutil.rmtree(folder.path / name, ignore_errors=True)
        order = order_of(folder)
        if order.pop("state", None) is not None:  # it may hold passwords
            write_text(folder.path / "order.json", json.dumps(order))
    for folder in ended[:-_KEPT]:
        shutil.rmtree(folder.path, ignore_errors=True)
    if not pending(journal):
        boot.remove()
