# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which of several installations of a product is meant, and how its drain keeps it quiet."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  anchor:
    description:
      - The object that stands for the installation. Found by itself when there is one; to be named when there are more.
    type: dict
    suboptions:
      api_version:
        description: Group and version, only with an anchor kind of your own.
        type: str
      kind:
        description: Kind, only with an anchor kind of your own.
        type: str
      name:
        description: Its name.
        type: str
      namespace:
        description: Its namespace.
        type: str
  instance:
    description:
      - What belongs to the installation, where there are several. Needed when a second anchor is alive.
    type: dict
    suboptions:
      namespaces:
        description: Only objects in these namespaces.
        type: list
        elements: str
      ingress_classes:
        description: Names of its IngressClasses, also of those that are gone already.
        type: list
        elements: str
      ingress_controllers:
        description: Its C(spec.controller) in IngressClasses, instead of the profile's.
        type: list
        elements: str
      gateway_controllers:
        description: Its C(spec.controllerName) in GatewayClasses, instead of the profile's.
        type: list
        elements: str
      controller_name:
        description: The controller's name, as its labels have it. A workload of this name, or a Lease named after it,
          counts as the running controller.
        type: str
      controller_namespace:
        description: Where its controllers run. The anchor's namespace, if there is one.
        type: str
  quiesce:
    description:
      - Whether the operator's Deployments and StatefulSets are scaled to 0 for the drain. They stay so when it
        succeeds, and get their replicas back when it fails.
      - V(auto) stops a running operator that could put the finalizers back. With O(policy=Retain) and without an
        anchor, nothing tells it to drain, so it is stopped first. Otherwise it is stopped once it has done what only it
        can do - it has cleaned up behind what is deleted, and its anchor is gone. Where nothing is released but
        all is deleted, it runs on.
      - V(scale) stops it first, whatever it could still do. V(none) never stops it; then the task fails if the
        finalizers keep coming back.
    type: str
    choices: [auto, none, scale]
    default: auto
  settle:
    description:
      - Seconds in which no finalizer may come back, watched, before the drain counts as done. What comes back is
        released again; after a few rounds the task fails and names who puts them back.
      - After O(freeze), an operator that was not stopped is watched for at least as long as the freeze lasted. So long
        it may wait until it tries again what was refused.
    type: int
    default: 3
  freeze:
    description:
      - Forbid adding these finalizers and creating the operator's kinds until everything is free, with an admission
        policy that is removed then and expires by itself. See M(sunset.kube.freeze).
      - It does not replace O(quiesce). An operator that runs on tries again when the policy is gone.
    type: bool
    default: false
  user_authored:
    description:
      - With O(policy=Delete), objects of the operator's kinds that a person wrote, without any label of the controller.
      - V(report) releases and lists them, V(drain) deletes them like the others.
    type: str
    choices: [report, drain]
    default: report
"""
