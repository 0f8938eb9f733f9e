# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a custom resource asks for at this moment: nothing, a plan, or to be carried out.

Room: incluster (pure). Whatever has ended for this generation of the spec never begins again by itself: an application
that was installed anew under the same name is not the one that somebody wanted to be rid of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..profiles.maintenance_operator import ENABLED, HOLDER, PAGE
from . import status
from .kinds import Work, arguments_of
from .shown import is_approved
from .windows import Window, window_of

NOTHING, PLAN, RUN = "nothing", "plan", "run"
# Seconds until the second half of what takes two turns: a status that we write ourselves brings nobody back.
AT_ONCE = 1.0
# Seconds that a Maintenance outside the operator's own namespace may keep a worker busy, whatever its spec says. What
# is not ready by then goes back into the queue, so that no tenant waits for another one's page.
TENANTS_TURN = {"maintenance_timeout": 60, "maintenance_linger": 30}
_ROUTES_GO_BACK = "its routes go back"


@dataclass(frozen=True)
class Request:
    """`phase` is what the status says meanwhile, `then` what it says when the work is done."""

    go: str
    phase: str = ""
    message: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    then: str = status.COMPLETED
    wake_after: float = 0.0  # seconds until something has to be done again; 0: not before somebody changes something


SUSPENDED = Request(NOTHING, status.SUSPENDED, "spec.suspend is true: set it to false, and it begins")


def what_is_asked(item: Mapping[str, Any], work: Work, now: float, home: str = "") -> Request:
    """`home`: the operator's own namespace. What is elsewhere acts on its own namespace only."""
    if not work.own:
        return _of_others(item, work)
    if is_deleting(item):
        return _while_it_goes(item, work, home)
    if work.role == "maintenance":
        return _maintenance(item, window_of(item), now, home)
    if (item.get("spec") or {}).get("suspend"):
        return SUSPENDED
    if status.holds(item, "Completed"):
        return Request(NOTHING)
    return _once(item, work)


def _once(item: Mapping[str, Any], work: Work) -> Request:
    """What is done once, and only after somebody has seen the plan.

    A hash counts for a plan that was shown for this very spec. Of any other the plan is made and kept first: so it can
    be gone on with, and options that are in no plan are not changed behind an approval.
    """
    spec = item.get("spec") or {}
    approval = str(spec.get("approve") or "")
    arguments = arguments_of(spec, work.role)
    if (approval == "always" or is_approved(item)) and not spec.get("onDeletion"):
        return Request(RUN, status.RUNNING, arguments={**arguments, **_approved(work, approval)})
    if status.holds(item, "Planned"):
        return Request(NOTHING)
    return Request(PLAN, status.PLANNING, arguments=_to_plan(arguments, work), then=status.PLANNED)


def _to_plan(arguments: dict[str, Any], work: Work) -> dict[str, Any]:
    asked = {f"{work.role}_confirm": "skip"} if work.approval == "confirm" else {}
    return {**arguments, **asked, f"{work.role}_planning": True}


def _approved(work: Work, approval: str) -> dict[str, Any]:
    if approval != "always":
        return {f"{work.role}_{work.approval}": approval}
    return {f"{work.role}_{work.approval}": work.approved_always} if work.approved_always else {}


def _while_it_goes(item: Mapping[str, Any], work: Work, home: str) -> Request:
    """It is being deleted, and our finalizer holds it until this is done."""
    if work.role == "maintenance":
        ends = Request(RUN, status.RUNNING, _ROUTES_GO_BACK, _ended(item, home))
        return ends if status.may_have_left_something(item) else Request(NOTHING)
    spec = item.get("spec") or {}
    arguments = arguments_of(spec, work.role)
    if spec.get("onDeletion") and not spec.get("suspend") and not status.holds(item, "Completed"):
        return Request(RUN, status.RUNNING, arguments={**arguments, **_approved(work, spec.get("approve") or "always")})
    return Request(NOTHING)


def _maintenance(item: Mapping[str, Any], window: Window, now: float, home: str) -> Request:
    spec = item.get("spec") or {}
    wake = max(0.0, window.end - now) if window.end is not None else 0.0
    if window.end is not None and now >= window.end:
        if spec.get("suspend") and not status.has_begun(item):
            return SUSPENDED
        if status.holds(item, "Completed"):
            return Request(NOTHING)
        return Request(RUN, status.RUNNING, "the window is over", _ended(item, home))
    if spec.get("suspend"):
        # What stands ends at its time all the same: nobody would know of it any more.
        return Request(NOTHING, wake_after=wake) if status.has_begun(item) else SUSPENDED
    if window.start is not None and now < window.start:
        return _before_its_start(item, window, now, home)
    if spec.get("state") != "enabled":
        return _takes_away(item, home)
    if status.holds(item, "Progressing", reason=status.reason_of(status.STANDING)):
        return Request(NOTHING, wake_after=wake)
    arguments = {**_routes_in_its_own_namespace(item, home), "maintenance_holder": item["metadata"]["uid"]}
    if window.end is not None:
        arguments = {**arguments, "maintenance_end": window.end_text}
        arguments.pop("maintenance_window", None)
    return Request(RUN, status.RUNNING, arguments=arguments, then=status.STANDING, wake_after=wake)


def _takes_away(item: Mapping[str, Any], home: str) -> Request:
    """A state that shows no page. What it has put there itself goes first: its spec may name other routes by now."""
    if status.holds(item, "Completed"):
        return Request(NOTHING)
    if status.has_begun(item):
        return Request(RUN, status.RUNNING, _ROUTES_GO_BACK, _ended(item, home), status.RETURNED, AT_ONCE)
    return Request(RUN, status.RUNNING, arguments=_routes_in_its_own_namespace(item, home))


def _before_its_start(item: Mapping[str, Any], window: Window, now: float, home: str) -> Request:
    wait, message = (window.start or 0.0) - now, f"begins at {window.start_text}"
    if status.has_begun(item):  # its start was moved
        return Request(RUN, status.RUNNING, message, _ended(item, home), status.SCHEDULED, wait)
    return Request(NOTHING, status.SCHEDULED, message, wake_after=wait)


def _routes_in_its_own_namespace(item: Mapping[str, Any], home: str) -> dict[str, Any]:
    """The arguments of a Maintenance. Where it names no namespace, its own is meant, never every one."""
    arguments = _in_one_turn(arguments_of(item.get("spec") or {}, "maintenance"), item, home)
    own = item["metadata"]["namespace"]
    targets = arguments.get("maintenance_targets")
    if not targets:
        return {**arguments, "maintenance_namespace": arguments.get("maintenance_namespace") or own}
    placed = [{**target, "namespace": target.get("namespace") or own} for target in targets]
    return {**arguments, "maintenance_targets": placed}


def _in_one_turn(arguments: dict[str, Any], item: Mapping[str, Any], home: str) -> dict[str, Any]:
    if not _is_elsewhere(item, home):
        return arguments
    given = {name: arguments.get(name) for name in TENANTS_TURN}
    asked = {name: value for name, value in given.items() if isinstance(value, int) and value < TENANTS_TURN[name]}
    # Without linger in the spec, the default of the role holds.
    most = {name: value for name, value in TENANTS_TURN.items() if name in arguments or name == "maintenance_timeout"}
    return {**arguments, **most, **asked}


def _is_elsewhere(item: Mapping[str, Any], home: str) -> bool:
    return bool(home) and item["metadata"]["namespace"] != home


def _ended(item: Mapping[str, Any], home: str) -> dict[str, Any]:
    """Whatever it holds goes back, whatever its spec names by now, and nothing that is there for somebody else."""
    arguments = _in_one_turn(arguments_of(item.get("spec") or {}, "maintenance"), item, home)
    metadata, elsewhere = item["metadata"], _is_elsewhere(item, home)
    kept = ["maintenance_timeout", "maintenance_linger", "maintenance_reopen_endpoints"]
    # Outside the operator's own namespace nobody can have been given others.
    kept += [] if elsewhere else ["maintenance_route_kinds"]
    return {
        "maintenance_state": "disabled",
        "maintenance_holder": metadata["uid"],
        **({"maintenance_namespace": metadata["namespace"]} if elsewhere else {}),
        **{key: arguments[key] for key in kept if key in arguments},
    }


# -- kinds of others, which opted in by a label -------------------------------------------------------------------


def _of_others(item: Mapping[str, Any], work: Work) -> Request:
    if work.role == "maintenance":
        return _route(item)
    if not is_deleting(item):
        return Request(NOTHING)
    name = item["metadata"]["name"]
    named = {"managed_cluster": {"names": [name]}, "network_revert": {"nncp": name}}[work.role]
    return Request(RUN, arguments={f"{work.role}_{key}": value for key, value in named.items()})


def _route(item: Mapping[str, Any]) -> Request:
    """A route follows its annotation, as the operator of that name did it. A page for any other reason stays."""
    if is_deleting(item):
        return Request(NOTHING)
    metadata = item["metadata"]
    annotations = metadata.get("annotations") or {}
    wanted = str(annotations.get(ENABLED, "")).lower() == "true"
    target = {"kind": item["kind"], "name": metadata["name"], "namespace": metadata["namespace"]}
    asked = {"maintenance_state": "enabled", "maintenance_targets": [target], "maintenance_holder": HOLDER}
    request = Request(RUN, arguments=asked)
    if not wanted:
        return replace(request, arguments={**request.arguments, "maintenance_state": "disabled"})
    page = annotations.get(PAGE)
    return replace(request, arguments={**request.arguments, "maintenance_page": {"name": page}}) if page else request


def is_deleting(item: Mapping[str, Any]) -> bool:
    return bool((item.get("metadata") or {}).get("deletionTimestamp"))


__all__ = ["AT_ONCE", "NOTHING", "PLAN", "RUN", "Request", "is_deleting", "what_is_asked"]
