# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run as facts and tables, whichever way they are shown. Made from the result alone, so it cannot say more.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..visible import visible

STILL_THERE, HANGS = "Still there", "What hangs"
_MOST_STEPS = 8  # what comes later helps only after the first ones
HANGING = (STILL_THERE, HANGS)  # tables of what waits for something


@dataclass(frozen=True)
class Table:
    title: str
    heads: tuple[str, ...]
    rows: list[list[str]]
    total: int  # how many there really are, where the result itself was cut


@dataclass(frozen=True)
class Page:
    job: str
    verdict: str
    facts: list[tuple[str, str]]
    tables: list[Table]
    requests: str


def page_of(
    result: Mapping[str, Any], job: str, cluster: str, when: str, who: str, *, check_mode: bool = False
) -> Page:
    facts = list(_facts(result, cluster, when, who))
    return Page(job, verdict_of(result, check_mode=check_mode), facts, list(_tables(result)), _requests(result))


def verdict_of(result: Mapping[str, Any], *, check_mode: bool = False) -> str:
    if result.get("failed"):
        return "failed"
    if result.get("blockers") is not None:
        return _of_explanation(result)
    if result.get("plan") is not None or (check_mode and result.get("changed")):
        return "plan only (check mode)"
    return "done" if result.get("changed") else "nothing to do"


def _of_explanation(result: Mapping[str, Any]) -> str:
    if any(row["deleting_for"] is not None for row in result["blockers"]):
        return "something hangs"
    if result["obstacles"] or any(row["may_stay"] for row in result["blockers"]):
        return "something would hang"
    return "not everything was seen" if result.get("unreadable") else "nothing hangs"


def _facts(result: Mapping[str, Any], cluster: str, when: str, who: str) -> Iterator[tuple[str, str]]:
    yield "when", when
    yield "who", who
    yield "cluster", cluster
    if result.get("source"):
        yield "what", result["source"]
    if result.get("title"):
        yield "what", result.get("missing") or result["title"]
    if result.get("drain_status"):
        yield "drain", f"{result['drain_status']}, {result.get('progress')}, policy {result.get('policy')}"
    if "blockers" not in result:
        yield "plan", result.get("plan_hash") or ""
    if result.get("verified"):
        yield "verified", result["verified"]
    if result.get("msg"):
        yield "message", _words(result["msg"])


def _tables(result: Mapping[str, Any]) -> Iterator[Table]:
    cut = result.get("truncated") or {}
    for key, title, heads, rows in (
        ("preflight", "Preflight", ("check", "verdict", "what was found", "to decide"), _preflight(result)),
        ("steps", "Steps", ("step", "objects", "deleted", "released", "kept", "seconds"), _steps(result)),
        ("leftovers", "Left", ("object", "why it is taken for a leftover", "deletes it"), _leftovers(result)),
        (
            "possible_leftovers",
            "May be left of it",
            ("object", "what it has of its name", "deletes it"),
            _leftovers(result, "possible_leftovers"),
        ),
        ("unseen", "Could not be looked at", ("what",), ([text] for text in result.get("unseen", ()))),
        ("survivors", STILL_THERE, ("object", "deleting for", "held by", "what to do"), _survivors(result)),
        ("next_steps", "What to do, in this order", ("what",), ([text] for text in result.get("next_steps", ()))),
        ("blockers", HANGS, ("object", "deleting for", "held by", "what to do"), _blockers(result)),
        ("deadlocks", "Circles", ("who waits for whom", "where to cut"), _circles(result)),
        ("obstacles", "In the way of everybody", ("what", "why", "way out"), _obstacles(result)),
        ("unreadable", "Could not be looked at", ("what",), ([text] for text in result.get("unreadable", ()))),
        ("kept", "Kept on purpose", ("object", "verdict", "reason"), _kept(result)),
        (
            "retained",
            "Stays, or leaves something outside the cluster",
            ("object", "why", "outside the cluster"),
            _retained(result),
        ),
        ("targets", "Routes", ("route", "state", "page", "until", "kept as edited"), _targets(result)),
        ("coverage", "Still reachable", ("host and path", "by", "why"), _coverage(result)),
        (
            "restored",
            "Objects that come back",
            ("object",),
            ([name_of(row["object"])] for row in result.get("restored", ())),
        ),
        (
            "existing",
            "Objects that are there and stay as they are",
            ("object",),
            ([name_of(row)] for row in result.get("existing", ())),
        ),
        ("lost", "Objects that do not come back", ("object", "why"), _lost(result)),
        ("left_out", "Not in the bundle", ("what",), ([text] for text in result.get("left_out", ()))),
        ("swept", "Swept", ("what",), ([text] for text in result.get("swept", ()))),
    ):
        listed = [[_words(value) for value in row] for row in rows]
        if listed:
            shown = listed[:_MOST_STEPS] if key == "next_steps" else listed
            yield Table(title, heads, shown, cut.get(key) or len(listed))


Rows = Iterable[list[Any]]


def _steps(result: Mapping[str, Any]) -> Rows:
    for step in result.get("steps", ()):
        if step["total"] or step["kept"]:
            yield [step[key] for key in ("name", "total", "deleted", "released", "kept", "seconds")]


def _preflight(result: Mapping[str, Any]) -> Rows:
    for row in result.get("preflight", ()):
        yield [row[key] for key in ("check", "level", "text", "next_step")]


def _leftovers(result: Mapping[str, Any], key: str = "leftovers") -> Rows:
    for row in result.get(key, ()):
        yield [name_of(row["object"]), row["why"], row.get("command", "")]


def _survivors(result: Mapping[str, Any]) -> Rows:
    for row in result.get("survivors", ()):
        yield [name_of(row), _age(row), _held_by(row), _advice(row)]


def _blockers(result: Mapping[str, Any]) -> Rows:
    for row in result.get("blockers", ()):
        held = [f"{one['name']} ({one['owner'] or 'owner'} {one['alive']}: {one['why']})" for one in row["finalizers"]]
        held += [one["text"] for one in row["causes"]]
        yield [name_of(row["object"]), _age(row), "; ".join(held), row["suggestion"]]


def _circles(result: Mapping[str, Any]) -> Rows:
    for row in result.get("deadlocks", ()):
        loss = f" ({row['loss']})" if row["cut"] and row.get("loss") else ""
        yield ["; ".join(row["steps"]), f"{row['cut']}{loss}"]


def _obstacles(result: Mapping[str, Any]) -> Rows:
    for row in result.get("obstacles", ()):
        yield [name_of(row["object"]), row["why"], row["suggestion"]]


def _kept(result: Mapping[str, Any]) -> Rows:
    for row in result.get("kept", ()):
        yield [name_of(row["object"]), row["verdict"], row["reason"]]


def _retained(result: Mapping[str, Any]) -> Rows:
    for row in result.get("retained", ()):
        yield [name_of(row["object"]), row["reason"], _outside(row)]


def _lost(result: Mapping[str, Any]) -> Rows:
    for row in result.get("lost", ()):
        yield [name_of(row["object"]), row["reason"]]


def _targets(result: Mapping[str, Any]) -> Rows:
    for row in result.get("targets", ()):
        remarks = "; ".join([*row["conflicts"], *filter(None, [row["why"]])])
        yield [name_of(row), row["state"], row["page"], row["until"], remarks]


def _coverage(result: Mapping[str, Any]) -> Rows:
    for row in result.get("coverage", ()):
        yield [f"{row['host']}{row['path']}", name_of(row), row["why"]]


def _requests(result: Mapping[str, Any]) -> str:
    counts = (result.get("requests") or {}).items()
    return ", ".join(f"{count} {verb}" for verb, count in counts if count) or "none"


def name_of(row: Mapping[str, Any]) -> str:
    place = f"{row['namespace']}/{row['name']}" if row.get("namespace") else row["name"]
    return visible(f"{row['kind']} {place}")


def _age(row: Mapping[str, Any]) -> str:
    return "" if row.get("deleting_for") is None else f"{row['deleting_for']} s"


def _held_by(row: Mapping[str, Any]) -> str:
    return "; ".join(
        ", ".join(str(b[key]) for key in ("finalizer", "text", "reason") if b.get(key)) for b in row["blocked_by"]
    )


def _outside(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{path}: {value}" for path, value in row["external"].items())


def _advice(row: Mapping[str, Any]) -> str:
    return "; ".join(dict.fromkeys(b["suggestion"] for b in row["blocked_by"] if b.get("suggestion")))


def _words(value: Any) -> str:
    return " ".join(str(value).split())
