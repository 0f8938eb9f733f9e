# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The built-in page in a real browser: by day and by night, wide and narrow, and in the reader's own time."""

from __future__ import annotations

import re

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.bundle import (
    Answering,
    PageSource,
    PageText,
    build_bundle,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.page_looks import COLOURS
from integration.browser import measured, opened
from integration.page_server import serving

NARROW, WIDE = 320, 1200
FAR = 4102444800.0  # 2100-01-01 00:00 UTC
TEXT = PageText(
    product="A product with a rather long name",
    title="Donaudampfschifffahrtsgesellschaftsraddampfer",
    contact="a.very.long.mail.address.without.any.blank@department.company.example.org",
)
PAGE = build_bundle(PageSource(text_of_page=TEXT), Answering(ends_at=FAR)).files["page.html"]


@pytest.mark.parametrize("dark", [False, True], ids=["day", "night"])
def test_the_colours_follow_the_readers_choice_and_nothing_sticks_out(dark: bool) -> None:
    for seen in measured(PAGE, NARROW, WIDE, dark=dark):
        assert seen["dark"] is dark
        assert seen["ground"] == rgb(COLOURS["ground"][dark])
        assert seen["card"] == rgb(COLOURS["card"][dark])
        assert seen["heading"] == rgb(COLOURS["heading"][dark])
        assert (seen["overflow"], seen["cut"]) == (0, False)
        assert seen["smallest"] >= 14
        assert seen["picture"] > 100
        assert seen["animated"] > 0
        assert seen["requests"] == []


def test_nothing_moves_for_readers_who_do_not_want_it() -> None:
    (seen,) = measured(PAGE, WIDE, still=True)
    assert seen["animated"] == 0


def rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))


def test_the_page_is_shown_with_the_readers_time_although_the_status_is_503() -> None:
    with serving(PageSource(text_of_page=PageText(language="de")), Answering(ends_at=FAR)) as page:
        shown = opened(f"{page.url}/any/path?x=1", time_zone="Asia/Tokyo")
    assert "<h1>Wir sind bald zurück</h1>" in shown
    assert re.search(r'<time [^>]*title="2100-01-01 00:00 UTC"[^>]*>Freitag, 1. Januar um 09:00 GMT\+9<', shown)
    assert re.search(r'<span id="left"[^>]*>in [\d.]+ Tagen<', shown)


def test_a_planned_end_that_is_over_says_so() -> None:
    with serving(PageSource(), Answering(ends_at=1_000_000_000.0)) as page:
        shown = opened(page.url)
    assert re.search(r'<span id="left"[^>]*>It is taking longer than planned\.<', shown)
