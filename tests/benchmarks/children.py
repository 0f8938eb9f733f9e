# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one contender as a child process and measures the whole of it, from the outside."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Whatever proxies, bundles and Python settings the caller has, the measured process has none of them.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH")
_PATIENCE = 900.0


@dataclass(frozen=True)
class Child:
    """What one process took, and the JSON line it printed."""

    seconds: float
    cpu_seconds: float
    said: dict[str, Any]


def run(command: Sequence[str]) -> Child:
    """Run to the end. A child that fails or prints no JSON is an error."""
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    with tempfile.TemporaryDirectory() as scratch, (Path(scratch) / "err").open("w+b") as errors:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment)
        try:
            output, _ = child.communicate(timeout=_PATIENCE)
        except BaseException:
            child.kill()
            child.wait()
            raise
        seconds = time.perf_counter() - began
        errors.seek(0)
        complaint = errors.read().decode(errors="replace").strip()
    if child.returncode or not output.strip():
        raise RuntimeError(f"{command[0]} ended with {child.returncode}: {complaint[-2000:]}")
    said: dict[str, Any] = json.loads(output.splitlines()[-1])
    return Child(seconds, said["cpu_seconds"], said)
