# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run as a page of Markdown."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_markdown import markdown
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import page_of
from ansible_collections.sunset.kube.tests.unit.fakes import named

WEB = {"api_version": "v1", "kind": "Domain", "namespace": "shop", "name": "web", "uid": "u1"}
NODE = {"api_version": "v1", "kind": "Node", "namespace": "", "name": "n1", "uid": "u2"}
STEP = {"name": "finalizers", "rank": 1, "total": 3, "deleted": 1, "released": 2, "kept": 1, "seconds": 1.5}


def page(**result: Any) -> str:
    return markdown(page_of(result, "sunset.kube.job", "https://h:6443", "2026-01-01 00:00:00 UTC", "me on box"))


def test_a_report_says_what_the_result_says() -> None:
    blockers = [{"finalizer": "example.com/x", "reason": "a | b\nc"}, {"text": "a webhook", "suggestion": "remove it"}]
    text = page(
        changed=True,
        failed=True,
        msg="cannot: no | way.",
        source="Helm release shop",
        plan_hash="abc",
        steps=[STEP],
        survivors=[
            {**WEB, "deleting_for": 90, "blocked_by": blockers},
            {
                **NODE,
                "deleting_for": None,
                "blocked_by": [{"text": "a", "suggestion": "ask"}, {"text": "b", "suggestion": "ask"}],
            },
        ],
        kept=[{"object": WEB, "verdict": "protected", "reason": "it guards data"}],
        requests={"list": 2, "watch": 0, "patch": 3},
    )
    assert text == (
        "# sunset.kube.job: failed\n"
        "\n"
        "- when: 2026-01-01 00:00:00 UTC\n"
        "- who: me on box\n"
        "- cluster: https\\://h:6443\n"
        "- what: Helm release shop\n"
        "- plan: `abc`\n"
        "- message: cannot: no \\| way.\n"
        "\n"
        "## Steps\n"
        "\n"
        "| step | objects | deleted | released | kept | seconds |\n"
        "|---|---|---|---|---|---|\n"
        "| finalizers | 3 | 1 | 2 | 1 | 1.5 |\n"
        "\n"
        "## Still there\n"
        "\n"
        "| object | deleting for | held by | what to do |\n"
        "|---|---|---|---|\n"
        "| Domain shop/web | 90 s | example.com/x, a \\| b c; a webhook | remove it |\n"
        "| Node n1 |  | a; b | ask |\n"
        "\n"
        "## Kept on purpose\n"
        "\n"
        "| object | verdict | reason |\n"
        "|---|---|---|\n"
        "| Domain shop/web | protected | it guards data |\n"
        "\n"
        "Requests to the API server: 2 list, 3 patch.\n"
    )


VERDICTS = {
    "failed": ({"failed": True, "changed": True}, "failed"),
    "check mode": ({"plan": [], "changed": True}, "plan only (check mode)"),
    "done": ({"changed": True}, "done"),
    "nothing to do": ({"changed": False}, "nothing to do"),
}


@pytest.mark.parametrize(("result", "verdict"), named(VERDICTS))
def test_the_head_is_the_verdict(result: dict[str, Any], verdict: str) -> None:
    assert page(**result).splitlines()[0] == f"# sunset.kube.job: {verdict}"


def kept(count: int) -> list[dict[str, Any]]:
    return [{"object": {**WEB, "name": f"d{number}"}, "verdict": "keep", "reason": "x"} for number in range(count)]


@pytest.mark.parametrize(
    ("shown", "truncated", "missing"),
    named({"fits": (50, {}, None), "too long": (51, {}, 1), "cut before": (200, {"kept": 4000}, 3950)}),
)
def test_a_long_table_says_how_many_rows_are_missing_even_where_the_result_was_cut(
    shown: int, truncated: dict[str, int], missing: int | None
) -> None:
    text = page(kept=kept(shown), truncated=truncated)
    assert text.count("| Domain shop/d") == 50
    assert (f"… and {missing} more." in text) if missing else ("more." not in text)


@pytest.mark.parametrize(
    ("check_mode", "verdict"), [(True, "plan only (check mode)"), (False, "done")], ids=["tried", "done"]
)
def test_an_undo_says_what_comes_back_and_whether_it_did(check_mode: bool, verdict: str) -> None:
    result = {
        "changed": True,
        "restored": [{"object": WEB, "old_uid": "u0"}],
        "existing": [NODE],
        "lost": [{"object": WEB, "reason": "its kind is not installed"}],
        "left_out": ["Secret shop/login: not kept"],
    }
    text = markdown(page_of(result, "sunset.kube.undo", "https://h:6443", "now", "me", check_mode=check_mode))
    assert text.startswith(f"# sunset.kube.undo: {verdict}\n")
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles[:4] == [
        "## Objects that come back",
        "## Objects that are there and stay as they are",
        "## Objects that do not come back",
        "## Not in the bundle",
    ]
    assert "| Domain shop/web | its kind is not installed |" in text


def test_nothing_to_bring_back_is_no_plan() -> None:
    text = markdown(page_of({"changed": False}, "sunset.kube.undo", "https://h", "now", "me", check_mode=True))
    assert text.startswith("# sunset.kube.undo: nothing to do\n")
