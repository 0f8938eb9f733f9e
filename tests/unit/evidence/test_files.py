# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files a run leaves behind."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Looked, Planned, Progress, Warned
from ansible_collections.sunset.kube.plugins.module_utils.evidence.files import (
    EvidenceFolder,
    Timeline,
    row_for,
)
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import page_of
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef
from ansible_collections.sunset.kube.tests.unit.fakes import SERVER_NOW, named

WEB = ObjectRef("v1", "Domain", "shop", "web", "u1")
TIME = {"time": "2026-01-01T00:00:00.250+00:00"}

ROWS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a look": (
        Looked("Domain", 3, "the cluster"),
        {**TIME, "event": "looked", "kind": "Domain", "found": 3, "scope": "the cluster"},
    ),
    "a plan": (
        Planned("remove x from 3", "abc"),
        {**TIME, "event": "planned", "summary": "remove x from 3", "plan_hash": "abc"},
    ),
    "a write": (
        Did("delete", WEB, "done", "Background", "17", True),
        {
            **TIME,
            "event": "did",
            "action": "delete",
            "object": WEB.as_dict(),
            "effect": "done",
            "detail": "Background",
            "resource_version": "17",
            "dry_run": True,
        },
    ),
    "a warning": (Warned("careful"), {**TIME, "event": "warned", "text": "careful"}),
    "progress": (
        Progress("step", 1, 2, 3.0, {"example.com/x": 1}),
        {
            **TIME,
            "event": "progress",
            "step": "step",
            "done": 1,
            "total": 2,
            "seconds_left": 3.0,
            "waiting": {"example.com/x": 1},
            "word": "gone",
        },
    ),
}


@pytest.mark.parametrize(("event", "row"), named(ROWS))
def test_an_event_is_one_row_with_the_servers_time(event: Any, row: dict[str, Any]) -> None:
    assert row_for(event, SERVER_NOW + 0.25) == row


def test_a_run_gets_a_folder_of_its_own_below_the_directory(tmp_path: Path) -> None:
    folder = EvidenceFolder(str(tmp_path / "deep" / "evidence"), "finalizer", SERVER_NOW + 0.25)
    assert folder.path == str(tmp_path / "deep" / "evidence" / "20260101T000000.250000Z-finalizer")


def test_a_directory_below_the_home_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert EvidenceFolder("~/evidence", "job", SERVER_NOW).path.startswith(str(tmp_path / "evidence"))


def test_two_runs_of_the_same_moment_do_not_share_a_folder(tmp_path: Path) -> None:
    paths = {EvidenceFolder(str(tmp_path), "finalizer", SERVER_NOW).path for _run in range(3)}
    assert (len(paths), all(os.path.isdir(path) for path in paths)) == (3, True)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=["no umask", "the usual umask", "a strict umask"])
def test_folder_and_files_are_readable_by_their_owner_only(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        folder = EvidenceFolder(str(tmp_path), "finalizer", SERVER_NOW)
        folder.write_plan({})
        folder.write_timeline([])
        folder.write_reports(page_of({}, "sunset.kube.finalizer", "h", "now", "me"), {}, [], {})
        folder.write_undo([{"step": "first", "objects": []}], ["Secret shop/x: a secret"])
        folder.write_ending({})
    finally:
        os.umask(before)
    found = [Path(folder.path), *Path(folder.path).rglob("*")]
    assert len(found) == 10
    assert {stat.S_IMODE(path.stat().st_mode) for path in found if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in found if path.is_dir()} == {0o700}


def test_the_files_are_complete_however_much_there_is(tmp_path: Path) -> None:
    plan = {"plan_hash": "abc", "steps": [{"objects": [{"name": f"d{number}"} for number in range(5000)]}]}
    rows = [{"event": "did", "number": number, "text": "größe"} for number in range(5000)]
    folder = EvidenceFolder(str(tmp_path), "finalizer", SERVER_NOW)
    folder.write_plan(plan)
    folder.write_timeline(rows)
    written = Path(folder.path)
    assert json.loads((written / "plan.json").read_text(encoding="utf-8")) == plan
    lines = (written / "timeline.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_what_can_be_undone_is_kept_step_by_step_in_the_order_of_deletion(tmp_path: Path) -> None:
    folder = EvidenceFolder(str(tmp_path), "ranked_delete", SERVER_NOW)
    first, second = {"kind": "Domain"}, {"kind": "CustomResourceDefinition"}
    folder.write_undo(
        [{"step": "custom resources/../x", "objects": [first]}, {"step": "definitions", "objects": [second]}],
        ["Secret shop/login: secrets are left out"],
    )
    undo = Path(folder.path) / "undo"
    assert sorted(path.name for path in undo.iterdir()) == [
        "01-custom-resources----x.json",
        "02-definitions.json",
        "left-out.txt",
    ]
    kept = json.loads((undo / "01-custom-resources----x.json").read_text(encoding="utf-8"))
    assert kept == {"apiVersion": "v1", "kind": "List", "items": [first]}
    assert (undo / "left-out.txt").read_text(encoding="utf-8") == "Secret shop/login: secrets are left out\n"


def test_every_report_says_the_same(tmp_path: Path) -> None:
    folder = EvidenceFolder(str(tmp_path), "ranked_delete", SERVER_NOW)
    result = {"failed": True, "msg": "größe"}
    folder.write_reports(page_of(result, "sunset.kube.ranked_delete", "h", "now", "me"), result, [], {})
    texts = {name: (Path(folder.path) / name).read_text(encoding="utf-8") for name in os.listdir(folder.path)}
    assert sorted(texts) == ["junit.xml", "report.html", "report.md"]
    assert all("größe" in text and "sunset.kube.ranked_delete" in text for text in texts.values())


# -- while the run goes ------------------------------------------------------------------------------------------------


def test_a_row_can_be_read_before_the_run_is_over(tmp_path: Path) -> None:
    folder = EvidenceFolder(str(tmp_path), "drain", SERVER_NOW)
    timeline = folder.begin_timeline()
    for number in range(3):
        timeline.add({"event": "did", "number": number})
        lines = (Path(folder.path) / "timeline.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["number"] for line in lines] == list(range(number + 1))
    timeline.close()
    timeline.add({"event": "late"})  # of a worker that did not hear that all is over
    assert "late" not in (Path(folder.path) / "timeline.jsonl").read_text(encoding="utf-8")


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "no space left")


def test_a_full_disk_stops_the_timeline_and_not_the_run() -> None:
    timeline = Timeline(FullDisk())
    timeline.add({"event": "did"})
    timeline.add({"event": "did"})
    timeline.close()
    assert timeline.problem is not None
    assert timeline.problem.errno == errno.ENOSPC


def test_a_timeline_that_cannot_be_written_at_the_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = EvidenceFolder(str(tmp_path), "drain", SERVER_NOW)
    monkeypatch.setattr(EvidenceFolder, "_private", lambda self, name: FullDisk())
    with pytest.raises(OSError, match="no space left"):
        folder.write_timeline([{"event": "did"}])


def test_latest_leads_to_the_newest_run_from_its_first_moment(tmp_path: Path) -> None:
    for job in ("drain", "ranked_delete"):
        folder = EvidenceFolder(str(tmp_path), job, SERVER_NOW)
        assert (tmp_path / "latest").resolve() == Path(folder.path)
        assert not os.path.isabs(os.readlink(tmp_path / "latest")), "an artifact that is unpacked elsewhere still works"
    assert [name for name in os.listdir(tmp_path) if name.startswith(".")] == []


def test_where_there_are_no_links_there_is_no_latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(target: str, link: str) -> None:
        raise OSError(errno.EPERM, "not permitted")

    monkeypatch.setattr(os, "symlink", refused)
    folder = EvidenceFolder(str(tmp_path), "drain", SERVER_NOW)
    assert os.listdir(tmp_path) == [os.path.basename(folder.path)]


def test_a_latest_of_somebody_elses_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    with pytest.raises(OSError, match="latest"):
        EvidenceFolder(str(tmp_path), "drain", SERVER_NOW)


def test_the_ending_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = EvidenceFolder(str(tmp_path), "drain", SERVER_NOW)
    with pytest.raises(TypeError):
        folder.write_ending({"outcome": object()})
    assert not (Path(folder.path) / "result.json").exists()
    folder.write_ending({"outcome": "done"})
    assert json.loads((Path(folder.path) / "result.json").read_text(encoding="utf-8")) == {"outcome": "done"}
    assert os.listdir(folder.path) == ["result.json"]
