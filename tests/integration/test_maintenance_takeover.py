# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The maintenance-operator of the community, kept running, and ours take turns on the same routes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.collection_playbooks import play_named
from integration.community_operator import FLAG, KOPF, MARKER, PREFIX, SERVICE, Begin, CommunityOperator
from integration.maintaining import Body, Maintenance, admission, ingress, ingress_route, services_in, shape
from integration.ranked import failed, succeeded
from integration.running import warnings_of
from integration.test_maintenance_seed import PAGE, backend_of, backup, leftovers, operated, put, with_marks
from lab.node.node import Node
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

Deploy = Callable[[str, dict[str, str]], None]
USERS = {PREFIX + "custom-page": "blue", "example.com/team": "shop"}


def six_routes(here: str, there: str) -> list[Body]:
    named = {"service": {"name": "shop", "port": {"name": "http"}}}
    numbered = {"service": {"name": "shop", "port": {"number": 8080}}}
    stored = {"resource": {"apiGroup": "example.com", "kind": "Bucket", "name": "pictures"}}
    one = ingress(here, "one", "one.example.com")
    one["spec"]["defaultBackend"] = named
    one["spec"]["rules"][0]["http"]["paths"].append({"path": "/p", "pathType": "Exact", "backend": stored})
    fallback, host_only = ingress(here, "fallback"), ingress(here, "host-only")
    fallback["spec"] = {"ingressClassName": "traefik", "defaultBackend": numbered}
    host_only["spec"] = {**fallback["spec"], "rules": [{"host": "only.example.com"}]}
    weighed = ingress_route(here, "weighed", "weighed.example.com")
    sticky = {"cookie": {"name": "which", "secure": True}}
    weighed["spec"]["routes"][0]["services"] = [
        {"name": "shop", "port": 80, "weight": 3, "sticky": sticky},
        {"name": "shop-next", "port": "http", "weight": 1},
    ]
    mirrored = {"kind": "Rule", "match": "Host(`m.example.com`)", "services": [{"kind": "TraefikService", "name": "m"}]}
    weighed["spec"]["routes"].append(mirrored)
    routes = [one, fallback, host_only, weighed, ingress(here, "twin"), ingress_route(there, "twin")]
    for route in routes:
        route["metadata"]["annotations"] = dict(USERS)
    return routes


def users_shape(item: Body) -> Body:
    """Without what kopf writes for itself."""
    found = shape(item)
    marks = {key: value for key, value in found["annotations"].items() if not key.startswith(KOPF)}
    return {**found, "annotations": marks}


class SixRoutes:
    """The six routes, the other operator, and the task for both of their namespaces."""

    def __init__(self, maintenance: Maintenance, there: str, other: CommunityOperator) -> None:
        self.maintenance, self.other, self.api = maintenance, other, maintenance.api
        self.there = there
        self.targets = [{"namespace": maintenance.namespace}, {"namespace": there}]
        self.routes = six_routes(maintenance.namespace, there)
        self.api.create(*self.routes)
        self.originals = self.now()
        self.host_only = self.routes[2]
        # After a failure it waits for a minute, whatever happens to the route.
        self.swapped = [route for route in self.routes if route is not self.host_only]

    def now(self) -> list[Body]:
        return [users_shape(self.maintenance.live(route)) for route in self.routes]

    def task(self, state: str, **options: Any) -> Body:
        return succeeded(self.maintenance(state, targets=self.targets, **options))

    def flag(self, *routes: Body) -> None:
        """One after the other: two at once make it fail on a page that is there by then, and wait for a minute."""
        for route in routes:
            self.other.flag(route)
            if route is self.host_only:
                until(lambda: self.other.has_failed_on(self.host_only), "its refused patch")
            else:
                until(lambda live=route: self.is_others(live), f"its page on {route['metadata']['name']}")

    def is_others(self, route: Body) -> bool:
        marks = self.maintenance.live(route)["metadata"]["annotations"]
        return MARKER in marks and marks[SERVICE] in services_in(self.maintenance.live(route))

    def is_ours(self, route: Body) -> bool:
        pages = services_in(self.maintenance.live(route))
        return bool(pages) and all(len(page.removeprefix("maintenance-")) > 8 for page in pages)

    def versions(self) -> dict[str, str]:
        """Where a watch of each kind in each namespace would begin now."""
        paths = {self.api.path_of(route, collection=True) for route in self.routes}
        return {path: self.api.get(path)[1]["metadata"]["resourceVersion"] for path in sorted(paths)}

    def specs_since(self, versions: dict[str, str]) -> dict[tuple[str, str], list[Any]]:
        """Every spec the API server has served of each route."""
        seen: dict[tuple[str, str], list[Any]] = {}
        for path, version in versions.items():
            for event in self.api.watch(path, seconds=1, resourceVersion=version):
                item = event["object"]
                seen.setdefault((item["kind"], item["metadata"]["name"]), []).append(item["spec"])
        return seen

    def wait_until_it_had_its_chance(self) -> None:
        """It handles what comes later: so it has seen what came before."""
        probe = ingress(self.maintenance.namespace, "probe", "probe.example.com")
        self.api.create(probe)
        self.other.flag(probe)
        until(lambda: self.is_others(probe), "its page on another route")
        page = self.maintenance.live(probe)["metadata"]["annotations"][SERVICE]
        self.other.flag(probe, value=None)
        until(lambda: services_in(self.maintenance.live(probe)) == {"shop"}, "another route without its page")
        until(lambda: not any(page in one for one in self.other.made()), "the end of that page")
        self.api.delete(self.api.path_of(probe))


@pytest.fixture
def six(
    maintenance_on_node: Maintenance, plane: ControlPlane, node: Node, community_operator: Begin
) -> Iterator[SixRoutes]:
    there = f"{maintenance_on_node.namespace}-b"
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": there}})
    node.admit(there)
    yield SixRoutes(maintenance_on_node, there, community_operator(maintenance_on_node.namespace, there))
    plane.api.delete(f"/api/v1/namespaces/{there}")


@pytest.mark.node
def test_both_take_turns_on_six_routes_and_the_originals_are_there_at_the_end(six: SixRoutes) -> None:
    # It has closed them: taken over in one step, while it runs.
    six.flag(*six.routes)
    assert "configmaps/maintenance-backup-host-only" in six.other.made()
    before = six.now()
    assert "takeover: true" in failed(six.maintenance("enabled", targets=six.targets))
    assert six.now() == before

    planned = six.task("enabled", takeover=True, check_mode=True)
    assert six.now() == before
    assert {row["why"] for row in planned["targets"]} == {"taken over from the maintenance-operator"}
    since = six.versions()
    taken = six.task("enabled", takeover=True)
    after = six.now()
    six.wait_until_it_had_its_chance()
    assert taken["swept"] == planned["swept"]
    assert all(map(six.is_ours, six.routes))
    assert six.now() == after
    shown = six.specs_since(since)
    for number, route in enumerate(six.routes):
        name = (route["kind"], route["metadata"]["name"])
        # No moment without a page, and none with what is behind it.
        assert all(spec in (before[number]["spec"], after[number]["spec"]) for spec in shown[name]), name
        assert not any(mark in after[number]["annotations"] for mark in (FLAG, MARKER, SERVICE))
    assert six.other.made() == []
    assert not six.task("enabled", takeover=True)["changed"]
    six.task("disabled")
    assert six.now() == six.originals

    # It has closed them: opened while it runs.
    six.flag(*six.swapped)
    six.task("disabled")
    six.wait_until_it_had_its_chance()
    assert six.now() == six.originals
    assert six.other.made() == []

    # Its page on top of ours.
    six.task("enabled")
    six.flag(*six.swapped)
    six.task("enabled", takeover=True)
    six.wait_until_it_had_its_chance()
    assert all(map(six.is_ours, six.routes))
    six.task("disabled")
    assert six.now() == six.originals

    # It opens them itself, and its marks stay.
    six.flag(*six.swapped)
    for route in six.swapped:
        six.other.flag(route, value=None)
    until(lambda: not any("maintenance-backup" in one for one in six.other.made()), "its restores")
    assert all(MARKER in one["annotations"] for one in six.now() if one != six.originals[2])
    six.task("swept", sweep_after=0)
    assert six.now() == six.originals
    assert six.other.made() == []
    assert six.maintenance.ours() == []
    assert six.other.process.alive()


UNUSABLE: dict[str, Any] = {
    "missing": None,
    "of the page itself": lambda route: operated(route)["spec"],
    "of a namesake": lambda route: {"routes": [{"match": "Host(`x`)", "services": [{"name": "shop", "port": 80}]}]},
    "no JSON": lambda _route: "{",
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_without_a_usable_backup_nothing_is_taken_over(maintenance_here: Maintenance, case: str) -> None:
    maintenance = maintenance_here
    route, other = ingress(maintenance.namespace), ingress(maintenance.namespace, "other", "other.example.com")
    put(maintenance, operated(route), operated(other), backup(other))
    if case != "missing":
        broken = backup(route)
        spec = UNUSABLE[case](route)
        broken["data"]["backup"] = spec if isinstance(spec, str) else json.dumps(spec)
        maintenance.api.create(broken)
    before = [maintenance.live(one) for one in (route, other)], leftovers(maintenance)

    assert "no backup says what was there" in failed(maintenance("enabled", takeover=True))
    assert ([maintenance.live(one) for one in (route, other)], leftovers(maintenance)) == before
    assert maintenance.ours() == []


def test_with_a_key_no_backup_of_the_operator_is_taken_over(maintenance_here: Maintenance) -> None:
    """It signs none, and everybody who writes ConfigMaps there can make one: as when the page is taken away."""
    maintenance = maintenance_here
    route = ingress(maintenance.namespace)
    put(maintenance, operated(route), backup(route))
    before = maintenance.live(route)
    key = f"{maintenance.namespace}/backup-key"
    assert "which signs none" in failed(maintenance("enabled", takeover=True, backup_key_secret=key))
    assert "which signs none" in failed(maintenance("disabled", backup_key_secret=key))
    assert maintenance.live(route) == before
    assert "use strategy: swap" in failed(maintenance("enabled", takeover=True, strategy="overlay"))


def test_the_playbook_shows_what_it_would_take_over(maintenance_here: Maintenance, tmp_path: Path) -> None:
    maintenance = maintenance_here
    route = ingress(maintenance.namespace)
    put(maintenance, operated(route), backup(route))
    before = maintenance.live(route)
    play = play_named(
        "sunset.kube.maintenance",
        tmp_path,
        maintenance.user.kubeconfig,
        "--check",
        "--diff",
        state="enabled",
        namespace=maintenance.namespace,
        takeover=True,
        maintenance_operator={"backup_config_map_prefix": "maintenance-backup"},
    )
    assert play.rc == 0, play.stdout
    assert "would be changed" in play.stdout
    assert "taken over from the maintenance-operator" in play.stdout
    assert f"swept: ConfigMap {maintenance.namespace}/maintenance-backup-web" in play.stdout
    assert f'-    "{FLAG}": "true"' in play.stdout
    assert maintenance.live(route) == before


@pytest.mark.node
def test_what_was_taken_over_is_restored_from_our_backup_alone(maintenance_on_node: Maintenance) -> None:
    """Paths that stay open are open again at once; a flag that no page followed goes with the page."""
    maintenance = maintenance_on_node
    route, flagged = ingress(maintenance.namespace), ingress(maintenance.namespace, "flagged", "flagged.example.com")
    health = {"path": "/health", "pathType": "Prefix", "backend": backend_of(route)}
    route["spec"]["rules"][0]["http"]["paths"].append(health)
    put(maintenance, operated(route), with_marks(flagged, {FLAG: "true"}), backup(route))

    result = succeeded(maintenance("enabled", takeover=True, exempt_paths=["/health"]))
    assert {row["why"] for row in result["targets"]} == {"taken over from the maintenance-operator"}
    assert result["swept"] == [
        f"{kind} {maintenance.namespace}/{name}"
        for kind, name in (
            ("ConfigMap", "maintenance-backup-web"),
            ("Pod", PAGE),
            ("Service", PAGE),
            ("ConfigMap", PAGE),
        )
    ]
    paths = maintenance.live(route)["spec"]["rules"][0]["http"]["paths"]
    assert [path["backend"] == backend_of(route) for path in paths] == [False, True]
    assert succeeded(maintenance("disabled"))["changed"]
    for one in (route, flagged):
        assert shape(maintenance.live(one)) == {"spec": one["spec"], "annotations": {}, "labels": {}}
    assert maintenance.ours() == []


@pytest.mark.node
def test_a_route_that_refuses_leaves_no_other_without_a_page_or_its_flag(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    here = maintenance.namespace
    asking, refusing, shown = (ingress(here, name, f"{name}.example.com") for name in ("asking", "refuses", "web"))
    probe, flag = ingress(here, "probe", "probe.example.com"), {FLAG: "true"}
    put(maintenance, with_marks(asking, flag), with_marks(refusing, flag), operated(shown), backup(shown), probe)
    targets = [{"namespace": here, "name": one["metadata"]["name"]} for one in (asking, shown, refusing)]
    expression = "request.dryRun == true || !(request.name in ['refuses', 'probe'])"
    with admission(maintenance, expression, probe):
        assert "this one stays as it is" in failed(maintenance("enabled", targets=targets, takeover=True, parallel=1))
    for one in (asking, refusing):
        assert shape(maintenance.live(one)) == {"spec": one["spec"], "annotations": flag, "labels": {}}
    assert services_in(maintenance.live(shown)) != {"shop"}

    succeeded(maintenance("enabled", targets=targets, takeover=True))
    assert [one for one in leftovers(maintenance) if PAGE in one or "backup-web" in one] == []
    succeeded(maintenance("disabled"))
    for one in (asking, refusing, shown):
        assert shape(maintenance.live(one)) == {"spec": one["spec"], "annotations": {}, "labels": {}}
    assert maintenance.ours() == []


# -- other names -----------------------------------------------------------------------------------------------------

OTHER = {
    "MAINTENANCE_ANNOTATION": "pages.example.com/closed",
    "MAINTENANCE_ANNOTATION_VALUE": "yes",
    "BACKUP_ANNOTATION": "pages.example.com/backed-up",
    "BACKUP_CONFIGMAP_PREFIX": "saved",
}
OPTION = {
    "maintenance_annotation": OTHER["MAINTENANCE_ANNOTATION"],
    "maintenance_annotation_value": OTHER["MAINTENANCE_ANNOTATION_VALUE"],
    "backup_annotation": OTHER["BACKUP_ANNOTATION"],
    "backup_config_map_prefix": OTHER["BACKUP_CONFIGMAP_PREFIX"],
}


@pytest.fixture
def deploy(plane: ControlPlane) -> Iterator[Deploy]:
    """Its Deployment, gone when the test ends: it is looked for in all namespaces."""
    with contextlib.ExitStack() as leaving:

        def make(namespace: str, variables: dict[str, str]) -> None:
            [made] = plane.api.create(deployment(namespace, variables))
            path = plane.api.path_of(made)
            leaving.callback(lambda: until(lambda: plane.api.get(path)[0] == 404, "the end of its Deployment"))
            leaving.callback(plane.api.delete, path)

        yield make


def deployment(namespace: str, variables: dict[str, str]) -> Body:
    """As its chart writes it."""
    labels = {"app.kubernetes.io/name": "maintenance-operator", "app.kubernetes.io/instance": "m"}
    environment = [{"name": name, "value": value} for name, value in variables.items()]
    container = {"name": "operator", "image": "maintenance-operator:2.0.5", "env": environment}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "maintenance-operator", "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


@pytest.mark.parametrize("told", ["by the option", "by its Deployment"])
def test_an_operator_with_other_names_is_understood(
    maintenance_here: Maintenance, community_operator: Begin, deploy: Deploy, told: str
) -> None:
    maintenance = maintenance_here
    route = ingress(maintenance.namespace)
    other = community_operator(maintenance.namespace, environment=OTHER)
    maintenance.api.create(route)
    other.flag(route, OTHER["MAINTENANCE_ANNOTATION"], "yes")
    until(lambda: OTHER["BACKUP_ANNOTATION"] in maintenance.live(route)["metadata"]["annotations"], "its page")
    assert "configmaps/saved-web" in other.made()

    options: Body = {"maintenance_operator": OPTION} if told == "by the option" else {}
    if not options:
        deploy(maintenance.namespace, OTHER)
    source = "option" if options else f"Deployment {maintenance.namespace}/maintenance-operator"
    assert maintenance.info(**options)["maintenance_operator"] == {**OPTION, "source": source}
    assert "takeover: true" in failed(maintenance("enabled", **options))
    assert not succeeded(maintenance("swept", sweep_after=0, **options))["changed"], "it is asked to show its page"

    result = succeeded(maintenance("disabled", **options))
    assert result["maintenance_operator"] == {**OPTION, "source": source}
    assert users_shape(maintenance.live(route)) == {"spec": route["spec"], "annotations": {}, "labels": {}}
    assert other.made() == []


FORGED = {
    "an annotation of Kubernetes": {"MAINTENANCE_ANNOTATION": "nginx.ingress.kubernetes.io/auth-url"},
    "an annotation of ours": {"BACKUP_ANNOTATION": "sunset.dev/maintenance"},
    "no annotation": {"BACKUP_ANNOTATION": "no such name"},
    "somebody else's annotation": {"MAINTENANCE_ANNOTATION": "konghq.com/plugins"},
}


@pytest.mark.parametrize("case", FORGED)
def test_a_deployment_that_anybody_made_takes_no_annotation_from_other_routes(
    maintenance_here: Maintenance, deploy: Deploy, case: str
) -> None:
    """A route with the operator's own mark makes us look; only such routes are believed to be its own."""
    maintenance = maintenance_here
    values = {"nginx.ingress.kubernetes.io/auth-url": "https://x.example.com", "konghq.com/plugins": "login"}
    bait, victim = ingress(maintenance.namespace, "bait"), ingress(maintenance.namespace, "victim", "v.example.com")
    deploy(maintenance.namespace, FORGED[case])
    maintenance.api.create(with_marks(bait, {SERVICE: PAGE}), with_marks(victim, values))
    for state in ("disabled", "swept"):
        result = succeeded(maintenance(state, sweep_after=0))
        assert shape(maintenance.live(victim))["annotations"] == values
        if state == "disabled":
            forged = case != "somebody else's annotation"
            assert (result["maintenance_operator"]["source"] == "default") is forged
            assert ("the usual names are taken" in warnings_of(result)) is forged
