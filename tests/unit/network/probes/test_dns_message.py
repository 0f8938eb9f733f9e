# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DNS messages as bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.network.probes.dns import default_name
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.dns_message import Reply, query, reply
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.probe import Surroundings
from ansible_collections.sunset.kube.tests.unit.fakes import named

NAMES = st.lists(st.from_regex(r"[a-z0-9]{1,20}", fullmatch=True), min_size=1, max_size=5).map(".".join)
NUMBERS = st.integers(0, 0xFFFF)
ANSWER, TRUNCATED = 0x8000, 0x0200


def answer_to(packet: bytes, flags: int) -> bytes:
    return packet[:2] + struct.pack("!H", flags) + packet[4:]


def test_a_query_for_a_name_and_for_the_root() -> None:
    assert query(0xABCD, "a.example").hex() == "abcd01000001000000000000" + "0161076578616d706c6500" + "00010001"
    assert query(1, ".").hex() == "000101000001000000000000" + "00" + "00020001"
    assert query(1, "a.example.") == query(1, "a.example")


@given(NUMBERS, NAMES, st.integers(0, 15), st.booleans(), st.binary(max_size=30))
def test_an_answer_is_read_in_any_letter_case(number: int, name: str, rcode: int, cut: bool, rest: bytes) -> None:
    packet = query(number, name)
    echoed = packet[:12] + packet[12:].upper()
    seen = reply(answer_to(echoed, ANSWER | rcode | (TRUNCATED if cut else 0)) + rest, number, name)
    assert seen == Reply(rcode, cut)
    assert seen is not None
    assert seen.resolves == (rcode in (0, 3))


@given(NUMBERS, NUMBERS, NAMES, NAMES)
def test_the_answer_to_another_question_is_not_ours(one: int, other: int, name: str, another: str) -> None:
    seen = reply(answer_to(query(other, another), ANSWER), one, name)
    assert (seen is not None) == (one == other and name == another)


@given(NUMBERS, NAMES, st.binary(max_size=40))
def test_questions_and_rubbish_are_no_answers(number: int, name: str, rubbish: bytes) -> None:
    assert reply(query(number, name), number, name) is None
    assert reply(rubbish[:11], number, name) is None


def test_a_server_that_understood_nothing_may_leave_the_question_out() -> None:
    assert reply(struct.pack("!HHHHHH", 7, ANSWER | 1, 0, 0, 0, 0), 7, "a.example") == Reply(1, False)


def test_codes_have_their_names() -> None:
    assert [Reply(code, False).named for code in (0, 2, 3, 5, 11)] == [
        "NOERROR",
        "SERVFAIL",
        "NXDOMAIN",
        "REFUSED",
        "RCODE11",
    ]


@pytest.mark.parametrize(
    ("surroundings", "name"),
    named(
        {
            "the API server": (
                Surroundings(api_server="https://api.example.com:6443", search=("a.b",)),
                "api.example.com",
            ),
            "the domain, when the API server is an address": (
                Surroundings(api_server="[2001:db8::1]:6443", search=("~.", "example.com")),
                "example.com",
            ),
            "the root, when nothing is known": (Surroundings(), "."),
        }
    ),
)
def test_by_default_a_name_is_asked_which_the_site_should_know(surroundings: Surroundings, name: str) -> None:
    assert default_name(surroundings) == name
