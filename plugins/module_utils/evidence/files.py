# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files a run leaves behind: plan, timeline, reports, the way back; readable by their owner only.

Room: evidence. Complete where results are cut. Rows are made where the engine runs; files are written on the
controller: the timeline while the run goes, so that one that is killed leaves it too, `result.json` last of all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import errno
import itertools
import json
import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from ..events import Event
from ..visible import visible
from .junit import junit
from .report_html import html
from .report_markdown import markdown
from .report_page import Page
from .report_timeline import stretches_of


def row_for(event: Event, at: float) -> dict[str, Any]:
    """A row of the timeline, which has every single write."""
    moment = datetime.datetime.fromtimestamp(at, tz=datetime.timezone.utc)
    return {
        "time": moment.isoformat(timespec="milliseconds"),
        "event": type(event).__name__.lower(),
        **dataclasses.asdict(event),
    }


LATEST = "latest"
# Of file systems without symbolic links.
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP)


class Timeline:
    """Rows as they come. Each is handed to the system at once, so that nothing is lost with this process."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.problem: OSError | None = None

    def add(self, row: Mapping[str, Any]) -> None:
        """Never raises: a full disk must not stop a deletion half-way. The last line may be a half one then."""
        with self._lock:
            if self.problem or self._stream.closed:
                return
            try:
                self._stream.write(json.dumps(row, sort_keys=True) + "\n")
                self._stream.flush()
            except OSError as problem:
                self.problem = problem

    def close(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            self._stream.close()


class EvidenceFolder:
    """A folder of its own for each run, below the directory the task names."""

    def __init__(self, directory: str, job: str, at: float) -> None:
        moment = datetime.datetime.fromtimestamp(at, tz=datetime.timezone.utc)
        base = os.path.join(os.path.expanduser(directory), f"{moment:%Y%m%dT%H%M%S.%f}Z-{job}")
        self.path = _made(base)
        _point_latest_at(self.path)

    def write_plan(self, plan: dict[str, Any]) -> None:
        with self._private("plan.json") as stream:
            json.dump(plan, stream, indent=2, sort_keys=True)
            stream.write("\n")

    def begin_timeline(self) -> Timeline:
        return Timeline(self._private("timeline.jsonl"))

    def write_timeline(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """All at once, for a run that was elsewhere."""
        timeline = self.begin_timeline()
        for row in rows:
            timeline.add(row)
        timeline.close()
        if timeline.problem:
            raise timeline.problem

    def write_reports(
        self,
        page: Page,
        result: Mapping[str, Any],
        rows: list[dict[str, Any]],
        plan: Mapping[str, Any],
        graph: Mapping[str, Any] | None = None,
    ) -> None:
        """The same three times: for a ticket, for a browser, for a pipeline."""
        for name, text in (
            ("report.md", markdown(page)),
            ("report.html", html(page, stretches_of(rows), plan, graph)),
            ("junit.xml", junit(page, result)),
        ):
            with self._private(name) as stream:
                stream.write(text)

    def write_ending(self, ending: Mapping[str, Any]) -> None:
        """Last of all, and whole or not at all: whoever finds it knows that the run is over."""
        with self._private("result.json.new") as stream:
            json.dump(ending, stream, indent=2)
            stream.write("\n")
        os.replace(os.path.join(self.path, "result.json.new"), os.path.join(self.path, "result.json"))

    def write_undo(self, steps: list[dict[str, Any]], left_out: list[str]) -> None:
        """One List a step, in the order of deletion; whoever brings it back goes the other way.

        May be written again with more: a drain sets aside first, and then the deletion.
        """
        os.makedirs(os.path.join(self.path, "undo"), mode=0o700, exist_ok=True)
        for number, step in enumerate(steps, 1):
            name = "".join(letter if letter.isalnum() else "-" for letter in step["step"])[:60]
            with self._private(os.path.join("undo", f"{number:02}-{name}.json")) as stream:
                json.dump({"apiVersion": "v1", "kind": "List", "items": step["objects"]}, stream, indent=1)
                stream.write("\n")
        if left_out:
            with self._private(os.path.join("undo", "left-out.txt")) as stream:
                stream.writelines(f"{visible(line)}\n" for line in left_out)

    def write_secrets(self, sealed: str) -> None:
        with self._private(os.path.join("undo", "secrets.vault")) as stream:
            stream.write(sealed)

    def _private(self, name: str) -> Any:
        descriptor = os.open(os.path.join(self.path, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        return os.fdopen(descriptor, "w", encoding="utf-8")


def _point_latest_at(path: str) -> None:
    """`latest` beside the folders leads to the newest, also while its run goes. There is never a moment without it."""
    directory, name = os.path.split(path)
    link = os.path.join(directory, f".{LATEST}-{name}")
    try:
        os.symlink(name, link)
    except OSError as problem:
        if problem.errno in _NO_LINKS:
            return
        raise
    os.replace(link, os.path.join(directory, LATEST))


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
