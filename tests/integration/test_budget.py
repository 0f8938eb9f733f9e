# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run may cost, held to a figure: requests an object, and memory an object. Time is for tests/benchmarks.

Both are the same on a slow machine as on a fast one, so a test can insist on them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, RealClock, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs.finalizer import JOB
from ansible_collections.sunset.kube.plugins.module_utils.teardown.departure import Leaver, delete_and_wait
from integration.running import open_cluster, run_job
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane

OBJECTS = 500
REQUESTS = 1.05  # an object
FINALIZER = "budget.example.com/hold"
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]


def config_maps(finalizers: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    metadata = {"labels": {"budget": "spent"}, "finalizers": list(finalizers)}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"budget-{number:03d}", **metadata}}
        for number in range(OBJECTS)
    ]


def test_deleting_and_waiting_takes_one_request_an_object(
    plane: ControlPlane, namespace: str, as_user: AsUser, audit: AuditTrail
) -> None:
    user = as_user("budget", EVERYTHING)
    plane.api.create_many(f"/api/v1/namespaces/{namespace}/configmaps", config_maps())
    audit.begin_anew()
    with open_cluster(user.kubeconfig) as cluster:
        resource, _warning = cluster.resolve("ConfigMap")
        assert resource is not None
        listing = cluster.list(resource, namespace, "budget=spent")
        leavers = [Leaver(resource, record) for record in listing.records]
        stop = StopSign()
        clock = RealClock(stop)
        departed = delete_and_wait([listing], leavers, cluster, clock, stop, Deadline(clock, 120), lambda event: None)
        counted = cluster.requests()
    seen = audit.events(user.name)
    assert departed.gone == OBJECTS
    assert [event.verb for event in seen].count("delete") == OBJECTS
    assert len(seen) <= REQUESTS * OBJECTS
    assert sum(counted[verb] for verb in ("list", "watch", "get", "delete", "patch", "post")) == len(seen)


def test_removing_a_finalizer_takes_one_request_an_object(
    plane: ControlPlane, namespace: str, as_user: AsUser, audit: AuditTrail
) -> None:
    user = as_user("budget", EVERYTHING)
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    plane.api.create_many(path, config_maps((FINALIZER,)))
    status, _answer = plane.api.delete(path, labelSelector="budget=spent")
    assert status == 200
    audit.begin_anew()
    options = {
        "kind": "ConfigMap",
        "namespace": namespace,
        "label_selector": "budget=spent",
        "finalizers": [FINALIZER],
        "grace": 0,
    }
    result = run_job(JOB, options, user.kubeconfig)
    seen = audit.events(user.name)
    assert not result.get("failed"), result
    assert [event.verb for event in seen].count("patch") == OBJECTS
    assert len(seen) <= REQUESTS * OBJECTS
    assert plane.api.get(path, labelSelector="budget=spent")[1]["items"] == []


# -- memory ------------------------------------------------------------------------------------------------------------

MIB, RECORDS = 250, 100_000


@pytest.mark.parametrize("plan", ["plan-delete", "plan-finalizer"])
def test_a_plan_of_100_000_objects_stays_within_250_mib(plan: str) -> None:
    """A process of its own lists and judges made-up pages, whose objects are as large as a chart makes them."""
    command = [sys.executable, "-m", "benchmarks.pages", plan, str(RECORDS)]
    said = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert said["objects"] == RECORDS
    assert said["peak_mib"] <= MIB
