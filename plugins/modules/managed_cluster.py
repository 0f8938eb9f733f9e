#!/usr/bin/python

# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: managed_cluster
short_description: Take managed clusters off an Open Cluster Management hub, in order
version_added: 0.1.0
description:
  - Deletes everything a hub holds for a cluster - addons, then works by their cleanup priority, the agent's own work
    last, then the role bindings, then the cluster's namespace unless something keeps it, then the ManagedCluster
    itself. Each wave begins only when every object of the one before is gone.
  - Works beside a hub that cleans up by itself, and does what such a hub leaves undone. Works for a cluster whose
    ManagedCluster is gone already.
  - A cluster whose agent does not report cannot clean up behind itself. By default the task refuses it; nothing is
    orphaned without being told.
  - One cluster or fifty. Each has its own state; one that fails does not hold up the others.
extends_documentation_fragment:
  - sunset.kube.connection
  - sunset.kube.run
  - sunset.kube.attributes
  - sunset.kube.attributes.writes
options:
  name:
    description:
      - Name of the cluster. One of O(name), O(names) and O(label_selector) is needed.
    type: str
  names:
    description:
      - Names of several clusters.
    type: list
    elements: str
  label_selector:
    description:
      - All ManagedClusters with these labels.
    type: str
  state:
    description:
      - The only state there is.
    type: str
    choices: [absent]
    default: absent
  wait_for:
    description:
      - Kinds that must be gone from the cluster's namespace (cluster-scoped ones - of the cluster's name) before
        anything at all is done, the ManagedCluster's own deletion included.
      - Each as V(resource.version.group), V(group/version/resource) or a kind. For one that the server does not have,
        see O(wait_for_missing).
    type: list
    elements: str
  wait_for_missing:
    description:
      - What to do when a kind of O(wait_for) is not served. V(fail) refuses before anything is changed, as the name may
        be wrong and nothing would be waited for. V(ignore) warns and goes on - nothing of that kind can exist.
      - A kind whose API does not answer is an error in any case.
    type: str
    choices: [fail, ignore]
    default: fail
  cleanup:
    description:
      - Kinds to delete in the cluster's namespace, in this order, spelled as in O(wait_for).
      - Addons, then works, by default.
    type: list
    elements: str
  manifestworks:
    description:
      - V(all) deletes every work, V(addon_only) those of addons, V(none) no work. What is not deleted is waited for.
    type: str
    choices: [all, addon_only, none]
    default: all
  namespace:
    description:
      - V(auto) deletes the cluster's namespace when its labels say that it is one and nothing keeps it. V(delete) does
        not ask for the label. V(keep) keeps it.
      - It is always kept while it carries the label C(cluster.open-cluster-management.io/keep-upon-cluster-deletion) or
        the annotation C(open-cluster-management.io/retain-namespace), or holds addons, works, HostedClusters,
        ClusterDeployments, InfraEnvs, Cluster API clusters or running pods. The reason is in the result.
    type: str
    choices: [auto, keep, delete]
    default: auto
  on_unreachable:
    description:
      - What to do with a cluster whose agent does not report, or that the hub does not accept, while addons or works
        wait for that agent. V(fail) leaves it alone. V(wait) begins and waits for the agent.
      - V(force) takes the finalizers off after O(force_after) seconds, and lists what may remain on the cluster.
    type: str
    choices: [fail, wait, force]
    default: fail
  spoke_content:
    description:
      - V(orphan) tells the agent to leave on the cluster what works and addons have brought there.
    type: str
    choices: [delete, orphan]
    default: delete
  freeze:
    description:
      - Forbid new addons in the namespace while the cluster leaves, and new works too where its ManagedCluster is gone,
        with an admission policy that is removed at the end and expires by itself. See M(sunset.kube.freeze).
      - It begins when nothing of O(wait_for) is left, not before.
    type: bool
    default: true
  spoke:
    description:
      - How to reach the cluster itself. When the hub is clean, its agent (the Klusterlet) is deleted there, and what is
        left of it is listed. Only with one cluster.
    type: dict
    suboptions:
      kubeconfig:
        description: Path of a kubeconfig, or its content as a hash.
        type: raw
        required: true
      context:
        description: Its context, if not the current one.
        type: str
  force_after:
    description:
      - Seconds after an object's deletion before O(on_unreachable=force) takes its finalizers off; also how long a hub
        gets to finish the ManagedCluster when all else is gone.
    type: int
    default: 30
  concurrency:
    description:
      - How many clusters are dealt with at the same time. One that waits for somebody - at its gate, for its agent, for
        an addon's hook, for its namespace - lets another have its place meanwhile.
    type: int
    default: 10
seealso:
  - module: sunset.kube.freeze
  - module: sunset.kube.ranked_delete
author:
  - sunset.kube contributors (@sunset-kube)
"""

EXAMPLES = r"""
- name: What would go, if cluster edge-7 left the hub?
  sunset.kube.managed_cluster:
    name: edge-7
  check_mode: true

- name: Take it off the hub, after its applications are gone
  sunset.kube.managed_cluster:
    name: edge-7
    wait_for:
      - applications.v1alpha1.argoproj.io
    evidence_dir: ./evidence

- name: Clusters that burned down
  sunset.kube.managed_cluster:
    label_selector: site=hamburg
    on_unreachable: force
    concurrency: 20
"""

RETURN = r"""
clusters:
  description:
    - Each cluster with its C(phase) (V(gone) when done), whether it is C(reachable), the C(condition)
      C(ContentDeleteSuccess) computed from what is there, the hub's own C(hub_condition), whether C(hub_cleans_up)
      addons and works by itself, counts of what is C(remaining), what it C(waits_for), what became of its
      C(namespace), what C(may_remain_on_spoke), what was found on the C(spoke) itself, and the C(problem), if any.
    - C(hooks) are the pre-delete hooks of its addons, with the works that run them, their condition
      C(HookManifestCompleted) and their C(state) - V(waiting), V(finished) when their controller let the addon go, or
      V(forced).
  returned: always
  type: list
  elements: dict
  sample:
    - name: edge-7
      phase: gone
      condition: {type: ContentDeleteSuccess, status: "True", reason: NoResource, message: ""}
      hooks:
        - addon: metrics
          state: finished
          works: [addon-metrics-pre-delete]
          condition: {type: HookManifestCompleted, status: "True", reason: HookManifestIsCompleted, message: ""}
      namespace: {kept: true, gone: false, reason: it carries open-cluster-management.io/retain-namespace}
table:
  description:
    - The clusters again, as lines of a table for people, under a line that names the hub. Those that are not gone come
      first.
  returned: always
  type: list
  elements: str
  sample:
    - cluster https://api.example.com:6443 (context hub of kubeconfig ~/.kube/config)
    - "cluster  state  agent      on the hub  namespace  remarks"
    - "edge-7   gone   reachable  -           gone"
plan_hash:
  description: Hash of the plan, for O(plan_hash).
  returned: always
  type: str
plan:
  description: The steps with their objects.
  returned: in check mode
  type: list
  elements: dict
steps:
  description: The waves of all clusters and what came of them.
  returned: always
  type: list
  elements: dict
counts:
  description: Objects by verdict and outcome, and clusters.
  returned: always
  type: dict
kept:
  description: What is not deleted on purpose.
  returned: always
  type: list
  elements: dict
gone:
  description: What other clients deleted while the run was under way.
  returned: always
  type: list
  elements: dict
unmatched:
  description: Always empty; there for the sake of the other modules' results.
  returned: always
  type: list
  elements: dict
survivors:
  description: What should be gone and is not, with everything known about why, as
    RV(sunset.kube.ranked_delete#module:survivors) has it.
  returned: always
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
from ansible_collections.sunset.kube.plugins.module_utils.jobs.managed_cluster import JOB


def main() -> None:
    run_module(JOB)


if __name__ == "__main__":
    main()
