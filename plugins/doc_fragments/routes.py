# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options that say which routes are meant, and what kinds of routes there are."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  targets:
    description:
      - Which routes are meant. Each entry takes the routes that fit everything it says; several entries add up.
    type: list
    elements: dict
    suboptions:
      kind:
        description:
          - Kind of the routes, in any spelling, for example V(Ingress) or V(ingressroutes.traefik.io). Without it, all
            kinds that are installed and known - Ingress, IngressRoute, HTTPRoute, GRPCRoute, Route, HTTPProxy and
            VirtualService.
        type: str
      name:
        description: Name of one route. Needs O(targets[].namespace).
        type: str
      namespace:
        description: Namespace of the routes. Without it, all namespaces.
        type: str
      label_selector:
        description: Only routes with these labels, for example V(app=shop,tier in (web,api)).
        type: str
      hosts:
        description: Only places for these hosts. Stars are allowed, for example V(*.shop.example.com).
        type: list
        elements: str
      paths:
        description: Only places for these paths. Stars are allowed, for example V(/api*).
        type: list
        elements: str
      ingress_class:
        description: Only routes of this ingress class, or attached to the Gateway of this name.
        type: str
      service:
        description: Only places that lead to the Service of this name.
        type: str
  route_kinds:
    description:
      - Further kinds of routes, described by data.
    type: list
    elements: dict
    suboptions:
      group:
        description: API group of the kind.
        type: str
        required: true
      kind:
        description: The kind.
        type: str
        required: true
      hosts:
        description: Where its hosts stand, for example V(/spec/virtualhost/fqdn).
        type: list
        elements: str
      paths:
        description: Where its paths stand. C({0}) is the entry chosen by the first star of the backend's pattern.
        type: list
        elements: str
      backends:
        description: Where its backends stand.
        type: list
        elements: dict
        required: true
        suboptions:
          pattern:
            description: The place, for example V(/spec/routes/*/services).
            type: str
            required: true
          page:
            description: What stands there during maintenance, with C($service) for the name of the page's Service.
            type: raw
            required: true
          known_by:
            description: Places that tell one entry from another, for example V(/spec/routes/{0}/match).
            type: list
            elements: str
          name:
            description: Where the name of the Service stands within the backend.
            type: str
            default: /name
          namespace:
            description: Where its namespace stands, if it may be another.
            type: str
  maintenance_operator:
    description:
      - How the maintenance-operator of the community is set up, where its chart was installed with other values than
        the usual ones. Its marks on routes and its backups are known by these names.
      - Without it, they are read from the environment of its Deployment, which is looked for when a route carries
        C(maintenance-operator.mithucste30.io/service-name) without the usual marks, or a backup has another prefix.
        Names from there count on routes with that annotation only, as any user can make such a Deployment. Where there
        is none, or it cannot be read, the usual names count.
      - Annotations of C(kubernetes.io), C(k8s.io) and C(sunset.dev) are refused. Which names were used is in the
        result.
    type: dict
    suboptions:
      maintenance_annotation:
        description:
          - The annotation that asks for a page, C(operator.maintenanceAnnotation) of the chart.
            V(maintenance-operator.mithucste30.io/enabled) without it.
        type: str
      maintenance_annotation_value:
        description: Its value, C(operator.maintenanceAnnotationValue) of the chart. V(true) without it.
        type: str
      backup_annotation:
        description:
          - The annotation on routes that it has changed, C(operator.backupAnnotation) of the chart.
            V(maintenance-operator.mithucste30.io/original-service) without it.
        type: str
      backup_config_map_prefix:
        description:
          - How names of its backups begin, C(operator.backupConfigMapPrefix) of the chart. V(maintenance-backup)
            without it.
        type: str
  coverage:
    description:
      - Look at the routes of all namespaces, and tell which hosts and paths of the application stay reachable.
      - Without it, only the namespaces of O(targets) are looked at.
    type: bool
    default: true
"""
