# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The option that says what is removed or shown, by the record of whoever deployed it."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  members:
    description:
      - What belongs to the thing, by exactly one source.
      - Release metadata alone proves nothing. What it names must be confirmed by the live object, by the marks that the
        tool puts on its objects.
    type: dict
    required: true
    suboptions:
      helm:
        description:
          - A Helm release, from the record Helm keeps in the cluster; neither the chart nor C(helm) is needed.
          - Objects of hooks belong to it too, if they carry the annotation C(helm.sh/hook), and so do the
            C(CustomResourceDefinition) objects of the chart's C(crds/), unless another release has them as well. Its
            records go last of all.
          - Release metadata of more than 32 MiB is refused.
        type: dict
        suboptions:
          release:
            description: Name of the release.
            type: str
            required: true
          namespace:
            description: Namespace of the release.
            type: str
            required: true
          driver:
            description: Where Helm keeps its records. V(auto) looks for Secrets, then for ConfigMaps.
            type: str
            choices: [auto, secret, configmap]
            default: auto
      manifests:
        description:
          - Manifests that name the objects. A list of paths, directories, globs and inline documents, or a
            dictionary with C(sources) and C(namespace), the latter for objects that name none (V(default)).
          - Paths are read where the task runs.
        type: raw
      objects:
        description:
          - Objects, one by one, each with C(kind), C(name), and where needed C(api_version) and C(namespace). Only
            here objects that the cluster cannot do without may be named.
        type: list
        elements: dict
      selector:
        description: All objects with these labels, of these kinds, in these namespaces.
        type: dict
        suboptions:
          label_selector:
            description: Labels, for example V(app=shop).
            type: str
          kinds:
            description: Kinds in any spelling. Default is every kind but Events, Leases and EndpointSlices.
            type: list
            elements: str
          namespaces:
            description: Namespaces. Default is all.
            type: list
            elements: str
      kapp:
        description: A kapp application. Refused where its ConfigMap names another label key than C(kapp.k14s.io/app),
          or the label value of another application.
        type: dict
        suboptions:
          app:
            description: Name of the application.
            type: str
            required: true
          namespace:
            description: Namespace of its record.
            type: str
            required: true
      flux:
        description:
          - A Flux Kustomization's inventory, or the release behind a HelmRelease.
          - When something is deleted, the Flux object is suspended before the first of its objects goes, or Flux would
            put them back, and goes last itself. Its finalizer is taken off it then, so that Flux does not clean up what
            was kept; a chart that Flux made for a HelmRelease goes with it.
          - A HelmRelease whose Helm release lies in another namespace than itself must have installed it. The objects
            carry its labels C(helm.toolkit.fluxcd.io/name) and C(helm.toolkit.fluxcd.io/namespace) then.
        type: dict
        suboptions:
          kind:
            description: Which of both.
            type: str
            choices: [Kustomization, HelmRelease]
            default: Kustomization
          name:
            description: Its name.
            type: str
            required: true
          namespace:
            description: Its namespace.
            type: str
            required: true
      argocd:
        description:
          - An Argo CD Application, from the objects that its status lists; each must still carry its mark, the
            annotation C(argocd.argoproj.io/tracking-id) with its own name, or the tracking label where the settings of
            Argo CD say so. Refused where its destination is another cluster.
          - When something is deleted, the Application gets the annotation C(argocd.argoproj.io/skip-reconcile) before
            the first of its objects goes, or Argo CD would put them back, and goes last itself, without the finalizer
            by which Argo CD would delete what was kept.
        type: dict
        suboptions:
          name:
            description: Name of the Application.
            type: str
            required: true
          namespace:
            description: Namespace of the Application, which is mostly that of Argo CD.
            type: str
            required: true
      olm:
        description:
          - An operator that the Operator Lifecycle Manager installed, by its Subscription; what the installed
            ClusterServiceVersions brought belongs to it, C(CustomResourceDefinition) objects too.
          - The Subscription goes first, because it would install everything again; a ClusterServiceVersion goes after
            custom resources and before the workloads that it would repair. What another operator owns as well stays.
        type: dict
        suboptions:
          subscription:
            description: Name of the Subscription. The name of its package does too, once the Subscription is gone.
            type: str
            required: true
          namespace:
            description: Namespace of the Subscription.
            type: str
            required: true
      applyset:
        description: A kubectl ApplySet, by its parent Secret or ConfigMap. Its id must be the one that belongs to the
          parent's name and namespace.
        type: dict
        suboptions:
          name:
            description: Name of the parent.
            type: str
            required: true
          namespace:
            description: Namespace of the parent.
            type: str
            required: true
      inventory:
        description: An inventory of cli-utils or kpt, by the name of its ConfigMap or its inventory id. Refused where
          another inventory in the cluster carries the same id.
        type: dict
        suboptions:
          name:
            description: Name or id.
            type: str
            required: true
          namespace:
            description: Namespace of the ConfigMap.
            type: str
            required: true
      landscaper:
        description:
          - What a Landscaper DeployItem deployed into the cluster of this task.
          - Where Helm deployed it, which is the default of Landscaper's Helm deployer, that is its Helm release, by the
            same rules as O(members.helm). Else it is the managed resources in its status. Each must carry the label
            of the DeployItem, C(manifest.deployer.landscaper.gardener.cloud/deployitem), and have the uid that was
            recorded, if one was. The policies V(keep) and V(ignore) keep an object.
          - Refused where its Target is another cluster. The Target is only read, and no server that it names is called.
            It is this cluster if it names the address of this connection and its certificate authority, or if it is a
            C(selfConfig) and the DeployItem is stored here. What cannot be compared counts as another cluster.
          - The DeployItem itself is kept. Delete its Installation when this is done.
        type: dict
        suboptions:
          deploy_item:
            description: Name of the DeployItem.
            type: str
            required: true
          namespace:
            description: Namespace of the DeployItem.
            type: str
            required: true
          context:
            description:
              - Context of the cluster in which the DeployItem and its Target are stored, in the kubeconfig of this
                connection. Needed where that is another cluster than the one of this task, which is the Target's.
              - Options about one server, such as C(host) and C(api_key), cannot be given together with it.
            type: str
          target:
            description:
              - Name of the Target that the cluster of this task is. Then the Target is not compared, but the
                DeployItem must name it. For a server that has another address from inside than from outside.
            type: str
      namespace:
        description: Everything in a namespace. For M(sunset.kube.ranked_delete), the Namespace itself only when a
          step names it, or by C(delete_namespace).
        type: str
"""

    # For modules that can do without it. With a type, as ansible-test takes every plain assignment here for a text.
    OPTIONAL: str = DOCUMENTATION.replace("    required: true\n", "", 1)
