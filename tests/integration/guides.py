# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a guide shows, as a reader would save them."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

GUIDES = Path(__file__).parents[2] / "docs" / "docsite" / "rst"
_FILE = re.compile(r"^\.\. code-block:: \w+\n    :caption: (\S+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)


def files_of(guide: str, directory: Path) -> dict[str, Path]:
    """Every block with a caption becomes a file of that name."""
    found = _FILE.findall((GUIDES / f"{guide}.rst").read_text())
    assert found, f"{guide} shows no files"
    for name, text in found:
        (directory / name).write_text(textwrap.dedent(text))
    return {name: directory / name for name, _text in found}
