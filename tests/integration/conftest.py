# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Integration tests run against a real control plane; the lab provides it."""

from __future__ import annotations

from ansible_collections.sunset.kube.tests.unit import own_settings

# By name, not as `pytest_plugins`: that is refused here when somebody runs all of tests/ at once.
from integration.broken_apps import shop
from integration.community_operator import community_operator, kopf_program
from integration.explaining import explain
from integration.fleets import detach, hub_kinds, living_hub
from integration.gitops import gitops_kinds
from integration.maintaining import maintenance_here, maintenance_on_node
from integration.nmstate_fleet import fleet, nmstate_kinds
from integration.olm import olm_kinds
from integration.products import drainer, ngrok_kinds
from integration.stage import dead_group, elsewhere, kinds, narrow_plane, second_plane, stage
from integration.uninstalling import uninstaller
from lab.fixtures import (
    as_user,
    audit,
    faults,
    namespace,
    net,
    node,
    node_namespace,
    operator,
    plane,
    pytest_collection_modifyitems,
    pytest_configure,
    route_kinds,
    running_net,
    traefik,
)

own_settings.put_aside()

__all__ = [
    "as_user",
    "audit",
    "community_operator",
    "dead_group",
    "detach",
    "drainer",
    "elsewhere",
    "explain",
    "faults",
    "fleet",
    "gitops_kinds",
    "hub_kinds",
    "kinds",
    "kopf_program",
    "living_hub",
    "maintenance_here",
    "maintenance_on_node",
    "namespace",
    "narrow_plane",
    "net",
    "ngrok_kinds",
    "nmstate_kinds",
    "node",
    "node_namespace",
    "olm_kinds",
    "operator",
    "plane",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "route_kinds",
    "running_net",
    "second_plane",
    "shop",
    "stage",
    "traefik",
    "uninstaller",
]
