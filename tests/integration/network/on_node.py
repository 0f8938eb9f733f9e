# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A backend on a node of the lab, asked from outside."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from integration.network import backend_driver
from integration.network.policies import State
from lab.net.network import Net
from lab.net.node import BASE_PYTHON

MANAGED = {"nmstatectl": True, "networkmanager": True, "iproute2": False}


class OnNode:
    """A backend on the first node. What a test leaves is what it found; after one that fails, the node is made new."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.node = net.node(0)
        self.backend = ""
        self._driver: subprocess.Popen[str] | None = None
        self.clean = False

    def renew(self, backend: str, *, ask_neighbours: bool = True) -> None:
        """A new node, with or without NetworkManager. Asking first whether somebody has an address takes a second."""
        self.close()
        self.backend = backend
        self.net.reset(network_manager=MANAGED.get(backend, True))
        if not ask_neighbours:
            settings = "for each in /proc/sys/net/ipv6/conf/*/dad_transmits; do echo 0 > $each; done"
            self.node.run(["sh", "-c", settings], check=True)
        environment = {**self.node.environment(), "PYTHONPATH": os.environ["PYTHONPATH"]}
        command = self.node.inside([BASE_PYTHON, str(Path(backend_driver.__file__).resolve())])
        self._driver = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def close(self) -> None:
        if self._driver is not None:
            self._driver.kill()
            self._driver.communicate()

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        assert self._driver
        assert self._driver.stdin
        assert self._driver.stdout
        self._driver.stdin.write(json.dumps({"backend": self.backend, "do": do, **more}) + "\n")
        self._driver.stdin.flush()
        told: dict[str, Any] = json.loads(self._driver.stdout.readline())
        return told

    def capture(self) -> State:
        found: State = self.ask("capture")["answer"]
        return found

    def apply(self, state: State) -> None:
        told = self.ask("apply", state=state, seconds=30)
        assert "problem" not in told, told["says"]
        if told["answer"]:
            self.ask("commit", checkpoint=told["answer"])

    def refused(self, state: State, seconds: float = 30) -> str:
        """What it says to something it cannot do."""
        told = self.ask("apply", state=state, seconds=seconds)
        assert "problem" in told, f"it did it: {told}"
        says: str = told["says"]
        return says
