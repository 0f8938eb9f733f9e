#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: reconcile_begin
short_description: What a custom resource of the operator asks for at this moment
version_added: 0.1.0
description:
  - Used by the playbooks of the operator image, before the role that does the work. It reads the resource from the API
    server, says whether there is anything to do now, and with which arguments of which role.
  - What has ended for this generation of the spec never begins again by itself, however often the operator starts.
  - Its values come from the API server and are never templates.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.resource
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  home:
    description:
      - The operator's own namespace. Kinds that act on the whole cluster are heard only there, and a C(Maintenance)
        elsewhere only for the routes of its own namespace. Without it nobody is kept out.
    type: str
  defaults:
    description:
      - Variables of roles, for those that the resource does not set.
    type: dict
    default: {}
seealso:
  - module: sunset.kube.reconcile_end
  - module: sunset.kube.requeue_after
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Look what is asked for
  sunset.kube.reconcile_begin:
    api_version: sunset.dev/v1alpha1
    kind: Uninstall
    name: shop
    namespace: sunset-system
  register: asked
"""

RETURN = r"""
go:
  description: V(nothing), V(plan) or V(run).
  returned: always
  type: str
  sample: plan
role:
  description: The role that does it, without the name of the collection.
  returned: always
  type: str
  sample: uninstall
arguments:
  description: The role's variables.
  returned: always
  type: dict
  sample: {"uninstall_release": "shop"}
then:
  description: The phase for M(sunset.kube.reconcile_end) when the role has done it.
  returned: always
  type: str
  sample: planned
requeue_after:
  description: When something has to be done again, as Go writes a duration; empty for never.
  returned: always
  type: str
  sample: 30s
message:
  description: Why there is nothing to do, for people.
  returned: always
  type: str
others:
  description: All resources of this kind, with their namespaces.
  returned: always
  type: list
  elements: str
  sample: ["sunset-system/shop"]
spec_digest:
  description: Tells the spec of which the arguments are from any other that asks for something else.
  returned: always
  type: str
  sample: 2f0c9a1b77e0d3c4
generation:
  description: The number of that spec, for M(sunset.kube.reconcile_end).
  returned: always
  type: int
  sample: 1
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.reconcile_begin import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
