# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds whose converter between versions does not answer: their objects can be neither listed nor deleted.

Room: teardown (pure). An object that is stored in the version it is asked for in needs no converter, so the obstacle is
certain only where the definition says that others are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...commands import kubectl
from ...objects import ObjectRef, Resource
from ...paths import value_at
from ...well_known import DEFINITIONS
from .backends import Backends, Beat, service_of
from .obstacle import CONVERSION, Obstacle

_NONE = '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'


def converter_of(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The client configuration of a definition's conversion webhook."""
    if value_at(item, "spec.conversion.strategy") != "Webhook":
        return None
    return value_at(item, "spec.conversion.webhook.clientConfig") or {}


def defines(item: Mapping[str, Any]) -> tuple[str, str]:
    return value_at(item, "spec.group") or "", value_at(item, "spec.names.plural") or ""


def judge_conversion(item: Mapping[str, Any], resource: Resource, backends: Backends) -> Obstacle | None:
    client_config = converter_of(item)
    if client_config is None:
        return None
    pulse = backends.pulse(client_config)
    stored = sorted(set(value_at(item, "status.storedVersions") or ()) - {resource.version})
    if pulse.beat is Beat.READY or (pulse.beat is Beat.UNKNOWN and not stored):
        return None
    certain = pulse.beat is Beat.DEAD and bool(stored)
    ref = ObjectRef(
        DEFINITIONS.api_version, DEFINITIONS.kind, "", item["metadata"]["name"], item["metadata"].get("uid", "")
    )
    place = service_of(client_config) if pulse.beat is Beat.DEAD else None
    what = f"those stored as {', '.join(stored)}" if stored else "any that is stored in another version"
    verb = "can" if certain else "could"
    patch = kubectl(f"patch crd {{name}} --type merge -p '{_NONE}'", name=ref.name)
    return Obstacle(
        CONVERSION,
        ref,
        f"{resource.kind} objects {verb} be neither listed nor deleted ({what}): {pulse.why}, which converts them",
        f"if all versions of {resource.kind} look alike: {patch}",
        frozenset({place} if place else ()),
        certain,
    )
