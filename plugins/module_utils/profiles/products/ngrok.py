# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ngrok operator, from 0.20 on: both finalizer names, both groups of labels.

Room: profiles (data). The form is the one a task may write as `profile`.
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "ngrok",
    "title": "ngrok operator",
    "checked": [
        {"version": "0.20.0", "how": ["source read"]},
        {"version": "0.21.0", "how": ["source read"]},
        {"version": "0.22.0", "how": ["source read", "CRDs applied", "controller run"]},
    ],
    "finalizers": ["k8s.ngrok.com/finalizer", "ngrok.com/finalizer"],
    "anchor": {
        "group": "ngrok.k8s.ngrok.com",
        "kind": "KubernetesOperator",
        "policy": "spec.drain.policy",
        # Until 0.21 a word of its own, from 0.22 on a condition.
        "status": "status.drainStatus",
        "condition": "Draining",
    },
    "user_kinds": [
        {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"},
        {"group": "gateway.networking.k8s.io", "kind": "TCPRoute"},
        {"group": "gateway.networking.k8s.io", "kind": "TLSRoute"},
        {"group": "networking.k8s.io", "kind": "Ingress"},
        {"group": "", "kind": "Service"},
        {"group": "gateway.networking.k8s.io", "kind": "Gateway"},
        {
            "group": "gateway.networking.k8s.io",
            "kind": "GatewayClass",
            # The operator sets it as long as a Gateway uses the class, and nobody else would take it off.
            "finalizers": ["gateway-exists-finalizer.gateway.networking.k8s.io"],
        },
    ],
    "operator_kinds": [
        {"group": "ngrok.k8s.ngrok.com", "kind": "CloudEndpoint"},
        {
            "group": "ngrok.k8s.ngrok.com",
            "kind": "AgentEndpoint",
            "finalized_by": ["app.kubernetes.io/name=ngrok-operator,app.kubernetes.io/component=agent"],
        },
        {"group": "ingress.k8s.ngrok.com", "kind": "Domain"},
        {"group": "ingress.k8s.ngrok.com", "kind": "IPPolicy"},
        {
            "group": "bindings.k8s.ngrok.com",
            "kind": "BoundEndpoint",
            # Its poller makes them beside itself, without labels and without an owner.
            "made_by_operator": True,
            "in_operator_namespace": True,
        },
    ],
    "classes": {
        "ingress_controllers": ["k8s.ngrok.com/ingress-controller", "ngrok.com/ingress-controller"],
        "gateway_controllers": ["ngrok.com/gateway-controller"],
    },
    "labels": {
        "controller_name": ["k8s.ngrok.com/controller-name", "ngrok.com/controller-name"],
        "controller_namespace": ["k8s.ngrok.com/controller-namespace", "ngrok.com/controller-namespace"],
    },
    # Manager, agent and bindings-forwarder, labelled alike in charts 0.20 to 0.24: each of them sets finalizers.
    "workloads": ["app.kubernetes.io/name=ngrok-operator"],
    "finalized_by": ["app.kubernetes.io/name=ngrok-operator,app.kubernetes.io/component=controller"],
    "external_ids": {
        "KubernetesOperator": ["status.id"],
        "CloudEndpoint": ["status.id", "spec.url"],
        "AgentEndpoint": ["status.assignedURL", "spec.url"],
        "Domain": ["status.id", "spec.domain"],
        "IPPolicy": ["status.id"],
        "BoundEndpoint": ["spec.endpointURL", "spec.endpointURI"],  # from 0.21 on the first, before it the second
    },
    # The operator makes a Domain for the host of an endpoint, in its namespace, also where a person wrote the endpoint.
    "uses": {
        kind: [{"kind": "Domain", "name": "status.domainRef.name", "url": "spec.url", "host": "spec.domain"}]
        for kind in ("CloudEndpoint", "AgentEndpoint")
    },
    # A Domain says itself whether its reservation goes with it, whatever the drain's policy is.
    "own_policy": {"Domain": {"path": "spec.reclaimPolicy", "deletes": "Delete"}},
}
