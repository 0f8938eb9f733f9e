#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nncp_revert
short_description: Take a NodeNetworkConfigurationPolicy back on every node, then delete it
version_added: 0.1.0
description:
  - Deleting a NodeNetworkConfigurationPolicy changes nothing on the nodes. This module takes it back first, node by
    node, through the handlers of kubernetes-nmstate and their own probes, and deletes it when every node has shown
    it.
  - Only policies that have opted in with the annotation C(sunset.dev/delete-on-removal) set to V(true) are touched.
  - With O(state=prepared), before the policy is applied, each node's state is recorded in the cluster. What is
    taken back later is the difference between the state before, what the policy wanted of that node, and the state
    now. What somebody has changed since stays and is listed, and so does what another policy wants.
  - The policy is kept off its nodes while it is taken back, because handlers apply a policy again also while it is
    being deleted. Its own node selector is kept in an annotation.
  - Nodes go in waves - a few to see whether it works, then workers, then the control plane - and never more at once
    than the policy's C(maxUnavailable) allows, counted over all nodes together.
  - The finalizer C(sunset.dev/nncp-revert) holds the policy until the proof is there. How far it is stands in the
    annotation C(sunset.dev/revert-progress) and in Events.
  - A task that was cut off goes on when it is started again.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.run
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  policy:
    description:
      - Name of the NodeNetworkConfigurationPolicy.
    type: str
    required: true
  state:
    description:
      - V(prepared) records what the nodes are now, before the policy is applied. It may be there already as long as
        it is on no node; one that has opted in gets our finalizer, so that it cannot be deleted without being taken
        back.
      - V(absent) takes the policy back and deletes it.
      - V(absent) on a policy whose opt-in was dropped while it was being taken back, or while it was being deleted,
        lets it go and leaves the nodes as they are at that moment.
    type: str
    choices: [absent, prepared]
    default: absent
  mode:
    description:
      - V(auto) and V(journal) go back to what was recorded, and refuse where nothing was.
      - V(delete) is the consent to go without. Virtual interfaces of the policy are removed, hardware it names is
        set down without addresses, its routes, rules and DNS servers go. Nothing comes back.
    type: str
    choices: [auto, journal, delete]
    default: auto
  force:
    description:
      - Go ahead although a node would lose its address or default route, and without a record as with
        O(mode=delete). The handlers still roll back a node whose probes fail.
      - Where there is no such policy any more, forget the records that are left of it.
    type: bool
    default: false
  canary:
    description:
      - How many nodes go first, to see whether it works. One failure among them stops it. V(0) leaves this out.
    type: int
    default: 1
  max_unavailable:
    description:
      - How many nodes may be worked on at once, a number or a percentage. Nodes that failed count.
      - Without it, what the policy says, and V(50%) where it says nothing. Percentages are rounded up, and one node
        may always be worked on.
    type: str
  on_failure:
    description:
      - V(stop) leaves nodes that are done as they are. The next run goes on with the others.
      - V(undo) puts the policy back on all its nodes, and waits until those that were done have it again. The task
        fails in both cases.
    type: str
    choices: [stop, undo]
    default: stop
  unreachable:
    description:
      - What to do about nodes that are not Ready or have no handler. The others are taken back in any case.
      - V(fail) keeps the policy until they are back; run the task again then.
      - V(leave) lets the policy go without them. They keep what it did.
    type: str
    choices: [fail, leave]
    default: fail
  node_selector:
    description:
      - Labels of the nodes to record, for O(state=prepared). Without it, the policy's own selector; where there is
        no policy yet, all nodes.
    type: dict
  namespace:
    description:
      - Where records are kept, one ConfigMap a node. Without it, the namespace of the handlers.
    type: str
notes:
  - Needs the rights to get, list, create, patch and delete NodeNetworkConfigurationPolicies, to get and list
    NodeNetworkConfigurationEnactments, NodeNetworkStates, nodes and pods, to get, list, create, patch and delete
    ConfigMaps in O(namespace), and, for what people see, to create Events in the namespace V(default).
  - The state before is what a node's NodeNetworkState shows. Passwords are not in it; a reversal that needs one is
    refused.
  - A policy with our finalizer that somebody deletes stays until this module has run. To give up instead, drop the
    annotation and run it once more.
seealso:
  - module: sunset.kube.nncp_guard
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Record what the nodes are, before the policy is applied
  sunset.kube.nncp_revert:
    policy: vlan100
    state: prepared
    node_selector:
      node-role.kubernetes.io/worker: ""

- name: Take it back everywhere, and delete it
  sunset.kube.nncp_revert:
    policy: vlan100
    timeout: 1800

- name: Remove what a policy names that nobody recorded, two nodes first
  sunset.kube.nncp_revert:
    policy: old-bridge
    mode: delete
    canary: 2
    on_failure: undo
"""

RETURN = r"""
outcome:
  description:
    - V(reverted) - taken back on every node, and the policy is gone.
    - V(released) - not opted in any more; the policy is gone, nodes are as they were.
    - V(undone) - some nodes failed, and the policy is on its nodes again.
    - V(stopped) - some nodes are missing; the next run goes on.
    - V(prepared), V(planned) in check mode, or V(unchanged).
  returned: always
  type: str
nodes:
  description: Every node the policy is or was on.
  returned: always
  type: list
  elements: dict
  contains:
    node:
      description: Its name.
      type: str
    phase:
      description:
        - V(reverted), V(unchanged), V(failed), V(aborted), V(unreachable), V(gone), V(waiting), V(running),
          V(recorded), or V(planned) in check mode.
      type: str
    reason:
      description: Why, in words.
      type: str
    wave:
      description: The wave it belongs to.
      type: str
    source:
      description: V(recorded), or V(made_up) where nobody recorded the state before.
      type: str
    reverted:
      description: What is taken back, in words.
      type: list
      elements: str
    kept:
      description: What stays because another policy wants it.
      type: list
      elements: dict
    drifted:
      description: What stays because somebody has changed it since.
      type: list
      elements: str
    risks:
      description: What the node could lose.
      type: list
      elements: str
    revert_state:
      description: The nmstate document that is applied, without secrets.
      type: dict
table:
  description: A line for the cluster, and one a node, for people.
  returned: always
  type: list
  elements: str
counts:
  description: How many nodes are in each phase.
  returned: always
  type: dict
max_unavailable:
  description: How many nodes may be worked on at once.
  returned: always
  type: int
plan_hash:
  description: Hash of the plan, for O(plan_hash).
  returned: always
  type: str
steps:
  description: The waves, with their nodes and seconds.
  returned: always
  type: list
  elements: dict
survivors:
  description: Nodes that are not done, with the reason.
  returned: always
  type: list
  elements: dict
truncated:
  description: Lists that were cut to 200 entries, with their full length.
  returned: always
  type: dict
cluster:
  description: Address of the API server.
  returned: always, unless there is none to talk to
  type: str
  sample: https://api.example.com:6443
cluster_name:
  description: The cluster as a person knows it, its context (if there is one) and its address.
  returned: always, unless there is none to talk to
  type: str
  sample: context prod (https://api.example.com:6443)
requests:
  description: How many requests were sent, by verb.
  returned: always
  type: dict
"""

from ansible_collections.sunset.kube.plugins.module_utils.front import run_module
from ansible_collections.sunset.kube.plugins.module_utils.jobs.nncp_revert import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
