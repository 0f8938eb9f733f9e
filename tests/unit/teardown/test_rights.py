# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rights, and the rehearsal of a plan: what is asked before the first write."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import Entry, Plan, Step
from ansible_collections.sunset.kube.plugins.module_utils.teardown.releasing import Release
from ansible_collections.sunset.kube.plugins.module_utils.teardown.rights import require_rights
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import StepRule
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.tests.unit.fakes import named, record
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    ROLES,
    SECRETS,
    InMemoryCluster,
    member,
)

GOES = Verdict(Fate.DELETE, "")


def step(*going: Any, releases: list[Release] | None = None, **rule: Any) -> Step:
    entries = [Entry(one, GOES) for one in going]
    return Step(StepRule("step", 1, **rule), [entries] if entries else [], [], releases or [])


def dependant(name: str) -> Any:
    found = member(CONFIG_MAPS, name)
    found.dependant = True
    return found


def release(resource: Any, namespace: str) -> Release:
    return Release(resource, record("x", namespace), ("f",))


ASKED: dict[str, tuple[list[Step], dict[str, Any], list[tuple[str, str, str]]]] = {
    "nothing": ([step()], {}, []),
    "a delete": ([step(member(CONFIG_MAPS, "a"))], {}, [("delete", "configmaps", "shop")]),
    "each namespace once": (
        [step(member(SECRETS, "a", "b"), member(SECRETS, "b", "a"), member(SECRETS, "c", "b"))],
        {},
        [("delete", "secrets", "a"), ("delete", "secrets", "b")],
    ),
    "no namespace": ([step(member(ROLES, "a"))], {}, [("delete", "clusterroles", "")]),
    "a release": ([step(releases=[release(SECRETS, "shop")])], {}, [("patch", "secrets", "shop")]),
    "a release beside a delete": (
        [step(member(CONFIG_MAPS, "a"), releases=[release(SECRETS, "shop")])],
        {},
        [("delete", "configmaps", "shop"), ("patch", "secrets", "shop")],
    ),
    "by force": (
        [step(member(CONFIG_MAPS, "a"), force=True)],
        {},
        [("delete", "configmaps", "shop"), ("patch", "configmaps", "shop")],
    ),
    "prepared": (
        [step(member(CONFIG_MAPS, "a"))],
        {"patch_first": True},
        [("delete", "configmaps", "shop"), ("patch", "configmaps", "shop")],
    ),
    "prepared by the step": (
        [step(member(CONFIG_MAPS, "a"), before_delete={"annotate": {"a": "b"}})],
        {},
        [("delete", "configmaps", "shop"), ("patch", "configmaps", "shop")],
    ),
    "a dependant is only deleted": (
        [step(dependant("a"), force=True)],
        {},
        [("delete", "configmaps", "shop")],
    ),
    "a step of another cluster": ([step(member(CONFIG_MAPS, "a"), context="there")], {}, []),
    "a step of this other cluster": (
        [step(member(SECRETS, "a")), step(member(CONFIG_MAPS, "a"), context="there")],
        {"context": "there"},
        [("delete", "configmaps", "shop")],
    ),
}


@pytest.mark.parametrize(("steps", "how", "expected"), named(ASKED))
def test_exactly_the_rights_that_are_needed_are_asked_for(
    steps: list[Step], how: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    cluster = InMemoryCluster()
    cluster.server.rights_by_namespace = True
    require_rights(Plan(steps), cluster, **how)
    assert sorted(cluster.asked_rights) == expected


def test_a_right_that_is_missing_is_an_error() -> None:
    cluster = InMemoryCluster()
    cluster.forbidden.add(("patch", "secrets"))
    with pytest.raises(Refused):
        require_rights(Plan([step(releases=[release(SECRETS, "shop")])]), cluster)
