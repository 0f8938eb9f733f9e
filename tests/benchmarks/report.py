# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks import figures, targets, transports
from benchmarks.contenders import DELETE, PARALLEL
from benchmarks.measuring import CROWDED, Measurement
from benchmarks.memory import Memory
from benchmarks.races import Race, Scenario
from benchmarks.transports import Transports

TITLES = {DELETE: "Delete and wait until gone", "finalizer": "Remove a finalizer from objects that hang"}


@dataclass
class Results:
    """Everything one run found, and where it ran."""

    machine: str
    scenarios: list[Scenario] = field(default_factory=list)
    transports: Transports | None = None
    memory: list[Memory] = field(default_factory=list)


def markdown(results: Results) -> str:
    parts = [_introduction(results), *_targets(results)]
    for action, title in TITLES.items():
        scenarios = [scenario for scenario in results.scenarios if scenario.action == action]
        if scenarios:
            parts.extend(_scenarios(title, scenarios))
    if results.scenarios:
        parts.extend(_sweeps(results.scenarios))
    if results.transports:
        parts.extend(_transports(results.transports))
    if results.memory:
        parts.extend(_memory(results.memory))
    return "\n\n".join(parts) + "\n"


def _introduction(results: Results) -> str:
    crowded = sum(m.others > CROWDED for m in _all(results))
    return f"""# Benchmarks

Written by `make bench`; do not edit. Last run on {results.machine}.

What is measured is one process of ours from its start to its last answer: Python, imports, kubeconfig, discovery,
list, plan, writes, wait. It keeps {PARALLEL} requests in flight, as every task does that does not say otherwise.
Beside it runs `tests/benchmarks/limit`: a compiled client that does the same writes and the same wait with nothing
around them and no rate limit, with the number of workers that a sweep found fastest. That is what this API server can
do on this machine. Other tools on the same server: [benchmarks-peers.md](benchmarks-peers.md).

Client, API server and etcd share the processors, so objects a second are those of a small machine under load, and
another machine has other ones. **What counts are the ratios of one run.** Contenders take turns in rotating order on
objects seeded alike; each ratio is taken within a round; shown are the median and, in brackets, the lowest and highest
round. From one run to the next expect 10 % in either direction.
{_crowd(crowded, len(list(_all(results))))}

Requests are counted by the server in its audit log. The user is not in `system:masters`, so API priority and fairness
applies. etcd runs without fsync, which makes the server faster and any overhead of the client more visible.

To repeat a part: `make bench ARGS="--sizes 1000 4000 --rounds 3 --scenario delete"`; see `--help`."""


def _crowd(crowded: int, total: int) -> str:
    if not total:
        return ""
    if not crowded:
        return f"Nothing else used more than {CROWDED:.0%} of the machine during any of the {total} measurements."
    return (
        f"During {crowded} of the {total} measurements something else used more than {CROWDED:.0%} of the machine,\n"
        "and went on when they were repeated: take those figures with a grain of salt."
    )


def _all(results: Results) -> Iterator[Measurement]:
    for scenario in results.scenarios:
        for race in scenario.races:
            yield from (*race.ours, *race.limit)
    if results.transports:
        yield from (*results.transports.ours, *results.transports.library)


def _targets(results: Results) -> Iterator[str]:
    judged = targets.judge(results.scenarios, results.memory)
    if judged:
        rows = [
            (target.promise, f"{target.found:.3g}", target.where, "met" if target.met else "**not met**")
            for target in judged
        ]
        yield "## Targets"
        yield _table(("target", "worst found", "where", ""), rows)


def _scenarios(title: str, scenarios: Sequence[Scenario]) -> Iterator[str]:
    yield f"## {title}"
    for scenario in scenarios:
        yield f"### {scenario.kind.title[0].upper()}{scenario.kind.title[1:]}"
        yield _table(
            (
                "objects",
                "ours, objects/s",
                f"limit, objects/s ({scenario.best} workers)",
                "ours ÷ limit",
                "engine alone ÷ limit",
                "requests/object",
                "429s",
                "CPU ms/object",
                "CPU of the limit",
                "peak MiB",
            ),
            [_row(race) for race in scenario.races],
        )


def _row(race: Race) -> tuple[str, ...]:
    return (
        str(race.job.size),
        figures.rate(race.ours).show(".0f"),
        figures.rate(race.limit).show(".0f"),
        figures.of_limit(race).show(".2f"),
        figures.engine_of_limit(race).show(".2f"),
        f"{figures.requests_an_object(race.ours):.3f}{_miscount(race.ours)}",
        str(sum(m.refused for m in race.ours)),
        figures.cpu_ms(race.ours).show(".2f"),
        f"{figures.cpu_ms(race.limit).median:.2f}",
        f"{max(m.peak_mib for m in race.ours):.0f}",
    )


def _miscount(measurements: Iterable[Measurement]) -> str:
    """Our results tell how many requests were sent, and the server must have seen as many.

    It writes nothing down about Leases, and whoever removes finalizers lists those once.
    """
    wrong = [m for m in measurements if m.requests_counted - m.requests_seen not in (0, 1)]
    return f" (we count {wrong[0].requests_counted}, the server {wrong[0].requests_seen})" if wrong else ""


def _sweeps(scenarios: Sequence[Scenario]) -> Iterator[str]:
    yield "## The limit's workers"
    yield "Objects a second of the compiled client by the number of its workers; the fastest was raced above."
    counts = sorted(scenarios[0].sweep)
    rows = []
    for scenario in scenarios:
        size = scenario.sweep[counts[0]][0].objects
        rates = [f"{figures.rate(scenario.sweep[workers]).median:.0f}" for workers in counts]
        rows.append((f"{TITLES[scenario.action]}, {size} {scenario.kind.title}", *rates))
    yield _table(("", *map(str, counts)), rows)


def _transports(found: Transports) -> Iterator[str]:
    faster = figures.ratio(found.ours, found.library, lambda m: m.rate)
    cheaper = figures.ratio(found.ours, found.library, lambda m: m.cpu_seconds)
    engine = figures.ratio(found.ours, found.library, lambda m: m.engine_rate)
    yield "## Why not `http.client`"
    yield (
        "`kube/wire.py` reads HTTP itself. The same engine on the standard library's `http.client`, "
        f"{found.job.title}, {transports.PARALLEL} requests in flight, {len(found.ours)} rounds:"
    )
    yield _table(
        ("", "objects/s", "client CPU ms/object"),
        [
            ("`kube/wire.py`", figures.rate(found.ours).show(".0f"), figures.cpu_ms(found.ours).show(".2f")),
            ("`http.client`", figures.rate(found.library).show(".0f"), figures.cpu_ms(found.library).show(".2f")),
            ("ratio", faster.show(".2f"), cheaper.show(".2f")),
        ],
    )
    yield f"Without the start of the process the ratio of objects a second is {engine.show('.2f')}."


def _memory(found: Sequence[Memory]) -> Iterator[str]:
    yield "## Memory"
    yield "The most memory the process held while it listed and judged everything, before its first write."
    names = {"plan-delete": "delete", "plan-finalizer": "remove a finalizer"}
    rows = [(names[one.action], str(one.objects), f"{one.peak_mib:.0f}", f"{one.seconds:.1f}") for one in found]
    yield _table(("plan", "objects", "peak MiB", "seconds"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
