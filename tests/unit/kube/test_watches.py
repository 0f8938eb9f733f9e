# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Following one kind: what the listener is told, and which requests that takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.http_reader import BrokenWire, QuietStream
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Listing, Scope
from ansible_collections.sunset.kube.plugins.module_utils.kube.watches import Following
from ansible_collections.sunset.kube.plugins.module_utils.objects import Record, Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DOMAINS,
    Asked,
    FakeClock,
    Reply,
    Script,
    Stream,
    answer,
    metadata,
    named,
    page,
    refusal,
    transport_to,
)

LIST = "/apis/ingress.example.com/v1/namespaces/shop/domains"
SCOPE = Scope(DOMAINS, "shop")
CUT = ConnectionResetError("reset by peer")
NOT_FOUND = refusal(404, "NotFound")


def event(kind: str, name: str = "web", version: str = "", **more: Any) -> bytes:
    meta = metadata(name, **more) if name else {}
    return json.dumps({"type": kind, "object": {"metadata": {**meta, "resourceVersion": version}}}).encode()


def error(code: int) -> bytes:
    status = {"kind": "Status", "code": code, "message": "too old", "metadata": {}}
    return json.dumps({"type": "ERROR", "object": status}).encode()


class EndSign:
    """The follower's own sign to end. Waiting for it takes the fake clock's time."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._set = False
        self.waits: list[float] = []

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        self._set = True

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self._clock.advance(seconds)


class Followed:
    """Follows through a script, until it is over, and keeps the books of what was told and asked."""

    def __init__(
        self,
        *replies: Reply | Callable[[Asked], Reply],
        resource: Resource = DOMAINS,
        clock: FakeClock | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.told: list[str] = []
        self._script = Script(*replies)
        self._following = Following(
            transport_to(self, self.clock), Listing(Scope(resource, "shop"), resource_version="100"), self
        )
        self.end = EndSign(self.clock)
        self._following._ended = self.end  # type: ignore[assignment]
        self._following.start()
        self._following.join(60.0)
        assert not self._following._thread.is_alive(), "the follower does not end"
        assert self._script.unused == 0, f"the follower ended early, after {self.asked}"

    def connect(self, endpoint: Any) -> Any:
        connection = self._script.connect(endpoint)
        connection._handler = self._answer
        return connection

    def _answer(self, asked: Asked) -> Reply:
        if self._script.unused:
            return self._script.answer(asked)
        self._following.stop()
        return refusal(403) if "watch" not in asked.query else OSError("the script is over")

    @property
    def asked(self) -> list[str]:
        """`watch@100` for a watch from there on, `list` and other paths."""
        return [
            f"watch@{asked.query['resourceVersion']}" if "watch" in asked.query else asked.path.replace(LIST, "list")
            for asked in self._script.asked
        ]

    @property
    def requests(self) -> list[Asked]:
        return self._script.asked

    def changed(self, scope: Scope, record: Record) -> None:
        self._tell(f"changed {record.name}")

    def vanished(self, scope: Scope, record: Record) -> None:
        self._tell(f"vanished {record.name} {record.uid}")

    def listed(self, listing: Listing) -> None:
        self._tell("listed " + " ".join(record.name for record in listing.records))

    def blinded(self, scope: Scope, problem: Problem) -> None:
        self._tell(f"blinded {problem.why}")

    def _tell(self, text: str) -> None:
        if not self.end.is_set():
            self.told.append(text.strip())


def test_events_are_told_in_the_order_they_come() -> None:
    followed = Followed(
        Stream(event("ADDED", "a"), event("MODIFIED", "a"), b"", event("ADDED", "b"), event("DELETED", "a"))
    )
    assert followed.told == ["changed a", "changed a", "changed b", "vanished a uid-a"]


def test_the_watch_starts_at_the_lists_version_and_asks_for_metadata_and_bookmarks() -> None:
    [asked] = Followed(Stream()).requests
    assert (asked.path, asked.query) == (
        LIST,
        {"watch": "1", "resourceVersion": "100", "allowWatchBookmarks": "true", "timeoutSeconds": "290"},
    )
    assert asked.headers["Accept"].startswith("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")


def test_after_a_normal_end_the_watch_goes_on_from_the_newest_version_without_a_list() -> None:
    followed = Followed(
        Stream(event("MODIFIED", "a", "105"), event("BOOKMARK", "", "110")),
        Stream(event("MODIFIED", "a", "111")),
        Stream(),
    )
    assert (followed.told, followed.asked) == (["changed a", "changed a"], ["watch@100", "watch@110", "watch@111"])


def test_an_event_of_an_object_of_any_depth_is_told() -> None:
    fields = b'{"f:x":' * 200_000 + b"{}" + b"}" * 200_000
    line = event("ADDED", "a", "105").replace(b'"name"', b'"managedFields": [%s], "name"' % fields)
    assert Followed(Stream(line, event("DELETED", "a", "106"))).told == ["changed a", "vanished a uid-a"]


AGAIN = {
    "an event that says expired": Stream(event("ADDED", "a", "105"), error(410)),
    "an answer that says expired": refusal(410, "Expired"),
    "another error": Stream(event("ADDED", "a", "105"), error(500)),
    "a cut": Stream(event("ADDED", "a", "105"), CUT),
    "a line that is cut": Stream(event("ADDED", "a", "105"), BrokenWire("in the middle of a line")),
    "half an event": Stream(event("ADDED", "a", "105"), b'{"type": "ADD'),
    "bytes that are no text": Stream(event("ADDED", "a", "105"), b"\xff\xfe\xff"),
    "a list instead of an event": Stream(event("ADDED", "a", "105"), b"[]"),
    "null instead of an event": Stream(event("ADDED", "a", "105"), b"null"),
    "no connection": CUT,
    "a server that is busy": refusal(429, "TooManyRequests"),
    "a server that is down": refusal(503, "ServiceUnavailable"),
    "credentials that expired": refusal(401, "Unauthorized"),
}


@pytest.mark.parametrize("reply", named(AGAIN))
def test_a_watch_that_cannot_go_on_is_followed_by_a_list_and_a_watch_from_there(reply: Reply) -> None:
    followed = Followed(reply, page(metadata("b"), version="200"), Stream())
    assert (followed.told[-1], followed.asked) == ("listed b", ["watch@100", "list", "watch@200"])


def test_trouble_with_the_watch_is_met_with_growing_pauses() -> None:
    followed = Followed(*[CUT, page()] * 8)
    assert followed.end.waits[:8] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]


def test_a_watch_that_ends_at_once_again_and_again_is_not_asked_for_without_a_pause() -> None:
    # A load balancer that cuts streams short would otherwise get thousands of requests a second from us.
    followed = Followed(*[Stream()] * 20)
    assert sum(followed.end.waits) > 1.0


def test_a_watch_that_lasted_is_followed_by_the_next_one_at_once() -> None:
    clock = FakeClock()
    lasting = Stream(lambda on_quiet: clock.advance(1.0))
    assert Followed(*[lasting] * 10, clock=clock).end.waits == []


def test_a_watch_that_ends_at_once_again_and_again_is_still_checked_against_a_list() -> None:
    followed = Followed(*[lambda asked: Stream() if "watch" in asked.query else page(metadata("a"))] * 40)
    assert followed.told == ["listed a"] * 2


def test_an_expired_watch_is_met_without_a_pause() -> None:
    followed = Followed(refusal(410), page(version="200"), Stream(error(410)), page(version="300"), Stream())
    assert (followed.end.waits, followed.asked[-1]) == ([], "watch@300")


# -- when the list does not help either --------------------------------------------------------------------------------


def test_a_list_that_is_refused_blinds_the_listener_until_it_works_again() -> None:
    followed = Followed(
        refusal(410), refusal(403, "Forbidden", "no"), refusal(410), page(metadata("a"), version="200"), Stream()
    )
    assert followed.told == ["blinded HTTP 403 Forbidden, no", "listed a"]
    assert followed.asked == ["watch@100", "list", "watch@100", "list", "watch@200"]


def discovery(*resources: dict[str, Any]) -> list[Reply]:
    group = {"metadata": {"name": DOMAINS.group}, "versions": [{"version": "v1", "resources": list(resources)}]}
    return [answer(200, {"kind": "APIGroupDiscoveryList", "items": items}) for items in ([], [group])]


def test_a_kind_that_is_no_longer_installed_has_no_objects() -> None:
    followed = Followed(NOT_FOUND, NOT_FOUND, *discovery(), NOT_FOUND, *discovery())
    assert followed.told == ["listed", "listed"]
    assert followed.asked == ["watch@100", "list", "/api", "/apis", "list", "/api", "/apis"]


def test_a_kind_that_is_not_found_but_still_installed_proves_nothing() -> None:
    followed = Followed(NOT_FOUND, NOT_FOUND, *discovery({"resource": "domains"}), CUT)
    assert followed.told == ["blinded HTTP 404 NotFound"]


def test_a_kind_that_is_not_found_while_discovery_is_closed_proves_nothing() -> None:
    followed = Followed(refusal(410), NOT_FOUND, refusal(403, "Forbidden"), Stream())
    assert followed.told == ["blinded HTTP 403 Forbidden"]


def test_a_kind_that_is_not_found_while_its_group_is_down_proves_nothing() -> None:
    stale = {"metadata": {"name": DOMAINS.group}, "versions": [{"version": "v1", "freshness": "Stale"}]}
    groups = [answer(200, {"kind": "APIGroupDiscoveryList", "items": items}) for items in ([], [stale])]
    followed = Followed(refusal(410), NOT_FOUND, *groups, Stream())
    assert followed.told == ["blinded HTTP 404 NotFound"]


def test_a_surprise_blinds_the_listener_and_does_not_end_the_follower() -> None:
    odd = json.dumps({"type": "ADDED", "object": {"metadata": {"namespace": 5}}}).encode()
    followed = Followed(Stream(odd), Stream(event("ADDED", "a")))
    assert (followed.told[0].split()[0], followed.told[1:]) == ("blinded", ["changed a"])


OUTAGES = {
    "a cut is one": (CUT, 1),
    "silence is one": (TimeoutError(), 1),
    "a refusal is none": (refusal(429), 0),
    "a kind not found is none": (NOT_FOUND, 0),
    "an expired version is none": (refusal(410), 0),
    "long silence behind a proxy is none": (Stream(QuietStream("nothing came for a while")), 0),
}


@pytest.mark.parametrize(("reply", "outages"), named(OUTAGES))
def test_only_a_missing_answer_is_an_outage(reply: Reply, outages: int) -> None:
    # After an outage a refusal is tried again for a while; otherwise it is final.
    forbidden, listing = refusal(403, "Forbidden"), page(metadata("a"), version="200")
    followed = Followed(reply, forbidden, *[listing] * outages, Stream())
    if outages:
        assert (followed.told, followed.asked) == (["listed a"], ["watch@100", "list", "list", "watch@200"])
    else:
        assert (followed.told, followed.asked) == (
            ["blinded HTTP 403 Forbidden"],
            ["watch@100", "list", "watch@100"],
        )


# -- without a watch ---------------------------------------------------------------------------------------------------

NO_WATCH = {"forbidden": refusal(403, "Forbidden"), "not offered": refusal(405, "MethodNotAllowed")}


@pytest.mark.parametrize("reply", named(NO_WATCH))
def test_without_the_right_to_watch_lists_are_read_with_growing_pauses(reply: Reply) -> None:
    followed = Followed(reply, *[page(metadata("a"))] * 5)
    assert (followed.told, followed.asked) == (["listed a"] * 5, ["watch@100"] + ["list"] * 5)
    assert followed.end.waits[:5] == [0.5, 1.0, 2.0, 5.0, 5.0]


def test_a_kind_that_knows_no_watch_is_listed_from_the_start() -> None:
    listable = Resource("ingress.example.com", "v1", "Domain", "domains", True, verbs=frozenset({"list"}))
    assert Followed(page(), page(), resource=listable).asked == ["list", "list"]


def test_a_list_that_is_refused_while_polling_blinds_and_polling_goes_on() -> None:
    followed = Followed(refusal(403), page(metadata("a")), refusal(403, "Forbidden"), page(metadata("b")))
    assert followed.told == ["listed a", "blinded HTTP 403 Forbidden", "listed b"]


# -- the safety net ----------------------------------------------------------------------------------------------------


def quiet(clock: FakeClock, seconds: float) -> Callable[[Callable[[], None]], None]:
    """Nothing comes for so long; then the follower is asked whether to go on."""

    def pass_time(on_quiet: Callable[[], None]) -> None:
        clock.advance(seconds)
        on_quiet()

    return pass_time


def test_a_quiet_watch_is_checked_against_a_list_every_thirty_seconds_and_goes_on() -> None:
    clock = FakeClock()
    turns = [quiet(clock, 29.0), quiet(clock, 1.0), quiet(clock, 29.0), quiet(clock, 1.0)]
    watch = Stream(event("ADDED", "a", "105"), *turns, event("DELETED", "a", "106"))
    followed = Followed(watch, page(metadata("a"), version="300"), page(version="301"), Stream(), clock=clock)
    assert followed.told == ["changed a", "listed a", "listed", "vanished a uid-a"]
    assert followed.asked == ["watch@100", "list", "list", "watch@106"]


def test_a_busy_watch_is_checked_against_a_list_every_thirty_seconds_too() -> None:
    clock = FakeClock()
    waits = [lambda on_quiet: clock.advance(10.0)] * 3
    parts = [part for wait in waits for part in (wait, event("MODIFIED", "a", "105"))]
    followed = Followed(Stream(*parts), page(metadata("a"), version="300"), Stream(), clock=clock)
    assert followed.told == ["changed a", "changed a", "changed a", "listed a"]


def test_a_check_that_is_refused_blinds_and_the_watch_goes_on_from_its_own_version() -> None:
    clock = FakeClock()
    watch = Stream(event("ADDED", "a", "105"), quiet(clock, 30.0))
    followed = Followed(watch, refusal(403, "Forbidden"), Stream(event("DELETED", "a", "106")), page(), clock=clock)
    assert followed.told == ["changed a", "blinded HTTP 403 Forbidden", "vanished a uid-a", "listed"]
    assert followed.asked == ["watch@100", "list", "watch@105", "list"]


# -- stopping ----------------------------------------------------------------------------------------------------------


def test_stopping_cuts_the_watch_that_is_open() -> None:
    opened = []

    def watch(asked: Asked) -> Reply:
        opened.append(script.connections[-1])
        return Stream(event("ADDED", "a"), lambda on_quiet: following.stop(), lambda on_quiet: on_quiet())

    script = Script(watch)
    followed = Followed.__new__(Followed)  # as a listener only
    followed.told, followed.end = [], EndSign(FakeClock())
    following = Following(transport_to(script), Listing(SCOPE, resource_version="100"), followed)
    following.start()
    following.join(60.0)
    assert not following._thread.is_alive()
    [connection] = opened
    assert (connection.cut_by_somebody.is_set(), connection.closed, followed.told) == (True, 1, ["changed a"])


def test_stopping_while_the_watch_is_being_opened_tells_nothing() -> None:
    def watch(asked: Asked) -> Reply:
        following.stop()
        return Stream(event("ADDED", "a"))

    script = Script(watch)
    following = Following(transport_to(script), Listing(SCOPE, resource_version="100"), None)  # type: ignore[arg-type]
    following.start()
    following.join(60.0)
    assert (following._thread.is_alive(), [connection.closed for connection in script.connections]) == (False, [1])


def test_stopping_before_the_start_asks_nothing() -> None:
    script = Script()
    following = Following(transport_to(script), Listing(SCOPE), None)  # type: ignore[arg-type]
    following.stop()
    following.start()
    following.join(60.0)
    assert script.asked == []
