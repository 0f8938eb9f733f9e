# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lines of a tree, drawn as terminals do it.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Branch:
    text: str
    below: list[Branch] = field(default_factory=list)

    def add(self, text: str) -> Branch:
        branch = Branch(text)
        self.below.append(branch)
        return branch


def drawn(root: Branch) -> list[str]:
    return [root.text, *_below(root.below, "")]


def _below(branches: Sequence[Branch], indent: str) -> list[str]:
    lines = []
    for place, branch in enumerate(branches, 1):
        last = place == len(branches)
        lines.append(f"{indent}{'└─' if last else '├─'} {branch.text}")
        lines += _below(branch.below, f"{indent}{'   ' if last else '│  '}")
    return lines
