# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which of a cluster's objects goes next."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Record
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.works import (
    Wave,
    belongs_to_an_addon,
    carries_definitions,
    carries_the_agent,
    is_a_hook,
    manifests_of,
    next_wave,
    priority_of,
    replica_set_of,
    strange_priority,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named, record

IMPORT = {ocm.IMPORT_LABELS[0]: "true"}
ADDON = {ocm.ADDON_LABEL: "metrics"}


def work(name: str, priority: str | None = None, **more: Any) -> Record:
    annotations = {} if priority is None else {ocm.PRIORITY: priority}
    return record(name, "edge", **{"annotations": annotations, **more})


def workload(*kinds: str) -> dict[str, Any]:
    return {"spec": {"workload": {"manifests": [{"kind": kind} for kind in kinds]}}}


# -- priorities --------------------------------------------------------------------------------------------------------

# As Go's strconv.Atoi reads it: ASCII digits with one sign at most. Then 0 to 100 counts, all else is 0.
PRIORITIES: dict[str, tuple[str | None, int, bool]] = {
    "none": (None, 0, False),
    "zero": ("0", 0, False),
    "ten": ("10", 10, False),
    "the most": ("100", 100, False),
    "a plus sign": ("+5", 5, False),
    "leading zeros are decimal": ("007", 7, False),
    "minus zero": ("-0", 0, False),
    "above the most": ("101", 0, True),
    "far above": ("300", 0, True),
    "below the least": ("-1", 0, True),
    "empty": ("", 0, True),
    "a word": ("late", 0, True),
    "a space before": (" 5", 0, True),
    "a space after": ("5 ", 0, True),
    "a line break after": ("5\n", 0, True),
    "a float": ("5.0", 0, True),
    "an underscore": ("1_0", 0, True),
    "hexadecimal": ("0x10", 0, True),
    "an exponent": ("1e1", 0, True),
    "two signs": ("+-5", 0, True),
    "only a sign": ("+", 0, True),
    "digits of another script": ("\u0665", 0, True),
    "full-width digits": ("\uff15", 0, True),
    "beyond 64 bits": ("9" * 30, 0, True),
}


@pytest.mark.parametrize(("text", "number", "strange"), named(PRIORITIES))
def test_a_priority_is_read_as_the_hub_reads_it(text: str | None, number: int, strange: bool) -> None:
    one = work("w", text)
    assert priority_of(one) == number
    assert bool(strange_priority(one)) is strange


def test_a_strange_priority_is_named() -> None:
    assert strange_priority(work("w", "late")) == "edge/w has cleanup-priority 'late', which counts as 0"


def test_a_priority_of_any_length_is_read() -> None:
    assert priority_of(work("w", "9" * 5000)) == 0


# -- what a work is ----------------------------------------------------------------------------------------------------

AGENTS: dict[str, tuple[Record, dict[str, Any] | None, bool]] = {
    "by its name": (work("edge-klusterlet"), None, True),
    "by the import label": (work("x", labels=IMPORT), None, True),
    "because it brings a Klusterlet": (work("x"), workload("Namespace", "Klusterlet"), True),
    "not its definitions": (work("edge-klusterlet-crds"), workload("Klusterlet"), False),
    "not its definitions, labelled": (work("edge-klusterlet-crds", labels=IMPORT), None, False),
    "not because of a name that begins so": (work("edge-klusterlet-extras"), None, False),
    "not because of other content": (work("x"), workload("ConfigMap"), False),
    "not without content": (work("x"), {}, False),
    "not with content that is no list": (work("x"), {"spec": {"workload": {"manifests": "x"}}}, False),
    "not with manifests that are no objects": (work("x"), {"spec": {"workload": {"manifests": ["x", None]}}}, False),
}


@pytest.mark.parametrize(("one", "item", "is_agent"), named(AGENTS))
def test_the_agents_work_is_told(one: Record, item: dict[str, Any] | None, is_agent: bool) -> None:
    assert carries_the_agent(one, item) is is_agent


def test_other_marks_of_a_work() -> None:
    assert carries_definitions(work("edge-klusterlet-crds"))
    assert not carries_definitions(work("edge-klusterlet"))
    assert belongs_to_an_addon(work("w", labels=ADDON))
    assert not belongs_to_an_addon(work("w"))
    assert [len(manifests_of(item)) for item in ({}, workload("A", "B"), {"spec": None})] == [0, 2, 0]


@pytest.mark.parametrize("where", ["labels", "annotations"])
@pytest.mark.parametrize("mark", ocm.HOOK_LABELS)
def test_a_hook_is_told_by_label_or_annotation(where: str, mark: str) -> None:
    assert is_a_hook(record("w", "edge", **{where: {mark: ""}}))
    assert not is_a_hook(record("w", "edge", **{where: {f"{mark}d": ""}}))


def test_the_replica_set_behind_a_work_is_named() -> None:
    assert replica_set_of(work("w", labels={ocm.REPLICA_SET_LABEL: "fleet.web.v2"})) == "fleet/web.v2"
    assert replica_set_of(work("w")) == ""


# -- waves -------------------------------------------------------------------------------------------------------------


def rolled(
    addons: list[Record], works: list[Record], agents: tuple[str, ...] = (), policy: str = "all"
) -> list[tuple[str, list[str], bool]]:
    """All waves to the end."""
    left, waves = [list(addons), list(works)], []
    while (wave := next_wave(left, 1, {f"uid-{name}" for name in agents}, policy)) is not None:
        waves.append((wave.name, sorted(one.name for one in wave.records), wave.deletes))
        left[wave.kind] = [one for one in left[wave.kind] if one not in wave.records]
        assert len(waves) < 20
    return waves


def test_nothing_left_is_no_wave() -> None:
    assert next_wave([[], []], 1, (), "all") is None
    assert next_wave([], None, (), "all") is None


def test_addons_go_first_then_works_then_the_agent_then_its_definitions() -> None:
    works = [
        work("edge-klusterlet-crds", "0"),
        work("edge-klusterlet", "0"),
        work("b", "20"),
        work("a"),
        work("c", "x"),
    ]
    addons = [work("late", "7"), work("early")]
    assert rolled(addons, works, ("edge-klusterlet",)) == [
        ("priority 0", ["early"], True),
        ("priority 7", ["late"], True),
        ("works of priority 0", ["a", "c"], True),
        ("works of priority 20", ["b"], True),
        ("klusterlet work", ["edge-klusterlet"], True),
        ("klusterlet definitions", ["edge-klusterlet-crds"], True),
    ]


# Upstream's own table (cases 64-67).
CLASSES: dict[str, tuple[list[str | None], str, int]] = {
    "none set": ([None, None, None, None], "works of priority 0", 4),
    "none that counts": (["text", "300", "-1", None], "works of priority 0", 4),
    "mixed": (["text", "300", "-1", None, "0", "10", "100"], "works of priority 0", 5),
    "all valid": (["10", "20", "10", "100"], "works of priority 10", 2),
}


@pytest.mark.parametrize(("priorities", "name", "count"), named(CLASSES))
def test_only_the_lowest_class_goes(priorities: list[str | None], name: str, count: int) -> None:
    wave = next_wave([[], [work(f"w{n}", text) for n, text in enumerate(priorities)]], 1, (), "all")
    assert wave is not None
    assert (wave.name, len(wave.records)) == (name, count)


def test_a_later_kind_waits_however_low_its_priority_is() -> None:
    wave = next_wave([[work("addon", "100")], [work("w", "0")]], 1, (), "all")
    assert wave == Wave("priority 100", 0, (work("addon", "100"),))


def test_only_the_definitions_are_marked_as_such() -> None:
    marked = next_wave([[work("x-klusterlet-crds")]], 0, (), "all")
    plain = next_wave([[work("x-klusterlet-crds")]], None, (), "all")
    assert marked is not None
    assert plain is not None
    assert (marked.definitions, plain.definitions) == (True, False), "in another kind the name means nothing"


def test_works_of_addons_only() -> None:
    works = [work("mine", "5", labels=ADDON), work("theirs", "0")]
    assert rolled([], works, policy="addon_only") == [
        ("works of priority 5", ["mine"], True),
        ("works that others delete", ["theirs"], False),
    ]


def test_no_works_at_all() -> None:
    works = [work("mine", labels=ADDON), work("theirs")]
    assert rolled([work("addon")], works, policy="none") == [
        ("priority 0", ["addon"], True),
        ("works that others delete", ["mine", "theirs"], False),
    ]


@pytest.mark.parametrize("policy", ["none", "addon_only"])
def test_the_agents_work_is_a_work_too(policy: str) -> None:
    works = [work("edge-klusterlet"), work("edge-klusterlet-crds")]
    assert [row[2] for row in rolled([], works, ("edge-klusterlet",), policy)] == [False] * 2
