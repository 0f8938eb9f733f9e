# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab keeps its promises: a real control plane, honest audit, faults as described, and nothing left behind."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lab import tools
from lab.faults import (
    Answer,
    CutWatch,
    ErrorInWatch,
    FaultProxy,
    ResetAfter,
    ResetBefore,
    Rule,
    SilentWatch,
    SlowAnswer,
    TruncatedBody,
)
from lab.fixtures import AsUser
from lab.plane.api import Api
from lab.plane.audit import AuditTrail, _end_of_whole_lines
from lab.plane.components import CONTROLLER_MANAGER
from lab.plane.controlplane import ControlPlane
from lab.plane.namespaces import delete_namespace
from lab.plane.tls import client_context
from lab.plane.users import User, read_kubeconfig
from lab.problems import LabError
from lab.waiting import until

TESTS = Path(__file__).parents[1]
CONFIG_MAPS = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}


def config_map(name: str, namespace: str = "", **data: str) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **place}, "data": data}


def in_namespace(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


def sprockets_crd(group: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"sprockets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "sprockets", "singular": "sprocket", "kind": "Sprocket"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": schema},
                {"name": "v1beta1", "served": True, "storage": False, "schema": schema},
                {"name": "v1alpha1", "served": False, "storage": False, "schema": schema},
            ],
        },
    }


def plain_connection(kubeconfig: Path, timeout: float = 10) -> http.client.HTTPSConnection:
    """What a client sees that knows nothing of the lab."""
    access = read_kubeconfig(kubeconfig)
    url = urlsplit(access.server)
    assert url.hostname
    return http.client.HTTPSConnection(url.hostname, url.port, timeout=timeout, context=client_context(access))


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# -- the control plane -----------------------------------------------------------------------------------------------


def test_the_api_server_says_which_version_it_is(plane: ControlPlane) -> None:
    status, version = plane.api.get("/version")
    assert (status, version["major"]) == (200, "1")
    assert version["gitVersion"].startswith(f"v1.{int(version['minor'])}.")


def test_namespace_controller_empties_and_removes_a_namespace(plane: ControlPlane) -> None:
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "soon-gone"}})
    plane.api.create(config_map("content", "soon-gone"))
    plane.api.delete("/api/v1/namespaces/soon-gone")
    until(lambda: plane.api.get("/api/v1/namespaces/soon-gone")[0] == 404, "the namespace to go")


def test_an_empty_namespace_is_deleted_without_the_namespace_controller_and_one_with_an_object_by_it(
    plane: ControlPlane,
) -> None:
    names = empty, full = "left-empty", "left-full"
    plane.api.create(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names))
    plane.api.create(config_map("left", full))
    by_itself = [f"{in_namespace(empty)}/kube-root-ca.crt", f"/api/v1/namespaces/{empty}/serviceaccounts/default"]
    until(lambda: all(plane.api.get(path)[0] == 200 for path in by_itself), "what every namespace has")
    plane.suspend(CONTROLLER_MANAGER)
    try:
        for name in names:
            delete_namespace(plane, name)
        assert plane.api.get(f"/api/v1/namespaces/{empty}")[0] == 404
        assert [plane.api.get(path)[0] for path in by_itself] == [404, 404]
        assert plane.api.get(in_namespace(full, "left"))[0] == 200
    finally:
        plane.resume(CONTROLLER_MANAGER)
    until(lambda: plane.api.get(f"/api/v1/namespaces/{full}")[0] == 404, "the other one to be deleted")


def test_garbage_collector_takes_what_a_deleted_owner_leaves(plane: ControlPlane, namespace: str) -> None:
    [owner] = plane.api.create(config_map("owner", namespace))
    dependant = config_map("dependant", namespace)
    dependant["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    ]
    plane.api.create(dependant)
    plane.api.delete(in_namespace(namespace, "owner"))
    until(lambda: plane.api.get(in_namespace(namespace, "dependant"))[0] == 404, "the dependant to go")


def test_a_crd_can_be_used_as_soon_as_it_is_applied_and_applied_again(plane: ControlPlane, namespace: str) -> None:
    crd = sprockets_crd("usable.example.com")
    plane.api.apply_crd(crd)
    [made] = plane.api.create(
        {"apiVersion": "usable.example.com/v1", "kind": "Sprocket", "metadata": {"name": "s", "namespace": namespace}}
    )
    assert plane.api.path_of(made) == f"/apis/usable.example.com/v1/namespaces/{namespace}/sprockets/s"
    assert plane.api.apply_crd(crd)["status"]["acceptedNames"]["kind"] == "Sprocket"
    plane.api.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sprockets.usable.example.com")


def test_a_validating_admission_policy_may_read_the_namespace(plane: ControlPlane, namespace: str) -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
    name = f"deny-{namespace}"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": rules},
            "validations": [{"expression": f"namespaceObject.metadata.name != '{namespace}'", "message": "closed"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    plane.api.create(policy, binding)

    def denied() -> bool:
        status, answer = plane.api.post(in_namespace(namespace), config_map("probe"), dryRun="All")
        return status == 422 and "closed" in answer["message"]

    try:
        until(denied, "the policy to deny")
    finally:
        plane.api.delete(plane.api.path_of(binding))
        plane.api.delete(plane.api.path_of(policy))


def test_many_objects_are_created_in_the_given_order_of_results(plane: ControlPlane, namespace: str) -> None:
    names = [f"cm-{number}" for number in range(200)]
    made = plane.api.create_many(in_namespace(namespace), [config_map(name) for name in names])
    assert [body["metadata"]["name"] for body in made] == names
    _status, listed = plane.api.get(in_namespace(namespace), limit=500)
    assert set(names) <= {item["metadata"]["name"] for item in listed["items"]}


def test_preparing_fails_loudly(plane: ControlPlane, namespace: str) -> None:
    with pytest.raises(LabError, match=r"creating ConfigMap Not_A_Name at .* was answered with 422"):
        plane.api.create(config_map("Not_A_Name", namespace))
    with pytest.raises(LabError, match="no kind Gadget in v1"):
        plane.api.create({"apiVersion": "v1", "kind": "Gadget", "metadata": {"name": "g"}})


# -- users -----------------------------------------------------------------------------------------------------------


def test_a_new_user_may_do_nothing(plane: ControlPlane, namespace: str) -> None:
    status, answer = Api(plane.user("nobody")).get(in_namespace(namespace))
    assert (status, answer["reason"]) == (403, "Forbidden")
    assert 'User "nobody" cannot list resource "configmaps"' in answer["message"]


def test_rights_in_a_namespace_end_at_its_border(plane: ControlPlane, namespace: str, as_user: AsUser) -> None:
    api = Api(as_user("alice", rules=[CONFIG_MAPS], namespace=namespace))
    assert api.post(in_namespace(namespace), config_map("mine"))[0] == 201
    assert api.get(in_namespace("default"))[0] == 403
    assert api.get("/api/v1/configmaps")[0] == 403
    assert api.get(f"/api/v1/namespaces/{namespace}/secrets")[0] == 403


def test_rights_in_the_cluster_reach_everywhere(as_user: AsUser, namespace: str) -> None:
    api = Api(as_user("carol", rules=[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]))
    assert api.get("/api/v1/configmaps")[0] == 200
    assert api.post(in_namespace(namespace), config_map("not-mine"))[0] == 403


def test_rights_are_gone_after_the_test_that_gave_them(plane: ControlPlane) -> None:
    assert Api(plane.user("carol")).get("/api/v1/configmaps")[0] == 403


def test_groups_come_from_the_certificate(plane: ControlPlane) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    user = plane.user("dave", groups=["team-a", "team-b"])
    _status, answer = Api(user).post("/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    assert answer["status"]["userInfo"]["username"] == "dave"
    assert answer["status"]["userInfo"]["groups"] == ["team-a", "team-b", "system:authenticated"]


def test_a_service_account_is_known_by_its_token(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    plane.api.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": namespace}}
    )
    token = plane.service_account_token(namespace, "robot")
    status, answer = Api(plane.token_kubeconfig(tmp_path / "kubeconfig", token)).get(in_namespace(namespace))
    assert status == 403
    assert f"system:serviceaccount:{namespace}:robot" in answer["message"]


def test_kubectl_takes_the_kubeconfig(plane: ControlPlane) -> None:
    environment = {**os.environ, "KUBECONFIG": str(plane.admin.kubeconfig)}
    command = [str(tools.kubectl()), "get", "namespace", "default", "--output=name"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "namespace/default\n"


# -- audit -----------------------------------------------------------------------------------------------------------


def test_audit_names_what_was_asked_by_whom_in_order(
    plane: ControlPlane, namespace: str, as_user: AsUser, audit: AuditTrail
) -> None:
    api = Api(as_user("erin", rules=[CONFIG_MAPS], namespace=namespace))
    audit.begin_anew()
    api.post(in_namespace(namespace), config_map("one"))
    plane.api.get("/api/v1/nodes")
    api.patch(in_namespace(namespace, "one"), {"data": {"key": "value"}})
    api.get(f"/api/v1/namespaces/{namespace}/secrets/hidden")
    api.delete(in_namespace(namespace, "one"))
    assert [(e.verb, e.resource, e.name, e.code, e.mutating) for e in audit.events(user="erin")] == [
        ("create", "configmaps", "one", 201, True),
        ("patch", "configmaps", "one", 200, True),
        ("get", "secrets", "hidden", 403, False),
        ("delete", "configmaps", "one", 200, True),
    ]
    assert {event.namespace for event in audit.events(user="erin")} == {namespace}
    assert [event.verb for event in audit.writes(user="erin")] == ["create", "patch", "delete"]


DRY_RUN = {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]}
FOR_REAL = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}


@pytest.mark.parametrize(
    ("body", "query", "dry_run"),
    [
        pytest.param(DRY_RUN, {}, True, id="in the body"),
        pytest.param(None, {"dryRun": "All"}, True, id="in the query"),
        pytest.param(FOR_REAL, {"dryRun": "All"}, False, id="in the query beside a body, which the server ignores"),
        pytest.param(FOR_REAL, {}, False, id="not at all"),
    ],
)
def test_audit_tells_a_dry_run_of_a_delete_from_a_delete(
    plane: ControlPlane, namespace: str, audit: AuditTrail, body: Any, query: dict[str, str], dry_run: bool
) -> None:
    plane.api.create(config_map("target", namespace))
    plane.api.delete(in_namespace(namespace, "target"), body, **query)
    [event] = [event for event in audit.events() if event.verb == "delete" and event.name == "target"]
    assert (event.dry_run, event.mutating) == (dry_run, not dry_run)
    still_there = plane.api.get(in_namespace(namespace, "target"))[0] == 200
    assert still_there == dry_run


def test_audit_shows_dry_runs_of_creates_and_patches(plane: ControlPlane, namespace: str, audit: AuditTrail) -> None:
    plane.api.post(in_namespace(namespace), config_map("idea"), dryRun="All")
    plane.api.patch("/api/v1/namespaces/default", {"metadata": {"labels": {"a": "b"}}}, dryRun="All")
    mine = [event for event in audit.events(user=plane.admin.name) if event.verb in ("create", "patch")]
    assert [(event.verb, event.dry_run, event.mutating) for event in mine] == [
        ("create", True, False),
        ("patch", True, False),
    ]


def test_audit_shows_the_preconditions_of_a_delete(plane: ControlPlane, namespace: str, audit: AuditTrail) -> None:
    [made] = plane.api.create(config_map("guarded", namespace))
    wrong = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "somebody-else"}}
    assert plane.api.delete(in_namespace(namespace, "guarded"), wrong)[0] == 409
    right = {**wrong, "preconditions": {"uid": made["metadata"]["uid"]}}
    assert plane.api.delete(in_namespace(namespace, "guarded"), right)[0] == 200
    deletes = [event for event in audit.events() if event.verb == "delete" and event.name == "guarded"]
    assert [(event.code, event.request and event.request["preconditions"]["uid"]) for event in deletes] == [
        (409, "somebody-else"),
        (200, made["metadata"]["uid"]),
    ]


def test_audit_takes_an_access_review_for_a_question(plane: ControlPlane, audit: AuditTrail) -> None:
    review = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "nodes"}}}
    plane.api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    [event] = audit.events(user=plane.admin.name)
    assert (event.verb, event.mutating) == ("create", False)


def test_audit_has_a_watch_once_and_marks_keep_tests_apart(plane: ControlPlane, audit: AuditTrail) -> None:
    list(plane.api.watch("/api/v1/configmaps", seconds=1))
    assert [event.verb for event in audit.events(user=plane.admin.name)] == ["watch"]
    audit.begin_anew()
    assert audit.events(user=plane.admin.name) == []


def test_audit_leaves_out_what_began_before_the_mark(
    plane: ControlPlane, faults: FaultProxy, namespace: str, audit: AuditTrail
) -> None:
    logged = plane.layout.audit_log.read_text
    before = len(logged())
    with open_watch(faults, namespace):
        audit.begin_anew()
    plane.api.get("/api/v1/nodes")
    until(lambda: '"verb":"watch"' in logged()[before:], "the end of the watch to be logged")
    assert [event.resource for event in audit.events(user=plane.admin.name)] == ["nodes"]


def test_audit_keeps_what_controllers_write(plane: ControlPlane, audit: AuditTrail) -> None:
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "watched"}})
    plane.api.delete("/api/v1/namespaces/watched")
    until(lambda: plane.api.get("/api/v1/namespaces/watched")[0] == 404, "the namespace to go")
    sweepers = {event.user for event in audit.writes() if event.verb == "deletecollection"}
    assert sweepers == {"system:serviceaccount:kube-system:namespace-controller"}


# -- faults: what a client that knows nothing of the lab sees --------------------------------------------------------


@pytest.fixture
def client(faults: FaultProxy) -> Iterator[http.client.HTTPSConnection]:
    connection = plain_connection(faults.kubeconfig())
    yield connection
    connection.close()


def ask(connection: http.client.HTTPSConnection, method: str, path: str, body: object = None) -> tuple[int, Any]:
    payload = None if body is None else json.dumps(body)
    connection.request(method, path, payload, {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def test_without_rules_the_proxy_only_passes_on(
    client: http.client.HTTPSConnection, faults: FaultProxy, namespace: str
) -> None:
    assert ask(client, "POST", in_namespace(namespace), config_map("big", text="x" * 300_000))[0] == 201
    status, answer = ask(client, "GET", in_namespace(namespace, "big") + "?pretty=false")
    assert (status, len(answer["data"]["text"])) == (200, 300_000)
    assert ask(client, "GET", in_namespace(namespace, "missing"))[0] == 404
    assert [(seen.method, seen.status, seen.fault) for seen in faults.requests] == [
        ("POST", 201, None),
        ("GET", 200, None),
        ("GET", 404, None),
    ]
    assert faults.connections == 1


def test_the_proxy_speaks_in_the_name_of_its_client(
    plane: ControlPlane, faults: FaultProxy, namespace: str, as_user: AsUser, audit: AuditTrail
) -> None:
    frank = as_user("frank", rules=[CONFIG_MAPS], namespace=namespace)
    audit.begin_anew()
    assert Api(faults.kubeconfig(frank)).get(in_namespace(namespace))[0] == 200
    assert Api(faults.kubeconfig(frank)).get("/api/v1/nodes")[0] == 403
    assert Api(faults.kubeconfig(plane.admin)).get("/api/v1/nodes")[0] == 200
    asked = [(event.user, event.resource, event.code) for event in audit.events() if event.verb == "list"]
    assert asked == [("frank", "configmaps", 200), ("frank", "nodes", 403), (plane.admin.name, "nodes", 200)]


def test_the_proxy_passes_a_token_on_even_if_it_has_a_user_of_its_own(plane: ControlPlane) -> None:
    token = plane.service_account_token("default", "default")
    with FaultProxy(plane, plane.admin) as proxy:
        status, answer = Api(proxy.token_kubeconfig(token)).get("/api/v1/nodes")
    assert status == 403
    assert 'User "system:serviceaccount:default:default"' in answer["message"]


def test_the_proxy_refuses_a_certificate_it_was_not_given(plane: ControlPlane, faults: FaultProxy) -> None:
    access = read_kubeconfig(plane.user("stranger").kubeconfig)
    url = urlsplit(faults.url)
    connection = http.client.HTTPSConnection("127.0.0.1", url.port, timeout=10, context=client_context(access))
    assert ask(connection, "GET", "/api/v1/nodes")[0] == 401
    connection.close()


def test_a_client_without_credentials_becomes_the_proxys_user(plane: ControlPlane) -> None:
    trust = ssl.create_default_context(cafile=str(plane.ca_file))
    for user, expected in ((None, 403), (plane.admin, 200)):
        with FaultProxy(plane, user) as proxy:
            port = urlsplit(proxy.url).port
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=trust)
            assert ask(connection, "GET", "/api/v1/nodes")[0] == expected
            connection.close()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Answer(409), "Conflict"),
        (Answer(410), "Expired"),
        (Answer(422), "Invalid"),
        (Answer(429, retry_after=7), "TooManyRequests"),
        (Answer(500), "InternalError"),
        (Answer(503), "ServiceUnavailable"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Answer) else None,
)
def test_an_injected_answer_is_a_status_and_the_server_never_hears_of_it(
    client: http.client.HTTPSConnection,
    plane: ControlPlane,
    faults: FaultProxy,
    namespace: str,
    audit: AuditTrail,
    fault: Answer,
    reason: str,
) -> None:
    rule = faults.add(Rule(fault, method="DELETE", path="/configmaps/"))
    plane.api.create(config_map("kept", namespace))
    client.request("DELETE", in_namespace(namespace, "kept"))
    response = client.getresponse()
    body = json.loads(response.read())
    assert response.status == body["code"] == fault.status
    assert (body["kind"], body["reason"]) == ("Status", reason)
    if fault.retry_after:
        assert response.getheader("Retry-After") == "7"
        assert body["details"]["retryAfterSeconds"] == 7
    assert [event for event in audit.events() if event.verb == "delete"] == []
    assert rule.hits == 1
    assert ask(client, "GET", in_namespace(namespace, "kept"))[0] == 200  # same connection, other method


def test_causes_make_a_422_a_real_refusal(client: http.client.HTTPSConnection, faults: FaultProxy) -> None:
    faults.add(Rule(Answer(422, causes=({"reason": "FieldValueInvalid", "field": "spec.x", "message": "no"},))))
    assert ask(client, "GET", "/version")[1]["details"]["causes"][0]["field"] == "spec.x"


def test_410_on_continue_lets_the_first_page_through(
    plane: ControlPlane, client: http.client.HTTPSConnection, faults: FaultProxy, namespace: str
) -> None:
    plane.api.create_many(in_namespace(namespace), [config_map(f"page-{number}") for number in range(4)])
    faults.add(Rule(Answer(410), method="GET", query="continue=", times=1))
    status, page = ask(client, "GET", in_namespace(namespace) + "?limit=2")
    following = in_namespace(namespace) + f"?limit=2&continue={page['metadata']['continue']}"
    assert status == 200
    assert ask(client, "GET", following)[0] == 410
    assert ask(client, "GET", following)[0] == 200


def test_reset_before_the_request_reaches_the_server_changes_nothing(
    plane: ControlPlane, client: http.client.HTTPSConnection, faults: FaultProxy, namespace: str
) -> None:
    plane.api.create(config_map("kept", namespace))
    faults.add(Rule(ResetBefore(), method="DELETE"))
    with pytest.raises(ConnectionResetError):
        ask(client, "DELETE", in_namespace(namespace, "kept"))
    assert plane.api.get(in_namespace(namespace, "kept"))[0] == 200


def test_reset_after_the_answer_loses_the_answer_not_the_write(
    plane: ControlPlane, client: http.client.HTTPSConnection, faults: FaultProxy, namespace: str
) -> None:
    plane.api.create(config_map("lost", namespace))
    rule = faults.add(Rule(ResetAfter(), method="DELETE", times=1))
    with pytest.raises(ConnectionResetError):
        ask(client, "DELETE", in_namespace(namespace, "lost"))
    assert plane.api.get(in_namespace(namespace, "lost"))[0] == 404
    client.close()
    assert ask(client, "DELETE", in_namespace(namespace, "lost"))[0] == 404  # a new connection works
    assert (rule.matches, rule.hits) == (2, 1)


def test_a_slow_answer_is_late_but_the_server_was_asked_at_once(
    plane: ControlPlane, client: http.client.HTTPSConnection, faults: FaultProxy, namespace: str
) -> None:
    faults.add(Rule(SlowAnswer(3), method="POST"))
    slow = threading.Thread(target=ask, args=(client, "POST", in_namespace(namespace), config_map("early")))
    slow.start()
    until(lambda: plane.api.get(in_namespace(namespace, "early"))[0] == 200, "the object to be there")
    assert slow.is_alive()
    slow.join()


@pytest.mark.parametrize("count", [1, 60], ids=["by length", "in chunks"])
def test_a_truncated_body_ends_before_its_announced_end(
    plane: ControlPlane, client: http.client.HTTPSConnection, faults: FaultProxy, namespace: str, count: int
) -> None:
    plane.api.create_many(in_namespace(namespace), [config_map(f"cm-{n}", text="x" * 900) for n in range(count)])
    rule = faults.add(Rule(TruncatedBody(keep=500), path="/configmaps"))
    client.request("GET", in_namespace(namespace))
    response = client.getresponse()
    assert response.status == 200
    with pytest.raises(http.client.IncompleteRead) as caught:
        response.read()
    assert len(caught.value.partial) <= 500
    assert rule.hits == 1


def test_latency_delays_every_request(client: http.client.HTTPSConnection, faults: FaultProxy) -> None:
    faults.latency = 0.2
    began = time.monotonic()
    ask(client, "GET", "/version")
    ask(client, "GET", "/version")
    assert time.monotonic() - began >= 0.4


def test_rules_choose_by_count_and_by_seeded_chance(client: http.client.HTTPSConnection, faults: FaultProxy) -> None:
    def statuses(count: int) -> list[int]:
        return [ask(client, "GET", "/version")[0] for _time in range(count)]

    faults.add(Rule(Answer(500), nth=2))
    assert statuses(4) == [200, 500, 200, 200]
    faults.clear()
    faults.add(Rule(Answer(503), after=1, times=2))
    faults.add(Rule(Answer(409), nth=4))
    assert statuses(6) == [200, 503, 503, 200, 200, 409]  # a rule counts only what earlier rules let pass
    drawn = []
    for _time in range(2):
        faults.clear()
        faults.add(Rule(Answer(500), probability=0.3, seed=42))
        drawn.append(statuses(40))
    assert drawn[0] == drawn[1]
    assert 4 <= drawn[0].count(500) <= 20


# -- faults in watches -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def open_watch(faults: FaultProxy, namespace: str, timeout: float = 10) -> Iterator[http.client.HTTPResponse]:
    with contextlib.closing(plain_connection(faults.kubeconfig(), timeout)) as connection:
        ours = "fieldSelector=metadata.name!%3Dkube-root-ca.crt"  # that one comes by itself, at any time
        connection.request("GET", f"{in_namespace(namespace)}?watch=true&{ours}")
        with connection.getresponse() as response:
            yield response


def create_three(plane: ControlPlane, namespace: str) -> None:
    plane.api.create(*(config_map(name, namespace) for name in ("one", "two", "three")))


def event_of(line: bytes) -> tuple[str, str]:
    event = json.loads(line)
    return event["type"], event["object"].get("metadata", {}).get("name", "")


def test_a_watch_streams_through_unbuffered(plane: ControlPlane, faults: FaultProxy, namespace: str) -> None:
    with open_watch(faults, namespace) as watch:
        for name in ("one", "two"):  # the second is made when the first has come through
            plane.api.create(config_map(name, namespace, text="x" * 20_000))  # an event of several chunks
            assert event_of(watch.readline()) == ("ADDED", name)


def test_the_watch_at_the_server_ends_when_the_client_leaves(
    plane: ControlPlane, faults: FaultProxy, namespace: str, audit: AuditTrail
) -> None:
    with open_watch(faults, namespace):
        pass

    def ended() -> bool:
        return any(event.verb == "watch" and event.stage == "ResponseComplete" for event in audit.events())

    until(ended, "the API server to see the watch end")


def test_a_watch_is_cut_after_some_events(plane: ControlPlane, faults: FaultProxy, namespace: str) -> None:
    rule = faults.add(Rule(CutWatch(after=2), times=1))
    create_three(plane, namespace)
    with open_watch(faults, namespace) as watch:
        assert len({event_of(watch.readline()) for _time in range(2)}) == 2
        with pytest.raises(http.client.IncompleteRead):
            watch.read()
    with open_watch(faults, namespace) as again:
        assert len({event_of(again.readline()) for _time in range(3)}) == 3
    assert rule.hits == 1


def test_a_watch_may_also_end_cleanly(plane: ControlPlane, faults: FaultProxy, namespace: str) -> None:
    faults.add(Rule(CutWatch(after=1, clean=True)))
    create_three(plane, namespace)
    with open_watch(faults, namespace) as watch:
        assert watch.read().count(b"\n") == 1


def test_a_silent_watch_stays_open_and_says_nothing(plane: ControlPlane, faults: FaultProxy, namespace: str) -> None:
    faults.add(Rule(SilentWatch(after=1)))
    create_three(plane, namespace)
    with open_watch(faults, namespace, timeout=1) as watch:
        event_of(watch.readline())
        with pytest.raises(TimeoutError):
            watch.readline()


def test_an_error_event_ends_a_watch(plane: ControlPlane, faults: FaultProxy, namespace: str) -> None:
    faults.add(Rule(ErrorInWatch(410, after=1)))
    create_three(plane, namespace)
    with open_watch(faults, namespace) as watch:
        first, last = watch.read().splitlines()
    assert event_of(first)[0] == "ADDED"
    error = json.loads(last)
    assert (error["type"], error["object"]["code"], error["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_watch_faults_leave_lists_alone(client: http.client.HTTPSConnection, faults: FaultProxy) -> None:
    rule = faults.add(Rule(CutWatch()))
    assert ask(client, "GET", "/api/v1/configmaps?limit=1")[0] == 200
    assert rule.hits == 0


def test_the_proxy_keeps_up_with_thousands_of_requests(plane: ControlPlane, faults: FaultProxy) -> None:
    api = Api(faults.kubeconfig())
    rule = faults.add(Rule(Answer(429, retry_after=1), nth=1000))
    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(lambda _: api.get("/version")[0], range(5000)))
    assert (statuses.count(429), statuses.count(200), rule.hits) == (1, 4999, 1)
    assert len(faults.requests) == 5000


def test_closing_the_proxy_frees_everybody(plane: ControlPlane, namespace: str) -> None:
    before = threading.active_count()
    proxy = FaultProxy(plane)
    proxy.add(Rule(SilentWatch(), query="watch"))
    proxy.add(Rule(SlowAnswer(600), path="/version"))
    with open_watch(proxy, namespace) as silent, contextlib.closing(plain_connection(proxy.kubeconfig())) as slow:
        slow.request("GET", "/version")
        until(lambda: len(proxy.requests) == 2, "both requests to arrive")
        closing = threading.Thread(target=proxy.close)
        closing.start()
        until(
            lambda: not closing.is_alive(), "the proxy to close before an answer that is due in ten minutes", timeout=60
        )
        with pytest.raises(http.client.IncompleteRead):
            silent.read()
    until(lambda: threading.active_count() <= before, "the threads to end")
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPSConnection("127.0.0.1", urlsplit(proxy.url).port, timeout=2).connect()


# -- components come and go ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A plane that tests may break; without controllers it starts faster."""
    with ControlPlane.start(tmp_path_factory.mktemp("spare"), controller_manager=False) as plane:
        yield plane


def test_a_restarted_api_server_keeps_port_and_data(spare: ControlPlane) -> None:
    [made] = spare.api.create(config_map("survivor", "default"))
    url, before = spare.url, spare.pids
    spare.restart("kube-apiserver")
    assert spare.url == url
    assert spare.pids["kube-apiserver"] != before["kube-apiserver"]
    _status, found = spare.api.get(in_namespace("default", "survivor"))
    assert found["metadata"]["uid"] == made["metadata"]["uid"]


def test_the_audit_log_goes_on_after_a_restart(spare: ControlPlane) -> None:
    mark = spare.audit.mark()
    spare.api.get("/api/v1/nodes")
    spare.restart("kube-apiserver")
    spare.api.get("/api/v1/pods")
    asked = [event.resource for event in spare.audit.since(mark, spare.admin.name) if event.verb == "list"]
    assert asked == ["nodes", "pods"]


def test_a_killed_api_server_refuses_connections_until_begun_again(spare: ControlPlane) -> None:
    spare.kill("kube-apiserver")
    try:
        with pytest.raises(ConnectionRefusedError):
            Api(spare.admin).get("/readyz")
    finally:
        spare.begin("kube-apiserver")
    assert spare.api.get("/readyz")[0] == 200
    with pytest.raises(LabError, match="runs already"):
        spare.begin("kube-apiserver")


def test_a_component_begun_in_a_thread_outlives_that_thread(spare: ControlPlane) -> None:
    thread = threading.Thread(target=spare.restart, args=("kube-apiserver",))
    thread.start()
    thread.join()
    time.sleep(0.5)
    assert "kube-apiserver" in spare.pids


def test_a_suspended_api_server_answers_nothing_until_resumed(spare: ControlPlane) -> None:
    spare.suspend("kube-apiserver")
    try:
        with pytest.raises(TimeoutError):
            Api(spare.admin, timeout=1).get("/version")
    finally:
        spare.resume("kube-apiserver")
    assert spare.api.get("/version")[0] == 200


def test_the_proxy_resets_its_client_while_the_server_is_down_and_recovers(spare: ControlPlane) -> None:
    with FaultProxy(spare) as proxy:
        client = plain_connection(proxy.kubeconfig())
        assert ask(client, "GET", "/version")[0] == 200
        spare.kill("kube-apiserver")
        try:
            with pytest.raises(ConnectionResetError):
                ask(client, "GET", "/version")
            assert proxy.requests[-1].error
        finally:
            spare.begin("kube-apiserver")
        client.close()
        assert ask(client, "GET", "/version")[0] == 200
        client.close()


def test_a_client_of_the_proxy_need_not_notice_that_the_server_was_restarted(spare: ControlPlane) -> None:
    with FaultProxy(spare) as proxy, contextlib.closing(plain_connection(proxy.kubeconfig())) as client:
        assert ask(client, "GET", "/version")[0] == 200
        spare.restart("kube-apiserver")
        assert ask(client, "GET", "/version")[0] == 200
        assert proxy.connections == 1


def test_an_unknown_component_is_named(spare: ControlPlane) -> None:
    with pytest.raises(LabError, match="no 'kubelet'; it has etcd, kube-apiserver"):
        spare.kill("kubelet")


def test_extra_flags_reach_the_api_server_and_a_bad_one_shows_its_log(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"kube-apiserver ended while starting[^$]*unknown flag: --no-such-flag"):
        ControlPlane.start(tmp_path / "bad", apiserver_flags=["--no-such-flag"], controller_manager=False)


# -- nothing is left behind ------------------------------------------------------------------------------------------

IN_ANOTHER_PROCESS = """
import sys, time
from lab.plane.components import CONTROLLER_MANAGER
from lab.plane.controlplane import ControlPlane
from lab.plane.namespaces import delete_namespace
with ControlPlane.start(sys.argv[1], controller_manager=False) as plane:
    print(*plane.pids.values(), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other_process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int], Path]]:
    """Another Python process that runs a plane: the process, the pids of the components, the directory."""
    directory = tmp_path / "other"
    command = [sys.executable, "-c", textwrap.dedent(IN_ANOTHER_PROCESS), str(directory)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        pids = [int(word) for word in process.stdout.readline().split()]
        assert len(pids) == 2
        assert all(runs(pid) for pid in pids)
        yield process, pids, directory
        process.kill()


def test_stop_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    plane = ControlPlane.start(tmp_path / "short")
    pids = plane.pids
    assert sorted(pids) == ["etcd", "kube-apiserver", "kube-controller-manager"]
    plane.suspend("kube-controller-manager")  # even one that cannot hear us
    plane.stop()
    assert [name for name, pid in pids.items() if runs(pid)] == []
    assert not plane.directory.exists()
    plane.stop()


def test_a_killed_parent_leaves_no_process(other_process: tuple[subprocess.Popen[str], list[int], Path]) -> None:
    process, pids, _folder = other_process
    process.kill()
    until(lambda: not any(runs(pid) for pid in pids), "the components to end")


def test_ctrl_c_leaves_no_process_and_no_file(other_process: tuple[subprocess.Popen[str], list[int], Path]) -> None:
    process, pids, directory = other_process
    process.send_signal(signal.SIGINT)
    process.wait(20)
    assert not any(runs(pid) for pid in pids)
    assert not directory.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_an_ended_pytest_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "test_forever.py").write_text(
        "import time, pathlib\n"
        "def test_forever(plane):\n"
        "    pathlib.Path('pids').write_text(' '.join(map(str, plane.pids.values())) + ' ' + str(plane.directory))\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "lab.fixtures", "-p", "no:cacheprovider", "test_forever.py"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            text = until(lambda: _text_of(tmp_path / "pids"), "the inner test to run")
            process.send_signal(number)
            process.wait(20)
        finally:
            process.kill()
    *pids, directory = text.split()
    until(lambda: not any(runs(int(pid)) for pid in pids), "the components to end")
    assert Path(directory).exists() == (number == signal.SIGKILL)  # nobody is left to remove files then


def _text_of(file: Path) -> str:
    return file.read_text() if file.exists() else ""


# -- python -m lab ---------------------------------------------------------------------------------------------------


def lab(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "SUNSET_KUBE_LAB": str(directory)}
    command = [sys.executable, "-m", "lab", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_the_command_line_brings_a_lab_up_and_down(tmp_path: Path) -> None:
    directory = tmp_path / "a lab"
    assert (lab(directory, "status").returncode, lab(directory, "env").returncode) == (3, 3)
    try:
        first = lab(directory, "up")
        assert first.returncode == 0, first.stderr
        export = f"export KUBECONFIG='{directory}/admin.kubeconfig'"
        assert export in first.stdout
        assert Api(directory / "admin.kubeconfig").get("/readyz")[0] == 200
        assert lab(directory, "up").stdout.startswith("The lab is already up.")
        assert lab(directory, "env").stdout == export + "\n"
        attached = ControlPlane.attach(directory)
        pids = attached.pids
        assert len(pids) == 3
        assert lab(directory, "status").returncode == 0
        attached.kill("kube-controller-manager")
        assert "kube-controller-manager: NOT running" in lab(directory, "status").stdout
        assert "kube-controller-manager ended. Take it down first" in lab(directory, "up").stderr
    finally:
        down = lab(directory, "down")
    assert down.stdout.startswith("The lab is down: etcd (")
    assert not any(runs(pid) for pid in pids.values())
    assert not directory.exists()
    assert lab(directory, "down").stdout == "There is no lab.\n"


def test_down_spares_a_process_that_only_has_the_recorded_pid(spare: ControlPlane, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as innocent:
        (tmp_path / "pki").mkdir()
        record = json.loads((spare.directory / "plane.json").read_text())
        record["processes"] = {"etcd": {"pid": innocent.pid, "started": 12345}}
        (tmp_path / "plane.json").write_text(json.dumps(record))
        assert "nothing was running" in lab(tmp_path, "down").stdout
        assert innocent.poll() is None
        innocent.kill()


def test_a_user_is_the_same_user_twice(plane: ControlPlane) -> None:
    first: User = plane.user("twin", groups=["g"])
    assert first == plane.user("twin", groups=["g"])
    assert first.cert_file != plane.user("twin", groups=["h"]).cert_file


def test_a_mark_in_the_middle_of_a_line_counts_from_the_beginning_of_that_line(tmp_path: Path) -> None:
    """As when the server is just writing: the needle's own line comes after a half one."""
    file = tmp_path / "audit.log"
    whole = '{"stage": "x"}\n'
    file.write_text(whole + "x" * 100_000)
    assert _end_of_whole_lines(file) == len(whole)
    file.write_text("half")
    assert _end_of_whole_lines(file) == 0
    assert _end_of_whole_lines(tmp_path / "none") == 0
