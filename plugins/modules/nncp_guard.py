#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nncp_guard
short_description: Nobody changes the spec of a NodeNetworkConfigurationPolicy that can be taken back
version_added: 0.1.0
description:
  - A policy that was changed after it was applied hides what the first version did to the nodes, so it cannot be taken
    back as a whole. This ValidatingAdmissionPolicy denies changes to the spec of every policy that has opted in with
    the annotation C(sunset.dev/delete-on-removal) set to V(true).
  - Metadata stays free, the opt-in itself included. Who wants to change such a policy drops the annotation first.
  - What M(sunset.kube.nncp_revert) does to keep a policy off its nodes, and to put it back, is let through.
  - The API server evaluates it by itself; there is no webhook that could be down. The task returns when it has taken
    effect.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  state:
    description:
      - V(present) puts the rule in place, V(absent) takes it away.
    type: str
    choices: [present, absent]
    default: present
  timeout:
    description:
      - Seconds the whole task may take.
    type: int
    default: 600
  parallel:
    description:
      - How many requests may be under way at once, 64 at most.
    type: int
    default: 48
notes:
  - Needs Kubernetes 1.30 or newer, the rights to create, patch and delete ValidatingAdmissionPolicies and their
    bindings, and to create ConfigMaps in the namespace V(default) (one is tried, never kept, to see when the policy has
    taken effect).
seealso:
  - module: sunset.kube.nncp_revert
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Policies that can be taken back stay as they are
  sunset.kube.nncp_guard:
    state: present
"""

RETURN = r"""
guard:
  description: Name of the ValidatingAdmissionPolicy and of its binding.
  returned: always
  type: str
  sample: nncp-immutable.sunset.dev
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.nncp_guard import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
