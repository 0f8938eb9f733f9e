# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows that end by themselves: the CronJob beside the page, and what it runs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from integration.maintaining import INGRESSES, Maintenance, ingress, shape
from integration.ranked import failed, succeeded
from integration.running import PATIENCE, _program, _surroundings
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

JOB = {"image": "registry.example.com/sunset-kube:1", "service_account": "default"}


@pytest.fixture
def maintenance(plane: ControlPlane, node_namespace: str, route_kinds: None) -> Maintenance:
    made = Maintenance(plane, node_namespace)
    made.api.create(ingress(node_namespace))
    return made


def cron_jobs(maintenance: Maintenance) -> list[dict[str, Any]]:
    _status, listed = maintenance.api.get(f"/apis/batch/v1/namespaces/{maintenance.namespace}/cronjobs")
    items: list[dict[str, Any]] = listed["items"]
    return items


def window(end: str, **job: str) -> dict[str, Any]:
    return {"end": end, "job": {**JOB, **job}}


# The page says nothing of the end, so that the same page stays when the end moves.
STILL = {"page": {"html": "<h1>back soon</h1>"}, "retry_after": 60}


def test_the_job_is_tried_made_moved_with_the_end_and_removed_with_the_page(
    maintenance: Maintenance, audit: AuditTrail
) -> None:
    # Security profiles are asked with Pods only: a job whose Pod would be refused is refused now.
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    maintenance.api.patch(f"/api/v1/namespaces/{maintenance.namespace}", label)
    absent = failed(maintenance("enabled", window=window("2099-01-01T10:00:00Z", service_account="nobody")))
    assert "nobody" in absent
    succeeded(maintenance("enabled", check_mode=True, window=window("2099-01-01T10:00:00Z")))
    assert audit.writes("maintainer") == []

    succeeded(maintenance("enabled", window=window("2099-01-01T10:00:00Z"), **STILL))
    [made] = cron_jobs(maintenance)
    assert made["spec"]["schedule"] == "0 10 1 1 *"
    assert succeeded(maintenance("enabled", window=window("2099-01-01T10:00:00Z"), **STILL))["changed"] is False

    moved = succeeded(maintenance("enabled", window=window("2099-01-02T11:30:30Z"), **STILL))
    assert moved["changed"]

    def only_the_new_one() -> bool:  # the old page goes, and its job a moment later
        return [job["spec"]["schedule"] for job in cron_jobs(maintenance)] == ["31 11 2 1 *"]

    until(only_the_new_one, "the job of the new end, and no other")

    succeeded(maintenance("disabled"))
    until(lambda: not cron_jobs(maintenance), "the job to go with the page")
    assert maintenance.ours() == []


def test_what_the_job_runs_ends_a_window_that_is_over_and_no_other(maintenance: Maintenance, tmp_path: Path) -> None:
    path = f"{INGRESSES.format(maintenance.namespace)}/web"
    before = shape(maintenance.route(path))
    succeeded(maintenance("enabled", window=window("2099-01-01T10:00:00Z")))
    [job] = cron_jobs(maintenance)
    command = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"]

    def run_it() -> None:
        tool, *arguments = command
        done = subprocess.run(
            [_program(tool), *arguments],
            env=_surroundings(tmp_path, maintenance.user.kubeconfig),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run_it()
    assert shape(maintenance.route(path)) != before

    backups = f"/api/v1/namespaces/{maintenance.namespace}/configmaps"
    _status, listed = maintenance.api.get(backups, labelSelector="sunset.dev/maintenance=backup")
    [backup] = listed["items"]
    over = {"metadata": {"annotations": {"sunset.dev/maintenance-until": "2020-01-01T00:00:00Z"}}}
    maintenance.api.patch(maintenance.api.path_of({"apiVersion": "v1", "kind": "ConfigMap", **backup}), over)
    run_it()
    assert shape(maintenance.route(path)) == before
    until(lambda: not cron_jobs(maintenance), "the job to go with the page")
