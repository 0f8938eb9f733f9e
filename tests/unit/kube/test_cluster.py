# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server as the other rooms use it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.kube.discovery import Availability
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Listing, Scope
from ansible_collections.sunset.kube.plugins.module_utils.kube.writes import Effect
from ansible_collections.sunset.kube.plugins.module_utils.objects import Record, Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Interrupted, Problem, Refused
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DOMAINS,
    NAMESPACES,
    NODES,
    PODS,
    FakeClock,
    Script,
    answer,
    cluster_on,
    named,
    record,
    refusal,
)

EVERYWHERE = "/apis/ingress.example.com/v1/domains"
SHOP = "/apis/ingress.example.com/v1/namespaces/shop/domains"
FORBIDDEN = refusal(403, "Forbidden", "no")
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
YES, NO = ({"status": {"allowed": allowed}} for allowed in (True, False))


def test_a_cluster_is_known_by_its_own_uid_and_asked_once() -> None:
    server = FakeServer()
    uid = server.add(NAMESPACES, "kube-system", "")["metadata"]["uid"]
    cluster = cluster_on(server)
    assert cluster.identity() == cluster.identity() == f"kube-system {uid}"
    assert [asked.path for asked in server.asked] == ["/api/v1/namespaces/kube-system"]


@pytest.mark.parametrize("reply", [FORBIDDEN, refusal(404, "NotFound", "gone")])
def test_where_that_cannot_be_read_the_address_has_to_do(reply: Any) -> None:
    server = FakeServer()
    server.refuse("GET", "/api/v1/namespaces/kube-system", reply)
    cluster = cluster_on(server)
    assert cluster.identity() == cluster.endpoint.url


def test_a_server_that_cannot_answer_now_is_no_other_cluster() -> None:
    server = FakeServer()
    server.refuse("GET", "/api/v1/namespaces/kube-system", refusal(500, "InternalError", "etcd"))
    with pytest.raises(Problem):
        cluster_on(server).identity()


def test_the_catalogue_is_read_once_until_it_is_forgotten() -> None:
    server = FakeServer()
    cluster = cluster_on(server)
    for _time in range(3):
        assert cluster.resolve("dom") == (DOMAINS, "")
    assert len(server.asked) == 2
    cluster.forget_catalogue()
    cluster.resolve("dom")
    assert len(server.asked) == 4


PIPELINES, RUNS = (
    Resource("tekton.dev", "v1", kind, kind.lower() + "s", True, verbs=frozenset({"list"}))
    for kind in ("Pipeline", "PipelineRun")
)


def test_whether_a_kind_is_installed_is_asked_anew_each_time() -> None:
    server = FakeServer(PIPELINES)
    cluster = cluster_on(server)
    assert cluster.is_installed(PIPELINES)
    server.served[:] = [PODS]
    assert not cluster.is_installed(PIPELINES)


def test_a_kind_that_went_is_not_installed_even_where_a_similar_one_is_left() -> None:
    assert not cluster_on(FakeServer(RUNS)).is_installed(PIPELINES)


def test_whether_a_kind_is_installed_is_unknown_while_its_group_cannot_be_seen() -> None:
    stale = {"metadata": {"name": "tekton.dev"}, "versions": [{"version": "v1", "freshness": "Stale"}]}
    groups = [answer(200, {"kind": "APIGroupDiscoveryList", "items": items}) for items in ([], [stale])]
    with pytest.raises(CannotLook):
        cluster_on(Script(*groups)).is_installed(PIPELINES)


def test_the_deletable_kinds_are_those_that_can_be_listed_and_deleted() -> None:
    fixed = Resource("", "v1", "Binding", "bindings", True, verbs=frozenset({"create"}))
    assert cluster_on(FakeServer(fixed, PODS, DOMAINS)).deletable_kinds() == [PODS, DOMAINS]


def test_the_deletable_kinds_are_unknown_while_a_group_cannot_be_seen() -> None:
    stale = {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1", "freshness": "Stale"}]}
    groups = [answer(200, {"kind": "APIGroupDiscoveryList", "items": items}) for items in ([], [stale])]
    with pytest.raises(CannotLook, match=r"cannot see every kind: metrics.k8s.io/v1: the server behind it"):
        cluster_on(Script(*groups)).deletable_kinds()


def test_whole_objects_are_read_one_by_one_or_by_labels() -> None:
    server = FakeServer()
    web = server.add(DOMAINS, "web", labels={"app": "shop"}, spec={"host": "x"})
    server.add(DOMAINS, "api")
    cluster = cluster_on(server)
    assert cluster.read_whole(DOMAINS, "shop", "web") == web
    assert cluster.read_whole(DOMAINS, "shop", "gone") is None
    assert cluster.list_whole(DOMAINS, "shop", "app=shop") == [{key: web[key] for key in ("metadata", "spec")}]


def two_namespaces() -> FakeServer:
    server = FakeServer()
    for namespace in ("shop", "bank"):
        server.add(NAMESPACES, namespace)
        server.add(DOMAINS, f"web-{namespace}", namespace)
    return server


def names(listings: list[Listing]) -> list[str]:
    return [record.place for listing in listings for record in listing.records]


def test_one_list_is_enough_where_the_whole_cluster_may_be_listed() -> None:
    server = two_namespaces()
    assert names(cluster_on(server).list_everywhere(DOMAINS)) == ["bank/web-bank", "shop/web-shop"]
    assert len(server.asked) == 1


def test_where_only_namespaces_may_be_listed_each_one_is() -> None:
    server = two_namespaces()
    server.refuse("GET", EVERYWHERE, FORBIDDEN)
    assert names(cluster_on(server).list_everywhere(DOMAINS)) == ["bank/web-bank", "shop/web-shop"]


def test_a_namespace_that_stays_closed_is_named_and_nothing_returned() -> None:
    server = two_namespaces()
    server.refuse("GET", EVERYWHERE, FORBIDDEN)
    server.refuse("GET", SHOP, FORBIDDEN)
    with pytest.raises(ApiError) as refused:
        cluster_on(server).list_everywhere(DOMAINS)
    assert refused.value.which == "domains.ingress.example.com in namespace shop"


def test_where_namespaces_may_not_be_listed_either_the_first_refusal_is_told() -> None:
    server = two_namespaces()
    server.refuse("GET", EVERYWHERE, FORBIDDEN)
    server.refuse("GET", "/api/v1/namespaces", FORBIDDEN)
    with pytest.raises(ApiError) as refused:
        cluster_on(server).list_everywhere(DOMAINS)
    assert refused.value.which == "domains.ingress.example.com"


@pytest.mark.parametrize(
    ("resource", "reply"),
    [(NODES, FORBIDDEN), (DOMAINS, refusal(404, "NotFound"))],
    ids=["cluster-scoped", "not found"],
)
def test_other_refusals_are_not_worked_around(resource: Any, reply: Any) -> None:
    with pytest.raises(ApiError):
        cluster_on(Script(reply)).list_everywhere(resource)


# -- rights ------------------------------------------------------------------------------------------------------------


def reviews(*answers: Any) -> Script:
    return Script(*(answer(201, body) for body in answers))


def test_a_right_everywhere_is_asked_for_once() -> None:
    script = reviews(YES)
    cluster_on(script).require("patch", DOMAINS, ["shop", "bank"])
    assert len(script.asked) == 1


def test_a_right_in_each_namespace_is_enough() -> None:
    script = reviews(NO, YES, YES)
    cluster_on(script).require("patch", DOMAINS, ["shop", "bank"])
    asked = [asked.json()["spec"]["resourceAttributes"]["namespace"] for asked in script.asked]
    assert asked == ["", "shop", "bank"]


def test_a_missing_right_is_refused_before_anything_is_written() -> None:
    with pytest.raises(Refused) as refused:
        cluster_on(reviews(NO, YES, NO)).require("patch", DOMAINS, ["shop", "bank"])
    assert str(refused.value) == (
        "not allowed to patch domains.ingress.example.com in namespace bank: "
        "the API server says no to this user at http://api.example.com:6443. "
        "Next: ask for these rights, or run as a user who has them; nothing was changed."
    )


def test_a_missing_right_to_a_cluster_scoped_kind_is_refused() -> None:
    with pytest.raises(Refused, match="not allowed to patch nodes: "):
        cluster_on(reviews(NO)).require("patch", NODES, [""])


def test_many_missing_rights_are_shortened() -> None:
    with pytest.raises(Refused, match=r"in namespace n4 and 2 more: "):
        cluster_on(reviews(*[NO] * 8)).require("patch", PODS, [f"n{number}" for number in range(7)])


# -- following ---------------------------------------------------------------------------------------------------------


class Seen:
    """A listener that ends its test's wait with the first thing it sees."""

    def __init__(self) -> None:
        self.vanished_uids: list[str] = []

    def changed(self, scope: Scope, record: Record) -> None: ...
    def listed(self, listing: Listing) -> None: ...
    def blinded(self, scope: Scope, problem: Problem) -> None: ...

    def vanished(self, scope: Scope, record: Record) -> None:
        self.vanished_uids.append(record.uid)


def watches(server: FakeServer) -> list[str]:
    return sorted(
        asked.path + str(asked.query.get("labelSelector", "")) for asked in server.asked if "watch" in asked.query
    )


def test_each_scope_is_followed_once_and_without_its_selector() -> None:
    # With a selector, an object whose labels change would look exactly like a deleted one.
    server = two_namespaces()
    cluster = cluster_on(server)
    listings = [
        cluster.list(DOMAINS, "shop", "app=shop"),
        cluster.list(DOMAINS, "shop"),
        cluster.list(DOMAINS, "bank"),
        cluster.list(NODES),
    ]
    wanted = {"/api/v1/nodes", SHOP, SHOP.replace("shop", "bank")}
    with cluster.following(listings, Seen()), server._moved:
        assert server._moved.wait_for(lambda: set(watches(server)) == wanted, 10)
    assert watches(server) == sorted(wanted)


def test_the_followers_end_with_the_block() -> None:
    server = two_namespaces()
    cluster = cluster_on(server)
    before = threading.active_count()
    with cluster.following([cluster.list(DOMAINS)], Seen()):
        pass
    assert threading.active_count() == before


# -- the rest ----------------------------------------------------------------------------------------------------------


def test_requests_are_told_by_verb_with_all_verbs_and_the_throttled_seconds() -> None:
    clock = FakeClock()
    cluster = cluster_on(Script(answer(429, retry_after="2"), answer(200, {"items": []})), clock)
    cluster.list(PODS)
    assert cluster.requests() == {
        "list": 2,
        "watch": 0,
        "get": 0,
        "delete": 0,
        "patch": 0,
        "post": 0,
        "put": 0,
        "throttled_seconds": 2.0,
    }


def test_a_deadline_limits_every_request() -> None:
    clock = FakeClock()
    cluster = cluster_on(Script(refusal(503, "ServiceUnavailable")), clock)
    cluster.limit_to(Deadline(clock, 0.05))
    with pytest.raises(ApiError):
        cluster.list(PODS)
    assert clock.slept == []


def test_patches_are_written_as_they_are_meant() -> None:
    server = FakeServer()
    web = server.add(DOMAINS, "web", spec={"replicas": 3})
    cluster = cluster_on(server)
    found = cluster.read(DOMAINS, "shop", "web")
    assert found is not None
    operations = [{"op": "replace", "path": "/spec/replicas", "value": 0}]
    effects = [cluster.json_patch(DOMAINS, found, operations, dry_run=True).effect]
    assert web["spec"] == {"replicas": 3}
    effects.append(cluster.json_patch(DOMAINS, found, operations).effect)
    stored = server.get(DOMAINS, "web")
    assert (effects, stored and stored["spec"]) == ([Effect.DONE, Effect.DONE], {"replicas": 0})


def test_creating_and_patching_may_be_tried_first() -> None:
    script = Script(*[answer(200, {"metadata": {}})] * 4)
    cluster = cluster_on(script)
    for dry_run in (True, False):
        cluster.merge_patch(DOMAINS, record("web"), {"spec": {}}, dry_run=dry_run)
        cluster.create(DOMAINS, "shop", {"metadata": {"name": "new"}}, dry_run=dry_run)
    asked = [(one.method, one.path, one.query) for one in script.asked]
    assert asked == [
        ("PATCH", f"{SHOP}/web", {"dryRun": "All"}),
        ("POST", SHOP, {"dryRun": "All"}),
        ("PATCH", f"{SHOP}/web", {"fieldManager": "sunset.kube"}),
        ("POST", SHOP, {"fieldManager": "sunset.kube"}),
    ]


OLD_DOMAINS = Resource("ingress.example.com", "v1alpha1", "Domain", "domains", True, verbs=frozenset({"list"}))
KINDS: dict[str, tuple[list[Resource], str, str, Availability, Resource | None]] = {
    "served": ([DOMAINS, PODS], "ingress.example.com", "Domain", Availability.SERVED, DOMAINS),
    "in an older version only": ([OLD_DOMAINS], "ingress.example.com", "Domain", Availability.SERVED, OLD_DOMAINS),
    "in the preferred version": ([DOMAINS, OLD_DOMAINS], "ingress.example.com", "Domain", Availability.SERVED, DOMAINS),
    "in another group": ([DOMAINS], "other.example.com", "Domain", Availability.NOT_INSTALLED, None),
    "by its kind, not by its plural": ([DOMAINS], "ingress.example.com", "domains", Availability.NOT_INSTALLED, None),
    "in the core group": ([PODS], "", "Pod", Availability.SERVED, PODS),
}


@pytest.mark.parametrize(("served", "group", "kind", "availability", "resource"), named(KINDS))
def test_a_kind_is_found_by_group_and_kind_in_whatever_version(
    served: list[Resource], group: str, kind: str, availability: Availability, resource: Resource | None
) -> None:
    found = cluster_on(FakeServer(*served)).find_kind(group, kind)
    place = resource and (resource.group, resource.version, resource.plural)
    assert (found.availability, found.resource and (group, found.resource.version, found.resource.plural)) == (
        availability,
        place,
    )


def test_what_must_not_be_left_behind_is_written_although_somebody_wishes_to_stop() -> None:
    stop = StopSign()
    server = FakeServer()
    server.add(DOMAINS, "web")
    cluster = cluster_on(server, None, stop)
    stop.set("received SIGTERM")
    with cluster.cleaning_up():
        assert cluster.delete(DOMAINS, record("web")).gone
    with pytest.raises(Interrupted):
        cluster.delete(DOMAINS, record("web"))


def test_what_reports_on_a_run_still_writes_after_the_stop() -> None:
    server, stop = FakeServer(), StopSign()
    server.add(DOMAINS, "web")
    cluster = cluster_on(server, None, stop)
    cluster.outlive_the_run(50.0)
    stop.set("received SIGTERM")
    assert cluster.delete(DOMAINS, record("web")).gone


def test_an_error_while_cleaning_up_ends_the_exception_to_the_rule() -> None:
    stop = StopSign()
    cluster = cluster_on(FakeServer(), None, stop)
    stop.set("received SIGTERM")
    with pytest.raises(KeyError), cluster.cleaning_up():
        raise KeyError
    with pytest.raises(Interrupted):
        cluster.delete(DOMAINS, record("web"))


def test_merge_patches_and_namespaces_go_out_with_their_uid() -> None:
    script = Script(answer(200, {"metadata": {}}), answer(200, {"metadata": {}}))
    cluster = cluster_on(script)
    effects = [
        cluster.merge_patch(DOMAINS, record("web"), {"spec": {}}).effect,
        cluster.finalize_namespace(record("shop", "")).effect,
    ]
    uids = [asked.json()["metadata"]["uid"] for asked in script.asked]
    assert (effects, uids) == ([Effect.DONE, Effect.DONE], ["uid-web", "uid-shop"])


def test_definitions_are_listed_whole() -> None:
    script = Script(answer(200, {"items": [{"metadata": {"name": "domains.ingress.example.com"}, "spec": {"x": 1}}]}))
    found = cluster_on(script).definitions()
    assert found == [{"metadata": {"name": "domains.ingress.example.com"}, "spec": {"x": 1}}]
    assert script.asked[0].path == "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def test_closing_ends_workers_and_connections() -> None:
    server = FakeServer()
    cluster = cluster_on(server)
    cluster.for_each(range(3), lambda item: cluster.list(PODS))
    threads, connections = list(cluster._workers._threads), list(cluster._transport._open)
    cluster.close()
    assert [thread.is_alive() for thread in threads] == [False] * 3
    assert all(connection.closed for connection in connections)  # type: ignore[attr-defined]
