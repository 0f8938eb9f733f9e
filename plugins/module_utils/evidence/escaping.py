# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text from a cluster in each format of a report: made visible first, then escaped as the format wants it.

Room: evidence.
"""

from __future__ import annotations

import html
import re
from xml.sax.saxutils import quoteattr

from ..visible import visible

# What Markdown, its tables and HTML within it give a meaning to inside a line; an underscore only beside a word.
_ACTIVE = re.compile(r"[\\`*\[\]<>|~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# Addresses that become links by themselves.
_LINK = re.compile(r"(://|(?<=www)\.)", re.IGNORECASE)
# People and teams who would be told of a ticket.
_MENTION = re.compile(r"(?<![\w.])@(?=\w)")


def in_html(text: str) -> str:
    """For elements, attributes in double quotes, and SVG."""
    return html.escape(visible(text))


def in_xml(text: str) -> str:
    """A whole attribute, with its quotes."""
    return quoteattr(visible(text))


def in_markdown(text: str) -> str:
    """Within a line or a cell of a table."""
    safe = _LINK.sub(r"\\\1", _ACTIVE.sub(r"\\\g<0>", visible(text)))
    return _MENTION.sub("`@`", safe)
