# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is the page really shown? The controller is asked over HTTP for every host and path, as a user would.

Room: maintenance. Who asks is handed in. A place that needs more than a host and a path (a header, a method, a pattern)
is not asked for, and that is said: its silence would prove nothing.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..clock import Deadline
from ..events import Noted, Progress
from ..problems import TimedOut
from .locations import Location, words_of
from .options import Verify
from .outcome import AskWeb, MaintenanceOutcome, Run
from .pages.source import ID_HEADER, Answering
from .route_kinds import RouteKind

if TYPE_CHECKING:
    from ..kube.web import WebAnswer

_LOOK_AGAIN = 0.3
_ONE_ANSWER = 5.0  # seconds; a controller that is slower than this will be asked again
_STAR = "maintenance-check"  # stands in for the star of a wildcard host
_PATTERN = re.compile(r"[()\[\]{}*+?^$|\\<>]")
_RULE = re.compile(r"\b(?:Host|HostHeader|Path|PathPrefix)\([^()]*\)")
_MORE = re.compile(r'"(?:headers?|withoutHeaders|query\w*|method|sourceLabels|sourceNamespace|authority|scheme|port)":')


@dataclass(frozen=True)
class Question:
    host: str
    path: str
    page: str  # id that the answer must carry

    def __str__(self) -> str:
        return f"{self.host or '*'}{self.path}"


def questions_for(kind: RouteKind, place: Location, page: str) -> list[Question]:
    """Empty where asking would prove nothing."""
    words = words_of(place.identity)
    paths = place.paths or ("/",)
    if kind.kind == "GRPCRoute" or _MORE.search(words) or any(_PATTERN.search(path) for path in paths):
        return []
    if kind.expressions and not _is_plain(words, place):
        return []
    hosts = [f"{_STAR}{host[1:]}" if host.startswith("*.") else host for host in place.hosts or ("",)]
    if any(_PATTERN.search(host) for host in hosts if host != "*"):
        return []
    return [Question("" if host == "*" else host, path, page) for host in hosts for path in paths]


def _is_plain(words: str, place: Location) -> bool:
    """A rule of hosts and paths alone, in which each host goes with each path."""
    rest = _RULE.sub("", " ".join(text for found in json.loads(words)[1:] for text in found))
    mixed = "||" in rest and len(place.hosts) > 1 and bool(place.paths)
    return not mixed and not re.sub(r"[&|()\s]", "", rest)


def verify(
    places: Iterable[tuple[RouteKind, Location, str]],
    wish: Verify,
    answering: Answering,
    ask_web: AskWeb,
    outcome: MaintenanceOutcome,
    run: Run,
) -> None:
    """Until every place shows its page, or time is over. Fails, and leaves the pages where they are."""
    asked: list[Question] = []
    for kind, place, page in places:
        found = questions_for(kind, place, page)
        asked += found
        if not found:
            outcome.warn(f"not verified: {place.where} needs more than a host and a path", run.tell)
    asked = list(dict.fromkeys(asked))
    run.tell(Noted(f"asking {wish.url} for {len(asked)} hosts and paths"))
    late = _ask_until_shown(asked, wish, answering, ask_web, run)
    outcome.verified = [str(one) for one in asked if one not in late]
    if late:
        named = "; ".join(f"{question}: {why}" for question, why in list(late.items())[:5])
        more = f"; and {len(late) - 5} more" if len(late) > 5 else ""
        raise TimedOut(
            "the page is not seen",
            which=f"through {wish.url} at {len(late)} of {len(asked)} places",
            why=named + more,
            next_step="see whether the controller there serves these routes; the pages stay (state: disabled takes "
            "them away), and the same task asks again",
        )


def _ask_until_shown(
    asked: Sequence[Question], wish: Verify, answering: Answering, ask_web: AskWeb, run: Run
) -> dict[Question, str]:
    """What does not show its page when time is over, and what answered instead."""
    late = dict.fromkeys(asked, "not asked")
    deadline = Deadline(run.clock, min(wish.timeout, run.deadline.left()))
    lock = threading.Lock()

    def ask(question: Question) -> None:
        answer = ask_web(
            wish.url, question.host, question.path, validate_certs=wish.validate_certs, timeout=_ONE_ANSWER
        )
        why = _why_not(answer, question, answering)
        with lock:
            if why:
                late[question] = why
            else:
                del late[question]

    while late:
        run.stop.raise_if_set()
        run.cluster.for_each(list(late), ask)
        if not late or deadline.passed():
            break
        run.tell(Progress("places", len(asked) - len(late), len(asked), deadline.left(), word="seen behind the page"))
        run.clock.sleep(min(_LOOK_AGAIN, deadline.left()))
    return late


def _why_not(answer: WebAnswer, question: Question, answering: Answering) -> str:
    """Empty when it is our page. What somebody else answers is told in his words."""
    if answer.trouble:
        return answer.trouble
    hidden = any(name.lower() == ID_HEADER.lower() for name in answering.headers)  # the task has its own header there
    shown = answer.headers.get(ID_HEADER.lower())
    if answer.status == answering.status and (hidden or shown == question.page):
        return ""
    return f"answered {answer.status}" + ", ".join(_told(answer, shown))


def _told(answer: WebAnswer, shown: str | None) -> Iterator[str]:
    if shown:
        yield f" with the page {shown}"
    elif answer.headers.get("location"):
        yield f" to {answer.headers['location']}"
    elif answer.headers.get("server"):
        yield f" by {answer.headers['server']}"
