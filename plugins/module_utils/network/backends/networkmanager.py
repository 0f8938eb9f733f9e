# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The network by NetworkManager's profiles, under a checkpoint of our own, on a node without nmstatectl.

Room: network, backends. What is written stays on disk, so that it is there after a reboot.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from ...clock import Clock, Deadline, RealClock
from ...problems import Problem
from ..guard import profiles
from ..ip_blocks import LEASE_FLAGS
from . import kernel_view, nm_command
from .abilities import Ability, refuse_if_any, refuse_what_is_not_in
from .goal import Goal, goal_of, not_reached
from .ip_command import CannotApply
from .nm_command import UNMANAGED, Manager
from .nm_plan import Plan, Work, plan
from .nm_view import as_configured
from .under_checkpoint import UnderCheckpoint, create, refuse_beside_others, roll_back

_LOOK_AGAIN = 0.1
_MOMENT = 2.0
_FAMILY = frozenset({"enabled", "dhcp", "address", "auto-table-id", "auto-route-metric", *LEASE_FLAGS})
_ABILITY = Ability("networkmanager", {"ipv4": _FAMILY, "ipv6": _FAMILY | {"autoconf"}}, by_profile=True)


class NetworkManager(UnderCheckpoint):
    name = "networkmanager"

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or RealClock()

    @staticmethod
    def is_there() -> bool:
        return shutil.which("nmcli") is not None and profiles.is_running()

    def capture(self) -> Mapping[str, Any]:
        return as_configured(kernel_view.look(), nm_command.look(), nm_command.global_dns())

    def apply(self, state: Mapping[str, Any], seconds: float) -> str:
        refuse_beside_others()
        refuse_what_is_not_in(_ABILITY, state)
        goal, manager = goal_of(state, self.capture()), nm_command.look()
        steps = plan(goal, manager)
        refuse_if_any(_impossible(goal, steps))
        checkpoint = create(seconds)
        # Its owner does not wait for us: what is not true before the checkpoint fires will never be.
        deadline = Deadline(self._clock, seconds * 0.8)
        try:
            self._carry_out(steps, manager, deadline)
            self._wait_for(goal, deadline)
        except Problem:
            roll_back(checkpoint)
            raise
        self.renew(checkpoint, seconds)  # it counts from the change on
        return checkpoint

    def _carry_out(self, steps: Plan, manager: Manager, deadline: Deadline) -> None:
        written = [(work, _write(work)) for work in steps.work]
        for name in steps.down:
            _take_down(name, manager)
        if steps.deleted:
            nm_command.tell("connection", "delete", *(word for one in steps.deleted for word in ("uuid", one)))
        for name in steps.removed:
            self._remove(name)
        for work, profile in written:
            _bring_up(work, profile, deadline)
        for work, profile in written:
            if work.profile is None:
                # Not before: it would have come up by itself, and perhaps before what it stands on.
                nm_command.tell("connection", "modify", profile, "connection.autoconnect", "yes")

    def _remove(self, name: str) -> None:
        """A link mostly goes with its profile, a moment later; one that somebody else made stays."""
        patience = Deadline(self._clock, _MOMENT)
        while name in nm_command.look().devices:
            if patience.passed():
                nm_command.tell("device", "delete", name)
                return
            self._clock.sleep(_LOOK_AGAIN)

    def _wait_for(self, goal: Goal, deadline: Deadline) -> None:
        """NetworkManager says yes before the addresses are there."""
        names = {one.after["name"] for one in goal.touched if one.is_up}
        while left := not_reached(goal, self.capture()) + kernel_view.unsettled(names):
            if deadline.passed():
                raise CannotApply("the network did not become what the policy says", why="; ".join(left))
            self._clock.sleep(_LOOK_AGAIN)


def _write(work: Work) -> str:
    """The profile's uuid. One command, so that NetworkManager takes all of it or nothing."""
    pairs = [word for pair in work.properties.items() for word in pair]
    if work.profile is not None:
        if pairs:
            nm_command.tell("connection", "modify", work.profile.uuid, *pairs)
        return work.profile.uuid
    own = str(uuid.uuid4())
    nm_command.tell("connection", "add", *pairs, "connection.uuid", own, "connection.autoconnect", "no")
    return own


def _bring_up(work: Work, profile: str, deadline: Deadline) -> None:
    device = nm_command.look().devices.get(work.name)
    if work.anew and device is not None:
        nm_command.tell("device", "delete", work.name)
    elif device is not None and device.state == UNMANAGED:
        nm_command.tell("device", "set", work.name, "managed", "yes")
    if not work.again:
        try:
            nm_command.tell("device", "reapply", work.name)  # without an interruption, where that can be done
            return
        except CannotApply:
            pass
    # A controller is complete only with its ports, which come after it.
    patience = 0 if work.is_controller else max(1, int(deadline.left()))
    nm_command.tell("--wait", str(patience), "connection", "up", "uuid", profile, *_on_device(work))


def _on_device(work: Work) -> list[str]:
    return ["ifname", work.name] if work.profile is not None and not work.anew else []


def _take_down(name: str, manager: Manager) -> None:
    profile = manager.active(name)
    if profile is not None:
        nm_command.tell("connection", "modify", profile.uuid, "connection.autoconnect", "no")
    nm_command.tell("device", "disconnect", name)


def _impossible(goal: Goal, steps: Plan) -> Iterator[str]:
    yield from steps.complaints
    if goal.changes_dns and nm_command.global_dns():
        yield "dns-resolver: NetworkManager has a global DNS configuration, which goes before that of profiles"
    for one in goal.touched:
        block = one.after.get("ipv6") or {}
        if one.is_up and "ipv6" in (one.apply or {}) and block.get("autoconf") and not block.get("dhcp"):
            yield f"{one.after['name']} ipv6.dhcp: cannot be off while autoconf is on, routers decide about it"
