# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""In front of which routes a maintenance page may stand."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.wishes import routes_in
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import INGRESSES
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import KUSTOMIZATIONS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import InMemoryCluster
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import (
    a_cluster,
    stays,
    uninstalled,
)

FLUX = "kustomize.toolkit.fluxcd.io"
OURS = {f"{FLUX}/name": "shop", f"{FLUX}/namespace": "flux"}


def with_a_route(**facts: Any) -> InMemoryCluster:
    cluster = a_cluster()
    entries = [{"id": "shop_web_networking.k8s.io_Ingress", "v": "v1"}]
    cluster.add(KUSTOMIZATIONS, "shop", "flux", spec={}, status={"inventory": {"entries": entries}})
    cluster.add(INGRESSES, "web", **facts)
    return cluster


ROUTES: dict[str, tuple[dict[str, Any], str, list[str], str]] = {
    "goes": ({"labels": OURS}, "last", ["web"], ""),
    "left for the page": ({"labels": OURS}, "keep", ["web"], "routes: keep"),
    "of somebody else": ({"labels": {**OURS, f"{FLUX}/name": "other"}}, "last", [], "it belongs to Flux"),
    "of somebody else, left": ({"labels": {**OURS, f"{FLUX}/name": "other"}}, "keep", [], "it belongs to Flux"),
    "marked": ({"labels": OURS, "annotations": {"sunset.dev/keep": "true"}}, "last", [], "sunset.dev/keep"),
    "marked, left": ({"labels": OURS, "annotations": {"sunset.dev/keep": "true"}}, "keep", [], "sunset.dev/keep"),
}


@pytest.mark.parametrize(("facts", "wish", "page", "why"), named(ROUTES))
def test_a_page_stands_only_before_what_goes_or_was_left_for_it(
    facts: dict[str, Any], wish: str, page: list[str], why: str
) -> None:
    plan = uninstalled(with_a_route(**facts), release="shop", namespace="shop", routes=wish, check_mode=True)
    assert plan.failure is None
    assert plan.scheme is not None
    assert [member.record.name for member in routes_in(plan.scheme.plan)] == page
    assert why in stays(plan).get("Ingress shop/web", "")
