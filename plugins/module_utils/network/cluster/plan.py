# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What taking a policy back means for each node: the state to apply, what stays and why, and what it could cut off.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...commands import kubectl
from ...problems import Refused
from ...shown import Shown
from ...terms import Terms
from ..hidden import as_shown, placeholders_in
from ..reversal import Reversal
from ..risk import Lifelines, risks_of
from ..synthetic import synthetic_pre_state
from ..three_way import plan_reversal
from .kinds import ORIGINAL_SELECTOR, POLICY
from .max_unavailable import most_unavailable
from .options import NncpOptions
from .records import NodeRecord, Records
from .scene import Enactment, NodeView, Policy, Scene
from .waves import Wave, waves_of

_FEW = 5
# They decide over what is risky, over nodes that do not answer, and over those that are done when one fails.


@dataclass(frozen=True)
class NodePlan:
    view: NodeView
    record: NodeRecord  # with `desired`
    claims: Mapping[str, Mapping[str, Any]]
    now: Mapping[str, Any]
    reversal: Reversal
    risks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.view.name

    @property
    def unreachable(self) -> str:
        return "" if self.reversal.unchanged else self.view.why_unreachable

    def left_to_do(self, now: Mapping[str, Any]) -> Reversal:
        """What is still missing of the reversal in a state the node reports; nothing is the proof."""
        return plan_reversal(self.record.pre, self.record.desired or {}, now, self.claims)


@dataclass
class Plan:
    policy: Policy
    nodes: dict[str, NodePlan]
    waves: list[Wave]
    most: int  # nodes that may be unavailable at once
    gone: list[str] = field(default_factory=list)  # nodes with a record that are not in the cluster any more
    unseen: dict[str, str] = field(default_factory=dict)  # nodes nothing can be planned for, and why
    warnings: list[str] = field(default_factory=list)
    terms: Terms = field(default_factory=Terms)  # approved with it

    @property
    def work(self) -> frozenset[str]:
        """A name for what is done to each node; another one as soon as something else is done there."""
        parts = [[self.policy.record.uid, name, self.nodes[name].reversal.state] for name in self._in_turn]
        return frozenset(str(uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(part, sort_keys=True))) for part in parts)

    @property
    def _in_turn(self) -> list[str]:
        return [name for wave in self.waves for name in wave.nodes]

    def is_rest_of(self, shown: Shown) -> bool:
        """Whether nothing is done to any node but what was shown; nobody was shown nothing."""
        return bool(shown.work) and shown.terms == self.terms.digest and self.work <= shown.work

    @property
    def hash(self) -> str:
        content = {
            "policy": self.policy.record.uid,
            "nodes": {name: one.reversal.state for name, one in self.nodes.items()},
            "waves": [wave.nodes for wave in self.waves],
            "most": self.most,
        }
        return self.terms.hash_of(content)


def make_plan(options: NncpOptions, policy: Policy, scene: Scene, records: Records, at: str, terms: Terms) -> Plan:
    """Every refusal comes from here, before the first write."""
    enactments = scene.of_policy(policy.name)
    names = sorted({*enactments, *records.found})
    warnings: list[str] = []
    nodes: dict[str, NodePlan] = {}
    unknown: list[str] = []
    unseen: dict[str, str] = {}
    for name in names:
        view = scene.nodes.get(name)
        if view is None:
            continue
        desired = _desired(policy, records.of(name), enactments.get(name))
        now = scene.states.get(name)
        if desired is None:
            warnings.append(f"{name}: what the policy captured there is not known any more; it is left as it is")
        elif now is None:
            unseen[name] = view.why_unreachable or "it reports no NodeNetworkState"
        else:
            record = _record(options, name, records.of(name), desired, now, at)
            if record is None:
                unknown.append(name)
            else:
                nodes[name] = _node_plan(view, record, scene.claims(name, policy.name), now)
    if unknown:
        raise _not_recorded(unknown)
    most, warning = most_unavailable(len(nodes), _wanted(options, policy))
    to_do = [one.view for one in nodes.values() if not one.reversal.unchanged and not one.unreachable]
    gone = [name for name in names if name not in scene.nodes]
    plan = Plan(policy, nodes, waves_of(to_do, options.canary), most, gone, unseen, terms=terms)
    plan.warnings = [*warnings, *([warning] if warning else [])]
    _refuse_what_cannot_be(plan, scene, options)
    return plan


def _desired(policy: Policy, record: NodeRecord | None, enactment: Enactment | None) -> Mapping[str, Any] | None:
    """As it was rendered for the node. The policy's own text only stands for it where nothing was captured."""
    if enactment is not None and enactment.desired is not None:
        return enactment.desired
    if record is not None and record.desired is not None:
        return record.desired
    return None if policy.captures else policy.spec.get("desiredState") or {}


def _record(
    options: NncpOptions,
    name: str,
    known: NodeRecord | None,
    desired: Mapping[str, Any],
    now: Mapping[str, Any],
    at: str,
) -> NodeRecord | None:
    """None: nobody recorded it, and nobody consented to go without."""
    # Nodes report no passwords, so they are not needed to compare; and a record is no place for them.
    desired = as_shown(desired)
    # Once a run has made up a state before, a later one goes on from that, not from what is half taken back.
    if known is not None and (known.made_up or options.mode != "delete"):
        return NodeRecord(name, known.pre, known.recorded_at, known.made_up, desired)
    if options.mode == "delete" or options.force:
        return NodeRecord(name, synthetic_pre_state(desired, now), at, True, desired)
    return None


def _node_plan(
    view: NodeView, record: NodeRecord, claims: Mapping[str, Mapping[str, Any]], now: Mapping[str, Any]
) -> NodePlan:
    reversal = plan_reversal(record.pre, record.desired or {}, now, claims)
    risks = risks_of(now, reversal.state, Lifelines(node_ip=view.address)) if reversal.state else []
    return NodePlan(view, record, claims, now, reversal, tuple(map(str, risks)))


def _wanted(options: NncpOptions, policy: Policy) -> Any:
    return policy.spec.get("maxUnavailable") if options.max_unavailable is None else options.max_unavailable


def original_selector(policy: Policy) -> dict[str, str] | None:
    """Of a policy that was neutralised; None where it had none."""
    found = json.loads(policy.annotations[ORIGINAL_SELECTOR])
    return None if found is None else dict(found)


# -- refusals ----------------------------------------------------------------------------------------------------------


def refuse_unless_opted_in(policy: Policy) -> None:
    if not policy.opted_in:
        raise Refused(
            "will not take back",
            which=f"{POLICY} {policy.name}",
            why="it has not opted in",
            next_step=f"{kubectl('annotate nncp {name} sunset.dev/delete-on-removal=true', name=policy.name)}, and run "
            "this task again; without it, kubectl delete nncp leaves the nodes as they are",
        )


def _not_recorded(nodes: list[str]) -> Refused:
    return Refused(
        "cannot go back",
        why=f"nobody recorded what {_listed(nodes)} were before the policy",
        next_step="mode: delete removes what the policy names instead, and brings nothing back; for the next policy, "
        "run state: prepared before it is applied; nothing was changed",
    )


def _refuse_what_cannot_be(plan: Plan, scene: Scene, options: NncpOptions) -> None:
    to_do = [one for one in plan.nodes.values() if not one.reversal.unchanged]
    if to_do and all(one.unreachable for one in to_do) and not any(node.handled for node in scene.nodes.values()):
        raise Refused(
            "nobody could apply it",
            why="no nmstate handler runs in this cluster",
            next_step="bring the handlers back (kubectl get pods -A -l component=kubernetes-nmstate-handler)",
        )
    for one in to_do:
        same = [node.name for node in scene.nodes.values() if node.host_name == one.view.host_name]
        if not one.view.host_name or len(same) > 1:
            why = f"shares it with {_listed(same)}" if one.view.host_name else "has none"
            raise Refused(
                "cannot address",
                which=f"node {one.name}",
                why=f"its label kubernetes.io/hostname must be its own, and it {why}",
                next_step="mend that label; nothing was changed",
            )
        hidden = list(placeholders_in(one.reversal.state))
        if hidden:
            raise Refused(
                "cannot take back on",
                which=f"node {one.name}",
                why=f"the state before holds passwords that nmstate does not show ({_listed(hidden)})",
                next_step="take it back on the node with sunset.kube.nmstate_revert; nothing was changed",
            )
    risky = [f"{one.name}: {one.risks[0]}" for one in to_do if one.risks]
    if not risky or options.force:
        return
    why = "; ".join(risky[:_FEW]) + (f"; and {len(risky) - _FEW} more nodes" if len(risky) > _FEW else "")
    if options.check_mode:  # who looks at the plan wants to see it
        plan.warnings.append(f"a real run refuses this without force: {why}")
        return
    raise Refused(
        "too risky",
        why=why,
        next_step="look at the plan with --check --diff; force: true goes ahead, and the handlers roll a node back "
        "whose probes fail; nothing was changed",
    )


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:_FEW]) + (f" and {len(found) - _FEW} more" if len(found) > _FEW else "")
