#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nmstate_info
short_description: Tell which policies a node's network has, what can be taken back, and what is under way
version_added: 0.1.0
description:
  - Reads the node's journal. Changes nothing.
options:
  policy:
    description:
      - Only this policy.
    type: str
  journal_dir:
    description:
      - Where the node keeps its journal.
    type: path
    default: /var/lib/sunset-kube/network
attributes:
  check_mode:
    description: Can run without changing anything and says what it would do.
    support: full
    details:
      - It never changes anything.
  diff_mode:
    description: Shows what changes.
    support: N/A
    details:
      - It never changes anything.
  idempotent:
    description: A second run with the same options changes nothing.
    support: full
notes:
  - Needs root on the node.
seealso:
  - module: sunset.kube.nmstate_apply
  - module: sunset.kube.nmstate_revert
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: What could be taken back here?
  become: true
  sunset.kube.nmstate_info:
  register: network
"""

RETURN = r"""
policies:
  description:
    - Each policy with its C(state) (V(committed), V(reverted), V(rolled_back) or V(pending)), whether it is
      C(revertible), C(applied_at), C(reverted_at), its C(generation), the C(backend), its C(interfaces), what its
      last reversal C(kept) for other policies, and its C(revert_state), with secrets hidden.
  returned: always
  type: list
  elements: dict
transactions:
  description: Changes under way with C(transaction), C(policy), C(phase), C(left) seconds, C(rehearsed) and C(problem).
  returned: always
  type: list
  elements: dict
"""

from ansible_collections.sunset.kube.plugins.module_utils.jobs.nmstate_info import JOB
from ansible_collections.sunset.kube.plugins.module_utils.node_front import run_node_module


def main() -> None:
    run_node_module(JOB)


if __name__ == "__main__":
    main()
