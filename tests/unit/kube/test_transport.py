# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retries, credentials, the brake, counters and server time, over connections that answer from a script."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import ssl
import threading
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.kube import transport as transport_module
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.http_reader import BrokenWire, SilentClose
from ansible_collections.sunset.kube.plugins.module_utils.kube.proxied import ProxiedWire
from ansible_collections.sunset.kube.plugins.module_utils.kube.transport import (
    Request,
    Transport,
    unreachable,
)
from ansible_collections.sunset.kube.plugins.module_utils.kube.wire import NotSent, Wire
from ansible_collections.sunset.kube.plugins.module_utils.problems import (
    BadOption,
    CannotLook,
    Interrupted,
    NotLoggedIn,
    Problem,
    Unreachable,
)
from ansible_collections.sunset.kube.tests.unit.fakes import (
    ENDPOINT,
    SERVER_DATE,
    SERVER_NOW,
    FakeClock,
    Script,
    Stream,
    answer,
    named,
    refusal,
    transport_to,
    zipped,
)

LIST = Request("GET", "/api/v1/pods", "list")
PATCH = Request("PATCH", "/api/v1/namespaces/shop/pods/web", "patch", b"[]", "application/json-patch+json")
RESET = ConnectionResetError("reset by peer")


def sent(script: Script, request: Request = LIST, **settings: Any) -> tuple[int | type[Problem], list[float]]:
    """The final status, or the problem's type, and the pauses before it."""
    clock = settings.pop("clock", None) or FakeClock()
    transport = transport_to(script, clock, **settings)
    try:
        outcome: int | type[Problem] = transport.send(request).status
    except Problem as problem:
        outcome = type(problem)
    return outcome, clock.slept


OK = answer(200, {})
RETRIES: dict[str, tuple[list[Any], int | type[Problem], list[float]]] = {
    "success at once": ([OK], 200, []),
    "429 with Retry-After": ([answer(429, retry_after="2"), OK], 200, [2.0]),
    "429 without": ([answer(429), answer(429), OK], 200, [0.1, 0.2]),
    "503 with Retry-After": ([answer(503, retry_after="1"), OK], 200, [1.0]),
    "429 for longer than we wait at all": ([answer(429, retry_after="86400")], 429, []),
    "408, on a new connection": ([answer(408), OK], 200, [0.1]),
    "408 is bounded": ([answer(408)] * 4, 408, [0.1, 0.2, 0.4]),
    "500 is bounded": ([answer(500)] * 4, 500, [0.1, 0.2, 0.4]),
    "502 is bounded": ([answer(502)] * 6, 502, [0.1, 0.2, 0.4, 0.8, 1.6]),
    "503 is bounded": ([answer(503)] * 6, 503, [0.1, 0.2, 0.4, 0.8, 1.6]),
    "504 is bounded": ([answer(504)] * 3, 504, [0.1, 0.2]),
    "403 is final": ([answer(403)], 403, []),
    "404 is final": ([answer(404)], 404, []),
    "409 is final": ([answer(409)], 409, []),
    "422 is final": ([answer(422)], 422, []),
    "a first contact that fails": ([RESET] * 3, Unreachable, [0.1, 0.2]),
    "a first contact that works at last": ([RESET, RESET, OK], 200, [0.1, 0.2]),
    "403 after an outage": ([RESET, answer(403), answer(403), OK], 200, [0.1, 0.2, 0.4]),
    "401 after an outage": ([RESET, answer(401), answer(401), answer(401), OK], 200, [0.1, 0.4, 0.8]),
    "404 after an outage is final": ([RESET, answer(404)], 404, [0.1]),
}


@pytest.mark.parametrize(("replies", "outcome", "pauses"), named(RETRIES))
def test_what_is_tried_again_and_after_which_pauses(
    replies: list[Any], outcome: int | type[Problem], pauses: list[float]
) -> None:
    script = Script(*replies)
    assert (*sent(script), script.unused) == (outcome, pytest.approx(pauses), 0)


def test_a_server_that_answered_before_is_waited_for_up_to_a_minute() -> None:
    clock = FakeClock()
    script = Script(OK, *[RESET] * 40)
    transport = transport_to(script, clock)
    transport.send(LIST)
    began = clock.now()
    with pytest.raises(Unreachable):
        transport.send(LIST)
    assert 60.0 <= clock.now() - began < 66.0


def test_a_refusal_long_after_an_outage_is_final() -> None:
    clock = FakeClock()
    script = Script(RESET, OK, answer(403))
    transport = transport_to(script, clock)
    transport.send(LIST)
    clock.advance(15.0)
    assert transport.send(LIST).status == 403


def test_an_endless_refusal_after_an_outage_ends_with_its_echo() -> None:
    clock = FakeClock()
    script = Script(RESET, *[answer(403)] * 40)
    began = clock.now()
    assert transport_to(script, clock).send(LIST).status == 403
    assert 15.0 <= clock.now() - began <= 21.0


def test_every_lost_answer_is_asked_for_again() -> None:
    for trouble in (
        RESET,
        TimeoutError(),
        BrokenWire("cut"),
        ssl.SSLError(),
        ConnectionRefusedError(),
        BrokenPipeError(),
    ):
        script = Script(OK, trouble, OK)
        transport = transport_to(script)
        transport.send(LIST)
        assert transport.send(PATCH).status == 200
        assert [asked.method for asked in script.asked] == ["GET", "PATCH", "PATCH"]


def test_a_host_name_that_cannot_be_encoded_is_unreachable_and_no_traceback() -> None:
    trouble = UnicodeError("encoding with 'idna' codec failed (UnicodeError: label empty or too long)")
    outcome, _pauses = sent(Script(*[trouble] * 3))
    assert outcome is Unreachable


LOST: dict[str, tuple[Request, list[Any], bool]] = {
    "a write heard at once": (PATCH, [OK], False),
    "a write whose answer was lost": (PATCH, [RESET, answer(404)], True),
    "a write whose answer was cut": (PATCH, [BrokenWire("cut"), OK], True),
    "a write a gateway gave up on": (PATCH, [answer(504), answer(404)], True),
    "a write a bad gateway lost": (PATCH, [answer(502), answer(404)], True),
    "a write the server stumbled over": (PATCH, [answer(500), answer(404)], True),
    "a write on an idle connection that ended": (PATCH, [SilentClose("closed"), answer(404)], True),
    "a write that was throttled": (PATCH, [answer(429), answer(404)], False),
    "a write the server did not take": (PATCH, [answer(408), answer(404)], False),
    "a write that found nothing listening": (PATCH, [ConnectionRefusedError(), answer(404)], False),
    "a write whose connection did not come about in time": (PATCH, [NotSent(), answer(404)], False),
    "a write refused before it was looked at": (PATCH, [answer(401), answer(404)], False),
    "a read whose answer was lost": (LIST, [RESET, answer(404)], False),
}


@pytest.mark.parametrize(("request_sent", "replies", "unheard"), named(LOST))
def test_an_answer_says_whether_an_earlier_try_may_have_been_carried_out(
    request_sent: Request, replies: list[Any], unheard: bool
) -> None:
    transport = transport_to(Script(OK, *replies))
    transport.send(LIST)  # so that the connection stands idle
    assert transport.send(request_sent).unheard is unheard


# -- idle connections --------------------------------------------------------------------------------------------------


def test_an_idle_connection_that_ended_silently_is_tried_again_at_once_and_is_no_outage() -> None:
    clock = FakeClock()
    script = Script(OK, SilentClose("closed"), OK, answer(403))
    transport = transport_to(script, clock)
    statuses = [transport.send(LIST).status for _request in range(3)]
    assert (statuses, clock.slept) == ([200, 200, 403], [])


def test_a_new_connection_that_ends_silently_is_an_outage() -> None:
    clock = FakeClock()
    script = Script(SilentClose("closed"), answer(403), OK)
    assert (transport_to(script, clock).send(LIST).status, clock.slept) == (200, pytest.approx([0.1, 0.2]))


def test_an_idle_connection_that_ends_twice_is_an_outage() -> None:
    clock = FakeClock()
    script = Script(OK, SilentClose("closed"), SilentClose("closed"), OK)
    transport = transport_to(script, clock)
    transport.send(LIST)
    assert (transport.send(LIST).status, clock.slept) == (200, [0.1])


# -- credentials -------------------------------------------------------------------------------------------------------


class Credentials:
    """Loads an endpoint, each time with a new token, and counts."""

    def __init__(self, *problems: Problem) -> None:
        self.loads = 0
        self._problems = list(problems)

    def __call__(self) -> Endpoint:
        self.loads += 1
        if self.loads > 1 and self._problems:
            raise self._problems.pop(0)
        return Endpoint("api.example.com", 6443, headers=(("Authorization", f"Bearer t{self.loads}"),))


def test_a_401_loads_the_credentials_once_more_and_goes_on_with_new_ones() -> None:
    credentials, script = Credentials(), Script(answer(401), OK, OK)
    transport = transport_to(script, load=credentials)
    statuses = [transport.send(LIST).status for _request in range(2)]
    tokens = [connection.endpoint.headers for connection in script.connections]
    assert (statuses, credentials.loads) == ([200, 200], 2)
    assert tokens == [(("Authorization", "Bearer t1"),), (("Authorization", "Bearer t2"),)]
    assert script.connections[0].closed == 1


def test_a_lasting_401_is_not_logged_in() -> None:
    credentials, script = Credentials(), Script(answer(401), answer(401))
    with pytest.raises(NotLoggedIn) as refused:
        transport_to(script, load=credentials).send(LIST)
    assert credentials.loads == 2
    assert str(refused.value) == (
        "not logged in at http://api.example.com:6443: the API server does not accept these credentials (401); "
        "they may have expired. Next: log in again or renew the token or certificate, then run the task again."
    )


def test_credentials_that_cannot_be_loaded_again_say_why() -> None:
    with pytest.raises(BadOption, match="the file is gone"):
        transport_to(Script(answer(401)), load=Credentials(BadOption("the file is gone"))).send(LIST)


def test_threads_refused_with_the_same_credentials_load_them_once_for_all() -> None:
    refused_together = threading.Barrier(8, timeout=10)

    def answer_by_token(endpoint: Endpoint) -> Any:
        def handle(asked: Any) -> Any:
            if endpoint.headers[0][1] == "Bearer t1":
                refused_together.wait()
                return answer(401)
            return OK

        return Script(*[handle] * 4).connect(endpoint)

    credentials = Credentials()
    transport = transport_to(Script(), load=credentials, parallel=8, connect=answer_by_token)
    statuses = in_threads(8, lambda: transport.send(LIST).status)
    assert (statuses, credentials.loads, transport.requests["list"]) == ([200] * 8, 2, 16)


def test_a_thread_never_takes_old_credentials_for_the_newest() -> None:
    """The credentials are renewed while a connection is being made: what it was made with is what it counts as."""
    credentials = Credentials()
    tokens: list[str] = []

    def connect(endpoint: Endpoint) -> Any:
        tokens.append(endpoint.headers[0][1])
        if len(tokens) == 1:
            transport._renew(0)  # as another thread would, at this very moment
        return Script(answer(401) if len(tokens) == 1 else OK).connect(endpoint)

    transport = transport_to(Script(), load=credentials, connect=connect)
    assert transport.send(LIST).status == 200
    assert (tokens, credentials.loads) == (["Bearer t1", "Bearer t2"], 2)


def in_threads(count: int, work: Any) -> list[Any]:
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(work())) for _thread in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


# -- stopping, deadlines -----------------------------------------------------------------------------------------------


def test_the_stop_sign_stops_writes_and_not_reads() -> None:
    stop = StopSign()
    script = Script(OK)
    transport = transport_to(script, stop=stop)
    stop.set("received SIGTERM")
    with pytest.raises(Interrupted):
        transport.send(PATCH)
    assert (transport.send(LIST).status, script.summary()) == (200, ["GET /api/v1/pods"])


@pytest.mark.parametrize(
    ("reply", "outcome"),
    named(
        {"refused": (answer(503), 503), "throttled": (answer(429, retry_after="9"), 429), "lost": (RESET, Unreachable)}
    ),
)
def test_after_the_stop_sign_nothing_is_tried_again(reply: Any, outcome: Any) -> None:
    stop = StopSign()
    stop.set("received SIGTERM")
    assert sent(Script(reply), stop=stop) == (outcome, [])


PAUSED = {"its own pause": answer(503), "the pause of all workers": answer(429, retry_after="30")}


@pytest.mark.parametrize("reply", named(PAUSED))
def test_a_write_that_waits_out_a_pause_is_not_sent_when_the_stop_sign_comes_meanwhile(reply: Any) -> None:
    clock, stop = FakeClock(), StopSign()
    clock.at(clock.now() + 0.05, lambda: stop.set("received SIGTERM"))
    script = Script(reply, OK)
    with pytest.raises(Interrupted):
        transport_to(script, clock, stop).send(PATCH)
    assert script.summary() == ["PATCH /api/v1/namespaces/shop/pods/web"]


@pytest.mark.parametrize("request_sent", [LIST, PATCH], ids=["a read", "a write"])
def test_nobody_spins_through_a_pause_that_the_stop_sign_cut_short(request_sent: Request) -> None:
    stop = StopSign()

    class Stopped(FakeClock):
        """As the real clock: no sleep lasts once the stop sign is set."""

        def sleep(self, seconds: float) -> None:
            self.slept.append(seconds)
            stop.set("received SIGTERM")
            assert len(self.slept) < 10, "spins until the pause is over"

    script = Script(answer(429, retry_after="30"), OK)
    sent(script, request_sent, clock=Stopped(), stop=stop)


DEADLINES = {
    "a pause that fits": (answer(503), 0.11, 200, [0.1]),
    "a pause that ends too late": (answer(503), 0.09, 503, []),
    "Retry-After that ends too late": (answer(429, retry_after="30"), 30.0, 429, []),
    "a lost answer": (RESET, 0.05, Unreachable, []),
}


@pytest.mark.parametrize(("reply", "seconds", "outcome", "pauses"), named(DEADLINES))
def test_nothing_is_tried_again_beyond_the_deadline(
    reply: Any, seconds: float, outcome: Any, pauses: list[float]
) -> None:
    clock = FakeClock()
    transport = transport_to(Script(reply, OK), clock)
    transport.deadline = Deadline(clock, seconds)
    try:
        ended: Any = transport.send(LIST).status
    except Problem as problem:
        ended = type(problem)
    assert (ended, clock.slept) == (outcome, pauses)


# -- the time a request has -------------------------------------------------------------------------------------------


class Hanging:
    """A connection to a server that never answers: time passes until none is left. Remembers how long that took."""

    is_open = False

    def __init__(self, clock: FakeClock, *, stop: StopSign | None = None, stop_after: float = 0.0) -> None:
        self.clock = clock
        self.waited: list[float] = []
        self._stop, self._stop_after = stop, stop_after

    def exchange(self, method: str, target: str, headers: Any, body: bytes, left: Any) -> Any:
        began = self.clock.now()
        while left() > 0:
            self.clock.advance(0.5)
            if self._stop and self.clock.now() - began >= self._stop_after:
                self._stop.set("received SIGTERM")
        self.waited.append(self.clock.now() - began)
        raise TimeoutError("no answer in time")

    def close(self) -> None: ...


def hanging(clock: FakeClock, stop: StopSign | None = None, **how: Any) -> tuple[Transport, Hanging]:
    connection = Hanging(clock, stop=stop, **how)
    return transport_to(Script(), clock, stop or StopSign(), connect=lambda endpoint: connection), connection


TIMES = {
    "no deadline": (None, 75.0),
    "a deadline far away": (600.0, 75.0),
    "a deadline that comes first": (20.0, 20.0),
    "near the deadline there is still time for a look": (1.0, 15.0),
}


@pytest.mark.parametrize(("seconds", "waited"), named(TIMES))
def test_a_request_has_a_total_time_that_respects_the_deadline(seconds: float | None, waited: float) -> None:
    clock = FakeClock()
    transport, connection = hanging(clock)
    transport.deadline = Deadline(clock, seconds) if seconds else None
    with pytest.raises(Unreachable, match="no answer in time"):
        transport.send(LIST)
    assert connection.waited == [waited]


CUTS = {"a read": (LIST, 5.0), "a write": (PATCH, 10.0)}


@pytest.mark.parametrize(("request_sent", "seconds"), named(CUTS))
def test_a_stop_cuts_what_is_under_way_after_a_few_seconds(request_sent: Request, seconds: float) -> None:
    clock, stop = FakeClock(), StopSign()
    transport, connection = hanging(clock, stop, stop_after=20.0)
    with pytest.raises(Interrupted, match=f"received SIGTERM; {request_sent} was not answered in time"):
        transport.send(request_sent)
    assert connection.waited == [20.0 + seconds]


def test_a_write_that_was_cut_is_told_as_unknown_and_a_read_is_not() -> None:
    for request, told in ((LIST, []), (PATCH, ["whether it was carried out is not known"])):
        transport, _connection = hanging(FakeClock(), stop := StopSign(), stop_after=20.0)
        with pytest.raises(Interrupted):
            transport.send(request)
        assert stop.is_set()
        assert [text.partition(": ")[2] for text in transport.unanswered] == told


def test_a_write_without_an_answer_is_told_as_unknown_without_a_stop_too() -> None:
    transport, _connection = hanging(FakeClock())
    with pytest.raises(Unreachable):
        transport.send(PATCH)
    [told] = transport.unanswered
    assert told.startswith(f"{PATCH} was sent and not answered")


def test_clean_up_after_a_stop_has_little_time_a_request_and_little_altogether() -> None:
    clock, stop = FakeClock(), StopSign()
    stop.set("received SIGTERM")
    transport, connection = hanging(clock, stop)
    transport.begin_cleaning_up()
    for _request in range(6):
        with pytest.raises(Interrupted):
            transport.send(PATCH)
    assert connection.waited == [10.0] * 4, "then the time for all of them is over, and nothing is sent"
    assert len(transport.unanswered) == 6
    assert [text.startswith("the clean-up is not complete") for text in transport.unanswered] == [False] * 4 + [
        True
    ] * 2


# -- the brake, counters, connections ----------------------------------------------------------------------------------


def test_retry_after_pauses_every_worker_and_is_counted_once() -> None:
    clock = FakeClock()
    transport = transport_to(Script(answer(429, retry_after="3"), OK, OK), clock)
    transport.send(LIST)
    transport.send(LIST)
    assert (clock.slept, transport.brake.throttled_seconds) == ([3.0], 3.0)


def test_a_pause_of_its_own_does_not_hold_the_others() -> None:
    transport = transport_to(Script(answer(503), OK))
    transport.send(LIST)
    assert transport.brake.throttled_seconds == 0.0


PLACES = {
    "after an answer": ([OK], 1),
    "after a refusal": ([answer(403)], 1),
    "after a lost answer": ([RESET] * 3, 1),
    "after a silent end": ([OK, SilentClose("closed"), OK], 2),
}


@pytest.mark.parametrize(("replies", "requests"), named(PLACES))
def test_whoever_sent_leaves_his_place_to_the_next(replies: list[Any], requests: int) -> None:
    script = Script(*replies, OK)
    transport = transport_to(script, parallel=1)
    for _request in range(requests):
        with contextlib.suppress(Unreachable):
            transport.send(LIST)
    assert transport.send(LIST).status == 200
    assert (transport.brake._sending, script.unused) == (0, 0)


def test_every_try_is_counted_under_its_verb() -> None:
    transport = transport_to(Script(OK, SilentClose("x"), OK, answer(503), OK, OK))
    for request in (LIST, LIST, PATCH, Request("GET", "/api", "get")):
        transport.send(request)
    assert dict(transport.requests) == {"list": 3, "patch": 2, "get": 1}


def test_each_thread_has_a_connection_of_its_own_and_keeps_it() -> None:
    script = Script(*[OK] * 6)
    transport = transport_to(script)
    together = threading.Barrier(3, timeout=10)

    def work() -> None:
        together.wait()
        for _request in range(2):
            transport.send(LIST)

    in_threads(3, work)
    assert len(script.connections) == 3


def test_closing_closes_every_connection() -> None:
    script = Script(*[OK] * 3)
    transport = transport_to(script)
    in_threads(3, lambda: transport.send(LIST))
    transport.close()
    assert [connection.closed for connection in script.connections] == [1, 1, 1]


# -- what is sent and read ---------------------------------------------------------------------------------------------


HEADERS = {
    "a read": (LIST, {"Accept": "application/json"}),
    "a read that may come zipped": (
        Request("GET", "/api", "list", accept="x", gzip=True),
        {"Accept": "x", "Accept-Encoding": "gzip"},
    ),
    "a write": (PATCH, {"Accept": "application/json", "Content-Type": "application/json-patch+json"}),
}


@pytest.mark.parametrize(("request_sent", "headers"), named(HEADERS))
def test_a_request_says_what_it_sends_and_accepts(request_sent: Request, headers: dict[str, str]) -> None:
    script = Script(OK)
    transport_to(script).send(request_sent)
    [asked] = script.asked
    assert (asked.headers, asked.body) == (headers, request_sent.body)


def test_a_zipped_answer_is_unpacked() -> None:
    assert transport_to(Script(zipped(200, {"items": [1, 2]}))).send(LIST).json() == {"items": [1, 2]}


def test_a_zipped_answer_that_is_broken_is_a_lost_answer() -> None:
    script = Script(answer(200, b"not zipped", content_encoding="gzip"), OK)
    assert sent(script) == (200, [0.1])


def test_a_zipped_answer_that_is_cut_is_a_lost_answer() -> None:
    whole = zipped(200, {"items": []})
    script = Script(dataclasses.replace(whole, body=whole.body[:-9]), OK)
    assert sent(script) == (200, [0.1])


def test_a_zipped_answer_may_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "MOST_BODY", 1 << 20)
    bomb = zipped(200, {"x": "0" * (1 << 21)})
    assert len(bomb.body) < 10_000
    with pytest.raises(CannotLook, match="cannot read the answer to GET /api/v1/pods: an answer of more than 1 MiB"):
        transport_to(Script(bomb)).send(LIST)


def test_server_time_follows_the_newest_date_and_the_monotonic_clock() -> None:
    clock = FakeClock()
    script = Script(answer(200, {}, date=SERVER_DATE), answer(200, {}, date="Thu, 01 Jan 2026 00:01:00 GMT"), OK)
    transport = transport_to(script, clock)
    seen = []
    for _request in range(3):
        transport.send(LIST)
        clock.advance(10.0)
        seen.append(transport.server_time() - SERVER_NOW)
    assert seen == [10.0, 70.0, 80.0]


@pytest.mark.parametrize("headers", named({"no Date": ({},), "a bad Date": ({"date": "yesterday"},)}))
def test_without_a_date_the_machines_own_time_has_to_do(
    headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport_module.time, "time", lambda: 42.0)
    transport = transport_to(Script(answer(200, {}, **headers)))
    transport.send(LIST)
    assert transport.server_time() == 42.0


# -- streams -----------------------------------------------------------------------------------------------------------

WATCH = Request("GET", "/api/v1/pods?watch=1", "watch")


def test_a_stream_is_opened_once_on_a_connection_of_its_own() -> None:
    credentials, script = Credentials(), Script(OK, Stream(b"one", b"two"))
    transport = transport_to(script, load=credentials)
    transport.send(LIST)
    stream = transport.open_stream(WATCH, 1.0, lambda: None)
    assert (stream.status, list(stream.lines), len(script.connections)) == (200, [b"one", b"two"], 2)
    assert credentials.loads == 1
    assert dict(transport.requests) == {"list": 1, "watch": 1}


def test_a_stream_that_cannot_be_opened_is_not_tried_again_and_leaves_nothing_open() -> None:
    script = Script(RESET)
    with pytest.raises(OSError, match="reset"):
        transport_to(script).open_stream(WATCH, 1.0, lambda: None)
    assert [connection.closed for connection in script.connections] == [1]


def test_a_stream_refused_for_its_credentials_loads_new_ones_for_the_next_try() -> None:
    credentials = Credentials()
    transport = transport_to(Script(refusal(401)), load=credentials)
    assert (transport.open_stream(WATCH, 1.0, lambda: None).status, credentials.loads) == (401, 2)


# -- why a server cannot be reached ------------------------------------------------------------------------------------


def certificate_error() -> ssl.SSLCertVerificationError:
    trouble = ssl.SSLCertVerificationError()
    trouble.verify_message = "self-signed certificate"
    return trouble


def tls_error(reason: str) -> ssl.SSLError:
    trouble = ssl.SSLError(1, reason)
    trouble.reason = reason
    return trouble


REASONS = {
    "an unknown authority": (
        certificate_error(),
        "its certificate is not trusted (self-signed certificate)",
        "set ca_cert to the authority that signed it, or check the host",
    ),
    "our certificate refused as unknown": (
        tls_error("TLSV1_ALERT_UNKNOWN_CA"),
        "it refused our client certificate (TLSV1_ALERT_UNKNOWN_CA)",
        "renew the client certificate; it may have expired",
    ),
    "our certificate refused": (
        tls_error("TLSV13_ALERT_CERTIFICATE_REQUIRED"),
        "it refused our client certificate (TLSV13_ALERT_CERTIFICATE_REQUIRED)",
        "renew the client certificate; it may have expired",
    ),
    "not TLS": (
        tls_error("WRONG_VERSION_NUMBER"),
        "the TLS greeting failed (WRONG_VERSION_NUMBER)",
        "check that this is the API server's HTTPS port",
    ),
    "an unknown name": (
        socket.gaierror(-2, "Name or service not known"),
        "the name api.example.com is not known",
        "check the host, or the name service",
    ),
    "silence": (TimeoutError(), "no answer in time", "check the address, firewalls and the proxy"),
    "nobody there": (
        ConnectionRefusedError(111, "Connection refused"),
        "nobody listens there",
        "check the address and whether the API server runs",
    ),
    "a cut": (
        BrokenWire("the answer was cut"),
        "the answer was cut",
        "check the network and whether the API server runs",
    ),
    "something without words": (
        OSError(),
        "the connection broke",
        "check the network and whether the API server runs",
    ),
}


@pytest.mark.parametrize(("trouble", "why", "next_step"), named(REASONS))
def test_an_unreachable_server_comes_with_the_reason_and_the_next_step(
    trouble: Exception, why: str, next_step: str
) -> None:
    assert str(unreachable(ENDPOINT, trouble)) == (
        f"cannot reach the API server http://api.example.com:6443: {why}. Next: {next_step}."
    )


def test_a_proxy_decides_which_connection_is_used() -> None:
    endpoints = [ENDPOINT, Endpoint("api.example.com", 6443, proxy="http://proxy.example.com:3128")]
    made = []
    for endpoint in endpoints:
        transport = Transport(lambda endpoint=endpoint: endpoint, FakeClock(), StopSign(), 1)  # type: ignore[misc]
        made.append(type(transport._connect(endpoint)))
    assert made == [Wire, ProxiedWire]
