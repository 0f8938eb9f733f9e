# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members that cli-utils and ApplySets keep lists of."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Membership, Search
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.inventories import (
    applyset_id,
    applyset_membership,
    inventory_membership,
)
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS, record
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    SECRETS,
    SERVED,
    InMemoryCluster,
)

RESOURCE_GROUPS = Resource("kpt.dev", "v1alpha1", "ResourceGroup", "resourcegroups", True, verbs=VERBS)


def cluster_with(*more: Resource) -> InMemoryCluster:
    return InMemoryCluster(*SERVED, *more)


def claims(found: Membership) -> list[str]:
    return [f"{claim.group or 'core'} {claim.kind} {claim.namespace}/{claim.name}" for claim in found.claims]


# -- cli-utils ---------------------------------------------------------------------------------------------------------

ID = "cli-utils.sigs.k8s.io/inventory-id"


def inventory(*others: tuple[str, str], data: Any = None, name: str = "inventory-1") -> Membership:
    cluster = InMemoryCluster()
    for config_map, identity in (("inventory-1", "id-1"), *others):
        cluster.add(CONFIG_MAPS, config_map, labels={ID: identity}, data=data)
    cluster.add(CONFIG_MAPS, "no-inventory")
    return inventory_membership(name, "shop", cluster)


@pytest.mark.parametrize("name", ["inventory-1", "id-1"], ids=["name of the ConfigMap", "inventory id"])
def test_an_inventory_is_found_by_name_or_id(name: str) -> None:
    found = inventory(("inventory-2", "id-2"), data={"shop_web_apps_Deployment": "", "_x__Namespace": ""}, name=name)
    assert claims(found) == ["apps Deployment shop/web", "core Namespace /x"]
    assert [claim.name for claim in found.records] == ["inventory-1"]


def test_an_empty_inventory_has_no_members_but_a_record() -> None:
    found = inventory()
    assert (found.claims, len(found.records), found.missing) == ([], 1, "")


def test_two_inventories_of_one_id_are_ambiguous() -> None:
    with pytest.raises(BadOption, match="is ambiguous, 2 ConfigMaps carry that id"):
        inventory(("inventory-2", "id-1"), name="id-1")


@pytest.mark.parametrize("resource", [CONFIG_MAPS, RESOURCE_GROUPS], ids=["ConfigMap", "ResourceGroup of kpt"])
def test_an_id_that_another_inventory_carries_is_nobodys(resource: Resource) -> None:
    cluster = cluster_with(RESOURCE_GROUPS)
    cluster.add(CONFIG_MAPS, "inventory-1", labels={ID: "id-1"})
    cluster.add(resource, "real", "bank", labels={ID: "id-1"})
    with pytest.raises(Refused, match=f"{resource.kind} bank/real carries its id id-1, too"):
        inventory_membership("inventory-1", "shop", cluster)


def test_who_cannot_see_other_inventories_deletes_nothing_outside_of_the_namespace() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "inventory-1", labels={ID: "id-1"})
    cluster.not_cluster_wide.add("configmaps")
    not_ours = inventory_membership("inventory-1", "shop", cluster).not_ours
    assert not_ours is not None
    mark = {"config.k8s.io/owning-inventory": "id-1"}
    assert not_ours(record(annotations=mark), True) == ""
    assert "cannot be seen" in not_ours(record("x", "bank", annotations=mark), True)


def test_an_inventory_nobody_knows_is_missing() -> None:
    assert inventory(name="no-inventory").missing.startswith("there is no inventory shop/no-inventory")


def test_an_inventorys_object_must_still_name_it() -> None:
    not_ours = inventory().not_ours
    assert not_ours is not None
    key = "config.k8s.io/owning-inventory"
    assert not_ours(record(annotations={key: "id-1"}), True) == ""
    assert not_ours(record(annotations={key: "id-2"}), True) == "it belongs to inventory id-2"
    assert not_ours(record(), True) == f"it carries no annotation {key}"


# -- ApplySets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parent", [SECRETS, CONFIG_MAPS], ids=["Secret", "ConfigMap"])
def test_an_applysets_parent_names_the_kinds_and_its_members_carry_the_label(parent: Resource) -> None:
    cluster = InMemoryCluster()
    identity = applyset_id("set", "shop", parent.kind)
    cluster.add(
        parent,
        "set",
        labels={"applyset.kubernetes.io/id": identity},
        annotations={"applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Deployment.apps,Role.rbac.x.io"},
    )
    cluster.add(parent, "other", labels={"applyset.kubernetes.io/id": "applyset-18-v1"})
    found = applyset_membership("set", "shop", cluster)
    assert found.searches == [
        Search(kind, group, label_selector=f"applyset.kubernetes.io/part-of={identity}", source="ApplySet shop/set")
        for kind, group in (("ConfigMap", "/"), ("Deployment", "apps/"), ("Role", "rbac.x.io/"))
    ]
    assert [(claim.kind, claim.name) for claim in found.records] == [(parent.kind, "set")]


def test_an_applyset_without_kinds_finds_nothing() -> None:
    cluster = InMemoryCluster()
    cluster.add(SECRETS, "set", labels={"applyset.kubernetes.io/id": applyset_id("set", "shop", "Secret")})
    assert applyset_membership("set", "shop", cluster).searches == []


def test_the_id_of_an_applyset_is_computed_as_kubectl_does() -> None:
    """base64url(sha256("<name>.<namespace>.<kind>.<group>")); the value is from `sha256sum` and `basenc`."""
    assert applyset_id("set", "shop", "Secret") == "applyset-FzxrwoaIPTCEj0WYvvKYzh_1_3tCFpkt2KWr_V1lRL4-v1"


@pytest.mark.parametrize(
    "identity", [applyset_id("set", "bank", "Secret"), applyset_id("set", "shop", "ConfigMap"), "applyset-x-v1"]
)
def test_an_applyset_with_the_id_of_another_one_is_refused(identity: str) -> None:
    cluster = InMemoryCluster()
    cluster.add(SECRETS, "set", labels={"applyset.kubernetes.io/id": identity})
    with pytest.raises(Refused, match=f"is {identity}, and the id of this object is applyset-"):
        applyset_membership("set", "shop", cluster)


def test_an_applyset_without_a_parent_is_missing() -> None:
    cluster = InMemoryCluster()
    cluster.add(SECRETS, "set")
    assert applyset_membership("set", "shop", cluster).missing.startswith("there is no ApplySet shop/set")


def test_what_an_inventory_does_not_mark_needs_no_mark() -> None:
    """What its objects own, and what a step takes beyond them, was never marked."""
    not_ours = inventory().not_ours
    assert not_ours is not None
    assert not_ours(record(), False) == ""
    assert not_ours(record(annotations={"config.k8s.io/owning-inventory": "id-2"}), False) != ""
