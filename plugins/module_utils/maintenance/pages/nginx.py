# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The configuration of the page's server, for nginx 1.18 and newer.

Room: maintenance (pure). Rules:
- every path and method gets the status, with headers that keep caches and search engines from taking it for the
  application; what nginx itself would refuse (a broken path, TRACE, too large a header) gets it too;
- nothing of the image is used but the program: no includes, only the scratch folder is written;
- text of users goes through quoting.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from .answer_headers import answer_headers, header_variables
from .bodies import BODIES
from .negotiation import negotiation, problem_types
from .problem_bodies import grpc_message
from .quoting import DOLLAR, quoted
from .source import HEALTH_PATH, IN_THE_CONTAINER, STOPPING_PATH, Answering, PageSource, Place

# Inside the server only; asked for from outside they are pages like any other.
_INSIDE = "/-/maintenance"
# What nginx answers by itself when a request is broken, too large or not allowed.
_OWN_ERRORS = (400, 403, 404, 405, 411, 412, 413, 414, 415, 416, 421, 429, 494, 500, 501, 503, 504, 505, 507)
_LISTEN = {"IPv4": "{port}", "IPv6": "[::]:{port}"}
# gRPC's own media types; the answer must name the one that was asked with.
_GRPC = (
    ("grpc-web-text", "application/grpc-web-text"),
    ("grpc-web", "application/grpc-web+proto"),
    ("grpc", "application/grpc"),
)


def nginx_conf(source: PageSource, answering: Answering, page_id: str, place: Place = IN_THE_CONTAINER) -> str:
    headers = answer_headers(answering, page_id)
    body = "\n\n".join(
        [
            _ground(place),
            *([DOLLAR] if any("${dollar}" in line for line in headers) else []),
            *negotiation(),
            *problem_types(),
            _page_of_body(source),
            _kinds_of_requests(),
            *header_variables(answering, grpc_message(source.text_of_page)),
            _server(source, answering, headers, place),
            _stopping(answering, place),
        ]
    )
    return f"{_top(place)}\nhttp {{\n{_indented(body)}\n}}\n"


def _top(place: Place) -> str:
    # One worker serves tens of thousands of requests a second; "auto" would take one for each core of the node, and
    # with them more memory than the container has. Connections end at the latest when the pod is to be gone.
    return f"""daemon off;
pid {place.scratch}/nginx.pid;
error_log stderr warn;
worker_processes 1;
worker_shutdown_timeout 10s;

events {{
    worker_connections 4096;
}}
"""


def _ground(place: Place) -> str:
    # keepalive_timeout: the proxies in front close idle connections, never we: a request sent into a connection that
    # is just being closed is lost. They choose the backend for each request, so nobody is kept on the page by it.
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")  # nginx makes all of these folders at its start
    folders = "\n".join(f"{kind}_temp_path {place.scratch}/{kind};" for kind in kinds)
    return f"""{folders}
access_log off;
server_tokens off;
sendfile on;
etag off;
types {{ }}
default_type text/plain;
keepalive_timeout 650s;
keepalive_requests 100000;
client_max_body_size 0;
client_header_buffer_size 4k;
large_client_header_buffers 8 64k;
reset_timedout_connection on;"""


def _page_of_body(source: PageSource) -> str:
    given = {body.name for body in BODIES if body.given(source) is not None}
    rows = []
    for body in BODIES:
        # A user's own body need not be a problem document.
        typed = f"-$maintenance_{body.name}_type" if body.problem and body.name not in given else ""
        rows.append(f'    {body.name} "{_INSIDE}/{body.name}{typed}";')
    return "\n".join(["map $maintenance_body $maintenance_page {", f"    default {_INSIDE}/html;", *rows, "}"])


def _kinds_of_requests() -> str:
    grpc = "\n".join(rf'    "~*^application/{name}(?:[+;]|$)" {name};' for name, _type in _GRPC)
    return f"""map $http_content_type $maintenance_grpc {{
    default "";
{grpc}
}}

map "$request_method $http_origin $http_access_control_request_method" $maintenance_preflight {{
    default "";
    "~^OPTIONS [^ ]+ [^ ]+$" 1;
}}"""


def _server(source: PageSource, answering: Answering, headers: list[str], place: Place) -> str:
    listen = [_listen(answering, place, place.http), _listen(answering, place, place.h2c, " http2")]
    codes = " ".join(map(str, sorted({*_OWN_ERRORS, answering.status})))
    blocks = [
        "\n".join([*listen, "server_name _;"]),
        "\n".join(headers),
        f"error_page {codes} ={answering.status} $maintenance_page;",
        _everything(answering.status),
        _location(HEALTH_PATH, "text/plain", 'return 200 "ok\\n";', internal=False),
        *_bodies(place),
        *(_location(f"{_INSIDE}/{name}", media_type, "return 200;") for name, media_type in _GRPC),
    ]
    if answering.robots is not None:
        text = f"alias {place.folder}/robots.txt;"
        blocks.append(_location("/robots.txt", "text/plain; charset=utf-8", text, internal=False))
    return _block("server", "\n\n".join(blocks))


def _everything(status: int) -> str:
    # `return` and the error page, not a file of its own: nginx would refuse to POST to a file.
    return _block(
        "location /",
        f"""if ($maintenance_grpc) {{
    rewrite ^ {_INSIDE}/$maintenance_grpc last;
}}
if ($maintenance_preflight) {{
    return 204;
}}
return {status};""",
    )


def _bodies(place: Place) -> Iterator[str]:
    for body in BODIES:
        file = f"alias {place.folder}/{body.file};"
        yield _location(f"{_INSIDE}/{body.name}", body.served_as, file)
        if body.problem:
            yield _location(f"{_INSIDE}/{body.name}-plain", body.served_as, file)
            yield _location(f"{_INSIDE}/{body.name}-problem", body.problem.served_as, file)


def _stopping(answering: Answering, place: Place) -> str:
    """A preStop hook without a shell: the kubelet reads this slow answer before it ends nginx.

    Meanwhile the pod is no endpoint any more, and the proxies learn of it; a second or two is enough as a rule.
    """
    dots = "." * 600  # with its headers, about 8 s at 100 bytes a second
    inside = f'limit_rate 100;\nreturn 200 "{dots}\\n";'
    listen = _listen(answering, place, place.stopping)
    return _block("server", f"{listen}\n\n{_location(STOPPING_PATH, 'text/plain', inside, internal=False)}")


def _listen(answering: Answering, place: Place, port: int, more: str = "") -> str:
    if place.address:
        return f"listen {place.address}:{port}{more};"
    families = [family for family in _LISTEN if family in answering.ip_families]
    return "\n".join(f"listen {_LISTEN[family].format(port=port)}{more};" for family in families)


def _location(path: str, media_type: str, inside: str, *, internal: bool = True) -> str:
    first = "internal;\n" if internal else ""
    return _block(f"location = {path}", f"{first}default_type {quoted(media_type)};\n{inside}")


def _block(head: str, inside: str) -> str:
    return f"{head} {{\n{_indented(inside)}\n}}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.splitlines())
