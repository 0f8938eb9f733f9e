# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A moment, written for people, for machines and for HTTP. Always in UTC: the server's own time zone is nobody's.

Room: maintenance (pure).
"""

from __future__ import annotations

import datetime
from email.utils import format_datetime


def utc_time(moment: float) -> str:
    """`2026-10-12 14:30 UTC`: figures read alike in every language."""
    return f"{_utc(moment):%Y-%m-%d %H:%M} UTC"


def machine_time(moment: float) -> str:
    return f"{_utc(moment):%Y-%m-%dT%H:%M:%SZ}"


def http_date(moment: float) -> str:
    return format_datetime(_utc(moment), usegmt=True)


def _utc(moment: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(int(moment), datetime.timezone.utc)
