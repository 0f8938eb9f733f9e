# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which folders hold the rest, when a run went on with an earlier one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.earlier_bundles import earlier_bundles
from ansible_collections.sunset.kube.tests.unit.fakes import named

Run = tuple[str, str, bool, str]  # job, outcome (empty: killed), whether it kept anything, what it was about
SHOP = "Helm release shop/shop"


def left_by(directory: Path, number: int, run: Run) -> Path:
    job, outcome, kept, source = run
    folder = directory / f"2026111{number}T000000.000000Z-{job}"
    (folder / "undo").mkdir(parents=True)
    if kept:
        (folder / "undo" / "01-step.json").write_text(json.dumps({"items": [{}]}))
    if outcome:
        (folder / "result.json").write_text(json.dumps({"outcome": outcome}))
        (folder / "plan.json").write_text(json.dumps({"source": source}))
    return folder


CASES: dict[str, tuple[list[Run], list[int]]] = {
    "the first": ([("uninstall", "done", True, SHOP)], []),
    "one that went on with a killed one": (
        [("uninstall", "", True, SHOP), ("uninstall", "done", True, SHOP)],
        [0],
    ),
    "one that went on twice": (
        [("uninstall", "blocked", True, SHOP), ("uninstall", "", True, SHOP), ("uninstall", "done", True, SHOP)],
        [1, 0],
    ),
    "after one that was done, it is another installation": (
        [("uninstall", "done", True, SHOP), ("uninstall", "done", True, SHOP)],
        [],
    ),
    "nothing was left to do": (
        [("uninstall", "done", True, SHOP), ("uninstall", "nothing_to_do", False, SHOP)],
        [0],
    ),
    "nothing was left to do, twice": (
        [
            ("uninstall", "done", True, SHOP),
            ("uninstall", "nothing_to_do", False, SHOP),
            ("uninstall", "nothing_to_do", False, SHOP),
        ],
        [0],
    ),
    "something else": (
        [("uninstall", "blocked", True, "Helm release bank/bank"), ("uninstall", "done", True, SHOP)],
        [],
    ),
    "another job": ([("drain", "blocked", True, SHOP), ("uninstall", "done", True, SHOP)], []),
    "only a plan": ([("uninstall", "planned", False, SHOP), ("uninstall", "done", True, SHOP)], []),
}


@pytest.mark.parametrize(("runs", "expected"), named(CASES))
def test_the_rest_is_found_back_to_the_run_that_began_it(tmp_path: Path, runs: list[Run], expected: list[int]) -> None:
    folders = [left_by(tmp_path, number, run) for number, run in enumerate(runs)]
    (tmp_path / "latest").symlink_to(folders[-1])
    for path in (folders[-1], tmp_path / "latest", folders[-1] / "undo"):
        assert earlier_bundles(str(path), empty=not runs[-1][2]) == [str(folders[number]) for number in expected]
