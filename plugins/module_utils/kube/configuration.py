# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connection options to an `Endpoint`: kubeconfig, contexts, exec plugins, tokens, certificates, in-cluster, proxies.

Room: kube. The `kubernetes` package runs login plugins; it is imported here, late, only for them, and nowhere else.
`load_endpoint` may be called again at any time: that is how credentials are re-read after a 401.
"""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import logging
import os
import shutil
import ssl
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..problems import BadOption, MissingPackage, NotLoggedIn
from .endpoint import Endpoint, is_loopback
from .kubeconfig import Chosen, choose
from .tls import client_context

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True)
class ConnectionOptions:
    """The `connection` options of a task, after the front has applied the `K8S_AUTH_*` variables."""

    kubeconfig: str | Mapping[str, Any] | None = None
    context: str | None = None
    host: str | None = None
    api_key: str | None = None
    username: str | None = None
    password: str | None = None
    validate_certs: bool | None = None
    ca_cert: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    proxy: str | None = None
    no_proxy: str | None = None
    impersonate_user: str | None = None
    impersonate_groups: tuple[str, ...] = ()
    in_cluster: str = "auto"


@dataclass
class _Found:
    """What the sources say, before it becomes an endpoint."""

    host: str = ""
    authorization: str | None = None
    verify: bool = True
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    server_name: str | None = None
    proxy: str | None = None
    impersonate_user: str | None = None
    impersonate_groups: tuple[str, ...] = ()
    origin: str = ""
    context: str = ""


def load_endpoint(options: ConnectionOptions, environ: Mapping[str, str] | None = None) -> Endpoint:
    environ = os.environ if environ is None else environ
    _check_together(options)
    with _private_directory() as directory:
        found = _from_sources(options, environ, directory)
        _override(found, options)
        return _endpoint(found, options, environ)


def _check_together(options: ConnectionOptions) -> None:
    for one, other in (("client_cert", "client_key"), ("username", "password")):
        given, missing = (one, other) if getattr(options, one) else (other, one)
        if getattr(options, given) and not getattr(options, missing):
            raise BadOption(
                "bad options", why=f"{given} is given without {missing}", next_step=f"give {missing} as well"
            )
    if options.impersonate_groups and not options.impersonate_user:
        raise BadOption(
            "bad options",
            why="impersonate_groups is given without impersonate_user",
            next_step="give impersonate_user as well: the API server takes groups only with a user",
        )


def _from_sources(options: ConnectionOptions, environ: Mapping[str, str], directory: str) -> _Found:
    """The first source that applies: in-cluster when demanded, then kubeconfig, then a bare host, then in-cluster."""
    if options.in_cluster == "true":
        return _from_service_account(environ)
    if options.kubeconfig:
        return _from_kubeconfig(options.kubeconfig, options.context, directory)
    if options.host and not options.context:
        return _Found(host=options.host, origin="option host")
    path = environ.get("KUBECONFIG") or "~/.kube/config"
    if any(os.path.exists(os.path.expanduser(part)) for part in path.split(os.pathsep) if part):
        return _from_kubeconfig(path, options.context, directory)
    if options.in_cluster == "auto" and os.path.exists(os.path.join(SERVICE_ACCOUNT, "token")):
        return _from_service_account(environ)
    raise BadOption(
        "no cluster to talk to",
        why=f"there is no kubeconfig at {path}, and this is not inside a pod",
        next_step="set kubeconfig, or host with api_key, or the variable K8S_AUTH_KUBECONFIG",
    )


def _from_kubeconfig(kubeconfig: str | Mapping[str, Any], context: str | None, directory: str) -> _Found:
    chosen = choose(kubeconfig, context)
    cluster, user = chosen.cluster, chosen.user
    groups = user.get("as-groups") or ()
    found = _Found(
        host=str(cluster["server"]),
        verify=not cluster.get("insecure-skip-tls-verify"),
        server_name=_optional(cluster.get("tls-server-name")),
        proxy=_optional(cluster.get("proxy-url")),
        impersonate_user=_optional(user.get("as")),
        impersonate_groups=tuple(map(str, groups)) if isinstance(groups, (list, tuple)) else (str(groups),),
        origin=f"context {chosen.context} of {chosen.where}",
        context=chosen.context,
    )
    try:
        found.ca_file = _file(cluster, "certificate-authority", directory)
        found.cert_file = _file(user, "client-certificate", directory)
        found.key_file = _file(user, "client-key", directory)
        found.authorization = _authorization(user)
    except (OSError, ValueError, TypeError) as problem:
        raise BadOption(chosen.where, why=str(problem), next_step="check it with kubectl config view") from problem
    if ignored := sorted(key for key in _NOT_SENT if user.get(key)):
        raise BadOption(chosen.where, why=f"{', '.join(ignored)} is not supported", next_step="use as and as-groups")
    if found.impersonate_groups and not found.impersonate_user:
        raise BadOption(chosen.where, why="it has as-groups without as", next_step="name the user in as")
    if not found.authorization and not found.cert_file and user.keys() & _PLUGINS:
        _log_in(chosen, found, directory)
    return found


_PLUGINS = {"exec", "auth-provider"}
# Impersonation we do not send. Acting without it could mean acting with more rights than the file wants.
_NOT_SENT = {"as-uid", "as-user-extra"}


def _optional(value: Any) -> str | None:
    return str(value) if value else None


def _file(entry: Mapping[str, Any], key: str, directory: str) -> str | None:
    """The path of a certificate or key; data is written to our private directory, which is gone a moment later."""
    data = entry.get(f"{key}-data")
    if not data:
        return entry.get(key) or None
    path = os.path.join(directory, key)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(base64.b64decode(data, validate=True))
    return path


def _authorization(user: Mapping[str, Any]) -> str | None:
    if user.get("tokenFile"):  # it may be renewed, a token written beside it may not
        with open(user["tokenFile"], encoding="utf-8") as stream:
            return f"Bearer {stream.read().strip()}"
    if user.get("token"):
        return f"Bearer {user['token']}"
    if user.get("username") and user.get("password") is not None:
        return _basic(str(user["username"]), str(user["password"]))
    return None


def _basic(username: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def _log_in(chosen: Chosen, found: _Found, directory: str) -> None:
    """Exec plugins and auth providers: what the `kubernetes` package is for."""
    package = _import_kubernetes()
    content = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": dict(chosen.cluster)}],
        "users": [{"name": "it", "user": dict(chosen.user)}],
    }
    configuration = package.client.Configuration()
    next_step = "try the same with kubectl get ns"
    try:
        with _logged_errors() as errors:
            package.config.kube_config.KubeConfigLoader(
                config_dict=content, config_base_path=chosen.folder, temp_file_path=directory
            ).load_and_set(configuration)
    except (package.config.ConfigException, OSError, ValueError, TypeError, AttributeError, KeyError) as problem:
        raise NotLoggedIn(
            "the login plugin failed", which=f"in {chosen.where}", why=str(problem), next_step=next_step
        ) from problem
    found.authorization = configuration.api_key.get("BearerToken") or configuration.api_key.get("authorization")
    found.cert_file, found.key_file = configuration.cert_file, configuration.key_file
    if errors or not (found.authorization or found.cert_file):
        # The package logs a failing plugin and goes on without credentials.
        why = errors[0] if errors else "it gave neither a token nor a certificate"
        raise NotLoggedIn("the login plugin failed", which=f"in {chosen.where}", why=why, next_step=next_step)


def _from_service_account(environ: Mapping[str, str]) -> _Found:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    token_file = os.path.join(SERVICE_ACCOUNT, "token")
    if not host or not port or not os.path.exists(token_file):
        raise BadOption(
            "in_cluster is true",
            why="there is no service account mounted here, or KUBERNETES_SERVICE_HOST is not set",
            next_step="run this inside a pod, or set in_cluster to auto and give a kubeconfig",
        )
    with open(token_file, encoding="utf-8") as stream:
        token = stream.read().strip()
    bracketed = f"[{host}]" if ":" in host else host
    return _Found(
        host=f"https://{bracketed}:{port}",
        authorization=f"Bearer {token}",
        ca_file=os.path.join(SERVICE_ACCOUNT, "ca.crt"),
        origin="the pod's service account",
    )


def _override(found: _Found, options: ConnectionOptions) -> None:
    """Single options win over what a file says."""
    if options.host:
        found.host = options.host
    if options.api_key:
        found.authorization = f"Bearer {options.api_key}"
    elif options.username:
        found.authorization = _basic(options.username, options.password or "")
    if options.validate_certs is not None:
        found.verify = options.validate_certs
    for field, value in (
        ("ca_file", options.ca_cert),
        ("cert_file", options.client_cert),
        ("key_file", options.client_key),
    ):
        if value:
            setattr(found, field, os.path.expanduser(value))
    if options.proxy:
        found.proxy = options.proxy
    if options.impersonate_user:
        found.impersonate_user = options.impersonate_user
        found.impersonate_groups = options.impersonate_groups


def _endpoint(found: _Found, options: ConnectionOptions, environ: Mapping[str, str]) -> Endpoint:
    scheme, host, port, path = _address(found.host)
    proxy = _proxy_for(scheme, host, found.proxy, options.no_proxy, environ)
    if found.authorization and scheme == "http" and (proxy or not is_loopback(host)):
        # kubectl does not send them either, and then fails as an anonymous user.
        raise BadOption(
            "credentials are not sent",
            which=f"to http://{host}:{port}",
            why="the connection is not encrypted, and everything on its way could read them",
            next_step="write the address with https://, or leave out token, username and password",
        )
    headers = []
    if found.authorization:
        headers.append(("Authorization", _one_line(found.authorization, "the token")))
    if found.impersonate_user:
        headers.append(("Impersonate-User", _one_line(found.impersonate_user, "impersonate_user")))
        headers.extend(
            ("Impersonate-Group", _one_line(group, "impersonate_groups")) for group in found.impersonate_groups
        )
    return Endpoint(
        host=host,
        port=port,
        base_path=path.rstrip("/"),
        tls=_tls(found) if scheme == "https" else None,
        server_name=found.server_name,
        headers=tuple(headers),
        proxy=proxy,
        origin=found.origin,
        context=found.context,
    )


def _tls(found: _Found) -> ssl.SSLContext:
    return client_context(
        verify=found.verify, ca_file=found.ca_file, cert_file=found.cert_file, key_file=found.key_file
    )


def _address(text: str) -> tuple[str, str, int, str]:
    """Scheme, host, port and path of the API server's URL; `host:port` alone means https."""
    url = text if "://" in text else f"https://{text}"
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port if parts.port is not None else {"https": 443, "http": 80}.get(parts.scheme, 0)
        clean = url.isascii() and url.isprintable() and " " not in url
        if not clean or not port or not parts.hostname or parts.scheme not in ("http", "https"):
            raise ValueError
    except ValueError:
        raise BadOption(
            "the API server's address", which=text, why="it is not a URL", next_step="write it like https://host:6443"
        ) from None
    return parts.scheme, parts.hostname, port, parts.path


def _one_line(text: str, what: str) -> str:
    text = text.strip()
    if not text.isascii() or not text.isprintable():
        raise BadOption("bad options", why=f"{what} contains characters that cannot stand in a header")
    return text


def _proxy_for(
    scheme: str, host: str, explicit: str | None, no_proxy: str | None, environ: Mapping[str, str]
) -> str | None:
    """An option or the kubeconfig's `proxy-url` always counts; the environment's never for a loopback server."""
    if explicit:
        proxy: str | None = explicit
    elif is_loopback(host):
        return None
    else:
        proxy = environ.get(f"{scheme}_proxy") or environ.get(f"{scheme.upper()}_PROXY")
    exceptions = no_proxy or environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    return None if not proxy or bypasses_proxy(host, exceptions) else proxy


def bypasses_proxy(host: str, no_proxy: str) -> bool:
    """`no_proxy` as curl and Go read it: names, suffixes, `*`, addresses and networks, separated by commas."""
    for entry in (part.strip().lower() for part in no_proxy.split(",")):
        if not entry:
            continue
        if entry == "*" or host.lower() == entry or host.lower().endswith("." + entry.lstrip("*").lstrip(".")):
            return True
        with contextlib.suppress(ValueError):
            if ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False):
                return True
    return False


def _import_kubernetes() -> Any:
    try:
        import kubernetes.client
        import kubernetes.config
        import kubernetes.config.kube_config
    except ImportError as problem:
        raise MissingPackage.named("kubernetes", problem) from problem
    return kubernetes


@contextlib.contextmanager
def _private_directory() -> Iterator[str]:
    # The package writes keys from a kubeconfig into files and removes them at exit; a forked worker never gets there.
    directory = tempfile.mkdtemp(prefix="sunset-kube-")
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def _logged_errors() -> Iterator[list[str]]:
    messages: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    handler = Keep(level=logging.ERROR)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield messages
    finally:
        root.removeHandler(handler)
