# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan that somebody has seen is found again by its hash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.evidence.earlier_plans import objects_of_plan


def left(directory: Path, run: str, plan: Any) -> None:
    (directory / run).mkdir()
    (directory / run / "plan.json").write_text(plan if isinstance(plan, str) else json.dumps(plan))


def plan(plan_hash: str, *uids: str, released: str = "") -> dict[str, Any]:
    rows = [{"object": {"uid": uid}} for uid in uids]
    step: dict[str, Any] = {"objects": rows}
    if released:
        step["release"] = [{"object": {"uid": released}}]
    return {"plan_hash": plan_hash, "steps": [step]}


def test_objects_of_the_plan_with_this_hash_and_no_other(tmp_path: Path) -> None:
    left(tmp_path, "1-uninstall", plan("aaa", "u1", "u2", released="u3"))
    left(tmp_path, "2-uninstall", plan("bbb", "u9"))
    assert objects_of_plan(str(tmp_path), "aaa") == {"u1", "u2", "u3"}


def test_what_is_no_plan_is_passed_over(tmp_path: Path) -> None:
    for place, text in enumerate(("{", "[]", '{"plan_hash": "aaa"}', "null")):
        left(tmp_path, f"{place}-broken", text)
    assert objects_of_plan(str(tmp_path), "aaa") == frozenset()


def test_without_directory_or_hash_nothing_was_seen(tmp_path: Path) -> None:
    left(tmp_path, "1-uninstall", plan("aaa", "u1"))
    assert objects_of_plan(None, "aaa") == objects_of_plan(str(tmp_path), None) == frozenset()
    assert objects_of_plan(str(tmp_path / "nowhere"), "aaa") == frozenset()
