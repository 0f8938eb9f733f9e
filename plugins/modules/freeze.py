#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: freeze
short_description: Forbid creating kinds or adding finalizers for a while
version_added: 0.1.0
description:
  - While something is being taken out of a cluster, late controllers and GitOps tools put it back. A freeze forbids
    that - a ValidatingAdmissionPolicy that denies creating the kinds you name, or adding the finalizers you name.
  - The API server evaluates it by itself. There is no webhook behind it that could be down, and it ends at its time by
    itself, even if nobody is left to lift it.
  - The task returns when the policy has taken effect.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
attributes:
  idempotent:
    support: partial
    details:
      - O(state=present) moves the end of a freeze, so it changes something each time.
options:
  name:
    description:
      - Name of the freeze. Needed with O(state=present) and O(state=absent).
    type: str
  state:
    description:
      - V(present) puts the freeze in place, V(absent) lifts it, V(swept) removes all our freezes that are over.
    type: str
    choices: [present, absent, swept]
    default: present
  kinds:
    description:
      - Kinds that nobody may create. Any spelling of a served kind, best as V(plural.group).
    type: list
    elements: str
  finalizers:
    description:
      - Finalizers that nobody may add, by name, or with a star at the end such as V(example.com/*). Removing them
        stays allowed.
    type: list
    elements: str
  on_kinds:
    description:
      - The kinds whose O(finalizers) are meant.
    type: list
    elements: str
  namespaces:
    description:
      - Only in these namespaces. Without it, in the whole cluster.
    type: list
    elements: str
  allow_users:
    description:
      - User names the freeze is not for, for example V(system:serviceaccount:ngrok-operator:ngrok-operator).
    type: list
    elements: str
  expires_after:
    description:
      - Seconds until it ends by itself.
    type: int
    default: 3600
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
    bindings, and to create ConfigMaps (one is tried, never kept, to see when the policy has taken effect).
  - Objects without C(metadata.managedFields) may still get finalizers by an update, as nothing tells the time there.
  - Whether a freeze is over is told from the times the API server writes into objects. A freeze that is over stays
    visible until it is swept or lifted; it forbids nothing any more.
seealso:
  - module: sunset.kube.drain
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Nobody creates Domains or puts the finalizer back for ten minutes
  sunset.kube.freeze:
    name: shop-leaves
    kinds:
      - domains.ingress.example.com
    finalizers:
      - example.com/cleanup
    on_kinds:
      - domains.ingress.example.com
      - ingresses.networking.k8s.io
    namespaces:
      - shop
    expires_after: 600

- name: Lift it
  sunset.kube.freeze:
    name: shop-leaves
    state: absent

- name: Remove what earlier runs could not remove
  sunset.kube.freeze:
    state: swept
"""

RETURN = r"""
name:
  description: Name of the freeze, and of its policy and binding.
  returned: always
  type: str
  sample: shop-leaves
ends:
  description: When it ends by itself, in the API server's time.
  returned: with O(state=present)
  type: str
  sample: "2026-11-16T18:30:00Z"
lifted:
  description: Names of the freezes that were removed.
  returned: with O(state=absent) and O(state=swept)
  type: list
  elements: str
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.freeze import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
