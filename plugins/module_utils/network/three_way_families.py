# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Taking a policy back from one family of an interface: its kind as one thing, its addresses one by one.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from .addresses import cidr
from .claims import Claims
from .differences import words_for
from .ip_blocks import INHERITED, LEASE_FLAGS, Block, is_automatic, settled
from .reversal import Ledger
from .shapes import Key

OFF: Mapping[str, Any] = {"enabled": False}


def family_back(
    key: Key,
    family: str,
    target: Mapping[str, Any],
    then: Mapping[str, Any] | None,
    now: Mapping[str, Any] | None,
    claims: Claims,
    ledger: Ledger,
) -> Block | None:
    """The block to apply; None if this family stays as it is."""
    target, then, now = (_configured(family, block or OFF) for block in (target, then, now))
    what = f"{key[0]} {family}"
    kind = ("enabled", *INHERITED[family])
    changed = [one for one in kind if bool(target.get(one)) != bool(then.get(one))]
    if changed and not _agree(target, now, changed):
        otherwise = [one for one in kind if not _agree(target, now, [one])]
        owners = (claims.of_value(key, (family, one), now.get(one)) for one in otherwise)
        if owner := next(filter(None, owners), ""):
            ledger.block(what, owner, what)
            return None
        if not _agree(then, now, kind):
            ledger.block(what, "", f"{what}: the policy set {_words(then)}, now {_words(now)}")
            return None
        found = {**target, **_flags_claimed(key, family, target, claims, ledger)}
    else:
        found = {**now, **_flags_back(key, family, target, then, now, claims, ledger)}
    untouched = "address" not in target and not changed
    addresses = now.get("address", [])
    if not untouched:
        addresses = _addresses_back(key, family, target, then, now, is_automatic(found), claims, ledger)
    if not found["enabled"] and addresses and now["enabled"]:
        found = {**now, "enabled": True}  # what is not ours would go with the family
        ledger.drift(f"{what}: stays on for {', '.join(cidr(entry) for entry in addresses)}")
    if found["enabled"] and (addresses or "address" in found):
        found["address"] = addresses
    found = settled(family, found, bool(found["enabled"]))
    if _is(found, now):
        return None
    if not _agree(found, now, changed):
        ledger.revert(f"{what} {_words(found)}")
    return found


def _flags_back(key: Key, family: str, target: Block, then: Block, now: Block, claims: Claims, ledger: Ledger) -> Block:
    """Settings beside the kind and the addresses, such as `auto-dns`."""
    found: Block = {}
    for one in (one for one in target if one not in ("address", "enabled", *INHERITED[family])):
        path = f"{key[0]} {family} {one}"
        if target[one] in (then.get(one), now.get(one)):
            continue
        owner = claims.of_value(key, (family, one), now.get(one))
        if not owner and one in LEASE_FLAGS:
            owner = claims.of_lease_flag(key, family, one, now.get(one))
        if owner:
            ledger.keep(f"{path} {words_for(now.get(one))}", owner)
        elif now.get(one) == then.get(one):
            ledger.revert(f"{path} {words_for(target[one])}")
            found[one] = target[one]
        else:
            ledger.drift(f"{path}: the policy set {words_for(then.get(one))}, now {words_for(now.get(one))}")
    return found


def _flags_claimed(key: Key, family: str, target: Block, claims: Claims, ledger: Ledger) -> Block:
    """Settings of a lease that comes back, where other policies want them otherwise, be it without a word."""
    found: Block = {}
    for flag in (flag for flag in LEASE_FLAGS if flag in target):
        other = not target[flag]
        owner = claims.of_value(key, (family, flag), other) or claims.of_lease_flag(key, family, flag, other)
        if owner:
            ledger.keep(f"{key[0]} {family} {flag} {words_for(other)}", owner)
            found[flag] = other
    return found


def _configured(family: str, block: Mapping[str, Any]) -> Block:
    enabled = bool(block.get("enabled"))
    return {**settled(family, dict(block), enabled), "enabled": enabled}


def _agree(one: Mapping[str, Any], other: Mapping[str, Any], keys: Iterable[str]) -> bool:
    return all(bool(one.get(key)) == bool(other.get(key)) for key in keys)


def _addresses_back(
    key: Key, family: str, target: Block, then: Block, now: Block, automatic: bool, claims: Claims, ledger: Ledger
) -> list[Any]:
    """Ours go, those we removed come back, all others stay. Those of before stand first: the first is the primary."""
    before, left, here = (_by_text(block) for block in (target, then, now))
    if now["enabled"] and list(before) == list(here):
        return list(here.values())
    ours = [text for text in left if text not in before]
    if any(text not in here for text in ours) and now["enabled"]:
        gone = ", ".join(text for text in ours if text not in here)
        ledger.drift(f"{key[0]} {family} address: the policy set {gone}, now {', '.join(here) or 'none'}")
        return list(here.values())
    what = f"{key[0]} {family} address"
    back = [text for text in before if text not in left and text not in here]
    reordered = [text for text in before if text in here] + [text for text in here if text not in before] != list(here)
    if (ours or back or reordered) and (owner := claims.of_addresses(key, family, list(here), automatic)):
        ledger.keep(f"{what} {', '.join(here) or 'none'}", owner)
        return list(here.values())
    result = dict(here)
    for text in (text for text in ours if text in here):
        if owner := claims.of_address(key, family, text):
            ledger.keep(f"{what} {text}", owner)
        else:
            ledger.revert(f"{what} {text} removed")
            del result[text]
    for text in back:
        ledger.revert(f"{what} {text}")
    first = [text for text in before if text in result or text in back]
    return [copy.deepcopy(before[text]) for text in first] + [
        entry for text, entry in result.items() if text not in before
    ]


def _by_text(block: Block) -> dict[str, Any]:
    return {cidr(entry): entry for entry in block.get("address") or ()}


def _is(found: Block, now: Block) -> bool:
    """Applying it would change nothing: it names nothing that is otherwise now."""
    same_addresses = "address" not in found or list(_by_text(found)) == list(_by_text(now))
    return same_addresses and all(now.get(key) == value for key, value in found.items() if key != "address")


def _words(block: Mapping[str, Any]) -> str:
    if not block.get("enabled"):
        return "off"
    return "automatic" if is_automatic(block) else f"static {words_for(list(_by_text(dict(block))))}"
