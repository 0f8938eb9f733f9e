# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The built-in page: what it says, that it needs nothing else, and that text stays text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.bundle import Answering, PageText
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.default_page import default_html
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.page_looks import COLOURS
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.problem_bodies import (
    default_json,
    default_text,
    default_xml,
    grpc_message,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.words import (
    WORDS,
    known_languages,
    words_of,
)

END = 1791814200.0  # 2026-10-12 14:10 UTC
VOID = {"meta", "link", "br"}
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]) | st.sampled_from("<>&\"'\n"), max_size=60)


class Page(HTMLParser):
    """Elements with their attributes, and the text outside styles and scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script", "title"):
            self.text += data

    def first(self, tag: str) -> dict[str, str | None]:
        return next(attributes for name, attributes in self.elements if name == tag)

    def tags(self) -> list[str]:
        return [name for name, _attributes in self.elements]


def page(text: PageText | None = None, answering: Answering | None = None) -> Page:
    return Page(default_html(text or PageText(), answering or Answering()))


def test_it_says_what_was_given() -> None:
    text = PageText(
        title="Back at <five>", message="One.\nTwo.\n\nThree & four.", contact="a@b.example", product="Shop"
    )
    shown = page(text, Answering(ends_at=END))
    for words in ("Back at <five>", "One.", "Three & four.", "Shop", "2026-10-12 14:10 UTC", "Expected back"):
        assert words in shown.text
    assert shown.tags().count("br") == 1
    assert shown.first("time")["datetime"] == "2026-10-12T14:10:00Z"
    assert shown.first("a")["href"] == "mailto:a@b.example"


@pytest.mark.parametrize(
    ("contact", "href"),
    [
        ("help@example.org", "mailto:help@example.org"),
        ("a+b?c@example.org", "mailto:a+b%3Fc@example.org"),
        ("https://status.example.org/?a=1&b=2", "https://status.example.org/?a=1&b=2"),
        ("javascript:alert(1)", None),
        ("call 555 1234", None),
        ('https://x.example/" onclick="x', None),
    ],
)
def test_a_contact_becomes_a_link_only_if_it_is_one(contact: str, href: str | None) -> None:
    shown = page(PageText(contact=contact))
    links = [attributes.get("href") for name, attributes in shown.elements if name == "a"]
    assert links == ([href] if href else [])


def test_it_asks_for_nothing_else() -> None:
    html = default_html(PageText(contact="a@b.example"), Answering(ends_at=END))
    assert not re.search(r"(?:src|srcset|@import|url\((?!#)|fetch\(|XMLHttpRequest)", html)
    shown = Page(html)
    assert [a["href"] for name, a in shown.elements if name == "link"] == [shown.first("link")["href"]]
    assert str(shown.first("link")["href"]).startswith("data:")
    assert set(re.findall(r"https?://[^'\"\s]+", html)) == {"http://www.w3.org/2000/svg"}


def test_without_an_end_there_is_no_script_and_no_time() -> None:
    assert not {"script", "time", "dl"} & set(page().tags())


def test_it_refreshes_only_when_asked_to() -> None:
    assert "http-equiv" not in default_html(PageText(), Answering())
    assert '<meta http-equiv="refresh" content="60">' in default_html(PageText(refresh=60), Answering())


@pytest.mark.parametrize("language", known_languages())
def test_every_language_has_its_words_and_its_direction(language: str) -> None:
    shown = page(PageText(language=language), Answering(ends_at=END))
    root = shown.first("html")
    assert root == {"lang": language, "dir": "rtl" if language in ("ar", "he") else "ltr"}
    assert all(words_of(PageText(language=language)).values())
    assert language == "en" or words_of(PageText(language=language))["title"] != words_of(PageText())["title"]


@pytest.mark.parametrize(
    ("tag", "same_as"),
    [("de-AT", "de"), ("zh-CN", "zh"), ("zh-Hant", "zh-tw"), ("zh-Hant-TW", "zh-tw"), ("pt-BR", "pt-br"), ("PL", "pl")],
)
def test_a_regional_language_takes_the_nearest_words(tag: str, same_as: str) -> None:
    assert words_of(PageText(language=tag)) == words_of(PageText(language=same_as))


def test_single_words_can_be_replaced_and_a_title_wins_over_them() -> None:
    words = words_of(PageText(words={"title": "a", "until": "b"}, title="c"))
    assert (words["title"], words["until"]) == ("c", "b")


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_text_never_becomes_markup(title: str, message: str, contact: str, product: str) -> None:
    bare = page(PageText(product="x", contact="x"), Answering(ends_at=END)).tags()
    text = PageText(title=title, message=message, contact=contact, product=product, words={"until": title})
    shown = page(text, Answering(ends_at=END))
    assert set(shown.tags()) <= {*bare, "br", "a"}
    assert shown.tags().count("script") == 1
    if title.strip():
        assert title in shown.text


@given(ANY_TEXT, ANY_TEXT)
def test_every_body_can_be_read_back(message: str, contact: str) -> None:
    text, answering = PageText(message=message, contact=contact), Answering(status=500, ends_at=END)
    problem = json.loads(default_json(text, answering))
    root = ElementTree.fromstring(default_xml(text, answering))
    assert root.tag == "{urn:ietf:rfc:7807}problem"
    assert {child.tag.partition("}")[2] for child in root} == set(problem)
    assert problem["status"] == 500
    assert problem["until"] == "2026-10-12T14:10:00Z"
    if message.strip():
        assert problem["detail"] == message.strip()
        assert message.strip() in default_text(text, answering)
    sent = grpc_message(text)
    assert re.fullmatch(r"[\x20-\x7e]*", sent)
    assert not set(sent) & set('"\\$')
    if message.strip():
        assert unquote(sent) == re.sub(r"\s+", " ", message).strip()


def test_the_plain_text_is_short_and_complete() -> None:
    text = PageText(product="Shop", contact="a@b.example")
    assert default_text(text, Answering(ends_at=END)) == (
        "Shop: We will be back soon\n\n"
        "We are carrying out maintenance right now. Please try again in a little while.\n\n"
        "Expected back: 2026-10-12 14:10 UTC\n"
        "Contact: a@b.example\n"
    )


def test_each_word_is_explained() -> None:
    assert set(words_of(PageText())) == set(WORDS)


@pytest.mark.parametrize("night", [False, True], ids=["day", "night"])
@pytest.mark.parametrize("text", ["heading", "text", "quiet", "accent"])
def test_text_can_be_read_on_the_card(text: str, night: bool) -> None:
    assert contrast(COLOURS[text][night], COLOURS["card"][night]) >= 4.5


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
