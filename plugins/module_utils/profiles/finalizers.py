# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What we know of finalizers by name: who removes them, what they guard, what is lost without them.

Room: profiles (data). `protected` ones guard money or data, or are the API server's own bookkeeping: a glob never takes
them, and even by name they need consent. Patterns are shell globs; the first that fits counts.
"""

from __future__ import annotations

from dataclasses import dataclass

# What is lost when a finalizer is removed by hand:
NOTHING = "nothing"  # it only delays
LEFTOVERS = "leftovers"  # settings or objects stay behind somewhere
MONEY = "money"  # something stays that is paid for, and nobody knows of it any more
DATA = "data"  # data is lost, or stays where nobody looks for it
BOOKKEEPING = "bookkeeping"  # the API server itself loses track


@dataclass(frozen=True)
class KnownFinalizer:
    pattern: str
    owner: str
    guards: str
    danger: str = DATA
    # Names of the workloads or Leases by which the owner is recognised in a cluster.
    controllers: tuple[str, ...] = ()
    protected: bool = True
    # Of Kubernetes and of clouds, on objects of every application. Others belong to one product.
    shared: bool = True
    # What to do rather than remove it by hand.
    instead: str = ""
    # Where it depends on the kind that carries it: kind, as a glob of `plural.group` → names as in `controllers`.
    by_kind: tuple[tuple[str, tuple[str, ...]], ...] = ()


_MANAGER = "kube-controller-manager"
_AWS_BALANCER = "aws-load-balancer-controller"
_BALANCER = "a load balancer that costs money"


def _by_kubernetes(pattern: str, guards: str, danger: str, owner: str = _MANAGER) -> KnownFinalizer:
    return KnownFinalizer(pattern, owner, guards, danger, (owner,) if owner == _MANAGER else ())


BUILT_IN_FINALIZERS = (
    _by_kubernetes("foregroundDeletion", "dependants that must be deleted before their owner", LEFTOVERS),
    _by_kubernetes("orphan", "dependants that must lose their owner before it goes", DATA),
    _by_kubernetes(
        "customresourcecleanup.apiextensions.k8s.io",
        "custom resources of this definition; without it they stay in storage and come back with a new definition",
        BOOKKEEPING,
        "kube-apiserver",
    ),
    _by_kubernetes("kubernetes.io/pvc-protection", "a volume claim that a pod still uses", DATA),
    _by_kubernetes("kubernetes.io/pv-protection", "a volume that a claim still uses", DATA),
    _by_kubernetes("kubernetes.io/pv-controller", "the disk behind a volume", MONEY),
    _by_kubernetes("kubernetes.io/vac-protection", "a class that volumes still have", BOOKKEEPING),
    _by_kubernetes("resource.kubernetes.io/delete-protection", "a device that a pod still uses", BOOKKEEPING),
    _by_kubernetes("networking.k8s.io/service-cidr-finalizer", "addresses that Services still have", BOOKKEEPING),
    _by_kubernetes("batch.kubernetes.io/job-tracking", "a Job's count of finished pods", BOOKKEEPING),
    _by_kubernetes("kubernetes", "a namespace that still has content", BOOKKEEPING),
    KnownFinalizer(
        "external-provisioner.volume.kubernetes.io/finalizer", "the CSI provisioner", "the disk behind a volume", MONEY
    ),
    KnownFinalizer("external-attacher/*", "the CSI attacher", "a disk that is still attached to a node", DATA),
    KnownFinalizer(
        "snapshot.storage.kubernetes.io/*",
        "the snapshot controller",
        "a snapshot's data",
        DATA,
        ("snapshot-controller", "snapshot-controller-leader"),
    ),
    KnownFinalizer("service.kubernetes.io/load-balancer-cleanup", "the cloud controller", _BALANCER, MONEY),
    KnownFinalizer("service.k8s.aws/*", _AWS_BALANCER, _BALANCER, MONEY, (_AWS_BALANCER,)),
    KnownFinalizer("ingress.k8s.aws/*", _AWS_BALANCER, _BALANCER, MONEY, (_AWS_BALANCER,)),
    KnownFinalizer("group.ingress.k8s.aws/*", _AWS_BALANCER, _BALANCER, MONEY, (_AWS_BALANCER,)),
    KnownFinalizer("elbv2.k8s.aws/*", _AWS_BALANCER, "target groups of a load balancer", MONEY, (_AWS_BALANCER,)),
    KnownFinalizer(
        "provisioner.storage.kubernetes.io/*",
        "the CSI provisioner",
        "a claim or snapshot that a new volume is being made from",
        DATA,
    ),
    KnownFinalizer("gke.networking.io/*", "the GKE load balancer controller", _BALANCER, MONEY),
    KnownFinalizer("networking.gke.io/*", "the GKE ingress controller", "load balancers and endpoint groups", MONEY),
)
