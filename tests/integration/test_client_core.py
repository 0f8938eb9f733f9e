# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wire between us and a real API server: overload, faults, restarts, credentials, proxies, discovery."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import ssl
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Planned
from ansible_collections.sunset.kube.plugins.module_utils.jobs.finalizer import JOB
from ansible_collections.sunset.kube.plugins.module_utils.kube import configuration, discovery, lists
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.kube.discovery import Availability
from ansible_collections.sunset.kube.plugins.module_utils.kube.naming import resolve
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook
from integration.connect_proxy import ConnectProxy
from integration.running import Result, open_cluster, run_job
from integration.stage import CLEANUP, FOREIGN, GROUP, Body, Stage, body, config_map, widget
from lab.faults import Answer, FaultProxy, ResetAfter, ResetBefore, Rule, SlowAnswer, TruncatedBody
from lab.fixtures import AsUser
from lab.plane.api import Api
from lab.plane.audit import AuditTrail
from lab.plane.certificates import Authority
from lab.plane.components import APISERVER
from lab.plane.controlplane import ControlPlane
from lab.plane.grants import grant
from lab.plane.ports import free_port
from lab.plane.users import Access, User, read_kubeconfig, write_kubeconfig
from lab.waiting import until

pytestmark = pytest.mark.quick

EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]


def free(stage: Stage, kubeconfig: Path | Mapping[str, Any] | None, **options: Any) -> Result:
    """Free the hanging Widgets of the test's namespace; who is alive behind them is not the question here."""
    hooks = {name: options.pop(name) for name in ("on_event", "stop") if name in options}
    params = {"kind": "Widget", "namespace": stage.namespace, "finalizers": [CLEANUP], "owner": "any", **options}
    return run_job(JOB, params, kubeconfig, **hooks)


def hang_widgets(stage: Stage, count: int) -> list[Body]:
    return stage.hang(*(widget(f"w{n:03}", stage.namespace, CLEANUP) for n in range(count)))


def succeeded(result: Result) -> Result:
    assert not result.get("failed"), result["msg"]
    return result


# -- an overloaded server --------------------------------------------------------------------------------------------


def test_one_worker_told_to_wait_makes_all_of_them_wait_and_the_run_completes(stage: Stage, faults: FaultProxy) -> None:
    hang_widgets(stage, 40)
    faults.latency = 0.1  # four workers have a second of work left when the first of them is told
    faults.add(Rule(Answer(429, retry_after=1), method="PATCH", nth=8))
    result = succeeded(free(stage, faults.kubeconfig(), parallel=4))
    assert result["counts"]["gone"] == 40
    assert result["requests"]["throttled_seconds"] == pytest.approx(1.0)
    patches = [request for request in faults.requests if request.method == "PATCH"]
    told = next(number for number, request in enumerate(patches) if request.status == 429)
    times = [request.time for request in patches[told:]]
    longest = max(later - earlier for earlier, later in itertools.pairwise(times))
    assert longest > 0.8, "somebody went on sending while the server had asked for a second of silence"


def test_a_storm_of_429_is_weathered_and_the_wait_is_reported(stage: Stage, faults: FaultProxy) -> None:
    things = hang_widgets(stage, 40)
    storm = faults.add(Rule(Answer(429, retry_after=1), method="PATCH", times=24))
    result = succeeded(free(stage, faults.kubeconfig()))
    assert storm.hits == 24
    assert result["counts"]["gone"] == 40
    assert all(map(stage.is_gone, things))
    assert 1 <= result["requests"]["throttled_seconds"] < 24, "workers told together wait together"


@pytest.mark.slow
def test_a_really_overloaded_server_slows_us_down_and_everything_gets_done(narrow_plane: ControlPlane) -> None:
    stage = Stage(narrow_plane)
    user = narrow_plane.user("pushy")  # not an administrator: those are never turned away
    grant(narrow_plane.api, user, EVERYTHING)
    hang_widgets(stage, 20)
    with both_places_taken(narrow_plane, user):
        result = succeeded(free(stage, user.kubeconfig, parallel=8))
    assert result["counts"]["gone"] == 20
    assert result["requests"]["throttled_seconds"] > 0
    assert narrow_plane.api.get(f"/apis/{GROUP}/v1/namespaces/{stage.namespace}/widgets")[1]["items"] == []


_ANSWERED, _BUSY = "apiserver_request_total{", 'code="429"'


@contextlib.contextmanager
def both_places_taken(narrow_plane: ControlPlane, user: User) -> Iterator[None]:
    """Two writes whose bodies never come take all that the server has for writes, until it has turned one away."""

    def turned_away() -> float:
        metrics = narrow_plane.api.get("/metrics")[1]["text"].splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in metrics if line.startswith(_ANSWERED) and _BUSY in line)

    def let_in() -> None:
        try:
            until(lambda: turned_away() > before, "a write to be turned away")
        finally:
            for connection in held:
                connection.close()

    before = turned_away()
    held = [Api(user).half_sent("POST", "/api/v1/namespaces/default/configmaps") for _place in range(2)]

    helper = threading.Thread(target=let_in)
    helper.start()
    try:
        yield
    finally:
        helper.join()


# -- passing faults --------------------------------------------------------------------------------------------------

BEFORE_THE_WRITE = [
    *(Answer(408), Answer(500), Answer(502), Answer(503), Answer(503, retry_after=1), Answer(504)),
    ResetBefore(),
]
AFTER_THE_WRITE = [ResetAfter(), TruncatedBody(), TruncatedBody(keep=0)]


@pytest.mark.parametrize("fault", BEFORE_THE_WRITE, ids=repr)
def test_a_fault_before_the_write_is_tried_again(
    stage: Stage, faults: FaultProxy, audit: AuditTrail, as_user: AsUser, fault: Any
) -> None:
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP, FOREIGN))
    user = as_user("unlucky", EVERYTHING)
    rule = faults.add(Rule(fault, method="PATCH", times=1))
    result = succeeded(free(stage, faults.kubeconfig(user)))
    assert rule.hits == 1
    assert stage.finalizers(held) == [FOREIGN]
    assert (result["changed"], result["counts"]["removed"]) == (True, 1)
    assert [event.code for event in audit.writes(user.name)] == [200]


@pytest.mark.parametrize("fault", AFTER_THE_WRITE, ids=repr)
@pytest.mark.parametrize("others", [[], [FOREIGN]], ids=["last finalizer", "one of two"])
def test_a_write_whose_answer_was_lost_counts_as_done_and_is_not_done_twice(
    stage: Stage, faults: FaultProxy, audit: AuditTrail, as_user: AsUser, fault: Any, others: list[str]
) -> None:
    [thing] = stage.hang(widget("thing", stage.namespace, *others, CLEANUP))
    user = as_user("unheard", EVERYTHING)
    rule = faults.add(Rule(fault, method="PATCH", times=1))
    result = succeeded(free(stage, faults.kubeconfig(user)))
    assert rule.hits == 1
    assert stage.is_gone(thing) if not others else stage.finalizers(thing) == others
    written = [event for event in audit.writes(user.name) if event.code == 200]
    assert len(written) == 1
    assert result["changed"] is True, "we did it, whether we heard of it or not"
    assert result["removed"][0]["gone"] is not bool(others)


@pytest.mark.parametrize("fault", [Answer(500), Answer(503), ResetBefore(), ResetAfter(), TruncatedBody()], ids=repr)
def test_a_fault_while_looking_never_makes_objects_invisible(stage: Stage, faults: FaultProxy, fault: Any) -> None:
    hang_widgets(stage, 3)
    rule = faults.add(Rule(fault, method="GET", path="/widgets$", times=1))
    assert succeeded(free(stage, faults.kubeconfig()))["counts"]["gone"] == 3
    assert rule.hits == 1


def test_slow_answers_are_waited_for(stage: Stage, faults: FaultProxy) -> None:
    hang_widgets(stage, 8)
    slow = faults.add(Rule(SlowAnswer(0.3), probability=0.5, seed=7))
    result = succeeded(free(stage, faults.kubeconfig()))
    assert slow.hits
    assert (result["counts"]["gone"], result["requests"]["patch"]) == (8, 8)


def test_a_server_that_stays_broken_ends_in_a_message_and_leaves_the_rest_alone(
    stage: Stage, faults: FaultProxy
) -> None:
    [thing] = hang_widgets(stage, 1)
    broken = faults.add(Rule(Answer(500, message="the disk is on fire"), method="PATCH"))
    result = free(stage, faults.kubeconfig())
    assert result["failed"]
    assert "the disk is on fire" in result["msg"]
    assert f"Widget {stage.namespace}/w000" in result["msg"]
    assert broken.hits < 10
    assert stage.look(thing) == thing


def test_a_plain_403_is_final(stage: Stage, faults: FaultProxy) -> None:
    hang_widgets(stage, 1)
    closed = faults.add(Rule(Answer(403), method="PATCH"))
    assert free(stage, faults.kubeconfig())["failed"]
    assert closed.hits == 1


def test_a_403_right_after_an_outage_is_not_taken_at_its_word(stage: Stage, faults: FaultProxy) -> None:
    """A server that has just come back does not know its roles yet."""
    hang_widgets(stage, 3)
    outage = faults.add(Rule(ResetBefore(), method="PATCH", nth=1))
    closed = faults.add(Rule(Answer(403), method="PATCH", times=3))
    assert succeeded(free(stage, faults.kubeconfig(), parallel=1))["counts"]["gone"] == 3
    assert (outage.hits, closed.hits) == (1, 3)


# -- long lists ------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[Body]:
    """Twelve objects, in pages of five."""
    monkeypatch.setattr(lists, "PAGE", 5)
    return stage.put(*(config_map(f"c{n:02}", stage.namespace, labels={"many": "true"}) for n in range(12)))


def listed(cluster: Cluster, stage: Stage) -> list[str]:
    resource, _warning = cluster.resolve("ConfigMap")
    assert resource is not None
    return [record.uid for record in cluster.list(resource, stage.namespace, "many=true").records]


def test_a_list_whose_continuation_expired_is_started_anew_and_complete(
    stage: Stage, faults: FaultProxy, many: list[Body]
) -> None:
    expired = faults.add(Rule(Answer(410), query="continue=", nth=2))
    with open_cluster(faults.kubeconfig()) as cluster:
        assert listed(cluster, stage) == [thing["metadata"]["uid"] for thing in many]
        assert cluster.requests()["list"] == 6  # two pages, the refusal, three pages
    assert expired.hits == 1


def test_a_list_that_expires_again_and_again_is_an_error_not_half_a_list(
    stage: Stage, faults: FaultProxy, many: list[Body]
) -> None:
    faults.add(Rule(Answer(410), query="continue="))
    with open_cluster(faults.kubeconfig()) as cluster, pytest.raises(CannotLook, match="expired 5 times"):
        listed(cluster, stage)


# -- a server that goes and comes back -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_restart_of_the_api_server_in_mid_run_is_survived(
    stage: Stage, plane: ControlPlane, faults: FaultProxy, as_user: AsUser
) -> None:
    things = hang_widgets(stage, 300)
    user = as_user("patient", EVERYTHING)
    faults.latency = 0.05
    halfway = threading.Event()
    written = 0

    def on_event(event: Any) -> None:
        nonlocal written
        written += isinstance(event, Did)
        if written >= 60:
            halfway.set()

    def restart() -> None:
        assert halfway.wait(60)
        plane.restart(APISERVER)

    keeper = threading.Thread(target=restart)
    keeper.start()
    try:
        result = free(stage, faults.kubeconfig(user), parallel=8, on_event=on_event)
    finally:
        keeper.join()
    succeeded(result)
    assert result["counts"]["gone"] == 300
    assert any(request.error for request in faults.requests), "the restart came too late to matter"
    assert all(map(stage.is_gone, things[::20]))


# -- who we are ------------------------------------------------------------------------------------------------------


def kubeconfig_of(file: Path, access: Access, user: Mapping[str, Any], **context: Any) -> Path:
    """A kubeconfig with the given user entry."""
    write_kubeconfig(file, "somebody", access)
    content = json.loads(file.read_text())
    content["users"][0]["user"] = dict(user)
    content["contexts"][0]["context"].update(context)
    file.write_text(json.dumps(content))
    return file


@pytest.fixture
def account(stage: Stage, plane: ControlPlane) -> str:
    """A service account that may do everything, for tokens."""
    [made] = stage.put(body("v1", "ServiceAccount", "robot", stage.namespace))
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"kind": "ServiceAccount", "name": "robot", "namespace": stage.namespace}
    kind = "ClusterRoleBinding"
    binding = body("rbac.authorization.k8s.io/v1", kind, stage.namespace, "", roleRef=role, subjects=[subject])
    stage.put(binding)
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{stage.namespace}:robot",
            "resourceAttributes": {"verb": "patch", "group": GROUP, "resource": "widgets"},
        },
    }
    until(lambda: plane.api.create(review)[0]["status"]["allowed"], "the robot's rights", every=0.01)
    name: str = made["metadata"]["name"]
    return name


def exec_plugin(directory: Path, script: str) -> dict[str, Any]:
    """A user entry whose credentials a little program prints."""
    program = directory / "login.py"
    program.write_text(script)
    version = "client.authentication.k8s.io/v1"
    return {
        "exec": {"apiVersion": version, "command": sys.executable, "args": [str(program)], "interactiveMode": "Never"}
    }


def test_a_token_that_expires_is_fetched_anew_from_the_login_plugin(
    stage: Stage, plane: ControlPlane, account: str, tmp_path: Path
) -> None:
    hang_widgets(stage, 3)
    tokens = tmp_path / "tokens"
    tokens.write_text("expired\n" + plane.service_account_token(stage.namespace, account))
    login = f"""
import json, pathlib
tokens = pathlib.Path({str(tokens)!r})
first, _, rest = tokens.read_text().partition("\\n")
tokens.write_text(rest or first)
status = {{"token": first}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""
    file = kubeconfig_of(tmp_path / "config", read_kubeconfig(plane.admin.kubeconfig), exec_plugin(tmp_path, login))
    assert succeeded(free(stage, file))["counts"]["gone"] == 3


def test_a_token_file_that_was_replaced_is_read_again_when_the_old_token_is_refused(
    stage: Stage, plane: ControlPlane, faults: FaultProxy, account: str, tmp_path: Path
) -> None:
    hang_widgets(stage, 20)
    old = plane.service_account_token(stage.namespace, account)
    new = plane.service_account_token(stage.namespace, account, seconds=7200)
    token_file = tmp_path / "token"
    token_file.write_text(old)
    access = read_kubeconfig(faults.token_kubeconfig(old))
    file = kubeconfig_of(tmp_path / "config", access, {"tokenFile": str(token_file)})
    faults.add(Rule(Answer(401), method="PATCH", nth=5))

    def renewed_meanwhile(event: Any) -> None:
        if isinstance(event, Planned):
            token_file.write_text(new)

    result = succeeded(free(stage, file, parallel=1, on_event=renewed_meanwhile))
    assert result["counts"]["gone"] == 20
    used = [request.headers["authorization"].removeprefix("Bearer ") for request in faults.requests]
    refused = next(number for number, request in enumerate(faults.requests) if request.status == 401)
    assert set(used[: refused + 1]) == {old}
    assert set(used[refused + 1 :]) == {new}


def test_a_token_that_is_simply_wrong_is_a_clear_message_after_few_tries(stage: Stage, faults: FaultProxy) -> None:
    result = free(stage, faults.token_kubeconfig("nonsense"))
    assert result["failed"]
    assert "not logged in" in result["msg"]
    assert faults.url in result["msg"]
    assert "nonsense" not in result["msg"]
    assert len(faults.requests) <= 3


def test_a_login_plugin_that_fails_is_quoted(stage: Stage, plane: ControlPlane, tmp_path: Path) -> None:
    user = exec_plugin(tmp_path, "import sys; sys.exit('your session at the bank has ended')")
    result = free(stage, kubeconfig_of(tmp_path / "config", read_kubeconfig(plane.admin.kubeconfig), user))
    assert result["failed"]
    assert "your session at the bank has ended" in result["msg"]


def test_a_login_plugin_that_is_not_installed_is_named(stage: Stage, plane: ControlPlane, tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-login"}}
    result = free(stage, kubeconfig_of(tmp_path / "config", read_kubeconfig(plane.admin.kubeconfig), user))
    assert result["failed"]
    assert "no-such-login" in result["msg"]


def test_a_client_certificate_the_server_does_not_know_is_a_clear_message(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger").client("lab-admin", ["system:masters"])
    known = read_kubeconfig(plane.admin.kubeconfig)
    access = Access(known.server, known.ca, stranger.cert_file.read_text(), stranger.key_file.read_text())
    result = free(stage, write_kubeconfig(tmp_path / "config", "stranger", access))
    assert result["failed"]
    assert "not logged in" in result["msg"]
    assert "certificate" in result["msg"]


def test_a_client_certificate_refused_in_the_tls_greeting_is_a_clear_message(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger").client("lab-admin", ["system:masters"])
    with StrictDoor(plane) as door:
        ca = plane.ca_file.read_text()
        access = Access(door.url, ca, stranger.cert_file.read_text(), stranger.key_file.read_text())
        result = free(stage, write_kubeconfig(tmp_path / "config", "stranger", access))
    assert result["failed"]
    assert "refused our client certificate" in result["msg"]


class StrictDoor:
    """A TLS server that checks client certificates itself, as some load balancers do, and lets nobody in."""

    def __init__(self, plane: ControlPlane) -> None:
        pair = Authority(plane.ca_file.parent, plane.ca_file.stem).server("strict-door")
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(pair.cert_file, pair.key_file)
        self._tls.load_verify_locations(plane.ca_file)
        self._tls.verify_mode = ssl.CERT_REQUIRED
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept)
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> StrictDoor:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                raw, _address = self._listener.accept()
                raw.settimeout(10)
                with self._tls.wrap_socket(raw, server_side=True, do_handshake_on_connect=False) as client:
                    with contextlib.suppress(ssl.SSLError):
                        client.do_handshake()
                    # Read to the end before closing: a reset would overtake the alert that says why.
                    socket.socket.shutdown(client, socket.SHUT_WR)
                    while socket.socket.recv(client, 65536):
                        pass


def test_a_server_we_do_not_trust_is_a_clear_message_after_few_tries(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    other = Authority(tmp_path, "other").files.cert_file.read_text()
    access = Access(plane.url, other, token="secret-token")
    result = free(stage, write_kubeconfig(tmp_path / "config", "anybody", access))
    assert result["failed"]
    assert "certificate is not trusted" in result["msg"]
    assert "ca_cert" in result["msg"]
    assert result["requests"]["get"] <= 3


def test_without_verification_an_unknown_authority_is_accepted(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    known = read_kubeconfig(plane.admin.kubeconfig)
    other = Authority(tmp_path, "other").files.cert_file.read_text()
    file = write_kubeconfig(tmp_path / "config", "lab-admin", Access(known.server, other, known.cert, known.key))
    hang_widgets(stage, 1)
    assert succeeded(free(stage, file, validate_certs=False))["counts"]["gone"] == 1


def test_a_bare_host_with_token_and_authority_needs_no_kubeconfig(
    stage: Stage, plane: ControlPlane, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("K8S_AUTH_KUBECONFIG", raising=False)
    hang_widgets(stage, 1)
    token = plane.service_account_token(stage.namespace, account)
    result = succeeded(free(stage, None, host=plane.url, api_key=token, ca_cert=str(plane.ca_file)))
    assert result["counts"]["gone"] == 1


def test_an_address_where_nobody_listens_is_a_clear_message_after_few_tries(stage: Stage, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca").files.cert_file.read_text()
    server = f"https://127.0.0.1:{free_port()}"
    result = free(stage, write_kubeconfig(tmp_path / "config", "anybody", Access(server, authority, token="x")))
    assert result["failed"]
    assert f"cannot reach the API server {server}" in result["msg"]
    assert "nobody listens there" in result["msg"]
    assert result["requests"]["get"] <= 3


def test_a_port_that_speaks_no_tls_is_a_clear_message(stage: Stage, plane: ControlPlane, tmp_path: Path) -> None:
    """etcd speaks plain HTTP."""
    access = Access(f"https://127.0.0.1:{plane.layout.ports.etcd}", plane.ca_file.read_text(), token="x")
    result = free(stage, write_kubeconfig(tmp_path / "config", "anybody", access))
    assert result["failed"]
    assert "HTTPS port" in result["msg"]


# -- kubeconfigs that are wrong --------------------------------------------------------------------------------------


def test_an_unknown_context_is_named_with_those_there_are(stage: Stage, plane: ControlPlane) -> None:
    result = free(stage, plane.admin.kubeconfig, context="production")
    assert result["failed"]
    assert "unknown context production" in result["msg"]
    assert "lab" in result["msg"]


def test_a_context_chooses_its_cluster_and_user(stage: Stage, plane: ControlPlane, tmp_path: Path) -> None:
    content = json.loads(plane.admin.kubeconfig.read_text())
    content["current-context"] = "elsewhere"
    hang_widgets(stage, 1)
    file = tmp_path / "config"
    file.write_text(json.dumps(content))
    assert "unknown context elsewhere" in free(stage, file)["msg"]
    assert succeeded(free(stage, file, context="lab"))["counts"]["gone"] == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "there is no such file"),
        ("clusters: [", "not valid YAML"),
        ("", "is empty"),
        ("just a sentence", "kubeconfig"),
        ("apiVersion: v1\nkind: Config\n", "no current-context"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_named_with_the_reason(
    stage: Stage, tmp_path: Path, content: str | None, complaint: str
) -> None:
    file = tmp_path / "my-config"
    if content is not None:
        file.write_text(content)
    result = free(stage, file)
    assert result["failed"]
    assert str(file) in result["msg"]
    assert complaint in result["msg"]


# -- kubeconfigs of every shape --------------------------------------------------------------------------------------


def written(file: Path, **content: Any) -> Path:
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **content}))
    return file


@pytest.fixture
def shapes(plane: ControlPlane, tmp_path: Path) -> Shapes:
    return Shapes(plane, tmp_path)


class Shapes:
    """The administrator's kubeconfig, written in different ways."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self._folder = folder
        content = json.loads(plane.admin.kubeconfig.read_text())
        self._cluster: dict[str, Any] = content["clusters"][0]["cluster"]
        self._user: dict[str, Any] = content["users"][0]["user"]
        self._context = [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}]

    def file(self, cluster: Mapping[str, Any] | None = None, user: Mapping[str, Any] | None = None) -> str:
        clusters = [{"name": "lab", "cluster": self._cluster if cluster is None else cluster}]
        users = [{"name": "me", "user": self._user if user is None else user}]
        sections = {"clusters": clusters, "users": users, "contexts": self._context, "current-context": "lab"}
        return str(written(self._folder / "config", **sections))

    def with_files_beside_it(self) -> str:
        admin, server = self._plane.admin, self._plane.url
        for name, source in (("ca", self._plane.ca_file), ("cert", admin.cert_file), ("key", admin.key_file)):
            (self._folder / f"{name}.pem").write_text(source.read_text())
        cluster = {"server": server, "certificate-authority": "ca.pem"}
        return self.file(cluster, {"client-certificate": "cert.pem", "client-key": "key.pem"})

    def in_three_files(self) -> str:
        parts = [
            written(self._folder / "a", contexts=self._context, **{"current-context": "lab"}),
            self._folder / "not-there",
            written(self._folder / "b", clusters=[{"name": "lab", "cluster": self._cluster}]),
            written(self._folder / "c", users=[{"name": "me", "user": self._user}], **{"current-context": "no"}),
        ]
        return ":".join(map(str, parts))

    def without_verification(self) -> str:
        return self.file({"server": self._plane.url, "insecure-skip-tls-verify": True})

    def for_another_server_name(self) -> str:
        return self.file({**self._cluster, "tls-server-name": "kubernetes.default.svc"})

    def with_certificates_from_a_plugin(self) -> str:
        admin = self._plane.admin
        pair = {
            "clientCertificateData": admin.cert_file.read_text(),
            "clientKeyData": admin.key_file.read_text(),
        }
        credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": pair}
        return self.file(user=exec_plugin(self._folder, f"print({json.dumps(credential)!r})"))

    def with_a_plugin_beside_it(self) -> str:
        """Its command is a path relative to the file, and it wants a variable of its own."""
        self.with_certificates_from_a_plugin()
        program = self._folder / "login"
        lines = f'#!/bin/sh\n[ "$WHO" = me ] && exec {sys.executable} {self._folder / "login.py"}\n'
        program.write_text(lines)
        program.chmod(0o755)
        version = "client.authentication.k8s.io/v1"
        plugin = {"apiVersion": version, "command": "./login", "env": [{"name": "WHO", "value": "me"}]}
        return self.file(user={"exec": {**plugin, "args": None, "interactiveMode": "IfAvailable"}})


@pytest.mark.parametrize(
    "shape",
    [
        Shapes.file,
        Shapes.with_files_beside_it,
        Shapes.in_three_files,
        Shapes.without_verification,
        Shapes.for_another_server_name,
        Shapes.with_certificates_from_a_plugin,
        Shapes.with_a_plugin_beside_it,
    ],
)
@pytest.mark.usefixtures("kinds")
def test_a_kubeconfig_of_this_shape_is_understood(
    shapes: Shapes, shape: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    params = {"kind": "Widget", "namespace": "default", "finalizers": [CLEANUP], "kubeconfig": shape(shapes)}
    assert succeeded(run_job(JOB, params))["changed"] is False


@pytest.mark.usefixtures("kinds")
def test_the_variable_kubeconfig_counts_where_the_task_names_none(
    shapes: Shapes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("K8S_AUTH_KUBECONFIG", raising=False)
    monkeypatch.setenv("KUBECONFIG", shapes.file())
    assert succeeded(run_job(JOB, {"kind": "Widget", "namespace": "default", "finalizers": [CLEANUP]}))


def test_a_server_with_another_name_than_the_kubeconfig_says_is_not_trusted(stage: Stage, plane: ControlPlane) -> None:
    content = json.loads(plane.admin.kubeconfig.read_text())
    content["clusters"][0]["cluster"]["tls-server-name"] = "bank.example.com"
    result = free(stage, content)
    assert result["failed"]
    assert "certificate is not trusted" in result["msg"]
    assert "bank.example.com" in result["msg"]


# -- acting as somebody else -----------------------------------------------------------------------------------------


def test_an_impersonated_user_has_his_own_rights_and_no_more(
    stage: Stage, plane: ControlPlane, as_user: AsUser, audit: AuditTrail
) -> None:
    [thing] = hang_widgets(stage, 1)
    weak = as_user("weak", [{"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["list"]}])
    refused = free(stage, plane.admin.kubeconfig, impersonate_user=weak.name)
    assert refused["failed"]
    assert "not allowed to patch widgets" in refused["msg"]
    assert stage.look(thing) == thing
    assert {event.user for event in audit.events(weak.name)} == {"lab-admin"}

    as_user("weak", [{"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["patch"]}])
    assert succeeded(free(stage, plane.admin.kubeconfig, impersonate_user=weak.name))["counts"]["gone"] == 1


def test_impersonated_groups_count_too(stage: Stage, plane: ControlPlane) -> None:
    hang_widgets(stage, 1)
    kubeconfig = plane.admin.kubeconfig
    refused = free(stage, kubeconfig, impersonate_user="nobody", impersonate_groups=["system:authenticated"])
    assert refused["failed"]
    groups = ["system:authenticated", "system:masters"]
    result = free(stage, kubeconfig, impersonate_user="nobody", impersonate_groups=groups)
    assert succeeded(result)["counts"]["gone"] == 1


def test_whom_the_kubeconfig_says_to_act_as_is_obeyed(
    stage: Stage, plane: ControlPlane, as_user: AsUser, audit: AuditTrail, tmp_path: Path
) -> None:
    """Ignoring it would make us mightier than the file allows."""
    [thing] = hang_widgets(stage, 1)
    as_user("humble", [{"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["list"]}])
    content = json.loads(plane.admin.kubeconfig.read_text())
    content["users"][0]["user"]["as"] = "humble"
    file = tmp_path / "config"
    file.write_text(json.dumps(content))
    assert "not allowed to patch widgets" in free(stage, file)["msg"]
    assert stage.look(thing) == thing
    assert audit.events("humble")


# -- inside a pod ----------------------------------------------------------------------------------------------------


def test_inside_a_pod_the_mounted_service_account_is_used_whatever_the_environment_says(
    stage: Stage, plane: ControlPlane, account: str, audit: AuditTrail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(plane.service_account_token(stage.namespace, account) + "\n")
    (tmp_path / "ca.crt").write_text(plane.ca_file.read_text())
    url = urlsplit(plane.url)
    monkeypatch.setattr(configuration, "SERVICE_ACCOUNT", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", url.hostname or "")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(url.port))
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", str(tmp_path / "the-operators-caching-proxy"))
    hang_widgets(stage, 2)
    assert succeeded(free(stage, None, in_cluster="true"))["counts"]["gone"] == 2
    assert len(audit.writes(f"system:serviceaccount:{stage.namespace}:{account}")) == 2


def test_outside_of_a_pod_demanding_the_service_account_is_an_error(
    stage: Stage, plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuration, "SERVICE_ACCOUNT", str(tmp_path))
    result = free(stage, plane.admin.kubeconfig, in_cluster="true")
    assert result["failed"]
    assert "no service account mounted" in result["msg"]


# -- through a proxy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("password", [None, "pass:w0rd/@"], ids=["open", "with password"])
def test_everything_goes_through_the_proxy_that_is_set(stage: Stage, plane: ControlPlane, password: str | None) -> None:
    hang_widgets(stage, 10)
    login = "me:pass%3Aw0rd%2F%40@" if password else ""
    with ConnectProxy(password) as proxy:
        result = free(stage, plane.admin.kubeconfig, proxy=f"http://{login}127.0.0.1:{proxy.port}", parallel=4)
    assert succeeded(result)["counts"]["gone"] == 10
    assert set(proxy.targets) == {plane.url.removeprefix("https://")}
    assert len(proxy.targets) <= 5, "connections are kept, through a proxy too"


def test_the_proxy_of_the_kubeconfig_is_used(stage: Stage, plane: ControlPlane, tmp_path: Path) -> None:
    hang_widgets(stage, 1)
    content = json.loads(plane.admin.kubeconfig.read_text())
    with ConnectProxy() as proxy:
        content["clusters"][0]["cluster"]["proxy-url"] = f"http://127.0.0.1:{proxy.port}"
        file = tmp_path / "config"
        file.write_text(json.dumps(content))
        assert succeeded(free(stage, file))["counts"]["gone"] == 1
    assert proxy.targets


def test_a_proxy_that_refuses_us_is_named_without_the_password(stage: Stage, plane: ControlPlane) -> None:
    with ConnectProxy("right") as proxy:
        result = free(stage, plane.admin.kubeconfig, proxy=f"http://me:wr0ng-one@127.0.0.1:{proxy.port}")
    assert result["failed"]
    assert f"proxy http://127.0.0.1:{proxy.port}" in result["msg"]
    assert "407" in result["msg"]
    assert "wr0ng-one" not in result["msg"]


# -- discovery -------------------------------------------------------------------------------------------------------


def known_kinds(cluster: Cluster) -> set[Any]:
    return {
        (kind.group, kind.version, kind.kind, kind.plural, kind.namespaced, kind.singular, kind.short_names, kind.verbs)
        for version in cluster.catalogue.versions
        for kind in version.resources
    }


@pytest.mark.usefixtures("kinds")
def test_an_old_server_without_aggregated_discovery_gives_the_same_catalogue(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_cluster(plane.admin.kubeconfig) as cluster:
        new = known_kinds(cluster)
        assert cluster.requests()["get"] == 2
    monkeypatch.setattr(discovery, "_ACCEPT", "application/json")
    with open_cluster(plane.admin.kubeconfig) as cluster:
        assert known_kinds(cluster) == new
        assert cluster.requests()["get"] > 10
    assert len(new) > 50


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize("accept", [discovery._ACCEPT, "application/json"], ids=["aggregated", "group by group"])
def test_the_answers_of_discovery_are_kept_apart(
    faults: FaultProxy, dead_group: str, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    monkeypatch.setattr(discovery, "_ACCEPT", accept)
    with open_cluster(faults.kubeconfig()) as cluster:
        catalogue = cluster.catalogue
        assert resolve(catalogue, "Widget", f"{GROUP}/v1").availability is Availability.SERVED
        assert resolve(catalogue, "Widget", f"{GROUP}/v1alpha1").availability is Availability.VERSION_NOT_SERVED
        assert resolve(catalogue, "Thing", "nowhere.example.net/v1").availability is Availability.NOT_INSTALLED
        assert resolve(catalogue, "Corpse", f"{dead_group}/v1").availability is Availability.UNAVAILABLE
        assert resolve(catalogue, "Corpse").availability is Availability.UNAVAILABLE


@pytest.mark.usefixtures("kinds")
def test_a_group_closed_to_us_is_forbidden_not_absent(faults: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "_ACCEPT", "application/json")
    faults.add(Rule(Answer(403), path=f"^/apis/{GROUP}/v1$"))
    faults.add(Rule(Answer(403), path=f"^/apis/{GROUP}/v1beta1$"))
    with open_cluster(faults.kubeconfig()) as cluster:
        catalogue = cluster.catalogue
        assert resolve(catalogue, "Widget", f"{GROUP}/v1").availability is Availability.FORBIDDEN
        assert resolve(catalogue, "Widget").availability is Availability.FORBIDDEN
        assert resolve(catalogue, "ConfigMap").availability is Availability.SERVED


def test_who_may_not_see_what_is_served_is_told_so(stage: Stage, faults: FaultProxy) -> None:
    faults.add(Rule(Answer(403), path="^/apis$"))
    result = free(stage, faults.kubeconfig())
    assert result["failed"]
    assert "cannot see what the API server serves" in result["msg"]
    assert "system:discovery" in result["msg"]
