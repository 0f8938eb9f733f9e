# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is done to an object before it is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields, BadOption
from ansible_collections.sunset.kube.plugins.module_utils.teardown.before_delete import (
    check_before_delete,
    patch_before_delete,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.tests.unit.fakes import DAEMONSETS, DEPLOYMENTS, DOMAINS, STATEFULSETS, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import REPLICA_SETS, member

PATCHES: dict[str, tuple[Member, dict[str, Any], dict[str, Any]]] = {
    "nothing": (member(DOMAINS), {}, {}),
    "nothing but nulls": (member(DOMAINS), {"annotate": None, "patch": None, "scale": None}, {}),
    "annotations become texts": (
        member(DOMAINS),
        {"annotate": {"a": 1, "b": "x"}},
        {"metadata": {"annotations": {"a": "1", "b": "x"}}},
    ),
    "a patch": (member(DOMAINS), {"patch": {"spec": {"x": None}}}, {"spec": {"x": None}}),
    "scale a Deployment": (member(DEPLOYMENTS), {"scale": 0}, {"spec": {"replicas": 0}}),
    "scale a StatefulSet": (member(STATEFULSETS), {"scale": 1}, {"spec": {"replicas": 1}}),
    "scale a ReplicaSet": (member(REPLICA_SETS), {"scale": 0}, {"spec": {"replicas": 0}}),
    "what cannot be scaled is left alone": (member(DAEMONSETS), {"scale": 0}, {}),
    "all of them together": (
        member(DEPLOYMENTS),
        {"annotate": {"a": "b"}, "patch": {"metadata": {"labels": {"c": "d"}}, "spec": {"paused": True}}, "scale": 0},
        {
            "metadata": {"labels": {"c": "d"}, "annotations": {"a": "b"}},
            "spec": {"paused": True, "replicas": 0},
        },
    ),
}


@pytest.mark.parametrize(("each", "wish", "patch"), named(PATCHES))
def test_the_wish_becomes_one_patch(each: Member, wish: dict[str, Any], patch: dict[str, Any]) -> None:
    assert patch_before_delete(each, wish) == patch


def test_the_wish_itself_is_not_changed() -> None:
    wish = {"patch": {"metadata": {"annotations": {"a": "b"}}}, "annotate": {"c": "d"}}
    patch_before_delete(member(DEPLOYMENTS), wish)
    assert wish == {"patch": {"metadata": {"annotations": {"a": "b"}}}, "annotate": {"c": "d"}}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "annotate": ({"annotate": ["a"]}, "here.annotate: must be a mapping, not list"),
    "patch": ({"patch": "spec"}, "here.patch: must be a mapping, not str"),
    "scale": ({"scale": "none"}, "here.scale: must be a number, not str"),
    "scale by a flag": ({"scale": False}, "here.scale: must be a number, not bool"),
    "scale below nothing": ({"scale": -1}, "here.scale: must be 0 or more, not -1"),
    "two at once": (
        {"annotate": 1, "scale": "x"},
        "here.annotate: must be a mapping, not int; here.scale: must be a number, not str",
    ),
}


@pytest.mark.parametrize(("value", "why"), named(BAD))
def test_a_bad_wish_is_named_with_its_path(value: dict[str, Any], why: str) -> None:
    bad = BadFields()
    check_before_delete(value, "here", bad)
    with pytest.raises(BadOption) as refused:
        bad.raise_if_any()
    assert refused.value.why == why


def test_a_good_wish_is_no_complaint() -> None:
    bad = BadFields()
    check_before_delete({"annotate": {}, "patch": {}, "scale": 0}, "here", bad)
    check_before_delete({"annotate": None}, "here", bad)
    bad.raise_if_any()
