# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m benchmarks`: measure, print the figures, and after a whole run write docs/benchmarks*.md."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import time
from pathlib import Path

from benchmarks import peers
from benchmarks.bystanders import Patience
from benchmarks.contenders import DELETE, FINALIZE
from benchmarks.ground import fresh_ground
from benchmarks.kinds import KINDS
from benchmarks.measuring import say
from benchmarks.memory import plan_memory
from benchmarks.races import run_scenario
from benchmarks.report import Results, markdown
from benchmarks.transports import compare_transports

DOCUMENT = Path(__file__).parents[2] / "docs" / "benchmarks.md"
PEERS_DOCUMENT = DOCUMENT.with_name("benchmarks-peers.md")
SIZES = (250, 1000, 4000, 16000)
TRANSPORT, MEMORY, PEERS = "transport", "memory", "peers"
SCENARIOS = (DELETE, FINALIZE, TRANSPORT, MEMORY, PEERS)


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: with everything we started
    began = time.monotonic()
    say("about half an hour on two processors that have nothing else to do" if _is_whole(options) else "a part")
    if set(options.scenario) != {PEERS}:
        _publish(markdown(_measured(options)), options.output or (DOCUMENT if _is_whole(options) else None))
    if PEERS in options.scenario:
        _publish(_against_peers(options), _peers_output(options))
    say(f"took {time.monotonic() - began:.0f} s")
    return 0


def _publish(text: str, output: Path | None) -> None:
    print(text, end="")
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
        say(f"written to {output}")


def _against_peers(options: argparse.Namespace) -> str:
    sizes = peers.SIZES if options.sizes == list(SIZES) else options.sizes
    found = peers.measure_peers(Patience(options.patience), sizes, options.rounds)
    return peers.markdown(found, _machine(found.server_version))


def _peers_output(options: argparse.Namespace) -> Path | None:
    if options.output:
        return options.output if set(options.scenario) == {PEERS} else options.output.with_name(PEERS_DOCUMENT.name)
    return PEERS_DOCUMENT if options.sizes == list(SIZES) and not options.rounds else None


def _measured(options: argparse.Namespace) -> Results:
    results = Results("")
    patience = Patience(options.patience)
    for action in (DELETE, FINALIZE):
        for name in options.kind:
            if action in options.scenario:
                with fresh_ground(patience) as ground:
                    results.machine = _machine(ground.server_version)
                    results.scenarios.append(run_scenario(ground, KINDS[name], action, options.sizes, options.rounds))
    for part in (TRANSPORT, MEMORY):
        if part in options.scenario:
            with fresh_ground(patience) as ground:
                results.machine = _machine(ground.server_version)
                if part == TRANSPORT:
                    results.transports = compare_transports(ground, options.rounds)
                else:
                    results.memory = plan_memory(ground)
    return results


def _machine(server_version: str) -> str:
    date = time.strftime("%Y-%m-%d", time.gmtime())
    cores = os.cpu_count()
    return f"{date}: {cores} processors, Python {platform.python_version()}, Kubernetes {server_version}"


def _is_whole(options: argparse.Namespace) -> bool:
    """Only a run of everything may replace the document; peers have one of their own."""
    return (
        {*options.scenario, PEERS} == set(SCENARIOS)
        and set(options.kind) == set(KINDS)
        and options.sizes == list(SIZES)
    )


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N", help="how many objects")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each; more for small sizes if not given")
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=list(SCENARIOS), help="only these")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=list(KINDS), help="only these kinds")
    parser.add_argument("--memory", action="store_const", const=[MEMORY], dest="scenario", help="--scenario memory")
    parser.add_argument("--patience", type=float, default=300.0, metavar="S", help="wait so long for a calm machine")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write there, even if only a part was measured")
    options = parser.parse_args(arguments)
    options.sizes = sorted(set(options.sizes))
    return options


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(130)
