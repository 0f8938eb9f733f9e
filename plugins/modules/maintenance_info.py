#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_info
short_description: Tell which applications are behind a maintenance page, since when and until when
version_added: 0.1.0
description:
  - Lists the routes that show a maintenance page or carry marks of one, with the page, the time, who began it and why.
  - Tells what is not as it should be - places that were put back, pages that do not exist, windows that are over - and
    where the application can still be reached.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.routes
  - sunset.kube.attributes
  - sunset.kube.attributes.reads
options:
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
seealso:
  - module: sunset.kube.maintenance
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Who is in maintenance?
  sunset.kube.maintenance_info:
  register: maintenance

- name: Is the shop?
  sunset.kube.maintenance_info:
    targets:
      - namespace: shop
"""

RETURN = r"""
targets:
  description:
    - Each route in maintenance with its C(state) (V(enabled), V(partial) when places were put back, V(overdue)
      when its window is over, V(leftover) when it shows no page any more), the C(page), its C(strategy), its
      C(locations), C(since), C(until), C(by), C(reason), its C(holders), the owners that are C(paused) for it, and
      C(conflicts) - what is not as it should be.
  returned: always
  type: list
  elements: dict
page_sets:
  description: Pages that are there, with namespace, name, content hash and how many routes they are kept for.
  returned: always
  type: list
  elements: dict
coverage:
  description:
    - Where the application can still be reached, and C(why). Each entry has C(kind), C(namespace), C(name), C(host),
      C(path), C(service) and C(why).
  returned: with O(coverage=true)
  type: list
  elements: dict
unseen:
  description: What could not be looked at, and why.
  returned: always
  type: list
  elements: str
maintenance_operator:
  description:
    - How the maintenance-operator of the community calls its annotations and backups, as it was understood here, with
      the suboptions of O(maintenance_operator). C(source) is V(default), V(option), or the Deployment it was read from.
  returned: always
  type: dict
  sample:
    maintenance_annotation: maintenance-operator.mithucste30.io/enabled
    maintenance_annotation_value: "true"
    backup_annotation: maintenance-operator.mithucste30.io/original-service
    backup_config_map_prefix: maintenance-backup
    source: default
counts:
  description: How many routes, by state.
  returned: always
  type: dict
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.maintenance_info import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
