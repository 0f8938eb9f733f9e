# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way back on every vector: as gr has it, and as we have it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.revert import generate_revert, not_reverted
from ansible_collections.sunset.kube.plugins.module_utils.network.upstream import upstream_revert
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.network.vector_tables import (
    Vector,
    every_vector,
    pruned,
    vectors,
)

ALL = every_vector()
ANSWERED = {name: vector for name, vector in ALL.items() if vector.gr is not None}
REFUSED = {name: vector for name, vector in ALL.items() if vector.gr is None}


@pytest.mark.parametrize("vector", named(ANSWERED))
def test_the_upstream_answer_is_that_of_gr(vector: Vector) -> None:
    assert pruned(upstream_revert(vector.policy, vector.pre)) == pruned(vector.gr or {})


@pytest.mark.parametrize("vector", named(ANSWERED))
def test_our_answer(vector: Vector) -> None:
    assert pruned(generate_revert(vector.policy, vector.pre)) == pruned(vector.revert or {})


@pytest.mark.parametrize("vector", named(REFUSED))
def test_a_policy_that_can_never_be_applied_is_refused(vector: Vector) -> None:
    for answer in (upstream_revert, generate_revert):
        with pytest.raises(BadOption):
            answer(vector.policy, vector.pre)


def test_all_vectors_are_there() -> None:
    assert [len(vectors(table)) for table in ("upstream", "ours")] == [17, 24]


@pytest.mark.parametrize("vector", named(ANSWERED))
def test_documents_given_are_not_changed(vector: Vector) -> None:
    before = repr((vector.policy, vector.pre))
    generate_revert(vector.policy, vector.pre)
    assert repr((vector.policy, vector.pre)) == before


STAYS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "known before": ({"mtu": 1400}, []),
    "can be switched off": ({"lldp": {"enabled": True}, "description": "uplink"}, []),
    "nobody knows": ({"ethtool": {"ring": {"rx": 512}}}, ["eth1 ethtool"]),
}


@pytest.mark.parametrize(("settings", "stays"), named(STAYS))
def test_what_cannot_be_reverted_is_named(settings: dict[str, Any], stays: list[str]) -> None:
    eth1 = {"name": "eth1", "type": "ethernet", "state": "up"}
    policy = {"interfaces": [{**eth1, **settings}]}
    assert not_reverted(policy, {"interfaces": [{**eth1, "mtu": 1500}]}) == stays
