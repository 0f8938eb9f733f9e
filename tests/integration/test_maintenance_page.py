# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What clients get from a page, asked of a real nginx: every path and method, every kind of client."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.source import (
    HEALTH_PATH,
    STOPPING_PATH,
    Answering,
    PageSource,
    PageText,
)
from integration.page_server import Answer, PageServer, ask, serving

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
TEXT = PageText(product="Shop", message='Two minutes. "Really" $5 \\o/ ünïcode', contact="https://status.example.org/")
AWKWARD = {
    "X-Price": '$5 and $request_uri and ${host} "quoted" \\n \\" {;} # end',
    "x-robots-tag": "noindex",
    "PRAGMA": "",
    "cache-control": "no-store, private",
}


@pytest.fixture(scope="module")
def page() -> Iterator[PageServer]:
    with serving(PageSource(text_of_page=TEXT), Answering(headers=AWKWARD)) as server:
        yield server


def assert_closed(answer: Answer, page: PageServer) -> None:
    assert answer.status == 503
    assert answer["Retry-After"] == "300"
    assert answer["X-Maintenance"] == page.bundle.id
    assert answer["Cache-Control"] == "no-store, private"
    assert answer["Expires"] == "0"
    assert answer.all("ETag") + answer.all("Last-Modified") + answer.all("Accept-Ranges") == []


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/deep/er/page.html?x=1",
        "/picture.png",
        "/robots.txt",
        "/favicon.ico",
        "/.well-known/x",
        "/%zz",
        "/../../etc/passwd",
        "/-/maintenance/html",
        "/-/maintenance/grpc",
        STOPPING_PATH,
        "//double//slash",
        pytest.param("/" + "long" * 12000, id="48 kB"),
        pytest.param("/" + "long" * 30000, id="120 kB"),
    ],
)
def test_every_path_is_closed(page: PageServer, path: str) -> None:
    answer = page.ask(path=path, headers={"Accept": BROWSER})
    assert_closed(answer, page)
    assert answer.body == page.bundle.files["page.html"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE", "BREW"])
def test_every_method_is_closed_with_a_body(page: PageServer, method: str) -> None:
    answer = page.ask(method, "/cart", {"Accept": "application/json"}, b"x=1")
    assert_closed(answer, page)
    assert json.loads(answer.body)["status"] == 503


def test_head_has_the_headers_of_get_and_no_body(page: PageServer) -> None:
    get, head = page.ask("GET", "/"), page.ask("HEAD", "/")
    assert_closed(head, page)
    assert head.body == ""
    assert head["Content-Length"] == get["Content-Length"] == str(len(get.body.encode()))


def test_a_large_upload_is_answered_not_cut_off(page: PageServer) -> None:
    assert_closed(page.ask("POST", "/upload", body=b"x" * 20_000_000), page)


def test_conditions_and_ranges_do_not_change_the_answer(page: PageServer) -> None:
    headers = {"If-None-Match": "*", "If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT", "Range": "bytes=0-9"}
    answer = page.ask(headers=headers)
    assert_closed(answer, page)
    assert answer.body == page.bundle.files["page.html"]


def test_a_web_socket_is_refused_with_the_same_answer(page: PageServer) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    assert_closed(page.ask(path="/live", headers=upgrade), page)


HTML, TEXT_PLAIN = "text/html; charset=utf-8", "text/plain; charset=utf-8"
JSON, PROBLEM = "application/json", "application/problem+json"
XML, XML_PROBLEM = "application/xml; charset=utf-8", "application/problem+xml; charset=utf-8"


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, HTML),
        ("", HTML),
        ("*/*", HTML),
        (BROWSER, HTML),
        ("TEXT/HTML", HTML),
        ("application/xhtml+xml", HTML),
        ("text/*", HTML),
        ("image/png", HTML),
        ("*/*;q=0", HTML),
        ("application/json", JSON),
        ("application/json;charset=utf-8", JSON),
        ("application/problem+json", PROBLEM),
        ("application/problem+json, application/json;q=0.9", PROBLEM),
        ("application/vnd.api+json", PROBLEM),
        ("application/*", PROBLEM),
        ("application/json, text/plain, */*", JSON),
        ("application/json, text/html", JSON),
        ("text/html, application/json", HTML),
        ("text/html;q=0.4, application/json;q=0.5", JSON),
        ("application/json;q=0.4,text/html;q=0.5", HTML),
        ("text/html ; level=1 ; q=0.4 , application/json ; q=0.5", JSON),
        ("application/json;q=0.5, application/problem+json, text/html;q=0.9", PROBLEM),
        ("text/html;q=0, */*", PROBLEM),
        ("text/html;q=0.000, text/plain;q=0.001", TEXT_PLAIN),
        ("*/*, text/*;q=0, application/json;q=0", XML_PROBLEM),
        ("text/*;q=0.3, application/xml;q=1.0", XML),
        ("text/xml", XML),
        ("application/problem+xml", XML_PROBLEM),
        ("text/plain", TEXT_PLAIN),
        ("text/plain, application/json", TEXT_PLAIN),
        ("text/plain;q=.9, application/json;q=.8", TEXT_PLAIN),
    ],
)
def test_the_accept_header_chooses_the_body(page: PageServer, accept: str | None, expected: str) -> None:
    answer = page.ask(headers={} if accept is None else {"Accept": accept})
    assert_closed(answer, page)
    assert answer["Content-Type"] == expected
    assert "Accept" in answer["Vary"]
    file = {HTML: "page.html", TEXT_PLAIN: "page.txt", XML: "page.xml", XML_PROBLEM: "page.xml"}
    assert answer.body == page.bundle.files[file.get(expected, "page.json")]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"User-Agent": "curl/8.5.0"}, TEXT_PLAIN),
        ({"User-Agent": "curl/8.5.0", "Content-Type": "application/json"}, PROBLEM),
        ({"User-Agent": "curl/8.5.0", "Accept": "text/html"}, HTML),
        ({"Sec-Fetch-Dest": "empty", "User-Agent": "Mozilla/5.0"}, PROBLEM),
        ({"X-Requested-With": "XMLHttpRequest"}, PROBLEM),
        ({"User-Agent": "Mozilla/5.0 (like curl/8)"}, HTML),
    ],
    ids=["curl", "curl with JSON", "curl for HTML", "fetch", "XMLHttpRequest", "browser"],
)
def test_a_client_without_a_preference_gets_what_its_kind_can_use(
    page: PageServer, headers: dict[str, str], expected: str
) -> None:
    assert page.ask(headers={"Accept": "*/*", **headers})["Content-Type"] == expected


def test_problem_documents_say_the_same_in_json_and_xml(page: PageServer) -> None:
    problem = json.loads(page.ask(headers={"Accept": "application/problem+json"}).body)
    assert problem == {
        "type": "tag:sunset.dev,2026:maintenance",
        "title": "We will be back soon",
        "status": 503,
        "detail": TEXT.message,
        "retryAfter": 300,
        "contact": TEXT.contact,
    }
    root = ElementTree.fromstring(page.ask(headers={"Accept": "application/problem+xml"}).body)
    assert {child.tag.partition("}")[2]: child.text for child in root} == {k: str(v) for k, v in problem.items()}


def test_headers_of_the_user_come_out_as_they_went_in(page: PageServer) -> None:
    answer = page.ask()
    assert answer["X-Price"] == AWKWARD["X-Price"]
    assert answer["X-Robots-Tag"] == "noindex"
    assert answer.all("Pragma") == []


def test_the_health_path_is_fine_on_both_ports(page: PageServer) -> None:
    assert page.ask(path=HEALTH_PATH).status == 200
    assert page.ask("HEAD", HEALTH_PATH).status == 200
    assert page.ask(path=HEALTH_PATH)["Retry-After"] == ""
    assert over_http2(page, HEALTH_PATH)[0] == "HTTP/2 200"


def test_a_preflight_is_answered_and_not_remembered(page: PageServer) -> None:
    asked = {
        "Origin": "https://app.example.org",
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization,x-trace",
    }
    answer = page.ask("OPTIONS", "/api", asked)
    assert (answer.status, answer.body) == (204, "")
    assert answer["Access-Control-Allow-Origin"] == "https://app.example.org"
    assert answer["Access-Control-Allow-Credentials"] == "true"
    assert answer["Access-Control-Allow-Methods"] == "PUT"
    assert answer["Access-Control-Allow-Headers"] == "authorization,x-trace"
    assert answer["Access-Control-Max-Age"] == "0"


@pytest.mark.parametrize("headers", [{}, {"Origin": "https://a.example"}, {"Access-Control-Request-Method": "PUT"}])
def test_options_that_are_no_preflight_are_closed(page: PageServer, headers: dict[str, str]) -> None:
    assert_closed(page.ask("OPTIONS", "/api", headers), page)


def test_scripts_of_other_origins_can_read_the_answer(page: PageServer) -> None:
    answer = page.ask(headers={"Origin": "https://app.example.org", "Accept": "application/json"})
    assert_closed(answer, page)
    assert answer["Access-Control-Allow-Origin"] == "https://app.example.org"
    assert {"Retry-After", "X-Maintenance"} <= set(answer["Access-Control-Expose-Headers"].split(", "))
    assert page.ask().all("Access-Control-Allow-Origin") == []


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("application/grpc", "application/grpc"),
        ("application/grpc+proto", "application/grpc"),
        ("application/grpc-web+proto", "application/grpc-web+proto"),
        ("application/grpc-web-text", "application/grpc-web-text"),
    ],
)
def test_grpc_clients_are_told_unavailable(page: PageServer, asked: str, answered: str) -> None:
    answer = page.ask("POST", "/shop.Cart/Get", {"Content-Type": asked, "TE": "trailers"}, b"\0\0\0\0\0")
    assert (answer.status, answer.body) == (200, "")
    assert answer["Content-Type"] == answered
    assert answer["Grpc-Status"] == "14"
    assert answer["Grpc-Message"] == "Two minutes. %22Really%22 %245 %5Co/ %C3%BCn%C3%AFcode"
    assert answer["X-Maintenance"] == page.bundle.id
    lines = over_http2(page, "/shop.Cart/Get", "--request", "POST", "--header", f"content-type: {asked}")
    assert lines[0] == "HTTP/2 200"
    assert {f"content-type: {answered}", "grpc-status: 14"} <= set(lines)


def test_something_that_only_begins_like_grpc_is_closed(page: PageServer) -> None:
    assert_closed(page.ask("POST", "/", {"Content-Type": "application/grpcx"}, b""), page)


def test_the_page_is_closed_over_http2_as_well(page: PageServer) -> None:
    lines = over_http2(page, "/x", "--header", "accept: text/html")
    assert lines[0] == "HTTP/2 503"
    assert {"retry-after: 300", f"x-maintenance: {page.bundle.id}", "content-type: text/html; charset=utf-8"} <= set(
        lines
    )


def over_http2(page: PageServer, path: str, *options: str) -> list[str]:
    """Status line and headers, as curl prints them."""
    command = ["curl", "--silent", "--show-error", "--max-time", "20", "--http2-prior-knowledge", "--dump-header", "-"]
    url = f"http://127.0.0.1:{page.place.h2c}{path}"
    done = subprocess.run(
        [*command, "--output", "/dev/null", *options, url], capture_output=True, text=True, check=True
    )
    return [line.strip() for line in done.stdout.splitlines()]


DATA, HEADERS, SETTINGS, RST_STREAM = 0, 1, 4, 3
END_STREAM, END_HEADERS = 1, 4


def test_a_grpc_answer_is_headers_only(page: PageServer) -> None:
    """gRPC reads the status from the first headers only if the stream ends with them."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", "/a.B/C"), (":authority", "x")]
    fields += [("content-type", "application/grpc"), ("te", "trailers")]
    block = b"".join(
        b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode() for name, value in fields
    )
    with socket.create_connection(("127.0.0.1", page.place.h2c), timeout=20) as wire:
        wire.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b""))
        wire.sendall(frame(HEADERS, END_HEADERS | END_STREAM, 1, block))
        with wire.makefile("rb") as answer:
            first = next(kind_and_flags for kind_and_flags, stream in frames(answer) if stream == 1)
    assert first == (HEADERS, END_HEADERS | END_STREAM)


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def frames(wire) -> Iterator[tuple[tuple[int, int], int]]:
    while len(head := wire.read(9)) == 9:
        wire.read(int.from_bytes(head[:3], "big"))
        yield (head[3], head[4]), int.from_bytes(head[5:], "big")


def test_the_users_bodies_status_and_robots_are_served() -> None:
    source = PageSource(html="<p>own $page</p>", json='{"own": true}', xml="<own/>", text="own text")
    answering = Answering(status=418, retry_after=7, robots="User-agent: *\nDisallow: /admin\n")
    with serving(source, answering) as page:
        wanted = {"text/html": source.html, "application/problem+json": source.json, "text/xml": source.xml}
        for accept, body in {**wanted, "text/plain": source.text}.items():
            answer = page.ask("POST", "/x", {"Accept": accept})
            assert (answer.status, answer.body, answer["Retry-After"]) == (418, body, "7")
        # Nobody promised that the user's own JSON is a problem document.
        assert page.ask(headers={"Accept": "application/problem+json"})["Content-Type"] == "application/json"
        robots = page.ask(path="/robots.txt")
        assert (robots.status, robots.body, robots["Retry-After"]) == (200, answering.robots, "")


@pytest.mark.parametrize("status", [400, 401, 404, 410, 418, 429, 451, 500, 502, 504, 520, 599])
def test_every_status_that_can_be_chosen_arrives(status: int) -> None:
    with serving(PageSource(), Answering(status=status)) as page:
        answer = page.ask("POST", "/", {"Accept": "text/plain"})
        assert (answer.status, answer["Retry-After"]) == (status, "300")
        assert answer.body == page.bundle.files["page.txt"]
        assert page.ask(path="/%zz").status == status


def test_the_planned_end_is_the_time_to_retry_until_it_is_over() -> None:
    with serving(PageSource(), Answering(ends_at=4102444800.0)) as page:
        assert page.ask()["Retry-After"] == "Fri, 01 Jan 2100 00:00:00 GMT"
    with serving(PageSource(), Answering(ends_at=float(int(time.time()) - 1))) as page:
        assert page.ask()["Retry-After"] == "300"


def test_clients_are_called_back_at_different_moments() -> None:
    with serving(PageSource(), Answering(retry_after=60, retry_spread=30)) as page:
        seconds = {int(page.ask()["Retry-After"]) for _request in range(200)}
    assert min(seconds) >= 60
    assert max(seconds) <= 90
    assert len(seconds) > 5


def test_what_is_under_way_ends_well_when_the_server_is_told_to_quit() -> None:
    """The kubelet reads the slow answer before it stops nginx; a graceful stop would even finish that one."""
    with serving(PageSource(), Answering(), more=()) as page:
        assert ask(page.place.stopping, "GET", "/elsewhere").status == 404
        with socket.create_connection(("127.0.0.1", page.place.stopping), timeout=60) as wire:
            wire.sendall(f"GET {STOPPING_PATH} HTTP/1.0\r\n\r\n".encode())
            first = wire.recv(50)
            assert first.startswith(b"HTTP/1.1 200")
            assert page.ask().status == 503  # still serving while the hook runs
            subprocess.run(["kill", "-QUIT", str(page.process.pid)], check=True)
            rest = b"".join(iter(lambda: wire.recv(4096), b""))
        assert rest.endswith(b"...\n")
