# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The freeze: what its policy says, putting it in place, lifting it, and sweeping those that are over."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, CannotLook, Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.freeze import (
    Freeze,
    binding_of,
    freeze,
    lift,
    policy_of,
    try_freeze,
    would_lift,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.freezing import (
    FreezeOptions,
    FreezeOutcome,
    parse_freeze,
    set_freeze,
)
from ansible_collections.sunset.kube.tests.unit.fakes import SERVER_NOW, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    BASKETS,
    BINDINGS,
    POLICIES,
    STORES,
    DrainCluster,
    F,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVICES, api_error

SHOP = Freeze(
    "quiet",
    no_creation_of=(STORES, BASKETS),
    no_finalizers=(F, "bank.example.com/*"),
    finalizers_on=(BASKETS, SERVICES),
    namespaces=("shop", "bank"),
    allow_users=("system:admin", 'o"dd'),
    expires_at=SERVER_NOW + 600,
)
NO = api_error(403, "Forbidden", "no")


def rules(of: Freeze) -> list[tuple[str, str, list[str]]]:
    found = policy_of(of)["spec"]["matchConstraints"]["resourceRules"]
    return [(rule["apiGroups"][0], rule["resources"][0], rule["operations"]) for rule in found]


def expression(of: Freeze) -> str:
    [rule] = policy_of(of)["spec"]["validations"]
    return str(rule["expression"])


# -- what it says ------------------------------------------------------------------------------------------------------


def test_each_kind_is_matched_once_with_what_is_forbidden_on_it_and_the_probe_last() -> None:
    assert rules(SHOP) == [
        ("", "services", ["CREATE", "UPDATE"]),
        ("shop.example.com", "baskets", ["CREATE", "UPDATE"]),
        ("shop.example.com", "stores", ["CREATE"]),
        ("", "configmaps", ["CREATE"]),
    ]


def test_every_version_of_a_kind_is_matched() -> None:
    found = policy_of(SHOP)["spec"]["matchConstraints"]["resourceRules"]
    assert [rule["apiVersions"] for rule in found] == [["*"], ["*"], ["*"], ["v1"]]


def test_updates_are_not_looked_at_where_only_creation_is_forbidden() -> None:
    assert rules(Freeze("x", no_creation_of=(BASKETS,), finalizers_on=(SERVICES,)))[:-1] == [
        ("shop.example.com", "baskets", ["CREATE"])
    ]


def test_the_probe_concerns_one_config_map_only() -> None:
    probe = policy_of(SHOP)["spec"]["matchConstraints"]["resourceRules"][-1]
    assert probe["resourceNames"] == ["quiet-probe"]
    assert "request.kind.kind == 'ConfigMap' && request.name == 'quiet-probe'" in expression(SHOP)


PARTS: dict[str, tuple[Freeze, str, bool]] = {
    "kinds": (SHOP, 'in ["shop.example.com/Basket", "shop.example.com/Store"]', True),
    "no kinds": (Freeze("x", no_finalizers=(F,)), "request.kind.group", False),
    "a finalizer by name": (SHOP, f'f in ["{F}"]', True),
    "a finalizer by its beginning": (SHOP, r'f.matches("^bank\\.example\\.com/.*$")', True),
    "only what is added": (SHOP, "f in oldObject.metadata.finalizers", True),
    "no finalizers": (Freeze("x", no_creation_of=(BASKETS,)), "oldObject", False),
    "its end": (SHOP, "timestamp('2026-01-01T00:10:00Z')", True),
}


@pytest.mark.parametrize(("of", "part", "there"), named(PARTS))
def test_the_rule_says_what_is_forbidden_and_until_when(of: Freeze, part: str, there: bool) -> None:
    assert (part in expression(of)) is there


def test_brackets_of_the_rule_are_closed() -> None:
    depth = 0
    for sign in expression(SHOP):
        depth += (sign == "(") - (sign == ")")
        assert depth >= 0
    assert depth == 0


def test_a_rule_that_cannot_be_evaluated_holds_up_nobody_and_all_others_are_denied() -> None:
    assert policy_of(SHOP)["spec"]["failurePolicy"] == "Ignore"
    assert binding_of(SHOP)["spec"]["validationActions"] == ["Deny"]


def test_users_may_be_let_through() -> None:
    conditions = {one["name"]: one["expression"] for one in policy_of(SHOP)["spec"]["matchConditions"]}
    probe = "(request.kind.kind == 'ConfigMap' && request.name == 'quiet-probe')"
    assert conditions == {
        "for-whom": probe + r' || !(request.userInfo.username in ["system:admin", "o\"dd"])',
        "where": 'request.namespace in ["bank", "shop"]',
    }


def test_the_message_names_the_freeze_and_its_end() -> None:
    [rule] = policy_of(SHOP)["spec"]["validations"]
    assert re.fullmatch(r"frozen by sunset\.kube \(quiet, [0-9a-f]{8}\) until 2026-01-01T00:10:00Z", rule["message"])


@pytest.mark.parametrize("part", [policy_of, binding_of])
def test_both_parts_are_marked_as_ours_with_their_end(part: Any) -> None:
    assert part(SHOP)["metadata"] == {
        "name": "quiet",
        "labels": {"sunset.dev/freeze": "true"},
        "annotations": {"sunset.dev/freeze-ends": "2026-01-01T00:10:00Z"},
    }


def test_it_may_be_limited_to_namespaces() -> None:
    [among] = binding_of(SHOP)["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert among == {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["shop", "bank"]}
    assert not binding_of(Freeze("x"))["spec"].get("matchResources")


# -- in place ----------------------------------------------------------------------------------------------------------


def put(cluster: DrainCluster, of: Freeze = SHOP, told: Told | None = None) -> bool:
    return freeze(of, cluster, cluster.clock, told if told is not None else Told())


CREATED = ["create ValidatingAdmissionPolicy quiet", "create ValidatingAdmissionPolicyBinding quiet"]


def test_policy_and_binding_are_created_and_it_is_told() -> None:
    cluster, told = DrainCluster(), Told()
    assert put(cluster, told=told)
    assert cluster.writes() == CREATED
    assert [event.action for event in told if isinstance(event, Did)] == ["freeze", "freeze"]


def test_the_same_freeze_again_changes_nothing() -> None:
    cluster = DrainCluster()
    put(cluster)
    # The server adds what was not said.
    binding = cluster.objects[BINDINGS.group, BINDINGS.plural, "", "quiet"]
    binding["spec"]["matchResources"]["matchPolicy"] = "Equivalent"
    before = copy.deepcopy(cluster.objects)
    assert not put(cluster)
    assert cluster.objects == before


CHANGES: dict[str, dict[str, Any]] = {
    "a later end": {"expires_at": SERVER_NOW + 900},
    "other kinds": {"no_creation_of": (STORES,)},
    "fewer namespaces": {"namespaces": ("shop",)},
    "other users": {"allow_users": ()},
}


@pytest.mark.parametrize("change", named(CHANGES))
def test_another_freeze_of_the_same_name_takes_its_place(change: dict[str, Any]) -> None:
    cluster = DrainCluster()
    put(cluster)
    wanted = Freeze(**{**SHOP.__dict__, **change})
    assert put(cluster, wanted)
    policy = cluster.objects[POLICIES.group, POLICIES.plural, "", "quiet"]
    binding = cluster.objects[BINDINGS.group, BINDINGS.plural, "", "quiet"]
    assert (policy["spec"], binding["spec"]) == (policy_of(wanted)["spec"], binding_of(wanted)["spec"])


def test_a_freeze_may_be_widened_to_the_whole_cluster() -> None:
    cluster = DrainCluster()
    put(cluster)
    assert put(cluster, Freeze(**{**SHOP.__dict__, "namespaces": ()}))
    assert not cluster.objects[BINDINGS.group, BINDINGS.plural, "", "quiet"]["spec"].get("matchResources")


def test_a_policy_that_is_not_ours_is_not_touched() -> None:
    cluster = DrainCluster()
    cluster.add(POLICIES, "quiet", spec={"theirs": True})
    with pytest.raises(Refused, match="cannot freeze"):
        put(cluster)
    assert cluster.objects[POLICIES.group, POLICIES.plural, "", "quiet"]["spec"] == {"theirs": True}


def test_a_refused_part_is_an_error() -> None:
    cluster = DrainCluster()
    cluster.refusals["ValidatingAdmissionPolicyBinding quiet"] = NO
    with pytest.raises(
        ApiError, match=r"^cannot create ValidatingAdmissionPolicyBinding quiet: HTTP 403 Forbidden, no\."
    ):
        put(cluster)


def test_it_is_waited_for_until_it_works() -> None:
    cluster = DrainCluster()
    cluster.freeze_works = False
    cluster.clock.at(cluster.clock.now() + 2.0, lambda: setattr(cluster, "freeze_works", True))
    put(cluster)
    assert sum(cluster.clock.slept) == 2.0


def test_one_that_does_not_work_is_an_error_after_a_while() -> None:
    cluster = DrainCluster()
    cluster.freeze_works = False
    with pytest.raises(Refused, match="the freeze does not work"):
        put(cluster)
    assert sum(cluster.clock.slept) == 15.0


@pytest.mark.parametrize("namespaces", [("shop", "bank"), ()])
def test_the_probe_is_tried_where_the_freeze_is_and_never_kept(namespaces: tuple[str, ...]) -> None:
    cluster = DrainCluster()
    cluster.freeze_works = False
    with pytest.raises(Refused):
        put(cluster, Freeze("quiet", no_creation_of=(BASKETS,), namespaces=namespaces))
    wanted = {f"create ConfigMap {place}/quiet-probe (dry run)" for place in namespaces or ("default",)}
    assert {line for line in cluster.log if "probe" in line} == wanted
    assert not any("ConfigMap" in thing for thing in cluster.left())


def test_a_probe_that_is_not_allowed_is_an_error_and_nothing_is_left() -> None:
    cluster = DrainCluster()
    cluster.freeze_works = False
    cluster.refusals["ConfigMap shop/quiet-probe"] = NO
    with pytest.raises(ApiError, match="no"):
        put(cluster)
    assert not would_lift("quiet", cluster)


@pytest.mark.parametrize("missing", [POLICIES, BINDINGS])
def test_an_old_cluster_cannot_freeze(missing: Any) -> None:
    cluster = DrainCluster()
    cluster.served.remove(missing)
    with pytest.raises(CannotLook, match="this cluster has no admission policies"):
        put(cluster)
    assert cluster.log == []


def test_a_version_before_v1_is_too_old() -> None:
    cluster = DrainCluster()
    cluster.served.remove(POLICIES)
    cluster.served.append(type(POLICIES)(POLICIES.group, "v1beta1", POLICIES.kind, POLICIES.plural, False))
    with pytest.raises(CannotLook):
        put(cluster)


def test_a_rehearsal_tries_both_parts_and_keeps_none() -> None:
    cluster = DrainCluster()
    assert len(try_freeze(SHOP, cluster)) == 2
    assert (cluster.objects, cluster.log) == ({}, [f"{line} (dry run)" for line in CREATED])
    put(cluster)
    assert try_freeze(SHOP, cluster) == []
    later = Freeze(**{**SHOP.__dict__, "expires_at": SERVER_NOW + 900})
    assert len(try_freeze(later, cluster)) == 2


def test_a_rehearsal_sees_that_the_name_is_taken() -> None:
    cluster = DrainCluster()
    cluster.add(POLICIES, "quiet", spec={"theirs": True})
    with pytest.raises(Refused):
        try_freeze(SHOP, cluster)


def test_a_glob_with_a_star_inside_is_not_taken_by_the_letter() -> None:
    assert "ceph*" not in expression(Freeze("x", no_finalizers=("ceph*.ceph.rook.io",), finalizers_on=(SERVICES,)))


# -- lifting -----------------------------------------------------------------------------------------------------------


def test_the_binding_is_taken_away_before_the_policy() -> None:
    cluster = DrainCluster()
    put(cluster)
    cluster.log.clear()
    assert lift("quiet", cluster, cluster.clock, Told())
    assert cluster.writes() == [line.replace("create", "delete") for line in reversed(CREATED)]
    assert not lift("quiet", cluster, cluster.clock, Told())


def test_what_is_not_ours_is_not_lifted() -> None:
    cluster = DrainCluster()
    cluster.add(POLICIES, "quiet")
    assert not lift("quiet", cluster, cluster.clock, Told())
    assert cluster.left() == ["ValidatingAdmissionPolicy quiet"]


def test_a_freeze_that_cannot_be_lifted_is_an_error() -> None:
    cluster = DrainCluster()
    put(cluster)
    cluster.refusals["ValidatingAdmissionPolicyBinding quiet"] = NO
    with pytest.raises(Problem):
        lift("quiet", cluster, cluster.clock, Told())


# -- the module --------------------------------------------------------------------------------------------------------

PARAMS: dict[str, Any] = {
    "name": "quiet",
    "state": "present",
    "kinds": ["baskets.shop.example.com"],
    "finalizers": None,
    "on_kinds": None,
    "namespaces": None,
    "allow_users": None,
    "expires_after": 600,
    "timeout": 60,
}


def done(cluster: DrainCluster, *, check_mode: bool = False, **params: Any) -> FreezeOutcome:
    options = parse_freeze({**PARAMS, **params}, check_mode=check_mode)
    return set_freeze(options, cluster, cluster.clock, Told())


def test_options_reach_their_place() -> None:
    params = {"finalizers": [F], "on_kinds": ["svc"], "namespaces": ["shop"], "allow_users": ["me"]}
    assert parse_freeze({**PARAMS, **params}, check_mode=True) == FreezeOptions(
        "quiet", "present", ("baskets.shop.example.com",), (F,), ("svc",), ("shop",), ("me",), 600.0, 60.0, True
    )


NAME_RULE = "must be lower-case letters, digits, dashes and dots, at most 200 of them"
EMPTY = "is empty; leave it out or give a value"
GLOB = "finalizers: a glob may only have its star at the end, after a name: example.com/*"
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": None}, "name: is needed with state: present"),
    "an empty name": ({"name": " ", "state": "absent"}, "name: is needed with state: absent"),
    "a long name": (
        {"name": "x" * 201},
        "name: must be lower-case letters, digits, dashes and dots, at most 200 of them",
    ),
    "nothing forbidden": ({"kinds": None}, "kinds: say what is forbidden: kinds to create, or finalizers to add"),
    "finalizers of nothing": ({"finalizers": [F]}, "on_kinds: finalizers and on_kinds go together"),
    "kinds without finalizers": ({"on_kinds": ["svc"]}, "on_kinds: finalizers and on_kinds go together"),
    "a star inside": ({"finalizers": ["a*b"], "on_kinds": ["svc"]}, GLOB),
    "only a star": ({"finalizers": ["*"], "on_kinds": ["svc"]}, GLOB),
    "an empty list": ({"namespaces": []}, f"namespaces: {EMPTY}"),
    "an empty text": ({"allow_users": [""]}, f"allow_users: {EMPTY}"),
    "no time": ({"expires_after": 0}, "expires_after: must be 1 or more, not 0"),
}


@pytest.mark.parametrize(("params", "complaint"), named(BAD))
def test_a_bad_option_is_named(params: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadOption) as refused:
        parse_freeze({**PARAMS, **params}, check_mode=False)
    assert refused.value.why == complaint


GOOD: dict[str, dict[str, Any]] = {
    "sweeping needs no name": {"state": "swept", "name": None, "kinds": None},
    "lifting needs nothing else": {"state": "absent", "kinds": None},
    "a glob": {"finalizers": ["example.com/*"], "on_kinds": ["svc"]},
}


@pytest.mark.parametrize("params", named(GOOD))
def test_a_good_option_is_accepted(params: dict[str, Any]) -> None:
    parse_freeze({**PARAMS, **params}, check_mode=False)


def test_present_puts_it_in_place_until_the_servers_time_is_over() -> None:
    cluster = DrainCluster()
    assert done(cluster) == FreezeOutcome(True, "quiet", "2026-01-01T00:10:00Z")
    assert len(cluster.left()) == 2


def test_present_again_at_once_changes_nothing_and_later_moves_its_end() -> None:
    cluster = DrainCluster()
    done(cluster)
    assert not done(cluster).changed
    cluster.clock.advance(5)
    assert done(cluster) == FreezeOutcome(True, "quiet", "2026-01-01T00:10:05Z")


@pytest.mark.parametrize("option", ["kinds", "on_kinds"])
def test_a_kind_that_is_not_installed_is_refused(option: str) -> None:
    params = {"finalizers": [F], "on_kinds": ["svc"], option: ["spaceships.example.com"]}
    with pytest.raises(BadOption, match=f"{option}: spaceships"):
        done(DrainCluster(), **params)


def test_absent_lifts_it_once() -> None:
    cluster = DrainCluster()
    done(cluster)
    assert done(cluster, state="absent") == FreezeOutcome(True, "quiet", swept=["quiet"])
    assert (done(cluster, state="absent"), cluster.left()) == (FreezeOutcome(False, "quiet"), [])


def test_swept_removes_only_ours_that_are_over() -> None:
    cluster = DrainCluster()
    done(cluster, name="old", expires_after=10)
    done(cluster, name="new")
    cluster.add(POLICIES, "theirs", annotations={"sunset.dev/freeze-ends": "2020-01-01T00:00:00Z"})
    cluster.add(POLICIES, "unending", labels={"sunset.dev/freeze": "true"})
    cluster.clock.advance(60)
    assert done(cluster, state="swept", name=None).swept == ["old"]
    assert [thing.rpartition(" ")[2] for thing in cluster.left()] == ["new", "theirs", "unending", "new"]


@pytest.mark.parametrize("state", ["present", "absent", "swept"])
def test_check_mode_says_the_same_and_changes_nothing(state: str) -> None:
    cluster = DrainCluster()
    done(cluster, expires_after=10)
    cluster.clock.advance(60)
    before = copy.deepcopy(cluster.objects)
    planned = done(cluster, check_mode=True, state=state)
    assert (planned.changed, cluster.objects) == (True, before)
    assert planned == done(cluster, state=state)
