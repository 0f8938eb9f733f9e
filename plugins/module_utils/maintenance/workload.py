# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a page is hosted, as the user chose it: one Pod or a Deployment, how many, how large, and where.

Room: maintenance (pure).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..problems import BadFields

DEFAULT_RESOURCES: Mapping[str, Any] = {
    "requests": {"cpu": "10m", "memory": "16Mi"},
    "limits": {"memory": "64Mi"},  # none for the processor: a page that is throttled is a page that is late
}
KINDS = ("deployment", "pod")
SERVICE_TYPES = ("ClusterIP", "NodePort")


@dataclass(frozen=True)
class Autoscaling:
    least: int
    most: int
    cpu: int = 80  # percent of the request


@dataclass(frozen=True)
class Workload:
    kind: str = "deployment"
    replicas: int = 2
    autoscaling: Autoscaling | None = None
    resources: Mapping[str, Any] | None = None  # None: the default ones
    pull_secrets: tuple[str, ...] = ()
    # None: the image's own user. Needed for an image whose user is root or has no number.
    run_as_user: int | None = None
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, Any]] = ()
    labels: Mapping[str, str] = field(default_factory=dict)  # of the pods
    annotations: Mapping[str, str] = field(default_factory=dict)  # of the pods
    service_type: str = "ClusterIP"
    service_annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def least_replicas(self) -> int:
        if self.kind == "pod":
            return 1
        return self.autoscaling.least if self.autoscaling else self.replicas

    @property
    def chosen_resources(self) -> Mapping[str, Any]:
        return DEFAULT_RESOURCES if self.resources is None else self.resources

    def check(self) -> None:
        bad = BadFields()
        if self.kind not in KINDS:
            bad.add("workload.kind", f"must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.replicas < 1:
            bad.add("workload.replicas", f"must be 1 or more, not {self.replicas}")
        if self.service_type not in SERVICE_TYPES:
            bad.add("workload.service_type", f"must be one of {', '.join(SERVICE_TYPES)}, not {self.service_type!r}")
        if self.run_as_user is not None and self.run_as_user < 1:
            bad.add("workload.run_as_user", "must be 1 or more: the page never runs as root")
        if self.autoscaling:
            self._check_autoscaling(self.autoscaling, bad)
        bad.raise_if_any()

    def _check_autoscaling(self, scaling: Autoscaling, bad: BadFields) -> None:
        if self.kind == "pod":
            bad.add("workload.autoscaling", "a single Pod cannot be scaled; leave kind at deployment")
        if not 1 <= scaling.least <= scaling.most:
            bad.add("workload.autoscaling", f"needs 1 <= min <= max, not min {scaling.least} and max {scaling.most}")
        if scaling.cpu < 1:
            bad.add("workload.autoscaling.cpu", f"must be 1 percent or more, not {scaling.cpu}")
        if not (self.chosen_resources.get("requests") or {}).get("cpu"):
            bad.add("workload.autoscaling", "is a share of the requested cpu; set workload.resources.requests.cpu")
