# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of an operator that OLM installed: what its Subscription brought, by the versions that are installed.

Room: teardown. The Subscription goes first, for it installs again what is gone; a ClusterServiceVersion goes before
what it repairs, and after the custom resources that its operator must let go (waves.py knows both). Works as well when
a run was cut off after the Subscription went: the versions carry the name of the package.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import Record, Resource, record_of
from ...problems import Problem
from ...well_known import SECRETS
from .claims import Claim, Membership, Search

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

GROUP = "operators.coreos.com"
COPIED_FROM = "olm.copiedFrom"
_OWNER, _OWNER_NAMESPACE, _OWNER_KIND = "olm.owner", "olm.owner.namespace", "olm.owner.kind"
_LABEL_LIMIT = 63
# Comes with OLM itself, for operators that look after every namespace.
_SHIPPED_GROUP = "global-operators"
# What OLM labels with its owner: (api version, kind), and whether it has a namespace.
_IN_NAMESPACE = (
    ("apps/", "Deployment"),
    ("/", "Service"),
    ("/", "ServiceAccount"),
    ("rbac.authorization.k8s.io/", "RoleBinding"),
    ("rbac.authorization.k8s.io/", "Role"),
)
_CLUSTER_WIDE = (
    ("rbac.authorization.k8s.io/", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/", "ClusterRole"),
    ("admissionregistration.k8s.io/", "ValidatingWebhookConfiguration"),
    ("admissionregistration.k8s.io/", "MutatingWebhookConfiguration"),
)
_CLUSTER_ROLES = (("rbac.authorization.k8s.io/", "ClusterRole"),)


@dataclass(frozen=True)
class _Version:
    """One ClusterServiceVersion that was really installed, not a copy."""

    record: Record
    spec: Mapping[str, Any]

    def entries(self, *path: str) -> Iterator[Mapping[str, Any]]:
        value: Any = self.spec
        for key in path:
            value = (value or {}).get(key)
        yield from value or ()

    @property
    def definitions(self) -> set[str]:
        return {str(entry.get("name")) for entry in self.entries("customresourcedefinitions", "owned")}

    @property
    def api_services(self) -> set[str]:
        owned = self.entries("apiservicedefinitions", "owned")
        return {f"{entry.get('version')}.{entry.get('group')}" for entry in owned}


@dataclass
class _Scene:
    """What OLM has in the namespace, told apart by whether it is about the operator that goes."""

    source: str
    namespace: str
    package: str
    subscription: Mapping[str, Any] | None = None
    versions: list[_Version] = field(default_factory=list)
    others: list[_Version] = field(default_factory=list)  # of other operators, anywhere
    blind: str = ""  # why those elsewhere could not be seen

    @property
    def label(self) -> str:
        return f"{GROUP}/{self.package}.{self.namespace}"


def olm_membership(subscription: str, namespace: str, cluster: Cluster) -> Membership:
    """What an operator's Subscription brought. `subscription` may be the package's name once it is gone itself."""
    source = f"OLM Subscription {namespace}/{subscription}"
    scene = _look(subscription, namespace, source, cluster)
    if scene.subscription is None and not scene.versions:
        return Membership(source, missing=f"there is no {source}, nor an installed version of that package")
    membership = Membership(source, default_namespace=namespace, home=namespace)
    if scene.subscription is not None:
        membership.claims.append(_olm_object("Subscription", scene.subscription["metadata"]["name"], scene))
    for version in scene.versions:
        membership.claims += _of_version(version, scene)
        membership.searches += _labelled(version.record.name, "ClusterServiceVersion", scene)
    membership.claims += [*_install_plans(scene, cluster), *_copies(scene, cluster), *_secrets(scene, cluster)]
    groups = list(_operator_groups(scene, cluster))
    leaving = [claim.name for claim in groups if not claim.keep]
    membership.claims += groups
    for name in leaving:
        membership.searches += _labelled(name, "OperatorGroup", scene, (), _CLUSTER_ROLES)
    membership.not_ours = _owned_by(scene, leaving)
    membership.records = [
        Claim(GROUP, "Operator", f"{scene.package}.{namespace}", "", "v1", f"record of {source}"),
    ]
    if scene.subscription is None:
        membership.warnings.append(f"{source} is gone; what its installed versions brought is taken")
    return membership


# -- looking -----------------------------------------------------------------------------------------------------------


def _look(subscription: str, namespace: str, source: str, cluster: Cluster) -> _Scene:
    resource = _kind("Subscription", cluster)
    item = cluster.read_whole(resource, namespace, subscription) if resource else None
    spec, status = ((item or {}).get(part) or {} for part in ("spec", "status"))
    scene = _Scene(source, namespace, str(spec.get("name") or subscription), item)
    named = {str(status.get(key)) for key in ("installedCSV", "currentCSV") if status.get(key)}
    for version in _all_versions(scene, cluster):
        here = version.record.namespace == namespace
        ours = version.record.name in named or scene.label in version.record.labels or _is_of(version, scene)
        (scene.versions if here and ours else scene.others).append(version)
    return scene


def _is_of(version: _Version, scene: _Scene) -> bool:
    """By its name, where OLM had no time to label it."""
    return version.record.name.partition(".v")[0] == scene.package


def _all_versions(scene: _Scene, cluster: Cluster) -> list[_Version]:
    """Of the whole cluster, because definitions may have a second owner; else of the namespace."""
    resource = _kind("ClusterServiceVersion", cluster)
    if resource is None:
        return []
    try:
        items = cluster.list_whole(resource, None, f"!{COPIED_FROM}")
    except Problem as problem:
        scene.blind = problem.why
        items = cluster.list_whole(resource, scene.namespace, f"!{COPIED_FROM}")
    return [_Version(record_of(item["metadata"]), item.get("spec") or {}) for item in items]


def _kind(kind: str, cluster: Cluster) -> Resource | None:
    resource, _warning = cluster.resolve(kind, f"{GROUP}/", by_hand=False)
    return resource


# -- claims ------------------------------------------------------------------------------------------------------------


def _olm_object(kind: str, name: str, scene: _Scene, namespace: str = "", keep: str = "") -> Claim:
    return Claim(GROUP, kind, name, namespace or scene.namespace, "", scene.source, marked=False, keep=keep)


def _of_version(version: _Version, scene: _Scene) -> Iterator[Claim]:
    name, source = version.record.name, scene.source
    yield _olm_object("ClusterServiceVersion", name, scene)
    yield _olm_object("OperatorCondition", name, scene)
    install = version.spec.get("install") or {}
    for deployment in version.entries("install", "spec", "deployments"):
        yield Claim("apps", "Deployment", str(deployment.get("name")), scene.namespace, "v1", source)
    for account in sorted(_accounts(install.get("spec") or {})):
        keep = _also_used_by(account, scene)
        yield Claim("", "ServiceAccount", account, scene.namespace, "v1", source, marked=False, keep=keep)
    for definition in sorted(version.definitions):
        owners = [other for other in scene.others if definition in other.definitions]
        yield _shared("apiextensions.k8s.io", "CustomResourceDefinition", definition, owners, scene)
    for service in sorted(version.api_services):
        owners = [other for other in scene.others if service in other.api_services]
        yield _shared("apiregistration.k8s.io", "APIService", service, owners, scene)


def _accounts(strategy: Mapping[str, Any]) -> set[str]:
    rows = [*(strategy.get("permissions") or ()), *(strategy.get("clusterPermissions") or ())]
    return {str(row["serviceAccountName"]) for row in rows if row.get("serviceAccountName")}


def _also_used_by(account: str, scene: _Scene) -> str:
    for other in scene.others:
        used = _accounts((other.spec.get("install") or {}).get("spec") or {})
        if other.record.namespace == scene.namespace and account in used:
            return f"ClusterServiceVersion {other.record.place} uses it, too"
    return ""


def _shared(group: str, kind: str, name: str, owners: list[_Version], scene: _Scene) -> Claim:
    """What is there once for the whole cluster, however many operators bring it."""
    keep = f"ClusterServiceVersion {owners[0].record.place} owns it, too" if owners else ""
    if scene.blind and not keep:
        keep = f"whether another operator owns it, too, cannot be seen ({scene.blind})"
    return Claim(group, kind, name, "", "v1", scene.source, marked=False, keep=keep)


def _install_plans(scene: _Scene, cluster: Cluster) -> Iterator[Claim]:
    resource = _kind("InstallPlan", cluster)
    own = {version.record.name for version in scene.versions}
    uid = (scene.subscription or {}).get("metadata", {}).get("uid") or "none"
    for item in cluster.list_whole(resource, scene.namespace) if resource else ():
        record = record_of(item["metadata"])
        brought = set((item.get("spec") or {}).get("clusterServiceVersionNames") or ())
        if uid in record.owner_uids or brought & own:
            others = sorted(brought & {other.record.name for other in scene.others})
            keep = f"it also installed {others[0]}" if others else ""
            yield _olm_object("InstallPlan", record.name, scene, keep=keep)


def _copies(scene: _Scene, cluster: Cluster) -> Iterator[Claim]:
    """OLM puts one into every namespace that the operator looks after."""
    resource = _kind("ClusterServiceVersion", cluster)
    own = {version.record.name for version in scene.versions}
    if resource is None or not own or scene.blind:
        return
    for record in cluster.list(resource, None, f"{COPIED_FROM}={scene.namespace}").records:
        if record.name in own:
            yield _olm_object("ClusterServiceVersion", record.name, scene, record.namespace)


def _secrets(scene: _Scene, cluster: Cluster) -> Iterator[Claim]:
    """Certificates that OLM made for webhooks and API services."""
    own = {version.record.uid for version in scene.versions}
    for record in cluster.list(SECRETS, scene.namespace, "olm.managed=true").records if own else ():
        if own & set(record.owner_uids):
            yield Claim("", "Secret", record.name, scene.namespace, "v1", scene.source, marked=False)


def _operator_groups(scene: _Scene, cluster: Cluster) -> Iterator[Claim]:
    resource = _kind("OperatorGroup", cluster)
    if resource is None:
        return
    keep = _why_groups_stay(scene, cluster)
    for record in cluster.list(resource, scene.namespace).records:
        shipped = "it comes with OLM itself" if record.name == _SHIPPED_GROUP else ""
        yield _olm_object("OperatorGroup", record.name, scene, keep=keep or shipped)


def _why_groups_stay(scene: _Scene, cluster: Cluster) -> str:
    for other in scene.others:
        if other.record.namespace == scene.namespace:
            return f"ClusterServiceVersion {other.record.place} needs it, too"
    own = (scene.subscription or {}).get("metadata", {}).get("uid")
    resource = _kind("Subscription", cluster)
    for record in cluster.list(resource, scene.namespace).records if resource else ():
        if record.uid != own:
            return f"Subscription {record.place} needs it, too"
    return ""


# -- marks -------------------------------------------------------------------------------------------------------------


def _labelled(
    owner: str,
    owner_kind: str,
    scene: _Scene,
    in_namespace: Iterable[tuple[str, str]] = _IN_NAMESPACE,
    cluster_wide: Iterable[tuple[str, str]] = _CLUSTER_WIDE,
) -> Iterator[Search]:
    if len(owner) > _LABEL_LIMIT:
        return  # it cannot stand in a label; what is named by name is found all the same
    labels = f"{_OWNER}={owner},{_OWNER_NAMESPACE}={scene.namespace},{_OWNER_KIND}={owner_kind}"
    for api_version, kind in in_namespace:
        yield Search(kind, api_version, scene.namespace, labels, scene.source)
    for api_version, kind in cluster_wide:
        yield Search(kind, api_version, None, labels, scene.source)


def _owned_by(scene: _Scene, groups: Iterable[str]) -> Any:
    own = {("ClusterServiceVersion", version.record.name) for version in scene.versions}
    own |= {("OperatorGroup", name) for name in groups}

    def not_ours(record: Record, marked: bool) -> str:
        owner, kind = record.labels.get(_OWNER), record.labels.get(_OWNER_KIND, "ClusterServiceVersion")
        place = record.labels.get(_OWNER_NAMESPACE, scene.namespace)
        if (kind, owner) in own and place == scene.namespace:
            return ""
        if owner:
            return f"it belongs to {kind} {place}/{owner}"
        return f"it carries no label {_OWNER}" if marked else ""

    return not_ours
