# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fault injection: a proxy in front of the API server and the rules that say when and how it misbehaves."""

from __future__ import annotations

from lab.faults.proxy import FaultProxy
from lab.faults.rules import (
    Answer,
    CutWatch,
    DrippingAnswer,
    ErrorInWatch,
    Fault,
    ResetAfter,
    ResetBefore,
    Rule,
    SeenRequest,
    SilentWatch,
    SlowAnswer,
    SlowRequest,
    StrayAnswer,
    TruncatedBody,
)

__all__ = [
    "Answer",
    "CutWatch",
    "DrippingAnswer",
    "ErrorInWatch",
    "Fault",
    "FaultProxy",
    "ResetAfter",
    "ResetBefore",
    "Rule",
    "SeenRequest",
    "SilentWatch",
    "SlowAnswer",
    "SlowRequest",
    "StrayAnswer",
    "TruncatedBody",
]
