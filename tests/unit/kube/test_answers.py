# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an answer means that is no success."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import (
    HINTS,
    Answer,
    ApiError,
    error_from,
    shallow,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Problem
from ansible_collections.sunset.kube.tests.unit.fakes import answer, named, refusal


def facts(problem: ApiError) -> tuple[int, str, str, tuple[str, ...]]:
    return problem.status, problem.reason, problem.message, problem.causes


CAUSES = [{"field": "spec.x", "message": "immutable"}, {"reason": "FieldValueInvalid"}, {"message": "no"}]
READ = {
    "a Status": (refusal(403, "Forbidden", "no rights"), (403, "Forbidden", "no rights", ())),
    "a Status with causes": (
        refusal(422, "Invalid", "bad", CAUSES),
        (422, "Invalid", "bad", ("spec.x: immutable", "FieldValueInvalid", "no")),
    ),
    "a Status with nulls": (
        answer(500, {"kind": "Status", "reason": None, "message": None, "details": None}),
        (500, "", "", ()),
    ),
    "other JSON": (answer(502, {"error": "bad gateway"}), (502, "", '{"error": "bad gateway"}', ())),
    "a list": (answer(502, [1]), (502, "", "[1]", ())),
    "a page of a proxy": (answer(502, b"<html>\n  <b>Bad\tGateway</b>"), (502, "", "<html> <b>Bad Gateway</b>", ())),
    "bytes that are no text": (answer(500, b"\xff\xfe"), (500, "", "\ufffd\ufffd", ())),
    "nothing": (answer(500), (500, "", "", ())),
    "a long page is shortened": (answer(500, b"x" * 5000), (500, "", "x" * 300, ())),
}


@pytest.mark.parametrize(("given_answer", "read"), named(READ))
def test_a_refusal_is_read_from_status_or_quoted(given_answer: Answer, read: tuple[Any, ...]) -> None:
    assert facts(error_from(given_answer, "cannot list", "pods")) == read


def test_of_a_webhook_that_talks_without_end_a_page_is_kept() -> None:
    endless = [{"message": "x" * 10_000}] * 500
    problem = error_from(refusal(422, "Invalid", "y" * 1_000_000, endless), "cannot delete")
    assert (len(problem.message), len(problem.causes), len(problem.causes[0])) == (8192, 100, 8192)


def test_a_refusal_reads_as_a_sentence_with_the_next_step() -> None:
    assert str(error_from(refusal(403, "Forbidden", "no rights"), "cannot list", "pods")) == (
        f"cannot list pods: HTTP 403 Forbidden, no rights. Next: {HINTS[403]}."
    )


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["kind", "reason", "message", "details", "causes", "field"]), inner, max_size=4
        ),
    ),
    max_leaves=8,
)
statuses = st.fixed_dictionaries({"kind": st.just("Status")}, optional={"details": json_values, "reason": json_values})


@given(st.one_of(json_values, statuses))
@example({"kind": "Status", "details": {"causes": 7}})
@example({"kind": "Status", "details": {"causes": [{"field": 7, "message": "x"}]}})
@example({"kind": "Status", "details": {"causes": ["x"]}})
def test_whatever_json_a_refusal_holds_it_becomes_an_api_error(body: Any) -> None:
    assert error_from(answer(500, body), "cannot list").status == 500


RETRY_AFTER = {
    "seconds": ("3", 3.0),
    "zero": ("0", 0.0),
    "negative": ("-5", 0.0),
    "a date is not used": ("Thu, 01 Jan 2026 00:00:00 GMT", None),
    "nonsense": ("soon", None),
    "not a number": ("nan", None),
    "for ever": ("inf", None),
}


@pytest.mark.parametrize(("text", "seconds"), named(RETRY_AFTER))
def test_retry_after_is_read_in_seconds(text: str, seconds: float | None) -> None:
    assert answer(429, retry_after=text).retry_after == seconds


def test_without_the_header_there_is_no_retry_after() -> None:
    assert answer(429).retry_after is None


@pytest.mark.parametrize(
    ("status", "ok"), named({"199": (199, False), "200": (200, True), "299": (299, True), "300": (300, False)})
)
def test_only_2xx_is_a_success(status: int, ok: bool) -> None:
    assert answer(status).ok is ok


def test_the_statuses_people_meet_have_a_next_step() -> None:
    assert set(HINTS) == {401, 403, 405, 413, 429, 500, 503, 504}


def test_the_object_in_an_answer_is_read() -> None:
    assert answer(200, {"items": [1]}).json() == {"items": [1]}


NOT_JSON = {
    "a page of a proxy": b"<html>please log in</html>",
    "nothing": b"",
    "bytes that are no text": b"\xff\xfe\xff",
    "half a document": b'{"items": [',
    "a list instead of an object": b"[]",
    "null instead of an object": b"null",
}


@pytest.mark.parametrize("body", named(NOT_JSON))
def test_a_success_that_is_no_json_object_is_a_problem_and_no_traceback(body: bytes) -> None:
    with pytest.raises(Problem):
        answer(200, body).json()


# -- objects of thousands of levels ------------------------------------------------------------------------------------

# Deeper than the JSON reader of any Python goes.
DEEP = b'{"f:x":' * 200_000 + b"{}" + b"}" * 200_000


def test_an_object_nested_too_deeply_is_a_problem_that_names_the_kind_and_no_traceback() -> None:
    with pytest.raises(CannotLook, match="cannot read configmaps: the content of an object is nested too deeply"):
        Answer(200, body=DEEP).json("configmaps")


def test_a_refusal_nested_too_deeply_is_quoted() -> None:
    assert error_from(Answer(500, body=DEEP), "cannot list").message.startswith('{"f:x":')


def test_metadata_is_read_however_deep_the_managed_fields_are() -> None:
    item = b'{"metadata": {"name": "a", "managedFields": [{"fieldsV1": %s, "manager": "m"}], "uid": "1"}}' % DEEP
    [first, second] = Answer(200, body=b'{"items": [%s, %s]}' % (item, item)).metadata_json()["items"]
    assert first == second
    assert (first["metadata"]["name"], first["metadata"]["uid"]) == ("a", "1")
    assert first["metadata"]["managedFields"][0]["manager"] == "m"


@given(json_values)
@example({"a": '}]"\\', '[{"': "\n{["})
def test_json_of_usual_depth_is_left_as_it_is(value: Any) -> None:
    assert shallow(json.dumps(value).encode()) == json.dumps(value).encode()
