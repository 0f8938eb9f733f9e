# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What cannot be served is refused, with all reasons at once; what can be served can do no harm."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.answer_headers import answer_headers
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.bundle import (
    Answering,
    PageSource,
    PageText,
    build_bundle,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.checks import check_answering
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.quoting import literal, quoted
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields, BadOption


def refusal(source: PageSource | None = None, answering: Answering | None = None) -> str:
    with pytest.raises(BadOption) as caught:
        build_bundle(source or PageSource(), answering or Answering())
    return caught.value.why


@pytest.mark.parametrize("status", [99, 200, 301, 399, 408, 444, 494, 497, 499, 600])
def test_a_status_that_is_no_error_or_that_nginx_keeps_for_itself_is_refused(status: int) -> None:
    assert refusal(answering=Answering(status=status)).startswith("status_code: must be an error")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (PageSource(html=" \n"), "page.html: is empty"),
        (PageSource(html="\ud800"), "page.html: cannot be written as UTF-8"),
        (PageSource(json="{'a': 1}"), "page.json: is no JSON: Expecting property name"),
        (PageSource(json="[NaN]"), "page.json: is no JSON: NaN is no number in JSON"),
        (PageSource(xml="<a>"), "page.xml: is no XML: no element found"),
        (PageSource(text=""), "page.text: is empty"),
        (PageSource(text_of_page=PageText(title="a\x00b")), "page.title: has a control character"),
        (PageSource(text_of_page=PageText(words={"until": "a\x1b"})), "page.words.until: has a control character"),
        (PageSource(text_of_page=PageText(words={"colour": "x"})), "page.words.colour: there is no such word"),
        (PageSource(text_of_page=PageText(language='en" onload="x')), "is no language tag"),
        (PageSource(text_of_page=PageText(refresh=-1)), "page.refresh: must be 0 or more"),
    ],
)
def test_a_body_that_would_break_is_refused(source: PageSource, why: str) -> None:
    assert why in refusal(source)


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"X-A": "a\r\nX-B: c"}, "headers.X-A: the value may hold printable ASCII only"),
        ({"X-A": "ü"}, "headers.X-A: the value may hold printable ASCII only"),
        ({"X A": "a"}, "'X A' is no header name"),
        ({"X;}": "a"}, "'X;}' is no header name"),
        ({"": "a"}, "'' is no header name"),
        ({"X-A\n": "a"}, "is no header name"),
        ({"Content-Length": "5"}, "headers.Content-Length: cannot be chosen (set by the server)"),
        ({"x-maintenance": "5"}, "headers.x-maintenance: cannot be chosen (tells this page from others)"),
        ({"X-A": "1", "x-a": "2"}, "x-a is given twice"),
        ({"X-A": "a" * 4000}, "headers.X-A: the value is too long (4000 characters)"),
        ({"X-A": "$" * 1000}, "headers.X-A: the value is too long (1000 characters)"),
    ],
)
def test_a_header_that_could_do_harm_is_refused(headers: dict[str, str], why: str) -> None:
    assert why in refusal(answering=Answering(headers=headers))


@pytest.mark.parametrize(
    ("answering", "why"),
    [
        (Answering(retry_after=-1), "retry_after: must be 0 or more"),
        (Answering(retry_spread=-1), "retry_spread: must be 0 or more"),
        (Answering(ends_at=5.0), "window.end: must lie between"),
        (Answering(image="nginx; rm"), "workload.image: 'nginx; rm' is no image name"),
        (Answering(image=""), "workload.image: '' is no image name"),
        (Answering(ip_families=()), "ip_families: must be one or both of IPv4, IPv6"),
        (Answering(robots="\ud800"), "robots: cannot be written as UTF-8"),
    ],
)
def test_an_answer_that_cannot_be_given_is_refused(answering: Answering, why: str) -> None:
    assert why in refusal(answering=answering)


def test_all_reasons_are_told_at_once() -> None:
    why = refusal(PageSource(html="", json="x"), Answering(status=200, headers={"X A": "\n"}))
    assert why.count("; ") >= 4


def test_an_unknown_language_lists_the_known_ones_and_the_missing_words() -> None:
    why = refusal(PageSource(text_of_page=PageText(language="tlh", title="x")))
    assert "no built-in words in 'tlh'; take one of ar, cs, da, de, en" in why
    assert "or give message, until, late, contact under page.words" in why


HEADER_TEXT = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.just("\t"), max_size=300)


@given(HEADER_TEXT)
def test_a_quoted_text_is_one_word_and_the_same_text(text: str) -> None:
    assert words_of(f"add_header X {quoted(text)} always;") == ["add_header", "X", text, "always"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_literal_is_one_word_whatever_is_in_it(text: str) -> None:
    assert words_of(f"{literal(text)} html;", variables=False) == [text, "html"]


@given(
    st.dictionaries(
        st.text(max_size=8) | st.sampled_from(["X-A", "x-a", "Retry-After", "Vary"]),
        HEADER_TEXT | st.text(max_size=20),
        max_size=4,
    )
)
def test_headers_that_are_accepted_make_one_directive_each_and_win(headers: dict[str, str]) -> None:
    bad = BadFields()
    check_answering(Answering(headers=headers), bad)
    try:
        bad.raise_if_any()
    except BadOption:
        return
    lines = answer_headers(Answering(headers=headers), "1234567890")
    directives = [words_of(line, keep_own=True) for line in lines]
    assert {(len(words), words[0], words[3]) for words in directives} == {(4, "add_header", "always")}
    names = [words[1].lower() for words in directives]
    assert len(names) == len(set(names))
    sent = {words[1].lower(): words[2] for words in directives}
    for name, value in headers.items():
        assert sent.get(name.lower(), "") == value.strip()


def words_of(line: str, *, variables: bool = True, keep_own: bool = False) -> list[str]:
    """A line as nginx reads it (ngx_conf_read_token), then its variables: only ${dollar} may be there."""
    words: list[str] = []
    at = 0
    while line[at] != ";":
        if line[at] == " ":
            at += 1
        elif line[at] == '"':
            word, at = _quoted_word(line, at + 1)
            assert not variables or "$" not in word.replace("${dollar}", "")
            words.append(word.replace("${dollar}", "$") if variables else word)
            assert line[at] in " ;"
        else:
            plain = re.compile(r'[^\s;{}"]+').match(line, at)
            assert plain is not None
            assert keep_own or "$" not in plain[0]
            words.append(plain[0])
            at = plain.end()
    assert at == len(line) - 1, "the directive ends too early"
    return words


def _quoted_word(line: str, at: int) -> tuple[str, int]:
    word = ""
    while line[at] != '"':
        if line[at] == "\\" and line[at + 1] in "\"'\\":
            at += 1
        elif line[at] == "\\":
            assert line[at + 1] not in "trn", "nginx would make a control character of it"
        word += line[at]
        at += 1
    return word, at + 1
