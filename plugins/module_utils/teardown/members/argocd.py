# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of an Argo CD Application: what its status lists, each object still marked as its own.

Room: teardown. The Application is the record: it waits while its objects go (truce.py) and goes last. Only where it is
about the cluster it is stored in; for another cluster's objects its list means nothing here.
"""

from __future__ import annotations

import base64
import binascii
import urllib.parse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...admission import NAMESPACE_NAME
from ...objects import Record
from ...problems import CannotLook, Problem, Refused
from ...well_known import SECRETS
from .claims import Claim, Membership

if TYPE_CHECKING:
    from ...kube.cluster import Cluster
    from ...kube.endpoint import Endpoint

GROUP = "argoproj.io"
TRACKING_ID = "argocd.argoproj.io/tracking-id"
SKIP_RECONCILE = "argocd.argoproj.io/skip-reconcile"
_INSTANCE = "argocd.argoproj.io/instance"
_DEFAULT_LABEL = "app.kubernetes.io/instance"
_HELM = "meta.helm.sh/"
_POST_DELETE = "post-delete-finalizer.argocd.argoproj.io"
_CLUSTERS = "argocd.argoproj.io/secret-type=cluster"
_OWN_NAME = "in-cluster"
_OWN_HOSTS = ("kubernetes.default.svc", "kubernetes.default")
# Hooks that run after everything is gone need a controller that looks, and one that does not put anything back.
_AWAKE_BUT_MANUAL = {
    "patch": {"metadata": {"annotations": {SKIP_RECONCILE: None}}, "spec": {"syncPolicy": {"automated": None}}}
}


def argocd_membership(name: str, namespace: str, cluster: Cluster) -> Membership:
    source = f"Argo CD Application {namespace}/{name}"
    resource, _warning = cluster.resolve("Application", f"{GROUP}/", by_hand=False)
    item = cluster.read_whole(resource, namespace, name) if resource else None
    if item is None:
        return Membership(source, missing=f"there is no {source}")
    _refuse_elsewhere(item, source, cluster)
    membership = Membership(source, not_ours=_tracked_by(name, namespace), sure_mark=_surely_of(name, namespace))
    for entry in (item.get("status") or {}).get("resources") or ():
        membership.claims.append(_claim(entry, source))
    if not membership.claims:
        membership.warnings.append(f"the status of {source} lists no objects: nothing but itself is known of it")
    nested = [claim for claim in membership.claims if (claim.group, claim.kind) == (GROUP, "Application")]
    if nested:
        membership.warnings.append(
            f"{source} holds {len(nested)} Applications, {nested[0].namespace}/{nested[0].name} among them: "
            "what these own goes by Argo CD's own deletion, or stays where they have no resources finalizer"
        )
    membership.records = [_record(item, source)]
    return membership


def _claim(entry: Mapping[str, Any], source: str) -> Claim:
    kind, name = str(entry.get("kind") or ""), str(entry.get("name") or "")
    if not kind or not name:
        raise CannotLook(f"cannot read the status of {source}", why=f"it lists an object without a name: {entry!r}")
    return Claim(
        str(entry.get("group") or ""),
        kind,
        name,
        str(entry.get("namespace") or ""),
        str(entry.get("version") or ""),
        source,
    )


def _record(item: Mapping[str, Any], source: str) -> Claim:
    metadata = item["metadata"]
    finalizers = metadata.get("finalizers") or ()
    hooked = any(one.startswith(_POST_DELETE) for one in finalizers)
    return Claim(
        GROUP,
        "Application",
        metadata["name"],
        metadata["namespace"],
        "v1alpha1",
        f"record of {source}",
        before_delete=_AWAKE_BUT_MANUAL if hooked else {},
    )


def _names_of(name: str, namespace: str) -> tuple[str, str]:
    """Applications outside of Argo CD's own namespace are called `namespace_name`."""
    return name, f"{namespace}_{name}"


def _owner_of(record: Record) -> str:
    return record.annotations.get(TRACKING_ID, "").partition(":")[0] or record.labels.get(_INSTANCE, "")


def _surely_of(name: str, namespace: str) -> Callable[[Record], bool]:
    """By keys that are Argo CD's own, or its default label where that is not Helm's: a name alone may be anybody's."""
    own = _names_of(name, namespace)

    def is_ours(record: Record) -> bool:
        by_helm = any(key.startswith(_HELM) for key in record.annotations)
        return (_owner_of(record) or ("" if by_helm else record.labels.get(_DEFAULT_LABEL, ""))) in own

    return is_ours


def _tracked_by(name: str, namespace: str) -> Any:
    """Argo CD's marks: the tracking annotation, or a label whose key can be configured."""
    own = _names_of(name, namespace)

    def not_ours(record: Record, marked: bool) -> str:
        owner = _owner_of(record)
        if owner:
            return "" if owner in own else f"it belongs to Argo CD Application {owner.replace('_', '/', 1)}"
        # A namespace is labelled with its own name, by the server: that is nobody's mark.
        if not marked or any(value in own for key, value in record.labels.items() if key != NAMESPACE_NAME):
            return ""
        return f"it carries no mark of the Application (annotation {TRACKING_ID})"

    return not_ours


# -- which cluster it is about -----------------------------------------------------------------------------------------


def _refuse_elsewhere(item: Mapping[str, Any], source: str, cluster: Cluster) -> None:
    why = why_elsewhere(item, cluster.endpoint)
    if not why:
        return
    destination = (item.get("spec") or {}).get("destination") or {}
    name = str(destination.get("name") or "")
    if not destination.get("server") and _registered_here(name, item["metadata"]["namespace"], cluster):
        return
    raise Refused(
        "delete",
        which=source,
        why=f"{why}, and its objects are there",
        next_step="run the task against that cluster with members by selector, or delete the Application itself "
        "(argocd app delete); nothing was changed",
    )


def _registered_here(name: str, namespace: str, cluster: Cluster) -> bool:
    """Whether Argo CD knows this very cluster by that name. Who may not look gets the refusal, which is safe."""
    try:
        items = cluster.list_whole(SECRETS, namespace, _CLUSTERS)
    except Problem:
        return False
    servers = [_text(item, "server") for item in items if _text(item, "name") == name]
    return any(is_this_cluster(server, cluster.endpoint) for server in servers)


def _text(secret: Mapping[str, Any], key: str) -> str:
    try:
        return base64.b64decode((secret.get("data") or {}).get(key) or "").decode()
    except (binascii.Error, UnicodeDecodeError, TypeError):
        return ""


def why_elsewhere(item: Mapping[str, Any], endpoint: Endpoint) -> str:
    """Why an Application's destination is another cluster than the one we talk to; empty when it is this one."""
    destination = (item.get("spec") or {}).get("destination") or {}
    server, name = str(destination.get("server") or ""), str(destination.get("name") or "")
    if server:
        return "" if is_this_cluster(server, endpoint) else f"its destination is the cluster at {server}"
    return "" if name in ("", _OWN_NAME) else f"its destination is the cluster {name}"


def is_this_cluster(server: str, endpoint: Endpoint) -> bool:
    parts = urllib.parse.urlsplit(server)
    host = parts.hostname or ""
    if host in _OWN_HOSTS or host.startswith(f"{_OWN_HOSTS[0]}."):
        return True
    # With path and port: behind one address a proxy may serve many clusters.
    place = (host, parts.port or 443, parts.path.rstrip("/"))
    return place == (endpoint.host, endpoint.port, endpoint.base_path.rstrip("/"))
