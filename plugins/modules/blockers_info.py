#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: blockers_info
short_description: Tell what keeps objects from being deleted, who should act, and what to do next
version_added: 0.1.0
description:
  - For a namespace, an object, a kind, the members of a release, or everything that is being deleted, it tells what
    holds each object, who should let it go, whether that one is alive, and what is lost if it is forced.
  - Finalizers, with their owner, what they guard and what to do instead of removing them.
  - What a Namespace or CustomResourceDefinition says of its own end, dependants, pods that use a volume claim, claims
    bound to a volume, Usages of Crossplane, and PodDisruptionBudgets that let no pod be evicted.
  - Admission and conversion webhooks with nobody behind them, and API groups that do not answer.
  - What the API server would say to the next step. Which right you lack, which admission policy or webhook refuses it,
    and which fields of an object break its own schema.
  - Argo CD, Flux and their like that bring back what goes, and circles in which things wait for each other.
  - The number of requests depends on how many kinds there are, not on how many objects. Changes nothing.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.members.optional
  - sunset.kube.attributes
  - sunset.kube.attributes.reads
options:
  api_version:
    description:
      - Group and version of the kind. Needed only where the kind's name is ambiguous.
    type: str
  kind:
    description:
      - Which kind. Kind, plural, singular or short name, in any case, or V(plural.group). Alone, all its objects.
      - V(Namespace) with a O(name) is the same as O(namespace).
    type: str
  name:
    description:
      - One object. It is shown whether it is being deleted or not.
    type: str
  namespace:
    description:
      - With O(kind), where to look. Alone, the namespace and everything in it.
    type: str
  label_selector:
    description:
      - Only objects of the kind with these labels, for example V(app=shop,tier!=db).
    type: str
  dry_run:
    description:
      - Whether the API server may be asked, by a dry run of the removal of a finalizer or of a deletion, if it would
        refuse that. At most 20 objects are tried, one of each sort first, and only where you have the right to.
      - A dry run goes through admission and validation, and nothing is kept. It shows in the audit log as a patch or
        delete with C(dryRun=All). With V(false) nothing but reads and questions about your rights are sent.
    type: bool
    default: true
  parallel:
    description:
      - How many requests may be under way at once, 64 at most.
    type: int
    default: 48
  evidence_dir:
    description:
      - Directory on the controller. Each run adds a folder with a report of what was found, for browsers, tickets and
        pipelines (C(report.html), C(report.md), C(junit.xml)). In C(report.html) there is a picture of what waits for
        what. C(result.json) has the outcome in one word, V(blocked) where something hangs. C(latest) leads to the
        newest folder.
      - Cannot be used with C(async).
    type: path
notes:
  - An owner is V(alive) by a fresh Lease, by available replicas of a workload, or by a webhook of the kind that has
    ready endpoints. Workloads are recognised by name, by the field manager that set the finalizer, by the catalogue of
    known finalizers, and where the finalizer is of the kind's own domain by the rights of their ServiceAccounts and the
    Helm release of the definition.
  - An owner is V(gone) only if everything that could speak against it was looked at. A workload that lost its last
    replica or was changed less than a minute ago is V(unknown). Whoever was not found is V(unknown), too, except for
    products that always run in the cluster of their objects, cert-manager for example.
  - Without O(namespace), O(kind) and O(members) it looks at everything in the cluster that is being deleted.
  - What may not be listed, or does not answer, is named under RV(unreadable); it does not end the task.
  - Where the task is local, RV(text) is also shown while the task runs.
seealso:
  - module: sunset.kube.finalizer
  - module: sunset.kube.ranked_delete
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: Why does this namespace not go?
  sunset.kube.blockers_info:
    namespace: shop

- name: And this object?
  sunset.kube.blockers_info:
    kind: domains.shop.example.com
    name: web
    namespace: shop

- name: Would anything of this release hang?
  sunset.kube.blockers_info:
    members:
      helm: {release: shop, namespace: shop}
  register: shop

- name: Everything in the cluster that hangs
  sunset.kube.blockers_info:
  register: hanging
"""

RETURN = r"""
title:
  description:
    - What was asked about, in words.
  returned: success
  type: str
missing:
  description:
    - Why there is nothing to tell, for example because there is no such namespace; empty otherwise.
  returned: success
  type: str
looked_at:
  description:
    - How many objects the answer is about.
  returned: success
  type: int
blockers:
  description:
    - Objects that are being deleted and still there, objects that were asked for by name, and objects that nobody
      would be left to let go. At most 200 of them.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: Which object.
      type: dict
    deleting_for:
      description: Seconds since its deletion was asked for; null if it is not being deleted.
      type: int
    finalizers:
      description: What holds it.
      type: list
      elements: dict
      contains:
        name:
          description: Name of the finalizer.
          type: str
        owner:
          description: Who should remove it, as far as that can be told.
          type: str
        alive:
          description: V(alive), V(gone) or V(unknown).
          type: str
        why:
          description: By what that is known.
          type: str
        meaning:
          description: What it guards; empty if nobody has described it.
          type: str
        danger:
          description: What is lost if it is removed by hand. V(nothing), V(leftovers), V(money), V(data),
            V(bookkeeping) or V(unknown).
          type: str
        protected:
          description: Whether it is only ever removed with explicit consent.
          type: bool
        instead:
          description: What to do rather than remove it by hand; empty if nobody has described it.
          type: str
    causes:
      description: Everything else that keeps it.
      type: list
      elements: dict
      contains:
        what:
          description: V(condition), V(content), V(instances), V(pod), V(claim), V(dependant), V(usage), V(budget),
            V(webhook), V(conversion), V(api service), V(rights), V(policy), V(schema), V(refused), V(gitops), V(grace),
            V(node), V(not deleted), V(spec finalizer) or V(controller).
          type: str
        text:
          description: For people.
          type: str
        suggestion:
          description: What to do about it; may be empty.
          type: str
        certain:
          description: Whether it is in the way now, or only may be.
          type: bool
    may_stay:
      description: Whether anything speaks for it that it hangs, or would hang. An owner that is alive does not.
      type: bool
    suggestion:
      description: The first thing to do about this object.
      type: str
obstacles:
  description:
    - Webhooks, converters and API groups that would stop deletes and patches of what was looked at, whoever sends
      them.
  returned: success
  type: list
  elements: dict
deadlocks:
  description:
    - Circles in which things wait for each other, each with its objects, a sentence for each step, the command that
      cuts it at the smallest cost, and what is lost by that.
  returned: success
  type: list
  elements: dict
brought_back_by:
  description:
    - GitOps tools and the like that own some of it, each with an example, whether it brings that back by itself, and
      how to make it wait.
  returned: success
  type: list
  elements: dict
next_steps:
  description:
    - What to do next, in the order that helps most, as commands where there is one. What comes after C(or) is to be
      done in place of what stands before it, not after it.
  returned: success
  type: list
  elements: str
unreadable:
  description:
    - What could not be looked at, and why. Something may be hidden there.
  returned: success
  type: list
  elements: str
text:
  description:
    - All of it as a tree of one screen, line by line. The first line names the cluster.
  returned: success
  type: list
  elements: str
evidence:
  description: The folder with the report.
  returned: if O(evidence_dir) is given
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.blockers_info import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
