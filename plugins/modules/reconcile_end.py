#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: reconcile_end
short_description: Say in the status of a custom resource how its work came out
version_added: 0.1.0
description:
  - Used by the playbooks of the operator image, after the role that does the work. It writes the conditions of the
    resource's status, and a Kubernetes Event.
  - A resource that is gone meanwhile needs no status, which is no error.
  - Kinds of others have no status of ours. They get an Event where something is in the way.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.resource
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  phase:
    description:
      - V(scheduled) waits for its time, V(planned) for an approval, V(standing) is in force until it ends,
        V(returned) has given back what it held and has more to do, V(completed) is done, V(blocked) is tried again
        later.
    type: str
    choices: [scheduled, planned, standing, returned, completed, blocked]
    required: true
  text:
    description:
      - One sentence for people.
    type: str
    default: ""
  generation:
    description:
      - The number of the spec that was worked on, as M(sunset.kube.reconcile_begin) returns it. If the spec was changed
        meanwhile, it is not said to be done. V(0) for the one that is there now.
    type: int
    default: 0
seealso:
  - module: sunset.kube.reconcile_begin
  - module: sunset.kube.requeue_after
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Say what is in the way
  sunset.kube.reconcile_end:
    api_version: sunset.dev/v1alpha1
    kind: Uninstall
    name: shop
    namespace: sunset-system
    phase: blocked
    text: "{{ ansible_failed_result.msg }}"
"""

RETURN = r"""
requeue_after:
  description: When to try again, as Go writes a duration; empty for never.
  returned: always
  type: str
  sample: 15s
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.reconcile_end import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
