# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A headless Chromium that opens a page, measures it and tells what it saw.

The page stands in frames of chosen widths, because a headless window cannot be narrower than 500 points. The frames
hold the page's own text, so the page around them may look inside.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import zlib
from html import escape, unescape
from pathlib import Path
from typing import Any

_MEASURING = """\
addEventListener("load", () => {
  const seen = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, view = frame.contentWindow, style = one => view.getComputedStyle(one);
    const shown = [...page.querySelectorAll("body *")].filter(one => one.getClientRects().length);
    return {
      dark: view.matchMedia("(prefers-color-scheme: dark)").matches,
      ground: style(page.body).backgroundColor,
      card: style(page.querySelector("main")).backgroundColor,
      heading: style(page.querySelector("h1")).color,
      overflow: page.documentElement.scrollWidth - view.innerWidth,
      cut: shown.filter(one => !one.closest("svg")).some(one => one.getBoundingClientRect().right > view.innerWidth),
      smallest: Math.min(...shown.filter(one => !one.closest("svg")).map(one => parseFloat(style(one).fontSize))),
      picture: page.querySelector("svg").getBoundingClientRect().height,
      graphs: shown.filter(one => one.matches(".waits svg")).map(one => one.getBoundingClientRect().width),
      spilt: shown.filter(one => one.matches(".node")).flatMap(one => {
        const room = one.querySelector("rect").getBBox();
        return [...one.querySelectorAll("text")].filter(text => {
          const box = text.getBBox();
          return box.x + box.width > room.x + room.width || box.y + box.height > room.y + room.height;
        }).map(text => text.textContent);
      }),
      animated: page.getAnimations().length,
      requests: view.performance.getEntriesByType("resource").map(one => one.name),
    };
  });
  document.body.innerHTML = "<pre id=seen></pre>";
  document.getElementById("seen").textContent = JSON.stringify(seen);
});"""


def measured(html: str, *widths: int, dark: bool = False, still: bool = False) -> list[dict[str, Any]]:
    """What a browser makes of the page, once for each width."""
    frames = "".join(
        f'<iframe style="width:{width}px;height:900px;border:0" srcdoc="{escape(html)}"></iframe>' for width in widths
    )
    with tempfile.TemporaryDirectory() as folder:
        outside = Path(folder, "outside.html")
        outside.write_text(f"<!doctype html><meta charset=utf-8><body>{frames}<script>{_MEASURING}</script>")
        dom = opened(outside.as_uri(), dark=dark, still=still)
    found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert found, f"nothing was measured: {dom[-300:]}"
    seen: list[dict[str, Any]] = json.loads(unescape(found[1]))
    return seen


def opened(url: str, *, dark: bool = False, still: bool = False, time_zone: str = "UTC") -> str:
    """The document as it is after its scripts have run."""
    return _run("--dump-dom", url, dark=dark, still=still, time_zone=time_zone)


def pictured(url: str, file: Path, *, dark: bool = False, width: int = 1200, height: int = 800) -> None:
    """A screenshot. Every host name of the address leads to this machine."""
    here = ("--host-resolver-rules=MAP * 127.0.0.1", f"--window-size={width},{height}", "--hide-scrollbars")
    _run(*here, "--virtual-time-budget=2000", f"--screenshot={file}", url, dark=dark)


def ground_of(file: Path) -> tuple[int, ...]:
    """The colour of a picture's first pixel. Nothing is before it that it could be written as a difference to."""
    data, content, at = file.read_bytes(), b"", 8
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"IDAT":
            content += data[at + 8 : at + 8 + size]
        at += size + 12
    return tuple(zlib.decompress(content)[1:4])


def _run(*arguments: str, dark: bool = False, still: bool = False, time_zone: str = "UTC") -> str:
    wishes = [f"preferredColorScheme={0 if dark else 1}"]  # what the page sees as prefers-color-scheme
    with tempfile.TemporaryDirectory() as profile:
        command = [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            f"--user-data-dir={profile}",
            f"--blink-settings={','.join(wishes)}",
            *(["--force-prefers-reduced-motion"] if still else []),
            *arguments,
        ]
        surroundings = {**os.environ, "TZ": time_zone, "HOME": profile}
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-800:]
    return done.stdout
