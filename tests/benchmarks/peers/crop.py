# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What everybody has to delete, and the records by which Helm and kapp know it as theirs.

Nothing is installed with those tools: thousands of objects would take longer than the whole benchmark. Twins are put
into etcd with the marks that the tools give their objects, and one record each is written by hand. Records live in a
namespace of their own, so whatever is counted in the other one is crop.
"""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from typing import Any

from benchmarks import seeding
from benchmarks.ground import NAMESPACE
from benchmarks.kinds import CONFIG_MAP, Kind
from lab.plane.controlplane import ControlPlane

RECORDS = "records"
APP = "crop"  # name of the Helm release and of the kapp application
FINALIZER = "bench.example.com/slow"
SELECTOR = f"app={APP}"
_KAPP_LABEL = "1700000000000000000"
_EPOCH = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Marked(Kind):
    """A kind whose objects carry the marks of all tools, so that all delete the very same."""

    finalizers: tuple[str, ...] = ()

    def body(self, name: str) -> dict[str, Any]:
        body = super().body(name)
        body["metadata"] |= {
            "labels": {
                "app": APP,
                "kapp.k14s.io/app": _KAPP_LABEL,
                "kapp.k14s.io/association": "v1.83069c2fe684c12fed6ddaa6f21b3b13",
            },
            "annotations": {"kapp.k14s.io/identity": f"v1;{NAMESPACE}//{self.kind}/{name};{self.api_version}"},
        }
        if self.finalizers:
            body["metadata"]["finalizers"] = list(self.finalizers)
        return body


def crop(held: bool = False) -> Marked:
    return Marked(**vars(CONFIG_MAP), finalizers=(FINALIZER,) if held else ())


def sow(plane: ControlPlane, size: int, held: bool = False) -> None:
    seeding.sow(plane, seeding.Seed(crop(held), NAMESPACE, size))


def left(plane: ControlPlane) -> int:
    return seeding.count(plane, CONFIG_MAP, NAMESPACE)


def definitions(plane: ControlPlane) -> list[str]:
    """What was sown, as YAML: a line each, no more than what names it, so that nobody loses time over reading."""
    found = plane.api.get(CONFIG_MAP.path(NAMESPACE))[1]["items"]
    metadata = [{"name": item["metadata"]["name"], "namespace": NAMESPACE} for item in found]
    return [json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": names}) for names in metadata]


def open_records(plane: ControlPlane) -> None:
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": RECORDS}})


def write_helm_record(plane: ControlPlane) -> None:
    release = {
        "name": APP,
        "namespace": RECORDS,
        "version": 1,
        "info": {"first_deployed": _EPOCH, "last_deployed": _EPOCH, "deleted": "", "status": "deployed"},
        "chart": {"metadata": {"name": APP, "version": "1.0.0", "apiVersion": "v2"}},
        "manifest": "".join(f"---\n# Source: {APP}/templates/crop.yaml\n{text}\n" for text in definitions(plane)),
    }
    inner = base64.b64encode(gzip.compress(json.dumps(release).encode()))
    plane.api.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "helm.sh/release.v1",
            "metadata": {
                "name": f"sh.helm.release.v1.{APP}.v1",
                "namespace": RECORDS,
                "labels": {"name": APP, "owner": "helm", "status": "deployed", "version": "1"},
            },
            "data": {"release": base64.b64encode(inner).decode()},
        }
    )


def write_kapp_record(plane: ControlPlane) -> None:
    spec = {
        "labelKey": "kapp.k14s.io/app",
        "labelValue": _KAPP_LABEL,
        "lastChange": {"startedAt": _EPOCH, "finishedAt": _EPOCH, "successful": True, "namespaces": [NAMESPACE]},
        "usedGVs": [{"Group": "", "Version": "v1"}],
        "usedGKs": [{"Group": "", "Kind": "ConfigMap"}],
    }
    plane.api.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": APP,
                "namespace": RECORDS,
                "labels": {"kapp.k14s.io/is-app": ""},
                "annotations": {"kapp.k14s.io/app-changes-use-app-label": ""},
            },
            "data": {"spec": json.dumps(spec)},
        }
    )
