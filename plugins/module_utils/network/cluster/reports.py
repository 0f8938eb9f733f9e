# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a node's report is newer than the policy: from an older one it looks as if there were nothing to take back.

Room: network. Private to the collection. A report has no date that tells: handlers write it anew once a minute, and
only when something has changed. So one that does not show what was applied a moment ago is asked for again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...clock import Deadline
from ...events import Noted
from ...objects import parse_time
from ...paths import value_at
from ..after import state_after
from ..normal import normalised
from .marks import LOOK_AGAIN
from .outcome import Run
from .scene import Enacted, Enactment, Policy, Scene, look

REFRESH = "nmstate.io/force-nns-refresh"  # the handlers' own label: a new value makes them report at once
_OLD = 90.0  # seconds; by then every handler has looked again by itself
_PATIENCE = 15.0


def unshown(policy: Policy, scene: Scene, now: float) -> list[str]:
    """Nodes that got the policy not long ago and do not show it: changed by somebody since, or reported before it."""
    return [
        node
        for node, enactment in sorted(scene.of_policy(policy.name).items())
        if enactment.progress(policy.generation) is Enacted.AVAILABLE
        and now - _changed_at(enactment) < _OLD
        and not _shows(scene.states.get(node), enactment.desired or {})
    ]


def wait_for_reports(policy: Policy, scene: Scene, run: Run) -> Scene:
    """The scene with reports that can be believed."""
    late = unshown(policy, scene, run.cluster.server_time())
    if not late:
        return scene
    if run.options.check_mode:
        text = f"{', '.join(late[:5])} may have reported before the policy was applied; a real run asks them again"
        run.outcome.warn(text, run.tell)
        return scene
    run.tell(Noted(f"{len(late)} nodes do not show the policy yet; asking them for a new report"))
    asked = [ask_for_report(node, run) for node in late]
    patience = Deadline(run.clock, min(_PATIENCE if all(asked) else _OLD, run.deadline.left()))
    while late and not patience.passed():
        run.stop.raise_if_set()
        run.clock.sleep(LOOK_AGAIN)
        scene = look(policy.name, run.kinds, run.cluster)
        late = unshown(policy, scene, run.cluster.server_time())
    return scene


def ask_for_report(node: str, run: Run) -> bool:
    """Whether it could be asked. Who may not write to reports waits for the next one."""
    record = run.cluster.read(run.kinds.states, "", node)
    if record is None:
        return False
    stamp = str(round(run.cluster.server_time() * 1e9))
    written = run.cluster.merge_patch(run.kinds.states, record, {"metadata": {"labels": {REFRESH: stamp}}})
    return written.problem is None


def _changed_at(enactment: Enactment) -> float:
    conditions = value_at(enactment.item, "status.conditions") or ()
    times = [parse_time(text) for one in conditions if (text := one.get("lastTransitionTime"))]
    return max(times, default=0.0)


def _shows(state: Mapping[str, Any] | None, desired: Mapping[str, Any]) -> bool:
    return state is not None and normalised(state_after(state, desired)) == normalised(state)
