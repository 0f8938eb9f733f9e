# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed in the middle, after each single write: whatever is run next ends in a correct state, and nothing is lost.

The module runs as a process. The proxy holds back the answer to its n-th write, which the server has done by then, and
the process is killed while it waits: the worst moment there is.
"""

from __future__ import annotations

from typing import Any

import pytest

from integration.maintaining import QUICKLY, Body, Maintenance, http_route, ingress, ingress_route, owners, shape
from integration.ranked import succeeded
from integration.running import PATIENCE, module_process
from lab.faults import FaultProxy, Rule, SlowAnswer
from lab.node.images import NGINX_IMAGE
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

MARKER = "sunset.dev/maintenance"
TWO = {"image": NGINX_IMAGE, "replicas": 2}
PARTS = ("configmaps", "deployments", "services", "poddisruptionbudgets")


class Scene:
    """Three routes of three kinds, and a module that is killed while it works on them."""

    def __init__(self, plane: ControlPlane, namespace: str, faults: FaultProxy) -> None:
        self.maintenance = Maintenance(plane, namespace)
        self.faults = faults
        self.kubeconfig = faults.kubeconfig(self.maintenance.user)
        shaped = ingress(namespace, "one")
        shaped["metadata"]["annotations"] = {"nginx.ingress.kubernetes.io/rewrite-target": "/$1", "team": "shop"}
        self.made = plane.api.create(shaped, ingress_route(namespace, "two"), http_route(namespace, "three"))
        self.before = [shape(item) for item in self.made]
        self.uids = {str(item["metadata"]["uid"]) for item in self.made}
        self.state = "disabled"
        self.others: set[str] = set()  # routes of somebody else who shows the same page
        self.options: dict[str, Any] = {
            **QUICKLY,
            "workload": TWO,
            "targets": [{"namespace": namespace, "name": name} for name in ("one", "two", "three")],
            "parallel": 1,
        }

    def share_the_page(self) -> None:
        """Somebody else shows the same page all the time."""
        [other] = self.maintenance.api.create(ingress(self.maintenance.namespace, "other"))
        self.others = {other["metadata"]["uid"]}
        target = {"namespace": self.maintenance.namespace, "name": "other"}
        succeeded(self.maintenance("enabled", **{**self.options, "targets": [target]}))

    def run(self, state: str) -> None:
        succeeded(self.maintenance(state, **self.options))
        self.state = state

    def kill(self, state: str, after: int) -> bool:
        """Run, and kill it when so many of its writes are done. False when it had fewer."""
        self.state = "killed"
        rule = self.faults.add(Rule(SlowAnswer(PATIENCE), writes=True, nth=after))
        with module_process("maintenance", {**self.options, "state": state}, self.kubeconfig) as process:
            until(lambda: self._is_held(rule) or process.poll() is not None, "the write", timeout=PATIENCE, every=0.01)
            alive = process.poll() is None
            process.kill()
            stdout, stderr = process.communicate(timeout=PATIENCE)
        self.faults.clear()
        assert alive == bool(rule.hits), stderr
        assert alive or '"failed": true' not in stdout
        return alive

    def _is_held(self, rule: Rule) -> bool:
        return any(one.fault is rule.fault and one.served is not None for one in self.faults.requests)

    def routes(self) -> list[Body]:
        return [self.maintenance.route(self.maintenance.api.path_of(item)) for item in self.made]

    def check(self, state: str) -> None:
        {"enabled": self._check_closed, "disabled": self._check_open}[state]()

    def _check_closed(self) -> None:
        [page] = self.maintenance.pages()
        name = page["metadata"]["name"]
        for item in self.routes():
            assert item["metadata"]["annotations"][MARKER] == name
            assert f'"{name}"' in str(item["spec"]).replace("'", '"')
            assert '"shop"' not in str(item["spec"]).replace("'", '"')
        assert owners(page) == sorted(self.uids | self.others)
        self._await_objects({f"{kind}/{name}" for kind in PARTS} | self._backups(self.uids | self.others))

    def _check_open(self) -> None:
        assert [shape(item) for item in self.routes()] == self.before
        pages = self.maintenance.pages()
        assert [owners(page) for page in pages] == ([sorted(self.others)] if self.others else [])
        parts = {f"{kind}/{page['metadata']['name']}" for page in pages for kind in PARTS}
        self._await_objects(parts | self._backups(self.others))

    @staticmethod
    def _backups(uids: set[str]) -> set[str]:
        return {f"configmaps/maintenance-backup-{uid}" for uid in uids}

    def _await_objects(self, wanted: set[str]) -> None:
        """Parts of a page whose ConfigMap is gone are the garbage collector's; it needs a moment."""
        until(lambda: set(self.maintenance.ours()) == wanted, f"only {sorted(wanted)}")


@pytest.fixture
def scene(plane: ControlPlane, node_namespace: str, route_kinds: None, faults: FaultProxy) -> Scene:
    return Scene(plane, node_namespace, faults)


OPPOSITE = {"enabled": "disabled", "disabled": "enabled"}
THEN = pytest.mark.parametrize("then", ["enabled", "disabled"])


@THEN
@pytest.mark.parametrize("killed", ["enabled", "disabled"])
def test_killed_after_each_write_to_routes_of_a_shared_page(scene: Scene, killed: str, then: str) -> None:
    """The page is claimed or released by one write; each route takes two."""
    scene.share_the_page()
    number = 0
    while True:
        number += 1
        if scene.state != OPPOSITE[killed]:
            scene.run(OPPOSITE[killed])
        if not scene.kill(killed, number):
            break
        scene.run(then)
        scene.check(then)
    assert number > 1 + 2 * len(scene.made), "the test has missed some"


@THEN
@pytest.mark.parametrize("number", range(1, 5), ids=PARTS)
def test_killed_after_each_write_that_makes_the_page(scene: Scene, number: int, then: str) -> None:
    assert scene.kill("enabled", number)
    scene.run(then)
    scene.check(then)


@THEN
def test_killed_when_the_page_has_ended_but_its_parts_are_there(scene: Scene, then: str) -> None:
    scene.run("enabled")
    assert scene.kill("disabled", 7)  # three routes, three backups, and the page's ConfigMap
    scene.run(then)
    scene.check(then)
