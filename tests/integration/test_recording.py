# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorder behind the picture in the README, and that picture: a browser sees what the terminal showed, when."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from integration.browser import opened

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "docs" / "images" / "demo.svg"
LARGEST = 400_000  # bytes
SEEN = """\
const whole = document.querySelector("svg").getBoundingClientRect(), pane = document.querySelector("svg svg");
const top_ = whole.top + Number(pane.getAttribute("y")), bottom = top_ + Number(pane.getAttribute("height"));
const seen = MOMENTS.map(moment => {
  document.getAnimations().forEach(one => { one.pause(); one.currentTime = moment; });
  return [...document.querySelectorAll("text")].filter(one => {
    const place = one.getBoundingClientRect(), middle = (place.top + place.bottom) / 2;
    const inside = middle > top_ && middle < bottom;
    return inside && getComputedStyle(one).visibility === "visible";
  }).map(one => one.textContent);
});
const told = { seen, moving: document.getAnimations().length };
document.body.innerHTML = "<pre id=seen></pre>";
document.getElementById("seen").textContent = JSON.stringify(told);"""


def drawn(tmp_path: Path, *arguments: str) -> Path:
    picture = tmp_path / "picture.svg"
    command = [sys.executable, str(ROOT / "scripts" / "record.py"), "--output", str(picture), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return picture


def watched(picture: Path, tmp_path: Path, moments: list[int], *, still: bool = False) -> tuple[list[list[str]], int]:
    """The texts in the window at each of these milliseconds, and how much moves."""
    page = tmp_path / "page.html"
    script = SEEN.replace("MOMENTS", json.dumps(moments))
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{picture.read_text()}<script>{script}</script>")
    found = re.search(r'<pre id="seen">(.*?)</pre>', opened(page.as_uri(), still=still), re.DOTALL)
    assert found
    told = json.loads(unescape(found[1]))
    return told["seen"], told["moving"]


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """Three rows: a progress line is written over, then the window scrolls, then nothing happens for a minute."""
    pieces = [
        (0.0, "$ one <&>\r\n"),
        (0.5, "1 of 2"),
        (1.0, "\r\x1b[32m2 of 2\x1b[0m\r\n"),
        (1.5, "three\r\nfour\r\n"),
        (61.5, "\x1b[1mlast\x1b[0m"),
    ]
    rows = [json.dumps({"version": 2, "width": 20, "height": 3})]
    cast = tmp_path / "film.cast"
    cast.write_text("\n".join(rows + [json.dumps([at, "o", text]) for at, text in pieces]))
    return drawn(tmp_path, "--cast", str(cast), "--longest-pause", "1")


def test_a_browser_sees_what_the_terminal_showed_at_each_moment(film: Path, tmp_path: Path) -> None:
    seen, moving = watched(film, tmp_path, [200, 700, 1200, 1700, 3000])
    assert seen == [
        ["$ one <&>"],
        ["$ one <&>", "1 of 2"],
        ["$ one <&>", "2 of 2"],
        ["three", "four"],
        ["three", "four", "last"],
    ]
    assert moving > 0


def test_it_stands_still_at_its_end_for_those_who_want_nothing_to_move(film: Path, tmp_path: Path) -> None:
    seen, moving = watched(film, tmp_path, [0], still=True)
    assert (seen, moving) == ([["three", "four", "last"]], 0)


def test_a_command_is_recorded_with_its_colours_and_its_size(tmp_path: Path) -> None:
    script = "printf '\\033[31m%s\\033[0m\\n' \"$(stty size <&2)\""
    picture = drawn(tmp_path, "--columns", "40", "--rows", "5", "bash", "-c", script)
    assert re.search(r'<text class="red"[^>]*>5 40</text>', picture.read_text())


def test_a_command_that_fails_is_not_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    command = [sys.executable, str(ROOT / "scripts" / "record.py"), "--output", str(picture), "bash", "-c", "exit 7"]
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 7
    assert not picture.exists()


def test_every_colour_can_be_read_by_day_and_by_night(film: Path) -> None:
    palettes = re.findall(r"svg\{(--ground:.*?)\}", film.read_text())
    assert len(palettes) == 2
    for palette in palettes:
        colours = dict(re.findall(r"--(\w+):(#\w+)", palette))
        weak = {
            name: contrast(colour, colours["ground"])
            for name, colour in colours.items()
            if name not in ("ground", "frame", "bar") and contrast(colour, colours["ground"]) < 4.5
        }
        assert weak == {}


def contrast(one: str, other: str) -> float:
    """As WCAG 2 has it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_picture_in_the_readme_is_one_small_file_that_needs_nothing_else() -> None:
    assert f"({DEMO.relative_to(ROOT)})" in (ROOT / "README.md").read_text()
    assert DEMO.stat().st_size < LARGEST
    text = DEMO.read_text()
    assert [one for one in ElementTree.fromstring(text).iter() if one.tag.endswith(("script", "image", "use"))] == []
    assert re.findall(r"https?://[^\s\"<]+|url\(|@import", text.replace("http://www.w3.org/2000/svg", "")) == []
