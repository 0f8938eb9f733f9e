# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task on a node can tell as soon as its change has begun, or turned out not to be needed.

Room: jobs; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from ..network.node_run import Begun
from ..reporting import Report


def report_of(begun: Begun) -> Report:
    result = {**begun.told, "outcome": begun.outcome, "changed": begun.changed}
    return Report(result, warnings=begun.warnings, diff=begun.diff)
