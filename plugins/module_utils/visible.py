# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text from a cluster, made safe to show: what a terminal or a reader would not see as it is becomes an escape.

Shared by every room and private to the collection. Names and messages from a cluster are data, and some are hostile:
an escape sequence repaints the plan above it, a bidi mark turns a name around, a line break forges a line. Structured
results keep the raw names, so that tasks can use them; whatever is shown goes through `visible`. A failed result is
always shown whole, by Ansible itself, so nothing in it is raw. Secrets are masked before, on the raw text.
"""

from __future__ import annotations

import re
from typing import Any

# Python counts these as printable, and nothing is seen of them: fillers, joiners, variation selectors.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)

# Keys of results that hold sentences, alone or in lists. All others are data, which a task may want to use.
_SENTENCES = frozenset(
    {
        "conflicts",
        "cut",
        "effects",
        "errors",
        "instead",
        "left_out",
        "loss",
        "meaning",
        "message",
        "missing",
        "msg",
        "next_step",
        "next_steps",
        "problem",
        "reason",
        "releases",
        "risks",
        "steps",
        "suggestion",
        "swept",
        "table",
        "text",
        "title",
        "unreadable",
        "unseen",
        "verified",
        "why",
    }
)
# Below these keys everything is data, whatever its keys are called.
_DATA = frozenset({"arguments", "diff", "external", "revert_state"})


def visible(text: str) -> str:
    """One line, in which every control character, bidi mark, line break and invisible character is an escape."""
    if text.isprintable() and not _BLANK.search(text):
        return text
    return "".join(_seen(letter) for letter in text)


def _seen(letter: str) -> str:
    if letter.isprintable() and not _BLANK.match(letter):
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def visible_lines(text: str) -> str:
    """The same for text of several lines, such as a diff; names in it have been made visible before."""
    return "\n".join(map(visible, text.split("\n")))


def visible_result(value: Any, key: str = "") -> Any:
    """A result whose sentences are safe to show, and whose data are as they were."""
    if isinstance(value, str):
        return visible(value) if key in _SENTENCES else value
    if isinstance(value, dict):
        return {name: one if name in _DATA else visible_result(one, str(name)) for name, one in value.items()}
    if isinstance(value, list):
        return [visible_result(one, key) for one in value]
    return value


def visible_if_failed(result: dict[str, Any]) -> dict[str, Any]:
    """As Ansible is handed it: it prints a failed result as it is, data and all."""
    if not result.get("failed"):
        return result
    return {key: value if key in ("diff", "revert_state") else _all_visible(value) for key, value in result.items()}


def _all_visible(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {_all_visible(key): _all_visible(one) for key, one in value.items()}
    return [_all_visible(one) for one in value] if isinstance(value, list) else value
