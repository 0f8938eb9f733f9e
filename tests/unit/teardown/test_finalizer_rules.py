# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which finalizers may go: one table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_finalizers import KNOWN_FINALIZERS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer_rules import (
    Case,
    Wish,
    is_wanted,
    judge,
    known,
    passes_without_owner,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.owners import Life, Owner
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.tests.unit.fakes import SERVER_NOW, named, record

F = "example.com/cleanup"
PVC = "kubernetes.io/pvc-protection"
ALIVE = Owner(Life.ALIVE, "Deployment shop/operator", "Deployment shop/operator has 1 of 1 replicas available")
DEAD = Owner(Life.GONE, "Deployment shop/operator", "it has no available replica")
UNKNOWN = Owner(Life.UNKNOWN, "", "could not look")
STARTING = Owner(Life.UNKNOWN, "Deployment shop/operator", "it has no available replica", starting=True)
DELETED_AT_NOW = record(deleted=True)
# deletionTimestamp lies at the end of the grace period: this one was asked to go 20 s ago.
POD_IN_GRACE = record(deleted=True, deletionTimestamp="2026-01-01T00:00:10Z", deletionGracePeriodSeconds=30)


def case(
    finalizer: str = F, at: float = SERVER_NOW, owner: Owner | None = None, subject: Any = DELETED_AT_NOW, **wish: Any
) -> Case:
    return Case(subject, finalizer, Wish(finalizers=wish.pop("finalizers", (finalizer,)), **wish), at, owner)


GO = Verdict(Fate.RELEASE, "named by the task")
NOT_DELETED = Verdict(
    Fate.KEEP, "the object is not being deleted; set terminating_only: false to release it all the same"
)
GUARDS_CLAIM = "it guards a volume claim that a pod still uses"
NEEDS_CONSENT = Verdict(
    Fate.PROTECTED, f"{GUARDS_CLAIM} (owner: kube-controller-manager); set allow_protected: true to remove it"
)
NEEDS_NAME = Verdict(Fate.PROTECTED, f"{GUARDS_CLAIM}; a glob never takes it, write its full name")
CONTROLLER_LIVES = Verdict(
    Fate.KEEP,
    "its controller is alive: Deployment shop/operator has 1 of 1 replicas available; let it finish, or set owner: any",
)

VERDICTS: dict[str, tuple[Case, Verdict]] = {
    "named, deleted": (case(), GO),
    "caught by a glob": (case(finalizers=("example.com/*",)), GO),
    # terminating_only
    "not deleted": (case(subject=record()), NOT_DELETED),
    "not deleted, all the same": (case(subject=record(), terminating_only=False), GO),
    # grace
    "inside the grace": (
        case(grace=300.0, at=SERVER_NOW + 299.0),
        Verdict(Fate.KEEP, "deleted 299 s ago, and grace is 300 s"),
    ),
    "the grace is over": (case(grace=300.0, at=SERVER_NOW + 300.0), GO),
    "no grace": (case(grace=0.0), GO),
    "a pod's own grace does not count": (case(subject=POD_IN_GRACE, grace=20.0), GO),
    "a pod inside the grace": (
        case(subject=POD_IN_GRACE, grace=21.0),
        Verdict(Fate.KEEP, "deleted 20 s ago, and grace is 21 s"),
    ),
    "our clock behind the server's": (
        case(grace=10.0, at=SERVER_NOW - 5.0),
        Verdict(Fate.KEEP, "deleted 0 s ago, and grace is 10 s"),
    ),
    "not deleted, grace does not count": (case(subject=record(), terminating_only=False, grace=300.0), GO),
    # money and data
    "protected": (case(PVC), NEEDS_CONSENT),
    "protected, with consent": (case(PVC, allow_protected=True), GO),
    "protected, by glob": (case(PVC, finalizers=("kubernetes.io/*",)), NEEDS_NAME),
    "protected, by glob, with consent": (case(PVC, finalizers=("kubernetes.io/*",), allow_protected=True), NEEDS_NAME),
    "protected, by glob and by name, with consent": (
        case(PVC, finalizers=("kubernetes.io/*", PVC), allow_protected=True),
        GO,
    ),
    # the owner
    "the controller is alive": (case(owner=ALIVE), CONTROLLER_LIVES),
    "the controller is gone": (case(owner=DEAD), GO),
    "the controller is unknown": (case(owner=UNKNOWN), GO),
    "the controller may be starting": (
        case(owner=STARTING),
        Verdict(
            Fate.KEEP,
            "its controller may be starting: it has no available replica; wait a minute, or set owner: any",
        ),
    ),
    # the first objection decides
    "not deleted and protected and alive": (case(PVC, subject=record(), owner=ALIVE), NOT_DELETED),
    "protected and alive": (case(PVC, owner=ALIVE), NEEDS_CONSENT),
}


@pytest.mark.parametrize(("judged", "verdict"), named(VERDICTS))
def test_the_first_rule_that_objects_decides(judged: Case, verdict: Verdict) -> None:
    assert judge(judged) == verdict


def test_a_living_controller_does_not_matter_where_the_task_says_any() -> None:
    assert judge(Case(DELETED_AT_NOW, F, Wish((F,), owner="any"), SERVER_NOW, ALIVE)) == GO


WANTED = {
    "by name": (F, (F,), True),
    "by glob": (F, ("example.com/*",), True),
    "by a glob for one letter": (F, ("example.com/cleanu?",), True),
    "one of several": (F, ("a", F), True),
    "another name": (F, ("example.com/clean",), False),
    "another case": (F, ("Example.com/cleanup",), False),
    "another domain": (F, ("example.org/*",), False),
}


@pytest.mark.parametrize(("finalizer", "patterns", "wanted"), named(WANTED))
def test_a_finalizer_is_wanted_by_name_or_glob(finalizer: str, patterns: tuple[str, ...], wanted: bool) -> None:
    assert is_wanted(finalizer, Wish(patterns)) is wanted


@pytest.mark.parametrize(
    ("judged", "passes"),
    named(
        {
            "free": (case(owner=ALIVE), True),
            "not deleted": (case(subject=record()), False),
            "protected": (case(PVC), False),
        }
    ),
)
def test_the_owner_is_only_looked_for_where_nothing_else_objects(judged: Case, passes: bool) -> None:
    assert passes_without_owner(judged) is passes


GUARDIANS = {
    "volume claims": PVC,
    "volumes": "kubernetes.io/pv-protection",
    "disks": "external-provisioner.volume.kubernetes.io/finalizer",
    "attachments": "external-attacher/ebs-csi-aws-com",
    "snapshots": "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection",
    "load balancers": "service.kubernetes.io/load-balancer-cleanup",
    "load balancers of AWS": "service.k8s.aws/resources",
    "keys of Ceph": "ceph.rook.io/disaster-protection",
    "pools of Ceph": "cephblockpool.ceph.rook.io",
    "volumes of Longhorn": "longhorn.io",
    "volumes of TopoLVM": "topolvm.io/logicalvolume",
    "volumes of OpenEBS": "lvm.openebs.io/finalizer",
    "virtual machines": "kubevirt.io/virtualMachineControllerFinalize",
    "databases": "postgres-operator.acid.zalan.do",
    "volumes of databases": "percona.com/delete-pxc-pvc",
    "topics": "strimzi.io/topic-operator",
    "what a managed resource stands for": "finalizer.managedresource.crossplane.io",
    "dependants": "foregroundDeletion",
    "orphans": "orphan",
    "custom resources": "customresourcecleanup.apiextensions.k8s.io",
    "namespaces": "kubernetes",
}


@pytest.mark.parametrize("finalizer", named(GUARDIANS))
def test_what_guards_money_or_data_is_known_and_protected(finalizer: str) -> None:
    entry = known(finalizer)
    assert entry is not None
    assert entry.protected


def test_a_finalizer_nobody_described_is_not_known() -> None:
    assert known(F) is None


finalizers = st.one_of(
    st.sampled_from([entry.pattern.replace("*", "x") for entry in KNOWN_FINALIZERS]), st.just(F), st.text(max_size=9)
)


@given(
    finalizers, st.sampled_from(["*", "kubernetes.io/*", "*/*", "f*", "*.io/*", "[a-z]*"]), st.booleans(), st.booleans()
)
def test_no_glob_ever_takes_a_protected_finalizer(finalizer: str, glob: str, consent: bool, deleted_only: bool) -> None:
    wish = Wish((glob,), terminating_only=deleted_only, owner="any", allow_protected=consent)
    entry = known(finalizer)
    if is_wanted(finalizer, wish) and entry is not None and entry.protected and finalizer != glob:
        assert judge(Case(DELETED_AT_NOW, finalizer, wish, SERVER_NOW)).fate is Fate.PROTECTED
