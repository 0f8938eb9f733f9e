# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that come with Go modules: definitions of products that we only need as data."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from lab import machine
from lab.problems import LabError
from lab.recipes import WRAPPERS

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # definitions are long: seconds without the C library


@functools.cache
def directory(module: str, version: str, checksum: str = "") -> Path:
    """Where a module's files are; fetched when they are not there yet. `checksum`, where pinned, is as in a go.sum."""
    asked = subprocess.run(
        ["go", "mod", "download", "-json", f"{module}@{version}"],
        cwd=WRAPPERS / "ocm",
        env=machine.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode:
        raise LabError(
            f"the Go module {module} {version} cannot be fetched: {asked.stdout[-500:]}{asked.stderr[-500:]}"
        )
    answer = json.loads(asked.stdout)
    if checksum and answer["Sum"] != checksum:
        raise LabError(f"the Go module {module} {version} has the checksum {answer['Sum']}, not {checksum}")
    return Path(answer["Dir"])


def documents(module: str, version: str, pattern: str) -> Iterator[dict[str, Any]]:
    """Every YAML document in the files of a module that fit a glob, in the order of their names."""
    for file in files(directory(module, version), pattern):
        yield from parsed(file.read_text(encoding="utf-8"))


def files(place: Path, pattern: str) -> list[Path]:
    """Those that fit a glob. None is an error: then the glob is wrong, or the next version has them elsewhere."""
    found = sorted(place.glob(pattern))
    if not found:
        raise LabError(f"the Go module in {place} has no file {pattern}")
    return found


def parsed(text: str) -> Iterator[dict[str, Any]]:
    """The YAML documents of a text."""
    return (one for one in yaml.load_all(text, Loader=LOADER) if one)
