# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run as JUnit XML, as a pipeline reads it."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from ansible_collections.sunset.kube.plugins.module_utils.evidence.junit import junit
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import page_of

STEP = {"name": "users", "rank": 1, "total": 3, "deleted": 1, "released": 2, "kept": 1, "seconds": 1.5}
WEB = {"api_version": "v1", "kind": "Domain", "namespace": "shop", "name": "web", "uid": "u1", "deleting_for": 90}


def suite(**result: Any) -> ElementTree.Element:
    page = page_of(result, "sunset.kube.job", "https://h", "now", "me")
    return ElementTree.fromstring(junit(page, result))


def failures(found: ElementTree.Element) -> dict[str, str]:
    cases = {str(case.get("name")): case.find("failure") for case in found}
    return {name: str(failure.get("message")) for name, failure in cases.items() if failure is not None}


def test_a_good_run_has_a_case_a_step_and_no_failure() -> None:
    found = suite(changed=True, steps=[STEP, {**STEP, "name": "empty", "total": 0}])
    assert [case.get("name") for case in found] == ["step users", "run"]
    assert (found.get("tests"), found.get("failures"), found.get("time")) == ("2", "0", "3.000")


def test_what_is_still_there_fails_with_who_holds_it_and_what_to_do() -> None:
    held = [{"finalizer": "example.com/x", "suggestion": "start its controller"}]
    found = suite(failed=True, msg='no "way" <out>\x00', steps=[STEP], survivors=[{**WEB, "blocked_by": held}])
    assert failures(found) == {
        "Domain shop/web": "still there, held by example.com/x. start its controller",
        "run": 'no "way" <out>\\x00',
    }
    assert found.get("failures") == "2"


def test_an_explanation_fails_for_what_hangs_and_not_for_what_only_might() -> None:
    rows = [
        {"object": {**WEB, "name": name}, "deleting_for": age, "finalizers": [], "causes": [{"text": "no"}]}
        for name, age in (("hangs", 9), ("might", None))
    ]
    found = suite(blockers=[{**row, "suggestion": "do it"} for row in rows], obstacles=[])
    assert failures(found) == {"Domain shop/hangs": "still there, held by no. do it"}
