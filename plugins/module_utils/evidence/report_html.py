# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run as one file of HTML: opens anywhere, loads nothing, runs nothing.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .escaping import in_html
from .graph_svg import figure
from .report_look import STYLE
from .report_page import HANGING, Page, Table
from .report_timeline import Stretch

_MOST_ROWS = 500
_MOST_WRITES = 2000
# verdict → class of its badge
_BADGES = {
    "failed": "bad",
    "done": "good",
    "nothing to do": "quiet",
    "plan only (check mode)": "plan",
    "something hangs": "bad",
    "something would hang": "plan",
    "not everything was seen": "plan",
    "nothing hangs": "good",
}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html(
    page: Page, stretches: Sequence[Stretch], plan: Mapping[str, Any], graph: Mapping[str, Any] | None = None
) -> str:
    return "\n".join(_document(page, stretches, plan, graph)) + "\n"


def _document(
    page: Page, stretches: Sequence[Stretch], plan: Mapping[str, Any], graph: Mapping[str, Any] | None
) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield f"<title>{in_html(page.job)}: {in_html(page.verdict)}</title>"
    yield f"<style>{STYLE}</style>"
    yield "</head>"
    yield "<body><main>"
    yield f'<header><p class="badge {_BADGES[page.verdict]}">{in_html(page.verdict)}</p>'
    yield f"<h1>{in_html(page.job)}</h1></header>"
    yield from _facts(page)
    yield from _timeline(stretches)
    for table in page.tables:
        if graph and table.title in HANGING:
            yield from figure(graph)
        yield from _table(table)
    yield from _plan(plan)
    yield f"<footer>Requests to the API server: {in_html(page.requests)}.</footer>"
    yield "</main></body>"
    yield "</html>"


def _facts(page: Page) -> Iterator[str]:
    yield '<dl class="facts">'
    for name, value in page.facts:
        word = "code" if name == "plan" else "span"
        yield f'<div class="{name}"><dt>{in_html(name)}</dt><dd><{word}>{in_html(value)}</{word}></dd></div>'
    yield "</dl>"


def _table(table: Table) -> Iterator[str]:
    shown = table.rows[:_MOST_ROWS]
    missing = table.total - len(shown)
    yield f"<section><h2>{in_html(table.title)} <small>{table.total}</small></h2>"
    yield from _rows(table.heads, shown)
    if missing:
        yield f"<p>… and {missing} more.</p>"
    yield "</section>"


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """On a phone each row becomes a card, and its cells carry their head themselves."""
    yield "<table><thead><tr>" + "".join(f"<th>{in_html(head)}</th>" for head in heads) + "</tr></thead><tbody>"
    for row in rows:
        cells = [
            f'<td data-head="{in_html(head)}">{in_html(value)}</td>' for head, value in zip(heads, row, strict=True)
        ]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _timeline(stretches: Sequence[Stretch]) -> Iterator[str]:
    if not stretches:
        return
    whole = max(max(one.end for one in stretches), 0.001)
    left = _MOST_WRITES
    yield f"<section><h2>Timeline <small>{whole:.1f} s</small></h2>"
    for one in stretches:
        yield '<details class="step"><summary>' + _summary(one, whole) + "</summary>"
        yield from _rows(("after", "action", "object", "effect"), one.writes[:left])
        if len(one.writes) > left:
            yield f"<p>… and {len(one.writes) - left} more; timeline.jsonl has all of them.</p>"
        left -= min(left, len(one.writes))
        yield "</details>"
    yield "</section>"


def _summary(one: Stretch, whole: float) -> str:
    begin, length = 100 * one.begin / whole, max(100 * (one.end - one.begin) / whole, 0.5)
    told = [f"{one.deleted} deleted"] * bool(one.deleted) + [f"{one.released} released"] * bool(one.released)
    told += [f"{one.gone} deleted by others"] * bool(one.gone)
    told += [f"{one.survivors} still there"] * bool(one.survivors)
    told = told or [f"{len(one.writes)} writes"]
    kind = "late" if one.survivors else "bar"
    drawn = f'<rect class="{kind}" x="{min(begin, 99.5):.2f}%" y="0" width="{length:.2f}%" height="8" rx="2"/>'
    return (
        f'<span class="name">{in_html(one.name)}</span> <span class="told">{in_html(", ".join(told))}, '
        f'{one.end - one.begin:.1f} s</span><svg role="img" aria-label="from {one.begin:.1f} s to {one.end:.1f} s" '
        f'width="100%" height="8">{drawn}</svg>'
    )


def _plan(plan: Mapping[str, Any]) -> Iterator[str]:
    """What was going to be done, step by step; the whole of it is in `plan.json`."""
    steps = [step for step in plan.get("steps") or () if step.get("objects")]
    if not steps:
        return
    yield f"<section><h2>Plan <small>{sum(len(step['objects']) for step in steps)}</small></h2>"
    for step in steps:
        objects = step["objects"]
        yield f'<details><summary><span class="name">{in_html(str(step["name"]))}</span> '
        yield f'<span class="told">{len(objects)} objects</span></summary>'
        yield from _rows(("object", "verdict", "why"), [_planned(one) for one in objects[:_MOST_ROWS]])
        if len(objects) > _MOST_ROWS:
            yield f"<p>… and {len(objects) - _MOST_ROWS} more; plan.json has all of them.</p>"
        yield "</details>"
    yield "</section>"


def _planned(one: Mapping[str, Any]) -> list[str]:
    named = one.get("object") or {}
    place = f"{named.get('namespace')}/{named.get('name')}" if named.get("namespace") else str(named.get("name"))
    return [f"{named.get('kind')} {place}", str(one.get("verdict") or ""), str(one.get("reason") or "")]
