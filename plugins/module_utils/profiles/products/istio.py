# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Istio with the in-cluster operator, 1.5 to 1.23. Later releases have no such operator.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "istio",
    "title": "Istio",
    "checked": [
        {"version": "1.5.0", "how": ["source read"]},
        {"version": "1.10.0", "how": ["source read"]},
        {"version": "1.22 (development)", "how": ["source read", "CRDs applied"]},
        {"version": "1.23.0", "how": ["source read"]},
    ],
    "finalizers": ["istio-finalizer.install.istio.io"],
    # One per revision, so none of them stands for the whole installation.
    "operator_kinds": [{"group": "install.istio.io", "kind": "IstioOperator"}],
    "classes": {
        "ingress_controllers": ["istio.io/ingress-controller"],
        "gateway_controllers": ["istio.io/gateway-controller"],
    },
    # A label of its pods: the Deployment itself has none.
    "workloads": ["name=istio-operator"],
    "notes": [
        "Deleting an IstioOperator while its operator runs removes that control plane and its gateways.",
        "Only IstioOperator is held. Installations by Helm, or without the operator, have no finalizer of Istio.",
        "Pods keep their sidecar until they are restarted; remove the injection labels of the namespaces first.",
    ],
}
