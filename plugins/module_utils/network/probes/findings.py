# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Before against after: only what worked before can be lost.

Room: network (pure).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .probe import Finding


def regressions(before: Sequence[Finding], after: Sequence[Finding]) -> list[Finding]:
    """What worked before and does not now, as seen now. What worked before and was not asked again counts as lost."""
    now = {finding.probe: finding for finding in after}
    lost = []
    for then in before:
        seen = now.get(then.probe)
        if then.works and seen is None:
            lost.append(Finding(then.probe, False, f"{then.probe}: not asked again"))
        elif then.works and seen is not None and not seen.works:
            lost.append(seen)
    return lost


def compared(before: Sequence[Finding], after: Sequence[Finding]) -> list[dict[str, Any]]:
    """Rows for a result. `after` is null for what did not work before: it was not asked again."""
    now = {finding.probe: finding for finding in after}
    rows = []
    for then in before:
        seen = now.get(then.probe)
        rows.append(
            {
                "type": then.probe.type,
                "target": then.probe.target,
                "family": then.probe.family,
                "before": then.works,
                "after": seen.works if then.works and seen else None,
                "detail": (seen if then.works and seen else then).detail,
            }
        )
    return rows
