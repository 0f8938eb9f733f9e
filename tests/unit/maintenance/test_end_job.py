# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The CronJob that ends a window: when, what it runs, and how little it may."""

from __future__ import annotations

import dataclasses
import json

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.end_job import (
    end_jobs,
    end_pods_to_try,
    schedule_at,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.options import EndJob, MaintenanceOptions
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.page_set import page_set
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.bundle import (
    Answering,
    PageSource,
    build_bundle,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.workload import Workload
from ansible_collections.sunset.kube.plugins.module_utils.objects import parse_time
from ansible_collections.sunset.kube.tests.unit.fakes import named

BUNDLE = build_bundle(PageSource(), Answering())
OPTIONS = MaintenanceOptions(
    "enabled", ends_at=parse_time("2026-11-16T23:59:30Z"), job=EndJob("registry.example.com/sunset:1", "closer")
)
MINUTES = {
    "within a minute": ("2026-11-16T23:29:01Z", "30 23 16 11 *"),
    "a whole minute": ("2026-11-16T23:30:00Z", "30 23 16 11 *"),
    "over midnight and the year": ("2026-12-31T23:59:01Z", "0 0 1 1 *"),
    "in another zone": ("2026-11-17T00:30:00+01:00", "30 23 16 11 *"),
}


@pytest.mark.parametrize(("end", "schedule"), named(MINUTES))
def test_it_runs_in_the_first_minute_that_is_not_before_the_end(end: str, schedule: str) -> None:
    assert schedule_at(parse_time(end)) == schedule


def test_it_ends_what_is_over_in_this_namespace_and_goes_with_the_page() -> None:
    [job] = end_jobs(OPTIONS, BUNDLE, "shop", "uid-1")
    assert (job["metadata"]["name"], job["metadata"]["namespace"]) == (BUNDLE.name, "shop")
    assert [owner["uid"] for owner in job["metadata"]["ownerReferences"]] == ["uid-1"]
    assert (job["spec"]["schedule"], job["spec"]["timeZone"]) == ("0 0 17 11 *", "Etc/UTC")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert container["command"][:3] == ["ansible-playbook", "sunset.kube.maintenance", "--extra-vars"]
    assert json.loads(container["command"][3]) == {"state": "swept", "namespace": "shop", "linger": 5}
    assert pod["serviceAccountName"] == "closer"
    assert {"name": "K8S_AUTH_IN_CLUSTER", "value": "true"} in container["env"]


def test_an_application_that_need_not_be_ready_is_not_waited_for() -> None:
    [job] = end_jobs(dataclasses.replace(OPTIONS, reopen_endpoints=False), BUNDLE, "shop", "uid-1")
    command = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"]
    assert json.loads(command[-1])["reopen_endpoints"] is False


def test_its_pods_never_serve_the_page() -> None:
    [job] = end_jobs(OPTIONS, BUNDLE, "shop", "uid-1")
    labels = job["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    selector = page_set(BUNDLE, "shop", Workload(), "uid-1").service["spec"]["selector"]
    assert not selector.items() <= labels.items()


def test_the_pod_that_is_tried_is_the_one_that_will_run() -> None:
    [job], [pod] = end_jobs(OPTIONS, BUNDLE, "shop", "uid-1"), end_pods_to_try(OPTIONS, BUNDLE, "shop")
    assert pod["spec"] == job["spec"]["jobTemplate"]["spec"]["template"]["spec"]


@pytest.mark.parametrize("change", [{"job": None}, {"ends_at": None}])
def test_without_a_job_or_an_end_there_is_none(change: dict[str, None]) -> None:
    options = dataclasses.replace(OPTIONS, **change)  # type: ignore[arg-type]
    assert end_jobs(options, BUNDLE, "shop", "uid-1") == end_pods_to_try(options, BUNDLE, "shop") == []
