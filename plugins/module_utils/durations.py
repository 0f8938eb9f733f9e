# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long something lasts, as people write it.

Shared by every room and private to the collection.
"""

from __future__ import annotations

import re

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")
_SECONDS = (86400, 3600, 60, 1)


def seconds_in(text: str) -> float | None:
    """`1h30m` and the like; a bare number is seconds."""
    match = _DURATION.fullmatch(text.strip())
    if not match or not any(match.groups()):
        return None
    return float(sum(int(number or 0) * unit for number, unit in zip(match.groups(), _SECONDS, strict=True)))
