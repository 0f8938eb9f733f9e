#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: undo
short_description: Bring back what a run deleted, from the undo bundle it left
version_added: 0.1.0
description:
  - Creates the objects again that M(sunset.kube.uninstall), M(sunset.kube.ranked_delete), M(sunset.kube.drain) or
    M(sunset.kube.managed_cluster) deleted with O(evidence_dir). Namespaces and definitions first, then Secrets, then
    the steps of the deletion from the last to the first.
  - What is there already is never touched. It is listed under RV(existing). What is there but still being deleted is
    listed under RV(lost), and the task fails; run it again when that is gone.
  - A bundle holds what its own run deleted. Where that run went on with one that was stopped, the task warns and names
    the folders of those before. A bundle with nothing in it is an error.
  - Objects come back as others - with another uid, without status, without finalizers and owners. What a controller
    had made of them it makes again. Data of volumes that were deleted does not come back, and neither does anything
    outside the cluster; what is known of that is warned of.
  - Run it with C(--check --diff) first. The API server tries every creation without keeping it, as far as its
    namespace and its kind are there.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  bundle:
    description:
      - The folder a run left below its O(evidence_dir), or C(undo) in it.
      - It must belong to the user who runs the task, or to root, and no other user may write to it or to its files.
        Symbolic links in it are not followed.
    type: path
    required: true
  undo_vault_password:
    description:
      - The password the run was given for its Secrets. Without it they do not come back.
      - Works when the task runs on the controller.
    type: str
  secrets:
    description:
      - Secrets of the bundle, opened. The task does this by itself with O(undo_vault_password).
    type: list
    elements: dict
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
  plan_hash:
    description:
      - Refuse when the plan is not the one with this hash. Look at the plan with C(--check) first.
      - A plan is what would be created, with its content, on this cluster.
    type: str
  evidence_dir:
    description:
      - Directory on the controller. Each run adds a folder with the timeline of every write, and a report of it.
      - Cannot be used with C(async).
    type: path
notes:
  - The playbook C(sunset.kube.undo) shows the plan, asks, and carries it out.
seealso:
  - module: sunset.kube.uninstall
  - module: sunset.kube.ranked_delete
  - module: sunset.kube.drain
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: What would come back?
  check_mode: true
  diff: true
  sunset.kube.undo:
    bundle: evidence/latest

- name: Bring the application back, with its Secrets
  sunset.kube.undo:
    bundle: evidence/20261117T013326.578250Z-ranked_delete
    undo_vault_password: "{{ vault_undo_password }}"
"""

RETURN = r"""
plan_hash:
  description: Hash of the plan, for O(plan_hash).
  returned: always
  type: str
  sample: 4841343148e188c0
plan:
  description: What would be created, by steps.
  returned: in check mode
  type: list
  elements: dict
text:
  description: The plan as a tree, for people.
  returned: in check mode
  type: list
  elements: str
restored:
  description: Every object that came back, as C(object) with its new uid, and its C(old_uid).
  returned: always
  type: list
  elements: dict
existing:
  description: Objects of the same name that were there already, and were not touched.
  returned: always
  type: list
  elements: dict
lost:
  description: Objects that did not come back, with the C(reason).
  returned: always
  type: list
  elements: dict
left_out:
  description: What the run that deleted them did not keep, and why.
  returned: always
  type: list
  elements: str
counts:
  description: How many, by what became of them.
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.undo import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
