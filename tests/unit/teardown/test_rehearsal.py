# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check mode: every write of a plan, tried and not kept."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef, record_of
from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import Entry, Plan, Step
from ansible_collections.sunset.kube.plugins.module_utils.teardown.rehearsal import rehearse, why_refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.releasing import Release
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import StepRule
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, Told
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    SECRETS,
    WEBHOOKS,
    InMemoryCluster,
    api_error,
)

F = "example.com/cleanup"
NO = api_error(403, "Forbidden", "no")


def planned(cluster: InMemoryCluster, context: str | None = None) -> Plan:
    """ConfigMaps go; Secrets are released."""
    step = Step(StepRule("all", 1, context=context))
    for thing in list(cluster.objects.values()):
        found = record_of(copy.deepcopy(thing["metadata"]))
        if thing["kind"] == "Secret":
            step.releases.append(Release(SECRETS, found, (F,)))
        else:
            entry = Entry(Member(CONFIG_MAPS, found, "x"), Verdict(Fate.DELETE, ""))
            step.waves = [[*step.going, entry]]
    return Plan([step])


def cluster() -> InMemoryCluster:
    made = InMemoryCluster()
    made.add(SECRETS, "free", finalizers=[F])
    made.add(CONFIG_MAPS, "goes", finalizers=[F])
    made.add(CONFIG_MAPS, "hangs", finalizers=[F], deleted=True)
    return made


def test_everything_is_tried_but_what_is_on_its_way_already_and_nothing_is_kept() -> None:
    made, told = cluster(), Told()
    before = copy.deepcopy(made.objects)
    assert rehearse(planned(made), {None: made}, "Foreground", told) == []
    assert made.log == [f"strip Secret shop/free ({F}, dry run)", "delete ConfigMap shop/goes (Foreground, dry run)"]
    assert made.objects == before
    assert [(event.action, event.dry_run) for event in told if isinstance(event, Did)] == [
        ("remove finalizer", True),
        ("delete", True),
    ]


def test_every_refusal_is_returned() -> None:
    made = cluster()
    made.refusals.update({"Secret shop/free": NO, "ConfigMap shop/goes": NO, "ConfigMap shop/hangs": NO})
    found = rehearse(planned(made), {None: made}, "Background", Told())
    assert [(str(ref), str(problem)) for ref, problem in found] == [
        ("Secret shop/free", f"cannot remove the finalizer from Secret shop/free: {NO.why}. Next: {NO.next_step}."),
        ("ConfigMap shop/goes", f"cannot delete ConfigMap shop/goes: {NO.why}. Next: {NO.next_step}."),
    ]


def test_each_cluster_tries_its_own_steps() -> None:
    here, there = cluster(), cluster()
    both: Any = {None: here, "there": there}
    rehearse(planned(there, "there"), both, "Background", Told())
    assert (here.log, len(there.log)) == ([], 2)


HOOK = {"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["configmaps"]}]}


@pytest.mark.parametrize(("first", "refusals"), [("webhook", 0), ("what it is asked about", 1)])
def test_a_webhook_that_is_gone_by_then_refuses_nothing(first: str, refusals: int) -> None:
    made, told = InMemoryCluster(), Told()
    made.add(WEBHOOKS, "guard", webhooks=[HOOK])
    made.add(CONFIG_MAPS, "guarded")
    made.refusals["ConfigMap shop/guarded"] = api_error(500, "InternalError", "no endpoints available for service")
    made.add(NAMESPACES, "shop", "")
    records = [record_of(copy.deepcopy(thing["metadata"])) for thing in list(made.objects.values())[:2]]
    entries = [
        Entry(Member(kind, found, "x"), Verdict(Fate.DELETE, ""))
        for kind, found in zip((WEBHOOKS, CONFIG_MAPS), records, strict=True)
    ]
    order = entries if first == "webhook" else entries[::-1]
    plan = Plan([Step(StepRule(str(number), number), [[entry]]) for number, entry in enumerate(order)])
    assert len(rehearse(plan, {None: made}, "Background", told)) == refusals
    assert len([event for event in told if isinstance(event, Did)]) == 1 + refusals


REF = ObjectRef("v1", "Secret", "shop", "free")


def test_no_refusal_is_no_failure() -> None:
    assert why_refused([], "drain") is None


@pytest.mark.parametrize(("count", "more"), [(1, ""), (3, " (and 2 more)")])
def test_the_first_refusal_is_told_in_words(count: int, more: str) -> None:
    found = why_refused([(REF, NO), *[(REF, Problem("x"))] * (count - 1)], "drain")
    assert str(found) == (
        f"the API server would refuse to drain Secret shop/free{more}: HTTP 403 Forbidden, no. Next: {NO.next_step}."
    )
