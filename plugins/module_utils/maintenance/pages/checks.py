# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What cannot be served, found before anything is sent: statuses nginx keeps for itself, bad headers, broken bodies.

Room: maintenance (pure).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from xml.etree import ElementTree

from ...problems import BadFields
from .quoting import quoted
from .source import ID_HEADER, Answering, PageSource, PageText
from .words import WORDS, known_languages, missing_words

# 408 and 499 end the connection without an answer, 444 is made for that, 494 to 498 become 400.
_NOT_TO_BE_HAD = frozenset({408, 444, *range(494, 500)})
_HEADER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_LONGEST_WORD = 3800  # bytes, quoted; nginx stops at 4096
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_EARLIEST_END, _LATEST_END = 1_000_000_000, 9_999_999_999  # ten digits: nginx compares moments as text
_FAMILIES = ("IPv4", "IPv6")

# header → why it cannot be chosen. All others can, also our own ones.
RESERVED: Mapping[str, str] = {
    **dict.fromkeys(("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"), "of one connection"),
    **dict.fromkeys(("content-length", "content-range", "content-encoding", "date", "server"), "set by the server"),
    "content-type": "follows from the body; give the body under html, json, xml or text",
    "grpc-status": "gRPC clients are always told 14, unavailable",
    ID_HEADER.lower(): "tells this page from others",
}


def check_source(source: PageSource, bad: BadFields) -> None:
    for name in ("html", "json", "xml", "text"):
        body = getattr(source, name)
        if body is None:
            continue
        if not body.strip():
            bad.add(f"page.{name}", "is empty; leave it out to get the built-in one")
        elif not _encodable(body):
            bad.add(f"page.{name}", "cannot be written as UTF-8")
        elif why := _PARSERS.get(name, _any_text)(body):
            bad.add(f"page.{name}", why)
    _check_text(source.text_of_page, bad)


def _check_text(text: PageText, bad: BadFields) -> None:
    fields = {"title": text.title, "message": text.message, "contact": text.contact, "product": text.product}
    for name, value in {**fields, **{f"words.{word}": value for word, value in text.words.items()}}.items():
        if not _XML_TEXT.fullmatch(value):
            bad.add(f"page.{name}", "has a control character; only line breaks and tabs are possible")
    for word in sorted(set(text.words) - set(WORDS)):
        bad.add(f"page.words.{word}", f"there is no such word; there are {', '.join(WORDS)}")
    if not _LANGUAGE_TAG.fullmatch(text.language):
        bad.add("page.language", f"{text.language!r} is no language tag like en or pt-BR")
    elif missing := missing_words(text):
        bad.add(
            "page.language",
            f"no built-in words in {text.language!r}; take one of {', '.join(known_languages())},"
            f" or give {', '.join(missing)} under page.words",
        )
    if text.refresh < 0:
        bad.add("page.refresh", f"must be 0 or more seconds, not {text.refresh}")


def check_answering(answering: Answering, bad: BadFields) -> None:
    if not 400 <= answering.status <= 599 or answering.status in _NOT_TO_BE_HAD:
        bad.add(
            "status_code",
            f"must be an error (400 to 599, but not 408, 444 or 494 to 499), not {answering.status}:"
            " caches and search engines would take the page for the application",
        )
    for name, value in (("retry_after", answering.retry_after), ("retry_spread", answering.retry_spread)):
        if value is not None and value < 0:
            bad.add(name, f"must be 0 or more seconds, not {value}")
    if answering.ends_at is not None and not _EARLIEST_END <= answering.ends_at <= _LATEST_END:
        bad.add("window.end", f"must lie between the years 2001 and 2286, not at {answering.ends_at:.0f} s")
    for name, text in answering.headers.items():
        _check_header(name, text, bad)
    _check_twins(answering.headers, bad)
    if answering.robots is not None and not _encodable(answering.robots):
        bad.add("robots", "cannot be written as UTF-8")
    if not _IMAGE.fullmatch(answering.image):
        bad.add("workload.image", f"{answering.image!r} is no image name")
    if not answering.ip_families or not set(answering.ip_families) <= set(_FAMILIES):
        bad.add("ip_families", f"must be one or both of {', '.join(_FAMILIES)}")


def _check_header(name: str, value: str, bad: BadFields) -> None:
    path = f"headers.{name}" if _HEADER_NAME.fullmatch(name) else "headers"
    if not _HEADER_NAME.fullmatch(name):
        bad.add(path, f"{name!r} is no header name; use letters, digits, - and _")
    elif name.lower() in RESERVED:
        bad.add(path, f"cannot be chosen ({RESERVED[name.lower()]})")
    if not _HEADER_VALUE.fullmatch(value):
        bad.add(path, "the value may hold printable ASCII only, on one line")
    elif len(quoted(value)) > _LONGEST_WORD:
        bad.add(path, f"the value is too long ({len(value)} characters); keep it below 2000")


def _check_twins(headers: Mapping[str, str], bad: BadFields) -> None:
    seen: set[str] = set()
    for name in headers:
        if name.lower() in seen:
            bad.add("headers", f"{name} is given twice; upper and lower case are the same")
        seen.add(name.lower())


def _any_text(_body: str) -> str:
    return ""


def _why_no_json(body: str) -> str:
    try:
        json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        return f"is no JSON: {problem}"
    return ""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def _why_no_xml(body: str) -> str:
    try:
        ElementTree.fromstring(body.encode())  # noqa: S314  the user's own text, read on the user's own machine
    except (ElementTree.ParseError, ValueError, LookupError) as problem:
        return f"is no XML: {problem}"
    return ""


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_PARSERS = {"json": _why_no_json, "xml": _why_no_xml}
# What XML 1.0 can hold. The same text goes into all four bodies.
_XML_TEXT = re.compile("[\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
