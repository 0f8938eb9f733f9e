# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A release that is not there is said to be missing, with those that are."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.uninstall_tree import uninstall_text
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.known_releases import known_releases
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.uninstall import named_shortly
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import APPLICATIONS, KUSTOMIZATIONS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    SECRETS,
    InMemoryCluster,
    api_error,
)
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import a_cluster, uninstalled


def with_releases() -> InMemoryCluster:
    cluster = a_cluster()
    for revision in (1, 2):
        cluster.add(SECRETS, f"sh.helm.release.v1.web.v{revision}", labels={"owner": "helm", "name": "web"})
    cluster.add(CONFIG_MAPS, "cart.apps.k14s.io", "other", labels={"kapp.k14s.io/is-app": ""})
    cluster.add(KUSTOMIZATIONS, "infra", "flux-system", spec={})
    return cluster


HELM, KAPP, FLUX = "Helm release shop/web", "kapp application other/cart", "Flux Kustomization flux-system/infra"


def test_those_of_the_namespace_are_named_and_else_those_of_the_cluster() -> None:
    cluster = with_releases()
    assert known_releases("shop", cluster) == [HELM]
    assert known_releases("empty", cluster) == known_releases("", cluster) == [FLUX, HELM, KAPP]


def test_what_one_may_not_list_is_left_out() -> None:
    cluster = with_releases()
    cluster.unseen["secrets"] = api_error(403)
    cluster.unseen[APPLICATIONS.plural] = api_error(403)
    assert known_releases("", cluster) == [FLUX, KAPP]


@pytest.mark.parametrize("where", [{"namespace": "shop"}, {}], ids=["with its namespace", "without"])
def test_a_missing_release_is_nothing_to_do_or_an_error_and_the_first_line_says_so(where: dict[str, Any]) -> None:
    fine = uninstalled(with_releases(), release="tpyo", **where)
    assert (fine.failure, fine.changed) == (None, False)
    text = uninstall_text(fine)
    assert text[0].startswith("NOT FOUND: ")
    assert "tpyo" in text[0]
    assert HELM in text[1]
    assert text[-1] == "nothing to do"
    refused = uninstalled(with_releases(), release="tpyo", missing="fail", **where)
    assert str(refused.failure).startswith("nothing to uninstall: ")
    assert HELM in str(refused.failure)
    assert uninstall_text(refused)[0] == text[0]


def test_a_long_list_is_cut() -> None:
    assert named_shortly([str(number) for number in range(12)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
