# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two ends of a reconciliation: what is asked for now, and how it came out. The work between is a role's.

Room: incluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..clock import Clock
from ..objects import moment
from ..problems import BadOption, Problem
from . import status
from .board import Board
from .kinds import Work, work_of
from .reach import why_out_of_reach
from .requests import AT_ONCE, NOTHING, Request, is_deleting, what_is_asked
from .shown import digest_of, is_approved
from .windows import window_of
from .words import for_kubectl

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

# reason of the Kubernetes Event, and whether it is a warning
_EVENTS = {
    status.PLANNED: ("AwaitingApproval", False),
    status.SCHEDULED: ("Scheduled", False),
    status.STANDING: ("InMaintenance", False),
    status.RETURNED: ("RoutesBack", False),
    status.COMPLETED: ("Completed", False),
    status.BLOCKED: ("Blocked", True),
}

_APPROVED = "the plan is the approved one; it begins"
_NOT_APPROVED = (
    "spec.approve is not for this plan and this spec: look at status.text, and set spec.approve to status.planHash; "
    "where it says that already, take it away first"
)
_NO_HASH = "there is no plan to approve by its hash; set spec.approve to always to carry it out"


@dataclass
class Begun:
    """What to do now. `others` are all resources of the kind, for whoever clears up after those that are gone.

    `spec_digest` tells the spec of which the arguments are from any other that asks for something else; `generation`
    is its number.
    """

    go: str
    role: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    then: str = status.COMPLETED
    wake_after: float = 0.0
    message: str = ""
    others: list[str] = field(default_factory=list)
    spec_digest: str = ""
    generation: int = 0


def begin(
    named: Mapping[str, str],
    home: str,
    cluster: Cluster,
    clock: Clock,
    *,
    defaults: Mapping[str, Any] | None = None,
    check_mode: bool = False,
) -> Begun:
    """Look at the resource, and say in its status what happens next. `defaults` are for arguments it does not give."""
    work = _work(named)
    home = home if _is_set(home) else ""
    board = Board(named, cluster, clock, check_mode=check_mode)
    item = board.look()
    others = board.names_of_all()
    if item is None:
        return Begun(NOTHING, message="it is gone", others=others)
    now = cluster.server_time()
    try:
        request = _request(item, work, home, now)
    except Problem as problem:
        left = _until_its_end(item, now) if work.role == "maintenance" else None
        return _cannot_begin(board, str(problem), others, cluster, max(0.0, left or 0.0))
    if request.phase and board.shows_status:
        _write(board, request.phase, request.message, "", cluster)
    roles = tuple(f"{role}_" for role in (work.role, *work.includes))
    given = {name: _those_set(value) for name, value in (defaults or {}).items() if name.startswith(roles)}
    usual = {name: value for name, value in given.items() if value not in ({}, None)}
    return Begun(
        request.go,
        work.role,
        _filled_up(request.arguments, usual),
        request.then,
        request.wake_after,
        request.message,
        others,
        digest_of(item.get("spec") or {}),
        item["metadata"].get("generation") or 0,
    )


def _request(item: Mapping[str, Any], work: Work, home: str, now: float) -> Request:
    refusal = why_out_of_reach(item, work, home)
    # What a Maintenance holds goes back by its own name, whatever its spec has come to say.
    if refusal and not (work.role == "maintenance" and _is_over(item, now)):
        raise BadOption("not done", why=refusal[0], next_step=refusal[1])
    return what_is_asked(item, work, now, home)


def _is_over(item: Mapping[str, Any], now: float) -> bool:
    left = _until_its_end(item, now)
    return is_deleting(item) or (left is not None and left <= 0)


def _until_its_end(item: Mapping[str, Any], now: float) -> float | None:
    """Seconds until the page that a Maintenance has put up has to go; None where it has none, or no end to go by."""
    if not status.may_have_left_something(item):
        return None
    try:
        end = window_of(item).end
    except Problem:
        return None
    return None if end is None else end - now


def _those_set(value: Any) -> Any:
    return {key: one for key, one in value.items() if _is_set(one)} if isinstance(value, Mapping) else value


def _is_set(value: Any) -> bool:
    """ansible-operator leaves ${NAME} in a watch as it is where its container has no variable of that name."""
    return bool(value) and not (isinstance(value, str) and value.startswith("${"))


def _filled_up(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Who gives a part of a mapping keeps the operator's other parts of it."""
    both = {name: {**usual[name], **given[name]} for name in usual if _are_mappings(usual[name], given.get(name))}
    return {**usual, **given, **both}


def _are_mappings(*values: Any) -> bool:
    return all(isinstance(value, Mapping) for value in values)


def _cannot_begin(board: Board, message: str, others: list[str], cluster: Cluster, wake: float) -> Begun:
    """Only a change of the resource helps; the page of a Maintenance ends at its time all the same."""
    if board.shows_status and not _says_so_already(board.item, message):
        _write(board, status.BLOCKED, message, "InvalidSpec", cluster)
        board.announce("InvalidSpec", message, warning=True)
    return Begun(NOTHING, message=message, others=others, wake_after=wake)


def _says_so_already(item: Mapping[str, Any], message: str) -> bool:
    conditions = (item.get("status") or {}).get("conditions") or ()
    told = [one for one in conditions if one.get("type") == "Blocked" and one.get("message") == message]
    return status.holds(item, "Blocked") and bool(told)


@dataclass
class Ended:
    """`wake_after`: seconds until the next try, or 0."""

    changed: bool
    wake_after: float = 0.0


def end(
    named: Mapping[str, str],
    phase: str,
    message: str,
    cluster: Cluster,
    clock: Clock,
    *,
    generation: int = 0,
    check_mode: bool = False,
) -> Ended:
    """Say how it came out. A resource that is gone meanwhile needs no status.

    `generation`: of the spec that was worked on. If it was changed meanwhile, the new one is still to be done.
    """
    _work(named)
    message = for_kubectl(message)
    board = Board(named, cluster, clock, check_mode=check_mode)
    if board.look() is None:
        return Ended(changed=False)
    if generation:
        board.item["metadata"]["generation"] = generation
    if phase == status.PLANNED:
        return _awaits_approval(board, message, cluster)
    what, warning = _EVENTS[phase]
    blocked = phase == status.BLOCKED
    if board.shows_status:
        written = _write(board, phase, message, _blocking_reason(board.item), cluster)
        board.announce(what, message or what, warning=warning)
        return Ended(changed=True, wake_after=status.wait_before_next_try(written) if blocked else 0.0)
    # Of others' kinds nothing is told that is no news: they are looked at again and again.
    if not blocked:
        return Ended(changed=True)
    told_for = board.announce(what, message or what, warning=warning)
    return Ended(changed=True, wake_after=status.wait_without_status(board.item, cluster.server_time(), told_for))


def _awaits_approval(board: Board, message: str, cluster: Cluster) -> Ended:
    """A plan was made: for somebody who is going to approve it, or who has done so already."""
    spec = board.item.get("spec") or {}
    hash_is_given = spec.get("approve") not in (None, "", "always") and not spec.get("onDeletion")
    if hash_is_given and is_approved(board.item):
        _write(board, status.PLANNED, _APPROVED, "", cluster)
        return Ended(changed=True, wake_after=AT_ONCE)
    if not (board.item.get("status") or {}).get("planHash"):
        message = _NO_HASH
    elif hash_is_given:
        message = _NOT_APPROVED
    what, _warning = _EVENTS[status.PLANNED]
    _write(board, status.PLANNED, message, "", cluster)
    board.announce(what, message)
    return Ended(changed=True)


def _blocking_reason(item: Mapping[str, Any]) -> str:
    """The word for what stopped it, which the run itself has left in the status."""
    return str((item.get("status") or {}).get("outcome") or "Failed").capitalize()


def _write(board: Board, phase: str, message: str, reason: str, cluster: Cluster) -> dict[str, Any]:
    written = status.in_phase(board.item, phase, moment(cluster.server_time()), message=message, reason=reason)
    if written != board.item.get("status"):
        board.write(written)
    return written


def _work(named: Mapping[str, str]) -> Work:
    work = work_of(named["api_version"], named["kind"])
    if work is None:
        raise BadOption(
            "bad options",
            why=f"nobody here knows what to do for a {named['kind']} of {named['api_version']}",
            next_step="ask for one of our own kinds, or one of those that watches-*.yaml names",
        )
    return work
