# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A verdict: what the plan says of one thing, with its reason.

Room: teardown (pure).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Fate(enum.Enum):
    DELETE = "delete"
    RELEASE = "release"
    KEEP = "keep"
    PROTECTED = "protected"
    NOT_OWNED = "not_owned"
    UNMATCHED = "unmatched"
    TERMINATING = "terminating"
    GONE = "gone"
    REPLACED = "replaced"


@dataclass(frozen=True)
class Verdict:
    fate: Fate
    why: str
    unconfirmed: str = ""  # why nothing but the release metadata says that it belongs to what is removed
