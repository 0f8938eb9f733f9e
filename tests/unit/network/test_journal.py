# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The journal: whole files, private ones, one transaction at a time, and nothing skipped in silence."""

from __future__ import annotations

import json
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.guard import boot
from ansible_collections.sunset.kube.plugins.module_utils.network.guard.files import PARTIAL
from ansible_collections.sunset.kube.plugins.module_utils.network.journal import Journal
from ansible_collections.sunset.kube.plugins.module_utils.network.journal_entries import (
    Action,
    Entry,
    Holder,
    Stage,
    entry_of,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.journal_files import refuse_unsafe_place
from ansible_collections.sunset.kube.plugins.module_utils.network.node_options import check_directory
from ansible_collections.sunset.kube.plugins.module_utils.problems import (
    BadFields,
    BadOption,
    CannotLook,
    Problem,
    Refused,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

HOLDER = Holder(4711, "0f3c", "123456")
PRE = {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500}]}
DESIRED = {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1400}]}


def entry(identifier: str, policy: str = "web", **more: Any) -> Entry:
    known: dict[str, Any] = {
        "generation": 0, "stage": Stage.PENDING, "action": Action.APPLY, "backend": "nmstatectl",
        "pre": PRE, "desired": DESIRED, "revert": PRE, "holder": HOLDER, "times": {"created": "monday"},
    }  # fmt: skip
    return Entry(identifier, policy, **{**known, **more})


def begun(journal: Journal, identifier: str, policy: str = "web", **more: Any) -> Entry:
    return journal.begin(entry(identifier, policy, **more), lambda _holder: False)


def committed(journal: Journal, identifier: str, policy: str = "web", **more: Any) -> Entry:
    begun(journal, identifier, policy, **more)
    return journal.move(identifier, Stage.COMMITTED, "tuesday")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def test_what_was_put_down_is_read_again(journal: Journal) -> None:
    baseline = ({"type": "ping", "target": "192.0.2.1"},)
    written = begun(journal, "web-1", baseline=baseline, transaction={"checkpoint": "/one"})
    assert journal.entry("web-1") == written
    assert journal.contents().entries == (written,)
    assert (written.generation, written.stage, written.baseline) == (1, Stage.PENDING, baseline)


def test_directory_and_files_are_for_their_owner_only(journal: Journal) -> None:
    before = os.umask(0)
    try:
        begun(journal, "web-1")
        with journal.lock(HOLDER, "applying"):
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in journal.directory.iterdir()}
    finally:
        os.umask(before)
    assert stat.S_IMODE(journal.directory.stat().st_mode) == 0o700
    assert modes == {"web-1.json": 0o600, "lock": 0o600, "writing": 0o600}


@pytest.fixture
def own_place() -> Iterator[Path]:
    """Where no other user can write to anything above."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    try:
        refuse_unsafe_place(home)
    except Refused as problem:
        pytest.skip(str(problem))
    with tempfile.TemporaryDirectory(dir=home, prefix="sunset-kube-test-") as made:
        yield Path(made)


def test_a_place_that_other_users_can_change_is_refused(own_place: Path, tmp_path: Path) -> None:
    refuse_unsafe_place(Path("/var/lib/sunset-kube/network"))
    refuse_unsafe_place(own_place / "not" / "there" / "yet")
    with pytest.raises(Refused, match=r"other users can write to /tmp \(mode 1777\), and after a reboot root runs"):
        refuse_unsafe_place(Path("/tmp/journal"))

    shared = own_place / "shared"
    (shared / "journal").mkdir(parents=True)
    (own_place / "link").symlink_to(shared)
    for place in (shared, own_place / "link"):
        refuse_unsafe_place(place / "journal")
    shared.chmod(0o775)
    for place in (shared, own_place / "link"):
        with pytest.raises(Refused, match=f"other users can write to {shared}"):
            refuse_unsafe_place(place / "journal")
    shared.chmod(0o755)
    (shared / "journal").chmod(0o777)
    with pytest.raises(Refused, match="journal \\(mode 0777\\)"):
        refuse_unsafe_place(shared / "journal")
    if os.geteuid() == 0:
        (shared / "journal").chmod(0o700)
        os.chown(shared, 4711, 0)
        with pytest.raises(Refused, match=f"{shared} belongs to user 4711"):
            refuse_unsafe_place(shared / "journal")


@pytest.mark.parametrize(
    "given", ["journal", "/var/lib/a b", "/var/lib/100%", "/var/lib/a\nb", "/var/lib/'x'", "/a/../b"]
)
def test_a_path_that_systemd_or_cron_would_read_in_another_way_is_refused(given: str) -> None:
    bad = BadFields()
    check_directory(given, bad)
    with pytest.raises(BadOption, match="journal_dir: m"):
        bad.raise_if_any()
    fine = BadFields()
    check_directory("/var/lib/sunset-kube/network", fine)
    fine.raise_if_any()


def test_a_percent_sign_in_the_path_of_python_is_itself_to_systemd_and_cron(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot.sys, "executable", "/opt/100%/python")
    for name in ("_UNIT", "_WANTS", "_CRON"):
        monkeypatch.setattr(boot, name, tmp_path / name)
    monkeypatch.setattr(boot.subprocess, "run", lambda *_command, **_how: None)
    monkeypatch.setattr(boot, "_SYSTEMD", tmp_path)
    assert boot.install(Path("/var/lib/j")) == "systemd"
    assert "ExecStart=/opt/100%%/python -m guard.watching boot" in (tmp_path / "_UNIT").read_text()
    monkeypatch.setattr(boot, "_SYSTEMD", tmp_path / "none")
    assert boot.install(Path("/var/lib/j")) == "cron"
    assert r"/opt/100\%/python -m guard.watching" in (tmp_path / "_CRON").read_text()


def test_a_directory_that_was_open_is_closed(journal: Journal) -> None:
    journal.directory.mkdir(mode=0o755)
    begun(journal, "web-1")
    assert stat.S_IMODE(journal.directory.stat().st_mode) == 0o700


def test_a_link_instead_of_the_directory_is_refused(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    journal.directory.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="it is not a directory"):
        begun(journal, "web-1")


def test_a_directory_of_somebody_else_is_refused(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.directory.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(Refused, match=f"it belongs to user {os.getuid()}"):
        begun(journal, "web-1")


def test_a_file_is_on_disk_before_it_has_its_name_and_the_name_before_we_go_on(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def watched_fsync(descriptor: int) -> None:
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("directory" if is_directory else "file")
        fsync(descriptor)

    def watched_replace(self: Path, target: Path) -> Path:
        done.append("name")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(Path, "replace", watched_replace)
    begun(journal, "web-1")
    assert done == ["file", "name", "directory"]


def test_a_write_that_fails_leaves_the_older_entry_and_no_rubbish(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(journal, "web-1")
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", _disk_is_full)
        with pytest.raises(OSError, match="disk is full"):
            journal.move("web-1", Stage.COMMITTED, "tuesday")
    assert journal.entry("web-1").stage is Stage.PENDING
    assert sorted(path.name for path in journal.directory.iterdir()) == ["web-1.json", "writing"]


def _disk_is_full(_descriptor: int) -> None:
    raise OSError("disk is full")


def test_what_a_crash_left_half_written_is_no_entry_and_in_nobodys_way(journal: Journal) -> None:
    begun(journal, "web-1")
    (journal.directory / f"{PARTIAL}web-1.json").write_text('{"schema": 1, "id"')
    assert [one.id for one in journal.contents().entries] == ["web-1"]
    assert journal.contents().unreadable == ()
    assert journal.move("web-1", Stage.COMMITTED, "tuesday").stage is Stage.COMMITTED


UNREADABLE: dict[str, tuple[str, str]] = {
    "cut off": ('{"schema": 1, "id": "web-1"', "Expecting ',' delimiter"),
    "a list": ("[]", "it is no JSON object"),
    "of a later version": ('{"schema": 2}', "its schema is 2, this version reads 1"),
    "without its state": ('{"schema": 1, "id": "web-1"}', "it has no action, backend, desired, generation, policy"),
    "empty": ("", "Expecting value"),
}


@pytest.mark.parametrize(("text", "why"), named(UNREADABLE))
def test_a_file_that_cannot_be_read_is_named_and_stops_the_next_transaction(
    journal: Journal, text: str, why: str
) -> None:
    committed(journal, "other-1", "other")
    (journal.directory / "web-1.json").write_text(text)
    contents = journal.contents()
    assert [one.id for one in contents.entries] == ["other-1"]
    assert [Path(one.path).name for one in contents.unreadable] == ["web-1.json"]
    assert why in str(contents.unreadable[0])
    with pytest.raises(CannotLook, match=r"web-1\.json"):
        begun(journal, "web-2")
    with pytest.raises(CannotLook, match="cannot read journal entry web-1"):
        journal.entry("web-1")


def test_bytes_links_and_foreign_names_are_named_too(journal: Journal, tmp_path: Path) -> None:
    begun(journal, "web-1")
    (journal.directory / "bytes.json").write_bytes(b"\xff\xfe")
    (tmp_path / "outside.json").write_text((journal.directory / "web-1.json").read_text())
    (journal.directory / "link.json").symlink_to(tmp_path / "outside.json")
    (journal.directory / "copy.json").write_text((journal.directory / "web-1.json").read_text())
    said = {Path(one.path).name: one.why for one in journal.contents().unreadable}
    assert sorted(said) == ["bytes.json", "copy.json", "link.json"]
    assert said["copy.json"] == "it holds the entry web-1, which is another file's"


WRONG_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "a stage nobody knows": ({"stage": "half"}, "'half' is not a valid Stage"),
    "a holder without a boot": ({"holder": {"pid": 1}}, "boot_id"),
    "a state that is text": ({"pre": "interfaces: []"}, "wrong type of pre"),
    "a generation in words": ({"generation": "first"}, "wrong type of generation"),
    "an id that is a number": ({"id": 7}, "wrong type of id"),
}


@pytest.mark.parametrize(("change", "why"), named(WRONG_FIELDS))
def test_an_entry_with_a_wrong_field_is_no_entry(change: dict[str, Any], why: str) -> None:
    good = json.loads(json.dumps(entry("web-1").as_dict()))
    assert entry_of(good) == entry("web-1")
    with pytest.raises(ValueError, match=why):
        entry_of({**good, **change})


BAD_NAMES = {
    "up": "../web", "absolute": "/etc/passwd", "hidden": ".web", "dots": "web..1", "slash": "a/b", "empty": "",
    "capital": "Web", "space": "web 1", "line": "web\n", "long": "a" * 254, "dash first": "-rf", "null": "a\0b",
}  # fmt: skip


@pytest.mark.parametrize("name", named(BAD_NAMES))
def test_ids_and_names_never_lead_out_of_the_journal(journal: Journal, name: str) -> None:
    for attempt in (
        lambda: begun(journal, name),
        lambda: begun(journal, "web-1", name),
        lambda: journal.entry(name),
        lambda: journal.move(name, Stage.COMMITTED, "tuesday"),
        lambda: journal.record_reversal(name, "tuesday"),
        lambda: journal.forget(name),
    ):
        with pytest.raises(BadOption, match="use small letters, digits, dots and dashes"):
            attempt()
    assert journal.contents().entries == ()


def test_an_unknown_id_is_not_made_up(journal: Journal) -> None:
    with pytest.raises(CannotLook, match="there is no such file"):
        journal.move("web-9", Stage.COMMITTED, "tuesday")


def test_one_transaction_at_a_time(journal: Journal) -> None:
    begun(journal, "web-1")
    with pytest.raises(Refused) as dead:
        begun(journal, "db-1", "db")
    assert "transaction web-1 of policy web is pending. Next: finish it first: roll web-1 back" in str(dead.value)
    with pytest.raises(Refused) as alive:
        journal.begin(entry("db-1", "db"), lambda holder: holder == HOLDER)
    assert "is pending (process 4711). Next: wait for it" in str(alive.value)
    journal.move("web-1", Stage.ROLLED_BACK, "tuesday")
    assert begun(journal, "db-1", "db").is_pending


def test_an_id_is_used_once(journal: Journal) -> None:
    committed(journal, "web-1")
    with pytest.raises(Refused, match="there is an entry of this id already"):
        begun(journal, "web-1")


def test_a_snapshot_without_its_passwords_is_refused(journal: Journal) -> None:
    hidden = {"interfaces": [{"name": "eth1", "802.1x": {"password": "<_password_hid_by_nmstate>"}}]}
    with pytest.raises(Refused, match=r"pre\.interfaces\[0\]\.802\.1x\.password"):
        begun(journal, "web-1", pre=hidden)
    assert journal.contents().entries == ()


def test_confirming_twice_is_confirming_once(journal: Journal) -> None:
    first = committed(journal, "web-1")
    assert journal.move("web-1", Stage.COMMITTED, "friday") == first
    assert first.times == {"created": "monday", "committed": "tuesday"}


LATE: dict[str, tuple[Stage, Stage, str]] = {
    "confirmed after the rollback": (Stage.ROLLED_BACK, Stage.COMMITTED, "it is rolled_back, and from there it cannot"),
    "rolled back after the confirmation": (Stage.COMMITTED, Stage.ROLLED_BACK, "Next: revert the policy"),
    "reverted without ever being there": (Stage.ROLLED_BACK, Stage.REVERTED, "apply the policy again"),
}


@pytest.mark.parametrize(("first", "then", "message"), named(LATE))
def test_whoever_came_first_has_decided(journal: Journal, first: Stage, then: Stage, message: str) -> None:
    begun(journal, "web-1")
    journal.move("web-1", first, "tuesday")
    with pytest.raises(Refused) as caught:
        journal.move("web-1", then, "wednesday")
    assert message in str(caught.value)
    assert journal.entry("web-1").stage is first


def test_generations_live_policies_and_claims(journal: Journal) -> None:
    committed(journal, "web-1")
    committed(journal, "web-2", desired={"hostname": {"config": "two"}})
    begun(journal, "web-3")
    journal.move("web-3", Stage.ROLLED_BACK, "tuesday")
    committed(journal, "db-1", "db")
    committed(journal, "web-4", action=Action.REVERT, of="web-2")
    contents = journal.contents()
    assert [(one.id, one.generation) for one in contents.chain("web")] == [("web-1", 1), ("web-2", 2), ("web-3", 3)]
    assert {policy: one.id for policy, one in contents.live().items()} == {"web": "web-2", "db": "db-1"}
    assert contents.claims() == {"web": {"hostname": {"config": "two"}}, "db": DESIRED}
    assert contents.claims(besides="web") == {"db": DESIRED}
    assert contents.pending() is None


def test_a_reversal_is_recorded_once_and_the_policy_claims_nothing_any_more(journal: Journal) -> None:
    committed(journal, "web-1")
    reverted = journal.record_reversal("web-1", "friday")
    assert (reverted.stage, reverted.times["reverted"]) == (Stage.REVERTED, "friday")
    assert journal.record_reversal("web-1", "saturday") == reverted
    assert journal.contents().claims() == {}


def test_with_its_last_generation_the_whole_policy_is_taken_back(journal: Journal) -> None:
    committed(journal, "web-1")
    committed(journal, "web-2")
    journal.record_reversal("web-2", "friday")
    assert journal.contents().live() == {}
    committed(journal, "web-3")
    assert journal.contents().live()["web"].id == "web-3"


def test_a_policy_of_which_something_was_kept_stays_live_and_can_go_later(journal: Journal) -> None:
    committed(journal, "web-1")
    kept = ({"what": "eth1 mtu 1400", "owner": "db"},)
    assert journal.record_reversal("web-1", "friday", kept).kept == kept
    assert list(journal.contents().live()) == ["web"]
    assert journal.record_reversal("web-1", "saturday").kept == ()
    assert journal.contents().live() == {}


def test_what_was_never_confirmed_cannot_be_recorded_as_taken_back(journal: Journal) -> None:
    begun(journal, "web-1")
    for kept in ((), ({"what": "eth1", "owner": "db"},)):
        with pytest.raises(Refused, match="it is pending"):
            journal.record_reversal("web-1", "friday", kept)


def test_a_rehearsal_is_forgotten(journal: Journal) -> None:
    begun(journal, "web-1")
    journal.forget("web-1")
    journal.forget("web-1")
    assert journal.contents().entries == ()
    assert begun(journal, "web-1").generation == 1


def test_a_journal_nobody_wrote_is_empty_and_one_we_may_not_read_is_not(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert journal.contents().entries == ()

    def forbidden(_path: Path) -> list[str]:
        raise PermissionError("no")

    monkeypatch.setattr(os, "listdir", forbidden)
    with pytest.raises(CannotLook, match="cannot read the journal"):
        journal.contents()


def test_results_show_no_secrets() -> None:
    pre = {"interfaces": [{"name": "eth1", "802.1x": {"password": "sesame"}}]}
    assert "sesame" not in json.dumps(entry("web-1", pre=pre, revert=pre).shown())


def test_a_second_one_is_told_who_is_first(journal: Journal) -> None:
    with journal.lock(HOLDER, "applying policy web"):
        with pytest.raises(Refused) as caught, journal.lock(Holder(1, "0f3c"), "reverting"):
            pass
        assert "process 4711 (applying policy web) is at it. Next: try again later" in str(caught.value)
    with journal.lock(Holder(1, "0f3c"), "reverting"):
        pass


def test_the_lock_goes_with_an_error(journal: Journal) -> None:
    with pytest.raises(Problem), journal.lock(HOLDER, "applying"):
        raise Problem("no")
    with journal.lock(HOLDER, "applying again"):
        pass
