# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists in pages: whole, or an error."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.http_reader import TooLarge
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import (
    Listing,
    Scope,
    list_metadata,
    list_objects,
    read_object,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DOMAINS,
    NODES,
    PODS,
    Script,
    answer,
    metadata,
    named,
    page,
    record,
    refusal,
    transport_to,
)

EXPIRED = refusal(410, "Expired", "the provided continue parameter is too old")


def test_every_page_is_read_and_the_last_version_kept() -> None:
    script = Script(page(metadata("a"), metadata("b"), token="t1", version="7"), page(metadata("c"), version="8"))
    assert list_metadata(transport_to(script), Scope(PODS)) == Listing(
        Scope(PODS), [record("a"), record("b"), record("c")], "8"
    )
    assert script.summary() == ["GET /api/v1/pods?limit=2000", "GET /api/v1/pods?limit=2000&continue=t1"]


def test_only_metadata_is_asked_for_and_never_a_stale_read() -> None:
    script = Script(page())
    list_metadata(transport_to(script), Scope(PODS))
    [asked] = script.asked
    assert asked.headers["Accept"].startswith("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
    assert "resourceVersion" not in asked.query


@pytest.mark.parametrize("items", named({"null": None, "an empty list": ([],)}))
def test_an_empty_list_is_an_empty_listing(items: Any) -> None:
    script = Script(answer(200, {"metadata": {"resourceVersion": "5"}, "items": items}))
    assert list_metadata(transport_to(script), Scope(PODS)) == Listing(Scope(PODS), [], "5")


def test_kinds_without_uids_are_listed_without_them() -> None:
    script = Script(answer(200, {"metadata": {}, "items": [{"metadata": {"name": "scheduler"}}, {"metadata": None}]}))
    listing = list_metadata(transport_to(script), Scope(NODES))
    assert [(found.name, found.uid) for found in listing.records] == [("scheduler", ""), ("", "")]


def test_a_page_token_that_expired_starts_the_list_anew() -> None:
    script = Script(page(metadata("old"), token="t1"), EXPIRED, page(metadata("a"), token="t2"), page(metadata("b")))
    listing = list_metadata(transport_to(script), Scope(PODS))
    assert [found.name for found in listing.records] == ["a", "b"]


def test_a_page_that_is_too_large_is_asked_for_in_smaller_ones() -> None:
    large = TooLarge("an answer of more than 128 MiB")
    script = Script(page(metadata("a"), token="t1"), large, page(metadata("b")))
    listing = list_metadata(transport_to(script), Scope(PODS))
    assert [found.name for found in listing.records] == ["a", "b"]
    assert [asked.query["limit"] for asked in script.asked] == ["2000", "2000", "200"]


def test_an_object_that_is_too_large_by_itself_is_an_error() -> None:
    script = Script(*[TooLarge("an answer of more than 128 MiB")] * 5)
    with pytest.raises(CannotLook, match="the answer to GET /api/v1/pods: an answer of more than 128 MiB"):
        list_metadata(transport_to(script), Scope(PODS))
    assert [asked.query["limit"] for asked in script.asked] == ["2000", "200", "20", "2", "1"]


def test_a_cache_that_knows_no_pages_is_not_asked_for_ever() -> None:
    script = Script(*[page(metadata("a"), token="continue-not-supported")] * 3)
    with pytest.raises(CannotLook, match="it is a cache, not an API server"):
        list_metadata(transport_to(script), Scope(PODS))
    assert len(script.asked) == 2


def test_a_list_that_expires_again_and_again_is_an_error() -> None:
    script = Script(*[page(metadata("a"), token="t"), EXPIRED] * 5)
    with pytest.raises(CannotLook) as refused:
        list_metadata(transport_to(script), Scope(PODS, "shop"))
    assert str(refused.value) == (
        "cannot list pods in namespace shop: the list expired 5 times before its last page came. "
        "Next: try again when the API server is less busy."
    )


REFUSALS = {
    "on the first page": ([refusal(403, "Forbidden")], 403),
    "on the second page": ([page(metadata("a"), token="t"), refusal(403, "Forbidden")], 403),
    "410 on the first page": ([EXPIRED], 410),
    "500 on the second page": ([page(metadata("a"), token="t"), *[refusal(500)] * 4], 500),
}


@pytest.mark.parametrize("read", [list_metadata, list_objects], ids=["metadata", "whole objects"])
@pytest.mark.parametrize(("replies", "status"), named(REFUSALS))
def test_half_a_list_is_never_returned(replies: list[Any], status: int, read: Any) -> None:
    with pytest.raises(ApiError) as refused:
        read(transport_to(Script(*replies)), Scope(DOMAINS))
    assert (refused.value.status, refused.value.which) == (status, "domains.ingress.example.com")


TARGETS = {
    "everything": (Scope(PODS), "/api/v1/pods"),
    "a namespace": (Scope(PODS, "shop"), "/api/v1/namespaces/shop/pods"),
    "labels": (
        Scope(PODS, None, "app in (a, b),!tier"),
        "/api/v1/pods?labelSelector=app+in+%28a%2C+b%29%2C%21tier",
    ),
    "fields": (
        Scope(PODS, "shop", None, "metadata.name=a&b"),
        "/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Da%26b",
    ),
    "both": (Scope(PODS, None, "a=b", "c=d"), "/api/v1/pods?labelSelector=a%3Db&fieldSelector=c%3Dd"),
    "an empty selector": (Scope(PODS, None, ""), "/api/v1/pods"),
}


@pytest.mark.parametrize(("scope", "target"), named(TARGETS))
def test_selectors_are_encoded_into_the_query(scope: Scope, target: str) -> None:
    assert scope.target() == target


def test_a_page_token_is_encoded_into_the_query() -> None:
    script = Script(page(token="a+b/c="), page())
    list_metadata(transport_to(script), Scope(PODS, None, "app=shop"))
    assert script.asked[1].query == {"labelSelector": "app=shop", "limit": "2000", "continue": "a+b/c="}


@pytest.mark.parametrize(
    ("host", "zipped"), named({"far away": ("api.example.com", True), "on this machine": ("127.0.0.1", False)})
)
def test_lists_may_come_zipped_unless_the_server_is_on_this_machine(host: str, zipped: bool) -> None:
    script = Script(page())
    list_metadata(transport_to(script, load=lambda: Endpoint(host, 6443)), Scope(PODS))
    assert ("Accept-Encoding" in script.asked[0].headers) is zipped


def test_whole_objects_are_read_page_by_page_with_expiry() -> None:
    def whole(name: str, token: str = "") -> Any:
        return answer(200, {"metadata": {"continue": token}, "items": [{"metadata": {"name": name}, "spec": {}}]})

    script = Script(whole("old", "t1"), EXPIRED, whole("a", "t2"), whole("b"))
    found = list_objects(transport_to(script), Scope(PODS))
    assert [item["metadata"]["name"] for item in found] == ["a", "b"]
    assert {asked.headers["Accept"] for asked in script.asked} == {"application/json"}


def test_whole_objects_that_expire_again_and_again_are_an_error() -> None:
    script = Script(*[page(metadata("a"), token="t"), EXPIRED] * 5)
    with pytest.raises(CannotLook):
        list_objects(transport_to(script), Scope(PODS))


@pytest.mark.parametrize("enabled", [True, False], ids=["on", "off"])
def test_the_garbage_collector_is_left_as_it_was(enabled: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        list_metadata(transport_to(Script(page())), Scope(PODS))
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_the_server_in_memory_is_listed_whole_in_pages() -> None:
    server = FakeServer()
    server.page_size = 3
    for number in range(10):
        server.add(DOMAINS, f"d{number}")
    server.add(DOMAINS, "elsewhere", "other")
    listing = list_metadata(transport_to(server), Scope(DOMAINS, "shop"))
    assert ([found.name for found in listing.records], len(server.asked)) == ([f"d{number}" for number in range(10)], 4)


def test_a_whole_object_is_read_or_is_none() -> None:
    script = Script(answer(200, {"metadata": {"name": "web"}, "spec": {"x": 1}}), refusal(404, "NotFound"))
    transport = transport_to(script)
    found = [read_object(transport, DOMAINS, "shop", "web") for _time in range(2)]
    assert found == [{"metadata": {"name": "web"}, "spec": {"x": 1}}, None]
    assert {asked.path for asked in script.asked} == {"/apis/ingress.example.com/v1/namespaces/shop/domains/web"}


@pytest.mark.parametrize(
    ("resource", "namespace", "which"),
    named({"namespaced": (DOMAINS, "shop", "Domain shop/web"), "cluster-scoped": (NODES, "", "Node web")}),
)
def test_a_whole_object_that_may_not_be_read_is_an_error(resource: Any, namespace: str, which: str) -> None:
    with pytest.raises(ApiError) as refused:
        read_object(transport_to(Script(refusal(403, "Forbidden"))), resource, namespace, "web")
    assert (refused.value.status, refused.value.which) == (403, which)
