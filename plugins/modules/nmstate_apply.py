#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nmstate_apply
short_description: Change a node's network so that it can be taken back, and so that the node always comes back
version_added: 0.1.0
description:
  - Applies a state in the words of nmstate under a policy's name. What was there before is written to the node's
    journal first, so that M(sunset.kube.nmstate_revert) can take the policy back years later.
  - The change is only kept if everything that worked before works afterwards, and if the controller finds the node
    again over a new connection. Otherwise the node brings back what was there, also when the controller,
    NetworkManager or the connection died meanwhile, and proves that it did.
extends_documentation_fragment:
  - sunset.kube.node
options:
  desired_state:
    description:
      - What the policy wants, as a dictionary or as YAML text. What it does not name stays as it is.
    type: raw
    required: true
seealso:
  - module: sunset.kube.nmstate_revert
  - module: sunset.kube.nmstate_info
  - module: sunset.kube.nmstate_confirm
"""

EXAMPLES = r"""
- name: A storage network on eth2
  become: true
  sunset.kube.nmstate_apply:
    policy: storage
    desired_state:
      interfaces:
        - name: eth2
          type: ethernet
          state: up
          ipv4:
            enabled: true
            address:
              - ip: 198.51.100.11
                prefix-length: 24
    probes:
      - type: tcp
        target: 198.51.100.1:3260
      - type: controller

- name: Would it be safe to move the address onto a bridge?
  become: true
  sunset.kube.nmstate_apply:
    policy: bridge
    desired_state:
      interfaces:
        - name: br0
          type: linux-bridge
          state: up
          ipv4:
            enabled: true
            dhcp: true
          bridge:
            port:
              - name: eth1
    rehearse: true
    force: true
"""

RETURN = r"""
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
  description: What would be applied to take the policy back. Secrets are hidden.
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

from ansible_collections.sunset.kube.plugins.module_utils.jobs.nmstate_apply import JOB
from ansible_collections.sunset.kube.plugins.module_utils.node_front import run_node_module


def main() -> None:
    run_node_module(JOB)


if __name__ == "__main__":
    main()
