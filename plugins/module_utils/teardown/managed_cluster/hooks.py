# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an addon still does on its cluster before it goes: its pre-delete hook, and how far that is.

Room: teardown. The addon's controller runs the hook as a work and says in the addon's condition when it is finished;
until then it keeps its finalizer on the addon, and everything after the addons waits.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...clock import Clock
from ...events import Noted, Tell
from ...objects import Record, Resource
from ...paths import condition_of, value_at
from ...problems import Problem
from ...profiles import ocm
from ..blockers.survivors import Blocker, Survivor
from ..run_outcome import RunOutcome

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_LOOK_AGAIN = 5.0
WAITING, FINISHED, FORCED = "waiting", "finished", "forced"


@dataclass(frozen=True)
class Hook:
    """The hook of one addon, as it was seen last."""

    addon: str
    finalizer: str
    works: tuple[str, ...] = ()  # that run it; empty: its controller has not made any yet
    status: str = "Unknown"  # of the condition HookManifestCompleted
    reason: str = ""
    message: str = ""
    state: str = WAITING

    def __str__(self) -> str:
        run_by = f"work {', '.join(self.works)}" if self.works else "no work runs it yet"
        because = self.reason if self.message in ("", self.reason) else f"{self.reason}: {self.message}".strip(": ")
        said = f"{ocm.HOOK_CONDITION} is {self.status}" + (f" ({because})" if because else "")
        return f"pre-delete hook of addon {self.addon} ({run_by}): {said}"

    def as_dict(self) -> dict[str, Any]:
        condition = {"type": ocm.HOOK_CONDITION, "status": self.status, "reason": self.reason, "message": self.message}
        return {"addon": self.addon, "state": self.state, "works": list(self.works), "condition": condition}


class HookWatch:
    """Follows the hooks of one cluster's addons while these are waited for. `seen` has them by their addons' names."""

    def __init__(self, name: str, cluster: Cluster, clock: Clock, tell: Tell, seen: dict[str, Hook]) -> None:
        self._name = name
        self._cluster = cluster
        self._clock = clock
        self._tell = tell
        self._seen = seen
        self._addons: list[Record] = []
        self._resource: Resource | None = None
        self._looked_at = 0.0

    def begin(self, things: Sequence[tuple[Resource, Record]]) -> None:
        """These are going to be deleted."""
        addons = [(one, record) for one, record in things if (one.group, one.kind) == ocm.ADDONS]
        self._addons = [record for _resource, record in addons if _finalizer_of(record)]
        self._resource = addons[0][0] if addons else None
        self.look(again=True)

    def look(self, *, again: bool = False) -> None:
        """Now and then, and tell what is new."""
        now = self._clock.now()
        if not self._addons or self._resource is None or (now - self._looked_at < _LOOK_AGAIN and not again):
            return
        self._looked_at = now
        works = self._cluster.find_kind(*ocm.WORKS).resource
        with contextlib.suppress(Problem):  # the addon is waited for all the same
            for name, hook in look_at_hooks(self._addons, self._resource, works, self._cluster).items():
                if self._seen.get(name) != hook:
                    self._seen[name] = hook
                    self._tell(Noted(f"{self._name}: {hook}"))

    def end(self, run: RunOutcome) -> None:
        """They are gone, or their time is over."""
        left = {leaver.record.name for leaver in run.survivors}
        if left:
            self.look(again=True)
        forced = {ref.name for step in run.steps for ref in step.stripped}
        for name in {record.name for record in self._addons} & self._seen.keys():
            state = WAITING if name in left else FORCED if name in forced else FINISHED
            self._seen[name] = dataclasses.replace(self._seen[name], state=state)
        self._addons = []


def look_at_hooks(
    addons: Sequence[Record], resource: Resource, works: Resource | None, cluster: Cluster
) -> dict[str, Hook]:
    """The hooks of these addons by the addons' names, as they are now. Who is gone is not in it."""
    names = {record.name for record in addons}
    homes = sorted({record.namespace for record in addons})
    found: dict[str, Hook] = {}
    for home in homes:
        items = {value_at(one, "metadata.name"): one for one in cluster.list_whole(resource, home)}
        running = [record.name for record in cluster.list(works, home).records] if works else []
        for record in addons:
            if record.name in names & items.keys() and record.namespace == home:
                found[record.name] = _hook(record, items[record.name], running)
    return found


def _hook(record: Record, item: Mapping[str, Any], works: Collection[str]) -> Hook:
    said = condition_of(item, ocm.HOOK_CONDITION) or {}
    return Hook(
        record.name,
        _finalizer_of(record),
        tuple(sorted(name for name in works if name.startswith(ocm.HOOK_WORK.format(addon=record.name)))),
        str(said.get("status") or "Unknown"),
        str(said.get("reason") or ""),
        str(said.get("message") or ""),
    )


def _finalizer_of(record: Record) -> str:
    return next((name for name in record.finalizers if name in ocm.HOOK_FINALIZERS), "")


def name_hooks(survivors: Sequence[Survivor], hooks: Mapping[str, Hook]) -> None:
    """Of an addon that stays, its hook is the first thing to tell."""
    for one in survivors:
        hook = hooks.get(one.record.name)
        if hook is not None and one.ref.kind == ocm.ADDONS[1]:
            suggestion = "look at the hook's work and its Job on the cluster, and at the addon's controller on the hub"
            one.blockers.insert(0, Blocker("hook", f"waits for the {hook}", hook.finalizer, suggestion=suggestion))
