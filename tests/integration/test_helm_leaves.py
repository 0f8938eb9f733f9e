# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plain `helm uninstall` leaves of a broken application: the ground our own uninstall is measured on.

Should a new Helm leave less, these tests say so, and the comparison in our documentation has to follow.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from integration.broken_apps import BREAK, RELEASE, Shop
from lab.waiting import until

DEFINITIONS = {
    "CustomResourceDefinition orders.shop.example.com",
    "CustomResourceDefinition storefronts.shop.example.com",
}
ORDERS = {"Order order-1", "Order order-2", "Order order-3"}
STOREFRONTS = {"Storefront main", "Storefront outlet"}
# The tax records are meant to stay; the Lease was made by the operator, the claim by the StatefulSet.
ALWAYS = {"ConfigMap shop-tax-records", "Lease shop-operator-leader", "PersistentVolumeClaim data-shop-db-0"}
RECORDS = {"Secret sh.helm.release.v1.shop.v1", "Secret sh.helm.release.v1.shop.v2"}


@dataclass(frozen=True)
class Left:
    """How helm ends, and what is in the cluster then that was not there before the shop."""

    says: str
    objects: set[str]


LEFT = {
    "operator gone": Left("context deadline exceeded", DEFINITIONS | ORDERS | STOREFRONTS | ALWAYS),
    "webhook dead": Left("failed to delete release: shop", DEFINITIONS | ORDERS | STOREFRONTS | ALWAYS | RECORDS),
    "definitions stuck": Left("context deadline exceeded", DEFINITIONS | ORDERS | STOREFRONTS | ALWAYS),
    "API service broken": Left('release "shop" uninstalled', DEFINITIONS | ORDERS | ALWAYS),
    "namespace terminating": Left(
        "release: not found",
        DEFINITIONS | ORDERS | STOREFRONTS | {"ClusterRole {}-shop-operator", "ClusterRoleBinding {}-shop-operator"},
    ),
}


@pytest.mark.parametrize("broken", BREAK)
def test_what_helm_leaves_of_an_application_that_is_broken(shop: Shop, broken: str) -> None:
    BREAK[broken](shop)
    done = shop.helm("uninstall", RELEASE, "--wait", "--timeout", "2s", check=False)
    expected = LEFT[broken]
    assert expected.says in done.stdout + done.stderr
    wanted = {name.format(shop.namespace) for name in expected.objects}

    def found() -> set[str]:
        return {f"{one.kind} {one.name}" for one in shop.left()}

    until(lambda: found() <= wanted, "the garbage collector to delete what the rest has owned")
    assert found() == wanted
