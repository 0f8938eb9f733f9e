# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a finalizer is taken off by hand: the command, and what somebody must know before he types it.

Room: teardown (pure).
"""

from __future__ import annotations

from ...objects import Resource
from .commands import remove_finalizer
from .holders import Holder


def removal_of(holder: Holder, kind: Resource, namespace: str, name: str) -> str:
    """Empty where nobody could look for its owner: the command would take him for gone, and he may be at work."""
    return "" if holder.unseen else remove_finalizer(kind, namespace, name, holder.name, consent=holder.protected)


def only_if(holder: Holder, who: str, removal: str) -> str:
    """The command behind what must be true first, with its price."""
    if not holder.is_hopeless:
        return f"if you know that nobody should remove it any more ({holder.loss}): {removal}"
    return f"if {who} is gone for good{price_of(holder)}: {removal}"


def price_of(holder: Holder) -> str:
    return "" if holder.costs_nothing else f" ({holder.loss})"


def look_first(holder: Holder) -> str:
    return (
        f"leave {holder.name} where it is until its owner can be looked for:"
        " ask somebody who may list workloads and Leases everywhere"
    )


def first_thing(holder: Holder) -> str:
    return "bring its controller back" if holder.is_hopeless else "find out who should remove it"
