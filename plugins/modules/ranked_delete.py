#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ranked_delete
short_description: Delete a release step by step, each step only after the one before is really gone
version_added: 0.1.0
description:
  - Takes what a source names, be it a Helm release, a kapp application, manifests, labels or a whole namespace, and
    deletes it in the order its owner wants. A step begins only when every object of the step before is gone, by its
    uid.
  - Without an order of your own, namespaced objects go first, then cluster-scoped ones, then definitions; custom
    resources before their operator, content before its namespace, webhook configurations before their backends.
  - What carries a keep marker of Helm, Argo CD, Flux, kapp, cli-utils or ours, belongs to somebody else, or is part
    of the cluster itself stays, and the result says why.
  - In check mode the API server tries every delete without keeping it.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.members
  - sunset.kube.run
  - sunset.kube.run.waiting
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  state:
    description:
      - V(absent) deletes all members. V(pruned) deletes those that O(desired) does not name any more, and leaves the
        source's own record alone.
    type: str
    choices: [absent, pruned]
    default: absent
  desired:
    description:
      - With O(state=pruned), the manifests that shall stay, in the form of O(members.manifests).
    type: raw
  deletion_groups:
    description:
      - The order as a list of groups, which replaces the default. Each has exactly one of C(predefinedResourceGroup)
        (V(namespaced-resources), V(cluster-scoped-resources), V(crds) or V(empty), plain or as C(type) of a
        dictionary), C(resources) (types with C(group), C(version), C(kind)) or C(customResourceGroup) (with
        C(resources) of C(apiVersion) and C(kind), and C(deleteAllResources)).
      - A type with C(selector.all=true), or a group with C(deleteAllResources), takes every object of the type,
        member or not, and goes on until no new one appears.
      - Every group may have C(forceDelete), C(names), C(namespaces) (globs), C(labelSelector), C(exclude) (a list
        of types), C(timeout), C(beforeDelete), C(name), and C(targetName), which names another context of the
        kubeconfig. Options about one server, such as O(host) and O(api_key), cannot be given together with it.
      - Members that no group takes stay and are listed in RV(unmatched).
    type: list
    elements: dict
  deletion_order_rules:
    description:
      - The order as rules with C(deletionRank) and C(types), lower ranks first. The ranks 100 (namespaced), 200
        (cluster-scoped) and 300 (definitions) are always there and take what no rule names; C(skip) leaves one out.
      - Rules may have what groups may have.
    type: list
    elements: dict
  deletion_groups_during_update:
    description:
      - The order for O(state=pruned), in the form of O(deletion_groups). Types beyond the members are not allowed
        there.
    type: list
    elements: dict
  order_annotations:
    description:
      - Annotations of other tools that order the objects inside a step. V(kapp) are its change rules about deleting,
        V(argocd) its sync waves, the last wave first. C(config.kubernetes.io/depends-on) always counts.
    type: list
    elements: str
    choices: [kapp, argocd]
  force_after:
    description:
      - In groups with C(forceDelete), seconds after the deletion until grace periods are cut short and finalizers are
        stripped. V(0) does it at once.
    type: int
    default: 30
  force_deny:
    description:
      - Finalizers that are never stripped, names or globs.
    type: list
    elements: str
  force_allow:
    description:
      - Finalizers that guard money or data and may be stripped after all, by full name.
    type: list
    elements: str
  on_timeout:
    description:
      - What to do when objects are still there at the end of O(timeout) or of a step's own. V(continue) lists them
        and goes on with the next step.
      - With V(continue) every step without a timeout of its own gets an equal share of the time that is left when it
        begins, and so does every wave of a step, so that what is stuck does not take the time of what comes after it.
        Time that a step does not need is left for the later ones. Nothing is forced in a share that is shorter than
        O(force_after).
    type: str
    choices: [fail, continue]
    default: fail
  foreign_instances:
    description:
      - What to do with a CustomResourceDefinition or a Namespace that would take objects with it that the plan does
        not show. V(keep) leaves it.
      - It is looked into for the plan, and once more right before it is deleted. What came in between holds it back
        with V(keep), and fails the run with V(refuse).
      - Something kept, by a keep marker for example, holds it back with V(cascade), too.
    type: str
    choices: [refuse, cascade, keep]
    default: refuse
  keep_markers:
    description:
      - Whether marks such as C(helm.sh/resource-policy=keep) or C(sunset.dev/keep=true) are honoured.
    type: bool
    default: true
  ownership:
    description:
      - Whose the objects are. What the release metadata of Helm, kapp, Flux, Argo CD, OLM, an ApplySet or an inventory
        names, the live object must confirm by its own marks, because anybody who may write Secrets or ConfigMaps in one
        namespace can write such metadata.
      - V(check) keeps objects that do not carry the source's mark any more, or carry another's. An object that only the
        metadata names is kept if it is cluster-scoped or in another namespace than the release; inside that
        namespace it is deleted, and listed in RV(unconfirmed). A definition from a chart's C(crds/) is kept if another
        Helm release has it as well, or if this cannot be seen.
      - V(ignore) deletes them all the same.
    type: str
    choices: [check, ignore]
    default: check
  missing:
    description:
      - What to do when the source has no record. A second run looks exactly like that, so the default is a warning.
    type: str
    choices: [warn, fail]
    default: warn
  delete_namespace:
    description:
      - With O(members.namespace), delete the Namespace as well.
    type: bool
    default: false
  propagation_policy:
    description:
      - How the API server treats objects that the deleted ones own. Those that we find are deleted directly.
      - A kept object whose owners are all deleted would be deleted with them. Its owner references are removed before,
        which the plan shows (C(detach)) and which needs the permission to patch it.
    type: str
    choices: [Background, Foreground, Orphan]
    default: Background
  grace_period_seconds:
    description:
      - Grace period of every delete, where the kind has one.
    type: int
  finalize_namespaces:
    description:
      - Take the last hold off a Namespace that stays after O(force_after), once it is proven that nothing at all is
        left in it.
    type: bool
    default: false
  undo_vault_password:
    description:
      - With O(evidence_dir), keep deleted Secrets too, in C(undo/secrets.vault), encrypted by ansible-vault with this
        password. Works where the task runs on the controller; elsewhere Secrets are left out.
    type: str
  before_delete:
    description:
      - What is done to the objects of a step before its first delete.
    type: dict
    suboptions:
      annotate:
        description: Annotations to set.
        type: dict
      patch:
        description: A merge patch.
        type: dict
      scale:
        description: Number of replicas, for workloads.
        type: int
seealso:
  - module: sunset.kube.members_info
  - module: sunset.kube.finalizer
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Delete a Helm release, custom resources before their operator
  sunset.kube.ranked_delete:
    members:
      helm: {release: shop, namespace: shop}

- name: The same, with an order of our own, forcing what hangs
  sunset.kube.ranked_delete:
    members:
      helm: {release: shop, namespace: shop}
    deletion_order_rules:
      - deletionRank: 50
        types:
          - {group: shop.example.com, version: v1, kind: orders, selector: {all: true}}
        forceDelete: {enabled: true}
      - deletionRank: 300
        skip: true
    force_after: 60
    evidence_dir: ./evidence

- name: Empty a namespace and delete it
  sunset.kube.ranked_delete:
    members: {namespace: shop}
    delete_namespace: true

- name: Delete what is no longer in our manifests
  sunset.kube.ranked_delete:
    members:
      kapp: {app: shop, namespace: shop}
    state: pruned
    desired: [manifests/]
"""

RETURN = r"""
source:
  description:
    - What O(members) names, in words.
  returned: success
  type: str
  sample: Helm release shop/shop
steps:
  description:
    - What became of each step.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
      sample: namespaced resources
    rank:
      description: Its rank or place.
      type: int
    total:
      description: Objects in it.
      type: int
    deleted:
      description: Objects that this run deleted, with those that the garbage collector deleted because of it.
      type: int
    gone:
      description: Objects that other clients deleted.
      type: int
    released:
      description: Objects whose finalizers were stripped.
      type: int
    kept:
      description: Objects that stay on purpose.
      type: int
    seconds:
      description: How long it took.
      type: float
counts:
  description:
    - Objects by verdict, and what came of them.
  returned: success
  type: dict
  sample: {delete: 12, keep: 1, deleted: 12, released: 0, survivors: 0, refused: 0, detached: 0, gone: 0, lost: 0}
kept:
  description:
    - Objects that are kept on purpose, each once, with verdict and reason. They were there, with the same uid, at the
      end of the run.
  returned: success
  type: list
  elements: dict
gone:
  description: What other clients deleted while the run was under way.
  returned: success
  type: list
  elements: dict
lost:
  description: What was to be kept and is not there at the end. Never empty without a failure.
  returned: success
  type: list
  elements: dict
unmatched:
  description:
    - Members that no step takes.
  returned: success
  type: list
  elements: dict
outside_namespace:
  description:
    - What of the plan lies outside of the namespace of the release, dependants and release metadata left out.
  returned: success
  type: dict
  contains:
    cluster_scoped:
      description: Number of cluster-scoped objects.
      type: int
    namespaces:
      description: Other namespaces, with the number of objects in each.
      type: dict
unconfirmed:
  description:
    - Objects of the plan that nothing but the release metadata names, each with C(object) and C(reason).
  returned: success
  type: list
  elements: dict
survivors:
  description:
    - Objects that should be gone and are not, each with RV(survivors[].blocked_by).
  returned: success
  type: list
  elements: dict
  contains:
    finalizers:
      description: Finalizers that hold it.
      type: list
      elements: str
    deleting_for:
      description: Seconds since its deletion, by the API server's clock.
      type: int
    blocked_by:
      description:
        - Why it stays, each with C(what), C(text) and a C(suggestion), for finalizers also C(finalizer), C(owner) and
          C(alive). C(what) is V(finalizer), V(refused), V(webhook), V(blind) for what could not be looked at,
          V(unknown), or a cause as RV(sunset.kube.blockers_info#module:blockers[].causes[].what) has it.
      type: list
      elements: dict
plan:
  description:
    - Steps with their objects, verdicts and waves.
  returned: in check mode
  type: list
  elements: dict
plan_hash:
  description:
    - Names the plan. Give it as O(plan_hash) to be sure that what you saw is what is done.
  returned: success
  type: str
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
  description:
    - Requests sent to the API server, by verb, and the seconds it made us wait.
  returned: always
  type: dict
truncated:
  description:
    - Lists of this result that were cut to 200 entries, with their full length.
  returned: success
  type: dict
evidence:
  description:
    - Folder on the controller with C(plan.json), C(timeline.jsonl), C(report.md), C(report.html), C(junit.xml) and
      C(undo/).
  returned: when O(evidence_dir) is set
  type: str
"""

from ansible_collections.sunset.kube.plugins.module_utils.front import run_module
from ansible_collections.sunset.kube.plugins.module_utils.jobs.ranked_delete import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
