# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the wait-for graph is drawn with: boxes with lines of text, arrows, numbered badges.

Room: evidence. Text in SVG does not wrap by itself, so it is broken here, by the number of letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..visible import visible
from .escaping import in_html

WIDTH = 236.0
_TITLE, _NOTE = 25.0, 30.0  # letters of common width on a line: titles are bold
_WIDE, _LATIN = frozenset("mwMW@%…"), 0x24F
_TITLE_LINES, _NOTE_LINES = 3, 2
_PORT, _TALLEST = 8.0, 200.0  # room for the end of an arrow; what a box may grow to for them
_LINE, _PAD = 18.0, 9.0
_HEAD = 7.0  # length of an arrow's head


@dataclass(frozen=True)
class Box:
    look: str
    title: Sequence[str]
    notes: Sequence[str]
    ends: int = 0  # arrows at its busier side

    @property
    def height(self) -> float:
        text = 2 * _PAD + _LINE * (len(self.title) + len(self.notes))
        return max(text, min(_TALLEST, _PORT * (self.ends + 1)))

    def at(self, x: float, y: float) -> str:
        # A box that is higher than its text, for its many arrows, has it in the middle.
        first = y + (self.height - _LINE * (len(self.title) + len(self.notes))) / 2 + 13
        lines = [
            f'<text class="{kind}" x="{x + _PAD:.1f}" y="{first + _LINE * place:.1f}">{in_html(text)}</text>'
            for place, (kind, text) in enumerate(
                [*(("title", text) for text in self.title), *(("note", text) for text in self.notes)]
            )
        ]
        frame = f'<rect x="{x:.1f}" y="{y:.1f}" width="{WIDTH:.0f}" height="{self.height:.0f}" rx="7"/>'
        return f'<g class="node {in_html(self.look)}">{frame}{"".join(lines)}</g>'


def box(node: Mapping[str, Any], ends: int) -> Box:
    notes = [line for note in node["notes"] for line in _broken(visible(str(note)), _NOTE, _NOTE_LINES)]
    look = " ".join(filter(None, (str(node["sort"]), str(node["state"]))))
    return Box(look, _broken(visible(str(node["title"])), _TITLE, _TITLE_LINES), notes, ends)


def _broken(text: str, room: float, most: int) -> list[str]:
    """At blanks, slashes, dots and dashes, if that is possible, and never more than a few lines."""
    lines = [""]
    for word in text.split():
        glue = " " if lines[-1] else ""
        if lines[-1] and _width(f"{lines[-1]}{glue}{word}") > room:
            lines.append("")
            glue = ""
        *parts, last = _parts(word, room)
        for part in parts:
            lines[-1] += glue + part
            lines.append("")
            glue = ""
        lines[-1] += glue + last
    if len(lines) > most:
        lines = [*lines[: most - 1], _parts(lines[most - 1], room - 1)[0] + "…"]
    return lines


def _parts(word: str, room: float) -> list[str]:
    """Of a word that is too long for a line."""
    parts: list[str] = []
    while _width(word) > room:
        at = next(size for size in range(len(word), 0, -1) if _width(word[:size]) <= room)
        sign = max(word.rfind(sign, 1, at) for sign in "/.-") + 1
        at = sign if sign > at // 3 else at
        parts.append(word[:at])
        word = word[at:]
    return [*parts, word]


def _width(text: str) -> float:
    """In letters of common width."""
    wide = sum(letter in _WIDE or ord(letter) > _LATIN for letter in text)
    return len(text) + 0.85 * wide + 0.3 * sum(map(str.isupper, text))


def arrow(points: Sequence[tuple[float, float]], look: str, *, upright: bool = False) -> str:
    """A smooth line that leaves and arrives at a right angle, with a head."""
    (x, y), end = points[0], points[-1]
    before = points[-2]
    if upright:
        sign = 1 if end[1] >= before[1] else -1
        tip, base = end, (end[0], end[1] - sign * _HEAD)
        corners = [(base[0] - 4, base[1]), (base[0] + 4, base[1])]
    else:
        sign = 1 if end[0] >= before[0] else -1
        tip, base = end, (end[0] - sign * _HEAD, end[1])
        corners = [(base[0], base[1] - 4), (base[0], base[1] + 4)]
    path = [f"M{x:.1f} {y:.1f}"]
    for x2, y2 in [*points[1:-1], base]:
        if upright:
            middle = (y + y2) / 2
            path.append(f"C{x:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}")
        else:
            middle = (x + x2) / 2
            path.append(f"C{middle:.1f} {y:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}")
        x, y = x2, y2
    return f'<path class="arc {look}" d="{"".join(path)}"/>' + head([tip, *corners], look)


def head(corners: Sequence[tuple[float, float]], look: str) -> str:
    spread = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon class="head {look}" points="{spread}"/>'


def badge(x: float, y: float, number: int) -> str:
    """Where the list below says how to cut."""
    return (
        f'<g class="cut"><circle cx="{x:.1f}" cy="{y:.1f}" r="11"/>'
        f'<text x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle">{number}</text></g>'
    )


def svg(width: float, height: float, drawn: Iterable[str], told: str, least: float = 0.0) -> str:
    """It shrinks with the screen, but not below `least`: then it can be moved aside."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    size += f' style="min-width:{least:.0f}px"' if least else ""
    return f'<svg role="img" aria-label="{in_html(told)}" {size}>{"".join(drawn)}</svg>'
