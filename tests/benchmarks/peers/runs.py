# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of one tool: seed, run the whole command, look whether everything is gone."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bystanders import Bystanders
from benchmarks.measuring import CROWDED, say
from benchmarks.peers import collection, crop
from benchmarks.peers.tools import Peer, Stage

_PATIENCE = 600.0
# Proxies, certificate bundles and other settings of the caller stay outside.
_KEPT = ("PATH", "LANG", "LC_ALL")


@dataclass(frozen=True)
class Run:
    objects: int
    seconds: float  # the whole command
    task_seconds: float  # of its only task, where it is a play; else the whole command
    cpu_seconds: float  # of the client
    requests: int  # as the server counted them
    refused: int  # 429 answers among them
    others: float  # the part of the machine somebody else used meanwhile


def run(
    peer: Peer,
    stage: Stage,
    *,
    held: bool = False,
    meanwhile: Callable[[Stage], AbstractContextManager[None]] = lambda _stage: nullcontext(),
) -> Run:
    plane = stage.ground.plane
    stage.ground.patience.wait_for_calm(CROWDED)
    crop.sow(plane, stage.size, held)
    command, environment = peer.command(stage), surroundings(stage.folder, stage.kubeconfig)
    clock = Path(environment["JUNIT_OUTPUT_DIR"])
    shutil.rmtree(clock, ignore_errors=True)
    with meanwhile(stage):
        mark, bystanders = plane.audit.mark(), Bystanders(plane.pids.values())
        seconds, cpu_seconds = _timed(command, environment)
        others = bystanders.share(cpu_seconds)
    seen = plane.audit.since(mark, stage.ground.user.name)
    if still_there := crop.left(plane):
        raise RuntimeError(f"{peer.name} ended well, but {still_there} of {stage.size} objects are still there")
    found = Run(
        objects=stage.size,
        seconds=seconds,
        task_seconds=_task_seconds(clock) if peer.is_play else seconds,
        cpu_seconds=cpu_seconds,
        requests=len(seen),
        refused=sum(event.code == 429 for event in seen),
        others=others,
    )
    say(f"{stage.size} objects: {peer.name} {seconds:.2f} s" + (f", {others:.0%} others" if others > 0.03 else ""))
    return found


def surroundings(folder: Path, kubeconfig: Path) -> dict[str, str]:
    """The environment of a command: a home of its own, and Ansible's own callback to time the task."""
    ours = next(place for place in sys.path if (Path(place) / "ansible_collections" / "sunset" / "kube").is_dir())
    return {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "HOME": str(folder),
        "KUBECONFIG": str(kubeconfig),
        "ANSIBLE_COLLECTIONS_PATH": f"{ours}:{collection.kubernetes_core()}",
        "ANSIBLE_CALLBACKS_ENABLED": "ansible.builtin.junit",
        "JUNIT_OUTPUT_DIR": str(folder / "clock"),
    }


def _timed(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall and processor seconds. A command that fails or takes ten minutes is an error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        child = subprocess.Popen(
            command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True
        )
        watchdog = threading.Timer(_PATIENCE, _end, [child])  # a wait with a time limit would look only now and then
        watchdog.start()
        try:
            child.wait()
        except BaseException:
            _end(child)
            child.wait()
            raise
        finally:
            watchdog.cancel()
        seconds = time.perf_counter() - began
        output.seek(0)
        said = output.read().decode(errors="replace")
    if child.returncode:
        raise RuntimeError(f"{Path(command[0]).name} ended with {child.returncode}: {said.strip()[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _end(child: subprocess.Popen[bytes]) -> None:
    os.killpg(child.pid, signal.SIGKILL)  # a session of its own: with everything it started


def _task_seconds(clock: Path) -> float:
    (file,) = clock.glob("*.xml")
    return sum(float(case.get("time", "0")) for case in xml.etree.ElementTree.parse(file).iter("testcase"))
