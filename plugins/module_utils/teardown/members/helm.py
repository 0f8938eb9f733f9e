# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Helm release, from its release metadata: the Secrets or ConfigMaps that Helm keeps in the cluster.

Room: teardown. Works when the chart and the `helm` binary are long gone. All revisions go, last of all; the newest one
says what belongs to the release, and hooks of any event may have left objects behind. Where that one was not completed,
what is there may be of every revision back to the last one that was.

The metadata proves nothing by itself. The live object must confirm it: what a manifest names carries the annotations
of its release, what a hook made the annotation `helm.sh/hook`. Definitions from `crds/` carry neither; they are the
release's unless another release has them, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ...commands import kubectl
from ...documents import documents
from ...objects import Record, Resource
from ...problems import CannotLook
from .claims import Claim, Membership, OwnershipTest, claims_in
from .helm_releases import STORES, Release, in_force
from .helm_rivals import CRDS, find_rivals

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

HOOK = "helm.sh/hook"
_RELEASE_NAME = "meta.helm.sh/release-name"
_RELEASE_NAMESPACE = "meta.helm.sh/release-namespace"
_MANAGED_BY, _HELM = "app.kubernetes.io/managed-by", "Helm"


def helm_membership(
    release: str,
    namespace: str,
    driver: str,
    cluster: Cluster,
    *,
    target: str = "",
    check: Callable[[Release], None] | None = None,
) -> Membership:
    """What the release's newest revision holds. `driver` auto looks for Secrets first, then ConfigMaps.

    `target`: the namespace it was installed into, where that is not the one of its metadata; only Flux does that.
    `check` may refuse the newest revision.
    """
    source = f"Helm release {namespace}/{release}"
    membership = Membership(source, home=target or namespace)
    drivers = ("secret", "configmap") if driver == "auto" else (driver,)
    for store in (STORES[name] for name in drivers):
        stored = cluster.list(store, namespace, f"owner=helm,name={release}").records
        revisions = list(in_force(stored, store, source, cluster))
        if revisions:
            newest, *before = revisions
            _require_place(newest, source, {namespace, target or namespace})
            if check is not None:
                check(newest)
            membership.records = [_record_claim(store, record, source) for record in stored]
            membership.default_namespace = membership.home = newest.namespace or namespace
            membership.not_ours = owned_by(release, membership.home)
            membership.claims = list(_claims_of(newest, source))
            _add_past(before, membership)
            _dispute(release, namespace, membership, cluster)
            return membership
    membership.not_ours = owned_by(release, namespace)
    membership.missing = f"there is no record of {source} ({' or '.join(drivers)})"
    return membership


def _require_place(release: Release, source: str, places: set[str]) -> None:
    """Else a Secret in one namespace would speak for the release of another, whose objects carry the right marks."""
    if release.namespace and release.namespace not in places:
        raise CannotLook(
            f"cannot trust the release metadata of {source}",
            why=f"it says that the release is in namespace {release.namespace}, and Helm keeps it in the release's own",
            next_step="if Flux installed it, name its HelmRelease; else look who wrote it: "
            + kubectl("get secret -l owner=helm", namespace=sorted(places)[0]),
        )


def _record_claim(store: Resource, record: Record, source: str) -> Claim:
    return Claim("", store.kind, record.name, record.namespace, "v1", f"record of {source}")


def _claims_of(release: Release, source: str) -> Iterator[Claim]:
    yield from claims_in(documents(release.manifest, f"the manifest of {source}"), source)
    for hook in release.hooks:
        found = documents(hook, f"a hook of {source}")
        yield from claims_in(found, f"hook of {source}", marked=False, evidence=HOOK)
    for name, text in release.crds:
        where = f"{name} of {source}"
        found = claims_in(documents(text, where), where, marked=False)
        # Helm takes nothing else from there.
        yield from (claim for claim in found if (claim.group, claim.kind) == CRDS)


def _add_past(releases: Iterable[Release], membership: Membership) -> None:
    """Of revisions that were not completed only what carries Helm's marks: of the rest nobody knows whose it is."""

    def key(claim: Claim) -> tuple[str | None, str, str, str]:
        return claim.group, claim.kind, claim.namespace or membership.default_namespace, claim.name

    known = {key(claim) for claim in membership.claims}
    for release in releases:
        for claim in _claims_of(release, f"revision {release.revision} of {membership.source}"):
            if key(claim) not in known and (claim.marked or release.is_complete):
                known.add(key(claim))
                membership.claims.append(dataclasses.replace(claim, past=True))


def _dispute(release: str, namespace: str, membership: Membership, cluster: Cluster) -> None:
    """Definitions of `crds/`, and what hooks made outside of the namespace: their marks name no release."""
    meant = [
        (place, claim, where)
        for place, claim in enumerate(membership.claims)
        if not claim.marked and (where := _outside(claim, membership.home, cluster)) is not None
    ]
    wanted: dict[tuple[str, str, str], set[str]] = {}
    for _place, claim, where in meant:
        wanted.setdefault((claim.group or "", claim.kind, claim.name), set()).add(where)
    rivals = find_rivals(wanted, release, namespace, cluster)
    if rivals.unread:
        membership.warnings.append(
            f"the release metadata of {sorted(rivals.unread)[0]}{_and_more(rivals.unread)} cannot be read, so it was "
            f"not compared with {membership.source}"
        )
    for place, claim, where in meant:
        who = rivals.of.get((claim.group or "", claim.kind, where, claim.name))
        why = f"{who} has it, too" if who else ""
        if rivals.unseen:
            why = f"whether another Helm release has it, too, cannot be seen ({rivals.unseen})"
        membership.claims[place] = dataclasses.replace(claim, disputed=why)


def _and_more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _outside(claim: Claim, home: str, cluster: Cluster) -> str | None:
    """Where a claim is meant, if that is not the namespace of the release: empty for what is cluster-scoped."""
    if (claim.group, claim.kind) == CRDS:
        return ""
    resource, _warning = cluster.resolve(claim.kind, claim.api_version, by_hand=False)
    if resource is None:
        return None
    place = (claim.namespace or home) if resource.namespaced else ""
    return None if place == home else place


def _managed_by_another_tool(record: Record) -> str:
    """Of what is cluster-scoped and carries no mark of Helm, such as a definition: marks of other tools count."""
    for tool, keys in _OTHER_TOOLS.items():
        found = next((key for key in keys if key in record.labels or key in record.annotations), "")
        if found:
            return f"it is managed by {tool} ({found})"
    return ""


_OTHER_TOOLS = {
    "Argo CD": ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"),
    "Flux": ("kustomize.toolkit.fluxcd.io/name",),
    "kapp": ("kapp.k14s.io/app",),
    "an ApplySet": ("applyset.kubernetes.io/part-of",),
    "an inventory": ("config.k8s.io/owning-inventory",),
    "OLM": ("olm.managed", "olm.owner"),
}


def owned_by(release: str, namespace: str) -> OwnershipTest:
    """Helm's own marks on a live object. Objects of hooks and of `crds/` never carry them."""

    def not_ours(record: Record, marked: bool) -> str:
        name, place = record.annotations.get(_RELEASE_NAME), record.annotations.get(_RELEASE_NAMESPACE)
        if name is None and place is None:
            if marked:
                return f"it carries no mark of a Helm release (annotation {_RELEASE_NAME})"
            return "" if record.namespace else _managed_by_another_tool(record)
        if (name, place) != (release, namespace):
            return f"it belongs to Helm release {place}/{name}"
        manager = record.labels.get(_MANAGED_BY, _HELM)
        return "" if manager == _HELM else f"it is managed by {manager} by now (label {_MANAGED_BY})"

    return not_ours
