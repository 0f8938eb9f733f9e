# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An event source for Event-Driven Ansible: what runs of this collection do, while they do it.

It stands alone: ansible-rulebook loads this one file. It reads what `evidence_dir` holds and writes nothing there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

DOCUMENTATION = r"""
---
short_description: Progress of sunset.kube runs
version_added: 0.1.0
author:
  - sunset.kube contributors (@sunset-kube)
description:
  - Follows the folders that runs leave below O(evidence_dir), those under way and those that begin later, and emits an
    event for each row of their C(timeline.jsonl), and one when a run is over.
  - Each event has C(run) (name of the folder), C(job), C(event) (V(looked), V(planned), V(stepbegan), V(did),
    V(progress), V(stepended), V(noted), V(warned), V(finished)), C(step) where one is under way, and the row itself.
  - V(finished) has the keys of C(result.json), C(outcome) above all. A run that was killed never gets one. When its
    timeline has not grown for O(silent_after) seconds, V(silent) is emitted once.
options:
  evidence_dir:
    description: The directory, or several. One that does not exist yet is waited for.
    type: raw
    required: true
  begin:
    description:
      - V(new) skips what was there before the source started, V(all) emits it as well. What O(state_file) knows is
        continued where it was left, in either case.
    type: str
    choices: [new, all]
    default: new
  only:
    description: Emit these events only. The others are read and dropped.
    type: list
    elements: str
  state_file:
    description:
      - A file in which the source keeps how far it has read. With it, a restart loses nothing. A row may be emitted
        twice if the source is killed, never left out.
    type: str
  interval:
    description: Seconds between two looks.
    type: float
    default: 1
  batch:
    description: Rows of one run that are read at a look. What is left comes at the next one, after the other runs.
    type: int
    default: 500
  silent_after:
    description: Seconds after which a run without news counts as silent. 0 never says so.
    type: float
    default: 900
"""

EXAMPLES = r"""
- sunset.kube.progress:
    evidence_dir: /var/lib/sunset/evidence
    state_file: /var/lib/sunset/eda.json
    only: [stepended, finished, silent]
"""

_DEFAULTS = {"begin": "new", "only": None, "state_file": None, "interval": 1.0, "batch": 500, "silent_after": 900.0}
# A row is some hundred bytes. A longer one is not ours, and would be read into memory whole.
_LONGEST = 1_000_000
_BEGAN, _ENDED = "stepbegan", "stepended"


@dataclass
class Place:
    """How far one run was read."""

    offset: int = 0
    step: str = ""
    over: bool = False
    silent: bool = False
    quiet_for: float = 0.0


async def main(queue: asyncio.Queue[dict[str, Any]], args: Mapping[str, Any]) -> None:
    """Follow the runs for ever. A full queue holds us up, nothing is thrown away."""
    follower = Follower(checked(args))
    while True:
        for event in follower.look():
            await queue.put(event)
        follower.remember()
        await asyncio.sleep(follower.interval)


def checked(args: Mapping[str, Any]) -> dict[str, Any]:
    unknown = set(args) - {"evidence_dir", *_DEFAULTS}
    if unknown:
        raise ValueError(f"sunset.kube.progress has no option {', '.join(sorted(unknown))}")
    options = {**_DEFAULTS, **args}
    given = options.get("evidence_dir")
    options["evidence_dir"] = [given] if isinstance(given, str) else list(given or ())
    if not options["evidence_dir"]:
        raise ValueError("sunset.kube.progress needs evidence_dir, the directory that tasks were given")
    if options["begin"] not in ("new", "all"):
        raise ValueError(f"begin is new or all, not {options['begin']}")
    for name in ("interval", "batch"):
        if float(options[name]) <= 0:
            raise ValueError(f"{name} must be more than 0")
    return options


class Follower:
    """Reads what is new each time it is asked. Holds no file open, and knows no time but the number of looks."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.interval = float(options["interval"])
        self._directories = [os.path.expanduser(path) for path in options["evidence_dir"]]
        self._only = set(options["only"] or ())
        self._batch = int(options["batch"])
        self._silent_after = float(options["silent_after"])
        self._state_file = options["state_file"]
        self._places = self._recalled()
        self._remembered: dict[str, Any] | None = None
        if options["begin"] == "new":
            self._skip_what_is_there()

    def look(self) -> Iterator[dict[str, Any]]:
        """Everything new, run by run, the oldest first. Places move only when an event was taken."""
        folders = list(self._folders())
        for gone in self._places.keys() - folders:
            del self._places[gone]
        for folder in folders:
            place = self._places.setdefault(folder, Place())
            if not place.over:
                yield from self._news_of(folder, place)

    def remember(self) -> None:
        """Whole or not at all: a state that is cut off would emit everything again."""
        state = {folder: asdict(place) for folder, place in self._places.items()}
        if not self._state_file or state == self._remembered:
            return
        path = os.path.expanduser(self._state_file)
        descriptor = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(state, stream)
        os.replace(f"{path}.new", path)
        self._remembered = state

    # -- one run -------------------------------------------------------------------------------------------------------

    def _news_of(self, folder: str, place: Place) -> Iterator[dict[str, Any]]:
        # The ending before the timeline: it is written after the last row, so the rows of an ended run are all there.
        ending = _document(os.path.join(folder, "result.json"))
        rows = list(_rows(os.path.join(folder, "timeline.jsonl"), place.offset, self._batch))
        for after, row in rows:
            if row is not None:
                if row.get("event") == _BEGAN:
                    place.step = str(row.get("step") or "")
                yield from self._wanted(folder, place, row)
                if row.get("event") == _ENDED:
                    place.step = ""
            place.offset = after
        if rows:
            place.quiet_for, place.silent = 0.0, False
        elif ending is not None:
            yield from self._wanted(folder, place, {"event": "finished", **ending})
            place.over = True
        else:
            yield from self._silence_of(folder, place)

    def _silence_of(self, folder: str, place: Place) -> Iterator[dict[str, Any]]:
        place.quiet_for += self.interval
        if self._silent_after and not place.silent and place.quiet_for >= self._silent_after:
            yield from self._wanted(folder, place, {"event": "silent", "seconds": place.quiet_for})
            place.silent = True

    def _wanted(self, folder: str, place: Place, row: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        if self._only and row.get("event") not in self._only:
            return ()
        run = os.path.basename(folder)
        about = {"run": run, "job": re.sub(r"-\d+$", "", run.partition("Z-")[2]), "evidence": folder}
        return ({**about, "step": place.step, **row},)

    # -- all of them ---------------------------------------------------------------------------------------------------

    def _folders(self) -> Iterator[str]:
        for directory in self._directories:
            names = []
            with contextlib.suppress(FileNotFoundError):
                names = sorted(os.listdir(directory))
            for name in names:
                folder = os.path.join(directory, name)
                if "Z-" in name and not os.path.islink(folder) and os.path.isdir(folder):
                    yield folder

    def _skip_what_is_there(self) -> None:
        for folder in self._folders():
            if folder not in self._places:
                over = os.path.exists(os.path.join(folder, "result.json"))
                self._places[folder] = Place(offset=_size(os.path.join(folder, "timeline.jsonl")), over=over)

    def _recalled(self) -> dict[str, Place]:
        if not self._state_file:
            return {}
        state = _document(os.path.expanduser(self._state_file)) or {}
        try:
            return {folder: Place(**place) for folder, place in state.items()}
        except TypeError as problem:
            raise ValueError(f"state_file {self._state_file} holds something else: {problem}") from problem


def _rows(path: str, offset: int, most: int) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Each whole row with the place after it. A row that is no JSON is None: passed over, not stumbled over."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as stream:
        stream.seek(offset)
        for _number in range(most):
            line = stream.readline(_LONGEST)
            if not line.endswith(b"\n"):
                if len(line) < _LONGEST:
                    return  # half written: the rest comes later
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_LONGEST)
                yield stream.tell(), None
                continue
            yield stream.tell(), _object(line)


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _document(path: str) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as stream:
            return _object(stream.read(10 * _LONGEST))
    except FileNotFoundError:
        return None


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


if __name__ == "__main__":
    # Without ansible-rulebook: python3 progress.py DIRECTORY prints what it would emit.
    import sys

    class Printer(asyncio.Queue[dict[str, Any]]):
        async def put(self, item: dict[str, Any]) -> None:
            sys.stdout.write(json.dumps(item) + "\n")
            sys.stdout.flush()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(Printer(), {"evidence_dir": sys.argv[1:], "begin": "all"}))
