#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: requeue_after
short_description: Tell ansible-operator when to look at a resource again
version_added: 0.1.0
description:
  - Used by the playbooks of the operator image, as the last task of a run. Elsewhere it does nothing.
  - ansible-operator recognises the task by its bare name only. Write C(requeue_after) and let the play search this
    collection with C(collections).
options:
  period:
    description:
      - After how long, as Go writes a duration.
    type: str
    required: true
attributes:
  check_mode:
    description: Can run without changing anything and says what it would do.
    support: full
  diff_mode:
    description: Shows what changes, object by object.
    support: none
  idempotent:
    description: A second run with the same options changes nothing.
    support: full
seealso:
  - module: sunset.kube.reconcile_begin
  - module: sunset.kube.reconcile_end
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Look again in half a minute
  sunset.kube.requeue_after:
    period: 30s
"""

RETURN = r"""
period:
  description: After how long.
  returned: always
  type: str
  sample: 30s
"""

from ansible_collections.sunset.kube.plugins.module_utils.jobs.requeue_after import JOB
from ansible_collections.sunset.kube.plugins.module_utils.node_front import run_node_module


def main() -> None:
    run_node_module(JOB)


if __name__ == "__main__":
    main()
