# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hub as we find it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import record_of
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.hub import (
    ClusterView,
    Reach,
    find_clusters,
    find_kinds,
    look_again,
)
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, PODS, metadata, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.managed_cluster.fleet_fakes import (
    ADDONS,
    CLUSTERS,
    WORKS,
    Hub,
    conditions,
    options_of,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVED, ZONES, InMemoryCluster, api_error


def view(accepts: bool | None = True, **status: str | None) -> ClusterView:
    item: dict[str, Any] = {"metadata": metadata("edge", ""), "status": conditions(**status)}
    if accepts is not None:
        item["spec"] = {"hubAcceptsClient": accepts}
    return ClusterView("edge", CLUSTERS, record_of(item["metadata"]), item)


REACH: dict[str, tuple[ClusterView, Reach]] = {
    "accepted and available": (view(), Reach.REACHABLE),
    "available, nothing said of acceptance": (view(accepted=None), Reach.REACHABLE),
    "not available": (view(available="False"), Reach.UNREACHABLE),
    "nobody knows": (view(available="Unknown"), Reach.UNREACHABLE),
    "it never reported": (view(available=None), Reach.UNREACHABLE),
    "the hub does not accept it": (view(accepts=False), Reach.DENIED),
    "the hub does not accept it any more": (view(accepted="False"), Reach.DENIED),
    "denied and unknown": (view(accepts=False, available="Unknown"), Reach.DENIED),
    "without a spec": (view(accepts=None), Reach.REACHABLE),
    "without status": (ClusterView("edge", CLUSTERS, record("edge", ""), {}), Reach.UNREACHABLE),
    "gone": (ClusterView("edge", CLUSTERS), Reach.GONE),
}


@pytest.mark.parametrize(("one", "reach"), named(REACH))
def test_reach(one: ClusterView, reach: Reach) -> None:
    assert one.reach is reach
    assert bool(one.why_unreachable) is (reach is not Reach.REACHABLE)


def test_why_it_is_unreachable_is_what_the_hub_says() -> None:
    one = view(available="Unknown")
    one.item["status"]["conditions"][0].update(reason="Lease", message="stopped updating its lease")
    assert one.why_unreachable == "its agent does not report (stopped updating its lease)"
    assert view(available=None).why_unreachable == "its agent does not report (it never reported)"


def test_what_is_held_and_what_is_there() -> None:
    one = ClusterView("edge", kinds=[[record("a"), record("b", finalizers=["x/y"])], []])
    assert ([held.name for held in one.held], one.is_there) == (["b"], True)
    assert not ClusterView("edge", kinds=[[], []]).is_there
    assert view().is_there


def test_the_hubs_condition() -> None:
    one = view()
    one.item["status"]["conditions"].append({"type": "Deleting", "status": "False"})
    assert one.hub_condition == {"type": "Deleting", "status": "False"}
    assert view().hub_condition is None


# -- kinds -------------------------------------------------------------------------------------------------------------


def test_kinds_of_a_hub() -> None:
    wanted = options_of(name="edge", wait_for=["Pod", "widgets.v1.nowhere.example.com"], wait_for_missing="ignore")
    kinds = find_kinds(wanted, Hub())
    assert (kinds.clusters, kinds.cleanup, kinds.gate, kinds.works) == (CLUSTERS, (ADDONS, WORKS), (PODS,), 1)


def test_an_older_version_of_addons_will_do() -> None:
    older = dataclasses.replace(ADDONS, version="v1alpha1")
    hub = InMemoryCluster(*SERVED, CLUSTERS, older, WORKS)
    assert find_kinds(options_of(name="edge"), hub).cleanup == (older, WORKS)


def test_a_hub_without_addons() -> None:
    kinds = find_kinds(options_of(name="edge"), InMemoryCluster(*SERVED, CLUSTERS, WORKS))
    assert (kinds.cleanup, kinds.works) == ((None, WORKS), 1)


def test_what_is_no_hub_is_refused() -> None:
    with pytest.raises(Refused, match="this is no hub"):
        find_kinds(options_of(name="edge"), InMemoryCluster())


@pytest.mark.parametrize("group", [CLUSTERS.group, ADDONS.group, WORKS.group])
def test_a_group_that_does_not_answer_is_an_error(group: str) -> None:
    hub = InMemoryCluster(*SERVED, *(one for one in (CLUSTERS, ADDONS, WORKS) if one.group != group))
    hub.stale.append(f"{group}/v1")
    with pytest.raises(CannotLook):
        find_kinds(options_of(name="edge"), hub)


SPELLINGS = ["domains.v1.ingress.example.com", "ingress.example.com/v1/domains", "Domain"]


@pytest.mark.parametrize("text", SPELLINGS)
def test_all_spellings_find_the_same_kind(text: str) -> None:
    assert find_kinds(options_of(name="edge", wait_for=[text], cleanup=[text]), Hub()).gate == (DOMAINS,)


# -- clusters ----------------------------------------------------------------------------------------------------------


def found(hub: Hub, **params: Any) -> list[ClusterView]:
    options = options_of(**params)
    return find_clusters(options, find_kinds(options, hub), hub)


def test_named_ones_come_in_the_tasks_order_there_or_not() -> None:
    hub = Hub()
    hub.join("b")
    hub.add(WORKS, "w", "c")
    assert [(one.name, one.reach, one.is_there) for one in found(hub, names=["c", "b", "a"])] == [
        ("c", Reach.GONE, True),
        ("b", Reach.REACHABLE, True),
        ("a", Reach.GONE, False),
    ]


@pytest.mark.parametrize("count", [3, 12])
def test_few_or_many_get_what_is_theirs(count: int) -> None:
    hub = Hub()
    names = [f"c{number:02}" for number in range(count)]
    for name in [*names, "other"]:
        hub.join(name)
        hub.add(ADDONS, f"a-{name}", name)
        hub.add(WORKS, f"{name}-klusterlet", name)
    views = found(hub, names=names)
    assert [[one.name for one in view.kinds[0]] for view in views] == [[f"a-{name}"] for name in names]
    assert [view.agents for view in views] == [{f"ManifestWork-{name}-{name}-klusterlet"} for name in names]


def test_a_selector_finds_and_sorts() -> None:
    hub = Hub()
    for name in ("b", "a"):
        hub.add(CLUSTERS, name, "", labels={"site": "x"})
    hub.add(CLUSTERS, "c", "", labels={"site": "y"})
    assert [one.name for one in found(hub, label_selector="site=x")] == ["a", "b"]
    assert found(hub, label_selector="site=z") == []


def test_an_agent_is_found_by_its_content_when_nothing_else_tells() -> None:
    hub = Hub()
    hub.join("edge")
    hub.add(WORKS, "mine", "edge", spec={"workload": {"manifests": [{"kind": "Klusterlet"}]}})
    hub.add(WORKS, "other", "edge", spec={"workload": {"manifests": [{"kind": "ConfigMap"}]}})
    assert found(hub, name="edge")[0].agents == {"ManifestWork-edge-mine"}


def test_the_gate_looks_into_the_namespace_or_by_the_name() -> None:
    hub = Hub()
    hub.join("edge")
    for thing in ("edge", "elsewhere"):
        hub.add(DOMAINS, "d", thing)
        hub.add(ZONES, thing, "")
    gate = found(hub, name="edge", wait_for=["Domain", "Zone"])[0].gate
    assert [str(ref) for ref in gate] == ["Domain edge/d", "Zone edge"]


def test_looking_again_sees_what_is_new() -> None:
    hub = Hub()
    hub.join("edge")
    options = options_of(name="edge")
    kinds = find_kinds(options, hub)
    before = find_clusters(options, kinds, hub)[0]
    hub.add(ADDONS, "late", "edge")
    assert [len(some) for some in look_again(before, kinds, hub).kinds] == [1, 0]
    hub.remove(CLUSTERS, "edge", "")
    assert look_again(before, kinds, hub).reach is Reach.GONE


@pytest.mark.parametrize("plural", ["managedclusters", "managedclusteraddons", "manifestworks"])
def test_what_cannot_be_listed_is_never_taken_for_empty(plural: str) -> None:
    hub = Hub()
    hub.join("edge")
    hub.unseen[plural] = api_error(403, "Forbidden", "no")
    with pytest.raises(Problem, match="no"):
        found(hub, name="edge")
