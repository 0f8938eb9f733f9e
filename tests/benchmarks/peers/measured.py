# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All of it in one go: races by size, objects that are held for a second, and a distant server."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.bystanders import Patience
from benchmarks.ground import fresh_ground
from benchmarks.measuring import say
from benchmarks.peers import crop, tools
from benchmarks.peers.controller import slow_controller
from benchmarks.peers.runs import Run, run
from benchmarks.peers.tools import Peer, Stage
from lab.faults import FaultProxy

SIZES = (1000, 4000)
HELD_SIZE = 300
DISTANT_SIZE = 1000
LATENCY = 0.02
WIDE = 64
_WARM_UP = 50

Runs = dict[str, list[Run]]  # by contender; the runs of one round have the same place in every list


@dataclass
class PeerResults:
    server_version: str = ""
    versions: str = ""
    races: dict[int, Runs] = field(default_factory=dict)  # by size
    free: Runs = field(default_factory=dict)  # HELD_SIZE objects without a finalizer
    held: Runs = field(default_factory=dict)  # and with one
    near: Runs = field(default_factory=dict)  # through a proxy that adds nothing
    far: Runs = field(default_factory=dict)  # and through one that adds LATENCY


def measure_peers(patience: Patience, sizes: Sequence[int] = SIZES, rounds: int | None = None) -> PeerResults:
    """`rounds` is the most that anybody gets."""
    results = PeerResults()
    with fresh_ground(patience) as ground, tempfile.TemporaryDirectory(prefix="sunset-kube-peers-") as directory:
        crop.open_records(ground.plane)
        stage = Stage(ground, Path(directory), _WARM_UP, ground.user.kubeconfig)
        results.server_version = ground.server_version
        results.versions = tools.versions()
        everybody = [_at_most(rounds, peer) for peer in tools.everybody()]
        say("peers: warming up")
        for peer in everybody:
            run(replace(peer, size=None), stage)
        for size in sizes:
            results.races[size] = _race(everybody, replace(stage, size=size))
        few = min(HELD_SIZE, max(sizes))
        _hold(results, everybody[:3], replace(stage, size=few))
        _distance(results, rounds, replace(stage, size=min(DISTANT_SIZE, max(sizes))))
    return results


def _at_most(rounds: int | None, peer: Peer) -> Peer:
    return replace(peer, rounds=min(peer.rounds, rounds)) if rounds else peer


def _race(peers: Sequence[Peer], stage: Stage, go: Callable[[Peer, Stage], Run] = run) -> Runs:
    """Rounds in rotating order; who has had all of its rounds sits out."""
    found: Runs = {peer.name: [] for peer in peers}
    for number in range(max(peer.rounds for peer in peers)):
        first = number % len(peers)
        for peer in (*peers[first:], *peers[:first]):
            if number < peer.rounds:
                size = min(peer.size or stage.size, stage.size)
                found[peer.name].append(go(peer, replace(stage, size=size)))
    return found


def _hold(results: PeerResults, peers: Sequence[Peer], stage: Stage) -> None:
    say(f"peers: {stage.size} objects, free and held")
    results.free = _race(peers, stage)
    results.held = _race(peers, stage, lambda peer, stage: run(peer, stage, held=True, meanwhile=slow_controller))


def _distance(results: PeerResults, rounds: int | None, stage: Stage) -> None:
    say(f"peers: {stage.size} objects, near and {LATENCY * 1000:.0f} ms away")
    peers = [_at_most(rounds, peer) for peer in (tools.ours(), tools.ours(WIDE))]
    with FaultProxy(stage.ground.plane) as proxy:
        through = replace(stage, kubeconfig=proxy.kubeconfig(stage.ground.user))

        def at(latency: float) -> Callable[[Stage], AbstractContextManager[None]]:
            def meanwhile(_stage: Stage) -> AbstractContextManager[None]:
                proxy.latency = latency
                return nullcontext()

            return meanwhile

        results.near = _race(peers, through, lambda peer, stage: run(peer, stage, meanwhile=at(0.0)))
        results.far = _race(peers, through, lambda peer, stage: run(peer, stage, meanwhile=at(LATENCY)))
