# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What manifests claim, and how documents become claims."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Claim, claims_in
from ansible_collections.sunset.kube.tests.unit.fakes import named


def claimed(*documents: Any, marked: bool = True) -> list[Claim]:
    return list(claims_in(iter(documents), "here", marked=marked))


def thing(kind: str = "ConfigMap", api_version: Any = "v1", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", **metadata}}


DOCUMENTS: dict[str, tuple[Any, Claim]] = {
    "core": (thing(), Claim("", "ConfigMap", "web", "", "v1", "here")),
    "with a group": (thing("Deployment", "apps/v1"), Claim("apps", "Deployment", "web", "", "v1", "here")),
    "with a namespace": (thing(namespace="shop"), Claim("", "ConfigMap", "web", "shop", "v1", "here")),
    "with a null namespace": (thing(namespace=None), Claim("", "ConfigMap", "web", "", "v1", "here")),
    "a number as name": (thing(name=8080), Claim("", "ConfigMap", "8080", "", "v1", "here")),
}


@pytest.mark.parametrize(("document", "claim"), named(DOCUMENTS))
def test_a_document_claims_one_object(document: Any, claim: Claim) -> None:
    assert claimed(document) == [claim]


def test_a_claim_knows_where_its_kind_lives() -> None:
    [core], [apps] = claimed(thing()), claimed(thing("Deployment", "apps/v1"))
    assert (core.api_version, apps.api_version, Claim(None, "Pod", "x").api_version) == ("/v1", "apps/v1", None)


def listed(*items: Any, kind: str = "List") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "items": list(items)}


def test_lists_are_opened_even_lists_in_lists_and_lists_of_one_kind() -> None:
    nested = listed(thing(name="a"), listed(thing(name="b")), listed(thing(name="c"), kind="ConfigMapList"))
    assert [claim.name for claim in claimed(nested, thing(name="d"))] == ["a", "b", "c", "d"]


def test_a_kind_that_only_ends_like_a_list_is_no_list() -> None:
    assert [claim.kind for claim in claimed(thing("AllowList"))] == ["AllowList"]


PASSED_OVER: dict[str, Any] = {
    "an empty document": None,
    "a text": "hello",
    "an empty list": listed(),
    "no kind": {"metadata": {"name": "web"}},
    "no metadata": {"kind": "ConfigMap"},
    "null metadata": {"kind": "ConfigMap", "metadata": None},
    "metadata that is none": {"kind": "ConfigMap", "metadata": "web"},
    "no name": {"kind": "Job", "metadata": {"generateName": "job-"}},
    "an empty name": {"kind": "Job", "metadata": {"name": ""}},
}


@pytest.mark.parametrize("document", named(PASSED_OVER))
def test_what_names_no_object_is_passed_over(document: Any) -> None:
    assert claimed(document) == []


def test_whether_the_source_marks_its_objects_reaches_into_lists() -> None:
    assert [claim.marked for claim in claimed(listed(thing()), marked=False)] == [False]


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "metadata", "name", "items", "apiVersion", "namespace"]), inner)
    ),
    max_leaves=10,
)


@given(st.lists(NESTED, max_size=3))
def test_any_document_is_claims_or_nothing(documents: list[Any]) -> None:
    for claim in claimed(*documents):
        assert claim.kind
        assert claim.name
