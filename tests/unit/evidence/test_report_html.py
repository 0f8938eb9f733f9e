# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run as one file of HTML: whole, safe, with every table and every step."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_html import html
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import page_of
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_timeline import stretches_of

WEB = {"api_version": "v1", "kind": "Domain", "namespace": "shop", "name": "web", "uid": "u1"}
EVIL = '<script>alert("x")</script>&'
VOID = frozenset({"meta", "rect"})


class Reading(HTMLParser):
    """Checks that what is opened is closed, and keeps what can be seen."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)


def row(event: str, second: float, **other: Any) -> dict[str, Any]:
    return {"time": f"2026-01-01T00:00:{second:06.3f}+00:00", "event": event, **other}


def wrote(second: float, name: str = "web", **other: Any) -> dict[str, Any]:
    return row("did", second, action="delete", object={**WEB, "name": name}, effect="gone", detail="", **other)


def began(second: float, step: str) -> dict[str, Any]:
    return row("stepbegan", second, step=step, rank=1, total=1)


def ended(second: float, step: str, survivors: int = 0) -> dict[str, Any]:
    return row("stepended", second, step=step, rank=1, deleted=1, survivors=survivors, seconds=1.0, released=0)


ROWS = [
    row("planned", 0, summary="x", plan_hash="h"),
    began(1, "users"),
    wrote(2),
    ended(3, "users"),
    began(3, "operator"),
    wrote(4, "op"),
    ended(9, "operator", 1),
]


def shown(result: dict[str, Any], rows: list[dict[str, Any]] | None = None, plan: dict[str, Any] | None = None) -> str:
    page = page_of(result, "sunset.kube.job", "https://h:6443", "2026-01-01 00:00:00 UTC", "me on box")
    return html(page, stretches_of(rows or []), plan or {})


def test_everything_is_in_it_and_nothing_is_run_or_loaded() -> None:
    result = {
        "failed": True,
        "msg": EVIL,
        "kept": [{"object": {**WEB, "name": EVIL}, "verdict": "keep", "reason": EVIL}],
        "requests": {"delete": 2},
    }
    plan = {"steps": [{"name": EVIL, "objects": [{"object": WEB, "verdict": "delete", "reason": EVIL}]}]}
    text = shown(result, ROWS, plan)
    read = Reading(text)
    assert "script" not in read.tags
    assert "http-equiv" in text
    assert "http://" not in text.replace("https://h:6443", "")
    seen = "".join(read.words)
    assert seen.count('alert("x")') == 5
    for word in ("failed", "me on box", "https://h:6443", "users", "1 still there", "2 delete", "Domain shop/op"):
        assert word in seen


@pytest.mark.parametrize(
    ("result", "badge"),
    [({"failed": True}, "bad"), ({"changed": True}, "good"), ({}, "quiet"), ({"plan": []}, "plan")],
)
def test_every_verdict_has_its_badge(result: dict[str, Any], badge: str) -> None:
    assert f'class="badge {badge}"' in shown(result)


def test_a_timeline_has_each_step_with_its_writes_and_what_was_done_before() -> None:
    found = stretches_of(ROWS)
    assert [(one.name, one.begin, one.end, len(one.writes), one.survivors) for one in found] == [
        ("users", 1.0, 3.0, 1, 0),
        ("operator", 3.0, 9.0, 1, 1),
    ]
    before = stretches_of([wrote(0), *ROWS[1:4]])
    assert [one.name for one in before] == ["preparation", "users"]


def test_a_run_that_was_cut_off_shows_its_last_step_as_far_as_it_came() -> None:
    found = stretches_of([*ROWS[:3], wrote(7)])
    assert [(one.name, one.end, one.ended) for one in found] == [("users", 7.0, False)]


def test_a_very_long_run_says_what_it_leaves_out() -> None:
    rows = [began(0, "users"), *(wrote(1, f"w{number}") for number in range(2500)), ended(3, "users")]
    kept = [{"object": WEB, "verdict": "keep", "reason": "x"} for _number in range(600)]
    text = shown({"kept": kept, "truncated": {"kept": 9000}}, rows)
    assert "… and 500 more; timeline.jsonl has all of them." in text
    assert "… and 8500 more." in text


def test_a_write_that_was_only_tried_says_so() -> None:
    assert "gone (tried only)" in shown({}, [began(0, "a"), wrote(1, dry_run=True), ended(2, "a")])


# -- an explanation ----------------------------------------------------------------------------------------------------

HOLDER = {"name": "x/y", "owner": "", "alive": "unknown", "why": "no workload fits"}
EXPLAINED: dict[str, Any] = {
    "changed": False,
    "title": "namespace shop",
    "missing": "",
    "blockers": [
        {
            "object": WEB,
            "deleting_for": 9,
            "finalizers": [HOLDER],
            "causes": [],
            "may_stay": True,
            "suggestion": "do it",
        }
    ],
    "obstacles": [],
    "deadlocks": [{"objects": [], "steps": ["a waits for b", "b waits for a"], "cut": "cut it", "size": 2}],
    "next_steps": [f"step {number}" for number in range(12)],
    "unreadable": ["Leases: HTTP 403"],
    "text": [],
}
VERDICTS: dict[str, tuple[dict[str, Any], str]] = {
    "something hangs": ({}, "something hangs"),
    "it is not being deleted yet": (
        {"blockers": [{**EXPLAINED["blockers"][0], "deleting_for": None}]},
        "something would hang",
    ),
    "nothing": ({"blockers": [], "unreadable": []}, "nothing hangs"),
    "nothing that could be seen": ({"blockers": []}, "not everything was seen"),
    "it will go by itself": (
        {"blockers": [{**EXPLAINED["blockers"][0], "deleting_for": None, "may_stay": False}], "unreadable": []},
        "nothing hangs",
    ),
}


@pytest.mark.parametrize(("change", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_an_explanation_says_in_its_badge_whether_anything_hangs(change: dict[str, Any], verdict: str) -> None:
    words = Reading(shown({**EXPLAINED, **change})).words
    assert verdict in words
    assert "plan" not in words, "there is none"


def test_an_explanation_has_what_hangs_what_to_do_and_what_could_not_be_seen() -> None:
    words = Reading(shown(EXPLAINED)).words
    for text in ("x/y (owner unknown: no workload fits)", "do it", "a waits for b; b waits for a", "cut it"):
        assert text in words
    assert ("step 7" in words, "step 8" in words, "… and 4 more." in words) == (True, False, True)
    assert "Leases: HTTP 403" in words


def test_the_graph_stands_right_before_what_hangs() -> None:
    graph = {
        "nodes": [{"sort": "object", "title": title, "notes": [], "state": ""} for title in ("a", "b")],
        "arcs": [{"waits": 0, "on": 1, "in_circle": False, "cut": "", "cost": ""}],
        "left_out": 0,
    }
    page = page_of(EXPLAINED, "sunset.kube.blockers_info", "h", "now", "me")
    text = html(page, [], {}, graph)
    Reading(text)
    order = [text.index(f"<h2>{title}") for title in ("What to do", "What waits for what", "What hangs", "Circles")]
    assert order == sorted(order)
    assert "What waits for what" not in html(page, [], {}, None)
