# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The release metadata of Helm, decoded: one Secret or ConfigMap for each revision of a release.

Room: teardown. Its author may be anybody who can write Secrets in one namespace, so its size is bounded, and no more
revisions are read than are needed.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...objects import Record, Resource
from ...problems import CannotLook
from ...well_known import CONFIG_MAPS, SECRETS

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

STORES = {
    "secret": SECRETS,
    "configmap": CONFIG_MAPS,
}
# Of a decompressed release. A Secret holds 1 MiB; what charts consist of shrinks to a tenth or a twentieth of it.
MOST_BYTES = 32 * 1024 * 1024
_GZIP = b"\x1f\x8b\x08"
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

    @property
    def is_complete(self) -> bool:
        return self.status != _FAILED and not self.status.startswith(_PENDING)


def in_force(records: Iterable[Record], store: Resource, source: str, cluster: Cluster) -> Iterator[Release]:
    """The newest revision; and where it was not completed, those before it, down to one that was.

    Chosen by the metadata: older ones are not even read.
    """
    for record in sorted(records, key=revision_of, reverse=True):
        item = cluster.read_whole(store, record.namespace, record.name)
        if item is None:
            continue
        release = decode({"kind": store.kind, **item}, source)
        yield release
        if release.is_complete:
            return


def revision_of(record: Record) -> int:
    """By its label; by its name, `sh.helm.release.v1.NAME.vREVISION`, where the label is no number."""
    for text in (record.labels.get("version") or "", record.name.rpartition(".v")[2]):
        if re.fullmatch("[0-9]{1,9}", text):
            return int(text)
    return 0


def decode(item: Mapping[str, Any], source: str) -> Release:
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
        raw = _decompressed(raw)
    content: dict[str, Any] = json.loads(raw)
    return content


def _decompressed(raw: bytes) -> bytes:
    gunzip = zlib.decompressobj(31)
    content = gunzip.decompress(raw, MOST_BYTES)
    if gunzip.unconsumed_tail:
        raise ValueError(f"it is larger than {MOST_BYTES // 1024 // 1024} MiB when decompressed, which no chart is")
    if not gunzip.eof:
        raise zlib.error("incomplete or truncated stream")
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
