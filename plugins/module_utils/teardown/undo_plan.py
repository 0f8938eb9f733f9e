# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an undo creates, in which order, and the hash to approve it by.

Room: teardown (pure).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..terms import Terms
from .undo import Back, Bundle, Item, layers_of
from .undo_items import ref_of

_Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class UndoPlan:
    """`back`: what of the bundle comes back, or would."""

    bundle: Bundle
    back: Sequence[Back]
    terms: Terms

    @property
    def steps(self) -> list[tuple[str, list[Back]]]:
        """The layers that have anything to create, in their order."""
        by_key = {_key(one): one for one in self.back}
        layers = [
            (name, [by_key[key] for item in items if (key := _key_of(item)) in by_key])
            for name, items in layers_of(self.bundle)
        ]
        return [(name, found) for name, found in layers if found]

    @property
    def hash(self) -> str:
        """Of the objects, their content and the terms. Of Secrets only the names: a hash can be guessed at."""
        wanted = {_key(one) for one in self.back}
        items = [item for _name, layer in layers_of(self.bundle) for item in layer if _key_of(item) in wanted]
        rows = sorted([*_key_of(item), "" if item["kind"] == "Secret" else Terms().hash_of(item)] for item in items)
        return self.terms.hash_of(rows)


def _key(one: Back) -> _Key:
    ref = one.ref
    return ref.api_version, ref.kind, ref.namespace, ref.name


def _key_of(item: Item) -> _Key:
    ref = ref_of(item)
    return ref.api_version, ref.kind, ref.namespace, ref.name
