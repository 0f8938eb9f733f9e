# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""May a cluster's namespace go?"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Record, Resource
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.namespace_gate import why_kept
from ansible_collections.sunset.kube.tests.unit.fakes import PODS, VERBS, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.managed_cluster.fleet_fakes import ADDONS, HOSTED, WORKS, Hub
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import api_error

OURS = {ocm.NAMESPACE_LABELS[0]: "edge"}


def namespace(**more: Any) -> Record:
    return record("edge", "", **{"labels": OURS, **more})


def resource_of(keeper: ocm.Keeper) -> Resource:
    known = {ocm.ADDONS: ADDONS, ocm.WORKS: WORKS, ("", "Pod"): PODS}
    made = Resource(keeper.group, "v1", keeper.kind, f"{keeper.kind.lower()}s", True, keeper.kind.lower(), (), VERBS)
    return known.get((keeper.group, keeper.kind), made)


@pytest.mark.parametrize("wish", ["auto", "delete"])
def test_an_empty_namespace_goes(wish: str) -> None:
    assert why_kept(wish, namespace(), Hub()) == ""


def test_the_task_may_keep_it() -> None:
    assert why_kept("keep", namespace(), Hub()) == "the task says so"


@pytest.mark.parametrize("label", ocm.NAMESPACE_LABELS)
def test_both_labels_say_that_it_is_a_clusters(label: str) -> None:
    assert why_kept("auto", namespace(labels={label: ""}), Hub()) == ""


def test_without_a_label_only_delete_takes_it() -> None:
    assert ocm.NAMESPACE_LABELS[0] in why_kept("auto", namespace(labels={}), Hub())
    assert why_kept("delete", namespace(labels={}), Hub()) == ""


MARKS: dict[str, dict[str, Any]] = {
    "label": {"labels": {**OURS, ocm.KEEP_LABELS[0]: "true"}},
    "label without value": {"labels": {**OURS, ocm.KEEP_LABELS[0]: ""}},
    "label that says no": {"labels": {**OURS, ocm.KEEP_LABELS[0]: "false"}},  # its presence counts
    "annotation": {"annotations": {ocm.KEEP_ANNOTATIONS[0]: ""}},
}


@pytest.mark.parametrize("wish", ["auto", "delete"])
@pytest.mark.parametrize("marks", named(MARKS))
def test_marks_keep_it(wish: str, marks: dict[str, Any]) -> None:
    assert why_kept(wish, namespace(**marks), Hub()).startswith("it carries ")


@pytest.mark.parametrize("wish", ["auto", "delete"])
@pytest.mark.parametrize("keeper", ocm.KEEPERS, ids=lambda keeper: keeper.kind)
def test_every_keeper_keeps_its_namespace_and_no_other(keeper: ocm.Keeper, wish: str) -> None:
    resource = resource_of(keeper)
    hub = Hub(*(() if resource in (ADDONS, WORKS, PODS) else (resource,)))
    hub.add(resource, "one", "elsewhere")
    assert why_kept(wish, namespace(), hub) == ""
    hub.add(resource, "one", "edge")
    assert why_kept(wish, namespace(), hub) == f"{keeper.why}: {keeper.kind} one"


PODS_AT_WORK: dict[str, tuple[dict[str, Any], bool]] = {
    "running": ({"status": {"phase": "Running"}}, True),
    "pending": ({"status": {"phase": "Pending"}}, True),
    "unknown": ({"status": {"phase": "Unknown"}}, True),
    "without status": ({}, True),
    "succeeded": ({"status": {"phase": "Succeeded"}}, False),
    "failed": ({"status": {"phase": "Failed"}}, False),
    "of a hook": ({"status": {"phase": "Running"}, "labels": {ocm.HOOK_LABELS[1]: ""}}, False),
}


@pytest.mark.parametrize(("pod", "keeps"), named(PODS_AT_WORK))
def test_pods_that_work_keep_it(pod: dict[str, Any], keeps: bool) -> None:
    hub = Hub()
    hub.add(PODS, "p", "edge", **pod)
    assert bool(why_kept("auto", namespace(), hub)) is keeps


def test_a_keeper_that_cannot_be_listed_keeps_it() -> None:
    hub = Hub(HOSTED)
    hub.unseen["hostedclusters"] = api_error(403, "Forbidden", "no")
    reason = why_kept("delete", namespace(), hub)
    assert "HostedCluster objects in it could not be looked for" in reason


@pytest.mark.parametrize("forbidden", [False, True], ids=["unavailable", "forbidden"])
def test_a_keeper_whose_group_cannot_be_seen_keeps_it(forbidden: bool) -> None:
    hub = Hub()
    (hub.hidden if forbidden else hub.stale).append(f"{HOSTED.group}/v1beta1")
    assert "HostedCluster" in why_kept("auto", namespace(), hub)
