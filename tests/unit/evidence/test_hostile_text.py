# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever a cluster says, nothing that is shown can repaint a screen, forge a line, or act in a report."""

from __future__ import annotations

import dataclasses
import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.events import (
    Did,
    Event,
    Noted,
    Planned,
    Progress,
    StepBegan,
    StepEnded,
)
from ansible_collections.sunset.kube.plugins.module_utils.evidence.blocker_results import blockers_result
from ansible_collections.sunset.kube.plugins.module_utils.evidence.blocker_tree import Where
from ansible_collections.sunset.kube.plugins.module_utils.evidence.escaping import in_html, in_markdown, in_xml
from ansible_collections.sunset.kube.plugins.module_utils.evidence.files import EvidenceFolder
from ansible_collections.sunset.kube.plugins.module_utils.evidence.junit import junit
from ansible_collections.sunset.kube.plugins.module_utils.evidence.lines import LiveLines
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_html import html
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_markdown import markdown
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import page_of
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_timeline import stretches_of
from ansible_collections.sunset.kube.plugins.module_utils.evidence.wait_graph import wait_graph
from ansible_collections.sunset.kube.plugins.module_utils.incluster.status import BLOCKED, facts_in, in_phase
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.reporting import Report, shown
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.target import Target
from ansible_collections.sunset.kube.plugins.module_utils.visible import visible, visible_if_failed, visible_result
from ansible_collections.sunset.kube.plugins.module_utils.well_known import ROLES
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS, FakeClock
from ansible_collections.sunset.kube.tests.unit.hostile import NAMES, RAW
from ansible_collections.sunset.kube.tests.unit.teardown.blockers.explaining import explained, shop_with

ROLE = dataclasses.replace(ROLES[1], verbs=VERBS)
EVIL = " ".join(NAMES)
REF = ObjectRef("rbac.authorization.k8s.io/v1", "Role", "shop", EVIL, "u1")
ROW = {**REF.as_dict(), "deleting_for": 5, "blocked_by": [{"finalizer": EVIL, "text": EVIL, "suggestion": EVIL}]}
STEP = {"name": EVIL, "rank": 1, "total": 1, "deleted": 0, "released": 0, "kept": 0, "seconds": 1.0}
RESULT: dict[str, Any] = {
    "failed": True,
    "msg": EVIL,
    "source": EVIL,
    "verified": EVIL,
    "plan_hash": "abc",
    "steps": [STEP],
    "preflight": [{"check": "x", "level": "STOP", "text": EVIL, "next_step": EVIL}],
    "survivors": [ROW],
    "kept": [{"object": REF.as_dict(), "verdict": "keep", "reason": EVIL}],
    "leftovers": [{"object": REF.as_dict(), "why": EVIL}],
    "unseen": [EVIL],
    "retained": [{"object": REF.as_dict(), "reason": EVIL, "external": {EVIL: EVIL}}],
    "lost": [{"object": REF.as_dict(), "reason": EVIL}],
    "left_out": [EVIL],
    "text": [EVIL],
    "errors": [EVIL],
    "requests": {"get": 1},
}
EVENTS: list[Event] = [
    Noted(EVIL),
    Planned(EVIL, "abc"),
    StepBegan(EVIL, 1, 1),
    Progress(EVIL, 0, 2, 9.0, {EVIL: 1}),
    StepEnded(EVIL, 1, 1, 1, 1.0),
    Did("delete", REF, "refused", EVIL),
]
ROWS: list[dict[str, Any]] = [
    {"time": "2026-01-01T00:00:00+00:00", "event": "stepbegan", "step": EVIL, "rank": 1, "total": 1},
    {
        "time": "2026-01-01T00:00:01+00:00",
        "event": "did",
        "action": "delete",
        "object": REF.as_dict(),
        "effect": "refused",
        "detail": EVIL,
    },
]
PLAN = {"steps": [{"name": EVIL, "objects": [{"object": REF.as_dict(), "verdict": "delete", "reason": EVIL}]}]}


class Tags(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _value in attrs}


@given(st.text())
def test_what_is_visible_is_printable_and_says_all_that_was_there(text: str) -> None:
    seen = visible(text)
    assert seen.isprintable()
    assert not RAW.search(seen)
    assert visible(seen) == seen
    if "\\" not in text:
        assert seen.encode("latin-1", "backslashreplace").decode("unicode_escape") == text


@given(st.text())
def test_each_format_keeps_the_text_as_text(text: str) -> None:
    assert Tags(f'<p title="{in_html(text)}">{in_html(text)}</p>').names == {"p"}
    assert ET.fromstring(f"<x y={in_xml(text)}/>").attrib["y"] == visible(text)
    cell = in_markdown(text)
    assert "\n" not in cell
    for sign in "<>[]|`*":
        assert cell.replace("`@`", "").replace("\\\\", "").count(sign) == cell.count(f"\\{sign}")


def test_live_lines_are_one_line_each() -> None:
    lines: list[str] = []
    live = LiveLines(lines.append, FakeClock(100.0))
    for event in EVENTS:
        live(event)
    assert len(lines) >= 4
    assert all(line.isprintable() for line in lines)


def test_every_sentence_of_a_result_is_safe_and_its_data_are_as_they_were() -> None:
    made = shown(
        Report(RESULT, failure=Refused(EVIL), warnings=[EVIL], diff={"before": f"{REF}\n{REF}\n", "after": ""}),
        lambda text: text.replace("PWNED", "********"),
    )
    assert made["msg"].isprintable()
    assert made["_warnings"][0].isprintable()
    assert "********" in made["msg"]
    assert made["diff"]["before"].count("\n") == 2
    assert made["survivors"][0]["name"] == EVIL
    assert made["survivors"][0]["blocked_by"][0]["text"].isprintable()
    assert made["retained"][0]["external"] == {EVIL: EVIL}
    assert RESULT["text"] == [EVIL], "what was handed over is not changed"


def test_a_failed_result_which_ansible_prints_whole_holds_nothing_raw() -> None:
    assert not RAW.search(json.dumps(visible_if_failed(RESULT), ensure_ascii=False))
    done = {**RESULT, "failed": False}
    assert visible_if_failed(done) == done


def test_reports_hold_nothing_raw_and_nothing_active() -> None:
    graph = wait_graph([told_of_hostile_roles()])
    page = page_of(RESULT, "sunset.kube.job", EVIL, "now", EVIL)
    web = html(page, stretches_of(ROWS), PLAN, graph)
    found = Tags(web)
    assert not found.names & {"img", "script", "a", "iframe", "object"}
    assert not {name for name in found.attributes if name.startswith("on") or name in ("href", "src")}
    for text in (web, markdown(page), junit(page, RESULT)):
        assert not RAW.search(text)
    assert ET.fromstring(junit(page, RESULT)).tag == "testsuite"
    for line in markdown(page).splitlines():
        assert "<img" not in line.replace("\\<", "")
        assert "](" not in line.replace("\\]", "")
        assert "http:" not in line.replace("http\\:", "")


def told_of_hostile_roles() -> Any:
    cluster = shop_with(ROLE)
    for number, name in enumerate(NAMES):
        cluster.add(ROLE, name, uid=f"u{number}", finalizers=["shop.example.com/cleanup"], deleted=True)
    return explained(cluster, Target(namespace="shop"))


def test_an_explanation_of_hostile_objects_is_lines_of_printable_text() -> None:
    result = visible_result(blockers_result(told_of_hostile_roles(), {}, Where("https://h:6443", chosen=False)))
    assert all(line.isprintable() for line in (*result["text"], *result["next_steps"]))
    assert {row["object"]["name"] for row in result["blockers"]} >= set(NAMES)


def test_a_status_is_safe_for_kubectl_get_and_describe() -> None:
    facts = facts_in(RESULT)
    status = in_phase({"metadata": {"generation": 1}}, BLOCKED, "now", message=EVIL)
    texts = [*facts["text"], *facts["survivors"][0]["blockedBy"], *(one["message"] for one in status["conditions"])]
    assert all(text.isprintable() for text in texts)


def test_a_bundle_says_what_it_left_out_one_line_each(tmp_path: Path) -> None:
    folder = EvidenceFolder(str(tmp_path), "drain", 0.0)
    folder.write_undo([], list(NAMES))
    assert Path(folder.path, "undo", "left-out.txt").read_text().splitlines() == list(map(visible, NAMES))
