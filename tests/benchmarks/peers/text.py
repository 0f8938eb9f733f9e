# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures against peers as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.figures import spread
from benchmarks.measuring import CROWDED
from benchmarks.peers import promises
from benchmarks.peers.collection import PACKAGE
from benchmarks.peers.controller import DELAY
from benchmarks.peers.measured import LATENCY, PeerResults, Runs
from benchmarks.peers.promises import OURS, above_floor, faster, task, typical, whole
from benchmarks.peers.runs import Run
from benchmarks.peers.tools import KUBECTL_SIZE


def markdown(results: PeerResults, machine: str) -> str:
    parts = [_introduction(results, machine), "## Targets", _targets(results)]
    for size, runs in results.races.items():
        parts.extend(_race(size, runs))
    parts.extend(_held(results))
    parts.extend(_distance(results))
    return "\n\n".join(parts) + "\n"


def _introduction(results: PeerResults, machine: str) -> str:
    runs = list(_all(results))
    crowded = sum(run.others > CROWDED for run in runs)
    return f"""# Against other tools

Written by `make bench`; do not edit. To measure only this: `make bench ARGS="--scenario peers"`.
Last run on {machine};
{results.versions}, kubernetes.core of the package `{PACKAGE}`.

Everybody deletes the same ConfigMaps of one namespace and waits until they are gone; a list of our own checks that
afterwards. Measured is the whole command from start to exit, for plays also the time around their only task.

| | command |
| --- | --- |
| {OURS} | `ansible-playbook`, one `sunset.kube.ranked_delete` task with a label selector |
| kapp | `kapp delete --yes` |
| helm | `helm uninstall --wait` |
| kubernetes.core | `ansible-playbook`, one `kubernetes.core.k8s` task: `state: absent`, `wait: true`, all in one file |
| kubectl | `kubectl delete configmaps --selector … --wait`, measured with {KUBECTL_SIZE} and scaled: it is linear |

Objects are put into etcd as twins, and the records of Helm and kapp are written by hand. Tools take turns in rotating
order, as a user who is not in `system:masters`. Ratios are taken within a round. Shown are the median and, in brackets,
the lowest and highest of all rounds: three of ours and of kapp, two of helm and of kubernetes.core, one of kubectl.
Client, API server and etcd share the processors.
During {crowded} of the {len(runs)} runs something else used more than {CROWDED:.0%} of the machine; the last column
shows how much."""


def _targets(results: PeerResults) -> str:
    rows = [(p.text, p.found, "met" if p.met else "**not met**") for p in promises.judge(results)]
    return _table(("target", "found", ""), rows)


def _race(size: int, runs: Runs) -> Iterator[str]:
    yield f"## {size} ConfigMaps"
    rows = []
    for name, some in runs.items():
        scaled = [size / run.objects for run in some]
        rows.append(
            (
                name,
                spread(run.seconds * scale for run, scale in zip(some, scaled, strict=True)).show(".1f"),
                faster(runs, name, whole).show(".1f"),
                spread(run.task_seconds * scale for run, scale in zip(some, scaled, strict=True)).show(".1f"),
                faster(runs, name, task).show(".1f"),
                f"{max(run.requests / run.objects for run in some):.2f}",
                str(sum(run.refused for run in some)),
                f"{typical(some, lambda run: run.cpu_seconds / run.objects * 1000):.2f}",
                f"{typical(some, lambda run: run.others):.0%}",
            )
        )
    head = ("", "seconds", "÷ ours", "task alone, seconds", "÷ our task", "requests/object", "429s", "CPU ms/object")
    yield _table((*head, "others on the machine"), rows)


def _held(results: PeerResults) -> Iterator[str]:
    if not results.held:
        return
    size = results.held[OURS][0].objects
    yield "## Held by a finalizer"
    yield (
        f"{size} ConfigMaps, each with a finalizer that a controller takes off {DELAY:.1f} s after the deletion. The\n"
        "floor is that delay plus what the same tool takes when there is no finalizer. Seconds; ours around the task."
    )
    rows = [
        (
            name,
            f"{typical(results.free[name], task):.2f}",
            f"{typical(results.held[name], task):.2f}",
            f"{above_floor(results, name):.2f}",
        )
        for name in results.held
    ]
    yield _table(("", "free", "held", "above the floor"), rows)


def _distance(results: PeerResults) -> Iterator[str]:
    if not results.far:
        return
    size = results.far[OURS][0].objects
    latency = f"{LATENCY * 1000:.0f} ms"
    yield "## A distant server"
    yield (
        f"{size} ConfigMaps through a proxy that holds every request back by {latency}, and through the same proxy\n"
        f"without that. One request after the other would add {LATENCY * size:.0f} s. Seconds around the task."
    )
    rows = []
    for name in results.far:
        near, far = typical(results.near[name], task), typical(results.far[name], task)
        rows.append((name, f"{near:.2f}", f"{far:.2f}", f"{far - near:+.2f}", f"{far / near:.2f}"))
    yield _table(("", "near", f"{latency} away", "difference", "ratio"), rows)


def _all(results: PeerResults) -> Iterator[Run]:
    for runs in (*results.races.values(), results.free, results.held, results.near, results.far):
        for some in runs.values():
            yield from some


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
