# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An uninstall as a tree for people: what the preflight says, what goes in which order, what stays, under which hash.

Room: evidence. One line a kind, so that a plan of thousands fits a screen; the files name every object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..objects import ObjectRef
from ..teardown.drain.survey import Survey
from ..teardown.plan import Entry, Plan, Step
from ..teardown.plan_reach import reach_of
from ..teardown.run_outcome import StepOutcome
from ..teardown.uninstall.leftovers import MADE
from ..teardown.uninstall.preflight import OK, STOP, WARN
from ..teardown.uninstall.scheme import Scheme
from ..teardown.uninstall.uninstall import UninstallOutcome, named_shortly
from .drain_table import stops_of
from .tree import Branch, drawn

_NAMED = 3  # names a line
_MOST = 10  # lines of a kind
_SIGNS = {OK: "ok  ", WARN: "warn", STOP: "STOP"}


def uninstall_text(outcome: UninstallOutcome) -> list[str]:
    scheme = outcome.scheme
    if scheme is None:
        return []
    done = bool(outcome.deletion.run.steps or outcome.drains) and not outcome.check_mode
    root = Branch(f"{'uninstalled' if done and not outcome.failure else 'uninstall'} {scheme.membership.source}")
    if scheme.membership.missing:
        root = Branch(f"NOT FOUND: {scheme.membership.missing}")
        root.add(f"there is {named_shortly(scheme.there)}" if scheme.there else "no release at all was seen")
    _preflight(root, outcome, done=done)
    for survey in scheme.surveys:
        _drain(root, survey, done=done)
    _steps(root, scheme, outcome, done=done)
    _survivors(root, outcome)
    _reach(root, scheme)
    _detached(root, outcome.deletion.plan if done else scheme.plan, done=done)
    _kept(root, outcome.deletion.plan if done else scheme.plan, outcome)
    _leftovers(root, outcome)
    return [*drawn(root), *_summary(scheme, outcome, done=done)]


def _preflight(root: Branch, outcome: UninstallOutcome, *, done: bool) -> None:
    if not outcome.findings or done:  # read before; what counts now is what came of it
        return
    branch = root.add("preflight")
    for finding in outcome.findings:
        line = branch.add(f"{_SIGNS[finding.level]} {finding.check}: {finding.text}")
        if finding.next_step:
            line.add(f"to decide: {finding.next_step}" if finding.level == STOP else finding.next_step)


def _drain(root: Branch, survey: Survey, *, done: bool) -> None:
    plan = survey.plan.whole
    if done:
        root.add(f"drained {survey.profile.title}, policy {survey.policy}: {survey.plan.size} objects")
        return
    branch = root.add(f"drain {survey.profile.title}, policy {survey.policy}")
    stops = [f"stop {line}" for line in stops_of(survey)]
    for line in stops if survey.quiesces else ():
        branch.add(line)
    for step in plan.steps:
        for word, refs in (
            ("release", [one.ref for one in step.releases]),
            ("delete", [one.member.ref for one in step.going]),
        ):
            for line in _by_kind(refs):
                branch.add(f"{word} {line}")
    for line in stops if not survey.quiesces else ():
        branch.add(line)
    _detached(branch, plan, done=False)
    if not branch.below:
        branch.add("nothing to release")


def _steps(root: Branch, scheme: Scheme, outcome: UninstallOutcome, *, done: bool) -> None:
    results = {one.step.rule.name: one for one in outcome.deletion.run.steps}
    busy = [step for step in outcome.deletion.plan.steps or scheme.plan.steps if step.going]
    for place, step in enumerate(busy, 1):
        branch = root.add(f"{place}. {step.rule.name}{_came_to(step, results.get(step.rule.name))}")
        for number, wave in enumerate(step.waves if not done else (), 1):
            # Waves wait for each other as steps do.
            below = branch.add("first" if number == 1 else "then") if len(step.waves) > 1 else branch
            for line in _by_kind([entry.member.ref for entry in wave]):
                below.add(line)


def _survivors(root: Branch, outcome: UninstallOutcome) -> None:
    parts = [*(one.diagnosis for one in outcome.drains), outcome.deletion.diagnosis]
    survivors = [one for part in parts for one in part.survivors]
    if not survivors:
        return
    branch = root.add(f"still there: {len(survivors)}")
    for entry in survivors[:_MOST]:
        branch.add(f"{entry.ref} - {'; '.join(blocker.short for blocker in entry.blockers)}")
    if len(survivors) > _MOST:
        branch.add(f"and {len(survivors) - _MOST} more, see survivors")


def _came_to(step: Step, result: StepOutcome | None) -> str:
    if result is None or not result.begun:
        return f": {len(step.going)}"
    stay = f", {len(result.survivors)} still there" if result.survivors else ""
    others = f" ({len(result.gone)} by others)" if result.gone else ""
    return f": {result.deleted + len(result.gone)} of {len(step.going)} gone{others}{stay}"


def _reach(root: Branch, scheme: Scheme) -> None:
    reach = reach_of(scheme.plan)
    if reach.outside:
        root.add(f"outside namespace {reach.home}: {reach.outside}")
    if not reach.unconfirmed:
        return
    branch = root.add(f"unconfirmed: {len(reach.unconfirmed)}")
    by_reason: dict[str, list[ObjectRef]] = defaultdict(list)
    for entry in reach.unconfirmed:
        by_reason[entry.verdict.unconfirmed].append(entry.member.ref)
    for why, refs in by_reason.items():
        for line in _by_kind(refs):
            branch.add(f"{line} - {why}")


def _detached(root: Branch, plan: Plan, *, done: bool) -> None:
    """Kept objects that would be deleted with their owners."""
    if not plan.detachments:
        return
    branch = root.add(f"owner references {'removed' if done else 'to remove'}: {len(plan.detachments)}")
    for one in plan.detachments[:_MOST]:
        branch.add(f"{one.text}, and is kept")
    if len(plan.detachments) > _MOST:
        branch.add(f"and {len(plan.detachments) - _MOST} more, see plan")


def _kept_on_purpose(plan: Plan, outcome: UninstallOutcome) -> list[Entry]:
    missing = outcome.deletion.run.kept.missing
    late = [entry for step in outcome.deletion.run.steps for entry in step.late_kept]
    once = {entry.member.record.uid: entry for entry in (*plan.kept, *late)}
    found = [entry for uid, entry in once.items() if uid not in missing]
    return [entry for entry in found if entry.verdict.fate.value != "protected"]


def _kept(root: Branch, plan: Plan, outcome: UninstallOutcome) -> None:
    kept = _kept_on_purpose(plan, outcome)
    if not kept:
        return
    branch = root.add(f"stays: {len(kept)}")
    by_reason: dict[str, list[Entry]] = defaultdict(list)
    for entry in kept:
        by_reason[entry.verdict.why].append(entry)
    for why, entries in by_reason.items():
        for line in _by_kind([entry.member.ref for entry in entries]):
            branch.add(f"{line} - {why}")


def verified_text(outcome: UninstallOutcome) -> str:
    """What the last look came to; nothing if nobody looked."""
    found, kept = outcome.leftovers, _kept_on_purpose(outcome.deletion.plan, outcome)
    if found is None:
        return ""
    if found.found:
        return f"{len(found.found)} objects are left"
    if found.unseen:
        return f"nothing was seen, but not everything could be looked at: {found.unseen[0]}"
    on_purpose = f"; {len(kept)} kept on purpose" if kept else ""
    by_name = f"; {len(found.possible)} may be left of it, see possible_leftovers" if found.possible else ""
    return f"no unexpected leftovers ({found.looked_at} objects checked){on_purpose}{by_name}"


def _leftovers(root: Branch, outcome: UninstallOutcome) -> None:
    found = outcome.leftovers
    if found is None:
        return
    if not found.found:
        root.add(f"verified: {verified_text(outcome)}")
    for title, name, listed in (
        ("left", "leftovers", found.found),
        ("may be left of it", "possible_leftovers", found.possible),
    ):
        branch = root.add(f"{title}: {len(listed)}") if listed else root
        for one in listed[:_MOST]:
            line = branch.add(f"{one.ref} - {one.why}")
            if one.trace == MADE and one.command:  # of these nothing else says how to delete them
                line.add(one.command)
        if len(listed) > _MOST:
            branch.add(f"and {len(listed) - _MOST} more, see {name}")


def _by_kind(refs: Sequence[ObjectRef]) -> Iterable[str]:
    kinds: dict[str, list[ObjectRef]] = defaultdict(list)
    for ref in refs:
        kinds[ref.kind].append(ref)
    for kind, members in kinds.items():
        names = [f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name for ref in members]
        cut = [*names[:_NAMED], "…"] if len(names) > _NAMED else names
        count = f" x{len(names)}" if len(names) > 1 else ""
        yield f"{kind}{count} {', '.join(cut)}"


def _summary(scheme: Scheme, outcome: UninstallOutcome, *, done: bool) -> list[str]:
    steps = sum(bool(step.going) for step in scheme.plan.steps)
    if not scheme.size:
        return ["nothing to do"]
    if done:
        gone = sum(step.deleted + len(step.gone) for step in outcome.deletion.run.steps)
        return [f"{gone} objects gone in {outcome.seconds:.1f} s; plan {scheme.hash}"]
    words = f"{scheme.size} objects in {steps} steps, about {outcome.forecast:.0f} s"
    return [f"{words}; plan {scheme.hash}"]
