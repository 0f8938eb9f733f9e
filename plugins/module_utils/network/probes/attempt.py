# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One probe about to be run, and the two ways it can end.

Room: network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...clock import Deadline
from .probe import Finding, Probe, Surroundings
from .targets import Place, place

if TYPE_CHECKING:
    from ...kube.endpoint import Endpoint

# The task's or the kubelet's way to the API server, read anew for each use: a kubelet renews its certificates.
OpenApi = Callable[[], "Endpoint"]


@dataclass(frozen=True)
class Attempt:
    probe: Probe
    surroundings: Surroundings
    deadline: Deadline
    # What this answer must not fall behind; None before the change.
    earlier: Finding | None = None
    # When the change was made, on the deadline's clock; None before it.
    changed_at: float | None = None
    api: OpenApi | None = None

    @property
    def within(self) -> str:
        return f"within {self.deadline.seconds:.3g} s"


@dataclass(frozen=True)
class Success:
    detail: str
    mark: str = ""


class Failed(Exception):
    """The probe did not work; the text continues the sentence that begins with the probe's name."""

    def __init__(self, why: str, mark: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.mark = mark


def aim(attempt: Attempt) -> tuple[Place, str]:
    """Where to, and how to call it: the given address, or the default gateway there is now."""
    probe = attempt.probe
    if probe.target:
        return place(probe.target), ""
    gateway = attempt.surroundings.gateway(probe.family)
    if gateway is None:
        raise Failed(f"no {_SPOKEN[probe.family]}default route")
    return Place(gateway.address, gateway.interface), f" from the default gateway {gateway.address}"


_SPOKEN = {"": "", "ipv4": "IPv4 ", "ipv6": "IPv6 "}
