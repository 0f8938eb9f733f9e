# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is done to an object before it is deleted: annotations, a patch, a number of replicas.

Room: teardown (pure). Landscaper's `annotateBeforeDelete` and `patchBeforeDelete`, and scaling to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..problems import BadFields
from .members.looking import Member

SCALABLE = frozenset(
    {("apps", "deployments"), ("apps", "statefulsets"), ("apps", "replicasets"), ("", "replicationcontrollers")}
)


def check_before_delete(value: Mapping[str, Any], path: str, bad: BadFields) -> None:
    for key, kind, text in (
        ("annotate", Mapping, "a mapping"),
        ("patch", Mapping, "a mapping"),
        ("scale", int, "a number"),
    ):
        given = value.get(key)
        if given is not None and (not isinstance(given, kind) or isinstance(given, bool)):
            bad.add(f"{path}.{key}", f"must be {text}, not {type(given).__name__}")
    if isinstance(value.get("scale"), int) and value["scale"] < 0:
        bad.add(f"{path}.scale", f"must be 0 or more, not {value['scale']}")


def patch_before_delete(member: Member, wish: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch for one object; empty where there is nothing to do for its kind."""
    patch: dict[str, Any] = _merged({}, wish.get("patch") or {})
    annotations = {str(key): str(value) for key, value in (wish.get("annotate") or {}).items()}
    if annotations:
        patch = _merged(patch, {"metadata": {"annotations": annotations}})
    if wish.get("scale") is not None and (member.resource.group, member.resource.plural) in SCALABLE:
        patch = _merged(patch, {"spec": {"replicas": wish["scale"]}})
    return patch


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(one)
    for key, value in other.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
