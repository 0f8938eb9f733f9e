# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose is it? Every rule by class, parent, namespace and label, as tables."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.objects import record_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.instance import (
    Classes,
    Yardstick,
    classes_of,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.options import Instance
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.profile import ProfileKind
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.tests.unit.fakes import metadata, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    NAME,
    OURS,
    OURS_GATEWAY,
    PLACE,
    profile_of,
)

GATEWAY = "gateway.networking.k8s.io"
CLASSES = Classes(
    ingress={"shop": OURS, "bank": "bank.example.com/ingress", "bare": ""},
    default_ingress="shop",
    gateway={"shop": OURS_GATEWAY, "bank": "bank.example.com/gateway"},
    gateways={("shop", "ours"): "shop", ("shop", "theirs"): "bank", ("bank", "ours"): "shop", ("shop", "lost"): "gone"},
)
# What became of the question, in one word.
WORDS = {None: "ours", Fate.NOT_OWNED: "theirs", Fate.UNMATCHED: "unclear"}


def kind_of(kind: str, group: str = GATEWAY) -> ProfileKind:
    return ProfileKind(group, kind, ())


INGRESS, BASKET = kind_of("Ingress", "networking.k8s.io"), kind_of("Basket", "shop.example.com")


def yardstick(classes: Classes = CLASSES, profile: dict[str, Any] | None = None, **instance: Any) -> Yardstick:
    return Yardstick(profile_of(**(profile or {})), Instance(**instance), classes)


def verdict(
    kind: ProfileKind, spec: dict[str, Any], yard: Yardstick | None = None, name: str = "web", **meta: Any
) -> Verdict | None:
    facts = metadata(name, **meta)
    return (yard or yardstick()).objection(kind, record_of(facts), {"metadata": facts, "spec": spec})


def word(found: Verdict | None) -> str:
    return WORDS[found.fate if found else None]


# -- classes -----------------------------------------------------------------------------------------------------------


def ingress_class(name: str, controller: str, default: str = "") -> dict[str, Any]:
    marks = {"annotations": {"ingressclass.kubernetes.io/is-default-class": default}} if default else {}
    return {"metadata": metadata(name, "", **marks), "spec": {"controller": controller}}


DEFAULTS: dict[str, tuple[list[str], str]] = {
    "none": (["", ""], ""),
    "one": (["", "true"], "c1"),
    "one that says no": (["false", ""], ""),
    "two, so nobody knows": (["true", "true"], ""),
}


@pytest.mark.parametrize(("marks", "default"), named(DEFAULTS))
def test_there_is_a_default_class_when_exactly_one_says_so(marks: list[str], default: str) -> None:
    items = [ingress_class(f"c{number}", "x", mark) for number, mark in enumerate(marks)]
    assert classes_of(items, (), ()).default_ingress == default


def test_classes_and_gateways_are_kept_by_name() -> None:
    found = classes_of(
        [ingress_class("shop", OURS)],
        [{"metadata": {"name": "gc"}, "spec": {"controllerName": OURS_GATEWAY}}, {"metadata": {"name": "bare"}}],
        [{"metadata": {"name": "g", "namespace": "shop"}, "spec": {"gatewayClassName": "gc"}}],
    )
    assert found == Classes({"shop": OURS}, "", {"gc": OURS_GATEWAY, "bare": ""}, {("shop", "g"): "gc"})


# -- Ingresses ---------------------------------------------------------------------------------------------------------

LEGACY = "kubernetes.io/ingress.class"
INGRESSES: dict[str, tuple[dict[str, Any], dict[str, str], str, str]] = {
    "our class": ({"ingressClassName": "shop"}, {}, "ours", ""),
    "another class": (
        {"ingressClassName": "bank"},
        {},
        "theirs",
        "its IngressClass bank belongs to bank.example.com/ingress",
    ),
    "a class without a controller": (
        {"ingressClassName": "bare"},
        {},
        "theirs",
        "its IngressClass bare belongs to no controller",
    ),
    "a class that is gone": (
        {"ingressClassName": "old"},
        {},
        "unclear",
        "its IngressClass old does not exist; name it in instance.ingress_classes if it is ours",
    ),
    "no class, so the default one": ({}, {}, "ours", ""),
    "our class by the old annotation": ({}, {LEGACY: "shop"}, "ours", ""),
    "another class by the old annotation": (
        {},
        {LEGACY: "bank"},
        "theirs",
        "its IngressClass bank belongs to bank.example.com/ingress",
    ),
}


@pytest.mark.parametrize(("spec", "annotations", "whose", "why"), named(INGRESSES))
def test_an_ingress_belongs_to_the_controller_of_its_class(
    spec: dict[str, Any], annotations: dict[str, str], whose: str, why: str
) -> None:
    found = verdict(INGRESS, spec, annotations=annotations)
    assert (word(found), found.why if found else "") == (whose, why)


def test_an_ingress_without_a_class_is_unclear_where_there_is_no_default() -> None:
    found = verdict(INGRESS, {}, yardstick(Classes(ingress={"shop": OURS})))
    assert (word(found), found and found.why) == (
        "unclear",
        "it has no ingress class, and no default one is known",
    )


BY_NAME: dict[str, tuple[str, str]] = {
    "named": ("gone", "ours"),
    "not named, though its controller is ours": ("shop", "theirs"),
}


@pytest.mark.parametrize(("name", "whose"), named(BY_NAME))
def test_classes_that_are_named_decide_alone_and_need_not_exist(name: str, whose: str) -> None:
    assert word(verdict(INGRESS, {"ingressClassName": name}, yardstick(ingress_classes=("gone",)))) == whose


def test_the_tasks_controllers_take_the_place_of_the_profiles() -> None:
    yard = yardstick(ingress_controllers=("bank.example.com/ingress",))
    assert [word(verdict(INGRESS, {"ingressClassName": name}, yard)) for name in ("bank", "shop")] == ["ours", "theirs"]


# -- the Gateway API ---------------------------------------------------------------------------------------------------

GATEWAYS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a Gateway of our class": ("Gateway", {"gatewayClassName": "shop"}, "ours"),
    "a Gateway of another class": ("Gateway", {"gatewayClassName": "bank"}, "theirs"),
    "a Gateway whose class is gone": ("Gateway", {"gatewayClassName": "old"}, "unclear"),
    "a route without parents": ("HTTPRoute", {}, "unclear"),
    "a route with an empty list of parents": ("HTTPRoute", {"parentRefs": []}, "unclear"),
    "a route to our Gateway": ("HTTPRoute", {"parentRefs": [{"name": "ours"}]}, "ours"),
    "a TCPRoute": ("TCPRoute", {"parentRefs": [{"name": "ours"}]}, "ours"),
    "a TLSRoute": ("TLSRoute", {"parentRefs": [{"name": "theirs"}]}, "theirs"),
    "a GRPCRoute": ("GRPCRoute", {"parentRefs": [{"name": "theirs"}]}, "theirs"),
    "a route to our Gateway elsewhere": ("HTTPRoute", {"parentRefs": [{"name": "ours", "namespace": "bank"}]}, "ours"),
    "a route to a foreign Gateway": ("HTTPRoute", {"parentRefs": [{"name": "theirs"}]}, "theirs"),
    "a route to a Gateway that is gone": ("HTTPRoute", {"parentRefs": [{"name": "gone"}]}, "unclear"),
    "a route to a Gateway whose class is gone": ("HTTPRoute", {"parentRefs": [{"name": "lost"}]}, "unclear"),
    "a route to a Service": ("HTTPRoute", {"parentRefs": [{"name": "ours", "kind": "Service", "group": ""}]}, "theirs"),
    "a route to another group's Gateway": (
        "HTTPRoute",
        {"parentRefs": [{"name": "ours", "kind": "Gateway", "group": "other.io"}]},
        "theirs",
    ),
    "ours among two parents": ("HTTPRoute", {"parentRefs": [{"name": "theirs"}, {"name": "ours"}]}, "ours"),
    "ours beside one that is gone": ("HTTPRoute", {"parentRefs": [{"name": "gone"}, {"name": "ours"}]}, "ours"),
    "theirs beside one that is gone": ("HTTPRoute", {"parentRefs": [{"name": "theirs"}, {"name": "gone"}]}, "unclear"),
}


@pytest.mark.parametrize(("kind", "spec", "whose"), named(GATEWAYS))
def test_gateways_belong_by_class_and_routes_by_parent(kind: str, spec: dict[str, Any], whose: str) -> None:
    assert word(verdict(kind_of(kind), spec)) == whose


def test_an_unclear_parent_is_named() -> None:
    found = verdict(kind_of("HTTPRoute"), {"parentRefs": [{"name": "theirs"}, {"name": "gone"}]})
    assert found == Verdict(Fate.UNMATCHED, "its parent Gateway shop/gone does not exist")


def test_a_foreign_parent_is_named_with_its_class() -> None:
    found = verdict(kind_of("HTTPRoute"), {"parentRefs": [{"name": "theirs"}]})
    why = "its parent Gateway shop/theirs: GatewayClass bank belongs to bank.example.com/gateway"
    assert found == Verdict(Fate.NOT_OWNED, why)


parents = st.sampled_from(["ours", "theirs", "gone"])


@given(st.lists(parents, min_size=1, max_size=4))
def test_one_parent_of_ours_is_enough_and_a_doubt_is_stronger_than_a_no(names: list[str]) -> None:
    expected = "ours" if "ours" in names else "unclear" if "gone" in names else "theirs"
    assert word(verdict(kind_of("HTTPRoute"), {"parentRefs": [{"name": name} for name in names]})) == expected


GATEWAY_CLASSES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "ours": ("shop", (), "ours"),
    "ours, and every Gateway of it is drained": ("shop", ("shop", "bank"), "ours"),
    "ours, but a Gateway that stays needs it": ("shop", ("shop",), "theirs"),
    "theirs": ("bank", (), "theirs"),
}


@pytest.mark.parametrize(("name", "namespaces", "whose"), named(GATEWAY_CLASSES))
def test_a_gateway_class_is_drained_when_no_other_gateway_needs_it(
    name: str, namespaces: tuple[str, ...], whose: str
) -> None:
    yard = yardstick(namespaces=namespaces)
    assert word(verdict(kind_of("GatewayClass"), {}, yard, name=name, namespace="")) == whose


# -- namespaces and labels ---------------------------------------------------------------------------------------------

NAMESPACES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "among them": ("shop", ("shop", "bank"), "ours"),
    "not among them": ("park", ("shop", "bank"), "theirs"),
    "none given": ("park", (), "ours"),
    "no namespace of its own": ("", ("shop",), "ours"),
}


@pytest.mark.parametrize(("namespace", "wanted", "whose"), named(NAMESPACES))
def test_only_objects_of_the_named_namespaces_are_ours(namespace: str, wanted: tuple[str, ...], whose: str) -> None:
    assert word(verdict(BASKET, {}, yardstick(namespaces=wanted), namespace=namespace)) == whose


def test_a_route_to_a_gateway_in_a_namespace_that_is_not_drained_is_theirs() -> None:
    spec = {"parentRefs": [{"name": "ours", "namespace": "bank"}]}
    assert word(verdict(kind_of("HTTPRoute"), spec, yardstick(namespaces=("shop",)))) == "theirs"


def test_the_namespace_is_asked_before_the_class() -> None:
    found = verdict(INGRESS, {"ingressClassName": "old"}, yardstick(namespaces=("bank",)))
    assert found == Verdict(Fate.NOT_OWNED, "its namespace is not among instance.namespaces")


LABELS: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "nothing asked": ({PLACE: "other"}, {}, "ours"),
    "our namespace": ({PLACE: "ops"}, {"controller_namespace": "ops"}, "ours"),
    "another namespace": ({PLACE: "other"}, {"controller_namespace": "ops"}, "theirs"),
    "no label at all": ({}, {"controller_namespace": "ops", "controller_name": "a"}, "ours"),
    "our name": ({NAME: "a"}, {"controller_name": "a"}, "ours"),
    "another name": ({NAME: "b"}, {"controller_name": "a"}, "theirs"),
    "our name in another namespace": (
        {NAME: "a", PLACE: "other"},
        {"controller_name": "a", "controller_namespace": "ops"},
        "theirs",
    ),
}


@pytest.mark.parametrize(("labels", "instance", "whose"), named(LABELS))
def test_the_controllers_labels_decide_where_there_are_any(
    labels: dict[str, str], instance: dict[str, str], whose: str
) -> None:
    assert word(verdict(BASKET, {}, yardstick(**instance), labels=labels)) == whose


def test_either_generation_of_labels_will_do() -> None:
    labels = {"controller_name": [NAME, "old/name"], "controller_namespace": []}
    yard = yardstick(profile={"labels": labels}, controller_name="a")
    both = [{"old/name": "a"}, {"old/name": "b"}, {"old/name": "b", NAME: "a"}]
    assert [word(verdict(BASKET, {}, yard, labels=found)) for found in both] == ["ours", "theirs", "ours"]


AUTHORED: dict[str, tuple[dict[str, Any], bool]] = {
    "by hand": ({}, True),
    "with other labels": ({"labels": {"app": "shop"}}, True),
    "with the controller's name": ({"labels": {NAME: "a"}}, False),
    "with the controller's namespace": ({"labels": {PLACE: "a"}}, False),
    "with an owner": ({"ownerReferences": [{"uid": "u"}]}, False),
}


@pytest.mark.parametrize(("facts", "authored"), named(AUTHORED))
def test_what_has_no_mark_and_no_owner_was_written_by_a_person(facts: dict[str, Any], authored: bool) -> None:
    assert yardstick().is_authored(BASKET, record(**facts)) is authored


def test_nothing_is_said_to_be_written_by_a_person_where_the_product_marks_nothing() -> None:
    assert yardstick(profile={"labels": {}}).is_authored(BASKET, record()) is False


def test_a_kind_that_only_the_operator_makes_is_never_written_by_a_person() -> None:
    assert yardstick().is_authored(dataclasses.replace(BASKET, made_by_operator=True), record()) is False


@pytest.mark.parametrize(
    ("namespace", "labels", "home", "whose"),
    [
        ("ops", {}, "ops", "ours"),
        ("ops-2", {}, "ops", "theirs"),
        ("ops-2", {PLACE: "ops"}, "ops", "ours"),
        ("ops-2", {}, "", "ours"),
    ],
    ids=["beside our operator", "beside another one", "but with our label", "where ours is, is not known"],
)
def test_what_an_operator_makes_beside_itself_is_of_the_operator_there(
    namespace: str, labels: dict[str, str], home: str, whose: str
) -> None:
    kind = dataclasses.replace(BASKET, in_operator_namespace=True)
    yard = yardstick(controller_namespace=home)
    assert word(verdict(kind, {}, yard, labels=labels, namespace=namespace)) == whose


# -- what has to be read -----------------------------------------------------------------------------------------------

WHOLE: dict[str, tuple[ProfileKind, dict[str, Any], dict[str, Any], bool]] = {
    "an Ingress": (INGRESS, {}, {}, True),
    "a route": (kind_of("HTTPRoute"), {}, {}, True),
    "an object of the operator": (BASKET, {}, {}, False),
    "an Ingress, without any classes": (INGRESS, {"classes": {}}, {}, False),
    "an Ingress, by names of classes": (INGRESS, {"classes": {}}, {"ingress_classes": ("a",)}, True),
    "a route, with classes of Ingresses only": (
        kind_of("HTTPRoute"),
        {"classes": {"ingress_controllers": [OURS]}},
        {},
        False,
    ),
    "a route, with the task's controllers": (
        kind_of("HTTPRoute"),
        {"classes": {}},
        {"gateway_controllers": ("a",)},
        True,
    ),
}


@pytest.mark.parametrize(("kind", "profile", "instance", "whole"), named(WHOLE))
def test_whole_objects_are_only_needed_where_a_rule_reads_them(
    kind: ProfileKind, profile: dict[str, Any], instance: dict[str, Any], whole: bool
) -> None:
    assert yardstick(profile=profile, **instance).needs_whole(kind) is whole


def test_labels_decide_over_kinds_with_classes_where_the_product_has_none() -> None:
    yard = yardstick(profile={"classes": {}}, controller_namespace="ops")
    assert word(verdict(INGRESS, {"ingressClassName": "bank"}, yard, labels={PLACE: "other"})) == "theirs"
    assert word(verdict(INGRESS, {"ingressClassName": "bank"}, yard)) == "ours"


def test_the_old_annotation_goes_before_the_field() -> None:
    assert word(verdict(INGRESS, {"ingressClassName": "shop"}, annotations={LEGACY: "bank"})) == "theirs"
