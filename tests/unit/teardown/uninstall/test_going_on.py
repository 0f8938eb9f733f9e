# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rest of a plan that somebody said yes to is gone on with; anything else needs a new yes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.earlier_plans import plan_under
from ansible_collections.sunset.kube.plugins.module_utils.evidence.uninstall_results import uninstall_plan
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.uninstall import UninstallOutcome
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, named
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import BASKETS, SHOP, F
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, InMemoryCluster
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import a_cluster, uninstalled

GUARD = "kubernetes.io/pvc-protection"
WANTED: dict[str, Any] = {"namespace": "shop", "stages": ["drain", "delete"], "gitops": "ignore"}
PRODUCT: dict[str, Any] = {"profile": SHOP, "instance": {"namespaces": ["shop"]}}


def a_shop() -> InMemoryCluster:
    cluster = a_cluster()
    cluster.add(NAMESPACES, "shop", "")
    for name in ("settings", "more"):
        cluster.add(CONFIG_MAPS, name)
    return cluster


def confirmed(
    cluster: InMemoryCluster, directory: Path, seen: dict[str, Any], wanted: dict[str, Any]
) -> UninstallOutcome:
    """Somebody looks at a plan, part of it goes, and then a run is given its hash."""
    plan = uninstalled(cluster, check_mode=True, **{**WANTED, **seen})
    assert plan.failure is None
    assert plan.scheme is not None
    (directory / "1-uninstall").mkdir()
    (directory / "1-uninstall" / "plan.json").write_text(json.dumps(uninstall_plan(plan)))
    cluster.remove(CONFIG_MAPS, "settings")
    shown, why = plan_under(plan.scheme.hash, str(directory))
    assert why == ""
    cluster.server.system_uid = wanted.pop("system_uid", cluster.server.system_uid)
    return uninstalled(cluster.of_another_task(), plan_hash=plan.scheme.hash, shown=shown, **{**WANTED, **wanted})


SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "the same": ({}, {}),
    "the same force": ({"force": True, "force_allow": [GUARD]}, {"force": True, "force_allow": [GUARD]}),
    "the same drain": (PRODUCT, PRODUCT),
    "more time": ({}, {"timeout": 1200, "fail_fast": False}),
}


@pytest.mark.parametrize(("seen", "wanted"), named(SAME))
def test_what_was_shown_is_gone_on_with(tmp_path: Path, seen: dict[str, Any], wanted: dict[str, Any]) -> None:
    cluster = a_shop()
    cluster.add(BASKETS, "mine", finalizers=[F])
    done = confirmed(cluster, tmp_path, {**PRODUCT, **seen}, {**PRODUCT, **wanted})
    assert done.failure is None
    assert cluster.left() == ["Namespace shop"]


MORE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "force": ({}, {"force": True}),
    "no force": ({"force": True}, {}),
    "another cluster": ({}, {"system_uid": "99"}),
    "a protected finalizer": ({"force": True}, {"force": True, "force_allow": [GUARD]}),
    "another policy": ({**PRODUCT, "policy": "Retain"}, {**PRODUCT, "policy": "Delete"}),
    "no drain was shown": ({"profile": "none"}, PRODUCT),
}


@pytest.mark.parametrize(("seen", "wanted"), named(MORE))
def test_what_was_not_shown_needs_a_new_yes(tmp_path: Path, seen: dict[str, Any], wanted: dict[str, Any]) -> None:
    cluster = a_shop()
    cluster.add(BASKETS, "mine", finalizers=[F])
    done = confirmed(cluster, tmp_path, seen, dict(wanted))
    assert "the plan has changed" in str(done.failure)
    assert len(cluster.left()) == 3


def test_what_was_shown_as_released_is_not_deleted(tmp_path: Path) -> None:
    cluster = a_shop()
    cluster.add(BASKETS, "elsewhere", "other", finalizers=[F])
    drain = {"profile": SHOP, "instance": {"namespaces": ["shop", "other"]}, "policy": "Retain"}
    basket = {
        "apiVersion": BASKETS.api_version,
        "kind": "Basket",
        "metadata": {"name": "elsewhere", "namespace": "other"},
    }
    done = confirmed(cluster, tmp_path, drain, {**drain, "manifests": [basket]})
    assert "the plan has changed" in str(done.failure)
    assert "Basket other/elsewhere" in cluster.left()
