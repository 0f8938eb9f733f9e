#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nmstate_revert
short_description: Take a policy back from a node's network, without losing the node
version_added: 0.1.0
description:
  - Brings back what was there before M(sunset.kube.nmstate_apply) applied a policy. What somebody changed since then
    stays and is listed as drifted, what another policy wants stays and is listed with its owner, and routes and rules
    that were there before the policy are never removed.
  - A policy this node has no journal of can only be deleted. Its virtual interfaces go, hardware is set down without
    addresses, its routes, rules and name servers go; nothing comes back, because nobody knows what was there.
  - Like every change it is probed, confirmed over a new connection, and undone by the node itself if that fails.
extends_documentation_fragment:
  - sunset.kube.node
options:
  mode:
    description:
      - V(journal) brings back what was recorded. V(delete) removes what the policy names, with a state before that is
        made up. V(auto) is V(journal); with O(force=true) it becomes V(delete) if there is no record.
    type: str
    choices: [auto, journal, delete]
    default: auto
  desired_state:
    description:
      - What the policy wanted. Needed for V(delete) when the journal does not know the policy.
    type: raw
seealso:
  - module: sunset.kube.nmstate_apply
  - module: sunset.kube.nmstate_info
  - module: sunset.kube.nmstate_confirm
  - module: sunset.kube.nncp_revert
"""

EXAMPLES = r"""
- name: What would happen?
  become: true
  check_mode: true
  diff: true
  sunset.kube.nmstate_revert:
    policy: storage

- name: Try it for real, and put everything back
  become: true
  sunset.kube.nmstate_revert:
    policy: storage
    rehearse: true

- name: Take the policy back
  become: true
  sunset.kube.nmstate_revert:
    policy: storage
    probes:
      - type: dns
        target: registry.example.com
      - type: api_server

- name: Remove what an old policy made, of which nobody recorded what was there before
  become: true
  sunset.kube.nmstate_revert:
    policy: old-bridge
    mode: delete
    desired_state:
      interfaces:
        - name: br0
          type: linux-bridge
          state: up
"""

RETURN = r"""
mode:
  description: How it was taken back - V(journal) or V(delete).
  returned: when there is something to take back
  type: str
reverted:
  description: What was brought back or removed, a sentence each.
  returned: always
  type: list
  elements: str
kept:
  description: What stays because another policy wants it; C(what), and the policy that is its C(owner).
  returned: always
  type: list
  elements: dict
drifted:
  description: What stays because somebody changed it after the policy.
  returned: always
  type: list
  elements: str
policy:
  description: The policy's name.
  returned: always
  type: str
outcome:
  description:
    - V(committed) when the change is there to stay, V(rolled_back) when the node is as it was before, V(unchanged) when
      there was nothing to do or nothing was to be done.
  returned: always
  type: str
transaction:
  description: The id of the change on the node.
  returned: always
  type: str
backend:
  description: How the network was changed.
  returned: always
  type: str
effects:
  description: What is about to be, or was, another one, a sentence each.
  returned: always
  type: list
  elements: str
risks:
  description: What the change takes away from under us. Without O(force) these are refused.
  returned: when there is something to change
  type: list
  elements: str
probes:
  description:
    - Each probe with C(type), C(target), C(family), whether it worked C(before) and C(after), and C(detail). C(after)
      is null when it did not work before.
  returned: always
  type: list
  elements: dict
revert_state:
  description: What was applied to take the policy back. Secrets are hidden.
  returned: always
  type: dict
boot_guard:
  description: What would have finished a rollback after a reboot - V(systemd), V(cron) or V(none).
  returned: when the change was begun
  type: str
ended_by:
  description: Who decided - V(confirmation), V(probes), V(worker), V(watchdog), V(boot guard), V(rehearsal) or V(task).
  returned: when the change was begun
  type: str
tried:
  description: The ways back that were tried, with what was refused on them.
  returned: when the change was begun
  type: list
  elements: str
differences:
  description: What is not as it was before, after a rollback. Empty is the proof that everything is back.
  returned: when the change was begun
  type: list
  elements: str
"""

from ansible_collections.sunset.kube.plugins.module_utils.jobs.nmstate_revert import JOB
from ansible_collections.sunset.kube.plugins.module_utils.node_front import run_node_module


def main() -> None:
    run_node_module(JOB)


if __name__ == "__main__":
    main()
