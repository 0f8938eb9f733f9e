#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: finalizer
short_description: Remove named finalizers from objects that hang in Terminating
version_added: 0.1.0
description:
  - An object with a deletion timestamp stays until every finalizer is gone. When the controller that should remove one
    is itself gone, the object hangs for ever. This module takes the finalizers you name off, and nothing else.
  - It refuses while the controller behind a finalizer is proven alive, never touches finalizers that guard money or
    data without your explicit consent, and cannot lose a finalizer that somebody else adds at the same moment.
  - In check mode it plans the same way and lets the API server try every patch without keeping it.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.run
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  api_version:
    description:
      - Group and version of the kind, for example V(example.com/v1). Needed only where the kind's name is ambiguous.
      - A version that is not served is replaced by one that is, with a warning.
    type: str
  kind:
    description:
      - Which kind. Kind, plural, singular or short name, in any case, or V(plural.group).
      - A kind that is not installed is no error; there is nothing of it. A name close to an installed one is an error
        that suggests it.
    type: str
    required: true
  name:
    description:
      - One object. Without it, all objects of the kind in the namespace or, without O(namespace), in the cluster.
    type: str
  namespace:
    description:
      - The namespace to look in.
    type: str
  label_selector:
    description:
      - Only objects with these labels, for example V(app=shop,tier!=db).
    type: str
  finalizers:
    description:
      - Which finalizers to remove, by name or by shell glob such as V(example.com/*). A lone V(*) is refused.
    type: list
    elements: str
    required: true
  terminating_only:
    description:
      - Leave objects alone that are not being deleted.
    type: bool
    default: true
  grace:
    description:
      - Seconds since the deletion that the controller gets before we act. Objects younger than that are skipped with
        the reason, not waited for.
    type: int
    default: 0
  owner:
    description:
      - V(gone) refuses while the controller behind the finalizer is proven alive. The proof is a fresh Lease or a
        workload with available replicas that fits the finalizer's domain or the field manager that set it. For a
        finalizer of the kind's own domain it is also a running workload whose ServiceAccount may change that kind by
        a rule that names it.
      - A controller that cannot be found counts as gone here. One that wants to run and was changed less than a minute
        ago may be starting, and is waited for. V(any) does not look.
    type: str
    choices: [gone, any]
    default: gone
  allow_protected:
    description:
      - Allow removing finalizers that guard money or data, such as V(kubernetes.io/pvc-protection) or
        V(service.kubernetes.io/load-balancer-cleanup). Each must be named in full as well; a glob never takes one.
    type: bool
    default: false
notes:
  - The rights to list and patch the kind are needed. Rights to list Deployments, StatefulSets, DaemonSets and Leases
    are used for O(owner=gone); without them a warning says what could not be checked.
seealso:
  - name: Finalizers
    description: What they are for, in the Kubernetes documentation.
    link: https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: See what would happen to the Domains that hang in namespace shop
  sunset.kube.finalizer:
    api_version: ingress.example.com/v1
    kind: Domain
    namespace: shop
    finalizers: example.com/cleanup
  check_mode: true
  register: plan

- name: Free them, but only if the plan is still the same
  sunset.kube.finalizer:
    api_version: ingress.example.com/v1
    kind: Domain
    namespace: shop
    finalizers: example.com/cleanup
    plan_hash: "{{ plan.plan_hash }}"

- name: Give the controller five minutes, then free what it left, in the whole cluster
  sunset.kube.finalizer:
    kind: domains.ingress.example.com
    finalizers:
      - example.com/*
    grace: 300
    max_objects: 50

- name: Release a volume claim whose pod is known to be gone
  sunset.kube.finalizer:
    kind: PersistentVolumeClaim
    name: data-0
    namespace: shop
    finalizers: kubernetes.io/pvc-protection
    allow_protected: true
    owner: any
"""

RETURN = r"""
removed:
  description:
    - Objects that lost finalizers; in check mode, those that would. At most 200 of them.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: Which object.
      type: dict
      sample:
        api_version: ingress.example.com/v1
        kind: Domain
        namespace: shop
        name: web
        uid: 3f1e0a4e-4b0b-4f8e-9d0e-0f6a2f1f7c11
    finalizers:
      description: Which finalizers were removed.
      type: list
      elements: str
      sample: [example.com/cleanup]
    gone:
      description: Whether the object was gone with that.
      type: bool
      sample: true
kept:
  description:
    - Finalizers that fit O(finalizers) and stay, each with the reason. At most 200 of them.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: Which object.
      type: dict
    finalizer:
      description: Which finalizer.
      type: str
      sample: kubernetes.io/pvc-protection
    verdict:
      description: The reason as a word, one of V(keep), V(protected) and V(replaced).
      type: str
      sample: protected
    reason:
      description: Why it stays.
      type: str
      sample: the object is not being deleted; set terminating_only to false to release it all the same
survivors:
  description:
    - Objects that are still there, being deleted, after the named finalizers were removed or could not be.
  returned: success
  type: list
  elements: dict
  contains:
    api_version:
      description: Group and version.
      type: str
    kind:
      description: Kind.
      type: str
    namespace:
      description: Namespace, empty for cluster-scoped kinds.
      type: str
    name:
      description: Name.
      type: str
    uid:
      description: Identity.
      type: str
    finalizers:
      description: Finalizers that hold it.
      type: list
      elements: str
    deleting_for:
      description: Seconds since its deletion, by the API server's clock.
      type: int
    blocked_by:
      description: What holds it, as RV(sunset.kube.ranked_delete#module:survivors[].blocked_by) has it.
      type: list
      elements: dict
unmatched:
  description:
    - Always empty for this module.
  returned: success
  type: list
  elements: dict
plan:
  description:
    - What would be done, in steps with their objects.
  returned: in check mode
  type: list
  elements: dict
plan_hash:
  description:
    - Names the plan. The same objects and finalizers, with the same options on the same
      cluster, give the same hash. Give it as O(plan_hash) to be sure.
  returned: success
  type: str
  sample: 5d41402abc4b2a76
steps:
  description:
    - The one step of this module, with counts and seconds.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
      sample: finalizers
    rank:
      description: Its place.
      type: int
    total:
      description: Objects in it.
      type: int
    deleted:
      description: Objects that were gone afterwards.
      type: int
    released:
      description: Objects that lost finalizers.
      type: int
    kept:
      description: Finalizers that stayed.
      type: int
    seconds:
      description: How long it took.
      type: float
counts:
  description:
    - Objects looked at, planned, changed, failed, and finalizers kept by verdict.
  returned: success
  type: dict
  sample: {looked_at: 12, release: 3, removed: 3, gone: 3, failed: 0, keep: 1}
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
    - Requests sent to the API server, by verb, and the seconds it made us wait.
  returned: always
  type: dict
  sample: {list: 5, watch: 0, get: 2, delete: 0, patch: 3, post: 1, throttled_seconds: 0.0}
truncated:
  description:
    - Lists of this result that were cut to 200 entries, with their full length.
  returned: success
  type: dict
  sample: {removed: 4000}
evidence:
  description:
    - Folder on the controller with C(plan.json) and C(timeline.jsonl), complete.
  returned: when O(evidence_dir) is set
  type: str
"""

from ansible_collections.sunset.kube.plugins.module_utils.front import run_module
from ansible_collections.sunset.kube.plugins.module_utils.jobs.finalizer import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
