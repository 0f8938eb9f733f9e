# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose is it? Two installations of one product share kinds and finalizers, and only one of them is drained."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest

from integration.products import (
    GATEWAY_EXISTS,
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
    operator_deployment,
    route,
    service,
)
from integration.ranked import annotated, failed, kept, names, succeeded, when_waiting_for
from integration.running import warnings_of
from integration.stage import Body, Stage
from lab.plane.audit import AuditTrail
from lab.waiting import until

DEFAULT = {"ingressclass.kubernetes.io/is-default-class": "true"}
LEGACY_CLASS = "kubernetes.io/ingress.class"


def verdicts(result: dict[str, Any]) -> dict[str, str]:
    return {name: verdict for name, (verdict, _reason) in kept(result).items()}


# -- two installations -------------------------------------------------------------------------------------------------


@dataclass
class Installation:
    """One of two: its namespace, its anchor, everything it holds."""

    namespace: str
    anchor: Body
    user: list[Body]
    operator: list[Body]

    @property
    def all(self) -> list[Body]:
        return [self.anchor, *self.user, *self.operator]

    @property
    def named(self) -> dict[str, str]:
        return {"name": self.anchor["metadata"]["name"], "namespace": self.namespace}


def install(stage: Stage, name: str, *, finalizer: str = LEGACY) -> Installation:
    """An operator that watches its own namespace, with an ingress class and a gateway class of its own."""
    here = stage.another_namespace()
    stage.put(ingress_class(name), gateway_class(name))
    user = stage.put(
        ingress("web", here, finalizer, of_class=name),
        service("lb", here, finalizer),
        gateway("gw", here, finalizer, of_class=name),
        route("HTTPRoute", "r", here, finalizer, parents=[{"name": "gw"}]),
    )
    operator = stage.put(*(custom(kind, "o", here, finalizer, labels=marked(here)) for kind in OPERATOR_NAMES))
    (ko,) = stage.put(anchor(f"ngrok-{name}", here, finalizer))
    operator_deployment(stage, here)
    return Installation(here, ko, user, operator)


@pytest.fixture
def both(stage: Stage, drainer: Drainer) -> tuple[Installation, Installation]:
    return install(stage, "a"), install(stage, "b")


def test_delete_cleans_one_installation_and_leaves_the_other_as_it_was(
    stage: Stage, drainer: Drainer, both: tuple[Installation, Installation]
) -> None:
    a, b = both
    before = stage.versions(b.all)
    kinds = ("KubernetesOperator", *OPERATOR_NAMES)
    with controller(stage, a.namespace, *kinds) as of_a, controller(stage, b.namespace, *kinds) as of_b:
        ledger = set(of_b.ledger)
        instance = {"namespaces": [a.namespace], "ingress_classes": ["a"]}
        result = succeeded(drainer(policy="Delete", anchor=a.named, instance=instance))
        assert of_a.ledger == set()
        assert (of_b.ledger, of_b.cleaned) == (ledger, [])
    assert all(stage.is_gone(thing) for thing in (a.anchor, *a.operator))
    assert [stage.finalizers(thing) for thing in a.user] == [[]] * len(a.user)
    assert stage.versions(b.all) == before
    assert result["progress"] == "9/9"


def test_retain_frees_one_installation_and_leaves_the_other_as_it_was(
    stage: Stage, drainer: Drainer, both: tuple[Installation, Installation]
) -> None:
    a, b = both
    before = stage.versions(b.all)
    with controller(stage, a.namespace, "KubernetesOperator"):
        succeeded(drainer(policy="Retain", anchor=a.named, instance={"namespaces": [a.namespace]}))
    assert [stage.finalizers(thing) for thing in (*a.user, *a.operator)] == [[]] * 9
    assert stage.is_gone(a.anchor)
    assert stage.versions(b.all) == before


def test_a_second_living_anchor_is_a_reason_to_refuse(
    stage: Stage, drainer: Drainer, both: tuple[Installation, Installation], audit: AuditTrail
) -> None:
    a, b = both
    audit.begin_anew()
    message = failed(drainer(anchor=a.named))
    assert "another installation" in message
    assert "ngrok-b" in message
    assert audit.writes(drainer.user.name) == []
    assert all(stage.finalizers(thing) == [LEGACY] for thing in (*a.all, *b.all))


def test_a_second_anchor_that_is_being_deleted_is_no_reason(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    (lb,) = stage.put(service("lb", here, LEGACY))
    stage.put(anchor("alive", here, LEGACY))
    (dying,) = stage.hang(anchor("dying", stage.another_namespace(), LEGACY))
    succeeded(drainer(anchor={"name": "alive"}))
    assert stage.finalizers(lb) == []
    assert stage.finalizers(dying) == [LEGACY]


def test_an_anchor_name_that_fits_nothing_does_not_open_the_door_to_the_other_installation(
    stage: Stage, drainer: Drainer
) -> None:
    """A typing error in anchor.name, or an anchor that is gone: the living one next door still is a second one."""
    there = stage.namespace
    theirs = stage.put(custom("Domain", "d", there, LEGACY, labels=marked(there)), service("lb", there, LEGACY))
    stage.put(anchor("ngrok-b", there, LEGACY))
    message = failed(drainer(anchor={"name": "ngrok-a", "namespace": "elsewhere"}))
    assert "ngrok-b" in message
    assert [stage.finalizers(thing) for thing in theirs] == [[LEGACY], [LEGACY]]


def test_another_installation_at_work_does_not_disturb_the_drain(stage: Stage, drainer: Drainer) -> None:
    """Its new objects carry the same finalizer; that is not ours coming back."""
    here, there = stage.namespace, stage.another_namespace()
    (ours,) = stage.put(custom("Domain", "ours", here, LEGACY, labels=marked(here)))
    stage.put(anchor("ngrok-operator", here, LEGACY))
    ended = threading.Event()
    made: list[Body] = []

    def work() -> None:
        while not ended.wait(0.2):
            made.extend(stage.put(custom("Domain", f"d{len(made)}", there, LEGACY, labels=marked(there))))

    busy = threading.Thread(target=work)
    busy.start()
    try:
        result = succeeded(drainer(settle=1))
    finally:
        ended.set()
        busy.join()
    assert stage.finalizers(ours) == []
    assert result["came_back"] == 0
    assert {tuple(stage.finalizers(thing)) for thing in made} == {(LEGACY,)}


def test_another_installation_at_work_does_not_shorten_the_quiet_time(stage: Stage, drainer: Drainer) -> None:
    """A late pod of ours puts the finalizer back after the neighbour has made something."""
    here, there = stage.namespace, stage.another_namespace()
    (ours,) = stage.put(custom("Domain", "ours", here, LEGACY, labels=marked(here)))
    stage.put(anchor("ngrok-operator", here, LEGACY))
    answers: list[int] = []

    def work() -> None:
        until(lambda: stage.finalizers(ours) == [], "the release", every=0.02)
        for number in range(8):  # the finalizer comes back after two seconds, well within the quiet time
            stage.put(custom("Domain", f"d{number}", there, LEGACY, labels=marked(there)))
            time.sleep(0.25)
        again = {"metadata": {"finalizers": [LEGACY]}}
        answers.append(stage.api.patch(stage.api.path_of(ours), again)[0])

    busy = threading.Thread(target=work)
    busy.start()
    try:
        result = succeeded(drainer(settle=6))
    finally:
        busy.join()
    assert answers == [200]
    assert stage.finalizers(ours) == []
    assert result["came_back"] == 1


def test_only_the_namespaces_of_the_instance_are_looked_at(stage: Stage, drainer: Drainer, audit: AuditTrail) -> None:
    here, also, there = stage.namespace, stage.another_namespace(), stage.another_namespace()
    ours = stage.put(*(service("lb", where, LEGACY) for where in (here, also)))
    (theirs,) = stage.put(service("lb", there, LEGACY))
    result = succeeded(drainer(instance={"namespaces": [here, also]}))
    assert [stage.finalizers(thing) for thing in ours] == [[], []]
    assert stage.finalizers(theirs) == [LEGACY]
    assert result["progress"] == "2/2"
    lists = {event.namespace for event in audit.events(drainer.user.name) if event.resource == "services"}
    assert lists == {here, also}


def test_controller_labels_tell_two_installations_apart_in_one_namespace(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    mine, yours, bare = stage.put(
        custom("Domain", "mine", here, LEGACY, labels=marked("a", "one")),
        custom("Domain", "yours", here, LEGACY, labels=marked("a", "two")),
        custom("Domain", "bare", here, LEGACY),
    )
    elsewhere, new_labels = stage.put(
        custom("Domain", "elsewhere", here, LEGACY, labels=marked("b", "one")),
        custom(
            "Domain",
            "new",
            here,
            NEW,
            labels={"ngrok.com/controller-name": "two", "ngrok.com/controller-namespace": "a"},
        ),
    )
    result = succeeded(drainer(instance={"controller_name": "one", "controller_namespace": "a"}))
    assert stage.finalizers(mine) == []
    assert stage.finalizers(bare) == []
    assert [stage.finalizers(thing) for thing in (yours, elsewhere, new_labels)] == [[LEGACY], [LEGACY], [NEW]]
    assert verdicts(result) == dict.fromkeys(("yours", "elsewhere", "new"), "not_owned")


def test_a_dead_operator_is_not_taken_for_alive_because_another_installation_lives(
    stage: Stage, drainer: Drainer
) -> None:
    """Or nobody would take the finalizer off the anchor, and everybody would wait for it."""
    here, there = stage.namespace, stage.another_namespace()
    (lb,) = stage.put(service("lb", here, LEGACY))
    (ko,) = stage.put(anchor("ngrok-a", here, LEGACY))
    stage.put(anchor("ngrok-b", there, LEGACY))
    operator_deployment(stage, there)
    instance = {"namespaces": [here]}
    result = drainer(anchor={"name": "ngrok-a", "namespace": here}, instance=instance, timeout=15)
    assert result["controller"]["alive"] != "alive"
    succeeded(result)
    assert stage.finalizers(lb) == []
    assert stage.is_gone(ko)


def test_another_installations_operator_is_never_stopped(stage: Stage, drainer: Drainer) -> None:
    """Our anchor is gone already; the only operator that runs is theirs."""
    here, there = stage.namespace, stage.another_namespace()
    (lb,) = stage.put(service("lb", here, LEGACY))
    stage.put(anchor("ngrok-b", there, LEGACY))
    theirs = operator_deployment(stage, there)
    result = drainer(anchor={"name": "ngrok-a", "namespace": here}, instance={"namespaces": [here]})
    assert stage.look(theirs)["spec"]["replicas"] == 1
    succeeded(result)
    assert stage.finalizers(lb) == []
    assert result["stopped"] == []


# -- ingresses ---------------------------------------------------------------------------------------------------------


def test_an_ingress_belongs_to_the_controller_of_its_class(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(
        ingress_class("old"),
        ingress_class("new", "ngrok.com/ingress-controller"),
        ingress_class("other", "other.example.com/controller"),
    )
    by_annotation = annotated(ingress("annotated", here, LEGACY), **{LEGACY_CLASS: "old"})
    foreign_annotation = annotated(ingress("foreign", here, LEGACY), **{LEGACY_CLASS: "other"})
    ours = stage.put(ingress("a", here, LEGACY, of_class="old"), ingress("b", here, NEW, of_class="new"), by_annotation)
    others = stage.put(
        ingress("theirs", here, LEGACY, of_class="other"),
        ingress("lost", here, LEGACY, of_class="vanished"),
        ingress("classless", here, LEGACY),
        foreign_annotation,
    )
    result = drainer()
    succeeded(result)
    assert [stage.finalizers(thing) for thing in ours] == [[], [], []]
    assert all(stage.finalizers(thing) == [LEGACY] for thing in others)
    assert verdicts(result) == {
        "theirs": "not_owned",
        "foreign": "not_owned",
        "lost": "unmatched",
        "classless": "unmatched",
    }
    assert names(result["unmatched"]) == ["classless", "lost"]
    assert "2 objects carry the finalizer" in warnings_of(result)
    row = kind_row(result, "Ingress")
    assert (row["found"], row["total"], row["released"], row["not_ours"]) == (7, 3, 3, 4)


def test_the_old_annotation_is_stronger_than_the_class_in_the_spec(stage: Stage, drainer: Drainer) -> None:
    """So the API says of ingressClassName; the server refuses both only in new objects."""
    stage.put(ingress_class("ngrok"), ingress_class("other", "other.example.com/controller"))
    theirs, ours = stage.put(
        annotated(ingress("theirs", stage.namespace, LEGACY), **{LEGACY_CLASS: "other"}),
        annotated(ingress("ours", stage.namespace, LEGACY), **{LEGACY_CLASS: "ngrok"}),
    )
    for thing, other in ((theirs, "ngrok"), (ours, "other")):
        assert stage.api.patch(stage.api.path_of(thing), {"spec": {"ingressClassName": other}})[0] == 200
    result = succeeded(drainer())
    assert (stage.finalizers(ours), stage.finalizers(theirs)) == ([], [LEGACY])
    assert verdicts(result) == {"theirs": "not_owned"}


@pytest.mark.parametrize(
    ("controller_name", "freed"),
    [("k8s.ngrok.com/ingress-controller", True), ("other.example.com/controller", False)],
)
def test_an_ingress_without_a_class_belongs_to_the_default_one(
    stage: Stage, drainer: Drainer, controller_name: str, freed: bool
) -> None:
    # Made before there is a default class: the API server would write it into the Ingress.
    (web,) = stage.put(ingress("web", stage.namespace, LEGACY))
    stage.put(annotated(ingress_class("default", controller_name), **DEFAULT))
    result = succeeded(drainer())
    assert stage.finalizers(web) == ([] if freed else [LEGACY])
    assert verdicts(result) == ({} if freed else {"web": "not_owned"})


def test_with_two_default_classes_nothing_is_guessed(stage: Stage, drainer: Drainer) -> None:
    (web,) = stage.put(ingress("web", stage.namespace, LEGACY))
    stage.put(annotated(ingress_class("one"), **DEFAULT), annotated(ingress_class("two"), **DEFAULT))
    result = succeeded(drainer())
    assert stage.finalizers(web) == [LEGACY]
    assert verdicts(result) == {"web": "unmatched"}


def test_a_class_that_is_gone_can_be_named(stage: Stage, drainer: Drainer) -> None:
    stage.put(ingress_class("present"))
    here = stage.namespace
    gone, other = stage.put(
        ingress("gone", here, LEGACY, of_class="vanished"), ingress("other", here, LEGACY, of_class="present")
    )
    result = succeeded(drainer(instance={"ingress_classes": ["vanished"]}))
    assert stage.finalizers(gone) == []
    assert stage.finalizers(other) == [LEGACY]
    assert verdicts(result) == {"other": "not_owned"}


def test_the_default_class_can_be_named_too(stage: Stage, drainer: Drainer) -> None:
    (web,) = stage.put(ingress("web", stage.namespace, LEGACY))
    stage.put(annotated(ingress_class("ours", "own.example.com/ingress"), **DEFAULT))
    result = succeeded(drainer(instance={"ingress_classes": ["ours"]}))
    assert verdicts(result) == {}
    assert stage.finalizers(web) == []


def test_two_classes_of_two_installations_are_told_apart_by_their_controllers(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(ingress_class("a", "a.example.com/ingress"), ingress_class("b", "b.example.com/ingress"))
    a, b = stage.put(ingress("a", here, LEGACY, of_class="a"), ingress("b", here, LEGACY, of_class="b"))
    succeeded(drainer(instance={"ingress_controllers": ["a.example.com/ingress"]}))
    assert (stage.finalizers(a), stage.finalizers(b)) == ([], [LEGACY])


# -- gateways and routes -----------------------------------------------------------------------------------------------


def test_gateways_belong_to_the_controller_of_their_class(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(gateway_class("ours"), gateway_class("theirs", controller="other.example.com/gateways"))
    ours, theirs, lost = stage.put(
        gateway("ours", here, LEGACY, of_class="ours"),
        gateway("theirs", here, LEGACY, of_class="theirs"),
        gateway("lost", here, LEGACY, of_class="vanished"),
    )
    result = succeeded(drainer())
    assert [stage.finalizers(thing) for thing in (ours, theirs, lost)] == [[], [LEGACY], [LEGACY]]
    assert verdicts(result) == {"theirs": "not_owned", "lost": "unmatched"}


@pytest.mark.parametrize("kind", ROUTES)
def test_routes_belong_to_their_parents(stage: Stage, drainer: Drainer, kind: str) -> None:
    """TLSRoute is served as v1 only: the shipped drain would not even see it."""
    here, there = stage.namespace, stage.another_namespace()
    stage.put(gateway_class("ours"), gateway_class("theirs", controller="other.example.com/gateways"))
    stage.put(
        gateway("ours", here, of_class="ours"),
        gateway("theirs", here, of_class="theirs"),
        gateway("far", there, of_class="ours"),
    )
    ours, theirs, far, lost = {"name": "ours"}, {"name": "theirs"}, {"name": "far", "namespace": there}, {"name": "no"}
    mesh = {"group": "", "kind": "Service", "name": "ours"}
    cases: dict[str, tuple[list[Body], str]] = {
        "one": ([ours], ""),
        "two": ([theirs, ours], ""),
        "far-away": ([far], ""),
        "half-lost": ([lost, ours], ""),
        "spelled-out": ([{**ours, "kind": "Gateway", "group": "gateway.networking.k8s.io"}], ""),
        "theirs-only": ([theirs], "not_owned"),
        "mesh": ([mesh], "not_owned"),
        "lost": ([lost], "unmatched"),
        "lost-and-theirs": ([theirs, lost], "unmatched"),
        "wrong-namespace": ([{"name": "far"}], "unmatched"),
        "none": ([], "unmatched"),
    }
    made = stage.put(*(route(kind, name, here, LEGACY, parents=parents) for name, (parents, _verdict) in cases.items()))
    result = succeeded(drainer())
    freed = {thing["metadata"]["name"] for thing in made if stage.finalizers(thing) == []}
    assert freed == {name for name, (_parents, verdict) in cases.items() if not verdict}
    assert verdicts(result) == {name: verdict for name, (_parents, verdict) in cases.items() if verdict}
    assert kind_row(result, kind)["api_version"].endswith("v1alpha2" if kind == "TCPRoute" else "/v1")


def test_a_route_to_a_gateway_outside_the_drained_namespaces_is_left_alone(stage: Stage, drainer: Drainer) -> None:
    here, there = stage.namespace, stage.another_namespace()
    stage.put(gateway_class("ours"))
    (far,) = stage.put(gateway("far", there, LEGACY, of_class="ours"))
    (to_far,) = stage.put(route("HTTPRoute", "r", here, LEGACY, parents=[{"name": "far", "namespace": there}]))
    result = succeeded(drainer(instance={"namespaces": [here]}))
    assert stage.finalizers(far) == stage.finalizers(to_far) == [LEGACY]
    assert verdicts(result) == {"r": "not_owned"}


def test_the_finalizer_of_a_gateway_class_is_released_when_only_drained_gateways_use_it(
    stage: Stage, drainer: Drainer
) -> None:
    here = stage.namespace
    ours, theirs = stage.put(
        gateway_class("ours", GATEWAY_EXISTS),
        gateway_class("theirs", GATEWAY_EXISTS, controller="other.example.com/gateways"),
    )
    stage.put(gateway("gw", here, LEGACY, of_class="ours"))
    result = succeeded(drainer(instance={"namespaces": [here]}))
    assert stage.finalizers(ours) == []
    assert stage.finalizers(theirs) == [GATEWAY_EXISTS]
    assert verdicts(result) == {"theirs": "not_owned"}


def test_the_finalizer_of_a_gateway_class_stays_while_another_namespaces_gateway_uses_it(
    stage: Stage, drainer: Drainer
) -> None:
    here, there = stage.namespace, stage.another_namespace()
    (shared,) = stage.put(gateway_class("shared", GATEWAY_EXISTS))
    mine, yours = stage.put(
        gateway("mine", here, LEGACY, of_class="shared"), gateway("yours", there, LEGACY, of_class="shared")
    )
    result = succeeded(drainer(instance={"namespaces": [here]}))
    assert stage.finalizers(shared) == [GATEWAY_EXISTS]
    assert (stage.finalizers(mine), stage.finalizers(yours)) == ([], [LEGACY])
    assert f"{there}/yours" in kept(result)["shared"][1]


def test_an_instance_can_have_a_gateway_controller_of_its_own(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(gateway_class("a", controller="a.example.com/gateways"), gateway_class("b"))
    a, b = stage.put(gateway("a", here, LEGACY, of_class="a"), gateway("b", here, LEGACY, of_class="b"))
    succeeded(drainer(instance={"gateway_controllers": ["a.example.com/gateways"]}))
    assert (stage.finalizers(a), stage.finalizers(b)) == ([], [LEGACY])


# -- meanwhile ---------------------------------------------------------------------------------------------------------


def test_an_object_that_changes_hands_after_the_look_is_not_deleted(stage: Stage, drainer: Drainer) -> None:
    """Delete asks once more, right before it deletes; a slow kind before it gives somebody the time for it."""
    here = stage.namespace
    operator_deployment(stage, here)
    stage.put(anchor("ngrok-operator", here, LEGACY), custom("CloudEndpoint", "e", here, LEGACY, labels=marked(here)))
    (domain,) = stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))

    def hand_over() -> None:
        stage.api.patch(stage.api.path_of(domain), {"metadata": {"labels": marked("elsewhere")}})

    with controller(stage, here, "KubernetesOperator", "CloudEndpoint", "Domain", delay=1):
        result = drainer(policy="Delete", on_event=when_waiting_for(LEGACY, hand_over))
    assert stage.finalizers(domain) == [LEGACY]
    assert "deletionTimestamp" not in stage.look(domain)["metadata"]
    assert kept(result)["d"][0] == "not_owned"
