# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody asks about."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.target import Target, parse_target
from ansible_collections.sunset.kube.tests.unit.fakes import named

GOOD: dict[str, tuple[dict[str, Any], Target]] = {
    "nothing": ({}, Target()),
    "options that were not given": ({"kind": None, "members": None, "namespace": None}, Target()),
    "a namespace": ({"namespace": "shop"}, Target(namespace="shop")),
    "an object": ({"kind": "Domain", "name": "web"}, Target(kind="Domain", name="web")),
    "members": ({"members": {"namespace": "shop"}}, Target(members={"namespace": "shop"})),
}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an empty namespace": ({"namespace": " "}, "namespace: is empty"),
    "a name without a kind": ({"name": "web"}, "name: needs kind"),
    "labels without a kind": ({"label_selector": "a=b", "namespace": "shop"}, "label_selector: needs kind"),
    "labels and a name": ({"kind": "Pod", "name": "a", "label_selector": "a=b"}, "cannot be used with name"),
    "members and more": ({"members": {"namespace": "x"}, "kind": "Pod"}, "members: cannot be used with kind"),
    "two sources": ({"members": {"namespace": "x", "kapp": {}}}, "exactly one of"),
}


@pytest.mark.parametrize(("params", "target"), named(GOOD))
def test_a_target_is_what_was_given(params: dict[str, Any], target: Target) -> None:
    assert parse_target(params) == target


@pytest.mark.parametrize(("params", "complaint"), named(BAD))
def test_a_contradiction_is_refused_with_the_option(params: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadOption) as caught:
        parse_target(params)
    assert complaint in caught.value.why
