# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server itself refuses of a custom resource: limits of single fields, and rules for several of them.

Data for scripts/operator_crds.py. Rules are CEL with a sentence for the person who reads the refusal. Every text and
list has a limit, without which the API server would not take the rules: it reckons with the longest that is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checkout import ROOT

Schema = dict[str, Any]
DAY, WEEK = 86_400, 604_800
# A label and a name of Kubernetes.
LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
NAME = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
LONGEST_LABEL, LONGEST_NAME, LONGEST_TEXT, LONGEST_LIST = 63, 253, 1024, 1000


def rule(expression: str, message: str) -> dict[str, str]:
    return {"rule": expression, "message": message}


def _checked(expression: str, message: str, longest: int = LONGEST_NAME) -> Schema:
    return {"maxLength": longest, "x-kubernetes-validations": [rule(expression, message)]}


def _named(what: str, pattern: str = NAME, longest: int = LONGEST_NAME) -> Schema:
    letters = "digits and dashes" if pattern == LABEL else "digits, dashes and dots"
    return _checked(f"self.matches('{pattern}')", f"{what}: small letters, {letters}", longest)


def _products() -> str:
    """The products by the names of their files, which are those of their profiles."""
    folder = ROOT / "plugins" / "module_utils" / "profiles" / "products"
    files: list[Path] = sorted(file for file in folder.glob("[a-z]*.py"))
    return "|".join(file.stem.replace("_", "-") for file in files)


# Of every kind that has such a field; a kind's own are below.
FIELDS: Mapping[str, Schema] = {
    "timeout": {"minimum": 1, "maximum": DAY},
    "linger": {"maximum": 600},
    "forceAfter": {"maximum": DAY},
    "sweepAfter": {"maximum": WEEK},
    "retryAfter": {"maximum": WEEK},
    "maxObjects": {"minimum": 1},
    "concurrency": {"minimum": 1, "maximum": 100},
    "statusCode": {"minimum": 400, "maximum": 599},
    "release": _named("release is a name"),
    "nncp": _named("nncp is the name of a NodeNetworkConfigurationPolicy"),
    "namespace": _named("namespace is a name", LABEL, LONGEST_LABEL),
    # A name or an object: this is for the name.
    "page": {"pattern": LABEL, "maxLength": LONGEST_LABEL},
    "profile": {"pattern": f"^(auto|none|{_products()})$"},
    "end": _checked(
        r"self.matches(r'^((\d+[dhms])+\d*|\d+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.]\d+)?(Z|[+-]\d\d:\d\d))$')",
        "end is a time like 2026-11-16T23:30:00Z, or how long it lasts, like 1h30m",
        64,
    ),
    "maxUnavailable": _checked(
        "self.matches('^[0-9]+%?$')", "maxUnavailable is a number, or a percentage such as 30%", 16
    ),
    "labelSelector": {"minLength": 1},
    "names": {"minItems": 1},
    "exemptPaths": {"items": {"pattern": "^/."}},
}
KINDS: Mapping[str, Mapping[str, Schema]] = {
    # Whether the namespace goes, not its name.
    "ManagedClusterDeletion": {"namespace": {}},
    "Uninstall": {"page": {}, "manifests": {"items": {"type": "object"}}},
    "Drain": {"profile": {"pattern": f"^(auto|{_products()})$"}},
}
# Of the whole spec.
SPECS: Mapping[str, list[dict[str, str]]] = {
    "Uninstall": [
        rule(
            "has(self.release) || has(self.namespace) || has(self.manifests)",
            "say what to uninstall: release, namespace or manifests",
        ),
        rule(
            "!(has(self.release) && has(self.manifests))",
            "release and manifests name two different things: leave one of them out",
        ),
        rule("!self.deleteNamespace || has(self.namespace)", "deleteNamespace needs namespace"),
    ],
    "ManagedClusterDeletion": [
        rule(
            "has(self.names) != has(self.labelSelector)",
            "say which clusters are to be deleted: names or labelSelector, one of them",
        ),
    ],
    "NetworkRevert": [
        rule("has(self.nncp)", "say which NodeNetworkConfigurationPolicy is to be reverted: nncp"),
    ],
}


def limited(kind: str, name: str, schema: Schema) -> Schema:
    """A property with its limits."""
    own = KINDS.get(kind, {}).get(name)
    return _with_limits(_merged(schema, FIELDS.get(name, {}) if own is None else own))


def _merged(schema: Schema, more: Schema) -> Schema:
    if "items" not in more:
        return {**schema, **more}
    rest = {key: value for key, value in more.items() if key != "items"}
    return {**schema, **rest, "items": {**schema["items"], **more["items"]}}


def _with_limits(schema: Schema) -> Schema:
    form = schema.get("type")
    if form == "string" and "enum" not in schema:
        return {"maxLength": LONGEST_TEXT, **schema}
    if form == "integer":
        return {"maximum": 2**31 - 1, **schema}
    if form == "array":
        return {"maxItems": LONGEST_LIST, **schema, "items": _with_limits(schema["items"])}
    return schema
