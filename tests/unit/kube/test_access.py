# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""May we? Asked before the first write."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.access import Right, is_allowed
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DOMAINS,
    NODES,
    Script,
    answer,
    named,
    refusal,
    transport_to,
)

ANSWERS = {
    "yes": ({"status": {"allowed": True}}, True),
    "no": ({"status": {"allowed": False, "reason": "RBAC"}}, False),
    "no status": ({}, False),
    "a null status": ({"status": None}, False),
}


@pytest.mark.parametrize(("body", "allowed"), named(ANSWERS))
def test_only_a_clear_yes_is_a_yes(body: Any, allowed: bool) -> None:
    assert is_allowed(transport_to(Script(answer(201, body))), Right("patch", DOMAINS)) is allowed


def test_a_server_that_does_not_answer_the_question_is_an_error_and_no_yes() -> None:
    with pytest.raises(ApiError) as refused:
        is_allowed(transport_to(Script(refusal(404, "NotFound"))), Right("patch", DOMAINS, "shop"))
    assert str(refused.value) == (
        "cannot ask whether we may patch domains.ingress.example.com in namespace shop: HTTP 404 NotFound."
    )


def test_the_question_names_verb_kind_and_place() -> None:
    script = Script(answer(201, {}))
    is_allowed(transport_to(script), Right("delete", DOMAINS, "shop", "web"))
    [asked] = script.asked
    assert (asked.method, asked.target) == ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
    assert asked.json() == {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {
            "resourceAttributes": {
                "verb": "delete",
                "group": "ingress.example.com",
                "version": "v1",
                "resource": "domains",
                "namespace": "shop",
                "name": "web",
            }
        },
    }


RIGHTS = {
    "everywhere": (Right("patch", DOMAINS), "patch domains.ingress.example.com in all namespaces"),
    "in a namespace": (Right("patch", DOMAINS, "shop"), "patch domains.ingress.example.com in namespace shop"),
    "cluster-scoped": (Right("delete", NODES), "delete nodes"),
}


@pytest.mark.parametrize(("right", "text"), named(RIGHTS))
def test_a_right_reads_as_a_phrase(right: Right, text: str) -> None:
    assert str(right) == text
