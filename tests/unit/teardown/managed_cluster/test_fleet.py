# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whole removals in memory, above all those that must not go wrong."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, Call
from ansible_collections.sunset.kube.tests.unit.teardown.managed_cluster.fleet_fakes import (
    ADDONS,
    CLUSTERS,
    KLUSTERLETS,
    ROLE_BINDINGS,
    WORKS,
    Hub,
    SpokeCluster,
    removed,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    ACCOUNTS,
    CONFIG_MAPS,
    ENDPOINTS,
    SECRETS,
    SERVICES,
    api_error,
)

API_CLEANUP = ocm.CLUSTER_FINALIZERS[0]
KEEP = {"helm.sh/resource-policy": "keep"}


def hub_with(*works: str, finalizers: tuple[str, ...] = (API_CLEANUP,), **more: Any) -> Hub:
    """One cluster, and works that nothing holds."""
    hub = Hub()
    hub.join("edge", *finalizers)
    for name in works:
        hub.add(WORKS, name, "edge", **more)
    return hub


def writes(hub: Hub) -> list[str]:
    return [line for line in hub.log if not line.startswith("gone")]


def test_all_of_it_goes_in_order() -> None:
    hub = hub_with("w")
    hub.add(ADDONS, "a", "edge")
    hub.add(ROLE_BINDINGS, ocm.ROLE_BINDINGS[1].format(name="edge"), "edge", finalizers=[ocm.WORK_FINALIZER])
    outcome = removed(hub, "edge", force_after=1)
    assert (outcome.failure, outcome.lanes[0].phase, hub.left()) == (None, "gone", [])
    gone = [line.split()[1] for line in hub.log if line.startswith("gone")]
    assert gone == ["ManagedClusterAddOn", "ManifestWork", "RoleBinding", "Namespace", "ManagedCluster"]


def test_nothing_of_others_is_touched() -> None:
    hub = hub_with("w")
    hub.join("other", API_CLEANUP)
    hub.add(WORKS, "w", "other")
    before = [line for line in hub.left() if "other" in line]
    removed(hub, "edge", force_after=1)
    assert hub.left() == before


def test_a_plan_that_is_too_large_or_has_changed_writes_nothing() -> None:
    for more in ({"max_objects": 1}, {"plan_hash": "0" * 16}):
        hub = hub_with("w")
        assert removed(hub, "edge", **more).failure is not None
        assert writes(hub) == []


TERMS = {"spoke_content": "orphan", "on_unreachable": "force", "namespace": "keep", "manifestworks": "addon_only"}


@pytest.mark.parametrize("option", TERMS)
def test_what_becomes_of_the_clusters_content_is_approved_with_the_plan(option: str) -> None:
    hub = hub_with()
    seen = removed(hub, "edge", check_mode=True).plan.hash
    assert removed(hub, "edge", check_mode=True, timeout=5).plan.hash == seen
    hub.log.clear()
    failure = removed(hub, "edge", plan_hash=seen, **{option: TERMS[option]}).failure
    assert "the plan has changed" in str(failure)
    assert writes(hub) == []


def test_a_missing_right_shows_before_the_first_write() -> None:
    hub = hub_with("w")
    hub.forbidden.add(("delete", "manifestworks"))
    assert removed(hub, "edge").failure is not None
    assert writes(hub) == []


@pytest.mark.parametrize("plural", ["rolebindings", "namespaces"])
def test_every_right_is_asked_for_before_the_first_write(plural: str) -> None:
    hub = hub_with("w")
    hub.add(ROLE_BINDINGS, ocm.ROLE_BINDINGS[0].format(name="edge"), "edge")
    hub.forbidden.add(("delete", plural))
    assert removed(hub, "edge", force_after=1).failure is not None
    assert writes(hub) == []


def test_a_work_that_must_be_kept_shows_before_the_first_write() -> None:
    hub = hub_with("w", annotations=KEEP)
    assert removed(hub, "edge", force_after=1).failure is not None
    assert writes(hub) == []


def test_a_work_that_must_be_kept_is_not_in_the_plan() -> None:
    outcome = removed(hub_with("w", annotations=KEEP), "edge", check_mode=True)
    assert [entry.member.record.name for entry in outcome.plan.going] == ["edge"]


@pytest.mark.parametrize("cleanup", ["managedclusteraddons", "work.open-cluster-management.io/v1/manifestworkss"])
def test_the_work_binding_keeps_its_finalizer_while_works_exist(cleanup: str) -> None:
    """Also where the task does not ask for works, or misspells them."""
    hub = hub_with("w", finalizers=())
    binding = ocm.ROLE_BINDINGS[1].format(name="edge")
    hub.add(ROLE_BINDINGS, binding, "edge", finalizers=[ocm.WORK_FINALIZER])
    removed(hub, "edge", cleanup=[cleanup], force_after=1, timeout=20)
    assert f"RoleBinding edge/{binding}" in hub.left()


def test_many_kinds_can_be_cleaned_up() -> None:
    hub = hub_with("w", finalizers=())
    for resource in (CONFIG_MAPS, SECRETS, SERVICES, ENDPOINTS, ACCOUNTS):
        hub.add(resource, "x", "edge")
    hub.add(ADDONS, "a", "edge")
    cleanup = ["ConfigMap", "Secret", "Service", "Endpoints", "ServiceAccount", "ManagedClusterAddOn", "ManifestWork"]
    assert removed(hub, "edge", cleanup=cleanup, force_after=1).failure is None


def test_check_mode_tells_of_a_namespace_that_is_left() -> None:
    hub = Hub()
    hub.add(NAMESPACES, "edge", "", labels={ocm.NAMESPACE_LABELS[0]: "edge"})
    planned = removed(hub, "edge", check_mode=True)
    assert removed(hub, "edge").changed
    assert planned.changed


def test_a_managed_cluster_with_a_keep_marker_is_one_or_the_other() -> None:
    hub = hub_with()
    hub.change(CLUSTERS, "edge", "", annotations=KEEP)
    outcome = removed(hub, "edge", force_after=1)
    assert (outcome.failure is None) == bool(writes(hub))


def test_bindings_of_a_vanished_cluster_go_also_when_its_namespace_is_kept() -> None:
    hub = Hub()
    hub.add(NAMESPACES, "edge", "", labels={ocm.NAMESPACE_LABELS[0]: "edge"})
    hub.add(ROLE_BINDINGS, ocm.ROLE_BINDINGS[0].format(name="edge"), "edge")
    outcome = removed(hub, "edge", namespace="keep", force_after=1)
    assert (outcome.failure, hub.left()) == (None, ["Namespace edge"])


def test_check_mode_tells_of_bindings_that_are_left() -> None:
    hub = Hub()
    hub.add(ROLE_BINDINGS, ocm.ROLE_BINDINGS[0].format(name="edge"), "edge")
    planned = removed(hub, "edge", check_mode=True)
    assert planned.changed is removed(hub, "edge", force_after=1).changed


def test_foreign_finalizers_are_never_taken() -> None:
    hub = Hub()
    hub.join("edge", available="Unknown")
    hub.add(WORKS, "w", "edge", finalizers=["bank.example.com/hold", ocm.WORK_FINALIZER])
    outcome = removed(hub, "edge", on_unreachable="force", force_after=1, timeout=20)
    assert outcome.failure is not None
    assert hub.read_whole(WORKS, "edge", "w")["metadata"]["finalizers"] == ["bank.example.com/hold"]  # type: ignore[index]


def test_a_name_that_only_ends_like_ours_is_foreign() -> None:
    hub = Hub()
    hub.join("edge", available="Unknown")
    foreign = "not-open-cluster-management.io/hold"
    hub.add(WORKS, "w", "edge", finalizers=[foreign, ocm.WORK_FINALIZER])
    removed(hub, "edge", on_unreachable="force", force_after=1, timeout=20)
    assert "ManifestWork edge/w" in hub.left()


def test_the_definitions_work_keeps_foreign_finalizers() -> None:
    hub = hub_with()
    hub.add(
        WORKS,
        "edge-klusterlet-crds",
        "edge",
        finalizers=["bank.example.com/hold", ocm.WORK_FINALIZER],
        status={"conditions": [{"type": "Deleting", "status": "True"}]},
    )
    removed(hub, "edge", force_after=1, timeout=20)
    assert "ManifestWork edge/edge-klusterlet-crds" in hub.left()


def test_a_reachable_cluster_is_not_forced_when_its_managed_cluster_has_no_finalizer() -> None:
    """Nothing holds the ManagedCluster, so it goes at once; its agent still works, and only needs time."""
    hub = Hub()
    hub.join("edge")
    hub.add(WORKS, "slow", "edge", finalizers=[ocm.WORK_FINALIZER])
    removed(hub, "edge", on_unreachable="force", force_after=1, timeout=20)
    assert "ManifestWork edge/slow" in hub.left()


def test_what_remains_is_counted_at_the_end() -> None:
    hub = hub_with("free")
    hub.add(WORKS, "held", "edge", finalizers=[ocm.WORK_FINALIZER])
    outcome = removed(hub, "edge", timeout=10)
    assert outcome.failure is not None
    assert [[one.name for one in some] for some in outcome.lanes[0].view.kinds] == [[], ["held"]]


def test_one_that_cannot_go_does_not_hold_up_the_others() -> None:
    hub = hub_with("w")
    hub.join("dark", API_CLEANUP, available="Unknown")
    hub.add(WORKS, "held", "dark", finalizers=[ocm.WORK_FINALIZER])
    outcome = removed(hub, "dark", "edge", force_after=1, concurrency=1)
    assert [lane.phase for lane in outcome.lanes] == ["reachable?", "gone"]
    assert str(outcome.failure).startswith("1 of 2 clusters are not gone (dark)")
    assert str(outcome.failure).count("Next:") == 1


def test_a_namespace_with_a_tools_keep_marker_is_kept_and_that_is_success() -> None:
    hub = hub_with("w")
    hub.change(NAMESPACES, "edge", "", annotations=KEEP)
    outcome = removed(hub, "edge", force_after=1)
    assert (outcome.failure, outcome.lanes[0].phase) == (None, "gone")
    assert "helm.sh/resource-policy" in outcome.lanes[0].namespace_kept


def test_check_mode_refuses_what_a_run_would_refuse() -> None:
    hub = hub_with("w", annotations=KEEP)
    assert removed(hub, "edge", check_mode=True).failure is not None


def test_a_cluster_that_is_created_anew_meanwhile_is_left_alone() -> None:
    hub = Hub()
    hub.join("edge")
    hub.add(ADDONS, "a", "edge", finalizers=[ocm.HOOK_LABELS[0]])

    def anew() -> None:
        hub.add(CLUSTERS, "edge", "", uid="another", finalizers=[API_CLEANUP])
        hub.add(WORKS, "new", "edge")
        hub.release(ADDONS, "a", "edge")

    hub.clock.at(hub.clock.now() + 5, anew)
    outcome = removed(hub, "edge", force_after=1)
    assert "created anew" in str(outcome.failure)
    assert hub.left() == ["ManagedCluster edge", "ManifestWork edge/new", "Namespace edge"]
    assert "deletionTimestamp" not in hub.read_whole(CLUSTERS, "", "edge")["metadata"]  # type: ignore[index]


class HubWithLatecomers(Hub):
    """Right after each look that finds no works, somebody makes one."""

    def __init__(self, latecomers: int) -> None:
        super().__init__()
        self.latecomers = latecomers
        self.server.controllers.append(self._be_late)

    def _be_late(self, call: Call) -> None:
        looked = call.verb == "list" and call.resource == WORKS
        if looked and self.latecomers and not any(key[1] == WORKS.plural for key in self.objects):
            self.latecomers -= 1
            self.add(WORKS, f"late-{self.latecomers}", "edge")


def with_latecomers(number: int) -> Hub:
    hub = HubWithLatecomers(number)
    hub.join("edge")
    hub.add(ROLE_BINDINGS, ocm.ROLE_BINDINGS[1].format(name="edge"), "edge", finalizers=[ocm.WORK_FINALIZER])
    return hub


def test_works_that_come_when_all_seems_clean_go_before_the_rights_of_the_agent() -> None:
    hub = with_latecomers(3)
    outcome = removed(hub, "edge", force_after=1)
    assert (outcome.failure, hub.left()) == (None, [])
    gone = [line.split()[1] for line in hub.log if line.startswith("gone")]
    assert gone == ["ManagedCluster", *["ManifestWork"] * 3, "RoleBinding", "Namespace"]


def test_works_that_never_stop_coming_end_the_run_with_the_agents_rights_in_place() -> None:
    hub = with_latecomers(1000)
    outcome = removed(hub, "edge", force_after=1)
    assert "made again and again" in str(outcome.failure)
    assert any(left.startswith("RoleBinding") for left in hub.left())


def test_a_gate_of_a_kind_that_is_not_served_is_refused_or_told_about_where_that_is_wanted() -> None:
    """It may be a typing error."""
    wishes = ["applicationss.v1alpha1.argoproj.io", "argoproj.io/v1alpha1/applicationss"]
    hub = hub_with("w")
    with pytest.raises(Refused, match=r"cannot wait for applicationss\.v1alpha1\.argoproj\.io, argoproj\.io/v1alpha1/"):
        removed(hub, "edge", wait_for=wishes)
    assert writes(hub) == []
    outcome = removed(hub, "edge", wait_for=wishes, wait_for_missing="ignore", check_mode=True)
    assert [text.partition(":")[0] for text in outcome.warnings] == ["wait_for", "wait_for"]
    assert all("is not installed" in text for text in outcome.warnings)


def test_nobody_is_bothered_with_the_versions_of_the_default() -> None:
    hub = hub_with("w")
    hub.served.remove(ADDONS)
    assert removed(hub, "edge", check_mode=True).warnings == []


def test_a_hub_that_cleans_up_by_itself_is_noticed_and_does_not_spare_works() -> None:
    alone, helped = hub_with("w"), hub_with("w", finalizers=(API_CLEANUP, ocm.HUB_CLEANS_UP))
    wishes: dict[str, Any] = {"check_mode": True, "manifestworks": "none"}
    assert (removed(alone, "edge", **wishes).warnings, removed(alone, "edge", **wishes).hub_cleans_up) == ([], set())
    outcome = removed(helped, "edge", **wishes)
    assert outcome.hub_cleans_up == {"edge"}
    assert "this hub deletes every work by itself" in outcome.warnings[0]


def test_orphaning_is_told_before_anything_is_deleted() -> None:
    hub = hub_with("w", "edge-klusterlet")
    hub.add(ADDONS, "a", "edge")
    assert removed(hub, "edge", spoke_content="orphan", force_after=1).failure is None
    first = next(place for place, line in enumerate(hub.log) if line.startswith("delete"))
    assert [line.split()[0] for line in hub.log[:first]] == ["patch"] * 3
    assert sum("deleteOption" in str(body) for body in hub.bodies) == 2
    assert sum(ocm.ORPHAN_ADDON in str(body) for body in hub.bodies) == 1


# -- hosted mode, and the cluster itself -------------------------------------------------------------------------------


def test_hosted_works_go_after_all_others_in_their_order() -> None:
    hub = hub_with("w")
    labels = {ocm.HOSTED_LABEL: "edge"}
    for name in ("edge-hosted-kubeconfig", "edge-hosted-klusterlet", "addon-thing"):
        hub.add(WORKS, name, "hosting", labels=labels)
    hub.add(WORKS, "others-hosted-klusterlet", "hosting", labels={ocm.HOSTED_LABEL: "other"})
    assert removed(hub, "edge", force_after=1).failure is None
    gone = [line.rpartition("/")[2] for line in hub.log if line.startswith("gone ManifestWork")]
    assert gone == ["w", "addon-thing", "edge-hosted-klusterlet", "edge-hosted-kubeconfig"]
    assert hub.left() == ["ManifestWork hosting/others-hosted-klusterlet"]


def test_hosted_works_are_in_the_plan() -> None:
    hub = hub_with("w")
    hub.add(WORKS, "edge-hosted-klusterlet", "hosting", labels={ocm.HOSTED_LABEL: "edge"})
    going = [entry.member.record.name for entry in removed(hub, "edge", check_mode=True).plan.going]
    assert "edge-hosted-klusterlet" in going


def test_hosted_works_left_to_others_are_waited_for() -> None:
    hub = hub_with()
    hub.add(WORKS, "edge-hosted-klusterlet", "hosting", labels={ocm.HOSTED_LABEL: "edge"})
    assert removed(hub, "edge", manifestworks="none", force_after=1, timeout=20).failure is not None


def spoke_with(*clusters: str) -> SpokeCluster:
    spoke = SpokeCluster()
    for name in clusters:
        spoke.add(KLUSTERLETS, f"klusterlet-{name}", "", spec={"clusterName": name})
    return spoke


def test_the_agent_on_the_cluster_goes() -> None:
    spoke = spoke_with("edge")
    outcome = removed(hub_with("w"), "edge", on=spoke, force_after=1)
    assert (outcome.failure, spoke.left()) == (None, [])


def test_the_agent_of_another_cluster_is_not_touched() -> None:
    """The wrong kubeconfig, or a cluster that hosts agents of others."""
    spoke = spoke_with("other")
    removed(hub_with("w"), "edge", on=spoke, force_after=1)
    assert spoke.left() == ["Klusterlet klusterlet-other"]


def test_a_cluster_that_does_not_answer_shows_before_the_first_write() -> None:
    spoke = spoke_with("edge")
    spoke.unseen["klusterlets"] = api_error(403, "Forbidden", "no")
    hub = hub_with("w")
    with pytest.raises(Problem, match="Forbidden"):
        removed(hub, "edge", on=spoke, force_after=1)
    assert writes(hub) == []


def test_check_mode_does_not_touch_the_cluster_itself() -> None:
    spoke = spoke_with("edge")
    removed(hub_with("w"), "edge", check_mode=True, on=spoke)
    assert (spoke.log, len(spoke.left())) == ([], 1)
