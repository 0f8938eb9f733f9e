# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What we know of finalizers by name: who removes them, what they guard, what is lost without them.

Room: profiles (data). `protected` ones guard money or data, or are the API server's own bookkeeping: a glob never takes
them, and even by name they need consent. Patterns are shell globs; the first that fits counts.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownFinalizer:
    pattern: str
    owner: str
    guards: str
    protected: bool = True


KNOWN_FINALIZERS = (
    KnownFinalizer(
        "foregroundDeletion", "kube-controller-manager", "dependants that must be deleted before their owner"
    ),
    KnownFinalizer("orphan", "kube-controller-manager", "dependants that must lose their owner before it goes"),
    KnownFinalizer(
        "customresourcecleanup.apiextensions.k8s.io",
        "kube-apiserver",
        "custom resources of this definition; without it they stay in storage and come back with a new definition",
    ),
    KnownFinalizer("kubernetes.io/pvc-protection", "kube-controller-manager", "a volume claim that a pod still uses"),
    KnownFinalizer("kubernetes.io/pv-protection", "kube-controller-manager", "a volume that a claim still uses"),
    KnownFinalizer("kubernetes.io/pv-controller", "kube-controller-manager", "the disk behind a volume"),
    KnownFinalizer(
        "external-provisioner.volume.kubernetes.io/finalizer", "the CSI provisioner", "the disk behind a volume"
    ),
    KnownFinalizer("external-attacher/*", "the CSI attacher", "a disk that is still attached to a node"),
    KnownFinalizer("snapshot.storage.kubernetes.io/*", "the snapshot controller", "a snapshot's data"),
    KnownFinalizer(
        "service.kubernetes.io/load-balancer-cleanup", "the cloud controller", "a load balancer that costs money"
    ),
    KnownFinalizer("service.k8s.aws/*", "aws-load-balancer-controller", "a load balancer that costs money"),
    KnownFinalizer("ingress.k8s.aws/*", "aws-load-balancer-controller", "a load balancer that costs money"),
    KnownFinalizer("elbv2.k8s.aws/*", "aws-load-balancer-controller", "target groups of a load balancer"),
    KnownFinalizer("networking.gke.io/*", "the GKE ingress controller", "load balancers and endpoint groups"),
    KnownFinalizer("batch.kubernetes.io/job-tracking", "kube-controller-manager", "a Job's count of finished pods"),
    KnownFinalizer("kubernetes", "kube-controller-manager", "a namespace that still has content"),
)
