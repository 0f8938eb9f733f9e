# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stops an uninstall does so before its first write, or says what was written."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import StepEnded
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, NAMESPACES
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import BASKETS, SHOP, F
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    DEFINITIONS,
    InMemoryCluster,
    When,
    api_error,
)
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import a_cluster, uninstalled

DEFINITION = f"{DOMAINS.plural}.{DOMAINS.group}"
DRAIN: dict[str, Any] = {"profile": SHOP, "instance": {"namespaces": ["shop"]}, "policy": "Retain"}
WANTED: dict[str, Any] = {
    **DRAIN,
    "namespace": "shop",
    "manifests": [
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": DEFINITION}},
        {"apiVersion": BASKETS.api_version, "kind": "Basket", "metadata": {"name": "mine"}},
    ],
}
STAGES = pytest.mark.parametrize(
    "stages", [["preflight", "drain", "delete"], ["drain", "delete"]], ids=["with preflight", "without"]
)


def a_product() -> InMemoryCluster:
    cluster = a_cluster()
    cluster.add(NAMESPACES, "shop", "")
    cluster.add(DEFINITIONS, DEFINITION, "")
    cluster.add(BASKETS, "mine", finalizers=[F])
    return cluster


@STAGES
def test_objects_of_others_stop_it_before_the_drain(stages: list[str]) -> None:
    cluster = a_product()
    cluster.add(DOMAINS, "theirs", "elsewhere")
    stopped = uninstalled(cluster, stages=stages, **WANTED)
    assert "Domain elsewhere/theirs" in str(stopped.failure)
    assert "nothing was changed" in str(stopped.failure)
    assert cluster.log == []


@STAGES
@pytest.mark.parametrize("verb", [("delete", "customresourcedefinitions"), ("patch", "baskets")])
def test_a_missing_right_stops_it_before_the_drain(stages: list[str], verb: tuple[str, str]) -> None:
    cluster = a_product()
    cluster.forbidden.add(verb)
    stopped = uninstalled(cluster, stages=stages, **WANTED)
    assert f"to {verb[0]} {verb[1]}" in str(stopped.failure)
    assert cluster.log == []


def test_what_comes_while_it_drains_stops_it_and_nobody_says_that_nothing_was_changed() -> None:
    cluster = a_product()
    somebody = When(StepEnded, lambda: cluster.add(DOMAINS, "theirs", "elsewhere"))
    stopped = uninstalled(cluster, told=somebody, **WANTED)
    assert "Domain elsewhere/theirs" in str(stopped.failure)
    assert "what was drained stays drained" in str(stopped.failure)
    assert "nothing was changed" not in str(stopped.failure)


def test_a_look_tells_of_missing_rights_too() -> None:
    cluster = a_cluster()
    cluster.add(NAMESPACES, "shop", "")
    cluster.add(CONFIG_MAPS, "settings")
    cluster.forbidden.add(("delete", "configmaps"))
    stopped = uninstalled(cluster, namespace="shop", stages=["preflight"])
    assert "to delete configmaps" in str(stopped.failure)


def test_an_owner_that_only_a_label_of_helm_speaks_of_is_told_without_a_command_to_pause_it() -> None:
    cluster = a_cluster()
    cluster.add(NAMESPACES, "shop", "")
    cluster.add(CONFIG_MAPS, "settings", labels={"app.kubernetes.io/instance": "shop"})
    cluster.unlisted["applications"] = api_error(403, "Forbidden", "not yours")
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"}}
    looked = uninstalled(cluster, namespace="shop", manifests=[settings], stages=["preflight"])
    [found] = [one for one in looked.findings if one.check == "gitops owners"]
    assert "it cannot be seen (HTTP 403 Forbidden, not yours)" in found.text
    assert found.next_step == "set gitops: ignore"
