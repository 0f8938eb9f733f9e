# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every module that changes a cluster has a query, and no other."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
QUERIES = yaml.safe_load((ROOT / "extensions" / "audit" / "event_query.yml").read_text(encoding="utf-8"))
GROUP = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))["action_groups"]["cluster"]


def test_every_module_that_manages_something_is_counted_and_no_other() -> None:
    # The two ends of a reconciliation only write the status of the resource that asked for it.
    manages = [name for name in GROUP if not name.endswith("_info") and not name.startswith("reconcile_")]
    assert set(QUERIES) == {f"sunset.kube.{name}" for name in manages}


def test_an_entry_is_a_query_and_nothing_else() -> None:
    assert {tuple(entry) for entry in QUERIES.values()} == {("query",)}
