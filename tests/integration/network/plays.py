# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real playbooks from the lab's controller, over SSH, for the nodes of its network."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from integration.running import PATIENCE, Play, PlayRun, _program, playbook_command, settings, started
from lab.net.network import Net

Task = Mapping[str, Any]
PIPELINED = ("--extra-vars", '{"ansible_pipelining": true}')


@contextlib.contextmanager
def _playing(net: Net, command_in: Callable[[Path], Sequence[str]]) -> Iterator[Play]:
    """An ansible-playbook on the controller, with the nodes as its inventory. It is ended when the block is left."""
    with tempfile.TemporaryDirectory(prefix="play-") as place:
        directory = Path(place)
        inventory = directory / "inventory.json"
        inventory.write_text(json.dumps(net.inventory()))
        # A place of its own for connections that are kept, so that they end with it and serve nobody else.
        sockets = {"ansible_control_path_dir": f"/run/{directory.name}"}
        on = ("--inventory", str(inventory), "--extra-vars", json.dumps(sockets))
        command = [*command_in(directory), *on]
        with started(net.controller.inside(command), directory, settings(directory)) as play:
            yield play


@contextlib.contextmanager
def playing(
    net: Net, tasks: Sequence[Task], *arguments: str, check: bool = False, diff: bool = False
) -> Iterator[Play]:
    """These tasks for all nodes, running."""
    with _playing(
        net, lambda directory: playbook_command(directory, "all", tasks, *arguments, check=check, diff=diff)
    ) as play:
        yield play


def play_named(net: Net, playbook: str, *arguments: str, timeout: float = PATIENCE) -> PlayRun:
    """A playbook of the collection to the end, without a terminal."""
    with _playing(net, lambda _directory: [_program("ansible-playbook"), playbook, *arguments, *PIPELINED]) as running:
        return running.finish(timeout)


def play(net: Net, *tasks: Task, check: bool = False, diff: bool = False, timeout: float = PATIENCE) -> PlayRun:
    """These tasks to the end. By pipelining, which is quicker; `playing` goes the way Ansible goes by default."""
    with playing(net, tasks, *PIPELINED, check=check, diff=diff) as running:
        return running.finish(timeout)
