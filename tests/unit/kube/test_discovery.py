# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is served: aggregated and older forms of discovery, and five answers kept apart."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.discovery import (
    Availability,
    Catalogue,
    Finding,
    GroupVersion,
    discover,
)
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Unreachable
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DEPLOYMENTS,
    DOMAINS,
    PODS,
    Script,
    answer,
    named,
    refusal,
    transport_to,
)

POD_ENTRY = {
    "resource": "pods",
    "responseKind": {"group": "", "version": "v1", "kind": "Pod"},
    "scope": "Namespaced",
    "singularResource": "pod",
    "verbs": ["get", "list"],
    "shortNames": ["po"],
    "categories": ["all"],
    "subresources": [{"subresource": "status", "verbs": ["get"]}],
}
POD = Resource("", "v1", "Pod", "pods", True, "pod", ("po",), frozenset({"get", "list"}), ("all",))
NODE = Resource("", "v1", "Node", "nodes", False)


def group(name: str, *versions: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name} if name else {"creationTimestamp": None}, "versions": list(versions)}


def aggregated(*groups: dict[str, Any], api: str = "v2") -> Any:
    return answer(200, {"kind": "APIGroupDiscoveryList", "apiVersion": f"apidiscovery.k8s.io/{api}", "items": groups})


CORE = group(
    "", {"version": "v1", "freshness": "Current", "resources": [POD_ENTRY, {"resource": "nodes", "scope": "Cluster"}]}
)


@pytest.mark.parametrize("api", ["v2", "v2beta1"])
def test_two_aggregated_requests_tell_everything(api: str) -> None:
    script = Script(
        aggregated(CORE, api=api),
        aggregated(group("apps", {"version": "v1", "resources": []}, {"version": "v1beta1"}), api=api),
    )
    catalogue = discover(transport_to(script))
    node = Resource("", "v1", "", "nodes", False)
    assert catalogue == Catalogue(
        [GroupVersion("", "v1", (POD, node)), GroupVersion("apps", "v1"), GroupVersion("apps", "v1beta1")]
    )
    assert script.summary() == ["GET /api", "GET /apis"]


def test_the_aggregated_forms_are_asked_for_first_and_plain_json_last() -> None:
    script = Script(aggregated(), aggregated())
    discover(transport_to(script))
    asked_for = [[part.split(";")[2:3] for part in asked.headers["Accept"].split(",")] for asked in script.asked]
    assert asked_for == [[["v=v2"], ["v=v2beta1"], []]] * 2


def test_a_server_with_nothing_to_offer_is_an_empty_catalogue() -> None:
    empty = answer(200, {"kind": "APIGroupDiscoveryList", "items": None})
    assert discover(transport_to(Script(empty, empty))) == Catalogue([])


def test_an_older_server_is_asked_group_by_group_in_its_order_of_preference() -> None:
    entry = {"name": "pods", "kind": "Pod", "namespaced": True, "singularName": "pod", "verbs": ["get", "list"]}
    more = {"shortNames": ["po"], "categories": ["all"]}
    script = Script(
        answer(200, {"kind": "APIVersions", "versions": ["v1"]}),
        answer(
            200,
            {
                "resources": [
                    {**entry, **more},
                    {"name": "pods/status", "kind": "Pod"},
                    {"name": "nodes", "kind": "Node"},
                ]
            },
        ),
        answer(
            200,
            {
                "kind": "APIGroupList",
                "groups": [
                    {
                        "name": "apps",
                        "versions": [{"version": "v1beta1"}, {"version": "v1"}],
                        "preferredVersion": {"version": "v1"},
                    }
                ],
            },
        ),
        answer(200, {"resources": None}),
        answer(200, {"resources": []}),
    )
    assert discover(transport_to(script)) == Catalogue(
        [GroupVersion("", "v1", (POD, NODE)), GroupVersion("apps", "v1"), GroupVersion("apps", "v1beta1")]
    )
    assert script.summary() == ["GET /api", "GET /api/v1", "GET /apis", "GET /apis/apps/v1", "GET /apis/apps/v1beta1"]


OLD_GROUPS = {
    "forbidden": (refusal(403, "Forbidden", "no"), [GroupVersion("m.io", "v1", (), "HTTP 403 Forbidden, no", True)]),
    "gone between two requests": (refusal(404, "NotFound"), []),
}


@pytest.mark.parametrize(("reply", "versions"), named(OLD_GROUPS))
def test_a_group_of_an_older_server_that_cannot_be_read_is_a_blind_spot(
    reply: Any, versions: list[GroupVersion]
) -> None:
    groups = answer(200, {"kind": "APIGroupList", "groups": [{"name": "m.io", "versions": [{"version": "v1"}]}]})
    script = Script(aggregated(), groups, reply)
    assert discover(transport_to(script)).versions == versions


def test_a_group_of_an_older_server_whose_server_is_down_is_a_blind_spot() -> None:
    groups = answer(200, {"kind": "APIGroupList", "groups": [{"name": "m.io", "versions": [{"version": "v1"}]}]})
    script = Script(aggregated(), groups, *[refusal(503, "ServiceUnavailable", "down")] * 6)
    assert discover(transport_to(script)).versions == [
        GroupVersion("m.io", "v1", (), "HTTP 503 ServiceUnavailable, down", False)
    ]


STALE = "the server behind it does not answer (stale discovery; see kubectl get apiservices)"


def test_a_stale_group_is_a_blind_spot_but_what_it_shows_still_counts() -> None:
    stale = group(
        "metrics.k8s.io", {"version": "v1", "freshness": "Stale"}, {"version": "v1beta1", "resources": [POD_ENTRY]}
    )
    catalogue = discover(transport_to(Script(aggregated(), aggregated(stale))))
    assert [(version.name, len(version.resources), version.blind) for version in catalogue.versions] == [
        ("metrics.k8s.io/v1", 0, STALE),
        ("metrics.k8s.io/v1beta1", 1, ""),
    ]


NOT_SEEN = {
    "forbidden": (
        refusal(403, "Forbidden", "no"),
        "cannot see what the API server serves (GET /api): HTTP 403 Forbidden, no. "
        "Next: ask for the ClusterRole system:discovery.",
    ),
    "not found": (
        refusal(404, "NotFound", "404 page not found"),
        "no Kubernetes API answers there http://api.example.com:6443: HTTP 404 at /api. "
        "Next: check host and proxy: something else answers at this address.",
    ),
}


@pytest.mark.parametrize(("reply", "sentence"), named(NOT_SEEN))
def test_discovery_that_is_refused_is_never_an_empty_catalogue(reply: Any, sentence: str) -> None:
    with pytest.raises((CannotLook, Unreachable)) as refused:
        discover(transport_to(Script(reply)))
    assert str(refused.value) == sentence


# -- five answers ------------------------------------------------------------------------------------------------------

V1 = Resource("example.com", "v1", "Domain", "domains", True)
V2 = Resource("example.com", "v2", "Domain", "domains", True)
DOMAIN = "domains"
FIVE: dict[str, tuple[list[GroupVersion], str | None, Finding]] = {
    "served": ([GroupVersion("example.com", "v1", (V1,))], None, Finding(Availability.SERVED, V1)),
    "served in the version asked for": (
        [GroupVersion("example.com", "v2", (V2,)), GroupVersion("example.com", "v1", (V1,))],
        "v1",
        Finding(Availability.SERVED, V1),
    ),
    "served in the preferred version": (
        [GroupVersion("example.com", "v2", (V2,)), GroupVersion("example.com", "v1", (V1,))],
        None,
        Finding(Availability.SERVED, V2),
    ),
    "not installed": (
        [GroupVersion("", "v1", (PODS,))],
        None,
        Finding(Availability.NOT_INSTALLED, why="the server has no such kind in group example.com"),
    ),
    "not installed in a group that is": (
        [GroupVersion("example.com", "v1", ())],
        None,
        Finding(Availability.NOT_INSTALLED, why="the server has no such kind in group example.com"),
    ),
    "version not served": (
        [GroupVersion("example.com", "v2", (V2,)), GroupVersion("example.com", "v1", (V1,))],
        "v3",
        Finding(Availability.VERSION_NOT_SERVED, V2, "the server offers example.com/v2, example.com/v1"),
    ),
    "group unavailable": (
        [GroupVersion("example.com", "v1", blind="stale")],
        None,
        Finding(Availability.UNAVAILABLE, why="example.com/v1: stale"),
    ),
    "version in the part that cannot be seen": (
        [GroupVersion("example.com", "v1", (V1,)), GroupVersion("example.com", "v2", blind="stale")],
        "v2",
        Finding(Availability.UNAVAILABLE, why="example.com/v2: stale"),
    ),
    "served although another version cannot be seen": (
        [GroupVersion("example.com", "v1", (V1,)), GroupVersion("example.com", "v2", blind="stale")],
        None,
        Finding(Availability.SERVED, V1),
    ),
    "forbidden": (
        [GroupVersion("example.com", "v1", blind="HTTP 403", forbidden=True)],
        None,
        Finding(Availability.FORBIDDEN, why="example.com/v1: HTTP 403"),
    ),
    "another group that cannot be seen does not matter": (
        [GroupVersion("metrics.k8s.io", "v1", blind="stale"), GroupVersion("example.com", "v1", (V1,))],
        "v1",
        Finding(Availability.SERVED, V1),
    ),
}


@pytest.mark.parametrize(("versions", "version", "finding"), named(FIVE))
def test_five_answers_are_kept_apart(versions: list[GroupVersion], version: str | None, finding: Finding) -> None:
    assert Catalogue(versions).find("example.com", lambda resource: resource.plural == DOMAIN, version) == finding


def test_every_kind_comes_once_and_in_its_preferred_version() -> None:
    catalogue = Catalogue(
        [
            GroupVersion("example.com", "v2", (V2,)),
            GroupVersion("", "v1", (PODS,)),
            GroupVersion("example.com", "v1", (V1,)),
        ]
    )
    assert list(catalogue.resources()) == [V2, PODS]


def test_blind_spots_are_told_for_one_group_or_for_all() -> None:
    one, other = GroupVersion("a.io", "v1", blind="x"), GroupVersion("b.io", "v1", blind="y")
    catalogue = Catalogue([one, GroupVersion("", "v1", (PODS,)), other])
    assert [catalogue.blind_spots(), catalogue.blind_spots("b.io"), catalogue.blind_spots("")] == [
        [one, other],
        [other],
        [],
    ]


def test_the_server_in_memory_is_discovered_as_it_is() -> None:
    catalogue = discover(transport_to(FakeServer(PODS, DEPLOYMENTS, DOMAINS)))
    assert list(catalogue.resources()) == [PODS, DEPLOYMENTS, DOMAINS]
