# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The option `members`: which source it names."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs.members_option import MEMBERS
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields, BadOption
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Claim, Search
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.sources import (
    SOURCES,
    check_members,
    read_members,
)
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import NO_CONTEXTS, InMemoryCluster

INLINE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
# One of each, as Ansible hands them over.
EACH: dict[str, Any] = {
    "helm": {"release": "web", "namespace": "shop", "driver": "auto"},
    "manifests": [INLINE],
    "objects": [{"kind": "Pod", "name": "a"}],
    "selector": {"label_selector": "app=shop", "kinds": None, "namespaces": None},
    "kapp": {"app": "web", "namespace": "shop"},
    "flux": {"kind": "Kustomization", "name": "web", "namespace": "shop"},
    "argocd": {"name": "web", "namespace": "argocd"},
    "olm": {"subscription": "web", "namespace": "shop"},
    "applyset": {"name": "web", "namespace": "shop"},
    "inventory": {"name": "web", "namespace": "shop"},
    "landscaper": {"deploy_item": "web", "namespace": "shop", "context": None, "target": None},
    "namespace": "shop",
}


def option(**given: Any) -> dict[str, Any]:
    """As Ansible hands it over: every source is there, those not given are None."""
    return {**dict.fromkeys(SOURCES), **given}


def check(members: dict[str, Any]) -> None:
    bad = BadFields()
    check_members(members, bad)
    bad.raise_if_any()


def test_every_source_is_an_option_and_in_this_table() -> None:
    assert set(SOURCES) == set(MEMBERS["options"]) == set(EACH)


@pytest.mark.parametrize("name", EACH)
def test_each_source_can_be_read(name: str) -> None:
    check(option(**{name: EACH[name]}))
    found = read_members(option(**{name: EACH[name]}), InMemoryCluster(), NO_CONTEXTS)
    assert bool(found.missing) is (name not in ("manifests", "objects", "selector"))


@pytest.mark.parametrize(
    ("given", "told"),
    named({"none": ({}, "none"), "two": ({"namespace": "a", "objects": []}, "objects, namespace")}),
)
def test_exactly_one_source_is_given(given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadOption, match="members needs exactly one of helm, manifests") as refused:
        check(option(**given))
    assert refused.value.why.endswith(f"given: {told}")


EMPTY: dict[str, tuple[str, Any, str]] = {
    "namespace": ("namespace", "", "members.namespace"),
    "a blank namespace": ("namespace", "  ", "members.namespace"),
    "Helm, release": ("helm", {**EACH["helm"], "release": ""}, "members.helm.release"),
    "Helm, namespace": ("helm", {**EACH["helm"], "namespace": ""}, "members.helm.namespace"),
    "kapp, app": ("kapp", {**EACH["kapp"], "app": ""}, "members.kapp.app"),
    "kapp, namespace": ("kapp", {**EACH["kapp"], "namespace": ""}, "members.kapp.namespace"),
    "Flux, name": ("flux", {**EACH["flux"], "name": ""}, "members.flux.name"),
    "ApplySet, namespace": ("applyset", {**EACH["applyset"], "namespace": ""}, "members.applyset.namespace"),
    "inventory, name": ("inventory", {**EACH["inventory"], "name": ""}, "members.inventory.name"),
    "Landscaper, item": ("landscaper", {**EACH["landscaper"], "deploy_item": ""}, "members.landscaper.deploy_item"),
    "Landscaper, context": ("landscaper", {**EACH["landscaper"], "context": ""}, "members.landscaper.context"),
    "Landscaper, target": ("landscaper", {**EACH["landscaper"], "target": " "}, "members.landscaper.target"),
    "selector, labels": ("selector", {"kinds": ["Pod"], "label_selector": ""}, "members.selector.label_selector"),
    "selector, a namespace": ("selector", {"kinds": ["Pod"], "namespaces": [""]}, "members.selector.namespaces[0]"),
    "selector, a kind": ("selector", {"kinds": [""], "label_selector": "a=b"}, "members.selector.kinds[0]"),
    "an object's name": ("objects", [{"kind": "Pod", "name": ""}], "members.objects[0].name"),
}


@pytest.mark.parametrize(("source", "value", "path"), named(EMPTY))
def test_an_empty_text_is_a_mistake_and_never_means_everything(source: str, value: Any, path: str) -> None:
    # `namespace: "{{ place | default('') }}"` must not sweep the whole cluster.
    with pytest.raises(BadOption) as refused:
        check(option(**{source: value}))
    assert f"{path}: is empty" in refused.value.why


EVERYTHING: dict[str, dict[str, Any]] = {
    "nothing given": {},
    "no kinds": {"kinds": []},
    "every kind": {"kinds": ["*"]},
    "every kind among others": {"kinds": ["Pod", "*"]},
    "only namespaces": {"namespaces": ["shop"]},
}


@pytest.mark.parametrize("selector", named(EVERYTHING))
def test_a_selector_of_everything_is_refused(selector: dict[str, Any]) -> None:
    with pytest.raises(BadOption, match="it would take everything"):
        check(option(selector=selector))


def test_a_selector_searches_each_kind_in_each_namespace() -> None:
    value = {"label_selector": "app=shop", "kinds": ["po", "svc"], "namespaces": ["a", "b"]}
    assert read_members(option(selector=value), InMemoryCluster(), NO_CONTEXTS).searches == [
        Search(kind, None, place, "app=shop", "selector app=shop", by_hand=True)
        for kind in ("po", "svc")
        for place in ("a", "b")
    ]


def test_a_selector_without_kinds_searches_all() -> None:
    [search] = read_members(option(selector={"label_selector": "app=shop"}), InMemoryCluster(), NO_CONTEXTS).searches
    assert (search.kind, search.namespace) == ("*", None)


def test_a_selector_nobody_can_read_is_named_with_its_path() -> None:
    with pytest.raises(BadOption, match=r"members\.selector\.label_selector: cannot read"):
        check(option(selector={"label_selector": "a=(b"}))


REFERENCES: dict[str, tuple[dict[str, Any], Claim]] = {
    "core": (
        {"api_version": "v1", "kind": "Pod", "name": "a", "namespace": "shop"},
        Claim("", "Pod", "a", "shop", "v1", "named by members.objects[0]", named=True),
    ),
    "as manifests spell it": (
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
        Claim("apps", "Deployment", "a", "", "v1", "named by members.objects[0]", named=True),
    ),
    "only a kind": (
        {"kind": "po", "name": "a"},
        Claim(None, "po", "a", "", "", "named by members.objects[0]", named=True),
    ),
}


@pytest.mark.parametrize(("item", "claim"), named(REFERENCES))
def test_a_reference_names_one_object_one_by_one(item: dict[str, Any], claim: Claim) -> None:
    assert read_members(option(objects=[item]), InMemoryCluster(), NO_CONTEXTS).claims == [claim]


def test_bad_references_are_told_all_at_once() -> None:
    with pytest.raises(BadOption) as refused:
        check(option(objects=["x", {"kind": "Pod"}, {"name": "a"}]))
    assert refused.value.why == (
        "members.objects[0]: must be a mapping, not str; members.objects[1].name: is missing;"
        " members.objects[2].kind: is missing"
    )


def test_a_namespace_that_is_there_is_swept() -> None:
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop")
    found = read_members(option(namespace="shop"), cluster, NO_CONTEXTS)
    assert (found.searches, found.missing) == ([Search("*", namespace="shop", source="in namespace shop")], "")


def test_a_namespace_that_is_not_there_is_missing() -> None:
    assert (
        read_members(option(namespace="shop"), InMemoryCluster(), NO_CONTEXTS).missing == "there is no namespace shop"
    )
