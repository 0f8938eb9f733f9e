# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Passwords and keys in a state: hidden from results, and looked for before a state is applied.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HIDDEN = "<hidden>"
# What nmstate shows instead of a password unless asked for secrets. Applied, it would become the password.
PLACEHOLDER = "<_password_hid_by_nmstate>"
_NUMBERED = "<secret "
# Keys whose values are secret: 802.1X, MACsec and IPsec.
SECRET_KEYS = frozenset({"password", "private-key-password", "mka-cak", "psk"})


def masked(value: Any, key: str = "", by: str = HIDDEN) -> Any:
    """The same, readable by anybody."""
    if isinstance(value, Mapping):
        return {inner: masked(one, str(inner), by) for inner, one in value.items()}
    if isinstance(value, list):
        return [masked(one, key, by) for one in value]
    return by if key in SECRET_KEYS and value is not None else value


def as_shown(value: Any) -> Any:
    """The same as nmstate would show it once it is applied."""
    return masked(value, by=PLACEHOLDER)


def without_secrets(value: Any, taken: list[str], key: str = "") -> Any:
    """The same with numbers in place of secrets, which are put into `taken`: for travelling apart from them."""
    if isinstance(value, Mapping):
        return {inner: without_secrets(one, taken, str(inner)) for inner, one in value.items()}
    if isinstance(value, list):
        return [without_secrets(one, taken, key) for one in value]
    if key in SECRET_KEYS and isinstance(value, str) and value != PLACEHOLDER:
        taken.append(value)
        return f"{_NUMBERED}{len(taken) - 1}>"
    return value


def with_secrets(value: Any, secrets: Sequence[str], key: str = "") -> Any:
    """Whole again."""
    if isinstance(value, Mapping):
        return {inner: with_secrets(one, secrets, str(inner)) for inner, one in value.items()}
    if isinstance(value, list):
        return [with_secrets(one, secrets, key) for one in value]
    if secrets and key in SECRET_KEYS and isinstance(value, str) and value.startswith(_NUMBERED):
        return secrets[int(value.removeprefix(_NUMBERED).rstrip(">"))]
    return value


def placeholders_in(value: Any, path: str = "") -> Iterator[str]:
    """Paths of passwords that were not read. A state that has any must never be applied."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from placeholders_in(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from placeholders_in(one, f"{path}[{i}]")
    elif value == PLACEHOLDER:
        yield path
