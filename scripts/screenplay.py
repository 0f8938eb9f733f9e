# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a terminal showed when, as one long sheet of lines that passes behind a window.

A line keeps its place on the sheet when the terminal scrolls, so each is there once however far it travels. One that is
written over (a progress bar) has a version for each state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyte
from pyte.screens import Char

FRAME = 0.08  # seconds: what is written faster appears at once
LAST_PAUSE = 4.0  # seconds to read the end before it starts again


@dataclass(frozen=True)
class Style:
    colour: str = "default"
    bold: bool = False
    reverse: bool = False


@dataclass(frozen=True)
class Run:
    """Text of one style, from one column on."""

    column: int
    text: str
    style: Style


@dataclass
class Version:
    """What a line is from one moment to another; until the end where `until` is None."""

    runs: tuple[Run, ...]
    since: float
    until: float | None = None


@dataclass
class Film:
    columns: int
    rows: int
    seconds: float = 0.0
    lines: dict[int, list[Version]] = field(default_factory=dict)  # place on the sheet → its versions
    scrolls: list[tuple[float, int]] = field(default_factory=list)  # when → the topmost line in the window

    def write(self, place: int, runs: tuple[Run, ...], now: float) -> None:
        versions = self.lines.setdefault(place, [])
        if not versions and not runs:
            return
        if versions and versions[-1].runs == runs:
            return
        if versions:
            versions[-1].until = now
        versions.append(Version(runs, now))


class Window(pyte.Screen):  # type: ignore[misc]  # pyte has no type hints
    """A terminal that keeps what leaves it at the top."""

    def __init__(self, columns: int, rows: int) -> None:
        self.top = 0
        self.departed: dict[int, tuple[Run, ...]] = {}
        super().__init__(columns, rows)

    def index(self) -> None:
        if self.cursor.y == self.lines - 1:
            self.departed[self.top] = self.runs(0)
            self.top += 1
        super().index()

    def runs(self, row: int) -> tuple[Run, ...]:
        """The line's text in as few pieces as its styles allow, without the blanks at its end."""
        cells = [self.buffer[row][column] for column in range(self.columns)]
        found: list[Run] = []
        for column, cell in enumerate(cells):
            if found and _goes_with(found[-1], cell):
                found[-1] = Run(found[-1].column, found[-1].text + cell.data, found[-1].style)
            else:
                found.append(Run(column, cell.data, Style(cell.fg, cell.bold, cell.reverse)))
        return tuple(_without_blanks(run) for run in found if run.text.strip())


def _goes_with(run: Run, cell: Char) -> bool:
    style = Style(cell.fg, cell.bold, cell.reverse)
    # A blank looks the same in any colour, but not on a coloured ground.
    is_blank = cell.data == " " and not cell.reverse and not run.style.reverse
    return is_blank or run.style == style


def _without_blanks(run: Run) -> Run:
    text = run.text.lstrip()
    return Run(run.column + len(run.text) - len(text), text.rstrip(), run.style)


def play(pieces: Iterable[tuple[float, str]], columns: int, rows: int, *, longest_pause: float) -> Film:
    """Everything that was ever in the window. Pauses are cut, and the last state stays for a while."""
    film, window = Film(columns, rows), Window(columns, rows)
    stream = pyte.Stream(window)
    now = before = 0.0
    for at, text in _frames(pieces):
        now += min(at - before, longest_pause)
        before = at
        stream.feed(text)
        _photograph(window, film, now)
    film.seconds = now + LAST_PAUSE
    return film


def _frames(pieces: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    frames: list[tuple[float, str]] = []
    for at, text in pieces:
        if frames and at - frames[-1][0] < FRAME:
            frames[-1] = (frames[-1][0], frames[-1][1] + text)
        else:
            frames.append((at, text))
    return frames


def _photograph(window: Window, film: Film, now: float) -> None:
    for place, runs in window.departed.items():
        film.write(place, runs, now)
    window.departed.clear()
    for row in range(window.lines):
        film.write(window.top + row, window.runs(row), now)
    if not film.scrolls or film.scrolls[-1][1] != window.top:
        film.scrolls.append((now, window.top))
