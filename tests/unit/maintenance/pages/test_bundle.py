# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A bundle is named by everything that changes an answer, and by nothing else."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.bundle import (
    DEFAULT_IMAGE,
    MOST_BYTES,
    Answering,
    PageSource,
    PageText,
    build_bundle,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption

PLAIN = build_bundle(PageSource(), Answering())


def test_a_page_without_options_has_everything_its_server_needs() -> None:
    assert set(PLAIN.files) == {"nginx.conf", "page.html", "page.json", "page.xml", "page.txt"}
    assert PLAIN.image == DEFAULT_IMAGE
    assert PLAIN.name == f"maintenance-{PLAIN.digest[:10]}"
    assert len(PLAIN.digest) == 64


def test_the_id_is_in_the_answers_and_does_not_change_the_digest() -> None:
    assert f'add_header X-Maintenance "{PLAIN.id}" always;' in PLAIN.files["nginx.conf"]
    files = {**PLAIN.files, "nginx.conf": without_id(PLAIN.files["nginx.conf"])}
    canonical = json.dumps({"files": files, "image": PLAIN.image}, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode()).hexdigest() == PLAIN.digest


def without_id(conf: str) -> str:
    return conf.replace(f'        add_header X-Maintenance "{PLAIN.id}" always;\n', "")


def test_the_same_page_has_the_same_name() -> None:
    assert build_bundle(PageSource(), Answering()) == PLAIN


@pytest.mark.parametrize(
    ("source", "answering"),
    [
        pytest.param(PageSource(html="<p>x"), Answering(), id="html"),
        pytest.param(PageSource(json="{}"), Answering(), id="json"),
        pytest.param(PageSource(xml="<x/>"), Answering(), id="xml"),
        pytest.param(PageSource(text="x"), Answering(), id="text"),
        pytest.param(PageSource(text_of_page=PageText(title="x")), Answering(), id="title"),
        pytest.param(PageSource(), Answering(status=500), id="status"),
        pytest.param(PageSource(), Answering(retry_after=1), id="retry_after"),
        pytest.param(PageSource(), Answering(retry_spread=10), id="retry_spread"),
        pytest.param(PageSource(), Answering(ends_at=2e9), id="end"),
        pytest.param(PageSource(), Answering(headers={"X-A": "1"}), id="header"),
        pytest.param(PageSource(), Answering(robots=""), id="robots"),
        pytest.param(PageSource(), Answering(image="example.org/nginx:1"), id="image"),
        pytest.param(PageSource(), Answering(ip_families=("IPv4", "IPv6")), id="families"),
    ],
)
def test_whatever_changes_an_answer_changes_the_name(source: PageSource, answering: Answering) -> None:
    assert build_bundle(source, answering).name != PLAIN.name


def test_the_order_of_headers_does_not_split_a_page_set() -> None:
    one = Answering(headers={"X-A": "1", "X-B": "2"})
    other = Answering(headers={"X-B": "2", "X-A": "1"})
    assert build_bundle(PageSource(), one) == build_bundle(PageSource(), other)


def test_own_bodies_are_served_as_they_are() -> None:
    source = PageSource(html="<p>ü$host</p>", json='{"a": 1}', xml="<a/>", text="a")
    files = build_bundle(source, Answering()).files
    assert [files[name] for name in ("page.html", "page.json", "page.xml", "page.txt")] == [
        source.html,
        source.json,
        source.xml,
        source.text,
    ]


def test_a_page_of_exactly_what_a_config_map_holds_is_accepted_and_one_byte_more_is_not() -> None:
    rest = sum(len(text.encode()) for name, text in PLAIN.files.items() if name != "page.html")
    fits = "x" * (MOST_BYTES - rest)
    build_bundle(PageSource(html=fits), Answering())
    with pytest.raises(BadOption, match=r"has 1048577, 1 too many \(page.html alone has .*Next: make the pictures"):
        build_bundle(PageSource(html=fits + "x"), Answering())


def test_bytes_count_not_characters() -> None:
    with pytest.raises(BadOption, match="too big"):
        build_bundle(PageSource(html="ü" * (MOST_BYTES // 2)), Answering())


def test_every_variable_of_the_server_is_set_once() -> None:
    conf = build_bundle(PageSource(), Answering(ends_at=2e9, retry_spread=9, headers={"X-A": "$"})).files["nginx.conf"]
    heads = [line.split() for line in conf.splitlines() if line.strip().startswith(("map ", "geo ", "split_clients "))]
    names = [words[-2] for words in heads]
    assert len(names) > 20
    assert sorted(names) == sorted(set(names))


def test_families_decide_what_is_listened_on() -> None:
    def listening(*families: str) -> list[str]:
        conf = build_bundle(PageSource(), dataclasses.replace(Answering(), ip_families=families)).files["nginx.conf"]
        return [line.strip() for line in conf.splitlines() if line.strip().startswith("listen ")]

    assert listening("IPv4") == ["listen 8080;", "listen 8081 http2;", "listen 8082;"]
    assert listening("IPv6") == ["listen [::]:8080;", "listen [::]:8081 http2;", "listen [::]:8082;"]
    assert len(listening("IPv6", "IPv4")) == 6
