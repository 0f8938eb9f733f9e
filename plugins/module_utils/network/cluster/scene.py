# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster with kubernetes-nmstate at one moment: policy, enactments, nodes, and the state each node reports.

Room: network. Private to the collection. Reads only. What a look could not see is an error, never an empty answer.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import Record, record_of
from ...paths import condition_of, value_at
from .kinds import (
    CONTROL_PLANE,
    FINALIZER,
    FOR_POLICY,
    HANDLER_PODS,
    HELPER,
    HOST_NAME,
    NEUTRAL,
    NODES,
    OF_NODE,
    OF_POLICY,
    OPT_IN,
    ORIGINAL_SELECTOR,
    PODS,
    PROGRESS,
    NmstateKinds,
)

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

# Reasons with which the handlers' own admission policy denies changes of a spec.
_IN_PROGRESS = ("", "ConfigurationProgressing")


class Enacted(enum.Enum):
    """How far a handler is with a policy on its node."""

    NOT_YET = "not yet"  # nothing of this generation: what an older one came to proves nothing
    PENDING = "pending"
    RUNNING = "running"
    RETRYING = "retrying"
    AVAILABLE = "available"
    FAILED = "failed"


@dataclass(frozen=True)
class Policy:
    """The policy, whole, and what it says about itself."""

    item: Mapping[str, Any]

    @property
    def record(self) -> Record:
        return record_of(self.item["metadata"])

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.item.get("spec") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        return self.item["metadata"].get("annotations") or {}

    @property
    def generation(self) -> int:
        return int(self.item["metadata"].get("generation") or 0)

    @property
    def opted_in(self) -> bool:
        return self.annotations.get(OPT_IN) == "true"

    @property
    def has_finalizer(self) -> bool:
        return FINALIZER in self.record.finalizers

    @property
    def neutral(self) -> bool:
        return self.spec.get("nodeSelector") == NEUTRAL

    @property
    def begun(self) -> bool:
        """A run of ours has left its marks: it goes on, or is called off."""
        return PROGRESS in self.annotations or ORIGINAL_SELECTOR in self.annotations

    @property
    def phase(self) -> str:
        """How far an earlier run came, as it wrote down itself. Somebody else's scribble is no phase."""
        try:
            found = json.loads(self.annotations.get(PROGRESS) or "{}")
        except ValueError:
            return ""
        return str(found.get("phase") or "") if isinstance(found, dict) else ""

    @property
    def in_progress(self) -> bool:
        """Handlers are at it, or have not begun: a change of its spec is denied."""
        return str((condition_of(self.item, "Available") or {}).get("reason") or "") in _IN_PROGRESS

    @property
    def captures(self) -> bool:
        return bool(self.spec.get("capture"))


@dataclass(frozen=True)
class Enactment:
    """One policy on one node."""

    item: Mapping[str, Any]

    @property
    def node(self) -> str:
        return str(value_at(self.item, "metadata.labels").get(OF_NODE) or "")

    @property
    def policy(self) -> str:
        return str(value_at(self.item, "metadata.labels").get(OF_POLICY) or "")

    @property
    def desired(self) -> dict[str, Any] | None:
        """As the handler has rendered it: captures resolved, defaults filled in."""
        found = value_at(self.item, "status.desiredState")
        return dict(found) if isinstance(found, Mapping) else None

    def progress(self, generation: int) -> Enacted:
        if int(value_at(self.item, "status.policyGeneration") or 0) != generation:
            return Enacted.NOT_YET
        is_true = {kind for kind in _KINDS if (condition_of(self.item, kind) or {}).get("status") == "True"}
        for kinds, meaning in _MEANINGS:
            if kinds <= is_true:
                return meaning
        return Enacted.NOT_YET

    @property
    def why(self) -> str:
        """What the handler says, shortened: it quotes whole logs."""
        for kind in ("Failing", "Aborted", "Pending"):
            condition = condition_of(self.item, kind) or {}
            if condition.get("status") == "True":
                text = " ".join(str(condition.get("message") or condition.get("reason") or kind).split())
                return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
        return ""


_LONGEST = 300
_KINDS = ("Available", "Failing", "Progressing", "Pending", "Aborted")
# Read from above; failing and progressing at once is how a handler says that it will try again.
_MEANINGS: tuple[tuple[set[str], Enacted], ...] = (
    ({"Failing", "Progressing"}, Enacted.RETRYING),
    ({"Failing"}, Enacted.FAILED),
    ({"Aborted"}, Enacted.FAILED),
    ({"Pending"}, Enacted.PENDING),
    ({"Progressing"}, Enacted.RUNNING),
    ({"Available"}, Enacted.AVAILABLE),
)


@dataclass(frozen=True)
class NodeView:
    name: str
    labels: Mapping[str, str]
    ready: bool
    handled: bool  # a handler runs on it
    address: str = ""

    @property
    def host_name(self) -> str:
        return self.labels.get(HOST_NAME, "")

    @property
    def is_control_plane(self) -> bool:
        return any(label in self.labels for label in CONTROL_PLANE)

    @property
    def why_unreachable(self) -> str:
        if not self.ready:
            return "the node is not Ready"
        return "" if self.handled else "no nmstate handler runs on it"


@dataclass
class Scene:
    policy: Policy | None
    nodes: dict[str, NodeView]
    states: dict[str, dict[str, Any]]
    enactments: list[Enactment]
    helpers: list[Policy] = field(default_factory=list)
    handler_namespace: str = ""

    def of_policy(self, name: str) -> dict[str, Enactment]:
        return {one.node: one for one in self.enactments if one.policy == name}

    def claims(self, node: str, apart_from: str) -> dict[str, dict[str, Any]]:
        """What the other live policies want of a node."""
        ours = {apart_from, *(one.name for one in self.helpers)}
        return {
            one.policy: one.desired
            for one in self.enactments
            if one.node == node and one.policy not in ours and one.desired is not None
        }


def look(policy: str, kinds: NmstateKinds, cluster: Cluster) -> Scene:
    pods = cluster.list_whole(PODS, None, HANDLER_PODS)
    handled = {str(value_at(pod, "spec.nodeName") or "") for pod in pods}
    return Scene(
        policy=read_policy(policy, kinds, cluster),
        nodes={view.name: view for item in cluster.list_whole(NODES) for view in [_node(item, handled)]},
        states=read_states(kinds, cluster),
        enactments=[Enactment(item) for item in cluster.list_whole(kinds.enactments) if _is_labelled(item)],
        helpers=read_helpers(policy, kinds, cluster),
        handler_namespace=min((str(value_at(pod, "metadata.namespace")) for pod in pods), default=""),
    )


def read_policy(name: str, kinds: NmstateKinds, cluster: Cluster) -> Policy | None:
    item = cluster.read_whole(kinds.policies, "", name)
    return None if item is None else Policy(item)


def read_helpers(policy: str, kinds: NmstateKinds, cluster: Cluster) -> list[Policy]:
    wanted = f"{HELPER}=true,{FOR_POLICY}={policy}"
    return [Policy(item) for item in cluster.list_whole(kinds.policies, None, wanted)]


def read_enactments(policies: Iterable[str], kinds: NmstateKinds, cluster: Cluster) -> dict[str, list[Enactment]]:
    """Of these policies, by policy."""
    names = sorted(policies)
    found: dict[str, list[Enactment]] = {name: [] for name in names}
    if names:
        for item in cluster.list_whole(kinds.enactments, None, f"{OF_POLICY} in ({','.join(names)})"):
            found[Enactment(item).policy].append(Enactment(item))
    return found


def read_state(node: str, kinds: NmstateKinds, cluster: Cluster) -> dict[str, Any] | None:
    item = cluster.read_whole(kinds.states, "", node)
    found = value_at(item or {}, "status.currentState")
    return dict(found) if isinstance(found, Mapping) else None


def read_states(kinds: NmstateKinds, cluster: Cluster) -> dict[str, dict[str, Any]]:
    """What each node reports. One that has not reported yet is not in it."""
    found = {
        item["metadata"]["name"]: value_at(item, "status.currentState") for item in cluster.list_whole(kinds.states)
    }
    return {name: dict(state) for name, state in found.items() if isinstance(state, Mapping)}


def selects(selector: Mapping[str, str] | None, node: NodeView) -> bool:
    return all(node.labels.get(key) == value for key, value in (selector or {}).items())


def _is_labelled(item: Mapping[str, Any]) -> bool:
    labels = value_at(item, "metadata.labels") or {}
    return OF_NODE in labels and OF_POLICY in labels


def _node(item: Mapping[str, Any], handled: set[str]) -> NodeView:
    name = item["metadata"]["name"]
    addresses = value_at(item, "status.addresses") or ()
    return NodeView(
        name=name,
        labels=item["metadata"].get("labels") or {},
        ready=(condition_of(item, "Ready") or {}).get("status") == "True",
        handled=name in handled,
        address=next((one["address"] for one in addresses if one.get("type") == "InternalIP"), ""),
    )
