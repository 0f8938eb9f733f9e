# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which body a client gets: the Accept header read by nginx, which has regular expressions but cannot compare numbers.

Room: maintenance (pure). In three steps, each a group of `map` blocks:
1. every range we know gets a level: A for q=1, else the first digit after the point, 0 for "not acceptable";
2. a body's level is that of its most exact range: text/html, else text/*, else */* (RFC 9110, 12.5.1);
3. the highest level wins. Among equals the client's favourite wins, then the order of BODIES.

Steps of less than a tenth are not told apart. A client that accepts nothing we have gets its favourite all the same:
a body it does not want does less harm than a 406 that hides the 503.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .bodies import BODIES
from .quoting import literal

LEVELS = "A987654321"
Rows = Iterable[tuple[str, str]]

_ANY, _TEXT, _APPLICATION = r"\*/\*", r"text/\*", r"application/\*"
_HUMAN_TERMINALS = "curl|wget|httpie|xh"


def negotiation() -> Iterator[str]:
    """The blocks that set $maintenance_body to the name of a body."""
    yield from _levels_of_ranges()
    yield from _levels_of_bodies()
    yield from _favourite()
    yield _map(
        '"$favourite:' + ",".join(f"$wanted_{body.name}" for body in BODIES) + '"', "maintenance_body", _winner()
    )


def problem_types() -> Iterator[str]:
    """For bodies that have one: the variable $maintenance_<body>_type, "problem" or "plain"."""
    for body in BODIES:
        if body.problem:
            rows = [(f"~*{body.problem.asked_as}", "problem"), (f"~*{body.problem.plain}", "plain")]
            yield _map("$http_accept", f"maintenance_{body.name}_type", [("default", "problem"), *rows])


def _levels_of_ranges() -> Iterator[str]:
    yield _map("$http_accept", "level_any", [(r"~^\s*$", "A"), *_level_of(_ANY)])
    yield _map("$http_accept", "level_any_text", _level_of(_TEXT))
    yield _map("$http_accept", "level_any_application", _level_of(_APPLICATION))
    for body in BODIES:
        yield _map("$http_accept", f"level_{body.name}", _level_of(body.asked_as))


def _level_of(media_range: str) -> list[tuple[str, str]]:
    # The best of several mentions first: application/json;q=0.5, application/problem+json is an A.
    start = rf"~*(?:^|,)\s*{media_range}\s*(?:;(?!\s*q=)[^,;]*)*"
    return [
        (rf"{start}(?:;\s*q=1(?:\.0*)?\s*(?:;[^,]*)?)?(?:,|$)", "A"),
        (rf"{start};\s*q=0?\.([1-9])", "$1"),
        (rf"{start};\s*q=0?\.0+[1-9]", "1"),
        (rf"{start};\s*q=0", "0"),
    ]


def _levels_of_bodies() -> Iterator[str]:
    for family in ("text", "application"):
        yield _first_that_says_something(f"family_{family}", f"level_any_{family}", "level_any")
    for body in BODIES:
        yield _first_that_says_something(f"wanted_{body.name}", f"level_{body.name}", f"family_{body.family}")


def _first_that_says_something(result: str, exact: str, wide: str) -> str:
    return _map(f"${exact}", result, [("default", f"${exact}"), ("", f"${wide}")])


def _favourite() -> Iterator[str]:
    """What it names first; if that is a star, what its kind of program can best use."""
    yield _map(
        '"$http_sec_fetch_dest|$http_x_requested_with|$http_content_type|$http_user_agent"',
        "favourite_of_its_kind",
        [
            ("default", "html"),
            (r"~*^empty\|", "json"),  # fetch() and XMLHttpRequest of a browser
            (r"~*^[^|]*\|XMLHttpRequest\|", "json"),
            (r"~*^[^|]*\|[^|]*\|application/(?:[a-z0-9.-]+\+)?json", "json"),
            (rf"~*^[^|]*\|[^|]*\|[^|]*\|(?:{_HUMAN_TERMINALS})/", "text"),
        ],
    )
    named = [(rf"~*^\s*{body.asked_as}\s*(?:[,;]|$)", body.name) for body in BODIES]
    yield _map("$http_accept", "favourite", [("default", "$favourite_of_its_kind"), *named])


def _winner() -> Iterator[tuple[str, str]]:
    yield "default", "$favourite"
    for level in LEVELS:
        for place, body in enumerate(BODIES):
            yield f"~^{body.name}:{'[^,]*,' * place}{level}(?:,|$)", body.name
        for place, body in enumerate(BODIES):
            yield f"~:{'[^,]*,' * place}{level}(?:,|$)", body.name


def _map(source: str, result: str, rows: Rows) -> str:
    """nginx tries regular expressions in the order they stand here."""
    lines = [f"    {'default' if key == 'default' else literal(key)} {value};" for key, value in rows]
    return "\n".join([f"map {source} ${result} {{", *lines, "}"])
