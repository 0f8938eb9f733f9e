# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Helm release, from its own record: the Secret or ConfigMap that Helm keeps in the cluster.

Room: teardown. Works when the chart and the `helm` binary are long gone. All records go, last of all; the newest
revision says what belongs to the release, and hooks of any event may have left objects behind. Where that one was not
completed, what is there may be of every revision back to the last one that was.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...documents import documents
from ...objects import Record, Resource
from ...problems import CannotLook
from ...well_known import CONFIG_MAPS, SECRETS
from .claims import Claim, Membership, OwnershipTest, claims_in

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

STORES = {
    "secret": SECRETS,
    "configmap": CONFIG_MAPS,
}
_RELEASE_NAME = "meta.helm.sh/release-name"
_RELEASE_NAMESPACE = "meta.helm.sh/release-namespace"
_GZIP = b"\x1f\x8b\x08"
# Whatever a record may hold that is no release: not base64, not gzip, not JSON, or JSON of another shape.
_UNREADABLE = (binascii.Error, zlib.error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
_FAILED, _PENDING = "failed", "pending-"


@dataclass(frozen=True)
class Release:
    """One revision of a release, decoded."""

    revision: int
    status: str
    namespace: str
    manifest: str
    hooks: tuple[str, ...]
    crds: tuple[tuple[str, str], ...]


def helm_membership(release: str, namespace: str, driver: str, cluster: Cluster) -> Membership:
    """What the release's newest revision holds. `driver` auto looks for Secrets first, then ConfigMaps."""
    source = f"Helm release {namespace}/{release}"
    membership = Membership(source)
    drivers = ("secret", "configmap") if driver == "auto" else (driver,)
    for store in (STORES[name] for name in drivers):
        selector = f"owner=helm,name={release}"
        stored = cluster.list_whole(store, namespace, label_selector=selector)
        if stored:
            membership.records = [_record_claim(store, item, source) for item in stored]
            newest, *before = in_force(decode(item, source) for item in stored)
            # Flux may keep the record in another namespace than the one it installs into.
            membership.default_namespace = newest.namespace or namespace
            membership.not_ours = owned_by(release, membership.default_namespace)
            membership.claims = list(_claims_of(newest, source))
            _add_past(before, membership)
            return membership
    membership.not_ours = owned_by(release, namespace)
    membership.missing = f"there is no record of {source} ({' or '.join(drivers)})"
    return membership


def _record_claim(store: Resource, item: dict[str, Any], source: str) -> Claim:
    metadata = item["metadata"]
    return Claim("", store.kind, metadata["name"], metadata["namespace"], "v1", f"record of {source}")


def _claims_of(release: Release, source: str) -> Iterator[Claim]:
    yield from claims_in(documents(release.manifest, f"the manifest of {source}"), source)
    for hook in release.hooks:
        yield from claims_in(documents(hook, f"a hook of {source}"), f"hook of {source}", marked=False)
    for name, text in release.crds:
        where = f"{name} of {source}"
        yield from claims_in(documents(text, where), where, marked=False)


def _add_past(releases: Iterable[Release], membership: Membership) -> None:
    """Of revisions that were not completed only what carries Helm's marks: of the rest nobody knows whose it is."""

    def key(claim: Claim) -> tuple[str | None, str, str, str]:
        return claim.group, claim.kind, claim.namespace or membership.default_namespace, claim.name

    known = {key(claim) for claim in membership.claims}
    for release in releases:
        for claim in _claims_of(release, f"revision {release.revision} of {membership.source}"):
            if key(claim) not in known and (claim.marked or _is_complete(release)):
                known.add(key(claim))
                membership.claims.append(dataclasses.replace(claim, past=True))


def in_force(releases: Iterable[Release]) -> Iterator[Release]:
    """The newest one; and where it was not completed, those before it, down to one that was."""
    for release in sorted(releases, key=lambda one: one.revision, reverse=True):
        yield release
        if _is_complete(release):
            return


def _is_complete(release: Release) -> bool:
    return release.status != _FAILED and not release.status.startswith(_PENDING)


def decode(item: dict[str, Any], source: str) -> Release:
    """`data.release`: base64 (Helm's, and the Secret's around it) of gzip (absent in very old ones) of JSON."""
    encoded = (item.get("data") or {}).get("release") or ""
    where = f"{item.get('kind') or 'record'} {(item.get('metadata') or {}).get('name')}"
    try:
        return _release(_content(encoded))
    except (
        binascii.Error,
        zlib.error,
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
        OverflowError,
        RecursionError,
    ) as problem:
        raise CannotLook(
            f"cannot read the record of {source}",
            which=f"({where})",
            why=f"it cannot be decoded: {problem}",
            next_step="give the members as manifests or objects instead",
        ) from problem


def _content(encoded: str) -> dict[str, Any]:
    raw = base64.b64decode(encoded)
    if not raw.startswith(_GZIP) and not raw.lstrip().startswith(b"{"):
        raw = base64.b64decode(raw)
    if raw.startswith(_GZIP):
        raw = zlib.decompress(raw, wbits=31)
    content: dict[str, Any] = json.loads(raw)
    return content


def _release(content: dict[str, Any]) -> Release:
    return Release(
        revision=int(content.get("version") or 0),
        status=str((content.get("info") or {}).get("status") or ""),
        namespace=str(content.get("namespace") or ""),
        manifest=str(content.get("manifest") or ""),
        # Records may have null hooks, charts and files.
        hooks=tuple(str(hook.get("manifest") or "") for hook in content.get("hooks") or ()),
        crds=tuple(_crd_files(content.get("chart") or {})),
    )


def _crd_files(chart: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for file in chart.get("files") or ():
        name = str(file.get("name") or "")
        if re.match(r"crds/.+\.(ya?ml|json)$", name):
            yield name, base64.b64decode(file.get("data") or "").decode("utf-8", "replace")


def owned_by(release: str, namespace: str) -> OwnershipTest:
    """Helm's own marks on a live object. Objects of hooks and of `crds/` never carry them."""

    def not_ours(record: Record, marked: bool) -> str:
        name, place = record.annotations.get(_RELEASE_NAME), record.annotations.get(_RELEASE_NAMESPACE)
        if name is None and place is None:
            return f"it carries no mark of a Helm release (annotation {_RELEASE_NAME})" if marked else ""
        return "" if (name, place) == (release, namespace) else f"it belongs to Helm release {place}/{name}"

    return not_ours
