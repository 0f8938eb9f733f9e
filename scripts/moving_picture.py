# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draws a film of a terminal as one SVG: style sheets move it, no scripts, no fonts or pictures from elsewhere.

It works as an <img>, follows the reader's light or dark setting, and stands still, at its end, for readers who want
nothing to move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from html import escape

from screenplay import Film, Run, Style, Version

CELL, LINE, FONT = 8.4, 19, 14  # points: width and height of a character's place, size of the letters
EDGE, BAR = 18, 34  # points around the text, and of the window's title bar
FAMILY = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

# name → by day, by night. Each has a contrast of 4.5 or more to its ground.
COLOURS = {
    "ground": ("#fbfcfd", "#14171b"),
    "frame": ("#d5dbe1", "#2f363e"),
    "bar": ("#eef1f4", "#1d2228"),
    "default": ("#1f262d", "#dfe5ea"),
    "black": ("#1f262d", "#9aa5b1"),
    "red": ("#b3261e", "#ff8a80"),
    "green": ("#1a6b33", "#7ddc94"),
    "brown": ("#7a5200", "#f2c265"),
    "blue": ("#1f58b0", "#8ab8ff"),
    "magenta": ("#8b2a8f", "#e29cf0"),
    "cyan": ("#0b6374", "#7bd5e6"),
    "white": ("#4a545e", "#ffffff"),
    "brightblack": ("#5b6570", "#93a0ac"),
}
SAME = {"brightred": "red", "brightgreen": "green", "brightbrown": "brown", "brightyellow": "brown"}
SAME |= {"yellow": "brown", "brightblue": "blue", "brightmagenta": "magenta", "bfightmagenta": "magenta"}
SAME |= {"brightcyan": "cyan", "brightwhite": "white"}


def svg_of(film: Film, title: str) -> str:
    width, height = film.columns * CELL + 2 * EDGE, film.rows * LINE + BAR + EDGE
    text_height = film.rows * LINE
    groups = _by_span(film)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
            f' height="{height:g}" role="img" aria-labelledby="title">',
            f'<title id="title">{escape(title)}</title>',
            f"<style>{_style_sheet(film, list(groups), width)}</style>",
            f'<rect class="ground" x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="9"/>',
            f'<path class="bar" d="M1 {BAR}V10a9 9 0 0 1 9-9h{width - 20:g}a9 9 0 0 1 9 9v{BAR - 10}z"/>',
            *(f'<circle class="dot" cx="{20 + 18 * number}" cy="17" r="5.5"/>' for number in range(3)),
            f'<rect class="time" x="1" y="{height - 4:g}" width="{width - 2:g}" height="2.5"/>',
            f'<svg x="{EDGE}" y="{BAR + 4}" width="{film.columns * CELL:g}" height="{text_height}">',
            '<g class="sheet">',
            *(_group(number, lines) for number, lines in enumerate(groups.values())),
            "</g>",
            "</svg>",
            "</svg>",
            "",
        )
    )


Span = tuple[float, float | None]


def _by_span(film: Film) -> dict[Span, list[tuple[int, Version]]]:
    """Lines that come and go together share one animation."""
    groups: dict[Span, list[tuple[int, Version]]] = defaultdict(list)
    for place, versions in sorted(film.lines.items()):
        for version in versions:
            if version.runs:
                groups[version.since, version.until].append((place, version))
    return dict(sorted(groups.items(), key=lambda item: item[0][0]))


def _group(number: int, lines: Iterable[tuple[int, Version]]) -> str:
    drawn = "".join(_line(place, version.runs) for place, version in lines)
    gone = ' class="gone"' if all(version.until is not None for _, version in lines) else ""
    return f'<g{gone} style="animation-name:s{number}">{drawn}</g>'


def _line(place: int, runs: Iterable[Run]) -> str:
    baseline = place * LINE + 14
    return "".join(_text(run, baseline) for run in runs)


def _text(run: Run, baseline: int) -> str:
    # The length is given, so that columns stand below each other in whatever font the reader has.
    length = len(run.text) * CELL
    wanted = " ".join(_classes(run.style))
    named = f' class="{wanted}"' if wanted else ""
    back = ""
    if run.style.reverse:
        ground = f' class="{wanted}"' if colour_of(run.style) else ' class="fore"'
        back = f'<rect{ground} x="{run.column * CELL:g}" y="{baseline - 14}" width="{length:g}" height="{LINE}"/>'
        named = ' class="onto"'
    return (
        f'{back}<text{named} x="{run.column * CELL:g}" y="{baseline}" textLength="{length:g}">{escape(run.text)}</text>'
    )


def _classes(style: Style) -> list[str]:
    return [*colour_of(style), *(["bold"] if style.bold else [])]


def colour_of(style: Style) -> list[str]:
    """The class of its colour, if it has one that the palette knows."""
    colour = SAME.get(style.colour, style.colour)
    return [colour] if colour in COLOURS and colour != "default" else []


def _style_sheet(film: Film, spans: list[Span], width: float) -> str:
    day, night = (";".join(f"--{name}:{both[side]}" for name, both in COLOURS.items()) for side in (0, 1))
    last = film.scrolls[-1][1] * LINE if film.scrolls else 0
    rules = [
        f"svg{{{day}}}",
        f"@media(prefers-color-scheme:dark){{svg{{{night}}}}}",
        f"text{{font:{FONT}px {FAMILY};white-space:pre;fill:var(--default)}}",
        *(f".{name}{{fill:var(--{name})}}" for name in COLOURS if name not in ("ground", "frame", "bar", "default")),
        ".bold{font-weight:700}.onto{fill:var(--ground)}.fore{fill:var(--default)}",
        ".ground{fill:var(--ground);stroke:var(--frame)}.bar{fill:var(--bar)}.dot{fill:var(--frame)}",
        ".time{fill:var(--cyan);transform-origin:1px 0;animation-name:time;animation-timing-function:linear}",
        f".sheet{{transform:translateY(-{last}px);animation-name:sheet}}",
        f".time,.sheet,.sheet>g{{animation-duration:{film.seconds:.2f}s;animation-iteration-count:infinite}}",
        ".sheet,.sheet>g{animation-timing-function:step-end}",
        "@keyframes time{0%{transform:scaleX(0)}to{transform:scaleX(1)}}",
        _keyframes("sheet", film, ((at, f"transform:translateY(-{top * LINE}px)") for at, top in film.scrolls)),
        *(_appearance(number, span, film) for number, span in enumerate(spans)),
        "@media(prefers-reduced-motion:reduce){.time,.sheet,.sheet>g{animation:none!important}",
        ".gone,.time{visibility:hidden}}",
    ]
    return "".join(rules)


def _appearance(number: int, span: Span, film: Film) -> str:
    since, until = span
    moments = [(0.0, "visibility:hidden"), (since, "visibility:visible")]
    if until is not None:
        moments += [(until, "visibility:hidden"), (film.seconds, "visibility:hidden")]
    return _keyframes(f"s{number}", film, moments)


def _keyframes(name: str, film: Film, moments: Iterable[tuple[float, str]]) -> str:
    share = {f"{100 * at / film.seconds:.3f}".rstrip("0").rstrip("."): what for at, what in moments}
    return f"@keyframes {name}{{" + "".join(f"{at}%{{{what}}}" for at, what in share.items()) + "}"
