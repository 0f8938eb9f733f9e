#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hub_guard
short_description: Keep addons and works out where no cluster is, on an Open Cluster Management hub
version_added: 0.1.0
description:
  - Two rules that a hub does not have by itself, as ValidatingAdmissionPolicies that stay until you take them away.
  - The first denies creating ManagedClusterAddOns for a cluster whose ManagedCluster is being deleted. It covers every
    cluster, also those that join later.
  - The second denies creating ManagedClusterAddOns and ManifestWorks in a namespace without its ManagedCluster.
    An admission policy cannot search for a ManagedCluster of the namespace's name, so this rule is bound to each
    namespace that belongs or belonged to a cluster. The namespace of a cluster that joined since is bound when the task
    runs the next time; until then only the first rule covers it.
  - The API server evaluates both by itself. There is no webhook that could be down, and no controller. The task returns
    when they have taken effect.
  - While a ManagedCluster is being deleted, works are still allowed. The last jobs of addons need them.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  state:
    description:
      - V(present) puts both rules in place, binds the second to every namespace that has a ManagedCluster of its name,
        a cluster's label, or addons or works in it, and drops bindings of namespaces that are gone with their cluster.
      - V(absent) takes all of it away.
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
  - Needs Kubernetes 1.30 or newer, and the rights to create, patch and delete ValidatingAdmissionPolicies and their
    bindings, to get and list ManagedClusters, addons, works and namespaces, and to create ConfigMaps (one is tried,
    never kept, to see when the policies have taken effect).
  - Namespaces that never had to do with a cluster are not guarded.
  - The second rule says no, too, when the API server cannot look for ManagedClusters, for example because their
    definition is gone. The first then lets everything pass.
  - The API server words the second denial itself; it names the policy
    C(no-addons-or-works-without-a-cluster.sunset.dev), and the binding with the namespace.
seealso:
  - module: sunset.kube.managed_cluster
  - module: sunset.kube.freeze
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Guard the hub, and bind what joined since the last time
  sunset.kube.hub_guard:
    state: present

- name: No longer
  sunset.kube.hub_guard:
    state: absent
"""

RETURN = r"""
namespaces:
  description: Namespaces the second rule is bound to.
  returned: always
  type: list
  elements: str
  sample: [edge-7, edge-8]
added:
  description: Those that were bound now.
  returned: always
  type: list
  elements: str
dropped:
  description: Those whose binding was removed now.
  returned: always
  type: list
  elements: str
without_cluster:
  description: Addons and works that are in a namespace without its ManagedCluster at this moment. They stay.
  returned: always
  type: list
  elements: str
  sample: [ManifestWork edge-3/web]
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.hub_guard import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
