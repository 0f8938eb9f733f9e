# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The picture on the page "architecture" shows the house as the map has it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from ansible_collections.sunset.kube.tests.unit.house_picture import (
    CELLAR,
    FLOORS,
    INSET,
    LETTER,
    PICTURE,
    WALK,
    Floor,
    lines_of,
    picture,
    width_on,
)
from ansible_collections.sunset.kube.tests.unit.test_house_map import ROOMS, SHARED

FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor.rooms}


def test_the_picture_is_the_one_that_the_map_gives() -> None:
    redraw = "redraw it: python3 scripts/inside.py python tests/unit/house_picture.py"
    assert PICTURE.read_text(encoding="utf-8") == picture(), redraw


def test_every_room_of_the_map_is_on_a_floor() -> None:
    assert set(FLOOR_OF) == set(ROOMS) - SHARED, "give the room a floor and a few words in house_picture.py"


@pytest.mark.parametrize("room", FLOOR_OF)
def test_imports_lead_sideways_and_down(room: str) -> None:
    rooms = {entry.rpartition(":")[2] for entry in ROOMS[room]} & set(FLOOR_OF)
    assert [other for other in rooms if FLOOR_OF[other] < FLOOR_OF[room]] == []


def test_the_walk_goes_through_rooms_that_are_there_and_at_its_side() -> None:
    assert set(WALK) <= {next(iter(floor.rooms)) for floor in FLOORS}


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.title)
def test_every_word_has_room(floor: Floor) -> None:
    width = width_on(floor)
    lines = [line for room, purpose in floor.rooms.items() for line in lines_of(room, purpose, width)]
    assert [line for line, look in lines if len(line) * LETTER[look] > width - 2 * INSET] == []


def test_the_picture_needs_nothing_from_elsewhere() -> None:
    drawing = ElementTree.fromstring(picture())
    attributes = {name for element in drawing.iter() for name in element.attrib}
    assert not [name for name in attributes if name.endswith(("href", "src"))]
    assert "url(" not in picture()
    assert CELLAR in "".join(drawing.itertext())
