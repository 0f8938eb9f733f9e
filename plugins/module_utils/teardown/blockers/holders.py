# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A finalizer on an object: who should remove it, does he live, what it guards, and what is lost without it.

Room: teardown (pure).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...commands import command
from ...objects import Record, Resource
from ...profiles.finalizer_alternatives import FOR_THE_KIND
from ..catalogue import known
from ..owners import Life, Owner, OwnerFacts, judge_owner

UNKNOWN = "unknown"
# danger → what a person should know before forcing it.
LOSSES = {
    "nothing": "nothing is lost without it",
    "leftovers": "without it something stays behind",
    "money": "without it something stays that costs money",
    "data": "without it data may be lost",
    "bookkeeping": "without it the API server loses track",
    UNKNOWN: "what is lost without it is not known",
}
_SERVER = "kube-apiserver"


@dataclass(frozen=True)
class Holder:
    """One finalizer. `home` is the namespace its owner lives or lived in, if that is known."""

    name: str
    owner: str
    alive: str  # alive, gone or unknown
    why: str
    meaning: str
    danger: str
    protected: bool
    home: str = ""
    instead: str = ""  # what to do rather than remove it by hand
    instead_of_one: str = ""  # the same as a command for one object, with {name} and {namespace}
    of_product: bool = False  # of one product, not of Kubernetes or a cloud
    unseen: bool = False  # nobody fits, but not everybody could be looked at

    @property
    def is_hopeless(self) -> bool:
        return self.alive == Life.GONE.value

    @property
    def costs_nothing(self) -> bool:
        return self.danger == "nothing"

    @property
    def loss(self) -> str:
        return LOSSES[self.danger]

    @property
    def may_go_by_hand(self) -> bool:
        """What guards money or data only if its product is proven gone; Kubernetes and clouds always come back."""
        return not self.protected or (self.of_product and self.is_hopeless)


def instead_of(holder: Holder, record: Record) -> str:
    """What to do rather than remove it from this object."""
    return command(holder.instead_of_one, name=record.name, namespace=record.namespace) or holder.instead


class Holders:
    """Judges each finalizer once for all objects that carry it alike: there may be ten thousand of them."""

    def __init__(self, facts: OwnerFacts) -> None:
        self._facts = facts
        self._judged: dict[tuple[object, ...], Holder] = {}

    def of(self, record: Record, kind: Resource | None = None) -> list[Holder]:
        return [self._judge(record, kind, name) for name in record.finalizers]

    def _judge(self, record: Record, kind: Resource | None, name: str) -> Holder:
        managers = tuple(manager for finalizer, manager in record.finalizer_managers if finalizer == name)
        key = (name, managers, kind, record.namespace if kind else "")
        if key not in self._judged:
            self._judged[key] = judge_holder(name, managers, self._facts, kind, record.namespace)
        return self._judged[key]


def judge_holder(
    name: str, managers: Sequence[str], facts: OwnerFacts, kind: Resource | None = None, namespace: str = ""
) -> Holder:
    owner = judge_owner(name, managers, facts, kind, namespace)
    entry = known(name)
    if entry and entry.owner == _SERVER:
        owner = Owner(Life.ALIVE, _SERVER, "it has answered us")
    who = owner.who if "/" in owner.who else (entry.owner if entry else owner.who)
    # A command of the product needs somebody who answers it.
    commands = FOR_THE_KIND.get(entry.owner, {}) if entry and owner.life is not Life.GONE else {}
    return Holder(
        name,
        who,
        owner.life.value,
        owner.why,
        entry.guards if entry else "",
        entry.danger if entry else UNKNOWN,
        bool(entry and entry.protected),
        owner.namespace,
        entry.instead if entry else "",
        commands.get(kind.qualified, "") if kind else "",
        bool(entry and not entry.shared),
        owner.unseen,
    )
