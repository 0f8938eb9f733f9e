# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who still reaches the application while others see the page.

Room: maintenance (pure). Whoever knows these values gets in: they are never shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Bypass:
    headers: tuple[tuple[str, str], ...] = ()
    cookies: tuple[tuple[str, str], ...] = ()
    cidrs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.headers or self.cookies or self.cidrs)


def cookie_pattern(name: str, value: str) -> str:
    """Matches a whole Cookie header that holds this cookie, in RE2's words."""
    return rf"(.*;\s*)?{re.escape(name)}={re.escape(value)}(;.*)?"
