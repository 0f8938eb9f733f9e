# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a drain as lines, for whoever has to approve it.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..objects import ObjectRef
from ..teardown.drain.planning import Retained
from ..teardown.drain.survey import Survey
from ..teardown.plan import Entry, Step

# Altogether: every kind has its line, and what stays is never cut off by a long list of what goes.
_MOST_NAMED = 100
_MOST_STAYING = 20


def drain_table(survey: Survey) -> list[str]:
    """The policy, every kind with its objects by name, what stays of them elsewhere, and what is not touched."""
    plan = survey.plan
    busy = [step for step in plan.whole.steps if step.size]
    share = max(1, _MOST_NAMED // max(1, len(busy)))
    stops = _cut([f"stop {line}" for line in stops_of(survey)], _MOST_STAYING)
    return [
        f"policy {survey.policy}",
        *([plan.unknown_text] if plan.unknown else []),
        *(stops if survey.quiesces else ()),
        *(line for step in busy for line in _kind(step, share)),
        *(() if survey.quiesces else stops),
        *_cut([f"stays elsewhere: {_bill(one)}" for one in plan.retained if one.external], _MOST_STAYING),
        *_cut([f"loses an owner: {one.text}, and is kept" for one in plan.whole.detachments], _MOST_STAYING),
        *_cut([f"not touched: {_why(entry)}" for entry in plan.whole.kept], _MOST_STAYING),
    ]


def stops_of(survey: Survey) -> list[str]:
    """Which workloads are scaled to 0, and when."""
    when = "first" if survey.quiesces else "once the operator has done its part of the drain"
    return [f"{one.ref}: scaled from {one.wanted} to 0, {when}" for one in survey.stops]


def _kind(step: Step, most: int) -> Iterator[str]:
    deleted = [entry.member.ref for entry in step.going]
    freed = [one for one in step.releases if one.ref not in deleted]
    force = ", by force where they stay" if step.rule.force and deleted else ""
    yield f"{step.rule.name}: {len(deleted)} to delete{force}, {len(freed)} to let go"
    yield from _cut(
        [
            *(f"  delete {_place(ref)}" for ref in deleted),
            *(f"  let go {_place(one.ref)}, without {', '.join(one.finalizers)}" for one in freed),
        ],
        most,
    )


def _place(ref: ObjectRef) -> str:
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name


def _bill(one: Retained) -> str:
    ids = ", ".join(f"{key} {value}" for key, value in one.external.items())
    return f"{one.object} ({ids}): {one.reason}"


def _why(entry: Entry) -> str:
    return f"{entry.member.ref}: {entry.verdict.why}"


def _cut(lines: Sequence[str], most: int) -> list[str]:
    return [*lines[:most], f"  … and {len(lines) - most} more"] if len(lines) > most else list(lines)
