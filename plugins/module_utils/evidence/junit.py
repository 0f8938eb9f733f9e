# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run as JUnit XML, for pipelines: a test case a step and an object that is still there.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .escaping import in_xml
from .report_page import HANGING, HANGS, Page, Table


def junit(page: Page, result: Mapping[str, Any]) -> str:
    cases = list(_cases(page, result))
    failures = sum("<failure" in case for case in cases)
    seconds = sum(float(step["seconds"]) for step in result.get("steps", ()))
    head = f'<testsuite name={in_xml(page.job)} tests="{len(cases)}" failures="{failures}" time="{seconds:.3f}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>"]) + "\n"


def _cases(page: Page, result: Mapping[str, Any]) -> Iterator[str]:
    for step in result.get("steps", ()):
        if step["total"]:
            yield _case(page, f"step {step['name']}", float(step["seconds"]), "")
    for row in (row for title in HANGING for row in _table(page, title).rows if title != HANGS or row[1]):
        held, advice = row[2], row[3]
        yield _case(page, row[0], 0.0, f"still there, held by {held}" + (f". {advice}" if advice else ""))
    yield _case(page, "run", 0.0, str(result.get("msg") or "failed") if result.get("failed") else "")


def _table(page: Page, title: str) -> Table:
    return next((table for table in page.tables if table.title == title), Table(title, (), [], 0))


def _case(page: Page, name: str, seconds: float, failure: str) -> str:
    start = f'<testcase classname={in_xml(page.job)} name={in_xml(name)} time="{seconds:.3f}"'
    return f"{start}><failure message={in_xml(failure)}/></testcase>" if failure else f"{start}/>"
