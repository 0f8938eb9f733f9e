# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Label selectors, read and applied on our side: the language the API server speaks, without > and <.

Shared by every room and private to the collection.

`a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .problems import BadOption

_KEY = r"[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?"
_VALUE = r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?"
_SET = re.compile(rf"^({_KEY})\s+(in|notin)\s*\(\s*([^()]*)\)$")
_EQUALITY = re.compile(rf"^({_KEY})\s*(==|=|!=)\s*({_VALUE})$")
_PRESENCE = re.compile(rf"^(!?)\s*({_KEY})$")
_ONE_VALUE = re.compile(_VALUE)
_COMMA_OUTSIDE_BRACKETS = re.compile(r",(?![^(]*\))")

Test = Callable[[Mapping[str, str]], bool]


def parse_selector(text: str, path: str = "label_selector") -> Test:
    """A test for labels. An empty selector takes everything."""
    parts = [part.strip() for part in _COMMA_OUTSIDE_BRACKETS.split(text)] if text.strip() else []
    tests = [_parse(part, path) for part in parts]
    return lambda labels: all(test(labels) for test in tests)


def _parse(part: str, path: str) -> Test:
    if match := _SET.match(part):
        key, word, values = match[1], match[3], {value.strip() for value in match[4].split(",")}
        if not all(_ONE_VALUE.fullmatch(value) for value in values):
            raise _cannot_read(part, path)
        if word == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _EQUALITY.match(part):
        key, sign, value = match[1], match[3], match[4]
        if sign == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _PRESENCE.match(part):
        absent, key = bool(match[1]), match[2]
        return lambda labels: (key in labels) is not absent
    raise _cannot_read(part, path)


def _cannot_read(part: str, path: str) -> BadOption:
    why = f"{path}: cannot read {part!r}"
    return BadOption("bad options", why=why, next_step="write it like app=shop,tier in (web,db)")


def fits_selector(labels: Mapping[str, str], selector: Mapping[str, Any]) -> bool:
    """A selector as objects carry it, with `matchLabels` and `matchExpressions`. An empty one takes everything."""
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _OPERATORS[expression["operator"]](labels, expression["key"], expression.get("values") or ())
        for expression in expressions
    )


_OPERATORS: dict[str, Callable[[Mapping[str, str], str, Any], bool]] = {
    "In": lambda labels, key, values: labels.get(key) in values,
    "NotIn": lambda labels, key, values: labels.get(key) not in values,
    "Exists": lambda labels, key, values: key in labels,
    "DoesNotExist": lambda labels, key, values: key not in labels,
}
