# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubernetes-nmstate as we meet it: its kinds, its labels, and the marks we leave on its objects.

Room: network. Private to the collection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...objects import Resource
from ...problems import CannotLook, Refused

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

GROUP = "nmstate.io"
POLICY, ENACTMENT, STATE = "NodeNetworkConfigurationPolicy", "NodeNetworkConfigurationEnactment", "NodeNetworkState"
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
PODS = Resource("", "v1", "Pod", "pods", namespaced=True)
EVENTS = Resource("", "v1", "Event", "events", namespaced=True)
# Labels of an enactment; its owner is the node, not the policy.
OF_POLICY, OF_NODE = "nmstate.io/policy", "nmstate.io/node"
HANDLER_PODS = "component=kubernetes-nmstate-handler"
HOST_NAME = "kubernetes.io/hostname"
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
LONGEST_NAME = 63  # of a policy: it becomes the value of a label

OPT_IN = "sunset.dev/delete-on-removal"
FINALIZER = "sunset.dev/nncp-revert"
PROGRESS = "sunset.dev/revert-progress"
ORIGINAL_SELECTOR = "sunset.dev/original-node-selector"
# No node carries it, so a policy with this selector is on no node.
NEUTRAL = {"sunset.dev/neutralised": "true"}
# On everything we create for a policy: its name.
FOR_POLICY = "sunset.dev/nncp"
HELPER = "sunset.dev/nncp-helper"


@dataclass(frozen=True)
class NmstateKinds:
    """As this cluster serves them."""

    policies: Resource
    enactments: Resource
    states: Resource


def find_kinds(cluster: Cluster) -> NmstateKinds:
    return NmstateKinds(*(_find(kind, cluster) for kind in (POLICY, ENACTMENT, STATE)))


def _find(kind: str, cluster: Cluster) -> Resource:
    finding = cluster.find_kind(GROUP, kind)
    if finding.resource is not None:
        return finding.resource
    if finding.availability.value == "not installed":
        raise Refused(
            "there is no kubernetes-nmstate here",
            why=f"the kind {kind} of {GROUP} is not installed",
            next_step="check the context; nothing was changed",
        )
    raise CannotLook(f"cannot look for objects of kind {kind}", why=finding.why, next_step="bring that API back")
