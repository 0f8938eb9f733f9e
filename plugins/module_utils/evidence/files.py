# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files a run leaves behind: plan, timeline, reports, the way back; readable by their owner only.

Room: evidence. Complete where results are cut. Rows are made where the engine runs; files are written on
the controller.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import json
import os
from collections.abc import Mapping
from typing import Any

from ..events import Event, Progress
from .junit import junit
from .report_html import html
from .report_markdown import markdown
from .report_page import Page
from .report_timeline import stretches_of


def row_for(event: Event, at: float) -> dict[str, Any] | None:
    """A timeline row, or None: progress is for the screen, the timeline has every single write."""
    if isinstance(event, Progress):
        return None
    moment = datetime.datetime.fromtimestamp(at, tz=datetime.timezone.utc)
    return {
        "time": moment.isoformat(timespec="milliseconds"),
        "event": type(event).__name__.lower(),
        **dataclasses.asdict(event),
    }


class EvidenceFolder:
    """A folder of its own for each run, below the directory the task names."""

    def __init__(self, directory: str, job: str, at: float) -> None:
        moment = datetime.datetime.fromtimestamp(at, tz=datetime.timezone.utc)
        base = os.path.join(os.path.expanduser(directory), f"{moment:%Y%m%dT%H%M%S.%f}Z-{job}")
        self.path = _made(base)

    def remove_if_empty(self) -> None:
        with contextlib.suppress(OSError):
            os.rmdir(self.path)

    def write_plan(self, plan: dict[str, Any]) -> None:
        with self._private("plan.json") as stream:
            json.dump(plan, stream, indent=2, sort_keys=True)
            stream.write("\n")

    def write_timeline(self, rows: list[dict[str, Any]]) -> None:
        with self._private("timeline.jsonl") as stream:
            stream.writelines(json.dumps(row, sort_keys=True) + "\n" for row in rows)

    def write_reports(
        self, page: Page, result: Mapping[str, Any], rows: list[dict[str, Any]], plan: Mapping[str, Any]
    ) -> None:
        """The same three times: for a ticket, for a browser, for a pipeline."""
        for name, text in (
            ("report.md", markdown(page)),
            ("report.html", html(page, stretches_of(rows), plan)),
            ("junit.xml", junit(page, result)),
        ):
            with self._private(name) as stream:
                stream.write(text)

    def write_undo(self, steps: list[dict[str, Any]], left_out: list[str]) -> None:
        """One List a step, in the order of deletion; whoever brings it back goes the other way."""
        os.makedirs(os.path.join(self.path, "undo"), mode=0o700)
        for number, step in enumerate(steps, 1):
            name = "".join(letter if letter.isalnum() else "-" for letter in step["step"])[:60]
            with self._private(os.path.join("undo", f"{number:02}-{name}.json")) as stream:
                json.dump({"apiVersion": "v1", "kind": "List", "items": step["objects"]}, stream, indent=1)
                stream.write("\n")
        if left_out:
            with self._private(os.path.join("undo", "left-out.txt")) as stream:
                stream.writelines(f"{line}\n" for line in left_out)

    def write_secrets(self, sealed: str) -> None:
        with self._private(os.path.join("undo", "secrets.vault")) as stream:
            stream.write(sealed)

    def _private(self, name: str) -> Any:
        descriptor = os.open(os.path.join(self.path, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        return os.fdopen(descriptor, "w", encoding="utf-8")


def _made(base: str) -> str:
    """A new folder. Two runs of the same moment (several hosts) get one each."""
    for number in itertools.count(1):
        path = base if number == 1 else f"{base}-{number}"
        try:
            os.makedirs(path, mode=0o700)
        except FileExistsError:
            continue
        return path
    raise AssertionError("unreachable")
