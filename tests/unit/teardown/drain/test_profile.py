# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Profiles: the shipped ones, and what a task may write wrong."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields, BadOption
from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_products import PRODUCTS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.profile import (
    AnchorRule,
    Checked,
    DeleteRefusal,
    Profile,
    ProfileKind,
    Use,
    read_profile,
)
from ansible_collections.sunset.kube.plugins.modules import drain as module
from ansible_collections.sunset.kube.tests.unit.fakes import named

ROOT = Path(__file__).resolve().parents[4]
LITTLE: dict[str, Any] = {
    "name": "shop",
    "finalizers": ["shop.example.com/cleanup"],
    "operator_kinds": [{"group": "shop.example.com", "kind": "Basket"}],
}


def read(data: Any) -> tuple[Profile, str]:
    """The profile, and every complaint about it."""
    bad = BadFields()
    found = read_profile(data, "profile", bad)
    try:
        bad.raise_if_any()
    except BadOption as problem:
        return found, problem.why
    return found, ""


# -- shipped profiles --------------------------------------------------------------------------------------------------


def test_there_is_a_profile_for_every_product_of_the_documentation() -> None:
    text = module.DOCUMENTATION.partition("One of ")[2].partition(", or a hash")[0]
    assert {part.partition(")")[0] for part in text.split("V(")[1:]} == set(PRODUCTS)


@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_a_shipped_profile_is_read_without_complaint(name: str) -> None:
    found, complaints = read(PRODUCTS[name])
    assert (complaints, found.name, bool(found.title), bool(found.workloads)) == ("", name, True, True)


@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_a_shipped_profile_names_every_kind_once_and_says_nothing_of_others(name: str) -> None:
    found, _complaints = read(PRODUCTS[name])
    kinds = [(kind.group, kind.kind) for kind in (*found.user_kinds, *found.operator_kinds)]
    known = {kind for _group, kind in kinds} | ({found.anchor.kind.kind} if found.anchor else set())
    said = {one for key in ("external_ids", "own_policy", "uses") for one in PRODUCTS[name].get(key, {})}
    assert (len(kinds), said - known) == (len(set(kinds)), set())


@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_a_shipped_profile_has_a_use_for_each_of_its_kinds(name: str) -> None:
    """Every kind has a finalizer, and a path is never a list of letters."""
    found, _complaints = read(PRODUCTS[name])
    for kind in (*found.user_kinds, *found.operator_kinds):
        assert kind.finalizers
        assert all("." in path for path in kind.external_ids)
        assert kind.own_policy is None or "." in kind.own_policy[0]


def test_ngrok_is_drained_in_the_order_its_kinds_lean_on_each_other() -> None:
    """Routes before their Gateway, endpoints before domains; and user kinds before the operator's."""
    found, _complaints = read(PRODUCTS["ngrok"])
    assert [kind.kind for kind in found.user_kinds] == [
        *("HTTPRoute", "TCPRoute", "TLSRoute", "Ingress", "Service", "Gateway", "GatewayClass"),
    ]
    assert [kind.kind for kind in found.operator_kinds] == [
        *("CloudEndpoint", "AgentEndpoint", "Domain", "IPPolicy", "BoundEndpoint"),
    ]


def test_ngrok_knows_both_names_of_its_finalizer_and_both_forms_of_status() -> None:
    found, _complaints = read(PRODUCTS["ngrok"])
    assert found.finalizers == ("k8s.ngrok.com/finalizer", "ngrok.com/finalizer")
    assert found.anchor is not None
    assert (found.anchor.status, found.anchor.condition, found.anchor.policy) == (
        "status.drainStatus",
        "Draining",
        "spec.drain.policy",
    )
    assert found.anchor.kind.external_ids == ("status.id",)


def test_a_gateway_class_has_a_finalizer_of_its_own() -> None:
    found, _complaints = read(PRODUCTS["ngrok"])
    [gateway_class] = [kind for kind in found.user_kinds if kind.kind == "GatewayClass"]
    assert gateway_class.finalizers == ("gateway-exists-finalizer.gateway.networking.k8s.io",)
    assert gateway_class.also == found.finalizers


def releases(found: Profile) -> str:
    """Releases that were checked in the same way, side by side."""
    groups = itertools.groupby(found.checked, lambda one: one.how)
    return "; ".join(f"{', '.join(one.version for one in group)}: {', '.join(how)}" for how, group in groups)


def test_the_guides_table_has_the_releases_of_every_profile() -> None:
    """To bring it up to date, paste the expected rows into the guide."""
    guide = (ROOT / "docs" / "docsite" / "rst" / "guide_drain.rst").read_text(encoding="utf-8")
    table = guide.partition("     - releases\n")[2].partition("\n\n")[0]
    profiles = [read(PRODUCTS[name])[0] for name in sorted(PRODUCTS)]
    rows = [f"   * - ``{one.name}``\n     - {one.title}\n     - {releases(one)}" for one in profiles]
    assert (table, [one.name for one in profiles if not one.checked]) == ("\n".join(rows), [])


def test_only_the_operator_makes_bound_endpoints_and_an_endpoint_uses_its_domain() -> None:
    found, _complaints = read(PRODUCTS["ngrok"])
    made = [kind.kind for kind in found.operator_kinds if kind.made_by_operator and kind.in_operator_namespace]
    assert made == ["BoundEndpoint"]
    domain = Use("Domain", "status.domainRef.name", "spec.url", "spec.domain")
    uses = {kind.kind: kind.uses for kind in found.operator_kinds if kind.uses}
    assert uses == {"CloudEndpoint": (domain,), "AgentEndpoint": (domain,)}


# -- a task's own ------------------------------------------------------------------------------------------------------


def test_a_little_profile_is_enough() -> None:
    basket = ProfileKind("shop.example.com", "Basket", ("shop.example.com/cleanup",))
    assert read(LITTLE) == (
        Profile("shop", "shop", ("shop.example.com/cleanup",), operator_kinds=(basket,)),
        "",
    )


def test_everything_a_profile_may_say_is_read() -> None:
    data = {
        **LITTLE,
        "title": "Our shop",
        "anchor": {"group": "shop.example.com", "kind": "Shop", "policy": "a.b", "status": "c.d", "condition": "E"},
        "user_kinds": [{"kind": "Service", "finalizers": "x/*"}],
        "classes": {"ingress_controllers": "shop/i", "gateway_controllers": ["shop/g"]},
        "labels": {"controller_name": ["n"], "controller_namespace": ["ns"]},
        "workloads": ["app in (shop,store),!old"],
        "external_ids": {"Basket": ["status.id"]},
        "own_policy": {"Basket": {"path": "spec.policy", "deletes": "Delete"}},
        "annotate_before_delete": {"Basket": {"shop.example.com/leave": ""}},
        "refuse_delete_while": [
            {"kind": "Store", "path": "spec.url", "name": "main", "why": "money", "fix": "empty it"}
        ],
        "notes": ["Careful."],
        "checked": [{"version": "1.2", "how": ["source read", "CRDs applied"]}],
    }
    finalizers = ("shop.example.com/cleanup",)
    assert read(data) == (
        Profile(
            name="shop",
            title="Our shop",
            finalizers=finalizers,
            anchor=AnchorRule(ProfileKind("shop.example.com", "Shop", finalizers), "a.b", "c.d", "E"),
            user_kinds=(ProfileKind("", "Service", ("x/*",), also=finalizers),),
            operator_kinds=(
                ProfileKind(
                    *("shop.example.com", "Basket", finalizers, ("status.id",), ("spec.policy", "Delete")),
                    annotations=(("shop.example.com/leave", ""),),
                ),
            ),
            ingress_controllers=("shop/i",),
            gateway_controllers=("shop/g",),
            controller_name_labels=("n",),
            controller_namespace_labels=("ns",),
            workloads=("app in (shop,store),!old",),
            notes=("Careful.",),
            refuse_delete_while=(DeleteRefusal("", "Store", "spec.url", "main", "money", "empty it"),),
            checked=(Checked("1.2", ("source read", "CRDs applied")),),
        ),
        "",
    )


def test_the_order_of_kinds_is_the_profiles() -> None:
    kinds = [{"kind": name} for name in ("C", "A", "B")]
    found, _complaints = read({**LITTLE, "operator_kinds": kinds})
    assert [kind.kind for kind in found.operator_kinds] == ["C", "A", "B"]


@pytest.mark.parametrize(("group", "title"), named({"a group": ("g.io", "Basket (g.io)"), "core": ("", "Basket")}))
def test_a_kind_is_called_by_its_group_too(group: str, title: str) -> None:
    assert ProfileKind(group, "Basket", ()).title == title


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in LITTLE.items() if name != key}


EMPTY_TEXTS = "must be a list of texts, none of them empty"
BAD: dict[str, tuple[Any, str]] = {
    "no finalizer": (without("finalizers"), "profile.finalizers: name at least one finalizer of the product"),
    "no kinds": (without("operator_kinds"), "profile: name kinds under user_kinds or operator_kinds"),
    "an unknown key": ({**LITTLE, "kinds": []}, "profile.kinds: is not known; there are name, title, finalizers,"),
    "a name that is no text": ({**LITTLE, "name": 7}, "profile.name: must be a text"),
    "an empty finalizer": ({**LITTLE, "finalizers": ["a", " "]}, f"profile.finalizers: {EMPTY_TEXTS}"),
    "finalizers that are no list": ({**LITTLE, "finalizers": {"a": 1}}, f"profile.finalizers: {EMPTY_TEXTS}"),
    "kinds that are no list": ({**LITTLE, "user_kinds": {"kind": "A"}}, "profile.user_kinds: must be a list"),
    "a kind that is no hash": (
        {**LITTLE, "user_kinds": [{"kind": "A"}, "Basket"]},
        "profile.user_kinds[1]: must be a hash",
    ),
    "a kind without its name": ({**LITTLE, "user_kinds": [{"group": "a"}]}, "profile.user_kinds[0].kind: is needed"),
    "a kind with an unknown key": (
        {**LITTLE, "user_kinds": [{"kind": "A", "version": "v1"}]},
        "profile.user_kinds[0].version: is not known; there are group, kind, finalizers",
    ),
    "a kind with bad finalizers": (
        {**LITTLE, "operator_kinds": [{"kind": "A", "finalizers": [3]}]},
        f"profile.operator_kinds[0].finalizers: {EMPTY_TEXTS}",
    ),
    "an anchor without its kind": ({**LITTLE, "anchor": {"group": "a"}}, "profile.anchor.kind: is needed"),
    "an anchor that is no hash": ({**LITTLE, "anchor": "Shop"}, "profile.anchor: must be a hash"),
    "an anchor with an unknown key": (
        {**LITTLE, "anchor": {"kind": "A", "name": "x"}},
        "profile.anchor.name: is not known; there are group, kind, finalizers, policy, status, condition",
    ),
    "a path that is no text": (
        {**LITTLE, "anchor": {"kind": "A", "policy": []}},
        "profile.anchor.policy: must be a te",
    ),
    "an unknown class": ({**LITTLE, "classes": {"ingress": []}}, "profile.classes.ingress: is not known; there are in"),
    "classes that are no hash": ({**LITTLE, "classes": ["a"]}, "profile.classes: must be a hash"),
    "an unknown label": (
        {**LITTLE, "labels": {"name": "x"}},
        "profile.labels.name: is not known; there are controller",
    ),
    "a bad selector of a kind": (
        {**LITTLE, "operator_kinds": [{"kind": "Basket", "finalized_by": ["a=b=c"]}]},
        "profile.operator_kinds[0].finalized_by[0]: label_selector: cannot read",
    ),
    "a bad selector": ({**LITTLE, "workloads": ["a=b", "a=b=c"]}, "profile.workloads[1]: label_selector: cannot read"),
    "ids that are no hash": ({**LITTLE, "external_ids": ["status.id"]}, "profile.external_ids: must be a hash"),
    "a check without its version": ({**LITTLE, "checked": [{"how": "source read"}]}, "profile.checked[0].version: is"),
    "a version that is a number": (
        {**LITTLE, "checked": [{"version": 1.1, "how": "source read"}]},
        "profile.checked[0].version: must be a text",
    ),
    "a check nobody knows": (
        {**LITTLE, "checked": [{"version": "1", "how": ["guessed"]}]},
        "profile.checked[0].how: must be a list of source read, CRDs applied, controller run",
    ),
    "checks that are no list": ({**LITTLE, "checked": "1.2"}, "profile.checked: must be a list"),
    "an origin that is no flag": (
        {**LITTLE, "operator_kinds": [{"kind": "A", "made_by_operator": "yes"}]},
        "profile.operator_kinds[0].made_by_operator: must be true or false",
    ),
    "an origin of a user's kind": (
        {**LITTLE, "user_kinds": [{"kind": "A", "made_by_operator": True}]},
        "profile.user_kinds[0].made_by_operator: is not known",
    ),
    "a use that is no list": ({**LITTLE, "uses": {"Basket": {"kind": "A"}}}, "profile.uses.Basket: must be a list"),
    "a use without its kind": (
        {**LITTLE, "uses": {"Basket": [{"name": "a.b"}]}},
        "profile.uses.Basket[0].kind: is needed",
    ),
    "a use that nothing tells": (
        {**LITTLE, "uses": {"Basket": [{"kind": "A"}]}},
        "profile.uses.Basket[0]: say the path of a name, or of a url and of the host",
    ),
    "a url without a host": (
        {**LITTLE, "uses": {"Basket": [{"kind": "A", "name": "a.b", "url": "c.d"}]}},
        "profile.uses.Basket[0]: say the path",
    ),
    "a use of an unknown kind": ({**LITTLE, "uses": {"Store": []}}, "profile.uses.Store: is no kind of this profile"),
    "a use in the wrong order": (
        {**LITTLE, "user_kinds": [{"kind": "A"}], "uses": {"Basket": [{"kind": "A", "name": "a.b"}]}},
        "profile.uses.Basket: A must stand after Basket among the kinds",
    ),
    "a refusal without its path": (
        {**LITTLE, "refuse_delete_while": [{"kind": "A", "why": "b", "fix": "c"}]},
        "profile.refuse_delete_while[0].path: is needed",
    ),
    "a refusal with an unknown key": (
        {**LITTLE, "refuse_delete_while": [{"kind": "A", "path": "b", "why": "c", "fix": "d", "until": "e"}]},
        "profile.refuse_delete_while[0].until: is not known; there are group, kind, path, name, why, fix",
    ),
    "annotations that are no hash": (
        {**LITTLE, "annotate_before_delete": {"Basket": ["a"]}},
        "profile.annotate_before_delete.Basket: must be a hash",
    ),
    "an annotation that is a number": (
        {**LITTLE, "annotate_before_delete": {"Basket": {"a": 1}}},
        "profile.annotate_before_delete.Basket.a: must be a text",
    ),
    "notes that are no texts": ({**LITTLE, "notes": [1]}, f"profile.notes: {EMPTY_TEXTS}"),
}


@pytest.mark.parametrize(("data", "complaint"), named(BAD))
def test_every_bad_field_is_named_with_its_place(data: Any, complaint: str) -> None:
    assert complaint in read(data)[1]


def test_all_bad_fields_are_told_at_once() -> None:
    complaints = read({"title": 3, "anchor": {}, "user_kinds": [{}], "colour": "red"})[1]
    assert [text.partition(": ")[0] for text in complaints.split("; ") if text.startswith("profile")] == [
        "profile.colour",
        "profile.finalizers",
        "profile.user_kinds[0].kind",
        "profile",
        "profile.title",
    ]


SILENT: dict[str, tuple[Any, str]] = {
    "an id that is one text": ({"external_ids": {"Basket": "status.id"}}, ""),
    "ids that are no list": ({"external_ids": {"Basket": 5}}, "profile.external_ids.Basket"),
    "a policy that is no hash": ({"own_policy": {"Basket": "spec.policy"}}, "profile.own_policy.Basket"),
    "a policy without its path": ({"own_policy": {"Basket": {"deletes": "x"}}}, "profile.own_policy.Basket.path"),
    "keys that are numbers": ({1: "x", "colour": "red"}, "profile.1"),
    "a star for every finalizer": ({"finalizers": ["*"]}, "profile.finalizers"),
}


@pytest.mark.parametrize(("change", "place"), named(SILENT))
def test_a_bad_value_inside_a_table_is_named_too(change: dict[Any, Any], place: str) -> None:
    found, complaints = read({**LITTLE, **change})
    assert complaints.startswith(place)
    assert place or found.operator_kinds[0].external_ids == ("status.id",)


def test_a_complaint_is_told_once() -> None:
    assert read({**LITTLE, "workloads": [3]})[1] == f"profile.workloads: {EMPTY_TEXTS}"
