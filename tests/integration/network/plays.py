# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real playbooks from the lab's controller, over SSH, for the nodes of its network."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from integration.running import PATIENCE, Play, PlayRun, playbook_command, settings, started
from lab.net import Net

Task = Mapping[str, Any]


@contextlib.contextmanager
def playing(
    net: Net, tasks: Sequence[Task], *arguments: str, check: bool = False, diff: bool = False
) -> Iterator[Play]:
    """An ansible-playbook on the controller, for all nodes, running. It is ended when the block is left."""
    with tempfile.TemporaryDirectory(prefix="play-") as place:
        directory = Path(place)
        inventory = directory / "inventory.json"
        inventory.write_text(json.dumps(net.inventory()))
        # A place of its own for connections that are kept, so that they end with it and serve nobody else.
        sockets = {"ansible_control_path_dir": f"/run/{directory.name}"}
        on = ("--inventory", str(inventory), "--extra-vars", json.dumps(sockets))
        command = playbook_command(directory, "all", tasks, *on, *arguments, check=check, diff=diff)
        with started(net.controller.inside(command), directory, settings(directory)) as play:
            yield play


def play(net: Net, *tasks: Task, check: bool = False, diff: bool = False, timeout: float = PATIENCE) -> PlayRun:
    """These tasks to the end. By pipelining, which is quicker; `playing` goes the way Ansible goes by default."""
    with playing(net, tasks, "--extra-vars", '{"ansible_pipelining": true}', check=check, diff=diff) as running:
        return running.finish(timeout)
