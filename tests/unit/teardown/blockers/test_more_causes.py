# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Budgets, Usages, volumes, refusals, and which few of many objects are tried; on a cluster in memory."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.blocker_tree import tree_of
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef, Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.refusals import cause_of_refusal
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.target import Target
from ansible_collections.sunset.kube.plugins.module_utils.well_known import POLICIES, POLICY_BINDINGS
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DEPLOYMENTS,
    DOMAINS,
    NAMESPACES,
    NODES,
    PODS,
    VERBS,
    named,
)
from ansible_collections.sunset.kube.tests.unit.teardown.blockers.explaining import F, explained, shop_with, steps
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    BUDGETS,
    CONFIG_MAPS,
    WEBHOOKS,
    InMemoryCluster,
    api_error,
)

VOLUMES = Resource("", "v1", "PersistentVolume", "persistentvolumes", False, "", ("pv",), VERBS)
USAGES = Resource("protection.crossplane.io", "v1beta1", "Usage", "usages", True, verbs=VERBS)


@pytest.fixture
def cluster() -> InMemoryCluster:
    return shop_with(VOLUMES, USAGES, POLICIES, POLICY_BINDINGS)


def told_of(cluster: InMemoryCluster, kind: str, name: str, what: str) -> list[str]:
    rows = explained(cluster, Target(kind=kind, name=name, namespace="shop")).blocked
    return [cause.text for row in rows if row.record.name == name for cause in row.causes if cause.what == what]


# -- budgets -----------------------------------------------------------------------------------------------------------


def budget(cluster: InMemoryCluster, allowed: int = 0, selector: Any = None, **more: Any) -> None:
    status = {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 2, **more}
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}} if selector is None else selector}
    cluster.add(BUDGETS, "web", spec=spec, status={**status, "observedGeneration": 1}, generation=1)


# name: (budget, whether it holds the pod)
SHUT: dict[str, tuple[dict[str, Any], bool]] = {
    "allows nothing": ({}, True),
    "allows one": ({"allowed": 1}, False),
    "is about other pods": ({"selector": {"matchLabels": {"app": "db"}}}, False),
    "is about all pods": ({"selector": {}}, True),
    "has no pods": ({"expectedPods": 0}, False),
}


@pytest.mark.parametrize(("given", "held"), named(SHUT))
def test_a_pod_is_held_by_a_budget_that_is_shut_and_about_it(
    cluster: InMemoryCluster, given: dict[str, Any], held: bool
) -> None:
    cluster.add(PODS, "web", labels={"app": "web"}, status={"phase": "Running"})
    budget(cluster, **given)
    assert bool(told_of(cluster, "pod", "web", "budget")) is held


def test_a_budget_that_was_not_counted_yet_says_nothing(cluster: InMemoryCluster) -> None:
    cluster.add(PODS, "web", labels={"app": "web"})
    budget(cluster)
    cluster.change(BUDGETS, "web", generation=2)
    assert told_of(cluster, "pod", "web", "budget") == []


def test_a_node_names_only_pods_that_a_drain_would_wait_for(cluster: InMemoryCluster) -> None:
    cluster.add(NODES, "n1", "")
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    pods = {
        "held": ("n1", {"phase": "Running", **ready}),
        "elsewhere": ("n2", {"phase": "Running", **ready}),
        "ended": ("n1", {"phase": "Succeeded"}),
    }
    for name, (node, status) in pods.items():
        cluster.add(PODS, name, labels={"app": "web"}, spec={"nodeName": node}, status=status)
    budget(cluster)
    [text] = told_of(cluster, "node", "n1", "budget")
    assert "a drain of this node waits for Pod held: 1 of 2 pods are healthy, and it needs 1" in text


PERCENT = {"minAvailable": "100%", "selector": {}}


@pytest.mark.parametrize(
    ("spec", "patch"),
    [
        ({"minAvailable": 2, "selector": {}}, {"minAvailable": 1}),
        (PERCENT, {"minAvailable": None, "maxUnavailable": 1}),
        ({"maxUnavailable": 0, "selector": {}}, {"minAvailable": None, "maxUnavailable": 1}),
    ],
)
def test_a_budget_that_never_lets_one_go_comes_with_a_patch_that_does(
    cluster: InMemoryCluster, spec: dict[str, Any], patch: dict[str, Any]
) -> None:
    status = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2}
    cluster.add(BUDGETS, "web", spec=spec, status={**status, "observedGeneration": 1}, generation=1)
    [step] = steps(explained(cluster))
    assert json.loads(step.rpartition(" -p ")[2].strip("'")) == {"spec": patch}


def test_no_budgets_are_asked_for_while_everything_goes(cluster: InMemoryCluster) -> None:
    cluster.add(NAMESPACES, "shop", deleted=True)
    explained(cluster)
    assert sum(line.startswith("poddisruptionbudgets") for line in cluster.lists) == 1, "as a kind of the namespace"


# -- Usages and volumes ------------------------------------------------------------------------------------------------


def usage(cluster: InMemoryCluster, **spec: Any) -> None:
    of = {"apiVersion": DOMAINS.api_version, "kind": "Domain", "resourceRef": {"name": "web"}}
    cluster.add(USAGES, "u", spec={"of": of, **spec})


def test_a_usage_with_a_reason_and_none_for_a_namesake_elsewhere(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web")
    usage(cluster, reason="production")
    assert told_of(cluster, "Domain", "web", "usage") == ["Usage shop/u lets nobody delete it: production"]
    cluster.add(DOMAINS, "web", "bank")
    rows = explained(cluster, Target(kind="Domain", name="web", namespace="bank")).blocked
    assert [cause for row in rows for cause in row.causes] == []


def test_a_usage_that_selects_by_labels_may_mean_it(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", labels={"app": "web"})
    of = {"apiVersion": DOMAINS.api_version, "kind": "Domain", "resourceSelector": {"matchLabels": {"app": "web"}}}
    usage(cluster, of=of, by={"kind": "Release", "resourceRef": {"name": "r"}})
    [row] = explained(cluster, Target(kind="Domain", name="web", namespace="shop")).blocked
    [cause] = row.causes
    assert (cause.what, cause.certain) == ("usage", False)


def test_a_mark_that_nobody_stands_behind_any_more(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", labels={"crossplane.io/in-use": "true"})
    [row] = explained(cluster, Target(kind="Domain", name="web", namespace="shop")).blocked
    assert "no Usage names it any more" in row.causes[0].text
    assert row.suggestion.endswith("kubectl -n shop label domains.ingress.example.com web crossplane.io/in-use-")


@pytest.mark.parametrize(("phase", "policy", "said"), [("Bound", "Delete", "goes with it"), ("Released", "Retain", "")])
def test_a_volume_is_held_only_while_a_claim_is_bound_to_it(
    cluster: InMemoryCluster, phase: str, policy: str, said: str
) -> None:
    spec = {"claimRef": {"namespace": "shop", "name": "data"}, "persistentVolumeReclaimPolicy": policy}
    held = ["kubernetes.io/pv-protection"]
    cluster.add(VOLUMES, "disk", "", finalizers=held, deleted=True, spec=spec, status={"phase": phase})
    [row] = explained(cluster, Target(kind="pv", name="disk")).blocked
    assert [cause.what for cause in row.causes] == (["claim"] if said else [])
    assert said in row.suggestion


# -- refusals ----------------------------------------------------------------------------------------------------------

REF = ObjectRef("v1", "Domain", "shop", "web")


def _bound(policy: str, binding: str) -> bool:
    return (policy, binding) == ("p", "b")


_IMITATED = "ValidatingAdmissionPolicy 'p' with binding 'b;id' denied request: no"
# name: (status, message, causes, verb, what it is, part of the text, part of what could not be told)
REFUSALS: dict[str, tuple[int, str, tuple[str, ...], str, str, str]] = {
    "a policy": (
        422,
        "domains \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
        ("no",),
        "policy",
        "ValidatingAdmissionPolicy p refuses every change of it: no",
        "",
    ),
    "a policy that nobody has seen": (
        422,
        _IMITATED,
        (),
        "refused",
        "in the name of ValidatingAdmissionPolicy p: no",
        "",
    ),
    "a webhook that speaks like a policy": (
        400,
        f'admission webhook "w.x" denied the request: {_IMITATED}',
        (),
        "webhook",
        "webhook w.x refuses",
        "",
    ),
    "a schema that speaks like a policy": (
        422,
        "domains \"web\" is invalid: spec: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
        ("spec: no",),
        "schema",
        "it breaks its own schema: spec: no",
        "",
    ),
    "a webhook": (400, 'admission webhook "w.x" denied the request: no', (), "webhook", "webhook w.x refuses", ""),
    "crossplane": (409, 'admission webhook "nousages.x" denied the request: used', (), "usage", "used", ""),
    "a silent webhook": (
        500,
        'Internal error occurred: failed calling webhook "w.x": failed to call webhook: dial: refused',
        (),
        "webhook",
        "webhook w.x does not answer",
        "",
    ),
    "a webhook that takes no dry runs": (
        400,
        'admission webhook "w.x" does not support dry run',
        (),
        "",
        "",
        "w.x cannot be asked without consequences",
    ),
    "the schema": (
        422,
        "invalid",
        ("spec.a: must be b", "c", "d", "e"),
        "schema",
        "spec.a: must be b; c; d and 1 more",
        "",
    ),
    "no right": (403, "forbidden", (), "rights", "refuses every change of it: forbidden", ""),
    "an overloaded server": (429, "slow down", (), "", "", "slow down"),
    "something else": (405, "not allowed", (), "refused", "not allowed", ""),
}


@pytest.mark.parametrize(("status", "message", "causes", "what", "text", "blind"), named(REFUSALS))
def test_a_refusal_is_read(
    status: int, message: str, causes: tuple[str, ...], what: str, text: str, blind: str
) -> None:
    cause, unsaid = cause_of_refusal(ApiError(status, message=message, causes=causes), "patch", REF, DOMAINS, _bound)
    assert (cause.what if cause else "") == what
    assert text in (cause.text if cause else "")
    assert blind in unsaid
    assert bool(cause) is not bool(unsaid)


def test_a_refused_row_is_told_once_and_the_finalizer_comes_after(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    cluster.add(POLICIES, "p")
    cluster.add(POLICY_BINDINGS, "b", spec={"policyName": "p"})
    message = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
    cluster.refusals["Domain shop/web"] = api_error(422, "Invalid", message)
    told = explained(cluster)
    assert steps(told)[0].endswith(
        ": kubectl get validatingadmissionpolicybinding b -o yaml > b.yaml"
        " && kubectl delete validatingadmissionpolicybinding b"
    ), "what is lifted for a while must be there to be put back"
    assert ": ansible localhost -m sunset.kube.finalizer" in steps(told)[1]


def test_a_narrow_webhook_that_did_not_answer_is_no_guess_any_more_and_closes_the_circle(
    cluster: InMemoryCluster,
) -> None:
    """It is for some objects only, so nobody knows whether it is asked; the dry run has just shown that it is."""
    cluster.change(NAMESPACES, "shop", deletionTimestamp="2026-01-01T00:00:00Z")
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["domains"]}
    client = {"service": {"namespace": "shop", "name": "guard"}}
    narrow = {"name": "g.x", "clientConfig": client, "rules": [rule], "objectSelector": {"matchLabels": {"a": "b"}}}
    cluster.add(WEBHOOKS, "guard", webhooks=[narrow])
    assert not explained(cluster).deadlocks
    message = 'failed calling webhook "g.x": no endpoints available for service "guard"'
    cluster.refusals["Domain shop/web"] = api_error(500, "InternalError", message)
    told = explained(cluster)
    [row] = [row for row in told.blocked if row.record.name == "web"]
    [cause] = [cause for cause in row.causes if cause.what == "webhook"]
    assert (cause.certain, cause.text.startswith("webhook g.x does not answer")) == (True, True)
    assert cause.suggestion.endswith("kubectl delete validatingwebhookconfiguration guard")
    [circle] = told.deadlocks
    assert circle.cut == "kubectl delete validatingwebhookconfiguration guard"
    assert steps(told)[0] == cause.suggestion, "before the command that it refuses"


def test_without_the_right_nothing_is_tried_and_no_command_is_offered_that_would_fail(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    cluster.forbidden.add(("patch", "domains"))
    told = explained(cluster)
    assert cluster.log == []
    assert not any("sunset.kube.finalizer" in step for step in steps(told))
    assert "you may not patch domains.ingress.example.com in namespace shop" in "\n".join(tree_of(told))


def test_a_few_of_many_are_tried_and_at_least_one_of_each_sort(cluster: InMemoryCluster) -> None:
    for number in range(100):
        cluster.add(DOMAINS, f"d{number}", finalizers=[F], deleted=True)
    cluster.add(CONFIG_MAPS, "other", finalizers=["x.example.com/y"], deleted=True)
    explained(cluster)
    assert len(cluster.log) == 20
    assert all("dry run" in line for line in cluster.log)
    assert sum("ConfigMap" in line for line in cluster.log) == 1


def test_protected_finalizers_are_not_even_tried(cluster: InMemoryCluster) -> None:
    cluster.add(CONFIG_MAPS, "lb", finalizers=["service.kubernetes.io/load-balancer-cleanup"], deleted=True)
    explained(cluster)
    assert cluster.log == []


def test_who_may_see_little_is_told_so_in_few_words(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    for plural in ("deployments", "secrets", "services"):
        cluster.unseen[plural] = api_error(403, "Forbidden", f"User jo cannot list resource {plural}")
    cluster.unseen["leases"] = api_error(503, "Unavailable", "no answer")
    lines = tree_of(explained(cluster))
    text = "\n".join(lines)
    assert "its owner was not found: could not look: Deployments: not allowed" in text
    assert "  you may not list secrets in shop, " in text
    assert "User jo" not in text
    assert any("503" in line for line in lines), "what does not answer is quoted"


# -- ten thousand ------------------------------------------------------------------------------------------------------


def test_ten_thousand_objects_in_a_circle_take_no_more_requests_and_fit_one_screen(cluster: InMemoryCluster) -> None:
    cluster.add(NAMESPACES, "shop", deleted=True)
    cluster.add(DEPLOYMENTS, "shop-operator", spec={"replicas": 0})
    cluster.add(DOMAINS, "d0", finalizers=[F], deleted=True)
    explained(cluster)
    few = sorted(cluster.lists)
    for number in range(10_000):
        owners = [{"uid": f"Domain-shop-d{number // 2}", "blockOwnerDeletion": True}]
        names = [F, f"x{number % 40}.example.com/y"]
        cluster.add(DOMAINS, f"d{number}", finalizers=names, deleted=True, ownerReferences=owners)
    cluster.lists.clear()
    cluster.log.clear()
    told = explained(cluster)
    lines = tree_of(told)
    assert len(told.blocked) == 10_002
    assert sorted(cluster.lists) == few
    assert len(cluster.log) == 20
    assert len(lines) <= 40
    assert told.deadlocks
