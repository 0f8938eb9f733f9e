# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The headers of every answer. One list for all of them: nginx leaves out a header whose value is empty.

Room: maintenance (pure).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .planned_end import http_date
from .quoting import quoted
from .source import DEFAULT_RETRY_AFTER, ID_HEADER, Answering

_SHARES = 10  # groups of clients that come back at different moments
_GRPC_UNAVAILABLE = 14


def answer_headers(answering: Answering, page_id: str) -> list[str]:
    """`add_header` lines. A user's header wins over ours, whatever its case; an empty one takes ours away."""
    chosen = {name.lower(): (name, quoted(value.strip())) for name, value in answering.headers.items()}
    headers = {name.lower(): (name, value) for name, value in _built_in(page_id)}
    lines = sorted({**headers, **chosen}.items())  # the order they were written in must not make another page of it
    return [f"add_header {name} {value} always;" for _key, (name, value) in lines if value != '""']


def _built_in(page_id: str) -> Iterator[tuple[str, str]]:
    yield ID_HEADER, quoted(page_id)
    yield "Retry-After", "$maintenance_retry_after"
    yield "Cache-Control", "no-store"
    yield "Pragma", "no-cache"
    yield "Expires", "0"
    yield "Vary", quoted("Accept, Origin, User-Agent")
    yield "X-Content-Type-Options", "nosniff"
    # Scripts of other origins may read every answer: there is nothing in it that is not public.
    yield "Access-Control-Allow-Origin", "$http_origin"
    yield "Access-Control-Allow-Credentials", "$maintenance_cross_origin"
    yield "Access-Control-Expose-Headers", "$maintenance_exposed"
    yield "Access-Control-Allow-Methods", "$maintenance_allowed_methods"
    yield "Access-Control-Allow-Headers", "$maintenance_allowed_headers"
    # Not remembered: after the maintenance the application's own rules must hold for the very next request.
    yield "Access-Control-Max-Age", "$maintenance_preflight_age"
    yield "Grpc-Status", "$maintenance_grpc_status"
    yield "Grpc-Message", "$maintenance_grpc_message"


def header_variables(answering: Answering, grpc_message: str) -> Iterator[str]:
    """The blocks that set the variables above."""
    yield _when("http_origin", "maintenance_cross_origin", "true")
    yield _when("http_origin", "maintenance_exposed", f'"{ID_HEADER}, Retry-After, Grpc-Status, Grpc-Message"')
    yield _when("maintenance_preflight", "maintenance_allowed_methods", "$http_access_control_request_method")
    yield _when("maintenance_preflight", "maintenance_allowed_headers", "$http_access_control_request_headers")
    yield _when("maintenance_preflight", "maintenance_preflight_age", "0")
    yield _when("maintenance_grpc", "maintenance_grpc_status", str(_GRPC_UNAVAILABLE))
    yield _when("maintenance_grpc", "maintenance_grpc_message", quoted(grpc_message))
    yield from _retry_after(answering)


def _when(given: str, result: str, value: str) -> str:
    return f'map ${given} ${result} {{\n    default {value};\n    "" "";\n}}'


def _retry_after(answering: Answering) -> Iterator[str]:
    """Seconds, or the planned end as a date; a date that is over would call all clients back at once."""
    wait = DEFAULT_RETRY_AFTER if answering.retry_after is None else answering.retry_after
    yield _spread("maintenance_seconds", answering.retry_spread, lambda more: str(wait + more))
    source = "$maintenance_seconds"
    if answering.ends_at is not None and answering.retry_after is None:
        end = int(answering.ends_at)
        yield _spread("maintenance_date", answering.retry_spread, lambda more: http_date(end + more))
        overdue = at_or_after(end + answering.retry_spread)
        yield f'map $msec $maintenance_when {{\n    default $maintenance_date;\n    "~{overdue}" {source};\n}}'
        source = "$maintenance_when"
    yield f'map $status $maintenance_retry_after {{\n    default "";\n    {answering.status} {source};\n}}'


def _spread(result: str, spread: int, value: Callable[[int], str]) -> str:
    """One value, or ten that lie `spread` seconds apart, each for a tenth of the requests."""
    steps = [spread * share // (_SHARES - 1) for share in range(_SHARES)] if spread else [0]
    *rows, last = [f'"{value(step)}";' for step in steps]
    lines = [f"    {100 // _SHARES}% {row}" for row in rows]
    return "\n".join([f'split_clients "$request_id" ${result} {{', *lines, f"    * {last}", "}"])


def at_or_after(moment: int) -> str:
    """A regular expression for numbers of as many digits that are not smaller: nginx cannot compare numbers."""
    digits = str(moment)
    larger = [f"{digits[:at]}[{int(digit) + 1}-9]" for at, digit in enumerate(digits) if digit != "9"]
    return f"^(?:{'|'.join([digits, *larger])})"
