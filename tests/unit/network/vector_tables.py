# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The vectors: a policy, the state before it, and the way back, as tables that unit and integration tests share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

TABLES = ("upstream", "ours", "better")


@dataclass(frozen=True)
class Vector:
    policy: dict[str, Any]
    pre: dict[str, Any]
    gr: dict[str, Any] | None  # None: it refuses
    revert: dict[str, Any] | None
    error: str


def vectors(table: str) -> dict[str, Vector]:
    text = (Path(__file__).parent / "vectors" / f"{table}.yml").read_text(encoding="utf-8")
    rows = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {name: _vector(row) for name, row in rows.items()}


def _vector(row: Mapping[str, Any]) -> Vector:
    gr = row.get("gr")
    return Vector(row["policy"], row["pre"], gr, row.get("revert", gr), row.get("error", ""))


def every_vector() -> dict[str, Vector]:
    return {f"{table}: {name}": vector for table in TABLES for name, vector in vectors(table).items()}


def pruned(state: Mapping[str, Any]) -> dict[str, Any]:
    """Without empty parts and in one order of interfaces: neither means anything."""
    found = {part: value for part, value in state.items() if value not in (None, [], {})}
    if "interfaces" in found:
        found["interfaces"] = sorted(found["interfaces"], key=lambda one: (one["name"], one["type"]))
    return found
