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
    type: dict
    required: true
    suboptions:
      helm:
        description:
          - A Helm release, from the record Helm keeps in the cluster; neither the chart nor C(helm) is needed.
          - Objects of hooks and of the chart's C(crds/) belong to it too. Its records go last of all.
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
        description: A kapp application.
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
        description: A Flux Kustomization's inventory, or the release behind a HelmRelease.
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
      applyset:
        description: A kubectl ApplySet, by its parent Secret or ConfigMap.
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
        description: An inventory of cli-utils or kpt, by the name of its ConfigMap or its inventory id.
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
        description: The managed resources of a Landscaper DeployItem.
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
      namespace:
        description: Everything in a namespace. For M(sunset.kube.ranked_delete), the Namespace itself only when a
          step names it, or by C(delete_namespace).
        type: str
"""
