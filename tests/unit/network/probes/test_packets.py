# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Packets as bytes: what we send is what the standards say, and only the answer to it is taken for one."""

from __future__ import annotations

import ipaddress
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.network.probes.packets import (
    arp_answer,
    arp_request,
    checksum,
    echo_request,
    is_advertisement,
    is_echo_reply,
    solicitation,
    solicited_node,
    without_ip_header,
)

FAMILIES = st.sampled_from(["ipv4", "ipv6"])
TOKENS = st.binary(min_size=16, max_size=16)
NUMBERS = st.integers(0, 0xFFFF)
FOUR = st.ip_addresses(v=4).map(str)
SIX = st.ip_addresses(v=6).map(str)
MACS = st.binary(min_size=6, max_size=6)
REPLY = {"ipv4": b"\x00", "ipv6": b"\x81"}


def ip_header(words: int) -> bytes:
    return bytes([0x40 | words]) + bytes(words * 4 - 1)


def test_a_known_echo_has_its_known_checksum() -> None:
    assert echo_request("ipv4", 0x1234, 1, b"abcdefgh").hex() == "0800543512340001" + b"abcdefgh".hex()


@given(st.binary(max_size=64))
def test_data_with_its_checksum_sums_to_zero(data: bytes) -> None:
    even = data + b"\0" * (len(data) % 2)
    assert checksum(even + struct.pack("!H", checksum(data))) == 0


@given(FAMILIES, NUMBERS, NUMBERS, TOKENS, st.integers(5, 15), st.booleans())
def test_the_reply_to_our_echo_is_recognised_and_the_echo_itself_is_not(
    family: str, identifier: int, sequence: int, token: bytes, words: int, raw: bool
) -> None:
    request = echo_request(family, identifier, sequence, token)
    header = ip_header(words) if raw and family == "ipv4" else b""
    assert is_echo_reply(family, header + REPLY[family] + request[1:], token)
    assert not is_echo_reply(family, header + request, token)


@given(FAMILIES, TOKENS, TOKENS)
def test_the_reply_to_somebody_elses_echo_is_not_ours(family: str, ours: bytes, theirs: bytes) -> None:
    reply = REPLY[family] + echo_request(family, 1, 1, theirs)[1:]
    assert is_echo_reply(family, reply, ours) == (ours == theirs)


@given(FAMILIES, st.binary(max_size=80), SIX, FOUR)
def test_rubbish_is_never_an_answer(family: str, rubbish: bytes, six: str, four: str) -> None:
    assert not is_echo_reply(family, rubbish, b"0123456789abcdef")
    assert arp_answer(rubbish[:27], four) == ""
    assert not is_advertisement(rubbish[:23], six)
    assert len(without_ip_header(rubbish)) <= len(rubbish)


@given(MACS, MACS, FOUR, FOUR, FOUR)
def test_arp_is_answered_by_the_owner_of_the_address_only(
    ours: bytes, theirs: bytes, our_address: str, wanted: str, other: str
) -> None:
    request = arp_request(ours, our_address, wanted)
    assert arp_answer(request, wanted) == ""
    reply = request[:7] + b"\x02" + theirs + ipaddress.ip_address(wanted).packed + ours + request[14:18]
    assert arp_answer(reply + bytes(18), wanted) == theirs.hex(":")  # padded to the least size of a frame
    assert bool(arp_answer(reply, other)) == (other == wanted)


def test_an_arp_request_asks_for_the_address() -> None:
    request = arp_request(bytes.fromhex("020000000001"), "198.51.100.2", "198.51.100.1")
    assert request.hex() == "0001080006040001" + "020000000001" + "c6336402" + "000000000000" + "c6336401"


@given(MACS, SIX, SIX)
def test_only_the_advertisement_of_the_address_counts(mac: bytes, wanted: str, other: str) -> None:
    asked = solicitation(mac, wanted)
    assert not is_advertisement(asked, wanted)
    answer = b"\x88" + asked[1:4] + b"\xe0\0\0\0" + asked[8:]
    assert is_advertisement(answer, wanted)
    assert is_advertisement(answer, other) == (ipaddress.ip_address(wanted) == ipaddress.ip_address(other))


def test_a_solicitation_carries_the_target_and_our_hardware_address() -> None:
    asked = solicitation(bytes.fromhex("020000000001"), "2001:db8::1")
    assert asked.hex() == "870000000000000020010db80000000000000000000000010101020000000001"


@pytest.mark.parametrize(
    ("address", "group"), [("2001:db8::1", "ff02::1:ff00:1"), ("fe80::2:a1b2:c3d4", "ff02::1:ffb2:c3d4")]
)
def test_the_group_of_an_address_has_its_last_24_bits(address: str, group: str) -> None:
    assert solicited_node(address) == group
