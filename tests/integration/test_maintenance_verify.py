# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A page is only believed when it was seen, through the real Traefik; and how a web server is asked."""

from __future__ import annotations

import http.server
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.web import ask_web
from integration.maintaining import Maintenance, http_route, ingress, ingress_route
from integration.ranked import failed, succeeded
from lab.node import workloads
from lab.node.traefik import Traefik
from lab.plane.certificates import Authority
from lab.plane.controlplane import ControlPlane

HOSTS = ["seen.example.com", "seen-crd.example.com", "seen-gateway.example.com"]


@pytest.fixture
def shop(plane: ControlPlane, node_namespace: str, traefik: Traefik) -> Maintenance:
    workloads.start_app(plane.api, node_namespace, "shop")
    plane.api.create(
        traefik.gateway(node_namespace),
        ingress(node_namespace, host=HOSTS[0]),
        ingress_route(node_namespace, host=HOSTS[1]),
        http_route(node_namespace, host=HOSTS[2]),
    )
    for host in HOSTS:
        traefik.wait_for(host, lambda reply: reply.status == 200)
    return Maintenance(plane, node_namespace)


def test_every_route_is_seen_behind_its_page_and_one_that_is_not_is_named(shop: Maintenance, traefik: Traefik) -> None:
    seen = {"url": traefik.url, "timeout": 30}
    on = succeeded(shop("enabled", verify=seen))
    assert sorted(on["verified"]) == sorted(f"{host}/" for host in HOSTS)
    assert all(traefik.ask(host).headers["X-Maintenance"] in on["targets"][0]["page"] for host in HOSTS)

    # A route of another class: Traefik does not serve it.
    shop.api.create({**ingress(shop.namespace, "unserved", "unserved.example.com")})
    unserved = f"/apis/networking.k8s.io/v1/namespaces/{shop.namespace}/ingresses/unserved"
    shop.api.patch(unserved, {"spec": {"ingressClassName": "nobodys"}})
    result = shop("enabled", verify={**seen, "timeout": 2})
    message = failed(result)
    assert "unserved.example.com/: answered 404" in message
    assert "at 1 of 4 places" in message
    assert "the pages stay" in message
    assert sorted(result["verified"]) == sorted(f"{host}/" for host in HOSTS)
    assert [one["state"] for one in result["targets"]] == ["enabled"] * 4

    refused = failed(shop("enabled", verify={"url": "http://127.0.0.1:1", "timeout": 1}))
    assert "nobody listens there" in refused
    succeeded(shop("disabled"))


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(503)
        self.send_header("X-Host", self.headers["Host"])
        self.send_header("X-Path", self.path)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Silence: the answers tell everything."""


@pytest.fixture
def secure_server(tmp_path: Path) -> Iterator[tuple[str, list[str | None]]]:
    """Its URL, and the names it was greeted by."""
    pair = Authority(tmp_path, "ca").server("server", ["shop.example.com"])
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert_file, pair.key_file)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}", names
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_a_server_is_greeted_by_the_name_of_the_host(secure_server: tuple[str, list[str | None]]) -> None:
    url, names = secure_server

    answer = ask_web(url, "shop.example.com", "/cart?x=1", validate_certs=False, timeout=10)
    assert (answer.status, answer.headers["x-host"], answer.headers["x-path"]) == (503, "shop.example.com", "/cart?x=1")
    assert names == ["shop.example.com"]

    checked = ask_web(url, "shop.example.com", "/", validate_certs=True, timeout=10)
    assert "its certificate is not trusted" in checked.trouble


def test_whatever_is_no_web_server_is_trouble_and_no_crash(secure_server: tuple[str, list[str | None]]) -> None:
    url, _names = secure_server
    plain = url.replace("https", "http")  # speaks TLS, is spoken to in plain
    for where in (plain, "http://127.0.0.1:1"):
        assert ask_web(where, "shop.example.com", "/", validate_certs=True, timeout=5).trouble
