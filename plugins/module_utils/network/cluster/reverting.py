# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Node after node, wave after wave: hand each its own way back, and believe it only when the node shows it.

Room: network. Private to the collection.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from ...events import Progress, StepBegan, StepEnded
from .helper_policies import create_helper, helper_name, remove_helper
from .marks import LOOK_AGAIN, mark
from .outcome import CalledOff, NodeOutcome, Phase, Run
from .plan import NodePlan, Plan
from .progress import progress_text, send_event
from .scene import Enacted, Enactment, Policy, read_enactments, read_helpers, read_policy, read_state
from .waves import Wave, may_start, must_stop


@dataclass
class Reverting:
    run: Run
    plan: Plan
    running: dict[str, str] = field(default_factory=dict)  # node → its helper policy
    said: str = ""

    def work_through(self) -> None:
        """Afterwards every node's phase tells what came of it."""
        for rank, wave in enumerate(self.plan.waves, start=1):
            began = self.run.clock.now()
            self.run.tell(StepBegan(wave.name, rank, len(wave.nodes)))
            self._work_on(wave)
            done = [one for one in self._of(wave) if one.phase is Phase.REVERTED]
            seconds = self.run.clock.now() - began
            self.run.outcome.wave_seconds[wave.name] = seconds
            self.run.tell(StepEnded(wave.name, rank, 0, len(wave.nodes) - len(done), seconds, released=len(done)))
            if len(done) < len(wave.nodes):
                break
        for one in self.run.outcome.nodes.values():
            if one.phase is Phase.WAITING:
                why = "the time was over before its turn" if self.run.deadline.passed() else "other nodes had failed"
                one.phase, one.reason = Phase.ABORTED, one.reason or why

    def _work_on(self, wave: Wave) -> None:
        while True:
            self.run.stop.raise_if_set()
            policy = self._policy()
            enactments = read_enactments([policy.name, *self.running.values()], self.run.kinds, self.run.cluster)
            self._look_after_the_running(policy, enactments)
            held = {one.node for one in enactments[policy.name]}
            failed = self.run.outcome.in_phase(Phase.FAILED)
            stopped = must_stop(wave, len([one for one in failed if one in wave.nodes]), len(failed), self.plan.most)
            if not stopped and not self.run.deadline.passed():
                self._start(wave, held, len(failed), policy)
            self._tell_progress(wave)
            waiting = [one for one in self._of(wave) if one.phase is Phase.WAITING]
            if not self.running and (stopped or not waiting):
                return
            if self.run.deadline.passed():
                self._give_up()
                return
            self.run.clock.sleep(LOOK_AGAIN)

    def _policy(self) -> Policy:
        policy = read_policy(self.run.options.policy, self.run.kinds, self.run.cluster)
        if policy is None or policy.record.uid != self.plan.policy.record.uid or not policy.opted_in:
            raise CalledOff
        return policy

    def _start(self, wave: Wave, held: set[str], failed: int, policy: Policy) -> None:
        waiting = [one for one in self._of(wave) if one.phase is Phase.WAITING]
        for one in waiting:
            # Until its handler has noticed, it could still apply the policy after our way back from it.
            one.reason = "its handler has not let go of the policy yet" if one.node in held else ""
        free = [one.node for one in waiting if one.node not in held]
        for name in may_start(free, len(self.running), failed, self.plan.most):
            outcome = self.run.outcome.nodes[name]
            create_helper(self.plan.nodes[name], self.run, policy.record.uid)
            self.running[name] = helper_name(policy.name, policy.record.uid, self.plan.nodes[name])
            outcome.phase, outcome.reason = Phase.RUNNING, ""

    def _look_after_the_running(self, policy: Policy, enactments: dict[str, list[Enactment]]) -> None:
        if not self.running:
            return
        helpers = {one.name: one for one in read_helpers(policy.name, self.run.kinds, self.run.cluster)}
        for name, helper in list(self.running.items()):
            found = next((one for one in enactments[helper] if one.node == name), None)
            outcome = self.run.outcome.nodes[name]
            if helper not in helpers:
                self._end(name, Phase.FAILED, f"somebody has removed {helper}", policy)
            elif found is None:
                outcome.reason = "its handler has not begun"
            else:
                self._judge(name, found, found.progress(helpers[helper].generation), policy)

    def _judge(self, name: str, enactment: Enactment, progress: Enacted, policy: Policy) -> None:
        outcome = self.run.outcome.nodes[name]
        if progress is Enacted.FAILED:
            self._end(name, Phase.FAILED, enactment.why, policy)
        elif progress is Enacted.AVAILABLE:
            missing = self._missing(self.plan.nodes[name])
            if missing:
                outcome.reason = f"the node does not show it yet: {missing}"
            else:
                self._end(name, Phase.REVERTED, "", policy)
        else:
            outcome.reason = enactment.why

    def _missing(self, one: NodePlan) -> str:
        """What the node's own report lacks; a handler's word alone is no proof."""
        now = read_state(one.name, self.run.kinds, self.run.cluster)
        if now is None:
            return "it reports nothing"
        left = one.left_to_do(now)
        return "" if left.unchanged else "; ".join(left.reverted[:3])

    def _end(self, name: str, phase: Phase, reason: str, policy: Policy) -> None:
        outcome = self.run.outcome.nodes[name]
        outcome.phase, outcome.reason = phase, reason
        # Left in place it would be applied again whenever the node's handler starts.
        remove_helper(self.running.pop(name), self.run)
        if phase is Phase.REVERTED:
            send_event(
                policy, "NodeReverted", f"{name}: {'; '.join(self.plan.nodes[name].reversal.reverted)}", self.run
            )
        else:
            send_event(policy, "NodeRevertFailed", f"{name}: {reason}", self.run, warning=True)

    def _give_up(self) -> None:
        for name, helper in list(self.running.items()):
            outcome = self.run.outcome.nodes[name]
            outcome.phase, outcome.reason = Phase.FAILED, f"not done in time; {outcome.reason or 'it is at it'}"
            with self.run.cluster.cleaning_up():
                remove_helper(helper, self.run)
            del self.running[name]

    def _tell_progress(self, wave: Wave) -> None:
        deadline = self.run.cluster.server_time() + self.run.deadline.left()
        text = progress_text("reverting", self.run.outcome, deadline)
        seen = json.dumps({**json.loads(text), "deadline": ""})
        if seen != self.said:
            mark(text, self.run)
            self.said = seen
        done = len([one for one in self._of(wave) if one.phase is Phase.REVERTED])
        reasons = [one.reason for one in self._of(wave) if one.phase is Phase.RUNNING and one.reason]
        waiting = {reason: reasons.count(reason) for reason in sorted(set(reasons))[:2]}
        left = self.run.deadline.left()
        self.run.tell(Progress(wave.name, done, len(wave.nodes), left, waiting, word="reverted"))

    def _of(self, wave: Wave) -> list[NodeOutcome]:
        return [self.run.outcome.nodes[name] for name in wave.nodes]
