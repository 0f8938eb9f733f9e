# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many nodes may be unavailable at once: the arithmetic of kubernetes-nmstate.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import math
import re
from typing import Any

DEFAULT = "50%"
_PERCENT = re.compile(r"([+-]?\d+)%")


def most_unavailable(nodes: int, given: Any) -> tuple[int, str]:
    """The number, and a warning where the value means nothing and half of the nodes is taken instead.

    Percentages are rounded up, and one node may always be worked on, also with 0.
    """
    if given is None:
        given = DEFAULT
    if isinstance(given, int) and not isinstance(given, bool):
        return max(1, given), ""
    percent = _PERCENT.fullmatch(given) if isinstance(given, str) else None
    if percent:
        return max(1, math.ceil(nodes * int(percent[1]) / 100)), ""
    half, _nothing = most_unavailable(nodes, DEFAULT)
    return (
        half,
        f"maxUnavailable {given!r} is neither a number nor a percentage; {DEFAULT} is taken, as by the handlers",
    )
