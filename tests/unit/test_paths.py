# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values inside whole objects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.paths import condition_of, patch_at, value_at
from ansible_collections.sunset.kube.tests.unit.fakes import named

ITEM = {"spec": {"drain": {"policy": "Delete", "empty": None}, "names": ["a"]}, "status": "odd"}
VALUES: dict[str, tuple[str, Any]] = {
    "deep down": ("spec.drain.policy", "Delete"),
    "a whole part": ("spec.drain", {"policy": "Delete", "empty": None}),
    "nothing there": ("spec.drain.other", None),
    "nothing on the way": ("spec.other.policy", None),
    "a null": ("spec.drain.empty", None),
    "beyond a null": ("spec.drain.empty.more", None),
    "into a list": ("spec.names.0", None),
    "into a text": ("status.phase", None),
}


@pytest.mark.parametrize(("path", "value"), named(VALUES))
def test_what_stands_at_a_path_is_found(path: str, value: Any) -> None:
    assert value_at(ITEM, path) == value


def test_a_patch_sets_one_value_and_nothing_else() -> None:
    assert patch_at("spec.drain.policy", "Retain") == {"spec": {"drain": {"policy": "Retain"}}}


@given(st.lists(st.text(alphabet="abc", min_size=1), min_size=1, max_size=5), st.integers())
def test_what_a_patch_sets_is_found_at_its_path(keys: list[str], value: int) -> None:
    assert value_at(patch_at(".".join(keys), value), ".".join(keys)) == value


READY = {"type": "Ready", "status": "True"}
CONDITIONS: dict[str, tuple[Any, Any]] = {
    "found": ({"conditions": [{"type": "Other"}, READY]}, READY),
    "the first of two": ({"conditions": [READY, {"type": "Ready", "status": "False"}]}, READY),
    "none of that type": ({"conditions": [{"type": "Other"}]}, None),
    "no conditions": ({}, None),
    "conditions that are no list": ({"conditions": {"Ready": "True"}}, None),
    "entries that are no hash": ({"conditions": ["Ready", READY]}, READY),
}


@pytest.mark.parametrize(("status", "found"), named(CONDITIONS))
def test_a_condition_is_found_by_its_type(status: Any, found: Any) -> None:
    assert condition_of({"status": status}, "Ready") == found
