# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The journal on a node: every policy's generations, one file an entry.

Room: network. Private to the collection. Readers name a file they cannot read and never skip it in silence: what is
in it may be the only way back. Times come as text from the caller, who has a clock.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..problems import CannotLook, Refused
from .guard.files import write_text
from .hidden import placeholders_in
from .journal_entries import Action, Entry, Holder, Stage, checked_name, entry_of
from .journal_files import files_in, private_directory, read_text, remove
from .journal_lock import Lock, alone
from .shapes import State

SUFFIX = ".json"


@dataclass(frozen=True)
class Unreadable:
    """A file in the journal that is no entry of ours."""

    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


@dataclass(frozen=True)
class Contents:
    entries: tuple[Entry, ...]
    unreadable: tuple[Unreadable, ...]

    def chain(self, policy: str) -> list[Entry]:
        """All generations of a policy, oldest first."""
        found = [entry for entry in self.entries if entry.policy == policy and entry.action is Action.APPLY]
        return sorted(found, key=lambda entry: entry.generation)

    def live(self) -> dict[str, Entry]:
        """Policies in force: the newest generation that came to be, unless it was taken back, and the older ones so."""
        newest: dict[str, Entry] = {}
        for entry in sorted(self.entries, key=lambda entry: entry.generation):
            if entry.action is Action.APPLY and entry.stage in (Stage.COMMITTED, Stage.REVERTED):
                newest[entry.policy] = entry
        return {policy: entry for policy, entry in newest.items() if entry.is_live}

    def claims(self, besides: str = "") -> dict[str, State]:
        """What each live policy wants."""
        return {policy: entry.desired for policy, entry in self.live().items() if policy != besides}

    def pending(self) -> Entry | None:
        return next((entry for entry in self.entries if entry.is_pending), None)


class Journal:
    """One directory, ours alone. Writers hold the lock."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)

    def lock(self, holder: Holder, doing: str) -> Lock:
        private_directory(self.directory)
        return Lock(self.directory / "lock", holder, doing)

    def contents(self) -> Contents:
        entries: list[Entry] = []
        unreadable: list[Unreadable] = []
        for path in files_in(self.directory, SUFFIX):
            found = self._read(path)
            if isinstance(found, Entry):
                entries.append(found)
            else:
                unreadable.append(found)
        return Contents(tuple(entries), tuple(unreadable))

    def entry(self, identifier: str) -> Entry:
        path = self._path(identifier)
        found = self._read(path)
        if isinstance(found, Unreadable):
            raise CannotLook("cannot read journal entry", which=identifier, why=found.why, next_step=f"look at {path}")
        return found

    def begin(self, entry: Entry, is_alive: Callable[[Holder], bool]) -> Entry:
        """Put down what will be done, before it is done. One transaction at a time on a node."""
        with self._alone():
            return self._begin(entry, is_alive)

    def _begin(self, entry: Entry, is_alive: Callable[[Holder], bool]) -> Entry:
        checked_name(entry.id, "transaction id")
        checked_name(entry.policy, "policy name")
        hidden = list(placeholders_in({"pre": entry.pre, "desired": entry.desired, "revert": entry.revert}))
        if hidden:
            why = f"there is no password for {', '.join(hidden)}, and applying it would set a wrong one"
            raise Refused("cannot journal policy", which=entry.policy, why=why, next_step="read the state with secrets")
        contents = self.contents()
        self._refuse_unreadable(contents)
        if other := contents.pending():
            alive = other.holder is not None and is_alive(other.holder)
            why = f"transaction {other.id} of policy {other.policy} is pending" + (
                f" ({other.holder})" if alive else ""
            )
            step = "wait for it" if alive else f"finish it first: roll {other.id} back"
            raise Refused("cannot begin transaction", which=entry.id, why=why, next_step=step)
        if self._path(entry.id).exists():
            raise Refused("cannot begin transaction", which=entry.id, why="there is an entry of this id already")
        generation = max((one.generation for one in contents.entries if one.policy == entry.policy), default=0) + 1
        return self._write(dataclasses.replace(entry, generation=generation, stage=Stage.PENDING))

    def move(self, identifier: str, stage: Stage, at: str, **more: Any) -> Entry:
        """One stage on, as found on disk now: whoever came first has decided."""
        with self._alone():
            return self._move(identifier, stage, at, **more)

    def record_reversal(self, identifier: str, at: str, kept: tuple[Mapping[str, str], ...] = ()) -> Entry:
        """A policy of which something was left to others stays live, and can be taken back once they are gone."""
        with self._alone():
            entry = self.entry(identifier)
            if entry.stage is Stage.REVERTED:
                return entry
            if kept and entry.is_live:
                return self._write(dataclasses.replace(entry, kept=kept))
            return self._move(identifier, Stage.REVERTED, at, kept=())

    def forget(self, identifier: str) -> None:
        """For entries of rehearsals and of transactions that never changed anything."""
        with self._alone():
            remove(self._path(identifier))

    def _move(self, identifier: str, stage: Stage, at: str, **more: Any) -> Entry:
        entry = self.entry(identifier)
        moved = entry.moved_to(stage, at, **more)
        return entry if moved is entry else self._write(moved)

    def _alone(self) -> AbstractContextManager[None]:
        """For the moment between reading an entry and writing it: a guard and a confirmation may come together."""
        private_directory(self.directory)
        return alone(self.directory / "writing")

    def _refuse_unreadable(self, contents: Contents) -> None:
        if contents.unreadable:
            first = contents.unreadable[0]
            step = "a pending transaction may be in it: mend it, or move it out of the journal"
            raise CannotLook("cannot read the journal", which=first.path, why=first.why, next_step=step)

    def _path(self, identifier: str) -> Path:
        return self.directory / f"{checked_name(identifier, 'transaction id')}{SUFFIX}"

    def _read(self, path: Path) -> Entry | Unreadable:
        try:
            entry = entry_of(json.loads(read_text(path)))
        except FileNotFoundError:
            return Unreadable(str(path), "there is no such file")
        except (OSError, ValueError) as problem:  # not JSON and not UTF-8 are ValueErrors too
            return Unreadable(str(path), str(problem) or type(problem).__name__)
        if f"{entry.id}{SUFFIX}" != path.name:
            return Unreadable(str(path), f"it holds the entry {entry.id}, which is another file's")
        return entry

    def _write(self, entry: Entry) -> Entry:
        private_directory(self.directory)
        write_text(self._path(entry.id), json.dumps(entry.as_dict(), indent=1, sort_keys=True) + "\n")
        return entry
