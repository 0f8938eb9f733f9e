# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Field managers that say nothing about the product an object is from.

Room: profiles (data). A field manager is the name of a program, unless the program chooses another one.
"""

from __future__ import annotations

import re

# Tools of people, which any object may come from. In lower case, as all of these.
TOOLS = re.compile(
    r"kubectl.*|helm|helm-controller|kustomize.*|argocd.*|sunset\.kube|python.*|okhttp.*|unknown|curl"
    r"|terraform.*|hashicorp|opentofu|pulumi.*|ansible.*|openapi-generator|go-http-client|node-fetch|mozilla|k9s|"
)

# Controllers that deliver what people wrote: most of what they make is no part of them.
DELIVERERS = re.compile(
    r"kapp.*|flux.*|source-controller|fleet.*|rancher.*|landscaper.*|olm|catalog|crossplane.*|velero.*"
)

# The cluster's own programs, which write to objects of every product.
CLUSTER = frozenset(
    {
        *("kube-controller-manager", "kube-scheduler", "kube-apiserver", "kube-proxy", "kubelet"),
        *("cloud-controller-manager", "cluster-autoscaler", "k3s", "rke2", "k0s", "microk8s", "kubelite"),
    }
)

# What a program is called that was given no name of its own.
PLAIN = frozenset(
    {
        *("manager", "controller", "operator", "controller-manager", "controllermanager", "main", "app", "apps"),
        *("server", "agent", "webhook", "api", "apiserver", "client", "node", "daemon", "worker", "proxy", "web"),
        *("backend", "frontend", "service", "job", "cronjob", "init", "test", "java", "dotnet", "ruby", "deno"),
        *("k8s", "kubernetes", "gateway", "ingress", "driver", "plugin", "provider", "scheduler", "bootstrap"),
    }
)

# The domains of their labels.
DELIVERY = frozenset(
    {
        *("argoproj.io", "fluxcd.io", "k14s.io", "carvel.dev", "fleet.cattle.io", "operators.coreos.com"),
        *("landscaper.gardener.cloud", "crossplane.io", "velero.io"),
    }
)
