# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connection options to an endpoint."""

from __future__ import annotations

import base64
import contextlib
import datetime
import json
import os
import ssl
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.kube import configuration
from ansible_collections.sunset.kube.plugins.module_utils.kube.configuration import (
    ConnectionOptions,
    bypasses_proxy,
    load_endpoint,
)
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.problems import (
    BadOption,
    MissingPackage,
    NotLoggedIn,
    Problem,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

pytest.importorskip("kubernetes.config")  # once, and not within the first test


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home without a kubeconfig, and no pod around us."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(configuration, "SERVICE_ACCOUNT", str(tmp_path / "no-pod"))
    # The system's own authorities take a while to read, and no test is about them.
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self, purpose=None: None)
    return home


def load(environ: dict[str, str] | None = None, **options: Any) -> Endpoint:
    return load_endpoint(ConnectionOptions(**options), environ or {})


def content(
    server: str = "https://api.example.com:8080",
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    name: str = "lab",
    current: str | None = "lab",
) -> dict[str, Any]:
    """A kubeconfig with one context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": f"{name}-cluster", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": f"{name}-user", "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": f"{name}-cluster", "user": f"{name}-user"}}],
        **({"current-context": current} if current else {}),
    }


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    """Write a kubeconfig and return its path."""

    def write(data: Any, name: str = "config") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else yaml.safe_dump(data))
        return str(path)

    return write


def two_contexts() -> dict[str, Any]:
    lab, live = content(user={"token": "lab-token"}), content("https://live.example.com", name="live")
    merged = {key: lab[key] + live[key] for key in ("clusters", "users", "contexts")}
    return {**lab, **merged}


# -- kubeconfig --------------------------------------------------------------------------------------------------------


def test_a_kubeconfig_is_read_from_a_path(file: Any) -> None:
    path = file(content("http://localhost:8080", user={"token": "secret"}))
    assert load(kubeconfig=path) == Endpoint(
        "localhost",
        8080,
        headers=(("Authorization", "Bearer secret"),),
        origin=f"context lab of kubeconfig {path}",
        context="lab",
    )
    assert load(kubeconfig=path).title == "context lab (http://localhost:8080)"
    assert load(host="https://api.example.com:8080").title == "https://api.example.com:8080"


def test_a_kubeconfig_is_read_from_a_path_below_the_home(bare_machine: Path, file: Any) -> None:
    file(content(), "home/.kube/other")
    assert load(kubeconfig="~/.kube/other").origin == "context lab of kubeconfig ~/.kube/other"


def test_a_kubeconfig_is_read_from_a_dictionary() -> None:
    given_content = content("http://localhost:8080", user={"token": "secret"})
    before = json.dumps(given_content)
    assert load(kubeconfig=given_content) == Endpoint(
        "localhost",
        8080,
        headers=(("Authorization", "Bearer secret"),),
        origin="context lab of kubeconfig given as a dictionary",
        context="lab",
    )
    assert json.dumps(given_content) == before


def test_the_context_is_the_one_asked_for(file: Any) -> None:
    path = file(two_contexts())
    hosts = [load(kubeconfig=path, context=context).host for context in (None, "lab", "live")]
    assert hosts == ["api.example.com", "api.example.com", "live.example.com"]


def test_several_files_are_merged(file: Any) -> None:
    clusters, users = content(), content(user={"token": "secret"})
    del clusters["users"]
    del users["clusters"], users["contexts"], users["current-context"]
    paths = os.pathsep.join([file(clusters, "one"), file(users, "two"), "/nowhere/three"])
    endpoint = load(kubeconfig=paths)
    assert (endpoint.host, endpoint.headers) == ("api.example.com", (("Authorization", "Bearer secret"),))


def test_the_first_of_several_files_wins_as_it_does_for_kubectl(file: Any) -> None:
    first = content("https://first.example.com", current="lab")
    second = {**content("https://second.example.com"), "current-context": "other"}
    second["contexts"].append({"name": "other", "context": {"cluster": "lab-cluster", "user": "lab-user"}})
    paths = os.pathsep.join([file(first, "one"), file(second, "two")])
    endpoint = load(kubeconfig=paths)
    assert (endpoint.host, endpoint.origin) == ("first.example.com", f"context lab of kubeconfig {paths}")


def test_a_context_without_a_user_needs_no_credentials() -> None:
    given_content = content()
    del given_content["users"], given_content["contexts"][0]["context"]["user"]
    assert load(kubeconfig=given_content).headers == ()


LOGINS: dict[str, tuple[dict[str, Any], tuple[tuple[str, str], ...]]] = {
    "nothing": ({}, ()),
    "a token": ({"token": "t"}, (("Authorization", "Bearer t"),)),
    "a name and a password": (
        {"username": "anna", "password": "pw"},
        (("Authorization", "Basic " + base64.b64encode(b"anna:pw").decode()),),
    ),
    "a name alone": ({"username": "anna"}, ()),
    "acting as somebody else": (
        {"token": "t", "as": "bob", "as-groups": ["dev", "ops"]},
        (
            ("Authorization", "Bearer t"),
            ("Impersonate-User", "bob"),
            ("Impersonate-Group", "dev"),
            ("Impersonate-Group", "ops"),
        ),
    ),
}


@pytest.mark.parametrize(("user", "headers"), named(LOGINS))
def test_the_users_credentials_become_headers(user: dict[str, Any], headers: tuple[tuple[str, str], ...]) -> None:
    assert load(kubeconfig=content(user=user)).headers == headers


def test_a_token_file_wins_over_a_token_beside_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("renewed")
    user = {"tokenFile": str(tmp_path / "token"), "token": "old"}
    assert load(kubeconfig=content(user=user)).headers == (("Authorization", "Bearer renewed"),)


def test_a_token_file_is_read_anew_each_time(tmp_path: Path) -> None:
    token = tmp_path / "token"
    seen = []
    for text in ("one\n", "two\n"):
        token.write_text(text)
        seen += load(kubeconfig=content(user={"tokenFile": str(token)})).headers
    assert seen == [("Authorization", "Bearer one"), ("Authorization", "Bearer two")]


def plugin(script: str) -> dict[str, Any]:
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "sh",
            "args": ["-c", script],
            "interactiveMode": "Never",
        }
    }


def test_a_login_plugin_gives_the_token() -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "from-plugin"},
    }
    user = plugin(f"echo '{json.dumps(credential)}'")
    assert load(kubeconfig=content(user=user)).headers == (("Authorization", "Bearer from-plugin"),)


PLUGINS: dict[str, tuple[dict[str, Any], str]] = {
    "that fails": (plugin("exit 1"), "exec: process returned 1"),
    "that says nonsense": (plugin("echo nonsense"), "exec: failed to decode process output"),
    "that is not described": ({"exec": {"args": []}}, "command"),
    "that is not installed": ({"exec": {**plugin("")["exec"], "command": "no-such-plugin"}}, "no-such-plugin"),
    "that gives nothing": ({"auth-provider": {"name": "unheard-of"}}, "it gave neither a token nor a certificate"),
}


@pytest.mark.parametrize(("user", "why"), named(PLUGINS))
def test_a_login_plugin_without_credentials_is_not_logged_in(user: dict[str, Any], why: str) -> None:
    with pytest.raises(NotLoggedIn, match="the login plugin failed in kubeconfig given as a dictionary: ") as refused:
        load(kubeconfig=content(user=user))
    assert why in refused.value.why
    assert refused.value.next_step == "try the same with kubectl get ns"


def test_a_login_plugin_is_not_asked_where_there_is_a_token() -> None:
    user = {"token": "t", **plugin("exit 1")}
    assert load(kubeconfig=content(user=user)).headers == (("Authorization", "Bearer t"),)


BAD_FILES: dict[str, tuple[Any, str]] = {
    "empty": ("", "it is empty, or no mapping"),
    "not YAML": ("{", "it is not valid YAML: "),
    "a list": ([1, 2], "it is empty, or no mapping"),
    "text": ("just text", "it is empty, or no mapping"),
    "with contexts that are no list": ({**content(), "contexts": "x"}, "contexts is not a list of entries"),
    "with data that is not base64": (
        content("https://h", {"certificate-authority-data": "no base64!"}),
        "Next: check it with kubectl config view.",
    ),
    "with a token file that is not there": (content(user={"tokenFile": "/nowhere/token"}), "/nowhere/token"),
    "without contexts": ({"apiVersion": "v1"}, "it has no current-context and no context was given"),
    "without a current context": (
        content(current=None),
        "it has no current-context and no context was given. Next: set context to one of lab.",
    ),
    "with an unknown current context": (
        content(current="gone"),
        "it has lab. Next: set context to one of these.",
    ),
    "without the cluster of its context": (
        {**content(), "clusters": []},
        "context lab names cluster lab-cluster, which has no server there",
    ),
    "without a server": (
        {**content(), "clusters": [{"name": "lab-cluster", "cluster": {}}]},
        "context lab names cluster lab-cluster, which has no server there",
    ),
}


@pytest.mark.parametrize(("data", "why"), named(BAD_FILES))
def test_a_bad_kubeconfig_is_a_bad_option_that_says_why(data: Any, why: str, file: Any) -> None:
    with pytest.raises(BadOption) as refused:
        load(kubeconfig=file(data))
    assert why in str(refused.value)


def test_a_kubeconfig_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadOption, match="it cannot be read: "):
        load(kubeconfig=str(tmp_path / "config"))


def test_an_unknown_context_is_refused_with_the_known_ones(file: Any) -> None:
    path = file(two_contexts())
    with pytest.raises(BadOption) as refused:
        load(kubeconfig=path, context="prod")
    assert str(refused.value) == (
        f"unknown context prod in kubeconfig {path}: it has lab, live. Next: set context to one of these."
    )


def test_a_kubeconfig_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadOption, match="kubeconfig /nowhere/config: there is no such file"):
        load(kubeconfig="/nowhere/config")


@pytest.mark.parametrize("value", named({"a number": 5, "a list": ([],), "a list of things": ([{}],), "true": True}))
def test_a_kubeconfig_that_is_neither_path_nor_dictionary_is_refused(value: Any) -> None:
    with pytest.raises(BadOption):
        load(kubeconfig=value)


json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(0, 9), st.sampled_from(["lab", "lab-cluster", "lab-user", "x", ""])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(["name", "cluster", "user", "context", "server", "token", "exec", "as", "as-groups"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)


@given(st.sampled_from(["clusters", "users", "contexts", "current-context"]), json_values)
@example("contexts", "x")
@example("contexts", [5])
@example("users", [{"name": "lab-user", "user": "x"}])
@example("users", [{"name": "lab-user", "user": {"as-groups": 5}}])
@example("users", [{"name": "lab-user", "user": {"token": 5}}])
@example("users", [{"name": "lab-user", "user": {"as": 5}}])
@example("clusters", [{"name": "lab-cluster", "cluster": {"server": 5}}])
def test_whatever_a_kubeconfig_holds_it_is_an_endpoint_or_a_problem(section: str, value: Any) -> None:
    with contextlib.suppress(Problem):
        assert isinstance(load(kubeconfig={**content(), section: value}), Endpoint)


def test_only_a_login_plugin_needs_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes.client", None)
    assert load(kubeconfig=content(user={"token": "t"})).host == "api.example.com"
    with pytest.raises(MissingPackage) as missing:
        load(kubeconfig=content(user=plugin("true")))
    assert "Next: install it where this task runs: python3 -m pip install kubernetes." in str(missing.value)


# -- which source ------------------------------------------------------------------------------------------------------


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pki: Pki) -> dict[str, str]:
    """A service account is mounted; returns the environment of the pod."""
    folder = tmp_path / "pod"
    folder.mkdir()
    (folder / "token").write_text("pod-token\n")
    (folder / "ca.crt").write_bytes(pki.ca)
    monkeypatch.setattr(configuration, "SERVICE_ACCOUNT", str(folder))
    return {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def test_the_first_source_that_applies_is_used(file: Any, pod: dict[str, str], bare_machine: Path) -> None:
    given_file = file(content("https://given.example.com"), "given")
    by_variable = file(content("https://variable.example.com"), "variable")
    file(content("https://home.example.com"), "home/.kube/config")
    variable = {**pod, "KUBECONFIG": by_variable}
    host = "https://host.example.com"
    found = [
        load(variable, in_cluster="true", kubeconfig=given_file).host,
        load(variable, kubeconfig=given_file).host,
        load(variable, kubeconfig=given_file, host=host).host,
        load(variable, host=host).host,
        load(variable).host,
        load(pod).host,
        load({**pod, "KUBECONFIG": "/nowhere"}).host,
        load({**pod, "KUBECONFIG": "/nowhere"}, in_cluster="auto").host,
    ]
    assert found == [
        "10.0.0.1",
        "given.example.com",
        "host.example.com",
        "host.example.com",
        "variable.example.com",
        "home.example.com",
        "10.0.0.1",
        "10.0.0.1",
    ]


def test_a_host_with_a_context_takes_everything_else_from_the_kubeconfig(file: Any) -> None:
    path = file(two_contexts())
    endpoint = load({"KUBECONFIG": path}, host="https://other.example.com", context="lab")
    assert (endpoint.host, endpoint.headers) == ("other.example.com", (("Authorization", "Bearer lab-token"),))


def test_a_pods_account_gives_address_token_and_authority(pod: dict[str, str]) -> None:
    endpoint = load(pod)
    assert (endpoint.url, endpoint.headers, endpoint.origin) == (
        "https://10.0.0.1:443",
        (("Authorization", "Bearer pod-token"),),
        "the pod's service account",
    )
    assert authorities(endpoint) == ["test authority"]


def test_a_pods_account_on_ipv6_is_bracketed(pod: dict[str, str]) -> None:
    assert load({**pod, "KUBERNETES_SERVICE_HOST": "fd00::1"}).url == "https://[fd00::1]:443"


NO_PODS = {
    "no account": ({"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "1"}, False),
    "no address": ({}, True),
}


@pytest.mark.parametrize(("environ", "mounted"), named(NO_PODS))
def test_demanding_a_pods_account_where_there_is_none_is_refused(
    environ: dict[str, str], mounted: bool, request: Any
) -> None:
    if mounted:
        request.getfixturevalue("pod")
    with pytest.raises(BadOption, match="in_cluster is true: there is no service account mounted here"):
        load(environ, in_cluster="true")


def test_without_any_source_the_next_step_is_told() -> None:
    with pytest.raises(BadOption) as refused:
        load()
    assert str(refused.value) == (
        "no cluster to talk to: there is no kubeconfig at ~/.kube/config, and this is not inside a pod. "
        "Next: set kubeconfig, or host with api_key, or the variable K8S_AUTH_KUBECONFIG."
    )


def test_a_pods_account_is_never_used_where_it_is_forbidden(pod: dict[str, str]) -> None:
    with pytest.raises(BadOption, match="no cluster to talk to"):
        load(pod, in_cluster="false")


# -- single options win ------------------------------------------------------------------------------------------------

WINS: dict[str, tuple[dict[str, Any], tuple[tuple[str, str], ...]]] = {
    "api_key": ({"api_key": "mine"}, (("Authorization", "Bearer mine"),)),
    "username": (
        {"username": "anna", "password": "pw"},
        (("Authorization", "Basic " + base64.b64encode(b"anna:pw").decode()),),
    ),
    "api_key wins over username": (
        {"api_key": "mine", "username": "anna", "password": "pw"},
        (("Authorization", "Bearer mine"),),
    ),
    "impersonation replaces the file's, with its groups": (
        {"impersonate_user": "eve"},
        (("Authorization", "Bearer file"), ("Impersonate-User", "eve")),
    ),
}


@pytest.mark.parametrize(("options", "headers"), named(WINS))
def test_single_options_win_over_the_file(options: dict[str, Any], headers: tuple[tuple[str, str], ...]) -> None:
    user = {"token": "file"} | ({"as": "bob", "as-groups": ["dev"]} if "impersonate_user" in options else {})
    assert load(kubeconfig=content(user=user), **options).headers == headers


TOGETHER = {
    "a certificate without its key": ({"client_cert": "/x"}, "client_cert is given without client_key"),
    "a key without its certificate": ({"client_key": "/x"}, "client_key is given without client_cert"),
    "a name without a password": ({"username": "anna"}, "username is given without password"),
    "a password without a name": ({"password": "pw"}, "password is given without username"),
    "groups without a user": ({"impersonate_groups": ("dev",)}, "impersonate_groups is given without impersonate_user"),
}


@pytest.mark.parametrize(("options", "why"), named(TOGETHER))
def test_options_that_need_each_other_are_given_together_or_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(BadOption) as refused:
        load(host="https://api.example.com", **options)
    assert refused.value.why == why


IMPERSONATIONS: dict[str, dict[str, Any]] = {
    "groups without a user": {"as-groups": ["dev"]},
    "a uid": {"as": "bob", "as-uid": "1"},
    "more about the user": {"as": "bob", "as-user-extra": {"reason": ["x"]}},
}


@pytest.mark.parametrize("user", named(IMPERSONATIONS))
def test_an_impersonation_that_cannot_be_sent_is_refused(user: dict[str, Any]) -> None:
    # Dropped in silence, it would leave us acting with other rights than the file says.
    with pytest.raises(BadOption):
        load(kubeconfig=content(user={"token": "t", **user}))


IN_THE_CLEAR = {
    "a token": ({"host": "http://api.example.com:8080", "api_key": "s3cret"}, True),
    "a name and a password": ({"host": "http://api.example.com:8080", "username": "me", "password": "s3cret"}, True),
    "an address like loopback": ({"host": "http://127.example.com:8080", "api_key": "s3cret"}, True),
    "loopback through a proxy": (
        {"host": "http://localhost:8080", "api_key": "s3cret", "proxy": "http://proxy.example.com:3128"},
        True,
    ),
    "loopback": ({"host": "http://127.0.0.1:8080", "api_key": "s3cret"}, False),
    "no credentials": ({"host": "http://api.example.com:8080"}, False),
    "TLS": ({"host": "https://api.example.com:8080", "api_key": "s3cret"}, False),
}


@pytest.mark.parametrize(("options", "refused"), named(IN_THE_CLEAR))
def test_credentials_are_not_sent_without_tls_except_on_this_machine(options: dict[str, Any], refused: bool) -> None:
    if not refused:
        load(**options)
        return
    with pytest.raises(
        BadOption, match=r"credentials are not sent to http://.*: the connection is not encrypted"
    ) as no:
        load(**options)
    assert "s3cret" not in str(no.value)


TOKENS = {
    "a line break at the end is dropped": ("secret\n", "Bearer secret"),
    "a line break inside": ("sec\nret", None),
    "a carriage return inside": ("sec\rret", None),
    "letters outside ASCII": ("sécret", None),
    "a null byte": ("sec\0ret", None),
}


@pytest.mark.parametrize(("token", "header"), named(TOKENS))
def test_a_token_that_cannot_stand_in_a_header_is_refused_without_being_shown(token: str, header: str | None) -> None:
    if header:
        assert load(host="https://h", api_key=token).headers == (("Authorization", header),)
        return
    with pytest.raises(BadOption) as refused:
        load(host="https://h", api_key=token)
    assert str(refused.value) == "bad options: the token contains characters that cannot stand in a header."


# -- addresses ---------------------------------------------------------------------------------------------------------

ADDRESSES: dict[str, tuple[str, tuple[str, int, str, bool, str]]] = {
    "https": ("https://api.example.com:6443", ("api.example.com", 6443, "", True, "api.example.com:6443")),
    "https without a port": ("https://api.example.com", ("api.example.com", 443, "", True, "api.example.com:443")),
    "http without a port": ("http://api.example.com", ("api.example.com", 80, "", False, "api.example.com:80")),
    "no scheme": ("api.example.com:6443", ("api.example.com", 6443, "", True, "api.example.com:6443")),
    "a base path": (
        "https://rancher.example.com/k8s/clusters/c-1/",
        ("rancher.example.com", 443, "/k8s/clusters/c-1", True, "rancher.example.com:443"),
    ),
    "a slash at the end": ("http://api.example.com/", ("api.example.com", 80, "", False, "api.example.com:80")),
    "IPv4": ("https://10.0.0.1:6443", ("10.0.0.1", 6443, "", True, "10.0.0.1:6443")),
    "IPv6": ("https://[fd00::1]:6443", ("fd00::1", 6443, "", True, "[fd00::1]:6443")),
    "capitals": ("HTTPS://API.example.com", ("api.example.com", 443, "", True, "api.example.com:443")),
}


@pytest.mark.parametrize(("host", "facts"), named(ADDRESSES))
def test_an_address_is_read(host: str, facts: tuple[str, int, str, bool, str]) -> None:
    endpoint = load(host=host)
    assert (endpoint.host, endpoint.port, endpoint.base_path, endpoint.tls is not None, endpoint.authority) == facts


BAD_ADDRESSES = {
    "a port that is no number": "https://api.example.com:https",
    "a port that is too high": "https://api.example.com:65536",
    "port zero": "https://api.example.com:0",
    "another scheme": "ftp://api.example.com",
    "no host": "https://",
    "only a path": "https:///api",
    "a bracket too few": "https://[fd00::1",
    "a space in the path": "https://api.example.com/a b",
    "a path outside ASCII": "https://api.example.com/größe",
    "a space in the host": "https://api example.com",
}


@pytest.mark.parametrize("host", named(BAD_ADDRESSES))
def test_a_bad_address_is_refused_with_an_example(host: str) -> None:
    with pytest.raises(BadOption) as refused:
        load(host=host)
    assert str(refused.value) == (
        f"the API server's address {host}: it is not a URL. Next: write it like https://host:6443."
    )


@given(st.one_of(st.text(max_size=20), st.text(":/[]@.?#%h1 ", max_size=12).map(lambda text: f"https://{text}")))
def test_whatever_people_write_as_host_is_an_endpoint_or_a_problem(host: str) -> None:
    with contextlib.suppress(Problem):
        endpoint = load(host=host or "x")
        assert f"{endpoint.base_path} {endpoint.authority}".isprintable()


# -- TLS ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pki:
    """An authority, and a client certificate with its key, as PEM."""

    ca: bytes
    cert: bytes
    key: bytes
    encrypted_key: bytes


@pytest.fixture(scope="module")
def pki() -> Pki:
    def certificate(name: str, key: Any) -> bytes:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        start = datetime.datetime(2020, 1, 1)  # noqa: DTZ001 - the library wants it without a zone
        built = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
        built = built.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        built = built.serial_number(1).not_valid_before(start).not_valid_after(start.replace(year=2099))
        return built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def text(key: Any, lock: Any) -> bytes:
        return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)

    ca_key, client_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    return Pki(
        certificate("test authority", ca_key),
        certificate("anna", client_key),
        text(client_key, serialization.NoEncryption()),
        text(client_key, serialization.BestAvailableEncryption(b"locked")),
    )


def authorities(endpoint: Endpoint) -> list[str]:
    assert endpoint.tls is not None
    return [entry["subject"][0][0][1] for entry in endpoint.tls.get_ca_certs()]  # type: ignore[index,misc]


@pytest.fixture
def client_certificates(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, bytes]]:
    """What is loaded as client certificate and key, while the files still exist."""
    loaded: list[tuple[bytes, bytes]] = []
    original = ssl.SSLContext.load_cert_chain

    def spy(self: ssl.SSLContext, certfile: Any, keyfile: Any = None, password: Any = None) -> None:
        shown = Path(certfile).read_bytes()
        half = shown[: len(shown) // 2]  # a single certificate is put there twice: test_tls.py says why
        loaded.append((half if shown == half * 2 else shown, Path(keyfile).read_bytes()))
        original(self, certfile, keyfile, password)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", spy)
    return loaded


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_certificates_in_a_kubeconfig_are_loaded_as_often_as_asked_and_leave_no_files(
    pki: Pki, client_certificates: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    kubeconfig = content(
        "https://api.example.com",
        {"certificate-authority-data": b64(pki.ca)},
        {"client-certificate-data": b64(pki.cert), "client-key-data": b64(pki.key)},
    )
    for _time in range(2):
        assert authorities(load(kubeconfig=kubeconfig)) == ["test authority"]
    assert client_certificates == [(pki.cert, pki.key)] * 2
    assert list(scratch.iterdir()) == []


def test_certificate_files_are_looked_for_beside_their_kubeconfig(
    pki: Pki, client_certificates: Any, file: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "pki"
    folder.mkdir(parents=True)
    for name, data in (("ca.crt", pki.ca), ("me.crt", pki.cert), ("me.key", pki.key)):
        (folder / name).write_bytes(data)
    path = file(
        content(
            "https://api.example.com",
            {"certificate-authority": "pki/ca.crt"},
            {"client-certificate": "pki/me.crt", "client-key": "pki/me.key"},
        ),
        "deep/config",
    )
    assert authorities(load(kubeconfig=path)) == ["test authority"]
    assert client_certificates == [(pki.cert, pki.key)]


def test_certificate_options_win_over_the_file(pki: Pki, client_certificates: Any, bare_machine: Path) -> None:
    for name, data in (("ca.crt", pki.ca), ("me.crt", pki.cert), ("me.key", pki.key)):
        (bare_machine / name).write_bytes(data)
    endpoint = load(
        kubeconfig=content("https://api.example.com", {"certificate-authority-data": b64(b"nonsense")}),
        ca_cert="~/ca.crt",
        client_cert="~/me.crt",
        client_key="~/me.key",
    )
    assert (authorities(endpoint), client_certificates) == (["test authority"], [(pki.cert, pki.key)])


def test_a_locked_key_is_refused_at_once(pki: Pki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = ssl.SSLContext.load_cert_chain

    def never_ask(self: ssl.SSLContext, certfile: Any, keyfile: Any = None, password: Any = None) -> None:
        assert password is not None, "without one, OpenSSL asks at the terminal and waits for ever"
        original(self, certfile, keyfile, password)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", never_ask)
    (tmp_path / "me.crt").write_bytes(pki.cert)
    (tmp_path / "me.key").write_bytes(pki.encrypted_key)
    with pytest.raises(BadOption, match="client_cert or client_key"):
        load(host="https://h", client_cert=str(tmp_path / "me.crt"), client_key=str(tmp_path / "me.key"))


CERTIFICATE_FILES: dict[str, tuple[bytes | None, str]] = {
    "not there": (None, "No such file"),
    "not a certificate": (b"nonsense", "PEM file you can read"),
    "empty": (b"", "PEM file you can read"),
}


@pytest.mark.parametrize(("data", "text"), named(CERTIFICATE_FILES))
def test_a_bad_authority_file_is_refused(data: bytes | None, text: str, tmp_path: Path) -> None:
    path = tmp_path / "ca.crt"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(BadOption) as refused:
        load(host="https://api.example.com", ca_cert=str(path))
    assert str(refused.value).startswith(f"the certificate file for ca_cert {path}: ")
    assert text in str(refused.value)


CHECKS: dict[str, tuple[dict[str, Any], bool | None, bool]] = {
    "by default": ({}, None, True),
    "the file says no": ({"insecure-skip-tls-verify": True}, None, False),
    "the file says yes": ({"insecure-skip-tls-verify": False}, None, True),
    "the option says no": ({}, False, False),
    "the option wins over the file": ({"insecure-skip-tls-verify": True}, True, True),
}


@pytest.mark.parametrize(("cluster", "option", "checked"), named(CHECKS))
def test_the_servers_certificate_is_checked_unless_somebody_says_no(
    cluster: dict[str, Any], option: bool | None, checked: bool
) -> None:
    tls = load(kubeconfig=content("https://api.example.com", cluster), validate_certs=option).tls
    assert tls is not None
    assert (tls.verify_mode is ssl.CERT_REQUIRED, tls.check_hostname) == (checked, checked)
    assert tls.minimum_version is ssl.TLSVersion.TLSv1_2


def test_the_name_in_the_certificate_may_differ_from_the_host() -> None:
    kubeconfig = content("https://10.0.0.1", {"tls-server-name": "api.internal"})
    assert load(kubeconfig=kubeconfig).server_name == "api.internal"


# -- proxies -----------------------------------------------------------------------------------------------------------

PROXY, OTHER = "http://proxy.example.com:3128", "http://other.example.com:3128"
# name: (host, the file's proxy-url, options, environment, proxy)
PROXIES: dict[str, tuple[str, str | None, dict[str, str], dict[str, str], str | None]] = {
    "none": ("https://api.example.com", None, {}, {}, None),
    "the file's": ("https://api.example.com", PROXY, {}, {}, PROXY),
    "the option wins over the file": ("https://api.example.com", OTHER, {"proxy": PROXY}, {}, PROXY),
    "the file wins over the environment": ("https://api.example.com", PROXY, {}, {"HTTPS_PROXY": OTHER}, PROXY),
    "the environment's": ("https://api.example.com", None, {}, {"HTTPS_PROXY": PROXY}, PROXY),
    "the environment's, small letters first": (
        "https://api.example.com",
        None,
        {},
        {"https_proxy": PROXY, "HTTPS_PROXY": OTHER},
        PROXY,
    ),
    "the environment's for the other scheme": ("https://api.example.com", None, {}, {"HTTP_PROXY": PROXY}, None),
    "the environment's for http": ("http://api.example.com", None, {}, {"http_proxy": PROXY}, PROXY),
    "the environment's exceptions": (
        "https://api.example.com",
        None,
        {},
        {"HTTPS_PROXY": PROXY, "NO_PROXY": ".example.com"},
        None,
    ),
    "the option's exceptions": (
        "https://api.example.com",
        None,
        {"no_proxy": "example.com"},
        {"HTTPS_PROXY": PROXY},
        None,
    ),
    "the option's exceptions replace the environment's": (
        "https://api.example.com",
        None,
        {"no_proxy": "other.io"},
        {"HTTPS_PROXY": PROXY, "NO_PROXY": "*"},
        PROXY,
    ),
    "exceptions hold for the option too": (
        "https://api.example.com",
        None,
        {"proxy": PROXY, "no_proxy": "*"},
        {},
        None,
    ),
    "localhost never by environment": ("https://localhost:6443", None, {}, {"HTTPS_PROXY": PROXY}, None),
    "127.0.0.1 never by environment": ("https://127.0.0.1:6443", None, {}, {"HTTPS_PROXY": PROXY}, None),
    "127.1.2.3 never by environment": ("https://127.1.2.3:6443", None, {}, {"HTTPS_PROXY": PROXY}, None),
    "::1 never by environment": ("https://[::1]:6443", None, {}, {"HTTPS_PROXY": PROXY}, None),
    "localhost by option": ("https://localhost:6443", None, {"proxy": PROXY}, {}, PROXY),
    "localhost by file": ("https://localhost:6443", PROXY, {}, {}, PROXY),
}


@pytest.mark.parametrize(("server", "of_file", "options", "environ", "proxy"), named(PROXIES))
def test_which_proxy_is_used(
    server: str, of_file: str | None, options: dict[str, str], environ: dict[str, str], proxy: str | None
) -> None:
    cluster = {"proxy-url": of_file} if of_file else {}
    assert load(environ, kubeconfig=content(server, cluster), **options).proxy == proxy


EXCEPTIONS: dict[str, tuple[str, str, bool]] = {
    "nothing": ("api.example.com", "", False),
    "everything": ("api.example.com", "*", True),
    "the name": ("api.example.com", "api.example.com", True),
    "the name in capitals": ("API.example.com", "api.EXAMPLE.com", True),
    "a suffix": ("api.example.com", "example.com", True),
    "a suffix with a dot": ("api.example.com", ".example.com", True),
    "a suffix with a star": ("api.example.com", "*.example.com", True),
    "a suffix in the middle of a word": ("notexample.com", "example.com", False),
    "a longer name": ("example.com", "api.example.com", False),
    "one of several, with spaces": ("api.example.com", "a.io, example.com ,b.io", True),
    "an address": ("10.0.0.1", "10.0.0.1", True),
    "a network": ("10.1.2.3", "10.0.0.0/8", True),
    "a network with host bits": ("10.1.2.3", "10.0.0.1/8", True),
    "outside a network": ("11.1.2.3", "10.0.0.0/8", False),
    "an IPv6 network": ("fd00::1", "fd00::/8", True),
    "an IPv4 address and an IPv6 network": ("10.0.0.1", "fd00::/8", False),
    "a name and a network": ("api.example.com", "10.0.0.0/8", False),
    "commas only": ("api.example.com", ",,", False),
    "a lone dot": ("api.example.com", ".", False),
}


@pytest.mark.parametrize(("host", "no_proxy", "bypassed"), named(EXCEPTIONS))
def test_names_suffixes_addresses_and_networks_bypass_the_proxy(host: str, no_proxy: str, bypassed: bool) -> None:
    assert bypasses_proxy(host, no_proxy) is bypassed


@given(st.text(max_size=15), st.text(".,*/0123456789abc: ", max_size=15))
def test_whatever_no_proxy_says_it_is_a_yes_or_a_no(host: str, no_proxy: str) -> None:
    assert bypasses_proxy(host, no_proxy) in (True, False)


# -- endpoints ---------------------------------------------------------------------------------------------------------


def test_an_endpoint_never_shows_its_secrets() -> None:
    endpoint = load(host="https://h", api_key="top-secret", proxy="http://me:pw-secret@proxy.example.com:3128")
    assert "secret" not in repr(endpoint) + str(endpoint)


def test_an_endpoint_says_where_it_comes_from() -> None:
    assert str(load(host="http://h:1/x")) == "http://h:1/x (option host)"
