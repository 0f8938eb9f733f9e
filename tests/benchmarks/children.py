# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one contender as a child process and measures the whole of it, from its start to its end."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# Whatever proxies, certificate bundles and Python settings the caller has, the measured process has none of them.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH")
_PATIENCE = 900.0


@dataclass(frozen=True)
class Child:
    """What one process took, and the JSON line it printed."""

    seconds: float
    cpu_seconds: float
    said: dict[str, Any]


def run(command: Sequence[str]) -> Child:
    """Run to the end. A child that fails, says nothing or takes a quarter of an hour is an error."""
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=output, stderr=errors, env=environment)
        watchdog = threading.Timer(_PATIENCE, child.kill)
        watchdog.start()
        try:
            _pid, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            child.wait()
            raise
        finally:
            watchdog.cancel()
        seconds = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        said, complaint = output.read(), errors.read().decode(errors="replace").strip()
    if child.returncode or not said.strip():
        raise RuntimeError(f"{command[0]} ended with {child.returncode}: {complaint[-2000:]}")
    return Child(seconds, usage.ru_utime + usage.ru_stime, json.loads(said.splitlines()[-1]))
