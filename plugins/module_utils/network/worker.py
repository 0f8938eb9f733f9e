# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carries one change out, on the node, in a process of its own: apply, probe, say that it is ready, wait.

Room: network. Started by transaction.py with the folder of its transaction. If it dies, the watchdog brings the node
back when the lease is over. It never confirms anything itself.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..clock import Deadline, RealClock
from ..problems import Problem
from .backends.backend import Backend
from .backends.choosing import backend_named
from .guard.deal import COMMITTED, Folder, now
from .guard.endings import roll_back
from .node_look import open_api, surroundings_from
from .probes.findings import compared, regressions
from .probes.probe import Finding, Probe, Surroundings
from .probes.rounds import hold
from .transaction import LEASE_OF_WORKER, order_of

_NAP = 0.25
_LONGEST_APPLY = 180.0
# NetworkManager's own timer ends after ours, so that one of us proves what came of it.
_LATER = 10.0


class Ended(Problem):
    """Somebody else has decided meanwhile."""


class Worker:
    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.order = order_of(folder)
        self.clock = RealClock()
        self.backend: Backend = backend_named(self.order["backend"])
        self.checkpoint = ""

    def run(self) -> None:
        self.folder.report(worker=os.getpid())
        try:
            self._apply()
            broken = self._probe()
        except Ended:
            return
        except Exception as problem:  # whatever it was: the node goes back
            if not isinstance(problem, Problem):
                traceback.print_exc()
            self._give_up(str(problem), "worker")
        else:
            self._finish(broken)

    def _apply(self) -> None:
        self.folder.report(phase="applying")
        with _Heartbeat(self.folder):
            self.checkpoint = self.backend.apply(self.order["state"], LEASE_OF_WORKER + float(self.order["timeout"]))
        if self.checkpoint:
            self.folder.write_deal(dataclasses.replace(self.folder.deal(), checkpoint=self.checkpoint))
        timeout = float(self.order["timeout"])
        self.folder.renew(min(float(self.order["lease"]), timeout))
        self.folder.report(phase="probing", ends=now() + timeout)

    def _probe(self) -> list[Finding]:
        before = [Finding.from_data(one) for one in self.order["baseline"]]
        probes = [Probe(**one) for one in self.order["probes"]]
        known = Surroundings.from_data(self.order["surroundings"])
        deadline = Deadline(self.clock, max(1.0, float(self.order["timeout"]) - 1.0))
        after = hold(
            probes,
            before,
            lambda: surroundings_from(known),
            self.clock,
            deadline,
            float(self.order["settle"]),
            self._keep_checkpoint,
            api=open_api(known.kubeconfig),
        )
        self.folder.report(probes=compared(before, after))
        return regressions(before, after)

    def _keep_checkpoint(self) -> None:
        if self.folder.decided():
            raise Ended("it is decided")
        if self.checkpoint and not self.backend.renew(self.checkpoint, max(self.folder.left(), 1.0) + _LATER):
            raise Problem(
                "NetworkManager has lost the checkpoint", why="it died, or somebody else has taken the checkpoint"
            )

    def _finish(self, broken: Sequence[Finding]) -> None:
        if broken:
            self._give_up("; ".join(one.detail for one in broken), "probes")
        elif self.order["rehearse"]:
            roll_back(self.folder, "rehearsal")
        else:
            self.folder.report(phase="ready")
            self._wait_for_decision()

    def _wait_for_decision(self) -> None:
        """Until then NetworkManager's timer is held behind ours."""
        next_turn = 0.0
        while not self.folder.decided():
            if self.clock.now() >= next_turn:
                next_turn = self.clock.now() + 2.0
                try:
                    self._keep_checkpoint()
                except Ended:
                    return
                except Problem as problem:
                    self._give_up(str(problem), "worker")
                    return
            self.clock.sleep(_NAP)

    def _give_up(self, why: str, by: str) -> None:
        if self.folder.decided().get("how") != COMMITTED:
            self.folder.report(problem=why)
        roll_back(self.folder, by)


class _Heartbeat:
    """As long as the change is being made, and not for ever: nmstatectl may hang."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def _beat(self) -> None:
        for _turn in range(int(_LONGEST_APPLY / 5)):
            self._folder.renew(LEASE_OF_WORKER)
            if self._done.wait(5.0):
                return

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *problem: Any) -> None:
        self._done.set()
        self._thread.join()


def main() -> None:
    Worker(Folder(Path(sys.argv[1]))).run()


if __name__ == "__main__":
    main()
