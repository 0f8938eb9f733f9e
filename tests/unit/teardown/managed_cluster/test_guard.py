# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The guard of a hub: what its policies say, where it is bound, and that nothing of others is touched."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Refused
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.guard import (
    GuardOptions,
    GuardOutcome,
    set_guard,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.guard_policies import (
    LEAVING,
    WITHOUT,
    binding_name,
    bound_namespace,
    leaving_binding,
    leaving_policy,
    without_binding,
    without_policy,
)
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES
from ansible_collections.sunset.kube.tests.unit.teardown.managed_cluster.fleet_fakes import ADDONS, WORKS, Hub
from ansible_collections.sunset.kube.tests.unit.teardown.policy_fakes import BINDINGS, POLICIES, PoliciesWork
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVED, InMemoryCluster, api_error


class GuardedHub(PoliciesWork, Hub):
    """Admission policies take effect."""


def guarded(hub: InMemoryCluster, state: str = "present", *, check_mode: bool = False) -> GuardOutcome:
    return set_guard(GuardOptions(state, 60, check_mode), hub, hub.clock, lambda event: None)


def bound(hub: InMemoryCluster) -> list[str]:
    return sorted(
        bound_namespace(key[3]) for key in hub.objects if key[1] == BINDINGS.plural if bound_namespace(key[3])
    )


def writes(hub: InMemoryCluster) -> list[str]:
    return [line for line in hub.log if "dry run" not in line]


def hub_with(*clusters: str) -> GuardedHub:
    hub = GuardedHub()
    for name in clusters:
        hub.join(name)
    return hub


# -- what it says ------------------------------------------------------------------------------------------------------


def test_addons_are_denied_while_their_cluster_leaves_whichever_it_is() -> None:
    [rule] = leaving_policy()["spec"]["validations"]
    assert "params.metadata.name == request.namespace && has(params.metadata.deletionTimestamp)" in rule["expression"]
    assert leaving_binding()["spec"]["paramRef"] == {"selector": {}, "parameterNotFoundAction": "Allow"}


def test_a_missing_cluster_is_what_denies_so_it_must_not_be_ignored() -> None:
    assert without_policy()["spec"]["failurePolicy"] == "Fail"
    assert without_binding("edge")["spec"]["paramRef"] == {"name": "edge", "parameterNotFoundAction": "Deny"}


def test_a_binding_is_about_its_namespace_only() -> None:
    [limit] = without_binding("edge")["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert (limit["operator"], limit["values"]) == ("In", ["edge"])


@pytest.mark.parametrize(
    ("policy", "plurals"),
    [(leaving_policy(), ["managedclusteraddons"]), (without_policy(), ["managedclusteraddons", "manifestworks"])],
    ids=["leaving", "without"],
)
def test_only_creation_is_denied_and_of_these_kinds(policy: dict[str, Any], plurals: list[str]) -> None:
    *rules, probe = policy["spec"]["matchConstraints"]["resourceRules"]
    assert [rule["resources"][0] for rule in rules] == plurals
    assert {verb for rule in (*rules, probe) for verb in rule["operations"]} == {"CREATE"}
    assert probe["resourceNames"] == [f"{policy['metadata']['name']}-probe"]


def test_works_are_allowed_while_a_cluster_leaves() -> None:
    """The last jobs of its addons are works."""
    assert "manifestworks" not in str(leaving_policy())


def test_the_name_of_a_binding_tells_the_namespace() -> None:
    assert bound_namespace(binding_name("edge-7")) == "edge-7"
    assert bound_namespace(LEAVING) == ""


# -- where it is bound -------------------------------------------------------------------------------------------------


def test_every_namespace_that_has_to_do_with_a_cluster_is_guarded() -> None:
    hub = hub_with("here")
    hub.add(NAMESPACES, "was-one", "", labels={ocm.NAMESPACE_LABELS[1]: "was-one"})
    hub.add(NAMESPACES, "holds-a-work", "")
    hub.add(WORKS, "w", "holds-a-work")
    hub.add(NAMESPACES, "shop", "")
    outcome = guarded(hub)
    assert outcome.namespaces == outcome.added == bound(hub) == ["here", "holds-a-work", "was-one"]
    assert [str(ref) for ref in outcome.strays] == ["ManifestWork holds-a-work/w"]
    assert {key[3] for key in hub.objects if key[1] == POLICIES.plural} == {LEAVING, WITHOUT}


def test_a_second_time_writes_nothing() -> None:
    hub = hub_with("edge")
    assert guarded(hub).changed
    hub.log.clear()
    again = guarded(hub)
    assert (again.changed, again.added, again.namespaces) == (False, [], ["edge"])
    assert hub.log == []


def test_a_cluster_that_joined_since_is_bound_the_next_time() -> None:
    hub = hub_with("edge")
    guarded(hub)
    hub.join("new")
    outcome = guarded(hub)
    assert (outcome.changed, outcome.added) == (True, ["new"])


def test_a_namespace_that_outlives_its_cluster_stays_guarded_whatever_its_labels() -> None:
    hub = hub_with("edge")
    guarded(hub)
    hub.remove(_clusters(hub), "edge", "")
    hub.change(NAMESPACES, "edge", "", labels={})
    outcome = guarded(hub)
    assert (outcome.changed, bound(hub)) == (False, ["edge"])


def test_the_binding_of_a_namespace_that_is_gone_with_its_cluster_is_dropped() -> None:
    hub = hub_with("edge", "other")
    guarded(hub)
    hub.remove(_clusters(hub), "edge", "")
    hub.remove(NAMESPACES, "edge", "")
    outcome = guarded(hub)
    assert (outcome.changed, outcome.dropped, bound(hub)) == (True, ["edge"], ["other"])


def _clusters(hub: Hub) -> Any:
    return hub.find_kind(*ocm.CLUSTERS).resource


def test_check_mode_tells_and_writes_nothing() -> None:
    hub = hub_with("edge")
    outcome = guarded(hub, check_mode=True)
    assert (outcome.changed, outcome.added) == (True, ["edge"])
    assert (writes(hub), bound(hub)) == ([], [])


# -- no longer ---------------------------------------------------------------------------------------------------------


def test_all_of_it_can_be_taken_away_and_a_second_time_changes_nothing() -> None:
    hub = hub_with("edge", "other")
    before = hub.left()
    guarded(hub)
    outcome = guarded(hub, "absent")
    assert (outcome.changed, outcome.dropped, hub.left()) == (True, ["edge", "other"], before)
    assert not guarded(hub, "absent").changed


def test_check_mode_takes_nothing_away() -> None:
    hub = hub_with("edge")
    guarded(hub)
    there = hub.left()
    assert guarded(hub, "absent", check_mode=True).changed
    assert hub.left() == there


# -- what must not happen ----------------------------------------------------------------------------------------------


def test_a_policy_of_somebody_else_is_not_touched() -> None:
    hub = hub_with("edge")
    hub.add(POLICIES, WITHOUT, "", spec={})
    with pytest.raises(Refused, match="not ours"):
        guarded(hub)
    assert not guarded(hub, "absent", check_mode=True).dropped
    assert hub.read_whole(POLICIES, "", WITHOUT)["spec"] == {}  # type: ignore[index]


def test_where_there_are_no_managed_clusters_it_is_no_hub() -> None:
    with pytest.raises(Refused, match="this is no hub"):
        guarded(InMemoryCluster(*SERVED, POLICIES, BINDINGS))


@pytest.mark.parametrize("plural", [ADDONS.plural, WORKS.plural, "managedclusters", "namespaces"])
def test_what_cannot_be_seen_is_not_taken_for_nothing(plural: str) -> None:
    hub = hub_with("edge")
    guarded(hub)
    hub.unseen[plural] = CannotLook("no")
    with pytest.raises(CannotLook):
        guarded(hub)
    assert bound(hub) == ["edge"]


def test_a_missing_right_shows_before_the_first_write() -> None:
    hub = hub_with("edge")
    hub.forbidden.add(("delete", BINDINGS.plural))
    with pytest.raises(Refused, match="not allowed"):
        guarded(hub)
    assert writes(hub) == []


def test_a_guard_that_does_not_take_effect_is_an_error() -> None:
    hub = hub_with("edge")
    hub.freeze_works = False
    with pytest.raises(Refused, match="the guard does not work"):
        guarded(hub)


@pytest.mark.parametrize("state", ["present", "absent"])
def test_what_is_asked_for_last_is_a_namespace_that_lives(state: str) -> None:
    """In one that is on its way out every probe is refused, which would tell nothing."""
    hub = hub_with("a", "b", "z")
    hub.change(NAMESPACES, "z", "", deletionTimestamp="2026-01-01T00:00:00Z")
    guarded(hub)
    if state == "absent":
        hub.log.clear()
        guarded(hub, "absent")
    written = [line.split()[2] for line in writes(hub) if "PolicyBinding" in line and not line.startswith("gone")]
    assert written[-1] == binding_name("b")


def test_a_refusal_by_somebody_else_is_not_taken_for_the_guard() -> None:
    hub = hub_with("edge")
    hub.refusals[f"ConfigMap edge/{WITHOUT}-probe"] = api_error(403, "Forbidden", "quota")
    hub.freeze_works = False
    with pytest.raises(Exception, match="quota"):
        guarded(hub)
