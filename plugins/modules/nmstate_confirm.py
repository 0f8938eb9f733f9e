#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nmstate_confirm
short_description: Watch, confirm or roll back a change of a node's network that is under way
version_added: 0.1.0
description:
  - M(sunset.kube.nmstate_apply) and M(sunset.kube.nmstate_revert) use it over a new connection, by themselves. Use it
    by hand to end a change whose controller died, before the node does it.
  - Confirming twice is confirming once. Confirming too late fails, because the node has gone back or is about to.
options:
  transaction:
    description:
      - The change's id, as M(sunset.kube.nmstate_info) lists it.
    type: str
    required: true
  state:
    description:
      - V(confirmed) keeps the change, if its probes have held. V(rolled_back) takes it back at once. V(watched) tells
        how far it is and starts its lease anew.
    type: str
    choices: [confirmed, rolled_back, watched]
    default: confirmed
  journal_dir:
    description:
      - Where the node keeps what is under way.
    type: path
    default: /var/lib/sunset-kube/network
attributes:
  check_mode:
    description: Can run without changing anything and says what it would do.
    support: full
    details:
      - It looks, and starts the lease anew.
  diff_mode:
    description: Shows what changes.
    support: none
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
- name: Take back what somebody left undecided
  become: true
  sunset.kube.nmstate_confirm:
    transaction: 8f2c1d7a90b3e4f5
    state: rolled_back
"""

RETURN = r"""
phase:
  description:
    - How far it is - V(opened), V(applying), V(probing), V(ready), V(ending), V(over), or V(unknown) if there is no
      such change.
  returned: always
  type: str
outcome:
  description: V(pending), V(committed) or V(rolled_back).
  returned: when there is such a change
  type: str
left:
  description: Seconds until the node goes back by itself.
  returned: when there is such a change
  type: float
problem:
  description: Why it is being, or was, rolled back.
  returned: when there is such a change
  type: str
differences:
  description: What is not as it was before, after a rollback. Empty is the proof that everything is back.
  returned: when it is over
  type: list
  elements: str
"""

from ansible_collections.sunset.kube.plugins.module_utils.jobs.nmstate_confirm import JOB
from ansible_collections.sunset.kube.plugins.module_utils.node_front import run_node_module


def main() -> None:
    run_node_module(JOB)


if __name__ == "__main__":
    main()
