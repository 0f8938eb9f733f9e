# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a node's journal knows: its policies, what could be taken back, and what is under way.

Room: network. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from .hidden import masked
from .journal import Contents, Journal
from .journal_entries import Entry, Stage
from .node_follow import told
from .shapes import interfaces_of
from .transaction import pending


def tell_policies(journal: Journal, policy: str | None) -> tuple[dict[str, Any], list[str]]:
    contents = journal.contents()
    names = sorted({entry.policy for entry in contents.entries if policy in (None, entry.policy)})
    found = {
        "policies": [_policy(name, contents) for name in names if contents.chain(name)],
        "transactions": [_transaction(told(folder)) for folder in pending(journal.directory)],
    }
    return found, [f"cannot read {unreadable}" for unreadable in contents.unreadable]


def _policy(name: str, contents: Contents) -> dict[str, Any]:
    """Of its live generation; without one, of its last."""
    chain = contents.chain(name)
    entry = contents.live().get(name) or chain[-1]
    return {
        "policy": name,
        "state": entry.stage.value,
        "revertible": entry.is_live,
        "applied_at": entry.times.get(Stage.COMMITTED.value, ""),
        "reverted_at": entry.times.get(Stage.REVERTED.value, ""),
        "generation": entry.generation,
        "backend": entry.backend,
        "interfaces": _interfaces(entry),
        "kept": [dict(kept) for kept in entry.kept],
        "revert_state": masked(entry.revert),
    }


def _interfaces(entry: Entry) -> list[str]:
    return [interface["name"] for interface in interfaces_of(entry.desired)]


def _transaction(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in ("transaction", "policy", "phase", "left", "rehearsed", "problem")}
