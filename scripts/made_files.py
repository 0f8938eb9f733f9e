# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that a script makes from others: written anew, or with --check only compared.

For scripts/operator_*.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from checkout import ROOT


def write_or_check(made: Mapping[Path, str], there: Iterable[Path], script: str) -> int:
    """`there` are the files that would be in the same places; what is not made any more goes. Returns an exit code."""
    strangers = sorted(set(there) - set(made))
    if "--check" in sys.argv[1:]:
        stale = [file for file, text in made.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
        for file in (*stale, *strangers):
            print(f"{file.relative_to(ROOT)} is out of date: python3 scripts/inside.py python scripts/{script}")
        return int(bool(stale or strangers))
    for file in strangers:
        file.unlink()
    for file, text in made.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return 0
