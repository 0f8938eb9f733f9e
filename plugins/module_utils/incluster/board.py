# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a run tells its custom resource how it goes: the status, a few times a minute, and Kubernetes Events.

Room: incluster. Nothing here may break the run: what cannot be written is told once, as a warning. A resource that is
deleted meanwhile is the wish to stop. Of roles with several modules, the plan that counts is that of the main one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..clock import Clock, StopSign
from ..events import Event, Noted, Planned, Progress, StepBegan, StepEnded
from ..objects import record_of
from ..problems import CannotLook, Problem
from ..shown import NOTHING_SHOWN, Shown
from ..visible import visible
from .happenings import tell_people
from .kinds import work_of
from .shown import is_for_another_spec, kept_of, shown_in
from .status import MOST_TEXT, facts_in

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..objects import Record, Resource

SECONDS_BETWEEN = 2.0


class Board:
    """The status of one custom resource, as it was read, and what has come since."""

    def __init__(
        self,
        named: Mapping[str, str],
        cluster: Cluster,
        clock: Clock,
        stop: StopSign | None = None,
        *,
        job: str = "",
        check_mode: bool = False,
    ) -> None:
        self.named = named
        self._work = work_of(named["api_version"], named["kind"])
        self._is_the_work = self._work is not None and self._work.engine == job
        self._is_a_drain = self._is_the_work and job == "drain"
        self._is_planned = False
        self._check_mode = check_mode
        self.item: dict[str, Any] = {}
        self.problem = ""
        self._cluster = cluster
        self._clock = clock
        self._stop = stop or StopSign()
        self._resource: Resource | None = None
        self._waiting: dict[str, Any] = {}
        self._written_at = clock.now() - SECONDS_BETWEEN

    # -- reading and writing -----------------------------------------------------------------------------------------

    def look(self) -> dict[str, Any] | None:
        """The resource as it is now; None where it is gone."""
        resource, _warning = self._cluster.resolve(self.named["kind"], self.named["api_version"], by_hand=False)
        if resource is None:
            raise CannotLook(f"the kind {self.named['kind']} is not installed", why="nobody serves it")
        self._resource = resource
        item = self._cluster.read_whole(resource, self.named.get("namespace") or "", self.named["name"])
        self.item = item or {}
        return item

    def names_of_all(self) -> list[str]:
        """Every resource of this kind, as namespace/name."""
        found = self._cluster.list(self._resource).records if self._resource else []
        return [record.place for record in found]

    def write(self, status: Mapping[str, Any]) -> bool:
        """The whole status; False where the resource is gone or on its way, or another one has its name now."""
        if self._resource is None or not self.item:
            return False
        written = self._cluster.merge_patch(
            self._resource, self._record, {"status": dict(status)}, subresource="status", dry_run=self._check_mode
        )
        if written.problem is not None:
            raise written.problem
        self.item["status"] = dict(status)
        # One with a finalizer stays for a while: that it goes is seen by its deletion time only.
        leaving = written.record is not None and written.record.terminating and not self._record.terminating
        return not (written.gone or written.replaced or leaving)

    def announce(self, reason: str, text: str, *, warning: bool = False) -> float:
        """A Kubernetes Event. For how many seconds the same is told already."""
        if self._resource is None or not self.item or self._check_mode:
            return 0.0
        return tell_people(self._resource, self._record, reason, text[:MOST_TEXT], self._cluster, warning=warning)

    @property
    def shows_status(self) -> bool:
        return self._work is not None and self._work.own

    @property
    def _record(self) -> Record:
        return record_of(self.item["metadata"])

    # -- while a run goes on -----------------------------------------------------------------------------------------

    def hear(self, event: Event) -> None:
        """An event of the engine: shown at once where it is a milestone, else as soon as it is time again."""
        if isinstance(event, Planned):
            if self._is_the_work and not self._is_planned:
                self._is_planned = True  # those that follow are of parts: the drains of an Uninstall have their own
                self._waiting["planHash"] = event.plan_hash
                self._announce_softly("Planned", f"plan {event.plan_hash}: {event.summary}")
        elif isinstance(event, StepBegan):
            self._message(f"{event.step}: {event.total} to go")
            self._is_draining()
        elif isinstance(event, StepEnded):
            left = f", {event.survivors} still there" if event.survivors else ""
            self._announce_softly(
                "StepEnded", f"{event.step}: {event.deleted + event.gone + event.released} done{left}"
            )
        elif isinstance(event, Progress):
            waiting = "".join(f"; {count} wait on {what}" for what, count in event.waiting.items())
            self._waiting["progress"] = f"{event.done}/{event.total}"
            self._is_draining(drainProgress=self._waiting["progress"])
            self._message(f"{event.step}: {event.done} of {event.total} {event.word}{waiting}")
        elif isinstance(event, Noted):
            self._message(event.text)
        self._write_if_it_is_time()

    def settle(
        self,
        result: Mapping[str, Any],
        outcome: str,
        plan: Mapping[str, Any] | None = None,
        approved: str | None = None,
    ) -> None:
        """What a module came to. How the whole ends is said later, by whoever knows the whole.

        `plan`: what was shown and not done. That of a run which goes on with what was approved is only the rest, and
        one for a changed spec must not make its old approval good. One that cannot be carried out yet was seen all the
        same.
        """
        if self._is_the_work:
            self._waiting.update(facts_in(result), outcome=outcome)
            plan_hash = result.get("plan_hash")
            if plan and plan_hash and approved in (None, "", plan_hash) and not self._is_approved_for_another_spec():
                self._waiting["shown"] = kept_of(plan, plan_hash, self._spec_digest)
        elif result.get("failed"):
            self._waiting["outcome"] = outcome
        self._write_if_it_is_time(now=True)

    def shown(self, plan_hash: str | None) -> Shown:
        """What was in the plan that somebody approved, as far as the status has kept it."""
        found: list[Shown] = []

        def look() -> None:
            if plan_hash and self.shows_status and (self.item or self.look() is not None):
                found.append(shown_in(self.item.get("status") or {}, plan_hash, self._spec_digest))

        self._softly(look)
        return found[0] if found else NOTHING_SHOWN

    def close(self) -> None:
        self._cluster.close()

    @property
    def _spec_digest(self) -> str:
        """Of the spec that the arguments were taken from: it may be another one by now."""
        return self.named.get("spec_digest") or ""

    def _is_approved_for_another_spec(self) -> bool:
        self._softly(lambda: self.item or self.look())
        return is_for_another_spec(self.item, self._spec_digest)

    def _is_draining(self, **facts: str) -> None:
        if self._is_a_drain:
            self._waiting.update(facts, drainStatus="draining")

    def _message(self, text: str) -> None:
        self._waiting["message"] = visible(text)[:MOST_TEXT]

    def _write_if_it_is_time(self, *, now: bool = False) -> None:
        due = now or self._clock.now() - self._written_at >= SECONDS_BETWEEN
        if not due or not self._waiting or not self.shows_status:
            return
        self._written_at = self._clock.now()
        self._softly(self._write_what_waits)

    def _write_what_waits(self) -> None:
        if not self.item and self.look() is None:
            self._is_gone()
            return
        facts = {key: value for key, value in self._waiting.items() if key != "message"}
        status = {**(self.item.get("status") or {}), **facts}
        if "message" in self._waiting:
            status["conditions"] = _with_message(status.get("conditions") or [], self._waiting["message"])
        self._waiting = {}
        if not self.write(status):
            self._is_gone()

    def _is_gone(self) -> None:
        self._stop.set(f"the {self.named['kind']} that asked for it was deleted")

    def _announce_softly(self, reason: str, text: str) -> None:
        def announce() -> None:
            if self.item or self.look() is not None:
                self.announce(reason, text)

        self._softly(announce)

    def _softly(self, work: Any) -> None:
        try:
            work()
        except Problem as problem:
            self.problem = self.problem or f"the status of {self.named['kind']} {self.named['name']}: {problem}"


def _with_message(conditions: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    return [{**one, "message": text} if one.get("type") == "Progressing" else one for one in conditions]
