# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan that somebody has seen is found again by its hash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.evidence.earlier_plans import plan_under
from ansible_collections.sunset.kube.plugins.module_utils.terms import Terms


def left(directory: Path, run: str, plan: Any) -> None:
    (directory / run).mkdir()
    (directory / run / "plan.json").write_text(plan if isinstance(plan, str) else json.dumps(plan))


TERMS = Terms({"": "kube-system 7c1f"}, {"force": True})


def plan(plan_hash: str, *uids: str, released: str = "", **more: Any) -> dict[str, Any]:
    step: dict[str, Any] = {"objects": [{"object": {"uid": uid}} for uid in uids]}
    drains = []
    if released:
        step["release"] = [{"object": {"uid": released}}]
        drains = [{"profile": "ngrok", "policy": "Retain"}]
    return {"plan_hash": plan_hash, "steps": [step], "drains": drains, **more}


def test_what_the_plan_with_this_hash_says_and_no_other(tmp_path: Path) -> None:
    left(tmp_path, "1-uninstall", plan("aaa", "u1", "u2", released="u3"))
    left(tmp_path, "2-uninstall", plan("bbb", "u9", terms=TERMS.as_dict()))
    seen = plan_under("aaa", str(tmp_path))
    assert (seen.deleted, seen.released) == ({"u1", "u2"}, {"u3"})
    assert (seen.terms, seen.policies) == ("", {"ngrok": "Retain"})
    assert plan_under("bbb", str(tmp_path)).terms == TERMS.digest


def test_what_is_no_plan_is_passed_over(tmp_path: Path) -> None:
    for place, text in enumerate(("{", "[]", '{"plan_hash": "aaa"}', "null")):
        left(tmp_path, f"{place}-broken", text)
    assert not plan_under("aaa", str(tmp_path))


def test_without_directory_or_hash_nothing_was_seen(tmp_path: Path) -> None:
    left(tmp_path, "1-uninstall", plan("aaa", "u1"))
    assert not any(
        (plan_under("aaa", None), plan_under(None, str(tmp_path)), plan_under("aaa", str(tmp_path / "nowhere")))
    )
