# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Flux Kustomization, from its inventory, and of a HelmRelease, from the record of what it installed.

Room: teardown. The Flux object itself is a record: it waits while its objects go (truce.py) and goes last. Whoever
writes it may name any namespace; so where it reaches out of its own one, its labels on the live objects must say so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...documents import documents
from ...objects import Record
from ...problems import CannotLook, Refused
from .claims import Claim, Membership, OwnershipTest
from .helm import helm_membership
from .helm_releases import Release

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

FLUX_GROUPS = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
_ORIGIN = ("helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace")
_LONGEST, _HASH = 53, 12  # of a Helm release's name; of what stands for the part that is cut off


def flux_membership(kind: str, name: str, namespace: str, cluster: Cluster) -> Membership:
    """A Kustomization's inventory (`ns_name_group_kind`), or the Helm release behind a HelmRelease."""
    source = f"Flux {kind} {namespace}/{name}"
    resource, _warning = cluster.resolve(kind, f"{FLUX_GROUPS[kind]}/", by_hand=False)
    item = cluster.read_whole(resource, namespace, name) if resource else None
    if item is None or resource is None:
        return Membership(source, missing=f"there is no {source}")
    record = Claim(resource.group, kind, name, namespace, resource.version, f"record of {source}")
    return _READERS[kind](item, source, record, cluster)


def _of_helm_release(item: Mapping[str, Any], source: str, record: Claim, cluster: Cluster) -> Membership:
    installed = installed_by(item)
    origin = (record.name, record.namespace)

    def is_its_own(release: Release) -> None:
        """The labels that Flux puts into the manifest. In its own namespace the live objects are enough."""
        if installed.storage != record.namespace and origin not in _origins(release, source):
            raise Refused(
                "delete",
                which=source,
                why=f"the Helm release {installed.storage}/{installed.release} that it names is not its own: nothing "
                f"in its manifest is labelled {_ORIGIN[0]}: {record.name} and {_ORIGIN[1]}: {record.namespace}",
                next_step="if you mean that release, name it by itself (source: helm); nothing was changed",
            )

    membership = helm_membership(
        installed.release, installed.storage, "auto", cluster, target=installed.target, check=is_its_own
    )
    reaches_out = {installed.storage, installed.target} != {record.namespace}
    membership.not_ours = _from(origin, membership.not_ours, needed=reaches_out)
    if membership.missing:
        membership.warnings.append(f"{membership.missing}: nothing but {source} itself is known of it")
    membership.source, membership.missing = source, ""
    membership.records += [record, *_chart_of(item, record, source)]
    return membership


def _origins(release: Release, source: str) -> set[tuple[Any, ...]]:
    found = documents(release.manifest, f"the manifest of {source}")
    labels = [(one.get("metadata") or {}).get("labels") or {} for one in found if isinstance(one, Mapping)]
    return {tuple(one.get(key) for key in _ORIGIN) for one in labels}


def _from(origin: tuple[str, str], by_helm: OwnershipTest | None, *, needed: bool) -> OwnershipTest:
    """Helm's marks, and those of the HelmRelease that installed it."""

    def not_ours(record: Record, marked: bool) -> str:
        why = by_helm(record, marked) if by_helm else ""
        found = tuple(record.labels.get(key) for key in _ORIGIN)
        if why or found == origin:
            return why
        if any(found):
            return f"it belongs to Flux HelmRelease {found[1]}/{found[0]}"
        return f"it carries no label {_ORIGIN[0]}: {origin[0]}" if needed and marked else ""

    return not_ours


def _chart_of(item: Mapping[str, Any], record: Claim, source: str) -> list[Claim]:
    """Made by Flux for this HelmRelease. One that is suspended leaves it behind when it goes."""
    namespace, _slash, name = str((item.get("status") or {}).get("helmChart") or "").partition("/")
    if name != f"{record.namespace}-{record.name}" or not (item.get("spec") or {}).get("chart"):
        return []
    return [Claim("source.toolkit.fluxcd.io", "HelmChart", name, namespace, "v1", f"record of {source}")]


def _of_kustomization(item: Mapping[str, Any], source: str, record: Claim, cluster: Cluster) -> Membership:
    home = str((item.get("spec") or {}).get("targetNamespace") or "") or record.namespace
    not_ours = _labelled_by(record.name, record.namespace)
    membership = Membership(source, home=home, not_ours=not_ours, records=[record])
    for entry in ((item.get("status") or {}).get("inventory") or {}).get("entries") or ():
        membership.claims.append(read_entry(str(entry.get("id") or ""), str(entry.get("v") or ""), source))
    return membership


_READERS = {"Kustomization": _of_kustomization, "HelmRelease": _of_helm_release}


def read_entry(identity: str, version: str, source: str) -> Claim:
    """One line of an inventory, as cli-utils writes it and Flux, too."""
    # The name stands in the middle and may hold "_" itself; "__" stands for the ":" of RBAC names.
    namespace, first, rest = identity.partition("_")
    parts = rest.rsplit("_", 2)
    if not first or len(parts) != 3 or not parts[0] or not parts[2]:
        raise CannotLook(f"cannot read the inventory of {source}", why=f"unknown entry {identity!r}")
    name, group, kind = parts
    return Claim(group, kind, name.replace("__", ":"), namespace, version, source)


def _labelled_by(name: str, namespace: str) -> Any:
    def not_ours(record: Record, marked: bool) -> str:
        found = tuple(record.labels.get(f"kustomize.toolkit.fluxcd.io/{key}") for key in ("name", "namespace"))
        if found == (name, namespace) or (not any(found) and not marked):
            return ""
        return f"it belongs to Flux Kustomization {found[1]}/{found[0]}" if any(found) else "it carries no Flux label"

    return not_ours


# -- what a HelmRelease installs ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Installed:
    """A Helm release, as its HelmRelease means it."""

    release: str
    storage: str  # the namespace of its record
    target: str  # the namespace it is installed into


def installed_by(item: Mapping[str, Any]) -> Installed:
    metadata, spec, status = (item.get(part) or {} for part in ("metadata", "spec", "status"))
    name, namespace = str(metadata.get("name") or ""), str(metadata.get("namespace") or "")
    target = str(spec.get("targetNamespace") or "")
    release = str(spec.get("releaseName") or "") or (f"{target}-{name}" if target else name)
    # The status knows where it was really put, should the specification have changed since.
    storage = str(status.get("storageNamespace") or spec.get("storageNamespace") or namespace)
    return Installed(_shortened(release), storage, target or namespace)


def _shortened(release: str) -> str:
    """As Flux cuts names that are too long for Helm."""
    if len(release) <= _LONGEST:
        return release
    return f"{release[: _LONGEST - _HASH - 1]}-{hashlib.sha256(release.encode()).hexdigest()[:_HASH]}"
