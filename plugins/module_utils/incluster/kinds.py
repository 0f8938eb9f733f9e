# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a custom resource stands for: which role does its work, and what its arguments are called.

Room: incluster (pure). A new kind is one more line in the table, and an entry in operator/watches*.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GROUP = "sunset.dev"
# Beside the role's arguments; the gate reads them.
GATES = frozenset({"suspend", "approve", "onDeletion", "start"})
# Below these keys the names are somebody's own: headers, kinds, whole documents and parts of them.
FREE = frozenset(
    {"headers", "cookies", "json", "manifests", "nodeSelector", "resources", "tolerations", "externalIds", "ownPolicy"}
)
# The same, where the key means something else elsewhere: (key above, key).
FREE_WITHIN = frozenset({("backends", "page")})


@dataclass(frozen=True)
class Work:
    """How a kind is worked on."""

    role: str
    # The role's argument that takes the hash of an approved plan. Empty: it can be taken back, nobody has to approve.
    approval: str = ""
    # What the argument says when every plan is approved.
    approved_always: str = ""
    # Status and conditions are ours to write.
    own: bool = True
    # Roles that it may include: what the operator sets for them is set here, too.
    includes: tuple[str, ...] = ()
    # The module whose plan is shown, where it is not called like the role.
    module: str = ""

    @property
    def engine(self) -> str:
        return self.module or self.role


WORKS: dict[tuple[str, str], Work] = {
    (GROUP, "Uninstall"): Work("uninstall", "confirm", "skip", includes=("maintenance",)),
    (GROUP, "Drain"): Work("drain", "plan_hash"),
    (GROUP, "ManagedClusterDeletion"): Work("managed_cluster", "plan_hash"),
    (GROUP, "NetworkRevert"): Work("network_revert", "plan_hash", module="nncp_revert"),
    (GROUP, "Maintenance"): Work("maintenance"),
    ("cluster.open-cluster-management.io", "ManagedCluster"): Work("managed_cluster", own=False),
    ("nmstate.io", "NodeNetworkConfigurationPolicy"): Work("network_revert", own=False),
    ("networking.k8s.io", "Ingress"): Work("maintenance", own=False),
    ("traefik.io", "IngressRoute"): Work("maintenance", own=False),
}


def work_of(api_version: str, kind: str) -> Work | None:
    return WORKS.get((api_version.rpartition("/")[0], kind))


def arguments_of(spec: Mapping[str, Any], role: str) -> dict[str, Any]:
    """The spec as the role's variables: in snake_case, with the role's name in front."""
    given = {key: value for key, value in spec.items() if key not in GATES}
    return {f"{role}_{snake(key)}": _typed(key, _inner(key, value)) for key, value in given.items()}


def _typed(key: str, value: Any) -> Any:
    """A page that is one word names a ConfigMap, and is handed on as a dictionary: no template decides its type."""
    return {"name": value} if key == "page" and isinstance(value, str) else value


def _inner(key: str, value: Any, above: str = "") -> Any:
    if key in FREE or (above, key) in FREE_WITHIN:
        return value
    if isinstance(value, Mapping):
        return {snake(name): _inner(name, part, key) for name, part in value.items()}
    if isinstance(value, list):
        return [_inner(key, part, above) for part in value]
    return value


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[1].lower()}", name)
