# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draws the rooms of the house for the page "architecture", from the very table that the imports are checked against.

Run: python3 scripts/inside.py python tests/unit/house_picture.py      (writes docs/docsite/rst/pictures/rooms.svg)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ansible_collections.sunset.kube.tests.unit.test_house_map import ROOMS, SHARED

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "docsite" / "rst" / "pictures" / "rooms.svg"


@dataclass(frozen=True)
class Floor:
    """One row of the picture. Imports only lead sideways and down."""

    title: str
    rooms: dict[str, str]  # room → what it is for, in a few words


# From the street down to the cellar. Rooms of a floor stand side by side, the walked one first.
FLOORS = (
    Floor(
        "fronts: no logic",
        {
            "modules": "documentation and one call",
            "action": "the same, with live lines",
            "plugin_utils": "base of the actions",
            "doc_fragments": "shared option texts",
            "lookup": "short variables of playbooks",
        },
    ),
    Floor("jobs: one file a module", {"jobs": "options → use case → report; wires, decides nothing"}),
    Floor(
        "wiring",
        {
            "front": "cluster, clock, event sink",
            "node_front": "the same for a node",
            "reporting": "result, failure, signals",
        },
    ),
    Floor("telling", {"evidence": "the only room that lays out text: progress lines, results, reports, undo bundle"}),
    Floor(
        "deciding and acting: never ansible, never HTTP",
        {
            "teardown": "what goes, in which order",
            "maintenance": "routes, pages, the way back",
            "network": "journal, probes, guards",
            "incluster": "custom resources: asked, shown",
        },
    ),
    Floor(
        "knowing and speaking",
        {
            "kube": "the API server: the only room that speaks HTTP",
            "gitops": "who would put it back",
            "profiles": "what we know of products: data",
        },
    ),
)
CELLAR = "shared by all"
# How a deletion walks through the house: number → room and what happens there.
WALK = {
    "jobs": "1 parse",
    "teardown": "2 members · 3 plan · 4 run",
    "kube": "5 guarded writes, watches",
    "evidence": "6 evidence",
}

HOW = {"": "", "hint": " (hints)", "late": " (late)"}

WIDTH, MARGIN, GAP = 960, 28, 16
TOP, HEAD, BETWEEN, LINE = 64, 22, 14, 19
INSET = 12
LETTER = {"name": 10.0, "way": 8.0, "": 7.6, "quiet": 7.0}  # how wide a letter of each look is on average, and more
STYLE = """\
  <style>
    svg { --ground: #fbfaf8; --room: #ffffff; --edge: #c9c4bc; --ink: #22201c; --quiet: #625c53; --way: #a8480f }
    @media (prefers-color-scheme: dark) {
      svg { --ground: #17181b; --room: #212328; --edge: #454950; --ink: #eceae6; --quiet: #a9adb5; --way: #f2a65e }
    }
    text { font: 14px system-ui, "Segoe UI", "Liberation Sans", sans-serif; fill: var(--ink) }
    .name { font: 600 16px ui-monospace, "Liberation Mono", monospace }
    .quiet { fill: var(--quiet); font-size: 13px }
    .way { fill: var(--way); font-weight: 600 }
    .ground { fill: var(--ground) }
    .room { fill: var(--room); stroke: var(--edge) }
    .walked { stroke: var(--way); stroke-width: 2 }
    .walk { fill: none; stroke: var(--way); stroke-width: 2 }
  </style>"""


def picture() -> str:
    """The whole drawing. Colours follow the reader's choice of light or dark."""
    lines, doors, bottom = [], [], TOP
    for floor in FLOORS:
        lines += draw_floor(floor, bottom)
        if floor.rooms.keys() & WALK.keys():
            doors.append(bottom + HEAD + INSET + 7)
        bottom += HEAD + height_of(floor) + BETWEEN
    lines += draw_cellar(bottom)
    height = bottom + HEAD + cellar_height() + MARGIN
    return "\n".join([*draw_head(height), *draw_walk(doors), *lines, "</svg>", ""])


def draw_head(height: int) -> Iterator[str]:
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="t">'
    yield '  <title id="t">The rooms of the collection, and what each may import</title>'
    yield STYLE
    yield f'  <rect class="ground" width="{WIDTH}" height="{height}"/>'
    yield words(MARGIN, 30, "A task comes in at the top. Imports lead sideways and down, never up.", "name")
    yield words(MARGIN, 51, "Numbers: how a deletion goes. (hints): in type hints only. (late): when needed.", "quiet")


def draw_walk(doors: list[int]) -> Iterator[str]:
    """A line beside the house, with a way into each room that the walk goes through."""
    entries = "".join(f"M12 {door}H{MARGIN}m-6 -4l6 4l-6 4" for door in doors)
    yield f'  <path class="walk" d="M12 {TOP}V{doors[-1]}{entries}"/>'


def height_of(floor: Floor) -> int:
    return max(len(lines_of(room, purpose, width_on(floor))) for room, purpose in floor.rooms.items()) * LINE + INSET


def width_on(floor: Floor) -> int:
    return (WIDTH - 2 * MARGIN - GAP * (len(floor.rooms) - 1)) // len(floor.rooms)


def draw_floor(floor: Floor, top: int) -> Iterator[str]:
    yield words(MARGIN, top + 15, floor.title, "quiet")
    width, height = width_on(floor), height_of(floor)
    for place, (room, purpose) in enumerate(floor.rooms.items()):
        left = MARGIN + place * (width + GAP)
        frame = "room walked" if room in WALK else "room"
        yield f'  <rect class="{frame}" x="{left}" y="{top + HEAD}" width="{width}" height="{height}" rx="8"/>'
        for number, (line, look) in enumerate(lines_of(room, purpose, width), start=1):
            yield words(left + INSET, top + HEAD + number * LINE + 1, line, look)


def lines_of(room: str, purpose: str, width: int) -> list[tuple[str, str]]:
    """What is written into a room, each line with its look."""
    texts = [(room, "name"), (WALK.get(room, ""), "way"), (purpose, ""), (may_import(room), "quiet")]
    return [(line, look) for text, look in texts if text for line in folded(text, look, width)]


def draw_cellar(top: int) -> Iterator[str]:
    """The shared files: every room but the pure data may import them."""
    yield words(MARGIN, top + 15, CELLAR, "quiet")
    width, height = WIDTH - 2 * MARGIN, cellar_height()
    yield f'  <rect class="room" x="{MARGIN}" y="{top + HEAD}" width="{width}" height="{height}" rx="8"/>'
    for number, (line, look) in enumerate(cellar_lines(), start=1):
        yield words(MARGIN + INSET, top + HEAD + number * LINE + 1, line, look)


def cellar_lines() -> list[tuple[str, str]]:
    names = [(line, "name") for line in folded(" ".join(sorted(SHARED)), "name", WIDTH - 2 * MARGIN)]
    return [*names, ("words that mean the same everywhere: identity, time, errors, events", "")]


def cellar_height() -> int:
    return len(cellar_lines()) * LINE + INSET


def may_import(room: str) -> str:
    """As the table has it: "imports kube (hints), profiles"."""
    names = sorted(entry.rpartition(":")[::-1] for entry in ROOMS[room])
    told = [name + HOW[how] for name, _colon, how in names]
    return f"imports {', '.join(told)}" if told else "imports nothing"


def folded(text: str, look: str, width: int) -> Iterator[str]:
    most, line = int((width - 2 * INSET) / LETTER[look]), ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > most:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line


def words(left: int, base: int, text: str, look: str = "") -> str:
    style = f' class="{look}"' if look else ""
    return f'  <text{style} x="{left}" y="{base}" xml:space="preserve">{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")
