# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects a cluster cannot do without, or that come back by themselves: never deleted unless named one by one.

Room: profiles (data). Patterns are shell globs; `labels` and `annotations` must all be there with these values.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class SystemObject:
    why: str
    group: str = "*"
    plural: str = "*"
    namespace: str = "*"
    name: str = "*"
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)


SYSTEM_OBJECTS = (
    SystemObject("it is part of the cluster itself (namespace kube-system)", namespace="kube-system"),
    SystemObject("it is part of the cluster itself (namespace kube-public)", namespace="kube-public"),
    SystemObject("it is part of the cluster itself (namespace kube-node-lease)", namespace="kube-node-lease"),
    *(
        SystemObject("a cluster cannot be without this namespace", "", "namespaces", name=name)
        for name in ("default", "kube-system", "kube-public", "kube-node-lease")
    ),
    SystemObject("the cluster writes it anew into every namespace", "", "configmaps", name="kube-root-ca.crt"),
    SystemObject("the cluster writes it anew into every namespace", "", "serviceaccounts", name="default"),
    SystemObject("it is the API server's own Service", "", "services", "default", "kubernetes"),
    SystemObject("it is the API server's own Service", "", "endpoints", "default", "kubernetes"),
    SystemObject("it is the API server's own Service", "discovery.k8s.io", "endpointslices", "default", "kubernetes"),
    SystemObject(
        "it is a built-in role of the API server",
        "rbac.authorization.k8s.io",
        labels={"kubernetes.io/bootstrapping": "rbac-defaults"},
    ),
    SystemObject("it is a built-in priority of the cluster", "scheduling.k8s.io", "priorityclasses", name="system-*"),
    SystemObject(
        "it is built into the API server",
        "flowcontrol.apiserver.k8s.io",
        annotations={"apf.kubernetes.io/autoupdate-spec": "true"},
    ),
    *(
        SystemObject("it is built into the API server", "flowcontrol.apiserver.k8s.io", name=name)
        for name in ("exempt", "catch-all")
    ),
    SystemObject(
        "it is an API of the server itself",
        "apiregistration.k8s.io",
        "apiservices",
        labels={"kube-aggregator.kubernetes.io/automanaged": "onstart"},
    ),
    SystemObject(
        "it follows its custom resource definition",
        "apiregistration.k8s.io",
        "apiservices",
        labels={"kube-aggregator.kubernetes.io/automanaged": "true"},
    ),
    SystemObject("it is a node", "", "nodes"),
)
