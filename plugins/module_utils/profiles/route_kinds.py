# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds that bring traffic to an application, by group and kind.

Room: profiles (data).
"""

from __future__ import annotations

ROUTE_KINDS = frozenset(
    {
        ("networking.k8s.io", "Ingress"),
        ("gateway.networking.k8s.io", "HTTPRoute"),
        ("gateway.networking.k8s.io", "GRPCRoute"),
        ("gateway.networking.k8s.io", "TLSRoute"),
        ("gateway.networking.k8s.io", "TCPRoute"),
        ("traefik.io", "IngressRoute"),
        ("traefik.io", "IngressRouteTCP"),
        ("projectcontour.io", "HTTPProxy"),
        ("networking.istio.io", "VirtualService"),
        ("route.openshift.io", "Route"),
    }
)
