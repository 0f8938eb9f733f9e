# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide "Write a profile of a product", followed step by step on a shop with an operator that is not alive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration.collection_playbooks import ending, play_named
from integration.guides import files_of
from integration.products import definition, ingress, ingress_class, set_status
from integration.stage import FOREIGN, Body, Stage, body
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User

GROUP = "shop.example.com"
OURS, OLD = "shop.example.com/cleanup", "finalizer.shop.example.com"
KINDS = {"ShopOperator": "shopoperators", "Basket": "baskets", "Store": "stores"}


@pytest.fixture(scope="module")
def shop_kinds(plane: ControlPlane) -> None:
    for kind, plural in KINDS.items():
        plane.api.apply_crd(definition(GROUP, kind, plural, "v1", "Namespaced"))


@pytest.fixture
def user(plane: ControlPlane) -> User:
    return plane.user("writer", (MASTERS,))


def thing(kind: str, name: str, stage: Stage, *finalizers: str) -> Body:
    return body(f"{GROUP}/v1", kind, name, stage.namespace, *finalizers)


@pytest.fixture
def shop(stage: Stage, shop_kinds: None) -> list[Body]:
    stage.put(ingress_class("shop", "shop.example.com/ingress"))
    made = stage.put(
        thing("ShopOperator", "shop", stage, OURS),
        thing("Basket", "full", stage, OURS, FOREIGN),
        thing("Store", "north", stage, OLD),
        ingress("web", stage.namespace, OURS, of_class="shop"),
    )
    set_status(stage, made[2], {"accountId": "acc-7"})
    return made


def test_the_draft_names_the_finalizers_and_kinds(
    stage: Stage, shop: list[Body], user: User, audit: AuditTrail, tmp_path: Path
) -> None:
    run = play_named("sunset.kube.drain", tmp_path, user.kubeconfig, "-e", "profile=auto")
    assert run.rc == 0, run.stdout
    [drafts] = [result["draft_profiles"] for result in run.results if "draft_profiles" in result]
    text = json.dumps([draft for draft in drafts if "shop.example.com" in json.dumps(draft)])
    assert all(word in text for word in (OURS, "Basket", "Store"))
    assert audit.writes(user.name) == []


def test_the_guides_playbook_drains_the_shop(stage: Stage, shop: list[Body], user: User, tmp_path: Path) -> None:
    files = files_of("guide_write_a_profile", tmp_path)
    anchor, basket, store, web = shop
    run = play_named(str(files["try_shop.yml"]), tmp_path, user.kubeconfig)
    assert run.rc == 0, run.stdout
    assert stage.is_gone(anchor)
    assert [stage.finalizers(one) for one in (basket, store, web)] == [[FOREIGN], [], []]
    assert "acc-7" in run.stdout
    assert ending(tmp_path / "evidence")["outcome"] == "done"


def test_the_guides_profile_works_with_the_playbook_of_the_collection(
    stage: Stage, shop: list[Body], user: User, audit: AuditTrail, tmp_path: Path
) -> None:
    files = files_of("guide_write_a_profile", tmp_path)
    variables = ("-e", f"@{files['shop.yml']}", "-e", f"evidence_dir={tmp_path / 'evidence'}")
    checked = play_named("sunset.kube.drain", tmp_path / "check", user.kubeconfig, *variables, "--check", "--diff")
    assert (checked.rc, audit.writes(user.name)) == (0, []), checked.stdout
    run = play_named("sunset.kube.drain", tmp_path / "run", user.kubeconfig, *variables, confirm="skip")
    assert (run.rc, ending(tmp_path / "evidence")["outcome"]) == (0, "done"), run.stdout
    assert stage.finalizers(shop[2]) == []
