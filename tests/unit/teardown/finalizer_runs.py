# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The finalizer use case on a server in memory, from a task's options to the outcome."""

from __future__ import annotations

from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer import (
    FinalizerOutcome,
    parse_options,
    remove_named_finalizers,
)
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, Told, cluster_on

F = "example.com/cleanup"

DEFAULTS: dict[str, Any] = {
    "kind": "Domain",
    "finalizers": [F],
    "api_version": None,
    "name": None,
    "namespace": "shop",
    "label_selector": None,
    "terminating_only": True,
    "grace": 0,
    "owner": "gone",
    "allow_protected": False,
    "timeout": 600,
    "parallel": 1,
    "max_objects": None,
    "plan_hash": None,
    "evidence_dir": None,
}


def run(
    server: FakeServer,
    *,
    check_mode: bool = False,
    clock: FakeClock | None = None,
    stop: StopSign | None = None,
    told: Told | None = None,
    **params: Any,
) -> FinalizerOutcome:
    clock, stop = clock or FakeClock(), stop or StopSign()
    options = parse_options({**DEFAULTS, **params}, check_mode=check_mode)
    cluster = cluster_on(server, clock, stop, parallel=1)
    try:
        return remove_named_finalizers(options, cluster, clock, stop, told if told is not None else Told())
    finally:
        cluster.close()
