# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members that other deployers keep lists of: Flux, cli-utils (kpt), ApplySets and Landscaper.

Room: teardown. Each function reads one record and returns what it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...objects import Record
from ...problems import BadOption, CannotLook
from ...well_known import CONFIG_MAPS, SECRETS
from .claims import Claim, Membership, Search
from .helm import helm_membership

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_FLUX_GROUPS = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
_INVENTORY_LABEL = "cli-utils.sigs.k8s.io/inventory-id"
_OWNING_INVENTORY = "config.k8s.io/owning-inventory"
_APPLYSET_ID = "applyset.kubernetes.io/id"
_APPLYSET_PART_OF = "applyset.kubernetes.io/part-of"
_APPLYSET_KINDS = "applyset.kubernetes.io/contains-group-kinds"
_LANDSCAPER = "landscaper.gardener.cloud"
_LANDSCAPER_LABELS = tuple(f"{name}.deployer.{_LANDSCAPER}/deployitem" for name in ("manifest", "helm"))
# Landscaper policies under which an object is not deleted with its DeployItem.
_LANDSCAPER_KEEP = frozenset({"keep", "ignore"})


def flux_membership(kind: str, name: str, namespace: str, cluster: Cluster) -> Membership:
    """A Kustomization's inventory (`ns_name_group_kind`), or the Helm release behind a HelmRelease."""
    source = f"Flux {kind} {namespace}/{name}"
    item = _one(cluster, kind, _FLUX_GROUPS[kind], name, namespace)
    if item is None:
        return Membership(source, missing=f"there is no {source}")
    if kind == "HelmRelease":
        spec = item.get("spec") or {}
        storage = spec.get("storageNamespace") or namespace
        release = spec.get("releaseName") or _flux_release_name(spec.get("targetNamespace"), name)
        membership = helm_membership(release, storage, "auto", cluster)
        membership.source = source
        membership.warnings.append(_brings_back(source))
        return membership
    membership = Membership(source, not_ours=_flux_labelled(name, namespace), warnings=[_brings_back(source)])
    entries = ((item.get("status") or {}).get("inventory") or {}).get("entries") or ()
    for entry in entries:
        membership.claims.append(_flux_entry(str(entry.get("id") or ""), str(entry.get("v") or ""), source))
    return membership


def _brings_back(source: str) -> str:
    return f"{source} itself stays and brings everything back: suspend or delete it first"


def _flux_release_name(target: str | None, name: str) -> str:
    return f"{target}-{name}" if target else name


def _flux_entry(identity: str, version: str, source: str) -> Claim:
    # The name stands in the middle and may hold "_" itself; "__" stands for the ":" of RBAC names.
    namespace, first, rest = identity.partition("_")
    parts = rest.rsplit("_", 2)
    if not first or len(parts) != 3 or not parts[0] or not parts[2]:
        raise CannotLook(f"cannot read the inventory of {source}", why=f"unknown entry {identity!r}")
    name, group, kind = parts
    return Claim(group, kind, name.replace("__", ":"), namespace, version, source)


def _flux_labelled(name: str, namespace: str) -> Any:
    def not_ours(record: Record, marked: bool) -> str:
        found = tuple(record.labels.get(f"kustomize.toolkit.fluxcd.io/{key}") for key in ("name", "namespace"))
        if found == (name, namespace) or (not any(found) and not marked):
            return ""
        return f"it belongs to Flux Kustomization {found[1]}/{found[0]}" if any(found) else "it carries no Flux label"

    return not_ours


def inventory_membership(name: str, namespace: str, cluster: Cluster) -> Membership:
    """A cli-utils inventory: a ConfigMap whose data keys are `ns_name_group_kind`."""
    source = f"inventory {namespace}/{name}"
    found = [
        item
        for item in cluster.list_whole(CONFIG_MAPS, namespace, _INVENTORY_LABEL)
        if name in (item["metadata"]["name"], item["metadata"]["labels"][_INVENTORY_LABEL])
    ]
    if not found:
        return Membership(source, missing=f"there is no {source} (a ConfigMap with label {_INVENTORY_LABEL})")
    if len(found) > 1:
        raise BadOption("bad options", why=f"{source} is ambiguous, {len(found)} ConfigMaps carry that id")
    item = found[0]
    identity = item["metadata"]["labels"][_INVENTORY_LABEL]
    membership = Membership(source, not_ours=_owned_by_inventory(identity))
    membership.claims = [_flux_entry(str(key), "", source) for key in item.get("data") or ()]
    membership.records = [Claim("", "ConfigMap", item["metadata"]["name"], namespace, "v1", f"record of {source}")]
    return membership


def _owned_by_inventory(identity: str) -> Any:
    def not_ours(record: Record, marked: bool) -> str:
        owner = record.annotations.get(_OWNING_INVENTORY)
        if owner == identity or (owner is None and not marked):
            return ""
        return f"it belongs to inventory {owner}" if owner else f"it carries no annotation {_OWNING_INVENTORY}"

    return not_ours


def applyset_membership(name: str, namespace: str, cluster: Cluster) -> Membership:
    """A kubectl ApplySet: its parent (Secret or ConfigMap) names the kinds, its members carry the label."""
    source = f"ApplySet {namespace}/{name}"
    for parent in (SECRETS, CONFIG_MAPS):
        for record in cluster.list(parent, namespace, _APPLYSET_ID).records:
            if record.name != name:
                continue
            label = f"{_APPLYSET_PART_OF}={record.labels[_APPLYSET_ID]}"
            kinds = [text for text in record.annotations.get(_APPLYSET_KINDS, "").split(",") if text]
            searches = [_group_kind_search(text, label, source) for text in kinds]
            return Membership(
                source,
                searches=searches,
                records=[Claim("", parent.kind, name, namespace, "v1", f"record of {source}")],
                default_namespace=namespace,
            )
    return Membership(source, missing=f"there is no {source} (a Secret or ConfigMap with label {_APPLYSET_ID})")


def _group_kind_search(text: str, label: str, source: str) -> Search:
    kind, _dot, group = text.partition(".")
    return Search(kind, f"{group}/", label_selector=label, source=source)


def landscaper_membership(deploy_item: str, namespace: str, cluster: Cluster) -> Membership:
    """A DeployItem's `status.providerStatus.managedResources`, with its policies."""
    source = f"Landscaper DeployItem {namespace}/{deploy_item}"
    item = _one(cluster, "DeployItem", _LANDSCAPER, deploy_item, namespace)
    if item is None:
        return Membership(source, missing=f"there is no {source}")
    membership = Membership(source, not_ours=_labelled_by_deploy_item(deploy_item))
    managed = ((item.get("status") or {}).get("providerStatus") or {}).get("managedResources") or ()
    for entry in managed:
        resource = entry.get("resource") or {}
        group, _slash, version = str(resource.get("apiVersion") or "").rpartition("/")
        policy = str(entry.get("policy") or "manage")
        membership.claims.append(
            Claim(
                group,
                str(resource.get("kind") or ""),
                str(resource.get("name") or ""),
                str(resource.get("namespace") or ""),
                version,
                source,
                marked=policy == "fallback",
                keep=f"Landscaper policy {policy}" if policy in _LANDSCAPER_KEEP else "",
                before_delete=_recorded_preparations(entry),
            )
        )
    return membership


def _recorded_preparations(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the DeployItem wants done to this object before it is deleted."""
    recorded = {"annotate": entry.get("annotateBeforeDelete"), "patch": entry.get("patchBeforeDelete")}
    return {key: value for key, value in recorded.items() if isinstance(value, Mapping) and value}


def _labelled_by_deploy_item(deploy_item: str) -> Any:
    """Policy `fallback`: deleted only while the label still names the DeployItem. Other policies need no label."""

    def not_ours(record: Record, marked: bool) -> str:
        owners = [record.labels.get(label) for label in _LANDSCAPER_LABELS]
        return (
            "" if not marked or deploy_item in owners else f"it carries no label of DeployItem {deploy_item} any more"
        )

    return not_ours


def _one(cluster: Cluster, kind: str, group: str, name: str, namespace: str) -> dict[str, Any] | None:
    """One whole object of a kind that may not be installed."""
    resource, _warning = cluster.resolve(kind, f"{group}/", by_hand=False)
    if resource is None:
        return None
    return cluster.read_whole(resource, namespace, name)
