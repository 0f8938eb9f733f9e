# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a Landscaper Target is the cluster that we talk to.

Room: teardown. A Target names a cluster by a kubeconfig, by an address for OIDC, or as the cluster in which it lies
itself. A user who may write a Target could name any server there, or a login plugin, so nothing in it is ever
called or run. Its address and certificate authority are compared with those of our own connection. What cannot be
compared is taken for another cluster, unless the task says which Target this cluster is.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...documents import documents
from ...objects import Resource
from ...problems import BadOption, Problem, Refused
from ...well_known import SECRETS

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

GROUP = "landscaper.gardener.cloud"
_TYPE = f"{GROUP}/kubernetes-cluster"
# Which Target a deployer takes: by this annotation of the DeployItem, which its Execution writes.
_TARGET_NAME, _NO_TARGET = f"{GROUP}/deployer-target-name", ".noTargetName"
_KUBECONFIG, _OIDC, _SELF = "kubeconfig", "oidcConfig", "selfConfig"
_WAYS = (_KUBECONFIG, _OIDC, _SELF)


def require_this_cluster(item: Mapping[str, Any], source: str, home: Cluster, cluster: Cluster, named: str) -> str:
    """Refuse a DeployItem whose Target is not `cluster`; else which Target it is. `home`: where both are stored."""
    place = item["metadata"]["namespace"]
    name = _name_of_target(item, source)
    target = f"Target {place}/{name}"
    if named:
        if named != name:
            raise _refusal(source, f"its {target} is another Target than members.landscaper.target says ({named})")
        return target
    try:
        why = _why_elsewhere(item, name, home, cluster)
    except _Unclear as problem:
        raise _refusal(source, f"its {target} cannot be told to be this cluster: {problem}", name) from None
    if why:
        raise _refusal(source, f"its {target} is another cluster ({why})", name)
    return target


def _refusal(source: str, why: str, target: str = "") -> Refused:
    way = "look who wrote it, or name the objects by members.selector"
    if target:
        way = (
            "connect the task to the cluster of that Target, and name the context of the DeployItem's cluster in "
            f"members.landscaper.context; if it is connected to it already, set members.landscaper.target: {target}"
        )
    return Refused("delete", which=source, why=why, next_step=f"{way}; nothing was changed")


def _name_of_target(item: Mapping[str, Any], source: str) -> str:
    metadata = item["metadata"]
    reference = (item.get("spec") or {}).get("target") or {}
    name = str(reference.get("name") or "")
    annotated = (metadata.get("annotations") or {}).get(_TARGET_NAME, name or _NO_TARGET)
    if annotated != (name or _NO_TARGET):
        why = f"its spec.target is {name or 'empty'}, and its annotation {_TARGET_NAME} is {annotated}"
        raise _refusal(source, why)
    if not name:
        why = "it names no Target, and without one Landscaper deploys nothing: no cluster is known to hold its objects"
        raise _refusal(source, why)
    if reference.get("namespace") not in (None, "", metadata["namespace"]):
        why = f"its Target is in namespace {reference['namespace']}, and Landscaper takes one of its own namespace"
        raise _refusal(source, why)
    return name


def _why_elsewhere(item: Mapping[str, Any], name: str, home: Cluster, cluster: Cluster) -> str:
    """Why the Target is another cluster than ours; empty when it is ours."""
    namespace = item["metadata"]["namespace"]
    if ((item.get("spec") or {}).get("config") or {}).get(_KUBECONFIG):
        raise _Unclear("the DeployItem has a kubeconfig of its own, which older deployers use instead")
    kind, _warning = home.resolve("Target", f"{GROUP}/", by_hand=False)
    spec = (_read(kind, namespace, name, home) if kind else {}).get("spec") or {}
    if spec.get("type") != _TYPE:
        found = spec.get("type") or "not said"
        raise _Unclear(f"its type is {found}, not {_TYPE}" if spec else "there is no such Target")
    content = _content(spec, namespace, home)
    given = content if isinstance(content, Mapping) else {}
    way = next((way for way in _WAYS if given.get(way) is not None), "")
    if way == _SELF:
        same = home is cluster or home.identity() == cluster.identity()
        return "" if same else f"the one in which it lies, {home.endpoint.title}"
    if way == _OIDC:
        difference = cluster.endpoint.compare_cluster(_server_of(given[_OIDC]))
    else:
        difference = cluster.endpoint.compare(_kubeconfig(given[_KUBECONFIG] if way else content))
    if difference is not None and not difference.certain:
        raise _Unclear(difference.why)
    return difference.why if difference else ""


def _content(spec: Mapping[str, Any], namespace: str, home: Cluster) -> Any:
    """A Target's configuration, from itself or from a Secret: one key of it, or all keys as one dictionary."""
    reference = spec.get("secretRef")
    if not reference:
        return spec.get("config")
    key = str(reference.get("key") or "")
    data = _read(SECRETS, namespace, str(reference.get("name") or ""), home).get("data") or {}
    return _parsed(data.get(key)) if key else {way: _parsed(data[way]) for way in _WAYS if data.get(way)}


def _read(kind: Resource, namespace: str, name: str, home: Cluster) -> dict[str, Any]:
    """A Target or its Secret; empty where there is none of that name."""
    try:
        return (home.read_whole(kind, namespace, name) if name else None) or {}
    except Problem as problem:
        if not problem.is_forbidden:
            raise
        raise _Unclear(f"the {kind.kind} {name} may not be read ({problem.why})") from None


# What is in a Target or in its Secret is never shown: it holds credentials.


def _parsed(encoded: Any) -> Any:
    try:
        return next(documents(base64.b64decode(encoded or "").decode(), ""), None)
    except (BadOption, ValueError, TypeError):
        raise _Unclear("its Secret holds no YAML") from None


def _kubeconfig(content: Any) -> Mapping[str, Any]:
    """As text or as what the text says."""
    if isinstance(content, str):
        with contextlib.suppress(BadOption):
            content = next(documents(content, ""), None)
    if not isinstance(content, Mapping):
        raise _Unclear("it has no kubeconfig")
    return content


def _server_of(content: Any) -> dict[str, Any]:
    if not isinstance(content, Mapping) or not content.get("server"):
        raise _Unclear("its oidcConfig names no server")
    return {"server": content["server"], "certificate-authority-data": content.get("caData")}


class _Unclear(Exception):
    """Why it cannot be seen which cluster a Target is."""
