# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why is it still there?"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem, Refused, TimedOut, Unreachable
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.survivors import (
    Blocker,
    Diagnosis,
    Survivor,
    diagnose,
    name_the_first,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.departure import Leaver
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import Step
from ansible_collections.sunset.kube.plugins.module_utils.teardown.run_outcome import RunOutcome, StepOutcome
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import StepRule
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, NAMESPACES, PODS, Told, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    DEFINITIONS,
    WEBHOOKS,
    InMemoryCluster,
    api_error,
    member,
)

F = "shop.example.com/cleanup"


def leaver(resource: Resource = DOMAINS, name: str = "web", **more: Any) -> Leaver:
    return Leaver(resource, member(resource, name, **{"deleted": True, **more}).record)


def outcome(*survivors: Leaver, refused: tuple[tuple[Leaver, Problem], ...] = (), **more: Any) -> RunOutcome:
    step = StepOutcome(Step(StepRule("step", 1)), survivors=list(survivors), refused=list(refused))
    return RunOutcome([step], **more)


def blockers(cluster: InMemoryCluster, *survivors: Leaver) -> list[dict[str, str]]:
    [survivor] = explain(outcome(*survivors), cluster)
    return [blocker.as_dict() for blocker in survivor.blockers]


def explain(run: RunOutcome, cluster: InMemoryCluster) -> list[Survivor]:
    cluster.deletable_kinds()  # a run has asked the server before, and knows its time
    return diagnose([run], {None: cluster}, Told()).survivors


def test_nobody_looks_when_nothing_is_left() -> None:
    cluster = InMemoryCluster()
    assert (explain(outcome(), cluster), cluster.lists) == ([], [])


def operator(cluster: InMemoryCluster, available: int) -> InMemoryCluster:
    cluster.add(
        DEPLOYMENTS, "shop-operator", "ops", spec={"replicas": available}, status={"availableReplicas": available}
    )
    return cluster


HOLDERS: dict[str, tuple[InMemoryCluster, str, str, str]] = {
    "alive": (
        operator(InMemoryCluster(), 1),
        "Deployment ops/shop-operator",
        "alive",
        "give Deployment ops/shop-operator time",
    ),
    "gone": (operator(InMemoryCluster(), 0), "Deployment ops/shop-operator", "gone", "bring its controller back"),
    "nobody knows": (InMemoryCluster(), "", "unknown", "find out who should remove it"),
}


@pytest.mark.parametrize(("cluster", "owner", "alive", "advice"), named(HOLDERS))
def test_each_finalizer_is_told_with_its_owner_and_whether_he_lives(
    cluster: InMemoryCluster, owner: str, alive: str, advice: str
) -> None:
    [blocker] = blockers(cluster, leaver(finalizers=[F]))
    assert (blocker["what"], blocker["finalizer"], blocker.get("owner", ""), blocker["alive"]) == (
        "finalizer",
        F,
        owner,
        alive,
    )
    assert advice in blocker["suggestion"]
    assert ("is not known): ansible localhost" in blocker["suggestion"]) is (alive != "alive"), (
        "never without its price"
    )


def test_a_finalizer_that_guards_data_is_told_with_what_it_guards() -> None:
    [blocker] = blockers(InMemoryCluster(), leaver(finalizers=["kubernetes.io/pvc-protection"]))
    assert blocker == {
        "what": "finalizer",
        "finalizer": "kubernetes.io/pvc-protection",
        "owner": "kube-controller-manager",
        "alive": "unknown",
        "text": "it guards a volume claim that a pod still uses; no workload or Lease fits kube-controller-manager",
        "suggestion": "stop the pods that use the claim",
    }


def test_every_finalizer_is_a_blocker_of_its_own() -> None:
    assert [each["finalizer"] for each in blockers(InMemoryCluster(), leaver(finalizers=[F, "x/y"]))] == [F, "x/y"]


def condition(kind: str, status: str = "True", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **more}


CONDITIONS: dict[str, tuple[Resource, list[dict[str, str]] | None, list[str]]] = {
    "a namespace with content": (
        NAMESPACES,
        [
            condition("NamespaceContentRemaining", message="pods. has 1 resource instances"),
            condition("NamespaceDeletionDiscoveryFailure", "False", message="no"),
            condition("NamespaceFinalizersRemaining", reason="SomeFinalizersRemain"),
        ],
        [
            "something is left in it: pods. has 1 resource instances",
            "finalizers hold what is left in it: SomeFinalizersRemain",
        ],
    ),
    "a definition with instances": (
        DEFINITIONS,
        [condition("Established"), condition("Terminating", message="could not delete instances")],
        ["the API server says: could not delete instances"],
    ),
    "nothing said": (NAMESPACES, None, ["nothing holds it that can be seen; the API server may be slow"]),
}


@pytest.mark.parametrize(("resource", "conditions", "texts"), named(CONDITIONS))
def test_namespaces_and_definitions_say_it_themselves(
    resource: Resource, conditions: list[dict[str, str]] | None, texts: list[str]
) -> None:
    cluster = InMemoryCluster()
    cluster.add(resource, "x", status={"conditions": conditions})
    assert [each["text"] for each in blockers(cluster, leaver(resource, "x"))] == texts


def test_a_condition_that_cannot_be_read_is_told_as_such() -> None:
    cluster = InMemoryCluster()
    cluster.unseen["namespaces"] = api_error(403, "Forbidden")
    assert [each["what"] for each in blockers(cluster, leaver(NAMESPACES, "x"))] == ["blind"]


def test_a_survivor_that_went_meanwhile_says_nothing() -> None:
    assert [each["what"] for each in blockers(InMemoryCluster(), leaver(NAMESPACES, "x"))] == ["unknown"]


NO_REASON: dict[str, tuple[Leaver, str]] = {
    "a grace period": (leaver(DOMAINS, deletionGracePeriodSeconds=30), "it has a grace period of 30 s"),
    "a pod's grace period": (leaver(PODS, deletionGracePeriodSeconds=30), "it may take 0 s more to stop"),
    "not even deleted": (Leaver(PODS, record()), "it is not even being deleted"),
    "nothing at all": (leaver(DOMAINS), "nothing holds it that can be seen; the API server may be slow"),
}


@pytest.mark.parametrize(("survivor", "text"), named(NO_REASON))
def test_a_survivor_without_a_reason_still_gets_advice(survivor: Leaver, text: str) -> None:
    [blocker] = blockers(InMemoryCluster(), survivor)
    assert (blocker["text"], bool(blocker["suggestion"])) == (text, True)


REFUSALS: dict[str, tuple[Problem, str, str]] = {
    "an admission webhook": (
        api_error(403, "Forbidden", 'admission webhook "x" denied the request'),
        "webhook",
        "repair or remove the webhook, then run the task again",
    ),
    "a webhook nobody answers": (
        api_error(500, "InternalError", 'failed calling webhook "x"'),
        "webhook",
        "repair or remove the webhook, then run the task again",
    ),
    "anything else": (Problem("cannot", why="no", next_step="ask"), "refused", "ask"),
}


@pytest.mark.parametrize(("problem", "what", "suggestion"), named(REFUSALS))
def test_a_refusal_is_told_with_its_reason(problem: Problem, what: str, suggestion: str) -> None:
    [survivor] = explain(outcome(refused=((leaver(), problem),)), InMemoryCluster())
    [blocker] = survivor.blockers
    assert (blocker.what, blocker.text, blocker.suggestion) == (what, problem.why, suggestion)


def test_what_could_not_be_seen_is_told_at_every_survivor() -> None:
    blind = {"domains": Problem("cannot list", which="domains", why="HTTP 503")}
    found = explain(outcome(leaver(name="a"), leaver(name="b"), blind=blind), InMemoryCluster())
    assert [[each.text for each in survivor.blockers] for survivor in found] == [["cannot list domains: HTTP 503."]] * 2


def test_a_webhook_that_refused_us_and_has_nobody_behind_it_is_told_with_the_command_that_removes_it() -> None:
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop", labels={"kubernetes.io/metadata.name": "shop"})
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["DELETE"], "resources": ["*"]}
    client = {"service": {"namespace": "shop", "name": "guard"}}
    cluster.add(WEBHOOKS, "guard", webhooks=[{"name": "x", "clientConfig": client, "rules": [rule]}])
    problem = api_error(500, "InternalError", 'failed calling webhook "x"')
    found = diagnose([outcome(refused=((leaver(deleted=False), problem),))], {None: cluster}, Told())
    [survivor] = found.survivors
    assert [each.what for each in survivor.blockers] == ["webhook", "webhook"]
    command = "kubectl delete validatingwebhookconfiguration guard"
    assert survivor.blockers[0].suggestion.endswith(command)
    assert found.next_step.endswith(command)


def test_what_may_not_be_listed_is_told_as_such() -> None:
    cluster = InMemoryCluster()
    cluster.unseen["leases"] = api_error(403, "Forbidden")
    told = blockers(cluster, leaver(finalizers=[F]))
    assert [each["what"] for each in told] == ["finalizer", "blind"]
    assert told[0]["text"].startswith("could not look: Leases")
    assert told[0]["suggestion"].startswith(f"leave {F} where it is"), "its controller may be at work"
    assert "Leases: HTTP 403" in told[1]["text"]


def test_a_server_that_answers_nobody_any_more_costs_the_explanation_and_not_the_report() -> None:
    cluster = InMemoryCluster()
    for resource in cluster.served:
        cluster.unseen[resource.plural] = Unreachable("cannot reach the API server", why="connection refused")
    told = blockers(cluster, leaver(NAMESPACES, "shop"))
    assert [each["what"] for each in told] == ["blind"]
    assert "cannot reach the API server" in told[0]["text"]


def test_what_is_left_in_a_namespace_is_counted_and_looked_at_by_lists() -> None:
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop", deleted=True)
    cluster.add(DOMAINS, "a", deleted=True, finalizers=[F])
    cluster.add(DOMAINS, "b", deleted=True, finalizers=[F])
    held = Leaver(DOMAINS, cluster.list(DOMAINS).records[0])
    found = diagnose([outcome(leaver(NAMESPACES, "shop"), held)], {None: cluster}, Told())
    space, domain = found.survivors
    assert [each.text for each in space.blockers] == ["still in it: 2 Domain"]
    assert [each.finalizer for each in domain.blockers] == [F]
    assert f"namespace=shop finalizers={F}" in found.next_step


def test_a_great_many_survivors_cost_a_bounded_number_of_looks() -> None:
    cluster = InMemoryCluster()
    seen: list[str] = []
    cluster.server.controllers.append(lambda call: seen.append(call.name) if call.verb == "get" else None)
    few = explain(outcome(*(leaver(NAMESPACES, f"n{number}", finalizers=[F]) for number in range(20))), cluster)
    lists = len(cluster.lists)
    many = explain(outcome(*(leaver(NAMESPACES, f"n{number}", finalizers=[F]) for number in range(500))), cluster)
    assert (len(few), len(many), len(cluster.lists)) == (20, 500, 2 * lists)
    assert seen == []


def test_beyond_ten_thousand_survivors_are_counted_and_not_explained() -> None:
    left = [leaver(name=f"d{number}", finalizers=[F]) for number in range(10_002)]
    found = explain(outcome(*left), InMemoryCluster())
    assert [one.blockers[0].what for one in found[9_999:]] == ["finalizer", "unknown", "unknown"]


# -- the message -------------------------------------------------------------------------------------------------------


def survivor(name: str, *reasons: Blocker) -> Survivor:
    each = member(DOMAINS, name)
    return Survivor(each.ref, each.record, list(reasons))


OUT_OF_TIME = TimedOut(
    "out of time", which="in step x", why="4 of 9 objects are still there", next_step="see survivors"
)
HELD = Blocker("finalizer", "nobody there", F, suggestion="bring it back")


def test_a_time_out_names_the_first_survivors_and_what_to_do() -> None:
    found = name_the_first(OUT_OF_TIME, Diagnosis([survivor(name, HELD) for name in "abcd"]))
    held = f"(finalizer {F}: nobody there)"
    assert str(found) == (
        "out of time in step x: 4 of 9 objects are still there:"
        f" Domain shop/a {held}; Domain shop/b {held}; Domain shop/c {held} and 1 more."
        " Next: bring it back; see survivors."
    )


def test_a_time_out_without_advice_keeps_its_own() -> None:
    found = name_the_first(OUT_OF_TIME, Diagnosis([survivor("a", Blocker("condition", "x"))]))
    assert found is not None
    assert found.next_step.startswith("see survivors")


def test_any_other_failure_stays_as_it_is() -> None:
    refusal = Refused("no")
    assert name_the_first(refusal, Diagnosis([survivor("a", HELD)])) is refusal
    assert name_the_first(None, Diagnosis()) is None
    assert name_the_first(OUT_OF_TIME, Diagnosis()) is OUT_OF_TIME
