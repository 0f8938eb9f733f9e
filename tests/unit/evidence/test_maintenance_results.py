# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of maintenance never tell how to get around the page."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.evidence.maintenance_results import (
    maintenance_diff,
    maintenance_plan,
    maintenance_result,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.outcome import MaintenanceOutcome, TargetOutcome
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef

ENTRY = {"match": "Host(`a`) && Header(`X-Tester`, `s3cret`)", "services": [{"name": "app"}]}
AS_READ = {**ENTRY, "addedByTheServer": True}
PLAIN = {"match": "Host(`a`)", "services": [{"name": "app"}]}
HIDDEN = "(for the bypass; not shown)"


def outcome(item_entries: list[object], operation: dict[str, object]) -> MaintenanceOutcome:
    item = {"metadata": {"annotations": {}}, "spec": {"routes": item_entries}}
    operations = [{"op": "test", "path": "/spec", "value": item["spec"]}, operation]
    ref = ObjectRef("traefik.io/v1alpha1", "IngressRoute", "shop", "web", "u1")
    target = TargetOutcome(ref, "pending", item=item, operations=operations, hidden=[ENTRY])
    return MaintenanceOutcome("enabled", check_mode=True, targets=[target])


def test_the_way_in_is_not_shown_when_it_is_made() -> None:
    one = outcome([PLAIN], {"op": "add", "path": "/spec/routes/-", "value": ENTRY})
    told = repr([maintenance_diff(one), maintenance_plan(one), maintenance_result(one, {})])
    assert "s3cret" not in told
    assert HIDDEN in maintenance_diff(one)["after"]
    assert maintenance_plan(one)["targets"][0]["operations"][1]["value"] == HIDDEN


def test_the_way_in_is_not_shown_when_it_goes() -> None:
    one = outcome([PLAIN, AS_READ], {"op": "remove", "path": "/spec/routes/1"})
    told = repr([maintenance_diff(one), maintenance_plan(one), maintenance_result(one, {})])
    assert "s3cret" not in told
    assert HIDDEN in maintenance_diff(one)["before"]
    assert HIDDEN not in maintenance_diff(one)["after"]
