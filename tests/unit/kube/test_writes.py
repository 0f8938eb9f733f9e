# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Guarded writes: each answer of the server and what it comes to."""

from __future__ import annotations

import json
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.kube.writes import (
    Effect,
    Written,
    create,
    delete,
    finalize_namespace,
    finalizer_patch,
    json_patch,
    merge_patch,
    proves_gone,
    read,
    remove_finalizers,
)
from ansible_collections.sunset.kube.plugins.module_utils.objects import record_of
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DOMAINS,
    NAMESPACES,
    NODES,
    Script,
    answer,
    metadata,
    named,
    record,
    refusal,
    transport_to,
)

PATH = "/apis/ingress.example.com/v1/namespaces/shop/domains/web"
F = "example.com/cleanup"
WEB = record(finalizers=[F])
DELETING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}


def thing(**more: Any) -> Any:
    return answer(200, {"kind": "PartialObjectMetadata", "metadata": metadata(**more)})


SUCCESS = answer(200, {"kind": "Status", "status": "Success"})
CONFLICT = refusal(409, "Conflict", "the UID in the precondition differs")
NOT_FOUND = refusal(404, "NotFound")
FORBIDDEN = refusal(403, "Forbidden", "no")
RACE = refusal(422, "Invalid", "the server rejected our request")
REFUSED = refusal(422, "Invalid", "denied", [{"field": "metadata.finalizers", "message": "is guarded"}])

# name: (answers, effect, changed, why)
DELETIONS: dict[str, tuple[list[Any], Effect, bool, str]] = {
    "gone at once": ([SUCCESS], Effect.GONE, True, ""),
    "gone at once, shown": ([thing(**DELETING)], Effect.GONE, True, ""),
    "held by a finalizer": ([thing(**DELETING, finalizers=[F])], Effect.DONE, True, ""),
    "in its grace period": ([thing(**{**DELETING, "deletionGracePeriodSeconds": 30})], Effect.DONE, True, ""),
    "was gone": ([NOT_FOUND], Effect.GONE, False, ""),
    "conflict, gone meanwhile": ([CONFLICT, NOT_FOUND], Effect.GONE, False, ""),
    "conflict, replaced": ([CONFLICT, thing(uid="other")], Effect.REPLACED, False, ""),
    "conflict, already deleting": ([CONFLICT, thing(**DELETING, finalizers=[F])], Effect.ALREADY, False, ""),
    "conflict, still there": (
        [CONFLICT, thing()],
        Effect.REFUSED,
        False,
        "HTTP 409 Conflict, the UID in the precondition differs",
    ),
    "conflict, and no right to look": (
        [CONFLICT, FORBIDDEN],
        Effect.REFUSED,
        False,
        "HTTP 409 Conflict, the UID in the precondition differs",
    ),
    "forbidden": ([FORBIDDEN], Effect.REFUSED, False, "HTTP 403 Forbidden, no"),
    "method not allowed": ([refusal(405, "MethodNotAllowed")], Effect.REFUSED, False, "HTTP 405 MethodNotAllowed"),
    "denied by a webhook": ([REFUSED], Effect.REFUSED, False, "HTTP 422 Invalid, denied"),
    "throttled for good": ([refusal(429, "TooManyRequests")] * 60, Effect.REFUSED, False, "HTTP 429 TooManyRequests"),
}


LOST_ANSWER = ConnectionResetError("reset by peer")
DELETIONS |= {
    "answer lost, then not found": ([LOST_ANSWER, NOT_FOUND], Effect.GONE, True, ""),
    "answer lost, then done": ([LOST_ANSWER, thing(**DELETING, finalizers=[F])], Effect.DONE, True, ""),
}


@pytest.mark.parametrize(("replies", "effect", "changed", "why"), named(DELETIONS))
def test_every_answer_to_a_delete_has_one_meaning(replies: list[Any], effect: Effect, changed: bool, why: str) -> None:
    written = delete(transport_to(Script(*replies)), DOMAINS, record())
    assert (written.effect, written.changed, written.problem.why if written.problem else "") == (effect, changed, why)


OPTIONS = {
    "by default": ({}, {"propagationPolicy": "Background"}),
    "foreground": ({"propagation": "Foreground"}, {"propagationPolicy": "Foreground"}),
    "at once": ({"grace_seconds": 0}, {"propagationPolicy": "Background", "gracePeriodSeconds": 0}),
    "in check mode": ({"dry_run": True}, {"propagationPolicy": "Background", "dryRun": ["All"]}),
}


@pytest.mark.parametrize(("how", "options"), named(OPTIONS))
def test_a_delete_names_the_uid_and_carries_its_options_in_the_body(how: dict[str, Any], options: Any) -> None:
    script = Script(SUCCESS)
    delete(transport_to(script), DOMAINS, record(), **how)
    [asked] = script.asked
    assert (asked.method, asked.target) == ("DELETE", PATH)
    assert asked.json() == {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "uid-web"}, **options}


# name: (answers, effect, changed, finalizers left, why)
REMOVALS: dict[str, tuple[list[Any], Effect, bool, tuple[str, ...] | None, str]] = {
    "the last one of a deleted object": ([thing(**DELETING)], Effect.GONE, True, (), ""),
    "one of several": ([thing(**DELETING, finalizers=["a/b"])], Effect.DONE, True, ("a/b",), ""),
    "of an object that lives on": ([thing()], Effect.DONE, True, (), ""),
    "of a pod in its grace period": (
        [thing(**{**DELETING, "deletionGracePeriodSeconds": 30})],
        Effect.DONE,
        True,
        (),
        "",
    ),
    "was gone": ([NOT_FOUND], Effect.GONE, False, None, ""),
    "a race, then done": (
        [RACE, thing(finalizers=["x/y", F]), thing(finalizers=["x/y"])],
        Effect.DONE,
        True,
        ("x/y",),
        "",
    ),
    "a conflict, then done": ([CONFLICT, thing(finalizers=[F]), thing()], Effect.DONE, True, (), ""),
    "a race that somebody else won": ([RACE, thing(finalizers=["x/y"])], Effect.ALREADY, False, ("x/y",), ""),
    "a race, gone meanwhile": ([RACE, NOT_FOUND], Effect.GONE, False, None, ""),
    "a race, replaced": ([RACE, thing(uid="other", finalizers=[F])], Effect.REPLACED, False, (F,), ""),
    "a race, and no right to look": (
        [RACE, FORBIDDEN],
        Effect.REFUSED,
        False,
        (F,),
        "HTTP 422 Invalid, the server rejected our request",
    ),
    "races without end": (
        [RACE, thing(finalizers=[F])] * 12,
        Effect.REFUSED,
        False,
        (F,),
        "HTTP 422 Invalid, the server rejected our request",
    ),
    "refused with causes": ([REFUSED], Effect.REFUSED, False, (F,), "HTTP 422 Invalid, denied"),
    "forbidden": ([FORBIDDEN], Effect.REFUSED, False, (F,), "HTTP 403 Forbidden, no"),
    "a bad request": ([refusal(400, "BadRequest")], Effect.REFUSED, False, (F,), "HTTP 400 BadRequest"),
}


REMOVALS |= {
    "answer lost, then not found": ([LOST_ANSWER, NOT_FOUND], Effect.GONE, True, (F,), ""),
    "answer lost, then already done": ([LOST_ANSWER, RACE, thing(finalizers=["x/y"])], Effect.DONE, True, ("x/y",), ""),
    "answer lost, then gone": ([LOST_ANSWER, RACE, NOT_FOUND], Effect.GONE, True, (F,), ""),
    "answer lost, then replaced": ([LOST_ANSWER, RACE, thing(uid="other")], Effect.REPLACED, False, (), ""),
}


@pytest.mark.parametrize(("replies", "effect", "changed", "left", "why"), named(REMOVALS))
def test_every_answer_to_a_removal_has_one_meaning(
    replies: list[Any], effect: Effect, changed: bool, left: tuple[str, ...] | None, why: str
) -> None:
    script = Script(*replies)
    written = remove_finalizers(transport_to(script), DOMAINS, WEB, [F])
    assert (
        written.effect,
        written.changed,
        written.record.finalizers if written.record else None,
        written.problem.why if written.problem else "",
    ) == (effect, changed, left, why)
    assert script.unused == 0


def test_nothing_is_sent_where_there_is_nothing_to_remove() -> None:
    written = remove_finalizers(transport_to(Script()), DOMAINS, WEB, ["other"])
    assert written == Written(Effect.ALREADY, WEB)


QUERIES = {"for real": (False, "fieldManager=sunset.kube"), "in check mode": (True, "dryRun=All")}


@pytest.mark.parametrize(("dry_run", "query"), named(QUERIES))
def test_a_patch_tests_the_uid_and_every_place_and_says_in_the_query_whether_it_counts(
    dry_run: bool, query: str
) -> None:
    script = Script(thing())
    remove_finalizers(transport_to(script), DOMAINS, record(finalizers=["a", F, "b", F]), [F], dry_run=dry_run)
    [asked] = script.asked
    assert (asked.method, asked.target, asked.headers["Content-Type"]) == (
        "PATCH",
        f"{PATH}?{query}",
        "application/json-patch+json",
    )
    assert asked.json() == [
        {"op": "test", "path": "/metadata/uid", "value": "uid-web"},
        {"op": "test", "path": "/metadata/finalizers/3", "value": F},
        {"op": "remove", "path": "/metadata/finalizers/3"},
        {"op": "test", "path": "/metadata/finalizers/1", "value": F},
        {"op": "remove", "path": "/metadata/finalizers/1"},
    ]


names = st.sampled_from(["a/1", "b/2", "c/3", "d/4", "e~5", "f/6"])


@given(st.lists(names, max_size=8), st.lists(names, max_size=4))
def test_the_patch_removes_exactly_the_named_ones_and_nothing_else(finalizers: list[str], wanted: list[str]) -> None:
    before = {"metadata": metadata(finalizers=finalizers), "spec": {"kept": True}}
    patch = finalizer_patch(record_of(before["metadata"]), wanted)
    after = jsonpatch.apply_patch(before, patch)
    kept = [name for name in finalizers if name not in wanted]
    assert after == {"metadata": metadata(finalizers=kept), "spec": {"kept": True}}


@given(st.lists(names, min_size=1, max_size=6), st.lists(names, max_size=6), st.lists(names, min_size=1, max_size=3))
def test_a_list_that_moved_meanwhile_is_refused_or_loses_exactly_the_named_ones(
    seen: list[str], now: list[str], wanted: list[str]
) -> None:
    patch = finalizer_patch(record(finalizers=seen), wanted)
    try:
        after = jsonpatch.apply_patch({"metadata": metadata(finalizers=now)}, patch)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
        return
    lost = list(now)
    for name in after["metadata"]["finalizers"]:
        lost.remove(name)
    assert set(lost) <= set(wanted)


def test_another_object_of_the_same_name_is_never_patched() -> None:
    patch = finalizer_patch(WEB, [F])
    with pytest.raises(jsonpatch.JsonPatchTestFailed):
        jsonpatch.apply_patch({"metadata": metadata(uid="other", finalizers=[F])}, patch)


def test_a_finalizer_that_somebody_adds_in_the_same_moment_is_never_lost() -> None:
    server = FakeServer()
    web = server.add(DOMAINS, "web", finalizers=["a/first", F])
    server.before("PATCH", lambda: web["metadata"]["finalizers"].insert(0, "b/late"))
    written = remove_finalizers(transport_to(server), DOMAINS, record(finalizers=["a/first", F]), [F])
    assert (written.effect, server.methods()) == (Effect.DONE, ["PATCH", "GET", "PATCH"])
    assert server.get(DOMAINS, "web")["metadata"]["finalizers"] == ["b/late", "a/first"]  # type: ignore[index]


PATCHES: dict[str, tuple[list[Any], Effect, bool]] = {
    "done": ([thing()], Effect.DONE, True),
    "gone": ([NOT_FOUND], Effect.GONE, False),
    "lost race": ([RACE], Effect.REFUSED, False),
    "refused": ([REFUSED], Effect.REFUSED, False),
}


@pytest.mark.parametrize(("replies", "effect", "changed"), named(PATCHES))
def test_a_patch_of_anything_else_is_tried_once_and_tests_the_uid(
    replies: list[Any], effect: Effect, changed: bool
) -> None:
    script = Script(*replies)
    written = json_patch(transport_to(script), DOMAINS, WEB, [{"op": "add", "path": "/x", "value": 1}], dry_run=True)
    [asked] = script.asked
    assert (written.effect, written.changed, asked.query) == (effect, changed, {"dryRun": "All"})
    assert asked.json() == [
        {"op": "test", "path": "/metadata/uid", "value": "uid-web"},
        {"op": "add", "path": "/x", "value": 1},
    ]


MERGES: dict[str, tuple[list[Any], Effect, bool]] = {
    "done": ([thing()], Effect.DONE, True),
    "gone": ([NOT_FOUND], Effect.GONE, False),
    "refused, and still the same object": ([REFUSED, thing()], Effect.REFUSED, False),
    "refused, because it is another object": ([CONFLICT, thing(uid="another")], Effect.REPLACED, False),
    "refused, and gone since": ([CONFLICT, NOT_FOUND], Effect.GONE, False),
    "forbidden": ([FORBIDDEN], Effect.REFUSED, False),
}


@pytest.mark.parametrize(("replies", "effect", "changed"), named(MERGES))
def test_a_merge_patch_names_the_uid_beside_what_it_changes(replies: list[Any], effect: Effect, changed: bool) -> None:
    script = Script(*replies)
    patch = {"metadata": {"annotations": {"a": "b"}}, "spec": {"replicas": 0}}
    written = merge_patch(transport_to(script), DOMAINS, WEB, patch)
    asked = script.asked[0]
    assert (written.effect, written.changed) == (effect, changed)
    assert (asked.target, asked.headers["Content-Type"]) == (
        f"{PATH}?fieldManager=sunset.kube",
        "application/merge-patch+json",
    )
    assert asked.json() == {"metadata": {"annotations": {"a": "b"}, "uid": "uid-web"}, "spec": {"replicas": 0}}
    assert patch == {"metadata": {"annotations": {"a": "b"}}, "spec": {"replicas": 0}}


EXISTS = refusal(409, "AlreadyExists", "already exists")
# effect, changed, how many requests
CREATED: dict[str, tuple[list[Any], Effect, bool, int]] = {
    "done": ([answer(201, {"metadata": metadata()})], Effect.DONE, True, 1),
    "one of that name is there": ([EXISTS, thing()], Effect.ALREADY, False, 2),
    "one was there, and is gone": ([EXISTS, NOT_FOUND], Effect.REFUSED, False, 2),
    "answer lost, then there": ([LOST_ANSWER, EXISTS, thing()], Effect.DONE, True, 3),
    "forbidden": ([FORBIDDEN], Effect.REFUSED, False, 1),
    "no such namespace": ([NOT_FOUND], Effect.REFUSED, False, 1),
    "not valid": ([REFUSED], Effect.REFUSED, False, 1),
}


@pytest.mark.parametrize(("replies", "effect", "changed", "count"), named(CREATED))
def test_every_answer_to_a_creation_has_one_meaning(
    replies: list[Any], effect: Effect, changed: bool, count: int
) -> None:
    script = Script(*replies)
    written = create(transport_to(script), DOMAINS, "shop", {"metadata": {"name": "web"}, "spec": {"a": 1}})
    assert (written.effect, written.changed, len(script.asked)) == (effect, changed, count)
    assert (written.problem is not None) is (effect is Effect.REFUSED)


@pytest.mark.parametrize(("dry_run", "query"), [(True, "dryRun=All"), (False, "fieldManager=sunset.kube")])
def test_a_creation_says_what_it_makes_and_whether_it_counts(dry_run: bool, query: str) -> None:
    script = Script(answer(201, {"metadata": {}}))
    create(transport_to(script), DOMAINS, "shop", {"metadata": {"name": "web"}, "spec": {"a": 1}}, dry_run=dry_run)
    [asked] = script.asked
    assert (asked.method, asked.target) == ("POST", f"{PATH.removesuffix('/web')}?{query}")
    assert asked.json() == {
        "apiVersion": "ingress.example.com/v1",
        "kind": "Domain",
        "metadata": {"name": "web"},
        "spec": {"a": 1},
    }


@pytest.mark.parametrize(
    ("resource", "namespace", "which"),
    named({"in a namespace": (DOMAINS, "shop", "Domain shop/web"), "without one": (NODES, "", "Node web")}),
)
def test_a_refused_creation_names_what_could_not_be_made(resource: Any, namespace: str, which: str) -> None:
    written = create(transport_to(Script(FORBIDDEN)), resource, namespace, {"metadata": {"name": "web"}})
    assert str(written.problem).startswith(f"cannot create {which}: HTTP 403 Forbidden, no.")


def test_a_namesake_that_may_not_be_read_is_a_refusal() -> None:
    written = create(transport_to(Script(EXISTS, FORBIDDEN)), DOMAINS, "shop", {"metadata": {"name": "web"}})
    assert written.effect is Effect.REFUSED


FINALIZED: dict[str, tuple[list[Any], Effect, bool]] = {
    "done": ([thing()], Effect.DONE, True),
    "was gone": ([NOT_FOUND], Effect.GONE, False),
    "answer lost, then not found": ([LOST_ANSWER, NOT_FOUND], Effect.GONE, True),
    "somebody else was faster": ([CONFLICT], Effect.REFUSED, False),
    "forbidden": ([FORBIDDEN], Effect.REFUSED, False),
}


@pytest.mark.parametrize(("replies", "effect", "changed"), named(FINALIZED))
def test_finalizing_a_namespace_names_its_uid_and_version(replies: list[Any], effect: Effect, changed: bool) -> None:
    script = Script(*replies)
    written = finalize_namespace(transport_to(script), NAMESPACES, record("shop", "", resourceVersion="7"))
    asked = script.asked[0]
    assert (written.effect, written.changed) == (effect, changed)
    assert (asked.method, asked.target) == ("PUT", "/api/v1/namespaces/shop/finalize")
    assert asked.json() == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "shop", "uid": "uid-shop", "resourceVersion": "7"},
        "spec": {"finalizers": []},
    }


def test_reading_gives_the_record_or_none() -> None:
    script = Script(thing(finalizers=[F]), NOT_FOUND)
    transport = transport_to(script)
    assert [read(transport, DOMAINS, "shop", "web"), read(transport, DOMAINS, "shop", "web")] == [WEB, None]
    assert script.summary() == [f"GET {PATH}"] * 2


@pytest.mark.parametrize(
    ("resource", "namespace", "which"),
    named({"namespaced": (DOMAINS, "shop", "Domain shop/web"), "not": (NODES, "", "Node web")}),
)
def test_reading_that_is_refused_is_an_error_and_never_none(resource: Any, namespace: str, which: str) -> None:
    with pytest.raises(ApiError) as refused:
        read(transport_to(Script(FORBIDDEN)), resource, namespace, "web")
    assert (refused.value.status, refused.value.which) == (403, which)


GONE = {
    "deleted, free and without grace": ({**DELETING}, True),
    "deleted and held": ({**DELETING, "finalizers": [F]}, False),
    "deleted and in grace": ({**DELETING, "deletionGracePeriodSeconds": 1}, False),
    "deleted, grace unknown": ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, False),
    "alive": ({}, False),
}


@pytest.mark.parametrize(("facts", "gone"), named(GONE))
def test_only_a_deleted_object_without_finalizers_and_grace_is_proven_gone(facts: dict[str, Any], gone: bool) -> None:
    assert proves_gone(record(**facts)) is gone


def test_texts_are_written_as_the_server_writes_them_for_it_compares_letters() -> None:
    script = Script(thing())
    value = "Host(`a`) && Path(`/<ü>`)\u2028"
    json_patch(transport_to(script), DOMAINS, WEB, [{"op": "test", "path": "/spec/match", "value": value}])
    sent = script.asked[0].body or b""
    assert b"Host(`a`) \\u0026\\u0026 Path(`/\\u003c\xc3\xbc\\u003e`)\\u2028" in sent
    assert json.loads(sent)[1]["value"] == value
