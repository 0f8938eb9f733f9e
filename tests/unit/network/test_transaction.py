# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A transaction from outside: confirmed once, never early, never late; and what the journal makes of its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import RealClock
from ansible_collections.sunset.kube.plugins.module_utils.network import node_follow, node_settle, transaction
from ansible_collections.sunset.kube.plugins.module_utils.network.guard import deal, endings
from ansible_collections.sunset.kube.plugins.module_utils.network.guard.deal import COMMITTED, ROLLED_BACK, Deal, Folder
from ansible_collections.sunset.kube.plugins.module_utils.network.guard.kernel import Scope, Snapshot
from ansible_collections.sunset.kube.plugins.module_utils.network.journal import Journal
from ansible_collections.sunset.kube.plugins.module_utils.network.journal_entries import Action, Entry, Stage
from ansible_collections.sunset.kube.plugins.module_utils.network.transaction import (
    RolledBack,
    confirm,
    renew,
    take_back,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused

ID = "0123456789abcdef"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way back itself is proven on real nodes."""

    def bring_back(folder: Folder, by: str) -> None:
        folder.conclude(how=ROLLED_BACK, by=by, tried=["kernel"], differences=[])

    for module in (endings, node_settle, transaction):
        monkeypatch.setattr(module, "bring_back", bring_back)
    monkeypatch.setattr(transaction.boot, "remove", lambda: None)


def opened(journal: Journal, phase: str = "ready", *, left: float = 30.0, checkpoint: str = "", **order: Any) -> Folder:
    folder = transaction.folder_of(journal.directory, ID)
    folder.path.mkdir(parents=True)
    whole = {"lease": 20.0, "rehearse": False, "told": {"policy": "web"}, "state": {"secret": 1}, **order}
    (folder.path / "order.json").write_text(json.dumps(whole))
    folder.write_deal(Deal(ID, "web", 20.0, deal.boot_id(), Scope(), Snapshot(), checkpoint=checkpoint))
    folder.renew(left)
    folder.report(phase=phase, ends=deal.now() + 60.0)
    return folder


def recorded(journal: Journal, action: Action = Action.APPLY, **more: Any) -> Entry:
    entry = Entry(ID, "web", 0, Stage.PENDING, action, "nmstatectl", {}, {}, {}, **more)
    return journal.begin(entry, lambda holder: True)


def test_confirming_twice_is_confirming_once(journal: Journal) -> None:
    folder = opened(journal)
    confirm(folder)
    confirm(folder)
    assert folder.outcome()["how"] == COMMITTED


def test_nobody_confirms_before_the_probes_have_held(journal: Journal) -> None:
    folder = opened(journal, "probing")
    with pytest.raises(Refused, match="it is probing"):
        confirm(folder)
    assert folder.decided() == {}


def test_too_late_is_an_error_and_the_node_goes_back_although_nobody_else_is_left(journal: Journal) -> None:
    folder = opened(journal, left=-1.0)
    with pytest.raises(RolledBack, match="end of its lease"):
        confirm(folder)
    assert folder.outcome()["how"] == ROLLED_BACK


def test_a_checkpoint_that_is_gone_is_not_confirmed(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(journal, checkpoint="/checkpoint/1")
    monkeypatch.setattr(transaction.checkpoints, "listed", lambda: ["/checkpoint/2"])
    with pytest.raises(RolledBack, match="loss of NetworkManager's checkpoint"):
        confirm(folder)


def test_what_was_rolled_back_cannot_be_confirmed_and_what_was_confirmed_not_rolled_back(journal: Journal) -> None:
    folder = opened(journal)
    take_back(folder, "task")
    with pytest.raises(RolledBack, match="rolled back by the task"):
        confirm(folder)
    other = Folder(folder.path.with_name("fedcba9876543210"))
    other.path.mkdir()
    for name in ("order.json", "deal.json", "lease", "status.json"):
        (other.path / name).write_bytes((folder.path / name).read_bytes())
    other.decide(COMMITTED, "confirmation")
    with pytest.raises(Refused, match="nmstate_revert"):
        take_back(other, "task")


RENEWALS = {"probing": True, "ready": True, "applying": False, "opened": False}


@pytest.mark.parametrize(("phase", "is_renewed"), RENEWALS.items())
def test_a_contact_renews_the_lease_only_once_the_change_is_made(
    journal: Journal, phase: str, is_renewed: bool
) -> None:
    folder = opened(journal, phase, left=5.0)
    renew(folder)
    assert (folder.left() > 10.0) is is_renewed


def test_a_contact_never_renews_beyond_the_end_of_the_time_out_nor_after_the_lease(journal: Journal) -> None:
    folder = opened(journal, left=2.0)
    folder.report(ends=deal.now() + 3.0)
    renew(folder)
    assert folder.left() <= 3.0
    folder.renew(-1.0)
    renew(folder)
    assert folder.left() < 0


def test_a_confirmation_is_put_down_and_secrets_are_forgotten(journal: Journal) -> None:
    recorded(journal)
    folder = opened(journal)
    told = node_follow.accept(journal.directory, ID, RealClock())
    assert (told["outcome"], told["changed"], node_follow.failure_of(told)) == ("committed", True, None)
    assert journal.entry(ID).stage is Stage.COMMITTED
    assert "state" not in json.loads((folder.path / "order.json").read_text())


def test_a_rollback_is_put_down_and_is_a_failure_with_its_reason(journal: Journal) -> None:
    recorded(journal)
    folder = opened(journal)
    folder.report(problem="ping: no answer")
    endings.roll_back(folder, "probes")
    told = node_follow.watch(journal.directory, ID, RealClock(), 0.0)
    assert journal.entry(ID).stage is Stage.ROLLED_BACK
    assert "ping: no answer" in str(node_follow.failure_of(told))
    assert "as it was before" in str(node_follow.failure_of(told))


def test_a_way_back_that_did_not_lead_all_the_way_says_what_is_left(journal: Journal) -> None:
    folder = opened(journal, rehearse=True)
    folder.decide(ROLLED_BACK, "rehearsal")
    folder.conclude(how=ROLLED_BACK, by="rehearsal", tried=["kernel"], differences=["eth1 is missing"])
    assert "not as it was: eth1 is missing" in str(node_follow.failure_of(node_follow.told(folder)))


def test_a_rehearsal_leaves_no_trace_in_the_journal_and_is_no_failure(journal: Journal) -> None:
    recorded(journal, transaction={"rehearse": True})
    folder = opened(journal, rehearse=True)
    endings.roll_back(folder, "rehearsal")
    told = node_follow.watch(journal.directory, ID, RealClock(), 0.0)
    assert (told["changed"], node_follow.failure_of(told)) == (False, None)
    assert journal.contents().entries == ()


def test_a_confirmed_reversal_takes_its_policy_out_of_force(journal: Journal) -> None:
    entry = recorded(journal)
    journal.move(entry.id, Stage.COMMITTED, "monday")
    other = Entry("fedcba9876543210", "web", 0, Stage.PENDING, Action.REVERT, "b", {}, {}, {}, of=entry.id)
    journal.begin(other, lambda holder: True)
    node_settle.put_down(journal, journal.entry(other.id), {"how": COMMITTED}, "tuesday")
    assert journal.entry(entry.id).stage is Stage.REVERTED


def test_what_never_began_and_what_a_reboot_cut_off_is_put_down_as_rolled_back(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(journal)
    node_settle.settle_journal(journal, RealClock())
    assert journal.entry(ID).stage is Stage.ROLLED_BACK
    journal.forget(ID)
    recorded(journal)
    folder = opened(journal)
    node_settle.settle_journal(journal, RealClock())
    assert journal.entry(ID).stage is Stage.PENDING
    for module in (deal, node_settle):
        monkeypatch.setattr(module, "boot_id", lambda: "another boot")
    node_settle.settle_journal(journal, RealClock())
    assert (journal.entry(ID).stage, folder.outcome()["by"]) == (
        Stage.ROLLED_BACK,
        "task that found it after a reboot",
    )


def test_one_change_at_a_time(journal: Journal) -> None:
    folder = opened(journal)
    with pytest.raises(Refused, match="another change is under way"):
        transaction.refuse_second(journal.directory)
    confirm(folder)
    transaction.refuse_second(journal.directory)


def test_a_watchdog_that_does_not_start_stops_everything_before_the_change(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(transaction, "start_detached", lambda words, code, log: started.append(words[0]) or log.touch())
    monkeypatch.setattr(transaction, "_STARTING", 0.0)
    monkeypatch.setattr(transaction.boot, "install", lambda folder: "cron")
    monkeypatch.setattr(transaction.kernel, "look", lambda scope: Snapshot())
    monkeypatch.setattr(transaction.profiles, "keep", lambda folder: None)
    with pytest.raises(Refused, match="its watchdog does not start"):
        transaction.open_transaction(journal.directory, ID, "web", Scope(), {"lease": 20.0}, RealClock(), managed=False)
    assert started == ["guard.watching"]
    assert transaction.folder_of(journal.directory, ID).decided()["how"] == ROLLED_BACK
