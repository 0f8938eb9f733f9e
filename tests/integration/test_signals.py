# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Told to stop in mid-run: no further write, and still a report of what was done."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from ansible_collections.sunset.kube.plugins.module_utils.jobs.finalizer import JOB
from ansible_collections.sunset.kube.plugins.module_utils.problems import Interrupted
from integration.running import PATIENCE, module_process, open_cluster, playing, run_job
from integration.stage import CLEANUP, Stage, widget
from lab.faults import Answer, FaultProxy, Rule
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.plane.users import User
from lab.waiting import until

COUNT, PARALLEL, BEFORE = 40, 2, 6  # objects, workers, writes before the signal
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)


@pytest.fixture
def user(as_user: AsUser, stage: Stage, faults: FaultProxy) -> User:
    """Whose writes are counted; the wire is slow enough for a signal to come in mid-run."""
    stage.hang(*(widget(f"w{n:02}", stage.namespace, CLEANUP) for n in range(COUNT)))
    faults.latency = 0.2
    return as_user("interrupted", EVERYTHING)


def options(stage: Stage, **more: Any) -> dict[str, Any]:
    return {
        "kind": "Widget",
        "namespace": stage.namespace,
        "finalizers": [CLEANUP],
        "owner": "any",
        "parallel": PARALLEL,
        **more,
    }


def writes_sent(faults: FaultProxy) -> int:
    return sum(request.method == "PATCH" for request in faults.requests)


def left(stage: Stage) -> int:
    path = f"/apis/lab.example.com/v1/namespaces/{stage.namespace}/widgets"
    return len(stage.api.get(path)[1]["items"] or ())


@SIGNALS
def test_a_module_told_to_stop_ends_by_itself_and_reports_what_it_did(
    stage: Stage, faults: FaultProxy, user: User, audit: AuditTrail, number: signal.Signals
) -> None:
    with module_process("finalizer", options(stage), faults.kubeconfig(user)) as process:
        until(lambda: writes_sent(faults) >= BEFORE, "the first writes", timeout=PATIENCE, every=0.02)
        process.send_signal(number)
        sent = writes_sent(faults)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, stderr
    result = json.loads(stdout)
    assert result["failed"] is True
    assert "stopped" in result["msg"]
    assert number.name in result["msg"]
    done = COUNT - left(stage)
    assert BEFORE - PARALLEL <= done <= sent + PARALLEL, "only what was under way may still be written"
    assert len(audit.writes(user.name)) == done
    assert result["counts"]["gone"] == done
    assert f"{done} of {COUNT} objects" in result["msg"]
    assert result["changed"] is True


@SIGNALS
def test_a_playbook_told_to_stop_writes_no_more_and_leaves_evidence_but_no_process(
    stage: Stage, faults: FaultProxy, user: User, tmp_path: Path, number: signal.Signals
) -> None:
    task = {"sunset.kube.finalizer": options(stage, evidence_dir=str(tmp_path))}
    with playing([task], faults.kubeconfig(user)) as play:
        until(lambda: writes_sent(faults) >= BEFORE, "the first writes", timeout=PATIENCE, every=0.02)
        play.process.send_signal(number)
        sent = writes_sent(faults)
        run = play.finish()
        # The engine runs in a child of ansible-playbook, which may outlive it by the time it takes to report.
        over = tmp_path / "latest" / "result.json"
        until(over.exists, f"the evidence; ansible-playbook said: {run.stdout}")
        until(lambda: not play.processes(), "the last process to end")
    assert run.rc != 0
    done = COUNT - left(stage)
    assert BEFORE - PARALLEL <= done <= sent + PARALLEL, "only what was under way may still be written"
    rows = [json.loads(line) for line in (over.parent / "timeline.jsonl").read_text().splitlines()]
    assert len([row for row in rows if row["event"] == "did"]) == done
    assert (over.parent / "plan.json").exists()
    assert json.loads(over.read_text())["outcome"] == "interrupted"


def test_a_run_told_to_stop_before_its_first_write_changes_nothing(
    stage: Stage, plane: ControlPlane, audit: AuditTrail, as_user: AsUser
) -> None:
    [thing] = stage.hang(widget("w", stage.namespace, CLEANUP))
    user = as_user("early", EVERYTHING)
    stop = StopSign()
    stop.set("received SIGTERM")
    result = run_job(JOB, options(stage), user.kubeconfig, stop=stop)
    assert result["failed"]
    assert "SIGTERM" in result["msg"]
    assert stage.look(thing) == thing
    assert audit.writes(user.name) == []


def test_a_write_held_back_by_an_overloaded_server_is_not_sent_after_the_wish_to_stop(
    stage: Stage, faults: FaultProxy
) -> None:
    [thing] = stage.hang(widget("w", stage.namespace, CLEANUP))
    faults.add(Rule(Answer(429, retry_after=5), method="PATCH"))
    stop = StopSign()
    with open_cluster(faults.kubeconfig(), stop=stop) as cluster:

        def stop_in_the_pause() -> None:
            until(lambda: cluster.requests()["throttled_seconds"], "the pause to begin", every=0.01)
            faults.clear()
            stop.set("received SIGTERM")

        resource, _warning = cluster.resolve("Widget")
        assert resource is not None
        record = cluster.read(resource, stage.namespace, "w")
        assert record is not None
        stopper = threading.Thread(target=stop_in_the_pause)
        stopper.start()
        with pytest.raises(Interrupted, match="SIGTERM"):
            cluster.remove_finalizers(resource, record, [CLEANUP])
        stopper.join()
    assert stage.look(thing) == thing


def test_the_task_goes_on_where_it_was_stopped_when_it_is_run_again(stage: Stage, plane: ControlPlane) -> None:
    stage.hang(*(widget(f"w{n}", stage.namespace, CLEANUP) for n in range(10)))
    stop = StopSign()

    def stop_soon(event: Any) -> None:
        if isinstance(event, Did):
            stop.set("received SIGTERM")

    first = run_job(JOB, options(stage), plane.admin.kubeconfig, stop=stop, on_event=stop_soon)
    assert first["failed"]
    done = first["counts"]["gone"]
    assert 0 < done < 10
    second = run_job(JOB, options(stage), plane.admin.kubeconfig)
    assert not second.get("failed"), second["msg"]
    assert second["counts"]["gone"] == 10 - done
    assert left(stage) == 0
