# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connection options to an `Endpoint`: kubeconfig, contexts, exec plugins, tokens, certificates, in-cluster, proxies.

Room: kube. The `kubernetes` package reads the files and runs the plugins; it is imported here, late, and nowhere else.
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


def load_endpoint(options: ConnectionOptions, environ: Mapping[str, str] = os.environ) -> Endpoint:
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
    package = _import_kubernetes()
    reader = package.config.kube_config
    if isinstance(kubeconfig, str):
        named = [os.path.expanduser(part) for part in kubeconfig.split(os.pathsep) if part]
        if not any(os.path.isfile(part) for part in named):
            raise BadOption(
                "kubeconfig", which=kubeconfig, why="there is no such file", next_step="check the option kubeconfig"
            )
        where = f"kubeconfig {kubeconfig}"
    else:
        where = "kubeconfig given as a dictionary"
    content = _read(package, kubeconfig, where)
    _check_context(content.value, context, where)
    # No base path for a file: each entry knows the file it came from, for relative certificate paths.
    base_path = None if isinstance(kubeconfig, str) else ""
    configuration = package.client.Configuration()
    try:
        with _logged_errors() as errors:
            reader.KubeConfigLoader(
                config_dict=content, active_context=context, config_base_path=base_path, temp_file_path=directory
            ).load_and_set(configuration)
    except (package.config.ConfigException, OSError, ValueError, TypeError, AttributeError, KeyError) as problem:
        raise BadOption(where, why=str(problem), next_step="check it with kubectl config view") from problem
    if errors:
        # The package logs a failing exec plugin and goes on without credentials.
        raise NotLoggedIn(
            "the login plugin failed",
            which=f"in {where}",
            why=errors[0],
            next_step="run kubectl get ns with the same file",
        )
    user = _user_of(content.value, context)
    current = context or content.value.get("current-context")
    return _Found(
        host=configuration.host,
        authorization=configuration.api_key.get("BearerToken") or configuration.api_key.get("authorization"),
        verify=configuration.verify_ssl,
        ca_file=configuration.ssl_ca_cert,
        cert_file=configuration.cert_file,
        key_file=configuration.key_file,
        server_name=getattr(configuration, "tls_server_name", None),
        proxy=_proxy_url_of(content.value, context),
        # The package ignores these two; acting as somebody mightier than the file says would be dangerous.
        impersonate_user=user.get("as"),
        impersonate_groups=tuple(user.get("as-groups") or ()),
        origin=f"context {current} of {where}",
    )


def _read(package: Any, kubeconfig: str | Mapping[str, Any], where: str) -> Any:
    reader = package.config.kube_config
    if not isinstance(kubeconfig, str):
        return reader.ConfigNode("kubeconfig", dict(kubeconfig))
    try:
        content = reader.KubeConfigMerger(kubeconfig).config
    except Exception as problem:  # yaml.YAMLError among others; yaml comes with the package we import late
        raise BadOption(where, why=f"it cannot be read: {problem}", next_step="mend the file") from problem
    if content is None:
        raise BadOption(where, why="it is empty", next_step="check the option kubeconfig")
    return content


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
        login = f"{options.username}:{options.password}".encode()
        found.authorization = "Basic " + base64.b64encode(login).decode()
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
    url = found.host if "://" in found.host else f"https://{found.host}"
    parts = urllib.parse.urlsplit(url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        port = 0
    if parts.scheme not in ("http", "https") or not parts.hostname or not port:
        raise BadOption(
            "the API server's address",
            which=found.host,
            why="it is not a URL",
            next_step="write it like https://host:6443",
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
        host=parts.hostname,
        port=port,
        base_path=parts.path.rstrip("/"),
        tls=_tls_context(found) if parts.scheme == "https" else None,
        server_name=found.server_name,
        headers=tuple(headers),
        proxy=_proxy_for(parts.scheme, parts.hostname, found.proxy, options.no_proxy, environ),
        origin=found.origin,
    )


def _one_line(text: str, what: str) -> str:
    text = text.strip()
    if "\r" in text or "\n" in text or not text.isascii():
        raise BadOption("bad options", why=f"{what} contains characters that cannot stand in a header")
    return text


def _tls_context(found: _Found) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not found.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif found.ca_file:
        _load(lambda: context.load_verify_locations(cafile=found.ca_file), "ca_cert", found.ca_file)
    else:
        context.load_default_certs()
    if found.cert_file:
        cert_file = found.cert_file
        _load(lambda: context.load_cert_chain(cert_file, found.key_file), "client_cert or client_key", cert_file)
    return context


def _load(action: Any, option: str, path: str) -> None:
    try:
        action()
    except (OSError, ssl.SSLError) as problem:
        raise BadOption(
            f"the certificate file for {option}",
            which=path,
            why=str(problem),
            next_step="check that it is a PEM file you can read",
        ) from problem


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


def _check_context(content: Mapping[str, Any], context: str | None, where: str) -> None:
    names = [_plain(entry).get("name") for entry in content.get("contexts") or ()]
    wanted = context or content.get("current-context")
    if not wanted:
        raise BadOption(
            where,
            why="it has no current-context and no context was given",
            next_step=f"set context to one of {_listed(names)}",
        )
    if wanted not in names:
        raise BadOption(
            f"unknown context {wanted}",
            which=f"in {where}",
            why=f"it has {_listed(names)}",
            next_step="set context to one of these",
        )


def _listed(names: list[Any]) -> str:
    return ", ".join(str(name) for name in names) or "no contexts"


def _plain(entry: Any) -> Mapping[str, Any]:
    value: Mapping[str, Any] = getattr(entry, "value", entry)
    return value


def _named(content: Mapping[str, Any], section: str, name: Any, key: str) -> Mapping[str, Any]:
    for entry in map(_plain, content.get(section) or ()):
        if entry.get("name") == name:
            return entry.get(key) or {}
    return {}


def _user_of(content: Mapping[str, Any], context: str | None) -> Mapping[str, Any]:
    chosen = _named(content, "contexts", context or content.get("current-context"), "context")
    return _named(content, "users", chosen.get("user"), "user")


def _proxy_url_of(content: Mapping[str, Any], context: str | None) -> str | None:
    chosen = _named(content, "contexts", context or content.get("current-context"), "context")
    return _named(content, "clusters", chosen.get("cluster"), "cluster").get("proxy-url")


def _import_kubernetes() -> Any:
    try:
        import kubernetes.client
        import kubernetes.config
        import kubernetes.config.kube_config
    except ImportError as problem:
        raise MissingPackage(
            "the Python package kubernetes cannot be imported",
            why=str(problem),
            next_step="install it where this task runs: python3 -m pip install kubernetes",
        ) from problem
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
