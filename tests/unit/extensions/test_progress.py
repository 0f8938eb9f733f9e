# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source: every row of every run, once, in order, also after a restart."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils.events import Planned, Progress, StepBegan, StepEnded
from ansible_collections.sunset.kube.plugins.module_utils.evidence.files import EvidenceFolder, row_for
from ansible_collections.sunset.kube.tests.unit.fakes import SERVER_NOW, named

FILE = Path(__file__).parents[3] / "extensions" / "eda" / "plugins" / "event_source" / "progress.py"
SOURCE = runpy.run_path(str(FILE))  # as ansible-rulebook does it
LONG_AGO, NOW = SERVER_NOW - 1000, SERVER_NOW


def a_run(directory: Path, job: str, *events: Any, at: float = NOW, ending: dict[str, Any] | None = None) -> Any:
    """A folder as our own actions leave it; what is returned writes further events."""
    folder = EvidenceFolder(str(directory), job, at)
    folder.begin_timeline().close()

    def more(*events: Any, ending: dict[str, Any] | None = None) -> None:
        with open(os.path.join(folder.path, "timeline.jsonl"), "a", encoding="utf-8") as stream:
            stream.writelines(json.dumps(row_for(event, at)) + "\n" for event in events)
        if ending is not None:
            folder.write_ending(ending)

    more(*events, ending=ending)
    return more


def follower(directory: Path, **options: Any) -> Any:
    return SOURCE["Follower"](SOURCE["checked"]({"evidence_dir": str(directory), "begin": "all", **options}))


def seen(source: Any) -> list[tuple[str, str]]:
    return [(event["job"], event["event"]) for event in source.look()]


# -- what is emitted ---------------------------------------------------------------------------------------------------


def test_a_run_is_followed_from_its_plan_to_its_end(tmp_path: Path) -> None:
    source = follower(tmp_path)
    assert seen(source) == []
    more = a_run(tmp_path, "drain", Planned("3 to go", "abc"))
    assert seen(source) == [("drain", "planned")]
    more(StepBegan("users", 1, 3), Progress("users", 1, 3, 20.0, {"example.com/x": 2}))
    assert seen(source) == [("drain", "stepbegan"), ("drain", "progress")]
    more(StepEnded("users", 1, 2, 1, 5.0), ending={"outcome": "blocked", "survivors": 1})
    assert seen(source) == [("drain", "stepended")]
    [finished] = source.look()
    assert (finished["event"], finished["outcome"], finished["survivors"]) == ("finished", "blocked", 1)
    assert seen(source) == []


def test_an_event_says_which_run_and_step_it_is_of(tmp_path: Path) -> None:
    a_run(tmp_path, "drain", StepBegan("users", 1, 3), Planned("x", "abc"), StepEnded("users", 1, 3, 0, 1.0))
    a_run(tmp_path, "drain", Planned("y", "def"))  # of the same moment: its folder has a number
    events = list(follower(tmp_path).look())
    assert [(event["job"], event["step"]) for event in events] == [("drain", "users")] * 3 + [("drain", "")]
    assert [event["run"] for event in events[2:]] == [
        "20260101T000000.000000Z-drain",
        "20260101T000000.000000Z-drain-2",
    ]
    assert events[1]["plan_hash"] == "abc"
    assert Path(events[3]["evidence"]).parent == tmp_path


def test_only_what_was_asked_for_is_emitted(tmp_path: Path) -> None:
    a_run(tmp_path, "drain", Planned("x", "abc"), StepBegan("users", 1, 3), ending={"outcome": "done"})
    source = follower(tmp_path, only=["finished"])
    assert seen(source) + seen(source) == [("drain", "finished")]


def test_several_directories_are_followed_and_one_that_comes_later(tmp_path: Path) -> None:
    source = follower(tmp_path, evidence_dir=[str(tmp_path / "a"), str(tmp_path / "b")])
    a_run(tmp_path / "b", "drain", Planned("x", "abc"))
    assert seen(source) == [("drain", "planned")]
    a_run(tmp_path / "a", "undo", Planned("x", "abc"))
    assert seen(source) == [("undo", "planned")]


def test_latest_and_other_peoples_files_are_no_runs(tmp_path: Path) -> None:
    a_run(tmp_path, "drain", Planned("x", "abc"))
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "aZ-file").write_text("")
    assert (tmp_path / "latest").is_symlink()
    assert seen(follower(tmp_path)) == [("drain", "planned")]


# -- what is half there ------------------------------------------------------------------------------------------------


def test_a_half_written_row_is_taken_when_it_is_whole(tmp_path: Path) -> None:
    a_run(tmp_path, "drain")
    timeline = tmp_path / "latest" / "timeline.jsonl"
    source = follower(tmp_path)
    timeline.write_text('{"event": "no')
    assert seen(source) == []
    timeline.write_text('{"event": "noted"}\n')
    assert seen(source) == [("drain", "noted")]


def test_a_broken_or_endless_row_is_passed_over(tmp_path: Path) -> None:
    a_run(tmp_path, "drain")
    endless = json.dumps({"event": "x" * 2_000_000})
    (tmp_path / "latest" / "timeline.jsonl").write_text(f'{{broken\n[1]\n{endless}\n{{"event": "noted"}}\n')
    assert seen(follower(tmp_path)) == [("drain", "noted")]


def test_no_run_keeps_the_others_waiting(tmp_path: Path) -> None:
    many = [Planned(str(number), "abc") for number in range(7)]
    a_run(tmp_path, "drain", *many, at=LONG_AGO, ending={"outcome": "done"})
    a_run(tmp_path, "undo", Planned("x", "abc"))
    source = follower(tmp_path, batch=5)
    assert seen(source) == [("drain", "planned")] * 5 + [("undo", "planned")]
    assert seen(source) == [("drain", "planned")] * 2, "the end comes after the last row, not before"
    assert seen(source) == [("drain", "finished")]


def test_a_run_that_was_killed_is_told_once(tmp_path: Path) -> None:
    more = a_run(tmp_path, "drain", Planned("x", "abc"))
    source = follower(tmp_path, interval=10, silent_after=20)
    assert [seen(source) for _look in range(5)] == [[("drain", "planned")], [], [("drain", "silent")], [], []]
    more(Planned("it was only slow", "abc"))
    assert [seen(source) for _look in range(3)] == [[("drain", "planned")], [], [("drain", "silent")]]


# -- from where on -----------------------------------------------------------------------------------------------------


def test_what_was_there_before_is_skipped(tmp_path: Path) -> None:
    a_run(tmp_path, "undo", Planned("x", "abc"), at=LONG_AGO, ending={"outcome": "done"})
    more = a_run(tmp_path, "drain", Planned("x", "abc"))
    source = follower(tmp_path, begin="new")
    assert seen(source) == []
    more(StepBegan("users", 1, 3))
    a_run(tmp_path, "finalizer", Planned("x", "abc"), at=NOW + 1)
    assert seen(source) == [("drain", "stepbegan"), ("finalizer", "planned")]


def test_a_restart_goes_on_where_it_was_left(tmp_path: Path) -> None:
    evidence, state = tmp_path / "evidence", tmp_path / "state.json"
    more = a_run(evidence, "drain", Planned("x", "abc"), StepBegan("users", 1, 3))
    first = follower(evidence, state_file=str(state))
    assert len(seen(first)) == 2
    first.remember()
    more(Progress("users", 1, 3, 20.0))
    second = follower(evidence, state_file=str(state), begin="new")
    [event] = second.look()
    assert (event["event"], event["step"]) == ("progress", "users")
    assert state.stat().st_mode & 0o777 == 0o600


def test_a_row_that_nobody_took_is_emitted_again(tmp_path: Path) -> None:
    evidence, state = tmp_path / "evidence", tmp_path / "state.json"
    a_run(evidence, "drain", Planned("x", "abc"), Planned("y", "def"))
    first = follower(evidence, state_file=str(state))
    next(first.look())
    first.remember()
    assert len(seen(follower(evidence, state_file=str(state)))) == 2


def test_folders_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    evidence, state = tmp_path / "evidence", tmp_path / "state.json"
    a_run(evidence, "drain", Planned("x", "abc"))
    source = follower(evidence, state_file=str(state))
    seen(source)
    (evidence / "latest" / "timeline.jsonl").unlink()
    os.rmdir(evidence / os.readlink(evidence / "latest"))
    seen(source)
    source.remember()
    assert json.loads(state.read_text()) == {}


def test_a_state_of_somebody_elses_is_not_overwritten(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"folder": {"colour": "red"}}')
    with pytest.raises(ValueError, match="holds something else"):
        follower(tmp_path, state_file=str(state))


# -- options and the loop ----------------------------------------------------------------------------------------------

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "needs evidence_dir"),
    "no directory": ({"evidence_dir": []}, "needs evidence_dir"),
    "a word wrong": ({"evidence_dir": "x", "intervall": 1}, "no option intervall"),
    "another beginning": ({"evidence_dir": "x", "begin": "yesterday"}, "begin is new or all"),
    "without a pause": ({"evidence_dir": "x", "interval": 0}, "interval must be more"),
    "nothing at a time": ({"evidence_dir": "x", "batch": 0}, "batch must be more"),
}


@pytest.mark.parametrize(("options", "complaint"), named(BAD))
def test_bad_options_are_told_at_once(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        asyncio.run(SOURCE["main"](asyncio.Queue(), options))


def test_a_full_queue_holds_the_source_up_and_loses_nothing(tmp_path: Path) -> None:
    a_run(tmp_path, "drain", *(Planned(str(number), "abc") for number in range(20)), ending={"outcome": "done"})

    async def take() -> list[str]:
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(maxsize=1)
        options = {"evidence_dir": str(tmp_path), "begin": "all", "interval": 0.001}
        source = asyncio.ensure_future(SOURCE["main"](queue, options))
        try:
            return [str((await asyncio.wait_for(queue.get(), 30)).get("summary")) for _event in range(21)]
        finally:
            source.cancel()
            await asyncio.gather(source, return_exceptions=True)

    assert asyncio.run(take()) == [*map(str, range(20)), "None"]


def test_its_options_are_documented_as_they_are() -> None:
    options = yaml.safe_load(SOURCE["DOCUMENTATION"])["options"]
    defaults = {name: option.get("default") for name, option in options.items() if name != "evidence_dir"}
    assert defaults == SOURCE["_DEFAULTS"]
    [example] = yaml.safe_load(SOURCE["EXAMPLES"])
    assert SOURCE["checked"](example["sunset.kube.progress"])
