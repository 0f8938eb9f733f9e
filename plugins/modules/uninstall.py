#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: uninstall
short_description: Take a whole application out of a cluster, its operator included
version_added: 0.1.0
description:
  - Finds out what belongs to the application, from the record of whoever deployed it, and removes all of it in the one
    order that does not get stuck. Custom resources go while their operator still runs, webhooks before their backends,
    definitions after their instances, the record last.
  - Looks before it writes. The preflight stops, with the one thing to decide, where a controller is gone whose
    finalizers hold something, where objects of others would go along, where a dead webhook would refuse our writes, or
    where a right is missing. Nothing is changed then.
  - Products we have a profile for (see M(sunset.kube.drain)) are drained first, when they are in the plan.
  - Looks again afterwards, at every kind in the cluster, for anything that still bears a trace of the application - its
    groups, labels and marks, finalizers, role bindings, webhooks, API services and Leases.
  - May be stopped at any time and run again; it goes on where it stopped.
  - Most people want the playbook C(sunset.kube.uninstall), which shows the plan and asks before it runs this.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.installation
  - sunset.kube.run
  - sunset.kube.run.waiting
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  release:
    description:
      - Name of the Helm release, kapp application, Flux object, Argo CD Application or OLM Subscription.
    type: str
  namespace:
    description:
      - Namespace of the O(release). Alone, everything in this namespace is taken.
    type: str
  source:
    description:
      - Whose record says what belongs to the application. V(auto) takes the one that is there, and asks if there are
        several. With O(manifests) these, without O(release) the whole O(namespace).
      - Neither the chart nor the tool that installed it is needed.
    type: str
    choices: [auto, helm, kapp, flux, argocd, olm, manifests, namespace]
    default: auto
  manifests:
    description:
      - Manifests that name the objects. A list of paths, directories, globs and inline documents. O(namespace) is for
        objects that name none.
    type: raw
  profile:
    description:
      - The product to drain before the deletion. V(auto) drains every product we know that is in the plan, V(none)
        drains nothing. Otherwise a name or a hash, as in M(sunset.kube.drain).
    type: raw
    default: auto
  policy:
    description:
      - For the drain. V(Retain) takes the finalizers off, and what exists outside the cluster stays. V(Delete) lets the
        running operator clean up outside the cluster.
      - Without it, what the product's anchor says, else V(Retain).
    type: str
    choices: [Retain, Delete]
  crds:
    description:
      - Whether the application's CustomResourceDefinitions go.
    type: str
    choices: [delete, keep]
    default: delete
  instances:
    description:
      - Custom resources that are not part of the application, but would go with its definitions.
      - V(refuse) stops and names them. V(delete) puts them into the plan, before their operator. V(keep) keeps them and
        their definitions.
    type: str
    choices: [refuse, delete, keep]
    default: refuse
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
  volumes:
    description:
      - PersistentVolumeClaims that no record or manifest names. They hold data. Those that the application's
        StatefulSets made, those that something in the plan owns, and all that are found in a whole O(namespace).
      - V(keep) leaves them. A namespace with such a claim in it is not deleted, O(delete_namespace) is refused.
      - A claim that its owner would take along is detached from it first, which the plan shows. Claims that a Pod owns
        are ephemeral volumes and are deleted with it.
    type: str
    choices: [keep, delete]
    default: keep
  routes:
    description:
      - Ingresses and other routes of the application. V(last) takes them after everything else that has a namespace, so
        that a maintenance page in front of them is seen until then. V(keep) leaves them, and a page in front of them.
    type: str
    choices: [delete, last, keep]
    default: delete
  delete_namespace:
    description:
      - Delete O(namespace) itself, after the record. Refused while it holds anything that is not in the plan.
    type: bool
    default: false
  force:
    description:
      - Consent to strip the finalizers of objects that stay although they are being deleted. What their controller
        would have cleaned up outside the cluster stays. Finalizers that guard money or data need O(force_allow).
    type: bool
    default: false
  force_after:
    description:
      - Seconds after the deletion of an object before O(force) strips its finalizers.
    type: int
    default: 30
  force_allow:
    description:
      - Finalizers that guard money or data, by their full name, that O(force) may strip all the same.
    type: list
    elements: str
  gitops:
    description:
      - What to do when a GitOps tool outside the plan would bring objects back. V(fail) stops and says how to make it
        wait, V(ignore) goes on.
    type: str
    choices: [fail, ignore]
    default: fail
  missing:
    description:
      - What it means that no such release, or namespace, is there. V(ok) has nothing to do, so that a second run is
        green. V(fail) is an error, as the name may be wrong. Both name the releases that are there.
      - The role and the playbook have V(fail) with C(confirm=prompt), else V(ok).
    type: str
    choices: [ok, fail]
    default: ok
  on_leftovers:
    description:
      - Whether the task warns or fails when something of the application is left at the end, see RV(leftovers). What
        is in RV(possible_leftovers) never makes it fail.
    type: str
    choices: [warn, fail]
    default: warn
  stages:
    description:
      - What to do. V(preflight) looks for obstacles, V(drain) frees what operators hold, V(delete) deletes, V(verify)
        looks for leftovers.
    type: list
    elements: str
    choices: [preflight, drain, delete, verify]
    default: [preflight, drain, delete, verify]
  undo_vault_password:
    description:
      - Password for the Secrets in the undo bundle of O(evidence_dir). Without it they are left out. Only when the task
        runs on the controller.
    type: str
notes:
  - Rights to list every kind are needed for the last look; kinds that could not be seen are named in RV(unseen).
seealso:
  - module: sunset.kube.ranked_delete
  - module: sunset.kube.drain
  - module: sunset.kube.undo
  - module: sunset.kube.members_info
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: What would it do?
  sunset.kube.uninstall:
    release: shop
    namespace: shop
  check_mode: true
  register: plan

- name: Do exactly that, and keep the proof
  sunset.kube.uninstall:
    release: shop
    namespace: shop
    plan_hash: "{{ plan.plan_hash }}"
    evidence_dir: ./evidence

- name: With everything that hangs on it - namespace, volumes, custom resources of its users
  sunset.kube.uninstall:
    release: shop
    namespace: shop
    delete_namespace: true
    volumes: delete
    instances: delete

- name: The operator is gone, and its finalizers hold everything
  sunset.kube.uninstall:
    release: shop
    namespace: shop
    force: true

- name: What these manifests brought
  sunset.kube.uninstall:
    manifests: [deploy/]
    namespace: shop
"""

RETURN = r"""
plan_hash:
  description: Hash of the whole plan, drains included, for O(plan_hash).
  returned: when a plan was made
  type: str
source:
  description: Whose record was followed.
  returned: when a plan was made
  type: str
  sample: Helm release shop/shop
missing:
  description: What was not found, if the release is not there. Leftovers are looked for all the same.
  returned: when a plan was made
  type: str
profiles:
  description: Products that are drained.
  returned: when a plan was made
  type: list
  elements: str
preflight:
  description:
    - What was checked before the first write, each with C(check), C(level) (V(ok), V(warn), V(stop)), C(text) and
      C(next_step).
  returned: when a plan was made
  type: list
  elements: dict
text:
  description:
    - Plan or outcome as a tree, line by line. The first line names the cluster. Shown on the terminal as well when the
      task is local.
  returned: when a plan was made
  type: list
  elements: str
total:
  description: Objects the plan touches.
  returned: when a plan was made
  type: int
forecast:
  description: Seconds it should take when every controller is prompt.
  returned: when a plan was made
  type: int
outside_namespace:
  description:
    - What of the plan lies outside of the namespace of the release, dependants and release metadata left out.
  returned: when a plan was made
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
  returned: when a plan was made
  type: list
  elements: dict
leftovers:
  description:
    - What is left, each with C(object), C(trace), C(why) and, where no more than a deletion is needed, the C(command)
      for it.
    - With the C(trace) V(made) it is something that a program of the application made - the program is its only field
      manager, and a label says the same, or it lies in the namespace of the program.
  returned: when a plan was made
  type: list
  elements: dict
possible_leftovers:
  description:
    - What only bears the name of the application, in the form of RV(leftovers). Read the reason before you delete one -
      it may belong to another application.
  returned: when a plan was made
  type: list
  elements: dict
routes:
  description:
    - Routes that a maintenance page may stand in front of, in the form that
      O(sunset.kube.maintenance#module:targets) takes. Those that go, and with O(routes=keep) those that stay only
      because of it. Routes of others, and those with a keep marker, are not among them.
  returned: when a plan was made
  type: list
  elements: dict
releases:
  description:
    - What is installed, where RV(missing) says that the wanted release is not there - in its namespace, or in the whole
      cluster if nothing is in that namespace. As far as one may look.
  returned: when a plan was made
  type: list
  elements: str
  sample: [Helm release shop/shop]
verified:
  description: What the last look came to, in one sentence. Empty if nobody looked.
  returned: when a plan was made
  type: str
unseen:
  description: What could not be looked at for leftovers.
  returned: when a plan was made
  type: list
  elements: str
retained:
  description:
    - Objects that stay, or whose part outside the cluster stays, with the reason and the ids known of that part.
  returned: when a plan was made
  type: list
  elements: dict
stopped:
  description:
    - Workloads of drained operators that were scaled to 0, with the replicas they had. They stay so when a later stage
      fails. In check mode those that would be.
  returned: when a plan was made
  type: list
  elements: dict
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
  description: What belongs to it and is kept on purpose, each once, with the verdict and the reason. It was there, with
    the same uid, at the end of the run.
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
  description: What no step takes.
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.uninstall import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
