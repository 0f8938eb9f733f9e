# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How much of the task's time a step may take.

Room: teardown (pure). With `on_timeout: fail` a step may use all that is left: nothing comes after it anyway. With
`continue` every step gets an equal share of what is left when it begins, and so does every wave of a step; what a step
does not need is shared by those after it. A step's own timeout is its time in both cases.
"""

from __future__ import annotations

from collections.abc import Sequence

from .run_outcome import RunOptions, StepOutcome


def share_of(step: StepOutcome, to_come: Sequence[StepOutcome], left: float, options: RunOptions) -> float:
    """Seconds for this step. `to_come`: the steps from this one on."""
    if step.step.rule.timeout:
        return min(step.step.rule.timeout, left)
    if options.on_timeout != "continue":
        return left
    busy = [one for one in to_come if one.step.size or one is step]
    own = sum(one.step.rule.timeout or 0.0 for one in busy)
    without = sum(1 for one in busy if not one.step.rule.timeout)
    return max(left - own, 0.0) / without if left > own else left / len(busy)


def wave_share(left: float, waves: int, options: RunOptions) -> float:
    """Seconds for the next of these waves."""
    return left / waves if options.on_timeout == "continue" else left
