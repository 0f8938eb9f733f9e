# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Trees as terminals draw them."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.evidence.tree import Branch, drawn


def test_a_tree_shows_what_hangs_on_what() -> None:
    root = Branch("shop")
    first = root.add("first")
    first.add("a").add("deep")
    first.add("b")
    root.add("then").add("c")
    assert drawn(root) == [
        "shop",
        "├─ first",
        "│  ├─ a",
        "│  │  └─ deep",
        "│  └─ b",
        "└─ then",
        "   └─ c",
    ]
