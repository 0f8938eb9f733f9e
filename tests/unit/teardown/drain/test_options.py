# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of a drain."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_products import PRODUCTS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.options import (
    AnchorWish,
    DrainOptions,
    Instance,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ladder import Ladder
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import SHOP, options_of, profile_of


def complaint(**params: Any) -> str:
    with pytest.raises(BadOption) as refused:
        options_of(**params)
    return refused.value.why


def test_nothing_but_a_profile_is_needed() -> None:
    assert options_of() == DrainOptions(profile=profile_of(), ladder=Ladder(after=30.0))


def test_every_option_reaches_its_place() -> None:
    found = options_of(
        check_mode=True,
        policy="Delete",
        anchor={"api_version": None, "kind": None, "name": "main", "namespace": "ops"},
        remove_anchor=False,
        instance={
            "namespaces": ["a"],
            "ingress_classes": ["b"],
            "ingress_controllers": ["c"],
            "gateway_controllers": ["d"],
            "controller_name": "e",
            "controller_namespace": None,
        },
        quiesce="scale",
        settle=7,
        freeze=True,
        user_authored="drain",
        only_with_finalizer=False,
        force=True,
        force_after=9,
        force_deny=["x/*"],
        force_allow=["y/z"],
        timeout=60,
        max_objects=5,
        plan_hash="abc",
        evidence_dir="somewhere",
    )
    assert found == DrainOptions(
        profile=profile_of(),
        policy="Delete",
        anchor=AnchorWish(name="main", namespace="ops"),
        remove_anchor=False,
        instance=Instance(("a",), ("b",), ("c",), ("d",), "e"),
        quiesce="scale",
        settle=7.0,
        freeze=True,
        user_authored="drain",
        only_with_finalizer=False,
        ladder=Ladder(force=True, after=9.0, deny=("x/*",), allow=("y/z",)),
        timeout=60.0,
        max_objects=5,
        plan_hash="abc",
        check_mode=True,
        keepsakes=True,
    )


@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_a_product_is_found_by_its_name(name: str) -> None:
    found = options_of(profile=name).profile
    assert found is not None
    assert found.name == name


def test_auto_is_no_profile_yet() -> None:
    assert options_of(profile="auto").profile is None


NEAR: dict[str, tuple[str, str]] = {
    "a letter too many": ("ngrock", "did you mean ngrok? There"),
    "capital letters": ("Cert-Manager", "did you mean cert-manager? There"),
    "without its hyphen": ("argocd", "did you mean argo-cd? There"),
    "nothing like it": ("zzz", "there"),
}


@pytest.mark.parametrize(("name", "hint"), named(NEAR))
def test_a_name_that_is_not_known_gets_a_hint(name: str, hint: str) -> None:
    assert complaint(profile=name) == (
        f"profile: {name!r} is not known; {hint} are {', '.join(sorted(PRODUCTS))}, auto, "
        "or a dictionary with a profile of your own"
    )


EMPTY = "is empty; leave it out or give a value"
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no namespaces": ({"instance": {"namespaces": []}}, f"instance.namespaces: {EMPTY}"),
    "an empty namespace": ({"instance": {"namespaces": ["a", " "]}}, f"instance.namespaces: {EMPTY}"),
    "an empty controller": ({"instance": {"controller_name": ""}}, f"instance.controller_name: {EMPTY}"),
    "an empty anchor": ({"anchor": {"name": " "}}, f"anchor.name: {EMPTY}"),
    "a negative pause": ({"settle": -1}, "settle: must be 0 or more, not -1"),
    "no time": ({"timeout": 0}, "timeout: must be 1 or more, not 0"),
    "an empty hash": ({"plan_hash": ""}, f"plan_hash: {EMPTY}"),
    "a bad profile": ({"profile": {**SHOP, "colour": 1}}, "profile.colour: is not known"),
}


@pytest.mark.parametrize(("params", "text"), named(BAD))
def test_a_bad_option_is_named(params: dict[str, Any], text: str) -> None:
    assert text in complaint(**params)


def test_every_bad_option_is_told_at_once() -> None:
    told = complaint(profile="x", settle=-1, timeout=0, instance={"namespaces": []})
    assert [text.partition(":")[0] for text in told.split("; ") if ": " in text] == [
        "profile",
        "instance.namespaces",
        "settle",
        "timeout",
    ]


def test_a_bad_option_is_told_once() -> None:
    assert complaint(force_after=-1) == "force_after: must be 0 or more, not -1"


GIVEN: dict[str, tuple[Instance, bool]] = {
    "nothing": (Instance(), False),
    "a namespace": (Instance(namespaces=("a",)), True),
    "a controller": (Instance(controller_name="a"), True),
}


@pytest.mark.parametrize(("instance", "given"), named(GIVEN))
def test_an_instance_is_given_when_any_field_is(instance: Instance, given: bool) -> None:
    assert instance.is_given is given
