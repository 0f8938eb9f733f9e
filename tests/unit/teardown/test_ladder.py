# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The next rung for an object that stays."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_finalizers import KNOWN_FINALIZERS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ladder import Ladder, Rung
from ansible_collections.sunset.kube.tests.unit.fakes import SERVER_NOW, named, record

F = "example.com/cleanup"
GUARD = "kubernetes.io/pvc-protection"
DELETED: dict[str, Any] = {"deleted": True, "finalizers": [F]}
GRACE = {"deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30}  # asked for at SERVER_NOW
WAIT: tuple[Rung, tuple[str, ...]] = (Rung.WAIT, ())

# What the object is, seconds after its deletion, whether grace 0 was tried, the rung.
RUNGS: dict[str, tuple[dict[str, Any], float, bool, tuple[Rung, tuple[str, ...]]]] = {
    "not being deleted": ({"finalizers": [F]}, 1000, False, WAIT),
    "too early": (DELETED, 29.9, False, WAIT),
    "just in time": (DELETED, 30, False, (Rung.STRIP, (F,))),
    "nothing to strip": ({"deleted": True}, 60, False, WAIT),
    "a grace period counts from its deletion, not from its end": ({**GRACE}, 30, False, (Rung.NO_GRACE, ())),
    "a grace period first, finalizers later": ({**GRACE, "finalizers": [F]}, 30, False, (Rung.NO_GRACE, ())),
    "a grace period is cut short once": ({**GRACE, "finalizers": [F]}, 31, True, (Rung.STRIP, (F,))),
    "a grace period that was cut short and nothing else": ({**GRACE}, 31, True, WAIT),
    "only those that may go": ({"deleted": True, "finalizers": [F, GUARD]}, 60, False, (Rung.STRIP, (F,))),
    "none that may go": ({"deleted": True, "finalizers": [GUARD]}, 60, False, WAIT),
}


@pytest.mark.parametrize(("metadata", "after", "graceless", "rung"), named(RUNGS))
def test_an_object_climbs_rung_by_rung(
    metadata: dict[str, Any], after: float, graceless: bool, rung: tuple[Rung, tuple[str, ...]]
) -> None:
    ladder = Ladder(force=True, after=30)
    assert ladder.next_rung(record(**metadata), SERVER_NOW + after, graceless=graceless) == rung


def test_without_consent_it_waits_for_ever() -> None:
    assert Ladder(after=0).next_rung(record(**DELETED), SERVER_NOW + 1e6, graceless=True) == WAIT


def test_at_once_means_at_once() -> None:
    assert Ladder(force=True, after=0).next_rung(record(**DELETED), SERVER_NOW, graceless=False)[0] is Rung.STRIP


MAY: dict[str, tuple[dict[str, Any], str, bool]] = {
    "a finalizer nobody knows": ({}, F, True),
    "denied by name": ({"deny": (F,)}, F, False),
    "denied by a glob": ({"deny": ("example.com/*",)}, F, False),
    "another one denied": ({"deny": ("example.com/x",)}, F, True),
    "allowed by name": ({"allow": (GUARD,)}, GUARD, True),
    "a glob allows nothing": ({"allow": ("kubernetes.io/*",)}, GUARD, False),
    "denied and allowed": ({"allow": (GUARD,), "deny": ("kubernetes.io/*",)}, GUARD, False),
}


@pytest.mark.parametrize(("consent", "finalizer", "may"), named(MAY))
def test_who_may_be_stripped(consent: dict[str, Any], finalizer: str, may: bool) -> None:
    assert Ladder(force=True, **consent).may_strip(finalizer) is may


@pytest.mark.parametrize("known", [entry for entry in KNOWN_FINALIZERS if entry.protected], ids=lambda e: e.pattern)
def test_what_guards_money_or_data_is_never_stripped_without_being_named(known: Any) -> None:
    assert Ladder(force=True).may_strip(known.pattern.replace("*", "x")) is False
