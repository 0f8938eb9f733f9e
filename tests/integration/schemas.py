# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest object that a schema takes: what is required, the first of what may be chosen, nothing else.

Knows OpenAPI as definitions have it. Rules in CEL are not read: where one refuses the smallest object, the test says
what it has to have besides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
# Texts that are tried where a pattern must fit; the first that does is taken.
TEXTS = ("a", "1h", "10m", "1", "v1", "1.0.0", "https://example.com", "http://a", "s3://a", "a/b", "example.com/a:1")
FORMATS = {"date-time": "2026-01-01T00:00:00Z", "byte": "YQ==", "duration": "1h", "int-or-string": 1}


def smallest(schema: Schema) -> Any:
    """A value that this schema takes."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return next((one for one in schema["enum"] if one), schema["enum"][0])
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    merged = _chosen(schema)
    return _MAKERS.get(merged.get("type", "object"), _object)(merged)


def storage_version(definition: Mapping[str, Any]) -> tuple[str, Schema]:
    """Name and schema of the version that a definition stores."""
    [version] = [one for one in definition["spec"]["versions"] if one["storage"]]
    return version["name"], version["schema"]["openAPIV3Schema"]


def has_path(schema: Schema, path: str) -> bool:
    """Whether objects may have a value there. Below an open part anything may be."""
    for part in path.split("."):
        if part not in (schema.get("properties") or {}):
            return bool(schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("additionalProperties"))
        schema = schema["properties"][part]
    return True


def _chosen(schema: Schema) -> dict[str, Any]:
    """With what all parts ask for, and the first of what may be chosen; those that forbid ask for nothing."""
    merged = dict(schema)
    parts = [*schema.get("allOf", ()), *(schema.get("oneOf") or ())[:1], *(schema.get("anyOf") or ())[:1]]
    for part in parts:
        merged["required"] = [*merged.get("required", ()), *part.get("required", ())]
        for name, more in (part.get("properties") or {}).items():
            properties = dict(merged.get("properties") or {})
            properties[name] = {**properties.get(name, {}), **more}
            merged["properties"] = properties
        merged.update({key: part[key] for key in ("minLength", "pattern", "minimum", "minItems") if key in part})
    return merged


def _object(schema: Schema) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    made = {name: smallest(properties.get(name, {})) for name in dict.fromkeys(schema.get("required") or ())}
    more = [name for name in properties if name not in made]
    while len(made) < schema.get("minProperties", 0):
        name = more.pop(0) if more else f"k{len(made)}"
        made[name] = smallest(properties.get(name) or schema.get("additionalProperties") or {"type": "string"})
    return made


def _array(schema: Schema) -> list[Any]:
    return [smallest(schema["items"]) for _number in range(schema.get("minItems", 0))]


def _text(schema: Schema) -> str:
    if schema.get("format") in FORMATS:
        return str(FORMATS[schema["format"]])
    least, pattern = schema.get("minLength", 0), schema.get("pattern", "")
    texts = (*TEXTS, *(text * least for text in ("a", "1")))
    return next((text for text in texts if len(text) >= least and re.search(pattern, text)), "a" * max(1, least))


def _number(schema: Schema) -> float:
    least = max(schema.get("minimum", 0), 0)
    return int(least) + (1 if schema.get("exclusiveMinimum") else 0)


_MAKERS: dict[str, Any] = {
    "object": _object,
    "array": _array,
    "string": _text,
    "integer": _number,
    "number": _number,
    "boolean": lambda schema: False,
}
