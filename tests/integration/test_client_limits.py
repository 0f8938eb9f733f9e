# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client's limits on a real API server: what nothing asked for, what never ends, what is too much, and a stop."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from ansible_collections.sunset.kube.plugins.module_utils.jobs import blockers_info, finalizer
from ansible_collections.sunset.kube.plugins.module_utils.kube import http_reader, transport
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.kube.writes import Effect
from integration.connect_proxy import ConnectProxy
from integration.running import Result, open_cluster, run_job, warnings_of
from integration.stage import CLEANUP, Stage, config_map, widget
from lab.faults import Answer, DrippingAnswer, FaultProxy, Rule, SlowAnswer, StrayAnswer
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick

EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
FOR_EVER = SlowAnswer(86400.0)


# -- what nothing asked for --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [404, 408])
def test_an_answer_that_nothing_asked_for_never_answers_a_delete(
    stage: Stage, faults: FaultProxy, audit: AuditTrail, as_user: AsUser, status: int
) -> None:
    [thing] = stage.put(config_map("c", stage.namespace))
    user = as_user("strayed", EVERYTHING)
    with open_cluster(faults.kubeconfig(user)) as cluster:
        resource, _warning = cluster.resolve("ConfigMap")
        assert resource is not None
        faults.add(Rule(StrayAnswer(status), method="GET", path="/configmaps/c$", times=1))
        record = cluster.read(resource, stage.namespace, "c")
        assert record is not None
        until(lambda: any(request.strayed for request in faults.requests), "the answer nothing asked for", every=0.01)
        written = cluster.delete(resource, record)
    assert (written.effect, stage.is_gone(thing)) == (Effect.GONE, True)
    assert [event.code for event in audit.writes(user.name)] == [200]


# -- what never ends ---------------------------------------------------------------------------------------------------


def test_an_answer_that_drips_is_given_up_and_asked_for_again(
    stage: Stage, faults: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.hang(widget("w", stage.namespace, CLEANUP))
    dripping = faults.add(Rule(DrippingAnswer(), method="GET", path="/widgets$", times=1))
    monkeypatch.setattr(transport, "READ_TIMEOUT", 1.0)
    results = list[Result]()
    work = threading.Thread(target=lambda: results.append(free(stage, faults.kubeconfig())), daemon=True)
    work.start()
    ended(work)
    assert (dripping.hits, results[0]["counts"]["gone"]) == (1, 1)


def test_a_server_that_wants_a_day_of_silence_is_not_obeyed(stage: Stage, faults: FaultProxy) -> None:
    throttled = faults.add(Rule(Answer(429, retry_after=86400), path="/configmaps$"))
    with open_cluster(faults.kubeconfig()) as cluster:  # which has no deadline
        resource, _warning = cluster.resolve("ConfigMap")
        assert resource is not None
        with pytest.raises(ApiError, match="HTTP 429"):
            cluster.list(resource, stage.namespace)
        assert (throttled.hits, cluster.requests()["throttled_seconds"]) == (1, 0)


# -- what is too much --------------------------------------------------------------------------------------------------


def test_a_list_too_large_for_one_answer_is_read_in_smaller_pages(
    stage: Stage, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stage.put(*(config_map(f"c{n:02}", stage.namespace, labels={"many": "true"}) for n in range(12)))
    with open_cluster(plane.admin.kubeconfig) as cluster:
        resource, _warning = cluster.resolve("ConfigMap")
        assert resource is not None
        monkeypatch.setattr(http_reader, "MOST_BODY", 5000)
        found = cluster.list(resource, stage.namespace, "many=true").records
        assert [record.uid for record in found] == [thing["metadata"]["uid"] for thing in made]
        assert cluster.requests()["list"] > 3


# -- no credentials in the clear ---------------------------------------------------------------------------------------


def test_a_token_is_not_sent_without_tls(stage: Stage) -> None:
    with ConnectProxy() as proxy:
        options = {"host": "http://127.0.0.1:1", "api_key": "s3cret", "proxy": f"http://127.0.0.1:{proxy.port}"}
        result = run_job(blockers_info.JOB, {**options, "kind": "ConfigMap", "namespace": stage.namespace})
    assert result["msg"].startswith("credentials are not sent to http://127.0.0.1:1: the connection is not encrypted")
    assert proxy.targets == []


# -- a stop while the server hangs -------------------------------------------------------------------------------------


def free(stage: Stage, kubeconfig: Path, **more: Any) -> Result:
    hooks = {name: more.pop(name) for name in ("on_event", "stop") if name in more}
    options = {"kind": "Widget", "namespace": stage.namespace, "finalizers": [CLEANUP], "owner": "any", **more}
    return run_job(finalizer.JOB, options, kubeconfig, **hooks)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rules in a tenth of the time."""
    monkeypatch.setattr(transport, "STOPPED_READ", 0.5)
    monkeypatch.setattr(transport, "STOPPED_WRITE", 1.0)
    monkeypatch.setattr(transport, "STOPPING", 4.0)


def ended(work: threading.Thread) -> None:
    until(lambda: not work.is_alive(), "the run to end, although the server still hangs")


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("way", ["directly", "through a proxy"])
def test_a_stop_while_the_server_hangs_ends_with_a_report_that_names_the_unknown_write(
    stage: Stage, faults: FaultProxy, as_user: AsUser, way: str
) -> None:
    stage.hang(*(widget(f"w{n}", stage.namespace, CLEANUP) for n in range(6)))
    stop, hung, results = StopSign(), Rule(FOR_EVER), list[Result]()

    def hang_after_the_first_write(event: Any) -> None:
        if isinstance(event, Did) and hung not in faults._rules:
            faults.add(hung)

    with ConnectProxy() as proxy:
        options = {"proxy": f"http://127.0.0.1:{proxy.port}"} if way == "through a proxy" else {}
        user = as_user("hung", EVERYTHING)

        def run() -> None:
            hooks = {"stop": stop, "on_event": hang_after_the_first_write}
            results.append(free(stage, faults.kubeconfig(user), parallel=1, **options, **hooks))

        work = threading.Thread(target=run, daemon=True)
        work.start()
        until(lambda: hung.hits, "a request without an answer", every=0.02)
        stop.set("received SIGTERM")
        ended(work)
    [result] = results
    assert (result["failed"], result["counts"]["gone"]) == (True, 1)
    assert "SIGTERM" in result["msg"]
    assert "was sent and not answered: whether it was carried out is not known" in warnings_of(result)
    assert f"/namespaces/{stage.namespace}/widgets/w1" in warnings_of(result)


@pytest.mark.usefixtures("hurried")
def test_a_stop_while_a_first_look_hangs_ends_with_a_report(stage: Stage, faults: FaultProxy) -> None:
    stage.hang(widget("w", stage.namespace, CLEANUP))
    stop, hung, results = StopSign(), faults.add(Rule(FOR_EVER, method="GET", path="/widgets$")), list[Result]()
    work = threading.Thread(target=lambda: results.append(free(stage, faults.kubeconfig(), stop=stop)), daemon=True)
    work.start()
    until(lambda: hung.hits, "a request without an answer", every=0.02)
    stop.set("received SIGTERM")
    ended(work)
    [result] = results
    assert result["failed"] is True
    assert result["msg"].startswith("stopped: received SIGTERM; GET /apis/")
    assert result["changed"] is False
    assert "not known" not in warnings_of(result)
