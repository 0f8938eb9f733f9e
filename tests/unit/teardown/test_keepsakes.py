# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whole objects, kept before they go."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem
from ansible_collections.sunset.kube.plugins.module_utils.teardown.keepsakes import Keepsakes, keep, sanitised
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import RECORDS, Entry, Plan, Step
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import StepRule
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, Told
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    ROLES,
    SECRETS,
    InMemoryCluster,
    api_error,
    member,
)

ONLY_SEALED = "Secrets are only kept encrypted, with undo_vault_password, when the task runs on the controller"


def step(*members: Member, name: str = "step", rule: StepRule | None = None) -> Step:
    return Step(rule or StepRule(name, 1), [[Entry(each, Verdict(Fate.DELETE, "")) for each in members]])


def kept(cluster: InMemoryCluster, *steps: Step) -> Keepsakes:
    return keep(Plan(list(steps)), {None: cluster}, Told())


def names(keepsakes: Keepsakes) -> list[tuple[str, list[str]]]:
    return [(each.step, [item["metadata"]["name"] for item in each.objects]) for each in keepsakes.steps]


def left_out(keepsakes: Keepsakes) -> list[str]:
    return [f"{ref}: {why}" for ref, why in keepsakes.left_out]


def test_an_object_is_kept_as_it_could_be_created_again() -> None:
    item = {
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "u",
            "resourceVersion": "7",
            "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": 0,
            "selfLink": "/x",
            "managedFields": [{"manager": "x"}],
            "ownerReferences": [{"uid": "o"}],
            "finalizers": ["x/y"],
            "labels": {"a": "b"},
            "annotations": {"c": "d"},
        },
        "spec": {"host": "x"},
        "status": {"ready": True},
    }
    assert sanitised(item, DOMAINS) == {
        "apiVersion": "ingress.example.com/v1",
        "kind": "Domain",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {"host": "x"},
    }


def test_the_original_is_not_changed() -> None:
    item = {"metadata": {"name": "web", "uid": "u", "finalizers": ["x"]}, "data": {"a": "b"}}
    sanitised(item, CONFIG_MAPS)
    assert item == {"metadata": {"name": "web", "uid": "u", "finalizers": ["x"]}, "data": {"a": "b"}}


def test_objects_are_kept_step_by_step_in_the_order_of_their_deletion() -> None:
    cluster = InMemoryCluster()
    for name in ("b", "a", "stranger"):
        cluster.add(CONFIG_MAPS, name)
    cluster.add(ROLES, "r")
    steps = (step(member(CONFIG_MAPS, "b"), member(CONFIG_MAPS, "a")), step(), step(member(ROLES, "r"), name="late"))
    assert names(kept(cluster, *steps)) == [("step", ["b", "a"]), ("late", ["r"])]


def test_one_list_a_kind_and_namespace_is_enough() -> None:
    cluster = InMemoryCluster()
    for number in range(20):
        cluster.add(CONFIG_MAPS, f"c{number}")
    kept(cluster, step(*(member(CONFIG_MAPS, f"c{number}") for number in range(20))))
    assert cluster.lists == ["configmaps in namespace shop"]


def test_secrets_are_never_kept_nor_even_read() -> None:
    cluster = InMemoryCluster()
    cluster.add(SECRETS, "password", data={"x": "aHVzaA=="})
    keepsakes = kept(cluster, step(member(SECRETS, "password")))
    assert (names(keepsakes), cluster.lists) == ([("step", [])], [])
    assert left_out(keepsakes) == [f"Secret shop/password: {ONLY_SEALED}"]


def test_secrets_on_demand_are_kept_apart_from_the_rest() -> None:
    cluster = InMemoryCluster()
    cluster.add(SECRETS, "password", data={"x": "aHVzaA=="})
    plan = Plan([step(member(SECRETS, "password"))])
    keepsakes = keep(plan, {None: cluster}, Told(), secrets=True)
    assert (names(keepsakes), [item["metadata"]["name"] for item in keepsakes.secrets]) == (
        [("step", [])],
        ["password"],
    )
    assert left_out(keepsakes) == []


def test_a_helm_record_in_a_config_map_is_not_kept_because_it_holds_the_releases_secrets() -> None:
    cluster = InMemoryCluster()
    name = "sh.helm.release.v1.web.v1"
    cluster.add(CONFIG_MAPS, name, labels={"owner": "helm"}, data={"release": "H4sI"})
    keepsakes = kept(cluster, step(member(CONFIG_MAPS, name, labels={"owner": "helm"}), rule=RECORDS))
    assert "release" not in str(keepsakes.steps[0].objects)


def test_what_has_gone_meanwhile_is_named() -> None:
    keepsakes = kept(InMemoryCluster(), step(member(CONFIG_MAPS, "gone")))
    assert left_out(keepsakes) == ["ConfigMap shop/gone: it was gone before it could be read"]


def test_a_namesake_created_meanwhile_is_not_kept_in_its_place() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "web", uid="another")
    assert names(kept(cluster, step(member(CONFIG_MAPS, "web")))) == [("step", [])]


def test_what_cannot_be_read_is_a_failure_before_the_first_delete() -> None:
    cluster = InMemoryCluster()
    cluster.unseen["configmaps"] = api_error(403, "Forbidden")
    with pytest.raises(Problem, match="HTTP 403"):
        kept(cluster, step(member(CONFIG_MAPS, "web")))
