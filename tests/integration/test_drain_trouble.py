# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draining when things go wrong: kinds that cannot be seen, refusals, dead and unruly controllers, signals, crowds."""

from __future__ import annotations

import json
import secrets
import signal
import threading
from collections import Counter
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Planned
from ansible_collections.sunset.kube.plugins.module_utils.kube import transport
from integration.products import (
    LEGACY,
    NEW,
    OPERATOR_NAMES,
    ROUTES,
    Drainer,
    anchor,
    controller,
    custom,
    gateway,
    gateway_class,
    ingress,
    ingress_class,
    kind_row,
    marked,
    one_of_each,
    operator_deployment,
    refusing,
    route,
    service,
    set_status,
)
from integration.ranked import annotated, define, failed, names, succeeded
from integration.running import PATIENCE, module_process
from integration.stage import CLEANUP, CRDS, FOREIGN, GUARD, Body, Stage, body, crd
from lab.faults import Answer, FaultProxy, Rule, SlowAnswer
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.waiting import until

EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


def freezes(stage: Stage) -> list[str]:
    """Policies and bindings of ours that are still there."""
    items = [*stage.api.get(POLICIES)[1]["items"], *stage.api.get(BINDINGS)[1]["items"]]
    return [item["metadata"]["name"] for item in items if "sunset.dev/freeze" in item["metadata"].get("labels", {})]


def thaw(stage: Stage) -> list[str]:
    """What was left of freezes. It is removed, and the server has noticed that it is."""
    left = freezes(stage)
    for collection in (BINDINGS, POLICIES):
        for name in set(left):
            stage.api.delete(f"{collection}/{name}")
    probes = [service("probe", stage.namespace, LEGACY), custom("Domain", "probe", stage.namespace, LEGACY)]
    paths = [stage.api.path_of(probe, collection=True) for probe in probes]

    def allowed() -> bool:
        answers = [stage.api.post(path, probe, dryRun="All") for path, probe in zip(paths, probes, strict=True)]
        return {status for status, _answer in answers} == {201}

    until(allowed, "the thaw")
    return left


def replicas(stage: Stage, workload: Body) -> int:
    count: int = stage.look(workload)["spec"]["replicas"]
    return count


def untouched(audit: AuditTrail, name: str) -> bool:
    return audit.writes(name) == []


# -- kinds that cannot be seen -----------------------------------------------------------------------------------------


class Shop:
    """A product of the test's own: one kind that is there, and whatever the test adds."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.group = f"{secrets.token_hex(4)}.example.com"
        self.definition = define(stage, crd("Basket", self.group))
        (self.basket,) = stage.put(self.thing("Basket", "b"))

    def thing(self, kind: str, name: str) -> Body:
        return body(f"{self.group}/v1", kind, name, self.stage.namespace, CLEANUP)

    def profile(self, *kinds: tuple[str, str], **more: Any) -> dict[str, Any]:
        listed = [{"group": self.group, "kind": "Basket"}, *({"group": group, "kind": kind} for group, kind in kinds)]
        return {"name": "shop", "finalizers": [CLEANUP], "operator_kinds": listed, **more}


@pytest.fixture
def shop(stage: Stage) -> Shop:
    return Shop(stage)


def test_a_kind_that_is_not_installed_is_skipped(stage: Stage, drainer: Drainer, shop: Shop) -> None:
    result = succeeded(drainer(shop.profile((shop.group, "Till"), ("nowhere.example.com", "Safe"))))
    assert kind_row(result, "Till")["state"] == "not installed"
    assert kind_row(result, "Safe")["state"] == "not installed"
    assert kind_row(result, "Basket")["state"] == "served"
    assert stage.finalizers(shop.basket) == []


def test_objects_of_a_definition_that_is_being_deleted_are_freed(stage: Stage, drainer: Drainer, shop: Shop) -> None:
    path = f"{CRDS}/{shop.definition['metadata']['name']}"
    stage.api.delete(path)
    until(lambda: "deletionTimestamp" in stage.look(shop.basket)["metadata"], "the basket to be deleted")
    result = succeeded(drainer(shop.profile()))
    row = kind_row(result, "Basket")
    assert (row["state"], row["released"]) == ("terminating", 1)
    until(lambda: stage.api.get(path)[0] == 404, "the definition to go")


def test_a_kind_without_a_served_version_stops_the_drain(stage: Stage, drainer: Drainer, shop: Shop) -> None:
    """Its objects are still stored, with their finalizers; only nobody can see them."""
    hidden = define(stage, crd("Till", shop.group))
    stage.put(shop.thing("Till", "t"))
    versions = [{**version, "served": False} for version in hidden["spec"]["versions"]]
    path = stage.api.path_of(hidden)
    assert stage.api.patch(path, {"spec": {"versions": versions}})[0] == 200
    until(lambda: stage.api.get(f"/apis/{shop.group}/v1/tills")[0] == 404, "the kind to be hidden")
    result = drainer(shop.profile((shop.group, "Till")))
    try:
        assert "none of its versions is served" in failed(result)
        assert kind_row(result, "Till")["state"] == "not served"
        assert stage.finalizers(shop.basket) == [CLEANUP]
    finally:
        stage.api.patch(path, {"spec": {"versions": hidden["spec"]["versions"]}})
        until(lambda: stage.api.get(f"/apis/{shop.group}/v1/tills")[0] == 200, "the kind to be back")


def test_a_group_that_does_not_answer_stops_the_drain(
    stage: Stage, drainer: Drainer, shop: Shop, dead_group: str, audit: AuditTrail
) -> None:
    result = drainer(shop.profile((dead_group, "Ghost")))
    assert "nothing was changed" in failed(result)
    assert kind_row(result, "Ghost")["state"] == "group unavailable"
    assert stage.finalizers(shop.basket) == [CLEANUP]
    assert untouched(audit, drainer.user.name)


def test_a_group_that_does_not_answer_and_is_not_asked_for_does_not_matter(
    stage: Stage, drainer: Drainer, shop: Shop, dead_group: str
) -> None:
    succeeded(drainer(shop.profile()))
    assert stage.finalizers(shop.basket) == []


def test_a_kind_one_may_not_list_stops_the_drain(
    stage: Stage, drainer: Drainer, shop: Shop, as_user: AsUser, audit: AuditTrail
) -> None:
    define(stage, crd("Till", shop.group))
    rules = [
        {"apiGroups": [shop.group], "resources": ["baskets"], "verbs": ["*"]},
        {"apiGroups": ["apps", "coordination.k8s.io", "apiextensions.k8s.io"], "resources": ["*"], "verbs": ["*"]},
    ]
    user = as_user("blind", rules)
    result = drainer(shop.profile((shop.group, "Till")), user=user)
    message = failed(result)
    assert "Till" in message
    assert kind_row(result, "Till")["state"] == "forbidden"
    assert stage.finalizers(shop.basket) == [CLEANUP]
    assert untouched(audit, "blind")


def test_a_right_to_write_that_is_missing_shows_before_the_first_change(
    stage: Stage, drainer: Drainer, as_user: AsUser, audit: AuditTrail
) -> None:
    here = stage.namespace
    things = stage.put(service("lb", here, LEGACY), custom("Domain", "d", here, LEGACY))
    read = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    services = {"apiGroups": [""], "resources": ["services"], "verbs": ["patch"]}
    user = as_user("half-blind", [read, services])
    message = failed(drainer(user=user))
    assert "domains" in message.lower()
    assert [stage.finalizers(thing) for thing in things] == [[LEGACY], [LEGACY]]
    assert untouched(audit, "half-blind")


@pytest.mark.parametrize("code", [500, 503])
def test_a_list_that_fails_is_never_taken_for_empty(
    stage: Stage, drainer: Drainer, faults: FaultProxy, audit: AuditTrail, code: int
) -> None:
    here = stage.namespace
    things = stage.put(service("lb", here, LEGACY), custom("Domain", "d", here, LEGACY))
    faults.add(Rule(Answer(code), method="GET", path="/domains$"))
    result = drainer(kubeconfig=faults.kubeconfig(drainer.user), timeout=15)
    assert "Domain" in failed(result)
    assert [stage.finalizers(thing) for thing in things] == [[LEGACY], [LEGACY]]
    assert untouched(audit, drainer.user.name)


def test_a_list_that_fails_after_the_first_round_is_a_failure_too(
    stage: Stage, drainer: Drainer, faults: FaultProxy
) -> None:
    here = stage.namespace
    (lb,) = stage.put(service("lb", here, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY))

    def break_it(event: Any) -> None:
        if isinstance(event, Did) and event.object.kind == "Service":
            faults.add(Rule(Answer(500), method="GET", path="/domains$"))

    result = drainer(kubeconfig=faults.kubeconfig(drainer.user), timeout=15, on_event=break_it)
    assert "Domain" in failed(result)
    assert stage.finalizers(lb) == []
    assert stage.finalizers(ko) == [LEGACY], "nobody knows whether everything is free"
    assert result["changed"] is True


def test_classes_that_cannot_be_listed_stop_the_drain(
    stage: Stage, drainer: Drainer, faults: FaultProxy, audit: AuditTrail
) -> None:
    """Without them nobody knows whose the Ingress is."""
    stage.put(ingress_class("ngrok"))
    (web,) = stage.put(ingress("web", stage.namespace, LEGACY, of_class="ngrok"))
    faults.add(Rule(Answer(500), method="GET", path="/ingressclasses$"))
    failed(drainer(kubeconfig=faults.kubeconfig(drainer.user), timeout=15))
    assert stage.finalizers(web) == [LEGACY]
    assert untouched(audit, drainer.user.name)


# -- refusals and races ------------------------------------------------------------------------------------------------


def test_a_deletion_that_is_refused_is_named_the_rest_goes_and_the_anchor_stays(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    free, held = stage.put(
        custom("Domain", "free", here, LEGACY, labels=marked(here)),
        custom("Domain", "held", here, LEGACY, labels=marked(here)),
    )
    (lb,) = stage.put(service("lb", here, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY, policy="Delete"))
    with (
        refusing(stage, held, "oldObject.metadata.name != 'held'", "the treasury says no", "DELETE"),
        controller(stage, here, "Domain"),
    ):
        result = drainer()
    message = failed(result)
    assert "held" in message
    assert "the treasury says no" in message
    assert stage.is_gone(free)
    assert stage.finalizers(held) == [LEGACY]
    assert stage.finalizers(lb) == []
    assert result["progress"] == "2/3"
    assert stage.finalizers(ko) == [LEGACY]


@pytest.mark.parametrize(
    "answer",
    [Answer(409), Answer(422), Answer(429, retry_after=1), Answer(500), Answer(503)],
    ids=lambda answer: str(answer.status),
)
def test_a_storm_of_refusals_that_ends_is_ridden_out(
    stage: Stage, drainer: Drainer, faults: FaultProxy, answer: Answer
) -> None:
    here = stage.namespace
    things = stage.put(*(service(f"s{n}", here, FOREIGN, LEGACY) for n in range(4)))
    rule = faults.add(Rule(answer, method="PATCH", times=3))
    result = succeeded(drainer(kubeconfig=faults.kubeconfig(drainer.user)))
    assert rule.hits == 3
    assert {tuple(stage.finalizers(thing)) for thing in things} == {(FOREIGN,)}
    assert result["progress"] == "4/4"


def test_a_finalizer_another_controller_adds_meanwhile_is_not_lost(stage: Stage, drainer: Drainer) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))

    def add(event: Any) -> None:
        if isinstance(event, Planned):
            finalizers = ["new.example.org/first", LEGACY, FOREIGN]
            assert stage.api.patch(stage.api.path_of(lb), {"metadata": {"finalizers": finalizers}})[0] == 200

    succeeded(drainer(on_event=add))
    assert stage.finalizers(lb) == ["new.example.org/first", FOREIGN]


def test_an_object_that_goes_by_itself_meanwhile_is_no_failure(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    (lb,) = stage.put(service("lb", here, LEGACY))
    (domain,) = stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))

    def remove(event: Any) -> None:
        if isinstance(event, Planned):
            for thing in (lb, domain):
                stage.release(thing)
                assert stage.api.delete(stage.api.path_of(thing))[0] == 200

    result = succeeded(drainer(policy="Delete", on_event=remove))
    assert result["progress"] == "2/2"


def test_an_object_replaced_after_the_look_is_not_deleted_by_its_name(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    """The new one belongs to somebody else; only the uid tells."""
    here = stage.namespace
    operator_deployment(stage, here)
    (old,) = stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))
    stage.put(anchor("ngrok-operator", here, LEGACY, policy="Delete"))
    new: list[Body] = []

    def replace(event: Any) -> None:
        if isinstance(event, Planned) and not new:
            stage.release(old)
            stage.api.delete(stage.api.path_of(old))
            new.extend(stage.put(custom("Domain", "d", here, LEGACY, labels=marked("elsewhere"))))

    with controller(stage, here, "KubernetesOperator"):
        succeeded(drainer(on_event=replace))
    assert stage.finalizers(new[0]) == [LEGACY]
    assert "deletionTimestamp" not in stage.look(new[0])["metadata"]


# -- controllers -------------------------------------------------------------------------------------------------------


def test_a_dead_controller_makes_the_task_fail_in_time_and_be_named(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    workload = operator_deployment(stage, here)  # it says that it lives; nobody does the work
    (domain,) = stage.put(custom("Domain", "stuck", here, LEGACY, labels=marked(here)))
    (lb,) = stage.put(service("lb", here, LEGACY))
    result = drainer(policy="Delete", timeout=10)
    message = failed(result)
    assert "stuck" in message
    assert LEGACY in message
    assert stage.finalizers(domain) == [LEGACY]
    assert stage.finalizers(lb) == []
    assert (result["drain_status"], result["progress"]) == ("failed", "1/2")
    (survivor,) = result["survivors"]
    assert survivor["name"] == "stuck"
    assert LEGACY in json.dumps(survivor)
    assert result["controller"]["alive"] == "alive"
    assert replicas(stage, workload) == 1


@pytest.mark.parametrize("mode", [{"delay": 1.0}, {"failures": 4}], ids=["slow", "failing"])
def test_a_controller_that_needs_its_time_gets_it(stage: Stage, drainer: Drainer, mode: dict[str, Any]) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    things = stage.put(*(custom("Domain", f"d{n}", here, LEGACY, labels=marked(here)) for n in range(3)))
    with controller(stage, here, "Domain", **mode) as running:
        result = succeeded(drainer(policy="Delete"))
        assert running.ledger == set()
    assert all(stage.is_gone(thing) for thing in things)
    assert result["progress"] == "3/3"


def left_with_finalizer(stage: Stage, plural: str) -> list[str]:
    _status, listed = stage.api.get(f"/apis/ingress.k8s.ngrok.com/v1alpha1/namespaces/{stage.namespace}/{plural}")
    return [item["metadata"]["name"] for item in listed["items"] if LEGACY in item["metadata"].get("finalizers", [])]


def test_objects_the_controller_makes_again_are_deleted_again(stage: Stage, drainer: Drainer) -> None:
    """Or they hang for ever once the operator is gone."""
    here = stage.namespace
    operator_deployment(stage, here)
    stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))
    with controller(stage, here, "Domain", recreates=1) as running:
        succeeded(drainer(policy="Delete", settle=2))
        until(lambda: len(running.made_again) == 1, "the object to be made again")
        assert left_with_finalizer(stage, "domains") == []


def test_objects_made_again_without_end_fail_the_task(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)), service("lb", here, LEGACY))
    with controller(stage, here, "Domain", recreates=1000):
        message = failed(drainer(policy="Delete", settle=1, timeout=60))
    assert "keep coming back" in message
    assert "Domain" in message


def test_an_operator_that_drains_by_itself_does_not_delete_what_this_task_spares(
    stage: Stage, drainer: Drainer
) -> None:
    """ngrok's own drain deletes everything that carries its finalizer as soon as the anchor is being deleted."""
    here = stage.namespace
    operator_deployment(stage, here)
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY, policy="Delete"))
    made, written = stage.put(
        custom("CloudEndpoint", "made", here, LEGACY, labels=marked(here)),
        custom("CloudEndpoint", "written", here, LEGACY),
    )
    (dear,) = stage.put(annotated(custom("Domain", "dear", here, LEGACY), **{"sunset.dev/keep": "true"}))

    def drain_by_itself(event: Any) -> None:
        """Right after our delete of the anchor, as a prompt operator would."""
        if isinstance(event, Did) and event.action == "delete" and event.object.kind == "KubernetesOperator":
            for thing in (made, written, dear):
                found = stage.find(thing)
                if found and LEGACY in found["metadata"].get("finalizers", []):
                    stage.api.delete(stage.api.path_of(thing))

    with controller(stage, here, "KubernetesOperator", "CloudEndpoint", "Domain", delay=0.3):
        succeeded(drainer(on_event=drain_by_itself))
    assert stage.is_gone(ko)
    assert stage.is_gone(made)
    assert [stage.is_gone(thing) for thing in (written, dear)] == [False, False]


def test_force_strips_what_a_dead_controller_holds_and_the_bill_has_its_ids(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    (domain,) = stage.put(
        custom("Domain", "stuck", here, LEGACY, FOREIGN, labels=marked(here), spec={"domain": "shop.example.com"})
    )
    set_status(stage, domain, {"id": "rd_9"})
    seen: list[str] = []

    def let_go(event: Any) -> None:
        found = stage.find(domain)
        if found and found["metadata"]["finalizers"] == [FOREIGN] and not seen:
            seen.append("stripped")
            stage.release(domain)

    result = succeeded(drainer(policy="Delete", force=True, force_after=1, force_deny=[FOREIGN], on_event=let_go))
    assert seen == ["stripped"]
    assert stage.is_gone(domain)
    rows = [row for row in result["retained"] if "by force" in row["reason"]]
    assert names(rows) == ["stuck"]
    assert rows[0]["external"] == {"status.id": "rd_9", "spec.domain": "shop.example.com"}


@pytest.mark.parametrize("allow", [None, [GUARD]], ids=["not named", "named"])
def test_force_takes_a_finalizer_that_guards_money_only_when_it_is_named(
    stage: Stage, drainer: Drainer, allow: list[str] | None
) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    (domain,) = stage.put(custom("Domain", "d", here, LEGACY, GUARD, labels=marked(here)))
    result = drainer(policy="Delete", force=True, force_after=0, force_allow=allow, timeout=10)
    assert bool(result.get("failed")) is (allow is None)
    assert stage.is_gone(domain) is (allow is not None)


def test_consent_to_more_finalizers_is_another_plan(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    stage.put(custom("Domain", "d", here, LEGACY, GUARD, labels=marked(here)))
    wanted: dict[str, Any] = {"policy": "Delete", "force": True, "check_mode": True}
    hashes = {succeeded(drainer(**wanted, force_allow=allow))["plan_hash"] for allow in (None, [GUARD])}
    assert len(hashes) == 2


def test_force_waits_for_the_controller_first(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))
    with controller(stage, here, "Domain", delay=1) as running:
        result = succeeded(drainer(policy="Delete", force=True, force_after=20))
        assert running.cleaned == ["d"]
    assert result["retained"] == []


def test_force_allows_delete_without_an_operator(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    (domain,) = stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY, policy="Delete"))
    succeeded(drainer(force=True, force_after=0))
    assert stage.is_gone(domain)
    assert stage.is_gone(ko)


# -- quiesce -----------------------------------------------------------------------------------------------------------


def doubled(stage: Stage) -> Body:
    """The operator's Deployment, wanting two replicas."""
    workload = operator_deployment(stage, stage.namespace)
    assert stage.api.patch(stage.api.path_of(workload), {"spec": {"replicas": 2}})[0] == 200
    return workload


@pytest.mark.parametrize("quiesce", ["scale", "auto"])
def test_without_an_anchor_the_operator_is_stopped_first_and_stays_so(
    stage: Stage, drainer: Drainer, quiesce: str
) -> None:
    workload = doubled(stage)
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    seen: list[int] = []

    def look(event: Any) -> None:
        if isinstance(event, Did) and event.object.kind == "Service":
            seen.append(replicas(stage, workload))

    result = succeeded(drainer(quiesce=quiesce, on_event=look))
    assert seen == [0]
    assert replicas(stage, workload) == 0
    assert [(row["object"]["name"], row["replicas"]) for row in result["stopped"]] == [("ngrok-operator", 2)]
    assert stage.finalizers(lb) == []


@pytest.mark.parametrize(("quiesce", "left"), [("none", 1), ("auto", 0)])
def test_an_operator_that_is_told_by_its_anchor_is_stopped_when_the_anchor_is_gone(
    stage: Stage, drainer: Drainer, quiesce: str, left: int
) -> None:
    workload = operator_deployment(stage, stage.namespace)
    stage.put(service("lb", stage.namespace, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    there: list[bool] = []

    def look(event: Any) -> None:
        if isinstance(event, Did) and event.action == "scale to 0":
            there.append(not stage.is_gone(ko))

    with controller(stage, stage.namespace, "KubernetesOperator"):
        result = succeeded(drainer(quiesce=quiesce, on_event=look))
    assert replicas(stage, workload) == left
    assert (len(result["stopped"]), there) == (1 - left, [False] * (1 - left))


def test_an_operator_that_was_stopped_does_not_get_its_anchor_back(stage: Stage, drainer: Drainer) -> None:
    workload = operator_deployment(stage, stage.namespace)
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    stage.put(service("lb", stage.namespace, LEGACY))
    succeeded(drainer(quiesce="scale"))
    assert replicas(stage, workload) == 0
    assert stage.is_gone(ko)


def test_a_stopped_operator_is_started_again_when_the_drain_fails(stage: Stage, drainer: Drainer) -> None:
    workload = doubled(stage)
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    with refusing(stage, lb, "false", "the treasury says no", "UPDATE"):
        result = drainer(quiesce="scale")
    failed(result)
    assert replicas(stage, workload) == 2
    assert result["stopped"] == []


@pytest.mark.parametrize("action", ["scale to 0", "release"])
def test_a_stopped_operator_is_started_again_after_a_signal(stage: Stage, drainer: Drainer, action: str) -> None:
    workload = doubled(stage)
    stage.put(service("lb", stage.namespace, LEGACY), service("lb2", stage.namespace, LEGACY))
    stop = StopSign()

    def interrupt(event: Any) -> None:
        if isinstance(event, Did) and (event.action == action or event.object.kind == "Service"):
            stop.set("received SIGTERM")

    result = drainer(quiesce="scale", stop=stop, on_event=interrupt)
    assert "SIGTERM" in failed(result)
    assert replicas(stage, workload) == 2


def test_a_time_out_starts_the_operator_again_and_lifts_the_freeze(stage: Stage, drainer: Drainer) -> None:
    """Both need requests after the time is over."""
    workload = doubled(stage)
    stage.put(service("lb", stage.namespace, LEGACY), anchor("ngrok-operator", stage.namespace, LEGACY, FOREIGN))
    result = drainer(quiesce="scale", freeze=True, timeout=15)
    left = thaw(stage)
    message = failed(result)
    assert FOREIGN in message
    assert "ngrok-operator" in message
    assert replicas(stage, workload) == 2
    assert left == []


def test_where_there_is_nothing_to_stop_stopping_is_refused(stage: Stage, drainer: Drainer) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    assert "nothing to scale down" in failed(drainer(quiesce="scale"))
    assert stage.finalizers(lb) == [LEGACY]


def test_delete_does_not_stop_the_operator_it_needs(stage: Stage, drainer: Drainer) -> None:
    workload = operator_deployment(stage, stage.namespace)
    stage.put(custom("Domain", "d", stage.namespace, LEGACY, labels=marked(stage.namespace)))
    assert "needs the running operator" in failed(drainer(policy="Delete", quiesce="scale"))
    assert replicas(stage, workload) == 1


# -- signals and freezes -----------------------------------------------------------------------------------------------


def test_a_signal_in_the_quiet_time_ends_it_at_once_and_the_anchor_stays(stage: Stage, drainer: Drainer) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    stop = StopSign()

    def interrupt() -> None:
        until(lambda: stage.finalizers(lb) == [], "the release", every=0.05)
        stop.set("received SIGTERM")

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    result = drainer(settle=40, stop=stop)
    watcher.join()
    assert "SIGTERM" in failed(result)
    assert result["drain_status"] == "failed"
    assert stage.finalizers(ko) == [LEGACY]


@pytest.mark.parametrize("action", ["freeze", "release"])
def test_a_signal_leaves_no_freeze_behind(stage: Stage, drainer: Drainer, action: str) -> None:
    stage.put(service("lb", stage.namespace, LEGACY), service("lb2", stage.namespace, LEGACY))
    stop = StopSign()

    def interrupt(event: Any) -> None:
        if isinstance(event, Did) and (event.action == action or event.object.kind == "Service"):
            stop.set("received SIGTERM")

    result = drainer(freeze=True, stop=stop, on_event=interrupt)
    left = thaw(stage)
    assert "SIGTERM" in failed(result)
    assert left == []


def test_a_stop_while_reads_hang_still_starts_the_operator_again_and_lifts_the_freeze(
    stage: Stage, drainer: Drainer, faults: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "STOPPED_READ", 0.5)
    workload = doubled(stage)
    stage.put(service("lb", stage.namespace, LEGACY))
    stop, hung, results = StopSign(), Rule(SlowAnswer(86400.0), method="GET", path="/services$"), list[Any]()

    def hang(event: Any) -> None:
        if isinstance(event, Did) and event.action == "scale to 0":
            faults.add(hung)

    def run() -> None:
        where = faults.kubeconfig(drainer.user)
        results.append(drainer(quiesce="scale", freeze=True, kubeconfig=where, stop=stop, on_event=hang))

    work = threading.Thread(target=run, daemon=True)
    work.start()
    until(lambda: hung.hits, "a read without an answer", every=0.02)
    stop.set("received SIGTERM")
    until(lambda: not work.is_alive(), "a run that was told to stop, while the reads still hang")
    assert "SIGTERM" in failed(results[0])
    assert replicas(stage, workload) == 2
    assert thaw(stage) == []


def test_a_failure_leaves_no_freeze_behind(stage: Stage, drainer: Drainer) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    with refusing(stage, lb, "false", "the treasury says no", "UPDATE"):
        failed(drainer(freeze=True))
    assert thaw(stage) == []


def test_a_freeze_that_cannot_be_completed_leaves_nothing_behind(
    stage: Stage, drainer: Drainer, as_user: AsUser
) -> None:
    """The policy may be created, its binding may not."""
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    group = "admissionregistration.k8s.io"
    rules = [
        {"apiGroups": ["", "apps", "apiextensions.k8s.io"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": ["networking.k8s.io", "gateway.networking.k8s.io"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": ["ngrok.k8s.ngrok.com", "ingress.k8s.ngrok.com"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": ["bindings.k8s.ngrok.com", "coordination.k8s.io"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": [group], "resources": ["validatingadmissionpolicies"], "verbs": ["*"]},
    ]
    result = drainer(freeze=True, user=as_user("no-bindings", rules))
    left = thaw(stage)
    failed(result)
    assert stage.finalizers(lb) == [LEGACY]
    assert left == []


def test_any_name_of_a_profile_can_be_frozen(stage: Stage, drainer: Drainer, shop: Shop) -> None:
    succeeded(drainer({**shop.profile(), "name": "My Shop, the 2nd"}, freeze=True))
    assert stage.finalizers(shop.basket) == []
    assert thaw(stage) == []


def test_two_drains_at_a_time_do_not_lift_each_others_freeze(stage: Stage, drainer: Drainer) -> None:
    """Two installations of one product, each drained by its own job."""
    here, there = stage.namespace, stage.another_namespace()
    stage.put(service("lb", here, LEGACY), service("lb", there, LEGACY))
    answers: list[int] = []

    def meanwhile(event: Any) -> None:
        if isinstance(event, Did) and event.object.kind == "Service" and not answers:
            answers.append(0)
            succeeded(Drainer.__call__(drainer, freeze=True, instance={"namespaces": [there]}))
            made = custom("Domain", "late", here, LEGACY)
            answers.append(stage.api.post(stage.api.path_of(made, collection=True), made, dryRun="All")[0])

    succeeded(drainer(freeze=True, instance={"namespaces": [here]}, on_event=meanwhile))
    assert answers == [0, 403]
    assert thaw(stage) == []


def test_a_module_told_to_stop_in_mid_run_reports_and_leaves_no_freeze(
    stage: Stage, drainer: Drainer, faults: FaultProxy
) -> None:
    count = 30
    stage.put(*(service(f"s{n:02}", stage.namespace, LEGACY) for n in range(count)))
    params = {"profile": "ngrok", "freeze": True, "parallel": 2, "timeout": 100}

    def writes() -> int:
        return sum(request.method == "PATCH" and "/services/" in request.path for request in faults.requests)

    faults.latency = 0.1
    with module_process("drain", params, faults.kubeconfig(drainer.user)) as process:
        until(lambda: writes() >= 6, "the first writes", timeout=PATIENCE, every=0.02)
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, stderr
    result = json.loads(stdout)
    assert "SIGTERM" in result["msg"]
    items = stage.api.get(f"/api/v1/namespaces/{stage.namespace}/services")[1]["items"]
    done = sum(not item["metadata"].get("finalizers") for item in items)
    assert 0 < done < count
    assert result["progress"] == f"{done}/{count}"
    assert result["changed"] is True
    assert thaw(stage) == []


# -- many objects ------------------------------------------------------------------------------------------------------


def test_two_thousand_objects_of_eleven_kinds_cost_hardly_more_than_one_request_each(
    stage: Stage, drainer: Drainer, as_user: AsUser, audit: AuditTrail
) -> None:
    here = stage.namespace
    stage.put(ingress_class("ngrok"), gateway_class("ngrok"), gateway("gw", here, of_class="ngrok"))
    bodies: list[Body] = []
    for n in range(182):
        bodies += [
            ingress(f"o{n}", here, LEGACY, of_class="ngrok"),
            service(f"o{n}", here, FOREIGN, NEW),
            gateway(f"o{n}", here, LEGACY, of_class="ngrok"),
            *(route(kind, f"o{n}", here, LEGACY, parents=[{"name": "gw"}]) for kind in ROUTES),
            *(custom(kind, f"o{n}", here, NEW, labels=marked(here)) for kind in OPERATOR_NAMES),
        ]
    bodies = bodies[:2000]
    stage.put(*bodies)
    user = as_user("crowd", EVERYTHING)
    audit.begin_anew()
    result = succeeded(drainer(user=user, timeout=100))
    assert result["progress"] == "2000/2000"
    events = audit.events("crowd")
    # Every kind of the cluster is listed twice besides, before and after.
    kinds = {(event.group, event.resource) for event in events if event.verb == "list"}
    asked = Counter((event.verb, event.resource) for event in events)
    assert len(events) <= 2000 * 1.05 + 2 * len(kinds), (len(kinds), asked.most_common(20))
    written = Counter((event.resource, event.name) for event in audit.writes("crowd"))
    assert len(written) == 2000
    assert set(written.values()) == {1}
    paths = {stage.api.path_of(one, collection=True) for one in bodies}
    left = [item["metadata"].get("finalizers") or [] for path in paths for item in stage.api.get(path)[1]["items"]]
    assert Counter(map(tuple, left)) == {(): 2001 - 182, (FOREIGN,): 182}
    for path in paths:  # faster than one by one
        stage.api.delete(path)


def test_a_drain_of_everything_in_parallel_keeps_to_the_number_of_requests_at_once(
    stage: Stage, drainer: Drainer
) -> None:
    user, operator = one_of_each(stage, LEGACY)
    result = succeeded(drainer(parallel=1))
    assert result["progress"] == "11/11"
    assert all(stage.finalizers(thing) == [] for thing in (*user, *operator))
