# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`instances: delete` is about custom resources whose definition goes, and about no others."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, named
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import KUSTOMIZATIONS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import DEFINITIONS
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import a_cluster, goes, uninstalled

FLUX = "kustomize.toolkit.fluxcd.io"
OURS = {f"{FLUX}/name": "shop", f"{FLUX}/namespace": "flux"}
NAME = f"{DOMAINS.plural}.{DOMAINS.group}"
CASES: dict[str, tuple[dict[str, Any], bool]] = {
    "goes": ({"labels": OURS}, True),
    "marked to be kept": ({"labels": OURS, "annotations": {"helm.sh/resource-policy": "keep"}}, False),
    "of somebody else": ({"labels": {**OURS, f"{FLUX}/name": "other"}}, False),
}


@pytest.mark.parametrize(("facts", "going"), named(CASES))
def test_instances_go_with_their_definition_and_stay_with_it(facts: dict[str, Any], going: bool) -> None:
    cluster = a_cluster()
    entries = [{"id": f"_{NAME}_{DEFINITIONS.group}_{DEFINITIONS.kind}", "v": "v1"}]
    cluster.add(KUSTOMIZATIONS, "shop", "flux", spec={}, status={"inventory": {"entries": entries}})
    definition = {"group": DOMAINS.group, "names": {"kind": DOMAINS.kind, "plural": DOMAINS.plural}}
    cluster.add(DEFINITIONS, NAME, "", spec=definition, **facts)
    cluster.add(DOMAINS, "theirs", "elsewhere")
    plan = uninstalled(cluster, release="shop", namespace="flux", instances="delete", check_mode=True)
    assert plan.failure is None
    both = {"Domain elsewhere/theirs", f"CustomResourceDefinition {NAME}"}
    assert goes(plan) & both == (both if going else set())
