# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Identity, metadata and times of objects."""

from __future__ import annotations

import datetime
import urllib.parse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.objects import (
    LAST_APPLIED,
    ObjectRef,
    Record,
    Resource,
    parse_time,
    record_of,
    ref_to,
)
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, NODES, PODS, SERVER_NOW, named, record

PATHS = {
    "core, all namespaces": (PODS, None, None, "/api/v1/pods"),
    "core, one namespace": (PODS, "shop", None, "/api/v1/namespaces/shop/pods"),
    "core, one object": (PODS, "shop", "web", "/api/v1/namespaces/shop/pods/web"),
    "group, one object": (DOMAINS, "shop", "web", "/apis/ingress.example.com/v1/namespaces/shop/domains/web"),
    "cluster-scoped": (NODES, None, "n1", "/api/v1/nodes/n1"),
    "cluster-scoped ignores a namespace": (NODES, "shop", "n1", "/api/v1/nodes/n1"),
    "colons stay, as in system:node": (NODES, None, "system:node", "/api/v1/nodes/system:node"),
}


@pytest.mark.parametrize(("resource", "namespace", "name", "path"), named(PATHS))
def test_a_path_leads_to_the_kind_the_namespace_or_the_object(
    resource: Resource, namespace: str | None, name: str | None, path: str
) -> None:
    assert resource.path(namespace, name) == path


STRANGE_NAMES = {
    "a space": "a b",
    "a slash": "a/b",
    "a question mark": "a?dryRun=All",
    "a fragment": "a#b",
    "a line break": "a\r\nX-Evil: 1",
    "an escape": "a%2Fb",
    "letters outside ASCII": "größe",
    "letters outside latin-1": "名前",
    "half a character": "a\ud800",
}


@pytest.mark.parametrize("text", named(STRANGE_NAMES))
@pytest.mark.parametrize("place", ["namespace", "name"])
def test_a_name_that_people_wrote_cannot_leave_its_place_in_the_path(text: str, place: str) -> None:
    path = PODS.path(**{"namespace": "shop", "name": "web", place: text})
    parts = {"namespace": "shop", "name": "web", place: text}
    read_back = [urllib.parse.unquote(part, errors="surrogatepass") for part in path.split("/")]
    assert read_back == ["", "api", "v1", "namespaces", parts["namespace"], "pods", parts["name"]]
    assert path.isascii()
    assert not set(path) & set(" ?#\r\n")


def test_api_version_and_qualified_name_leave_the_core_group_out() -> None:
    shown = [(resource.api_version, resource.qualified) for resource in (PODS, DOMAINS)]
    assert shown == [("v1", "pods"), ("ingress.example.com/v1", "domains.ingress.example.com")]


def test_a_record_keeps_the_facts_that_decide() -> None:
    metadata = {
        "name": "web",
        "namespace": "shop",
        "uid": "u1",
        "resourceVersion": "7",
        "finalizers": ["example.com/a", "example.com/b"],
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 30,
        "ownerReferences": [{"uid": "o1", "name": "x"}, {"uid": "o2"}],
        "labels": {"app": "shop"},
        "annotations": {"note": "kept", LAST_APPLIED: "{…}"},
        "managedFields": [
            {
                "manager": "shop-operator",
                "fieldsV1": {"f:metadata": {"f:finalizers": {".": {}, 'v:"example.com/a"': {}}}},
            },
            {"manager": "kubectl", "fieldsV1": {"f:spec": {}}},
            {"manager": "status", "fieldsV1": None},
            {"manager": "kubelet", "subresource": "status", "fieldsV1": {"f:status": {}}},
            {"fieldsV1": {"f:metadata": {"f:finalizers": {'v:"example.com/b"': {}}}}},
        ],
        "generation": 3,
    }
    assert record_of(metadata) == Record(
        namespace="shop",
        name="web",
        uid="u1",
        resource_version="7",
        finalizers=("example.com/a", "example.com/b"),
        deleted_at="2026-01-01T00:00:00Z",
        grace_seconds=30,
        owner_uids=("o1", "o2"),
        labels={"app": "shop"},
        annotations={"note": "kept"},
        finalizer_managers=(("example.com/a", "shop-operator"), ("example.com/b", "")),
        managers=("shop-operator", "kubectl", "status", ""),
    )


EMPTY = Record("", "", "", "", (), None, None, (), {}, {}, ())
NULLS: dict[str, dict[str, Any]] = {
    "nothing at all": {},
    "everything null": dict.fromkeys(
        [
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "finalizers",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "ownerReferences",
            "labels",
            "annotations",
            "managedFields",
        ]
    ),
}


@pytest.mark.parametrize("metadata", named(NULLS))
def test_missing_and_null_metadata_become_empty_facts(metadata: dict[str, Any]) -> None:
    assert record_of(metadata) == EMPTY


@pytest.mark.parametrize(
    ("facts", "terminating"), named({"alive": ({}, False), "being deleted": ({"deleted": True}, True)})
)
def test_an_object_with_a_deletion_timestamp_is_terminating(facts: dict[str, Any], terminating: bool) -> None:
    assert record(**facts).terminating is terminating


AGES: dict[str, tuple[dict[str, Any], float | None]] = {
    "alive": ({}, None),
    "deleted": ({"deleted": True}, 20.0),
    # deletionTimestamp is when the grace period ends: this one was asked to go 20 s ago and has 10 s left.
    "in its grace period": (
        {"deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30},
        20.0,
    ),
    "deleted by a server whose clock is ahead": ({"deletionTimestamp": "2026-01-01T00:00:25Z"}, 0.0),
}


@pytest.mark.parametrize(("facts", "age"), named(AGES))
def test_the_age_of_a_deletion_counts_from_when_it_was_asked_for(facts: dict[str, Any], age: float | None) -> None:
    assert record(**facts).deleting_for(SERVER_NOW + 20.0) == age


def test_an_object_is_named_by_kind_and_place() -> None:
    refs = [ref_to(DOMAINS, record("web")), ref_to(NODES, record("n1", ""))]
    assert [(str(ref), ref.as_dict()) for ref in refs] == [
        (
            "Domain shop/web",
            {
                "api_version": "ingress.example.com/v1",
                "kind": "Domain",
                "namespace": "shop",
                "name": "web",
                "uid": "uid-web",
            },
        ),
        ("Node n1", {"api_version": "v1", "kind": "Node", "namespace": "", "name": "n1", "uid": "uid-n1"}),
    ]


def test_the_same_name_with_another_uid_is_another_object() -> None:
    assert ObjectRef("v1", "Pod", "shop", "web", "u1") != ObjectRef("v1", "Pod", "shop", "web", "u2")


def test_places_are_shown_with_their_namespace_if_they_have_one() -> None:
    assert [record("web").place, record("n1", "").place] == ["shop/web", "n1"]


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
TIMES = {
    "seconds": ("2026-01-01T00:00:00Z", 1767225600.0),
    "microseconds": ("2026-01-01T00:00:00.250000Z", 1767225600.25),
    "one digit": ("2026-01-01T00:00:00.5Z", 1767225600.5),
    "nanoseconds": ("2026-01-01T00:00:00.123456789Z", 1767225600.123456),
    "an offset": ("2026-01-01T02:30:00+02:30", 1767225600.0),
    "a negative offset": ("2025-12-31T19:00:00-05:00", 1767225600.0),
    "a fraction and an offset": ("2026-01-01T01:00:00.5+01:00", 1767225600.5),
    "no zone means UTC": ("2026-01-01T00:00:00", 1767225600.0),
    "a small z and spaces": (" 2026-01-01T00:00:00z ", 1767225600.0),
}


@pytest.mark.parametrize(("text", "seconds"), named(TIMES))
def test_times_of_kubernetes_are_read(text: str, seconds: float) -> None:
    assert parse_time(text) == pytest.approx(seconds, abs=1e-6)


@given(st.integers(0, 7_000_000_000_000_000), st.integers(0, 9))
def test_every_moment_is_read_back_whatever_its_precision(microseconds: int, digits: int) -> None:
    moment = EPOCH + datetime.timedelta(microseconds=microseconds)
    fraction = f"{moment.microsecond:06}000"[:digits]
    text = f"{moment:%Y-%m-%dT%H:%M:%S}" + (f".{fraction}" if digits else "") + "Z"
    whole = microseconds // 1_000_000
    assert parse_time(text) == pytest.approx(whole + int(fraction.ljust(6, "0")[:6] or 0) / 1e6, abs=1e-5)
