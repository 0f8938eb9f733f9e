# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task is about to do: generations of a policy, reversals, deletions, and what a rollback may touch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.after import state_after
from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.intents import (
    Intent,
    intent_to_apply,
    intent_to_revert,
    union_of,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.journal import Contents, Journal
from ansible_collections.sunset.kube.plugins.module_utils.network.journal_entries import Action, Entry, Stage
from ansible_collections.sunset.kube.plugins.module_utils.network.scope import scope_of
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused

State = dict[str, Any]


def ethernet(name: str, *addresses: str, **other: Any) -> State:
    listed = [{"ip": text.split("/")[0], "prefix-length": int(text.split("/")[1])} for text in addresses]
    block = {"enabled": bool(listed), **({"dhcp": False, "address": listed} if listed else {})}
    return {
        "name": name,
        "type": "ethernet",
        "state": "up",
        "mtu": 1500,
        "ipv4": block,
        "ipv6": {"enabled": False},
        **other,
    }


def bridge(name: str, *ports: str) -> State:
    return {"name": name, "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": port} for port in ports]}}


def node() -> State:
    return {"interfaces": [ethernet("eth1", "192.0.2.10/24"), ethernet("eth2"), ethernet("veth9", "10.9.9.1/32")]}


def committed(journal: Journal, intent: Intent, number: int) -> Contents:
    entry = Entry(
        id=f"{number:08x}", policy=intent.policy, generation=0, stage=Stage.PENDING, action=intent.action, backend="b",
        pre=intent.pre, desired=intent.desired, revert=intent.revert,
    )  # fmt: skip
    journal.begin(entry, lambda holder: True)
    journal.move(entry.id, Stage.COMMITTED, "2026-01-01T00:00:00Z")
    return journal.contents()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def test_a_policy_that_restates_the_node_has_no_effects(journal: Journal) -> None:
    wanted = {"interfaces": [{"name": "eth1", "type": "ethernet", "mtu": 1500}]}
    assert intent_to_apply("p", wanted, node(), journal.contents()).effects == []


def test_a_second_generation_goes_back_to_before_the_first(journal: Journal) -> None:
    first = {"interfaces": [{"name": "eth2", "type": "ethernet", "mtu": 9000}, bridge("br0", "eth2")]}
    contents = committed(journal, intent_to_apply("p", first, node(), journal.contents()), 1)
    now = state_after(node(), first)
    second = {"interfaces": [{"name": "eth1", "type": "ethernet", "mtu": 1400}]}
    contents = committed(journal, intent_to_apply("p", second, now, contents), 2)
    now = state_after(now, second)
    back = intent_to_revert("p", "auto", None, False, now, contents)
    assert back is not None
    assert back.action is Action.REVERT
    assert differences(node(), state_after(now, back.change)) == []


def test_all_that_was_said_is_in_the_union_and_the_second_has_the_last_word() -> None:
    route = {"destination": "198.51.100.0/24", "next-hop-interface": "eth1"}
    other = {"destination": "203.0.113.0/24", "next-hop-interface": "eth1"}
    first = {"interfaces": [{"name": "eth1", "type": "ethernet", "mtu": 9000, "description": "a"}]}
    first["routes"] = {"config": [route]}
    second = {"interfaces": [{"name": "eth1", "type": "ethernet", "mtu": 1400}], "routes": {"config": [route, other]}}
    assert union_of(first, second) == {
        "interfaces": [{"name": "eth1", "type": "ethernet", "mtu": 1400, "description": "a"}],
        "routes": {"config": [route, other]},
    }


@pytest.mark.parametrize("mode", ["auto", "journal"])
def test_a_policy_nobody_recorded_is_refused_with_the_next_step(journal: Journal, mode: str) -> None:
    with pytest.raises(Refused, match="mode: delete with desired_state"):
        intent_to_revert("p", mode, None, False, node(), journal.contents())


def test_delete_needs_to_know_what_the_policy_wanted(journal: Journal) -> None:
    with pytest.raises(Refused, match="give its desired_state"):
        intent_to_revert("p", "delete", None, False, node(), journal.contents())


@pytest.mark.parametrize(("mode", "force"), [("delete", False), ("auto", True)])
def test_delete_removes_what_the_policy_made(journal: Journal, mode: str, force: bool) -> None:
    wanted = {"interfaces": [bridge("br0", "eth2")]}
    now = state_after(node(), wanted)
    intent = intent_to_revert("p", mode, wanted, force, now, journal.contents())
    assert intent is not None
    assert intent.mode == "delete"
    assert "br0" not in {one["name"] for one in state_after(now, intent.change)["interfaces"]}


def test_a_policy_that_was_taken_back_needs_nothing(journal: Journal) -> None:
    contents = committed(
        journal, intent_to_apply("p", {"interfaces": [bridge("br0", "eth2")]}, node(), Contents((), ())), 1
    )
    journal.record_reversal(contents.live()["p"].id, "2026-01-01T00:00:00Z")
    assert intent_to_revert("p", "auto", None, False, node(), journal.contents()) is None


def test_a_rollback_may_touch_what_the_change_touches_and_no_pod() -> None:
    change = {"interfaces": [bridge("br0", "eth2")]}
    assert scope_of(change, node()).interfaces == ("br0", "eth2")


def test_routes_and_rules_bring_their_interface_and_table_into_scope() -> None:
    change = {
        "routes": {"config": [{"destination": "198.51.100.0/24", "next-hop-interface": "eth1", "table-id": 300}]},
        "route-rules": {"config": [{"ip-from": "198.51.100.0/24", "route-table": 300, "priority": 1000}]},
    }
    scope = scope_of(change, node())
    assert (scope.interfaces, scope.tables) == (("eth1",), (300,))


def test_what_goes_is_in_scope_although_it_will_not_be_there() -> None:
    now = state_after(node(), {"interfaces": [bridge("br0", "eth2")]})
    change = {"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "absent"}]}
    assert scope_of(change, now).interfaces == ("br0", "eth2")
