# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page for programs and terminals: RFC 9457 problem details as JSON and XML, and plain text.

Room: maintenance (pure).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import quote
from xml.sax.saxutils import escape

from .planned_end import machine_time, utc_time
from .source import DEFAULT_RETRY_AFTER, Answering, PageText
from .words import words_of

# A name, not an address: nothing needs to be served there for a client to recognise it.
PROBLEM_TYPE = "tag:sunset.dev,2026:maintenance"
_XML_NAMESPACE = "urn:ietf:rfc:7807"  # RFC 9457, appendix B, kept that of its predecessor

_LONGEST_GRPC_MESSAGE = 200  # characters; a header is no place for a letter
_PLAIN_IN_GRPC = " !'()*+,/:;<=>?@[]^`{|}#&"  # all but %, and what has a meaning to nginx: quotes, backslash, dollar


def default_json(text: PageText, answering: Answering) -> str:
    return json.dumps(_problem(text, answering), ensure_ascii=False, indent=2) + "\n"


def default_xml(text: PageText, answering: Answering) -> str:
    lines = [f"  <{name}>{escape(str(value))}</{name}>" for name, value in _problem(text, answering).items()]
    inside = "\n".join(lines)
    opened = f'<problem xmlns="{_XML_NAMESPACE}" xml:lang="{text.language}">'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opened}\n{inside}\n</problem>\n'


def default_text(text: PageText, answering: Answering) -> str:
    words = words_of(text)
    lines = [words["title"], "", words["message"].strip()]
    facts = []
    if answering.ends_at is not None:
        facts.append(f"{words['until']}: {utc_time(answering.ends_at)}")
    if text.contact.strip():
        facts.append(f"{words['contact']}: {text.contact.strip()}")
    head = [f"{text.product.strip()}: {lines[0]}"] if text.product.strip() else [lines[0]]
    return "\n".join([*head, *lines[1:], *(["", *facts] if facts else [])]) + "\n"


def grpc_message(text: PageText) -> str:
    """The message as gRPC writes it into a header: some ASCII, everything else as %XX of its UTF-8 bytes."""
    message = re.sub(r"\s+", " ", words_of(text)["message"]).strip()[:_LONGEST_GRPC_MESSAGE]
    return quote(message, safe=_PLAIN_IN_GRPC)


def _problem(text: PageText, answering: Answering) -> Mapping[str, str | int]:
    words = words_of(text)
    problem: dict[str, str | int] = {
        "type": PROBLEM_TYPE,
        "title": words["title"],
        "status": answering.status,
        "detail": words["message"].strip(),
    }
    if answering.ends_at is None or answering.retry_after is not None:
        problem["retryAfter"] = DEFAULT_RETRY_AFTER if answering.retry_after is None else answering.retry_after
    if answering.ends_at is not None:
        problem["until"] = machine_time(answering.ends_at)
    if text.contact.strip():
        problem["contact"] = text.contact.strip()
    return problem
