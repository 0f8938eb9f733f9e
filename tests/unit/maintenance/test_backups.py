# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Backups grow and are never rewritten."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.backups import (
    BY_HAND,
    Began,
    Paused,
    Remarks,
    backup_name,
    grown,
    new_backup,
    read_backup,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.changes import (
    Change,
    Role,
    annotate,
    latest,
    put,
    with_entries_back,
)
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef
from ansible_collections.sunset.kube.plugins.module_utils.pointers import ABSENT
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.tests.unit.maintenance.route_shapes import patched

UID = "3e1f5c1e-6a3c-4c8e-9a57-0f5b8f6f2a10"
SKIP = "argocd.argoproj.io/skip-reconcile"
LONG = "x" * 253
TARGET = ObjectRef("networking.k8s.io/v1", "Ingress", "shop", LONG, UID)


def a_change(identity: str, before: Any, after: Any = "page") -> Change:
    return Change(Role.BACKEND, identity, "/spec/x/*", f"/spec/x/{identity}", before, after)


def stored(*changes: Change, paused: list[Paused] | None = None) -> dict[str, Any]:
    began, remarks = Began("2026-01-01T00:00:00Z", "me"), Remarks(1767225600.0, "CHG-7")
    item = new_backup(TARGET, changes, paused or [], began, remarks)
    item["metadata"].update(uid="b-1", resourceVersion="5", creationTimestamp="2026-01-01T00:00:00Z")
    return item


def test_a_backup_is_named_by_uid_and_owned_by_its_route() -> None:
    metadata = stored()["metadata"]
    assert metadata["name"] == backup_name(UID)
    assert len(metadata["name"]) <= 63
    assert [owner["uid"] for owner in metadata["ownerReferences"]] == [UID]
    assert all(len(value) <= 63 for value in metadata["labels"].values())


def test_absent_and_null_are_kept_apart() -> None:
    changes = [a_change("0", ABSENT, None), a_change("1", None, ABSENT)]
    read = read_backup(stored(*changes)).changes
    assert read == changes
    assert (read[0].before, read[1].after) == (ABSENT, ABSENT)


def test_growing_adds_and_never_touches_what_is_there() -> None:
    item = stored(*(a_change(str(number), number) for number in range(12)))
    backup = read_backup(item)
    more = [a_change("3", "edited"), a_change("12", 12)]
    operations = grown(backup, more, [], backup.remarks)
    assert {step["op"] for step in operations} == {"test", "add"}
    result = patched(item, operations)
    assert {key: value for key, value in result["data"].items() if key in item["data"]} == item["data"]
    assert read_backup(result).changes == [*backup.changes, *more]
    assert latest(read_backup(result).changes)[more[0].key].before == "edited"


def test_nothing_new_is_no_patch() -> None:
    backup = read_backup(stored(a_change("0", 1)))
    assert grown(backup, [], [], backup.remarks) == []


def test_until_and_reason_may_change_and_other_annotations_stay() -> None:
    item = stored()
    item["metadata"]["annotations"]["team"] = "shop"
    result = patched(item, grown(read_backup(item), [], [], Remarks(None, "later")))
    assert result["metadata"]["annotations"] == {"team": "shop", "sunset.dev/maintenance-reason": "later"}


def test_whose_page_it_is_is_remembered_and_nobody_is_whoever_runs_tasks_by_hand() -> None:
    item = stored()
    assert read_backup(item).holders == {BY_HAND}
    both = read_backup(item).remarks.joined_by(frozenset({"nightly"}))
    item = patched(item, grown(read_backup(item), [], [], both))
    assert item["metadata"]["annotations"]["sunset.dev/maintenance-holders"] == "nightly task"
    assert read_backup(item).holders == {"nightly", BY_HAND}
    item = patched(item, grown(read_backup(item), [], [], Remarks()))
    assert item["metadata"]["annotations"] == {}


def test_who_waits_is_remembered() -> None:
    one = Paused("argoproj.io/v1alpha1", "Application", "argo", "shop", SKIP, "true")
    other = dataclasses.replace(one, name="cart")
    item = stored(paused=[one])
    item = patched(item, grown(read_backup(item), [], [other], Remarks(1767225600.0, "CHG-7")))
    assert read_backup(item).paused == [one, other]


FORGED_PAUSES = {
    "another kind": {"kind": "AppProject"},
    "another group": {"api_version": "example.com/v1"},
    "another annotation": {"annotation": "example.com/locked"},
    "another value": {"value": "false"},
}


@pytest.mark.parametrize("case", FORGED_PAUSES)
def test_only_whom_we_ask_to_wait_can_be_let_go_on(case: str) -> None:
    """Whoever writes in one namespace must not take annotations off objects of another one."""
    real = Paused("argoproj.io/v1alpha1", "Application", "argo", "shop", SKIP, "true")
    forged = dataclasses.replace(real, **FORGED_PAUSES[case])
    assert read_backup(stored(paused=[forged, real])).paused == [real]


FORGED: dict[str, dict[str, str]] = {
    "no JSON": {"target": "x"},
    "no mapping": {"target": "[]"},
    "a name that is no text": {"target": '{"uid": ["a"]}'},
    "a change that lacks something": {"0000": "{}"},
    "a change of no known role": {"0000": '{"role": "x", "identity": "", "pattern": "", "pointer": ""}'},
    "a place that is no text": {"0000": '{"role": "backend", "identity": 1, "pattern": "", "pointer": ""}'},
    "an owner that lacks something": {"paused-0": "{}"},
    "more than there is to a beginning": {"began": '{"at": "", "by": "", "for": ""}'},
    "a beginning that is no text": {"began": '{"at": []}'},
    "too deep": {"target": "[" * 100_000},
}


@pytest.mark.parametrize("case", FORGED)
def test_what_we_never_wrote_is_refused_by_its_name(case: str) -> None:
    item = stored()
    item["data"].update(FORGED[case])
    with pytest.raises(Refused, match=f"ConfigMap shop/{backup_name(UID)}"):
        read_backup(item)


def test_a_time_that_is_none_is_refused_too() -> None:
    item = stored()
    item["metadata"]["annotations"]["sunset.dev/maintenance-until"] = "soon"
    with pytest.raises(Refused):
        read_backup(item)


def test_putting_what_stands_there_is_nothing_to_do() -> None:
    item = {"spec": {"a": 1, "none": None}}
    assert put(item, "/spec/a", 1) == []
    assert put(item, "/spec/b", ABSENT) == []
    assert put(item, "/spec/none", None) == []
    assert put(item, "/spec/a", 2) == [{"op": "replace", "path": "/spec/a", "value": 2}]
    assert put(item, "/spec/b", 2) == [{"op": "add", "path": "/spec/b", "value": 2}]
    assert put(item, "/spec/a", ABSENT) == [{"op": "remove", "path": "/spec/a"}]


def test_annotations_are_tested_before_they_are_changed() -> None:
    item = {"metadata": {"resourceVersion": "7", "annotations": {"a/b": "1"}}}
    steps = annotate(item, {"a/b": ABSENT, "c": "2"})
    assert steps[:2] == [
        {"op": "test", "path": "/metadata/annotations/a~1b", "value": "1"},
        {"op": "remove", "path": "/metadata/annotations/a~1b"},
    ]
    bare = annotate({"metadata": {"resourceVersion": "7"}}, {"c": "2"})
    assert bare[0] == {"op": "test", "path": "/metadata/resourceVersion", "value": "7"}
    assert annotate({"metadata": {}}, {"gone": ABSENT}) == []


def test_entries_go_back_beside_their_old_neighbours() -> None:
    change = Change(Role.BESIDE, "", "/x", "/x", ["a", "login", "b"], ["a", "b"])
    assert with_entries_back(change, ["a", "b"]) == ["a", "login", "b"]
    assert with_entries_back(change, ["b", "a", "new"]) == ["b", "a", "login", "new"]
    assert with_entries_back(change, ABSENT) == ["login"]
    assert with_entries_back(change, "no list any more") == "no list any more"
    whole = Change(Role.BESIDE, "", "/x", "/x", ["login"], ABSENT)
    assert with_entries_back(whole, ABSENT) == ["login"]
