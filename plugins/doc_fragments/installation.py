# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which of several installations of a product is meant."""

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
"""
