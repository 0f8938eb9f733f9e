# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run as a page of Markdown, for tickets and change boards. Made from the result alone, so it cannot say more.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_MOST = 50


def report(result: Mapping[str, Any], job: str, cluster: str, when: str) -> str:
    return "\n".join(_lines(result, job, cluster, when)) + "\n"


def _lines(result: Mapping[str, Any], job: str, cluster: str, when: str) -> Iterator[str]:
    cut = result.get("truncated") or {}
    yield f"# {job}: {_verdict(result)}"
    yield ""
    yield f"- when: {when}"
    yield f"- cluster: {cluster}"
    if result.get("source"):
        yield f"- what: {result['source']}"
    if result.get("drain_status"):
        yield f"- drain: {result['drain_status']}, {result.get('progress')}, policy {result.get('policy')}"
    yield f"- plan: `{result.get('plan_hash', '')}`"
    if result.get("msg"):
        yield f"- message: {_cell(result['msg'])}"
    yield from _table(
        "Steps",
        ("step", "objects", "deleted", "released", "kept", "seconds"),
        (
            [s["name"], s["total"], s["deleted"], s["released"], s["kept"], s["seconds"]]
            for s in result.get("steps", ())
            if s["total"] or s["kept"]
        ),
    )
    yield from _table(
        "Still there",
        ("object", "deleting for", "held by", "what to do"),
        ([_name(s), _age(s), _held_by(s), _advice(s)] for s in result.get("survivors", ())),
        cut.get("survivors"),
    )
    yield from _table(
        "Kept on purpose",
        ("object", "verdict", "reason"),
        ([_name(k["object"]), k["verdict"], k["reason"]] for k in result.get("kept", ())),
        cut.get("kept"),
    )
    yield from _table(
        "Stays, or leaves something outside the cluster",
        ("object", "why", "outside the cluster"),
        ([_name(r["object"]), r["reason"], _outside(r)] for r in result.get("retained", ())),
        cut.get("retained"),
    )
    yield from _table(
        "Routes",
        ("route", "state", "page", "until", "kept as edited"),
        (
            [_name(t), t["state"], t["page"], t["until"], "; ".join([*t["conflicts"], *filter(None, [t["why"]])])]
            for t in result.get("targets", ())
        ),
        cut.get("targets"),
    )
    yield from _table(
        "Still reachable",
        ("host and path", "by", "why"),
        ([f"{c['host']}{c['path']}", _name(c), c["why"]] for c in result.get("coverage", ())),
        cut.get("coverage"),
    )
    yield from _table("Swept", ("what",), ([text] for text in result.get("swept", ())), cut.get("swept"))
    requests = ", ".join(f"{count} {verb}" for verb, count in (result.get("requests") or {}).items() if count)
    yield ""
    yield f"Requests to the API server: {requests or 'none'}."


def _verdict(result: Mapping[str, Any]) -> str:
    if result.get("failed"):
        return "failed"
    if result.get("plan") is not None:
        return "plan only (check mode)"
    return "done" if result.get("changed") else "nothing to do"


def _table(title: str, heads: tuple[str, ...], rows: Iterable[list[Any]], total: int | None = None) -> Iterator[str]:
    """`total` is how many there really are, where the result itself was cut."""
    listed = list(rows)
    shown = listed[:_MOST]
    missing = (total or len(listed)) - len(shown)
    if not listed:
        return
    yield ""
    yield f"## {title}"
    yield ""
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in shown:
        yield "| " + " | ".join(_cell(value) for value in row) + " |"
    if missing:
        yield ""
        yield f"… and {missing} more."


def _cell(value: Any) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def _name(row: Mapping[str, Any]) -> str:
    place = f"{row['namespace']}/{row['name']}" if row.get("namespace") else row["name"]
    return f"{row['kind']} {place}"


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
