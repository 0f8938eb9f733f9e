# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a custom resource reaches: whoever may create one acts with the operator's rights, not with his own.

Room: incluster (pure). What takes things out of the whole cluster is heard only in the operator's own namespace, where
only its administrators write. A Maintenance is heard everywhere, for the routes of its own namespace. Nobody reads the
files of the operator's pod: its token is among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..commands import kubectl
from ..documents import holds_documents
from .kinds import Work, arguments_of

Refusal = tuple[str, str]  # why, and what to do instead


def why_out_of_reach(item: Mapping[str, Any], work: Work, home: str) -> Refusal | None:
    """Why it is not done, and what to do instead; None where it is within reach. Without a home nobody is kept out."""
    if not work.own:
        return None
    asked = _asked(item, work)
    files = list(_files_named(asked))
    if files:
        return (
            f"{files[0]} names a file, and there are no files of yours where the operator runs",
            "put what is in it into the resource or, for a page, into a ConfigMap",
        )
    namespace = (item.get("metadata") or {}).get("namespace") or ""
    if not home or namespace == home:
        return None
    if work.approval:
        return (
            f"a {item.get('kind')} acts on the whole cluster, and is heard only in the namespace {home}",
            f"create it there: {kubectl('apply -f ...', namespace=home)}",
        )
    return _beyond_its_namespace(asked, namespace, home)


def _asked(item: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """What the role is going to be told, whatever the spelling in the spec."""
    prefix = f"{work.role}_"
    return {name.removeprefix(prefix): value for name, value in arguments_of(item.get("spec") or {}, work.role).items()}


def _files_named(asked: Mapping[str, Any]) -> Iterator[str]:
    page = asked.get("page")
    if isinstance(page, str) and re.search("[./]", page):
        yield "spec.page"
    if isinstance(page, Mapping) and page.get("html_file") is not None:
        yield "spec.page.htmlFile"
    manifests = asked.get("manifests")
    sources = manifests.get("sources") if isinstance(manifests, Mapping) else manifests
    for source in sources if isinstance(sources, list) else [sources]:
        if isinstance(source, str) and not holds_documents(source):
            yield "spec.manifests"


# What a Maintenance may not ask for where others than the operator's administrators write. option → (value, why)
_AT_HOME_ONLY: dict[str, tuple[Any, str]] = {
    "route_kinds": (..., "routeKinds lets the operator write to kinds that are no routes"),
    "gitops": ("pause", "gitops: pause stops all that belongs to an Application, wherever that is"),
}


def _beyond_its_namespace(asked: Mapping[str, Any], namespace: str, home: str) -> Refusal | None:
    strangers = sorted(_namespaces_named(asked) - {namespace})
    if strangers:
        return (
            f"it is in the namespace {namespace}, and names {', '.join(strangers)}",
            f"name routes and pages of {namespace} only, or create it in the namespace {home}",
        )
    for name, (value, why) in _AT_HOME_ONLY.items():
        if asked.get(name) and value in (..., asked[name]):
            return why, f"leave it out, or create it in the namespace {home}"
    return None


def _namespaces_named(asked: Mapping[str, Any]) -> set[str]:
    """Where none is named, its own is meant."""
    page = asked.get("page")
    places = [asked, *(asked.get("targets") or ()), page.get("config_map") if isinstance(page, Mapping) else None]
    return {str(place["namespace"]) for place in places if isinstance(place, Mapping) and place.get("namespace")}
