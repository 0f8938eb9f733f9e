# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Label selectors, read and applied on our side."""

from __future__ import annotations

import contextlib
import string
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.labels import fits_selector, parse_selector
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.tests.unit.fakes import named

LABELS: dict[str, Mapping[str, str]] = {
    "web": {"app": "shop", "tier": "web", "app.kubernetes.io/name": "shop"},
    "db": {"app": "shop", "tier": "db", "old": ""},
    "bare": {},
}

SELECTORS: dict[str, tuple[str, str]] = {
    "nothing asked": ("", "web db bare"),
    "blanks only": ("  ", "web db bare"),
    "equal": ("tier=web", "web"),
    "equal, twice the sign": ("tier==web", "web"),
    "equal, with blanks": (" tier = web ", "web"),
    "not equal takes those without the label too": ("tier!=web", "db bare"),
    "equal to nothing": ("old=", "db"),
    "not equal to nothing": ("old!=", "web bare"),
    "there": ("tier", "web db"),
    "not there": ("!tier", "bare"),
    "not there, with a blank": ("! tier", "bare"),
    "one of": ("tier in (web,cache)", "web"),
    "one of, without blanks": ("tier in(web,db)", "web db"),
    "one of, with many blanks": ("tier  in  ( web , db )", "web db"),
    "none of takes those without the label too": ("tier notin (web,cache)", "db bare"),
    "with a prefix": ("app.kubernetes.io/name=shop", "web"),
    "all of several": ("app=shop,tier!=db", "web"),
    "several, commas within brackets": ("tier in (web,db),!old,app", "web"),
    "contradiction": ("app=shop,app!=shop", ""),
}


@pytest.mark.parametrize(("text", "names"), named(SELECTORS))
def test_a_selector_takes_what_the_api_server_would_take(text: str, names: str) -> None:
    test = parse_selector(text)
    assert [name for name, labels in LABELS.items() if test(labels)] == names.split()


BAD: dict[str, str] = {
    "no key": "=web",
    "no operator": "tier web",
    "brackets left open": "tier in (web",
    "brackets without in": "tier (web)",
    "brackets after equal": "tier=(web)",
    "comma at the end": "tier=web,",
    "comma at the start": ",tier",
    "two commas": "a,,b",
    "not not": "!!tier",
    "not and equal": "!tier=web",
    "a key that ends in a dash": "tier-=web",
    "a value with blanks": "tier=web shop",
    "a value with blanks among several": "tier in (web shop)",
    "a value with other letters": "tier=wéb",
    "capitals": "tier IN (web)",
}


@pytest.mark.parametrize("text", named(BAD))
def test_a_selector_the_api_server_would_refuse_is_refused_with_the_fields_path(text: str) -> None:
    with pytest.raises(BadOption, match=r"^bad options: somewhere\.labelSelector: cannot read "):
        parse_selector(text, "somewhere.labelSelector")


WORDS = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=2)
BLANK = st.sampled_from(["", " "])


@given(
    st.lists(st.tuples(WORDS, st.sampled_from(["=", "==", "!="]), WORDS, BLANK), max_size=3),
    st.dictionaries(WORDS, WORDS, max_size=3),
)
def test_equalities_mean_what_they_say(parts: list[tuple[str, str, str, str]], labels: dict[str, str]) -> None:
    text = ",".join(f"{key}{blank}{sign}{blank}{value}" for key, sign, value, blank in parts)
    expected = all((labels.get(key) == value) is (sign != "!=") for key, sign, value, _blank in parts)
    assert parse_selector(text)(labels) is expected


@given(WORDS, st.sampled_from(["in", "notin"]), st.lists(WORDS, min_size=1, max_size=3), st.dictionaries(WORDS, WORDS))
def test_sets_mean_what_they_say(key: str, word: str, values: list[str], labels: dict[str, str]) -> None:
    assert parse_selector(f"{key} {word} ({', '.join(values)})")(labels) is (
        (labels.get(key) in values) is (word == "in")
    )


@given(st.text(max_size=12))
def test_any_text_is_a_selector_or_a_complaint(text: str) -> None:
    with contextlib.suppress(BadOption):
        assert parse_selector(text)({}) in (True, False)


# name: (selector as objects carry it, who fits)
CARRIED: dict[str, tuple[dict[str, object], str]] = {
    "nothing asked": ({}, "web db bare"),
    "labels": ({"matchLabels": {"app": "shop", "tier": "web"}}, "web"),
    "in": ({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["web", "cache"]}]}, "web"),
    "not in": ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["web"]}]}, "db bare"),
    "exists": ({"matchExpressions": [{"key": "old", "operator": "Exists"}]}, "db"),
    "does not exist": ({"matchExpressions": [{"key": "old", "operator": "DoesNotExist"}]}, "web bare"),
    "both": (
        {"matchLabels": {"app": "shop"}, "matchExpressions": [{"key": "old", "operator": "DoesNotExist"}]},
        "web",
    ),
}


@pytest.mark.parametrize(("selector", "fitting"), named(CARRIED))
def test_a_selector_of_an_object_takes_those_that_fit(selector: dict[str, object], fitting: str) -> None:
    assert " ".join(name for name, labels in LABELS.items() if fits_selector(labels, selector)) == fitting
