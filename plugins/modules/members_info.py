#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: members_info
short_description: Show what belongs to a release, an application or a namespace
version_added: 0.1.0
description:
  - Reads the record of whoever deployed it, looks which of its objects are there, and shows them with their owner, keep
    markers and finalizers, and the plan that M(sunset.kube.ranked_delete) would make by default.
  - Changes nothing.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.members
  - sunset.kube.attributes
  - sunset.kube.attributes.reads
options:
  parallel:
    description:
      - How many requests may be under way at once, 64 at most.
    type: int
    default: 48
seealso:
  - module: sunset.kube.ranked_delete
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: What does this Helm release own?
  sunset.kube.members_info:
    members:
      helm: {release: shop, namespace: shop}
  register: shop
"""

RETURN = r"""
source:
  description:
    - What O(members) names, in words.
  returned: success
  type: str
missing:
  description:
    - Why nothing can be known, for example because there is no such release; empty otherwise.
  returned: success
  type: str
members:
  description:
    - The objects that are there. At most 200 of them.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: Which object.
      type: dict
    source:
      description: Where we learned that it belongs there.
      type: str
    owned:
      description: Whether it still carries the source's mark, or needs none.
      type: bool
    confirmed:
      description: Whether it says so itself. Where this is V(false), nothing but the release metadata names it.
      type: bool
    keep_marker:
      description: A mark that says not to delete it; empty if there is none.
      type: str
    finalizers:
      description: Its finalizers.
      type: list
      elements: str
absent:
  description:
    - Objects the source names that are not there.
  returned: success
  type: list
  elements: dict
plan:
  description:
    - The default plan, steps with their objects.
  returned: success
  type: list
  elements: dict
plan_hash:
  description:
    - Names that plan. M(sunset.kube.ranked_delete) gives the same hash for these members, when all its other options
      have their defaults.
  returned: success
  type: str
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
  description:
    - Requests sent to the API server, by verb.
  returned: always
  type: dict
truncated:
  description:
    - Lists of this result that were cut to 200 entries, with their full length.
  returned: success
  type: dict
"""

from ansible_collections.sunset.kube.plugins.module_utils.front import run_module
from ansible_collections.sunset.kube.plugins.module_utils.jobs.members_info import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
