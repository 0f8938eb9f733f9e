# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A transaction on disk: one decision whoever comes first, a lease, files that are whole and private."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.guard import deal
from ansible_collections.sunset.kube.plugins.module_utils.network.guard.deal import (
    COMMITTED,
    ROLLED_BACK,
    Deal,
    Folder,
    is_id,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.guard.kernel import Scope, Snapshot


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_deal_survives_its_file(folder: Folder) -> None:
    made = Deal("abcdef12", "web", 20.0, "boot", Scope(("eth1",), (200,)), Snapshot(), {"eth1": "uuid"}, managed=True)
    folder.write_deal(made)
    assert folder.deal() == made


def test_files_are_for_root_alone_and_no_draft_stays(folder: Folder) -> None:
    folder.report(phase="opened")
    assert [(file.name, file.stat().st_mode & 0o777) for file in folder.path.iterdir()] == [("status.json", 0o600)]


def test_there_is_one_winner_among_many_who_decide_at_once(folder: Folder) -> None:
    won: list[str] = []
    barrier = threading.Barrier(16)

    def decide(number: int) -> None:
        barrier.wait()
        how = COMMITTED if number % 2 else ROLLED_BACK
        if folder.decide(how, str(number)):
            won.append(str(number))

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert won == [folder.decided()["by"]]
    assert [file.name for file in folder.path.iterdir()] == ["decided"]


def test_a_lease_counts_down_and_starts_anew(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deal, "now", lambda: 1000.0)
    folder.renew(20.0)
    monkeypatch.setattr(deal, "now", lambda: 1015.0)
    assert folder.left() == pytest.approx(5.0)
    folder.renew(20.0)
    assert folder.left() == pytest.approx(20.0)


def test_a_lease_is_over_after_a_reboot_and_without_its_file(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder.left() == 0.0
    folder.renew(1000.0)
    monkeypatch.setattr(deal, "boot_id", lambda: "another one")
    assert folder.left() == 0.0


@pytest.mark.parametrize("text", ["../../etc", "", "ABCDEF12", "abcdef1", "a" * 33, "abcdef12/..", "abcdef12\n"])
def test_an_id_leads_nowhere_else(text: str) -> None:
    assert not is_id(text)


def test_somebody_with_the_number_of_a_dead_watchdog_is_no_watchdog(folder: Folder) -> None:
    assert not folder.is_watched()
    folder.say_that_somebody_watches()  # by this process, which was not started with the folder
    assert not folder.is_watched()
