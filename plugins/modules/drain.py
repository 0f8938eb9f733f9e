#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: drain
short_description: Free everything an operator holds, before it is uninstalled
version_added: 0.1.0
description:
  - Operators put finalizers on objects, their own and other people's. Uninstall one without draining it, and these
    objects hang in Terminating for ever. This module takes the operator's finalizers off everything that belongs to one
    installation, kind by kind, in the order the product needs; it works while the operator runs and when it is gone.
  - Objects of users, such as Ingresses, Services and routes, lose the finalizer and stay. The operator's own objects
    are released too (O(policy=Retain)), or deleted so that the running operator cleans up behind them
    (O(policy=Delete)).
  - Only what belongs to this installation is touched - by ingress class, gateway class, parents, namespaces and the
    controller's labels. What cannot be told is reported, never guessed.
  - The anchor, the object that stands for the installation, is told first and goes last. Its status is read, never
    written.
  - The drain is complete when no object in the cluster carries the product's finalizers, whatever its kind is. Every
    kind that can be listed is looked at before the first change and once more at the end, as metadata. What carries a
    finalizer and is of a kind that the profile does not name is shown in the plan as C(not in the profile), released
    after all others, and never deleted. With O(instance.namespaces) only these namespaces are looked at.
  - A kind of the profile or of the product's own API groups that cannot be listed stops the task before the first
    change. Another kind that cannot be listed is named in RV(not_looked_at), with a warning. A time-out fails the task,
    with the names of what holds what.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.installation
  - sunset.kube.run
  - sunset.kube.run.waiting
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  profile:
    description:
      - What we know of the product. One of V(argo-cd), V(cert-manager), V(cnpg), V(crossplane), V(flux), V(istio),
        V(kyverno), V(longhorn), V(ngrok), V(rook), or a hash of your own.
      - A hash has the keys C(name), C(finalizers), C(user_kinds) and C(operator_kinds) (lists of C(group), C(kind) and
        maybe further C(finalizers) of that kind, in the order they are drained), C(anchor) (C(group), C(kind), and the
        paths C(policy), C(status), C(condition)), C(classes) (C(ingress_controllers), C(gateway_controllers)),
        C(labels) (C(controller_name), C(controller_namespace)), C(workloads) (label selectors of its controllers),
        C(finalized_by) (label selectors of those among them that take the finalizers off, if not all do; also as a key
        of one kind), C(external_ids) (kind to paths), C(own_policy), C(uses) (which kind needs which),
        C(annotate_before_delete) (kind to annotations without which the product refuses its deletion),
        C(refuse_delete_while) (list of C(group), C(kind), C(path), C(why), C(fix) and maybe C(name) - O(policy=Delete)
        is refused while such an object has a value there), C(notes) and C(checked) (list of C(version) and C(how), for
        people). One of C(operator_kinds) may have C(made_by_operator) (people never write one) and
        C(in_operator_namespace) (each installation has its own).
      - V(auto) changes nothing. It looks at the finalizers in the cluster and returns drafts of such hashes.
    type: raw
    required: true
  policy:
    description:
      - V(Retain) takes the finalizers off and deletes nothing. What exists outside the cluster stays, and is listed.
      - V(Delete) deletes the operator's own objects and waits until the running operator has cleaned up behind each.
        Refused where the controller that does this is not running, and where the profile knows that more than the
        product's own would be lost - with V(longhorn), while a backup target is configured. It runs where a workload of
        the profile's labels (C(finalized_by), else C(workloads)) or of the controller's name has available replicas, or
        where it renews a Lease - one that is named after the controller (C(edge), C(edge-leader),
        C(edge-leader-election), C(edge-lock)) or after the domain of the finalizer, one that a pod of the controller
        holds, or one that is renewed by the program which has set the finalizers. A Lease whose
        C(leaseDurationSeconds) are over does not count, and neither does one that a workload holds which was scaled to
        0.
      - Without it, what the anchor says, else V(Retain). When the running operator would follow another policy, the
        anchor's is set to this one first.
    type: str
    choices: [Retain, Delete]
  remove_anchor:
    description:
      - Delete the anchor. A running operator drains by itself when it sees that.
    type: bool
    default: true
  only_with_finalizer:
    description:
      - With O(policy=Delete), leave objects of the operator's kinds alone that do not carry its finalizer.
    type: bool
    default: true
  force:
    description:
      - Consent to strip the finalizers of objects that stay although they are being deleted. What exists outside the
        cluster may then be left behind; the result lists it. Finalizers that guard money or data need O(force_allow).
    type: bool
    default: false
  force_after:
    description:
      - Seconds after the deletion of an object before O(force) strips its finalizers.
    type: int
    default: 30
  force_deny:
    description:
      - Finalizers that O(force) never strips, by name or glob.
    type: list
    elements: str
  force_allow:
    description:
      - Finalizers that guard money or data, by their full name, that O(force) may strip all the same.
    type: list
    elements: str
notes:
  - The rights to list the profile's kinds and all other kinds of the product's API groups everywhere (or in
    O(instance.namespaces)) and to patch or delete what is found are needed; they are asked for before the first change.
    The right to list every other kind lets the task find finalizers there, too.
  - The anchor is not counted in RV(progress).
seealso:
  - module: sunset.kube.finalizer
  - module: sunset.kube.ranked_delete
  - module: sunset.kube.freeze
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: What would draining the ngrok operator do?
  sunset.kube.drain:
    profile: ngrok
  check_mode: true
  register: plan

- name: Drain it, exactly as planned; endpoints and domains in the ngrok account stay
  sunset.kube.drain:
    profile: ngrok
    policy: Retain
    plan_hash: "{{ plan.plan_hash }}"
    evidence_dir: ./evidence

- name: Drain it and let the running operator delete everything it made outside the cluster
  sunset.kube.drain:
    profile: ngrok
    policy: Delete

- name: One of two installations
  sunset.kube.drain:
    profile: ngrok
    anchor:
      name: ngrok-a
      namespace: ngrok-a
    instance:
      namespaces: [team-a]
      ingress_classes: [ngrok-a]

- name: A product of our own
  sunset.kube.drain:
    profile:
      name: shop
      finalizers: [shop.example.com/cleanup]
      user_kinds:
        - {group: networking.k8s.io, kind: Ingress}
      operator_kinds:
        - {group: shop.example.com, kind: Basket}
        - {group: shop.example.com, kind: Store}
      workloads: [app.kubernetes.io/name=shop-operator]

- name: Draft a profile from what is in the cluster
  sunset.kube.drain:
    profile: auto
  register: found
"""

RETURN = r"""
drain_status:
  description:
    - V(completed), V(failed), or V(pending) in check mode.
  returned: always
  type: str
  sample: completed
progress:
  description: Objects that are free or gone, of all that had to be.
  returned: when a plan was made
  type: str
  sample: 7/7
policy:
  description: The policy that was followed.
  returned: when a plan was made
  type: str
  sample: Retain
anchor:
  description: The anchor, its own policy, and how far the operator's own drain was, whichever form of status it writes.
  returned: when a plan was made
  type: dict
controller:
  description: Who looks after the finalizers, and whether it is V(alive), V(gone) or V(unknown), with the reason.
  returned: when a plan was made
  type: dict
errors:
  description: What went wrong, object by object, at most 20 texts. RV(survivors) has more.
  returned: when a plan was made
  type: list
  elements: str
kinds:
  description:
    - Every kind of the profile, and others with the finalizer, with its C(role) (V(user), V(operator), or V(unknown)
      where it is not in the profile), its C(state) (V(served), V(not installed),
      V(not served), V(terminating), V(group unavailable), V(forbidden)) and its counts.
  returned: when a plan was made
  type: list
  elements: dict
not_looked_at:
  description:
    - Kinds and API versions outside the product's own groups that could not be listed, with the reason. Objects there
      may carry a finalizer of the product.
  returned: when a plan was made
  type: list
  elements: str
  sample:
    - "secrets: secrets is forbidden: User \"tenant\" cannot list resource \"secrets\""
table:
  description:
    - The plan again, as lines for people - the cluster, the policy, what becomes of each kind and object, and what
      stays.
  returned: when a plan was made
  type: list
  elements: str
  sample:
    - cluster https://api.example.com:6443 (context prod of kubeconfig ~/.kube/config)
    - policy Retain
    - "Domain: 0 to delete, 1 to let go"
    - "  let go shop/web, without k8s.ngrok.com/finalizer"
retained:
  description:
    - Objects that stay, or whose part outside the cluster stays, with the reason and the ids known of that part.
  returned: when a plan was made
  type: list
  elements: dict
stopped:
  description: Workloads that were scaled to 0 and stay so, with the replicas they had. In check mode those that would
    be.
  returned: when a plan was made
  type: list
  elements: dict
came_back:
  description: How often a finalizer had to be taken off again.
  returned: when a plan was made
  type: int
forecast_seconds:
  description: How long it should take when every controller is prompt.
  returned: when a plan was made
  type: int
draft_profiles:
  description: Drafts, one for each domain of finalizers found.
  returned: with O(profile=auto)
  type: list
  elements: dict
unreadable:
  description: Kinds that could not be looked at for the drafts.
  returned: with O(profile=auto)
  type: list
  elements: str
plan_hash:
  description: Hash of the plan, for O(plan_hash).
  returned: when a plan was made
  type: str
plan:
  description: The steps with their objects.
  returned: in check mode
  type: list
  elements: dict
steps:
  description: The steps and what came of them.
  returned: when a plan was made
  type: list
  elements: dict
counts:
  description: Objects by verdict and outcome.
  returned: when a plan was made
  type: dict
kept:
  description: What carries the finalizer and is not touched, with the verdict and the reason.
  returned: when a plan was made
  type: list
  elements: dict
gone:
  description: What other clients deleted while the run was under way.
  returned: when a plan was made
  type: list
  elements: dict
lost:
  description: What was to be kept and is not there at the end. Never empty without a failure.
  returned: when a plan was made
  type: list
  elements: dict
unmatched:
  description: Objects of which it could not be told whose they are.
  returned: when a plan was made
  type: list
  elements: dict
survivors:
  description: What should be free or gone and is not, with everything known about why, as
    RV(sunset.kube.ranked_delete#module:survivors) has it.
  returned: when a plan was made
  type: list
  elements: dict
truncated:
  description: Lists that were cut to 200 entries, with their full length. The files of O(evidence_dir) are complete.
  returned: always
  type: dict
undo_command:
  description: The command that undoes this run, as it is shown at its end. Without secrets of the connection.
  returned: when the run left an undo bundle
  type: str
  sample: ansible-playbook sunset.kube.undo -e bundle=/srv/evidence/20261117T013326.578250Z-uninstall
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
evidence:
  description: Where the files of this run are.
  returned: with O(evidence_dir)
  type: str
"""

from ansible_collections.sunset.kube.plugins.module_utils.front import run_module
from ansible_collections.sunset.kube.plugins.module_utils.jobs.drain import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
