# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What visitors see: real pods behind the real Traefik, under load, while pages come, change and go."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Noted
from ansible_collections.sunset.kube.plugins.module_utils.jobs import maintenance as job
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.page_looks import COLOURS
from integration.browser import ground_of, pictured
from integration.load import Door, Load
from integration.maintaining import Maintenance, http_route, ingress, ingress_route
from integration.ranked import succeeded
from integration.running import PATIENCE, Result, run_job
from lab.node import workloads
from lab.node.images import NGINX_IMAGE
from lab.node.traefik import Reply, Traefik
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

APP = "shop"
KINDS = ("Ingress", "IngressRoute", "HTTPRoute")


@pytest.fixture(scope="module")
def patient_traefik(
    plane: ControlPlane, traefik: Traefik, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Traefik]:
    """One that takes two seconds to act on what it sees, as it does when nobody configures it otherwise."""
    with Traefik.start(plane, tmp_path_factory.mktemp("patient"), throttle="2s", gateways=False) as running:
        yield running


class Shop(Maintenance):
    """An application behind a route of every kind that Traefik serves, each with a host of its own."""

    @property
    def hosts(self) -> dict[str, str]:
        # The routes of the test before may still be served.
        return {kind: f"{kind.lower()}.{self.namespace}.example.com" for kind in KINDS}


@pytest.fixture
def shop(plane: ControlPlane, node_namespace: str, traefik: Traefik) -> Shop:
    made = Shop(plane, node_namespace)
    workloads.start_app(plane.api, node_namespace, APP, replicas=2)
    plane.api.create(
        traefik.gateway(node_namespace),
        ingress(node_namespace, host=made.hosts["Ingress"]),
        ingress_route(node_namespace, host=made.hosts["IngressRoute"]),
        http_route(node_namespace, host=made.hosts["HTTPRoute"]),
    )
    for host in made.hosts.values():
        traefik.wait_for(host, lambda reply: reply.status == 200)
    return made


class Visible:
    """The job as users run it: with all its defaults, but the image."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.notes: list[str] = []

    def __call__(self, state: str, **options: Any) -> Result:
        params = {
            "targets": [{"namespace": self.shop.namespace}],
            "workload": {"image": NGINX_IMAGE},
            "timeout": 90,
            **options,
            "state": state,
        }
        return succeeded(run_job(job.JOB, params, self.shop.user.kubeconfig, on_event=self._note))

    def _note(self, event: Any) -> None:
        if isinstance(event, Noted):
            self.notes.append(event.text)


def page_id(result: Result) -> str:
    (page,) = {target["page"] for target in result["targets"]}
    return str(page).removeprefix("maintenance-")


def test_no_visitor_sees_anything_but_the_application_or_the_page(
    shop: Shop, traefik: Traefik, patient_traefik: Traefik
) -> None:
    maintain = Visible(shop)
    doors = [Door(kind, traefik.port, host) for kind, host in shop.hosts.items()]
    doors += [Door(f"{kind}, slowly", patient_traefik.port, shop.hosts[kind]) for kind in ("Ingress", "IngressRoute")]
    for door in doors[3:]:
        patient_traefik.wait_for(door.host, lambda reply: reply.status == 200)
    everywhere = {door.name for door in doors}

    with Load(doors, APP) as load:
        assert set(load.now()) == {"app"}

        first = page_id(maintain("enabled"))
        assert set(load.now()) == {first}, "the task has ended, so everybody sees the page"
        scale(shop, 0)
        assert set(load.now(1)) == {first}

        second = page_id(maintain("enabled", page={"title": "Longer than planned"}))
        assert second != first
        assert set(load.now()) == {second}

        reopening = threading.Thread(target=maintain, args=("disabled",), name="reopening")
        reopening.start()
        until(lambda: any("no ready endpoint" in note for note in maintain.notes), "the gate", timeout=PATIENCE)
        assert set(load.now(1)) == {second}, "nobody is let in before the application is ready"
        scale(shop, 2)
        reopening.join(PATIENCE)
        assert not reopening.is_alive()
        assert set(load.now(3)) == {"app"}, "the task has ended, so nobody sees the page"

    assert load.wrong("app", first, second) == []
    assert [load.doors_of(who) for who in ("app", first, second)] == [everywhere] * 3
    assert shop.ours() == []


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
PREFLIGHT = {"Origin": "https://spa.example.org", "Access-Control-Request-Method": "PUT"}
GRPC = {"Content-Type": "application/grpc", "TE": "trailers"}
# Method, what the client says, and what it gets: status, media type, beginning of the body.
CLIENTS = {
    "browser": ("GET", BROWSER, (503, "text/html", "<!doctype html>")),
    "form": ("POST", BROWSER, (503, "text/html", "<!doctype html>")),
    "upload": ("PUT", {"Accept": "application/json"}, (503, "application/json", "{")),
    "program": ("DELETE", {"Accept": "application/problem+json"}, (503, "application/problem+json", "{")),
    "monitor": ("HEAD", {}, (503, "text/html", "")),
    "script of another origin": ("OPTIONS", PREFLIGHT, (204, None, "")),
    "options": ("OPTIONS", {}, (503, "text/html", "<!doctype html>")),
    "grpc": ("POST", GRPC, (200, "application/grpc", "")),
}


def test_every_client_is_told_in_its_own_way_and_readers_by_day_and_by_night(
    shop: Shop, traefik: Traefik, tmp_path: Path
) -> None:
    text = {"title": "We are moving to a faster database", "product": "Example Shop", "contact": "help@example.com"}
    page = page_id(succeeded(shop("enabled", page=text, window={"for": "1h"}, retry_after=120)))
    for host in shop.hosts.values():
        traefik.wait_for(host, lambda reply: reply.status == 503)
        for client, (method, headers, wanted) in CLIENTS.items():
            reply = traefik.ask(host, "/deep/er?x=1", method=method, headers=headers)
            told = (reply.status, media_type(reply), reply.body[: len(wanted[2])].lower())
            assert told == wanted, f"{client} on {host}"
            assert reply.headers["X-Maintenance"] == page
            assert reply.headers["Cache-Control"] == "no-store"
            assert reply.headers["Retry-After"] == ("120" if reply.status == 503 else None)
            assert method != "HEAD" or reply.body == ""
        preflight = traefik.ask(host, "/api", method="OPTIONS", headers=PREFLIGHT)
        assert preflight.headers["Access-Control-Allow-Origin"] == PREFLIGHT["Origin"]
        assert traefik.ask(host, "/a.B/C", method="POST", headers=GRPC).headers["Grpc-Status"] == "14"

    for dark in (False, True):
        picture = tmp_path / f"{'night' if dark else 'day'}.png"
        pictured(f"http://{shop.hosts['HTTPRoute']}:{traefik.port}/cart?item=1", picture, dark=dark)
        wanted_ground = numbers_of(COLOURS["ground"][dark])
        off = [abs(seen - wanted) for seen, wanted in zip(ground_of(picture), wanted_ground, strict=True)]
        assert max(off) < 8, f"{picture}: the ground is a little lighter or darker towards its edges, not another one"


def media_type(reply: Reply) -> str | None:
    return reply.headers.get_content_type() if reply.headers["Content-Type"] else None


def numbers_of(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def scale(shop: Shop, replicas: int) -> None:
    path = f"/apis/apps/v1/namespaces/{shop.namespace}/deployments/{APP}"
    status, answer = shop.api.patch(path, {"spec": {"replicas": replicas}})
    assert status == 200, answer

    def done() -> bool:
        return len(workloads.ready_addresses(shop.api, shop.namespace, APP)) == replicas

    until(done, f"{replicas} pods", timeout=PATIENCE)
