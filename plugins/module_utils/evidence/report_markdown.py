# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run as a page of Markdown, for tickets and change boards.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from .escaping import in_markdown
from .report_page import Page, Table

_MOST = 50


def markdown(page: Page) -> str:
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    yield f"# {in_markdown(page.job)}: {in_markdown(page.verdict)}"
    yield ""
    for name, value in page.facts:
        yield f"- {name}: `{value}`" if value.isalnum() and name == "plan" else f"- {name}: {in_markdown(value)}"
    for table in page.tables:
        yield from _table(table)
    yield ""
    yield f"Requests to the API server: {page.requests}."


def _table(table: Table) -> Iterator[str]:
    shown = table.rows[:_MOST]
    yield ""
    yield f"## {table.title}"
    yield ""
    yield "| " + " | ".join(table.heads) + " |"
    yield "|" + "---|" * len(table.heads)
    for row in shown:
        yield "| " + " | ".join(map(in_markdown, row)) + " |"
    if table.total > len(shown):
        yield ""
        yield f"… and {table.total - len(shown)} more."
