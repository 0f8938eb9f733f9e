# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The four bodies of a page: which file holds it, under which names clients ask for it, and where it comes from.

Room: maintenance (pure). One line a body: negotiation, server and bundle read this table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .default_page import default_html
from .problem_bodies import default_json, default_text, default_xml
from .source import Answering, PageSource, PageText


@dataclass(frozen=True)
class Body:
    name: str
    file: str
    given: Callable[[PageSource], str | None]
    made: Callable[[PageText, Answering], str]
    asked_as: str  # regular expression of the media types that mean this body
    family: str  # of text/* and application/*, the range that covers it as well
    served_as: str
    problem: Problem | None = None


@dataclass(frozen=True)
class Problem:
    """RFC 9457 has media types of its own. A client that names only the plain type in Accept gets that one."""

    served_as: str
    asked_as: str
    plain: str


# In the order of preference when a client wants several of them equally.
BODIES = (
    Body(
        "html",
        "page.html",
        given=lambda source: source.html,
        made=default_html,
        asked_as=r"(?:text/html|application/xhtml\+xml)",
        family="text",
        served_as="text/html; charset=utf-8",
    ),
    Body(
        "json",
        "page.json",
        given=lambda source: source.json,
        made=default_json,
        # Also application/vnd.api+json, application/geo+json and their like: those clients read JSON.
        asked_as=r"application/(?:[a-z0-9.-]+\+)?json",
        family="application",
        served_as="application/json",
        problem=Problem("application/problem+json", r"application/problem\+json", r"application/json"),
    ),
    Body(
        "xml",
        "page.xml",
        given=lambda source: source.xml,
        made=default_xml,
        # Not application/*+xml in general: browsers ask for XHTML and pictures that way.
        asked_as=r"(?:text/xml|application/(?:(?:problem|soap|atom|rss)\+)?xml)",
        family="application",
        served_as="application/xml; charset=utf-8",
        problem=Problem(
            "application/problem+xml; charset=utf-8", r"application/problem\+xml", r"(?:text|application)/xml"
        ),
    ),
    Body(
        "text",
        "page.txt",
        given=lambda source: source.text,
        made=default_text,
        asked_as=r"text/plain",
        family="text",
        served_as="text/plain; charset=utf-8",
    ),
)
