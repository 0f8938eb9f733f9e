# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets in states: never shown, and never replaced by nmstate's placeholder."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.hidden import (
    masked,
    placeholders_in,
    with_secrets,
    without_secrets,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.three_way import plan_reversal

HID_BY_NMSTATE = "<_password_hid_by_nmstate>"


def _eth1(password: str) -> dict[str, object]:
    eth1 = {"name": "eth1", "type": "ethernet", "state": "up", "802.1x": {"identity": "node", "password": password}}
    return {"interfaces": [eth1]}


def test_passwords_are_masked_at_any_depth_and_nothing_else_is() -> None:
    state = {
        "interfaces": [
            {"name": "eth1", "802.1x": {"identity": "node", "password": "first", "private-key-password": "second"}},
            {"name": "macsec0", "macsec": {"mka-cak": "third", "mka-ckn": "shown"}},
            {"name": "ipsec0", "libreswan": {"psk": "fourth", "left": "192.0.2.1"}},
            {"name": "eth2", "802.1x": {"password": None}},
        ]
    }
    shown = masked(state)
    assert "first" in str(state)
    assert [word for word in ("first", "second", "third", "fourth") if word in str(shown)] == []
    assert shown["interfaces"][0]["802.1x"]["identity"] == "node"
    assert shown["interfaces"][1]["macsec"]["mka-ckn"] == "shown"
    assert shown["interfaces"][2]["libreswan"]["left"] == "192.0.2.1"
    assert shown["interfaces"][3]["802.1x"]["password"] is None


def test_a_password_that_was_not_read_is_found_by_its_path() -> None:
    assert list(placeholders_in(_eth1(HID_BY_NMSTATE))) == ["interfaces[0].802.1x.password"]
    assert list(placeholders_in(_eth1("known"))) == []


def test_a_changed_password_is_a_difference_without_the_password() -> None:
    assert differences(_eth1("old-one"), _eth1("new-one")) == ["eth1 802.1x password: before <hidden>, now <hidden>"]


def test_a_reversal_of_a_password_shows_neither() -> None:
    reversal = plan_reversal(_eth1("old-one"), _eth1("new-one"), _eth1("new-one"), {})
    assert reversal.state["interfaces"][0]["802.1x"] == {"password": "old-one"}
    assert reversal.reverted == ("eth1 802.1x password <hidden>",)
    drifted = plan_reversal(_eth1("old-one"), _eth1("new-one"), _eth1("by-hand"), {})
    assert drifted.state == {}
    assert drifted.drifted == ("eth1 802.1x password: the policy set <hidden>, now <hidden>",)


def test_secrets_travel_apart_and_come_together_again() -> None:
    state = {"interfaces": [{"name": "eth1", "802.1x": {"password": "s3cret", "identity": "me"}}], "n": [1, None]}
    taken: list[str] = []
    without = without_secrets(state, taken)
    assert taken == ["s3cret"]
    assert "s3cret" not in str(without)
    assert with_secrets(without, taken) == state


def test_a_text_that_looks_like_the_number_of_a_secret_stays() -> None:
    state = {"description": "<secret 0>", "password": "s3cret"}
    taken: list[str] = []
    assert with_secrets(without_secrets(state, taken), taken) == state
