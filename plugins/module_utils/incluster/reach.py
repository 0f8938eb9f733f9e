# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a custom resource reaches: whoever may create one acts with the operator's rights, not with his own.

Room: incluster (pure). What takes things out of the whole cluster is heard only in the operator's own namespace, where
only its administrators write. A Maintenance is heard everywhere, for the routes of its own namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .kinds import Work


def why_out_of_reach(item: Mapping[str, Any], work: Work, home: str) -> tuple[str, str] | None:
    """Why it is not done, and what to do instead; None where it is within reach. Without a home nobody is kept out."""
    namespace = (item.get("metadata") or {}).get("namespace") or ""
    if not work.own or not home or namespace == home:
        return None
    if work.approval:
        return (
            f"a {item.get('kind')} acts on the whole cluster, and is heard only in the namespace {home}",
            f"create it there: kubectl --namespace {home} apply -f ...",
        )
    strangers = sorted(_namespaces_named(item.get("spec") or {}) - {namespace})
    if strangers:
        return (
            f"it is in the namespace {namespace}, and names routes in {', '.join(strangers)}",
            f"name routes of {namespace} only, or create it in the namespace {home}",
        )
    return None


def _namespaces_named(spec: Mapping[str, Any]) -> set[str]:
    """Where none is named, its own is meant."""
    targets = [target for target in spec.get("targets") or () if isinstance(target, Mapping)]
    return {str(place["namespace"]) for place in (spec, *targets) if place.get("namespace")}
