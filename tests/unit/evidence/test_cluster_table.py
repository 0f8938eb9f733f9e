# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of a fleet: one line a cluster, with what a tired person wants to know."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.evidence.cluster_table import fleet_table
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES
from ansible_collections.sunset.kube.tests.unit.teardown.managed_cluster.fleet_fakes import (
    ADDONS,
    CLUSTERS,
    WORKS,
    Hub,
    removed,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS


def a_fleet() -> Hub:
    hub = Hub()
    for name in ("edge-1", "edge-2"):
        hub.join(name, ocm.CLUSTER_FINALIZERS[0])
        hub.add(ADDONS, "a", name)
        hub.add(WORKS, "w", name)
    hub.join("dark", available="Unknown")
    hub.add(WORKS, "held", "dark", finalizers=[ocm.WORK_FINALIZER])
    hub.change(NAMESPACES, "edge-2", "", labels={**LABEL, ocm.KEEP_LABELS[0]: ""})
    return hub


LABEL = {ocm.NAMESPACE_LABELS[0]: "edge-2"}
NAMES = ("dark", "edge-1", "edge-2", "long-gone")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_check_mode_says_what_would_become_of_each() -> None:
    head, *rows = fleet_table(removed(a_fleet(), *NAMES, check_mode=True))
    assert cells(head) == ["cluster", "state", "agent", "on the hub", "namespace", "remarks"]
    assert [cells(row)[:5] for row in rows] == [
        ["dark", "would be refused", "unreachable", "1 manifestworks", "would go"],
        ["edge-1", "would go", "reachable", "1 managedclusteraddons, 1 manifestworks", "would go"],
        ["edge-2", "would go", "reachable", "1 managedclusteraddons, 1 manifestworks", "would be kept"],
        ["long-gone", "gone already", "-", "-", "gone"],
    ]
    assert "its agent does not report" in rows[0]
    assert ocm.KEEP_LABELS[0] in rows[2]


def test_after_a_run_those_that_are_not_gone_come_first() -> None:
    rows = fleet_table(removed(a_fleet(), *NAMES, force_after=1, concurrency=1))[1:]
    assert [cells(row)[:2] for row in rows] == [
        ["dark", "failed: reachable?"],
        ["edge-1", "gone"],
        ["edge-2", "gone"],
        ["long-gone", "gone"],
    ]
    assert "kept" in cells(rows[2])


def test_a_gate_that_would_be_waited_at_is_named() -> None:
    hub = Hub()
    hub.join("edge")
    hub.add(CONFIG_MAPS, "app", "edge")
    [row] = fleet_table(removed(hub, "edge", wait_for=["ConfigMap"], check_mode=True))[1:]
    assert cells(row)[1] == "would wait"
    assert "waits for ConfigMap edge/app" in row


def test_a_hook_that_was_cut_short_is_told() -> None:
    hub = Hub()
    hub.join("edge", available="Unknown")
    hub.add(ADDONS, "metrics", "edge", finalizers=[ocm.HOOK_FINALIZERS[0]])
    [row] = fleet_table(removed(hub, "edge", on_unreachable="force", force_after=1))[1:]
    assert "the hook of metrics did not finish" in row


def test_a_long_remark_does_not_make_the_other_columns_wide() -> None:
    hub = Hub()
    hub.join("edge", available="Unknown")
    hub.add(WORKS, "held", "edge", finalizers=[ocm.WORK_FINALIZER])
    head, row = fleet_table(removed(hub, "edge"))
    assert head.index("remarks") == row.index("its agent does not report")


def test_a_large_fleet_is_cut_and_says_so() -> None:
    hub = Hub()
    names = [f"c{number:03}" for number in range(250)]
    for name in names:
        hub.add(CLUSTERS, name, "")
    lines = fleet_table(removed(hub, *names, check_mode=True))
    assert (len(lines), lines[-1]) == (202, "… and 50 more")
