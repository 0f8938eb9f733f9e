# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why a run does not go on after a step, in words.

Room: teardown (pure).
"""

from __future__ import annotations

from ..clock import StopSign
from ..problems import Hopeless, Interrupted, Problem, Refused, TimedOut
from .releasing import first_refusal
from .run_outcome import RunOptions, StepOutcome


def why_stop(outcome: StepOutcome, options: RunOptions, stop: StopSign) -> Problem | None:
    """The reason not to go on to the next step, if there is one."""
    if stop.is_set():
        return Interrupted(
            "stopped", why=stop.reason, next_step="run the task again: it goes on where this one stopped"
        )
    if outcome.refused:
        leaver, problem = outcome.refused[0]
        more = f" (and {len(outcome.refused) - 1} more, see survivors)" if len(outcome.refused) > 1 else ""
        own = not problem.which or problem.which == str(leaver.ref)
        why = problem.why if own else f"{problem.what} {problem.which}: {problem.why}"
        return Refused("could not delete", which=f"{leaver.ref}{more}", why=why, next_step=problem.next_step)
    if outcome.held_back:
        held = outcome.held_back
        more = f" (and {len(held) - 1} more, see kept)" if len(held) > 1 else ""
        return Refused(
            "did not delete",
            which=f"{held[0].member.ref}{more}",
            why=held[0].verdict.why,
            next_step="look at what came after the plan was made, then run the task again with a new plan",
        )
    refusal = first_refusal(outcome.step.releases)
    if refusal:
        return refusal
    untried = sum(release.untried for release in outcome.step.releases)
    if untried:
        return TimedOut(
            "out of time",
            which=f"in step {outcome.step.rule.name}",
            why=f"{untried} of {len(outcome.step.releases)} objects still have their finalizers",
            next_step="run the task again, or raise timeout",
        )
    if outcome.survivors and outcome.hopeless and options.on_timeout == "fail":
        return Hopeless(
            "stuck",
            which=f"in step {outcome.step.rule.name}",
            why=f"{len(outcome.survivors)} of {len(outcome.step.going)} objects are still there, and nobody is"
            " left who would let them go (fail_fast)",
            next_step="see survivors for what holds them; later steps were not begun",
        )
    if outcome.survivors and options.on_timeout == "fail":
        return TimedOut(
            "out of time",
            which=f"in step {outcome.step.rule.name}",
            why=f"{len(outcome.survivors)} of {len(outcome.step.going)} objects are still there",
            next_step="see survivors for what holds them; later steps were not begun",
        )
    return None
