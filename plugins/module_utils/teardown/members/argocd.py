# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of an Argo CD Application: what its status lists, each object still marked as its own.

Room: teardown. The Application is the record: it waits while its objects go (truce.py) and goes last. Only where it is
about the cluster it is stored in; for another cluster's objects its list means nothing here. An object is its own as
Argo CD sees it: by the tracking annotation, which names that very object, or by the tracking label, where Argo CD
tracks by label.
"""

from __future__ import annotations

import base64
import binascii
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import Record
from ...problems import CannotLook, Problem, Refused
from ...well_known import BINDINGS, CONFIG_MAPS, SECRETS
from .claims import Claim, Membership

if TYPE_CHECKING:
    from ...kube.cluster import Cluster
    from ...kube.endpoint import Endpoint

GROUP = "argoproj.io"
TRACKING_ID = "argocd.argoproj.io/tracking-id"
SKIP_RECONCILE = "argocd.argoproj.io/skip-reconcile"
_INSTANCE = "argocd.argoproj.io/instance"
_DEFAULT_LABEL = "app.kubernetes.io/instance"
_SETTINGS = "argocd-cm"
_CONTROLLER = "application-controller"
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
    membership = Membership(
        source, home=str(((item.get("spec") or {}).get("destination") or {}).get("namespace") or "")
    )
    for entry in (item.get("status") or {}).get("resources") or ():
        membership.claims.append(_claim(entry, source))
    tracking = _tracking(name, namespace, membership.claims, cluster)
    membership.not_ours, membership.sure_mark = tracking.not_ours, tracking.is_marked
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


# -- whose objects they are --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tracking:
    """How Argo CD knows the objects of one Application."""

    names: tuple[str, ...]  # Applications outside of Argo CD's own namespace are called `namespace_name`
    label: str  # the key of its label; empty where it tracks by annotation
    # What the Application lists, by namespace and name: `group/kind`. Cluster-scoped objects have no namespace.
    kinds: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def not_ours(self, record: Record, marked: bool) -> str:
        owner, tracked = self._owner_of(record, self.label)
        if owner and owner not in self.names:
            return f"it belongs to Argo CD Application {owner.replace('_', '/', 1)}"
        if not marked or (owner and self._names(tracked, record)):
            return ""
        if owner:
            return f"its annotation {TRACKING_ID} was made for another object, {tracked}"
        return f"it carries no mark of the Application (annotation {TRACKING_ID})"

    def is_marked(self, record: Record) -> bool:
        """Of any object in the cluster, listed by the Application or not: to report it, never to delete it."""
        owner, tracked = self._owner_of(record, self.label or _DEFAULT_LABEL)
        return owner in self.names and self._is_called(tracked, record)

    def _owner_of(self, record: Record, label: str) -> tuple[str, str]:
        """The Application's name, and which object the mark is about; empty where it is a label."""
        owner, _colon, tracked = record.annotations.get(TRACKING_ID, "").partition(":")
        if owner:
            return owner, tracked
        if record.labels.get(_INSTANCE):
            return record.labels[_INSTANCE], ""
        # The usual label is Helm's as well: of a release that Helm installed it says nothing about Argo CD.
        by_helm = label == _DEFAULT_LABEL and any(key.startswith(_HELM) for key in record.annotations)
        found = "" if by_helm or not label else record.labels.get(label, "")
        return (found, "") if found in self.names else ("", "")

    def _names(self, tracked: str, record: Record) -> bool:
        """Whether the annotation names this very object, and the Application lists it as that kind."""
        kind = tracked.partition(":")[0]
        listed = self.kinds.get((record.namespace, record.name), frozenset())
        return self._is_called(tracked, record) and (not tracked or kind in listed)

    @staticmethod
    def _is_called(tracked: str, record: Record) -> bool:
        if not tracked:
            return True
        namespace, _slash, name = tracked.partition(":")[2].partition("/")
        # Argo CD writes the Application's namespace into the annotation of what is cluster-scoped.
        return name == record.name and record.namespace in ("", namespace)


def _tracking(name: str, namespace: str, claims: list[Claim], cluster: Cluster) -> _Tracking:
    kinds: dict[tuple[str, str], frozenset[str]] = {}
    for claim in claims:
        # Of a cluster-scoped object the status may name a namespace, too.
        for place in dict.fromkeys((claim.namespace, "")):
            known = kinds.get((place, claim.name), frozenset())
            kinds[place, claim.name] = known | {f"{claim.group}/{claim.kind}"}
    homes = _homes_of_argo_cd(cluster)
    plain = namespace in homes if homes else not _has_a_namesake(name, namespace, cluster)
    label = _tracking_label(namespace, cluster) if namespace in homes else ""
    return _Tracking((f"{namespace}_{name}", *((name,) if plain else ())), label, kinds)


def _homes_of_argo_cd(cluster: Cluster) -> set[str]:
    """Where its controllers run that have permissions for the whole cluster: no tenant can pretend that.

    Empty where it cannot be told. Only there an Application is known by its plain name, and only there settings count.
    """
    try:
        items = cluster.list_whole(BINDINGS[0])
    except Problem as problem:
        if not problem.is_forbidden:
            raise
        return set()
    subjects = [one for item in items for one in item.get("subjects") or ()]
    return {str(one.get("namespace") or "") for one in subjects if str(one.get("name") or "").endswith(_CONTROLLER)}


def _has_a_namesake(name: str, namespace: str, cluster: Cluster) -> bool:
    resource, _warning = cluster.resolve("Application", f"{GROUP}/", by_hand=False)
    try:
        records = cluster.list(resource).records if resource else []
    except Problem as problem:
        if not problem.is_forbidden:
            raise
        return True  # it cannot be seen whether there is one
    return any(record.name == name and record.namespace != namespace for record in records)


def _tracking_label(namespace: str, cluster: Cluster) -> str:
    """The key of the label it tracks by, as its settings say; empty where it does so by annotation.

    Unset means label up to version 2.
    """
    try:
        settings = cluster.read_whole(CONFIG_MAPS, namespace, _SETTINGS)
    except Problem as problem:
        if not problem.is_forbidden:
            raise
        return ""
    data = (settings or {}).get("data") or {}
    if str(data.get("application.resourceTrackingMethod") or "label") != "label":
        return ""
    return str(data.get("application.instanceLabelKey") or _DEFAULT_LABEL)


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
    try:
        host = urllib.parse.urlsplit(server).hostname or ""
    except ValueError:  # it is no URL
        return False
    if host in _OWN_HOSTS or host.startswith(f"{_OWN_HOSTS[0]}."):
        return True
    return endpoint.is_at(server)
