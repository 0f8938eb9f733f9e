# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take pages away again: each route back to what its backup says, three-way, then backups, then pages.

Room: maintenance. A backup is deleted only after its route was seen to show no page. One route that cannot go back does
not hold up the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ..events import Planned
from ..limits import check_limits
from ..pointers import ABSENT
from ..problems import Interrupted, Problem, Refused
from ..terms import Terms
from ..well_known import CONFIG_MAPS
from .backups import BY_HAND, Backup
from .changes import Operation, latest, never_shown
from .claims import claim, services_in
from .hosting import release
from .locations import Location, ServiceRef
from .markers import SEED_HOLDER
from .options import MaintenanceOptions
from .outcome import MaintenanceOutcome, PageSetOutcome, Run, TargetOutcome, counted
from .overlaying import covered_places, refuse_unseen, take_from_front
from .patching import Vanished, patch_route
from .pausing import require_rights, resume
from .readiness import let_controllers_notice, wait_for_application
from .recalling import recall
from .recording import forget, let_go, record
from .restore import Restore, restore
from .rights import require_all
from .scene import HostedPage, Route, Scene, Unreadable, look, look_again, look_for_held
from .seed import (
    adopt_seed_backups,
    forget_seed,
    is_seeds,
    name_operator,
    seed_backup_of,
    seed_backups,
    sweep_seed_backups,
    sweep_seed_pages,
)
from .selection import Chosen, asks_operator, choose, kinds_of, missing, namespaces_of, needed_kinds
from .swap import Wish


@dataclass
class Return:
    """One route, and what taking its page away comes to."""

    route: Route
    chosen: Chosen
    restore: Restore
    outcome: TargetOutcome


def disable(options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    if options.holder and not options.targets:
        held, unreadable = look_for_held(options.holder, None, run.cluster, run.key)
        warn_of(unreadable, outcome, run)
        let_go_of(held, options, outcome, run)
        return
    meant = kinds_of(options.targets, options.kinds, run.cluster)
    scene = look(
        options.kinds,
        namespaces_of(options.targets),
        run.cluster,
        widely=False,
        needed=needed_kinds(options.targets, meant),
        key=run.key,
    )
    warn_of(scene.unreadable, outcome, run)
    name_operator(scene, options.operator, outcome, run)
    adopt_seed_backups(scene, run)
    absent = missing(options.targets, meant, scene)
    if absent:
        outcome.warn(f"not there any more: {', '.join(absent[:10])}", run.tell)
    chosen = choose(options.targets, meant, scene, before=True)
    _open(chosen, scene, options, outcome, run)
    refuse_to_forget([one.route for one in chosen], options.holder)


def refuse_to_forget(routes: Sequence[Route], holder: str) -> None:
    """A page that this one holds stays where nobody can read how it was before: that is not done."""
    for route in routes:
        if route.unreadable and route.pages and holder in route.unreadable.holders:
            raise Refused("a page stays", which=f"on {route.ref}", why=route.unreadable.why)


def warn_of(unreadable: Sequence[Unreadable], outcome: MaintenanceOutcome, run: Run) -> None:
    for one in unreadable:
        outcome.warn(one.why, run.tell)


def let_go_of(held: Sequence[Backup], options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    """Whole routes, wherever they are: their backups tell."""
    namespaces = frozenset(backup.record.namespace for backup in held)
    needed = frozenset((backup.target.api_version.rpartition("/")[0], backup.target.kind) for backup in held)
    scene = look(options.kinds, namespaces, run.cluster, widely=False, needed=needed, key=run.key)
    name_operator(scene, options.operator, outcome, run)
    uids = {backup.target.uid for backup in held}
    everything = choose((), kinds_of((), options.kinds, run.cluster), scene, before=True)
    _open([one for one in everything if one.route.uid in uids], scene, options, outcome, run)


def let_go_beyond(routes: Sequence[Route], options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    """What the holder held before, and does not name any more, leads to its application again."""
    if not options.holder:
        return
    meant = {route.uid for route in routes}
    try:
        held, unreadable = look_for_held(options.holder, None, run.cluster, run.key)
    except Interrupted:
        raise
    except Problem:  # who may not look everywhere holds nothing elsewhere
        held, unreadable = look_for_held(options.holder, namespaces_of(options.targets), run.cluster, run.key)
    warn_of(unreadable, outcome, run)
    left = [backup for backup in held if backup.target.uid not in meant]
    if left:
        plan_hash = outcome.plan_hash
        let_go_of(left, dataclasses.replace(options, max_objects=None, plan_hash=None), outcome, run)
        outcome.plan_hash = plan_hash


def _open(
    chosen: Sequence[Chosen], scene: Scene, options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run
) -> None:
    chosen = [one for one in chosen if _has_anything(one.route, scene)]
    shared: list[Chosen] = []
    if options.holder:
        held = [one for one in chosen if options.holder in _holders_of(one.route)]
        shared = [one for one in held if len(_holders_of(one.route)) > 1]
        chosen = [one for one in held if one not in shared]
    seeds = [one.route for one in chosen if is_seeds(one.route) or asks_operator(one.route)]
    freed = frozenset(one.route.uid for one in chosen if options.check_mode and _restored(one.route, one).whole)
    bring_back(chosen, scene, options, outcome, run)
    remove_what_the_operator_made(seeds, scene, outcome, run, settled=freed, dry_run=options.check_mode)
    # Those who held it, too, may have let go meanwhile.
    left = [one for one in shared if not _leave_to_others(one.route, options, outcome, run)]
    if left:
        bring_back(left, scene, dataclasses.replace(options, plan_hash=None), outcome, run)


def _leave_to_others(route: Route, options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> bool:
    """What others hold, too, stays behind its page for them. Whether there still are any."""
    others = ", ".join(sorted(_holders_of(route) - {options.holder}))
    if not options.check_mode and not let_go(route, options.holder, run):
        return False
    told = TargetOutcome(route.ref, "enabled", page=", ".join(sorted(route.pages)), why=f"it stays for {others}")
    told.changed = outcome.changed = True
    outcome.targets.append(told)
    return True


def _holders_of(route: Route) -> frozenset[str]:
    """A route that the maintenance-operator has changed has asked for it by its annotation."""
    if route.backup is not None:
        return route.backup.holders
    return frozenset({SEED_HOLDER if is_seeds(route) else BY_HAND})


def remove_what_the_operator_made(
    routes: Sequence[Route],
    scene: Scene,
    outcome: MaintenanceOutcome,
    run: Run,
    *,
    settled: frozenset[str] = frozenset(),
    dry_run: bool = False,
) -> None:
    """Backups and pages of the maintenance-operator for these routes, as they were, that no route needs any more.

    `settled`: uids of routes that have a page and a backup of ours instead; in check mode those that will not show its
    page any more.
    """
    if not routes:
        return
    namespaces = frozenset(route.namespace for route in routes)
    named = {(route.namespace, f"{route.operator.backups}-{route.ref.name}") for route in routes}
    try:
        found = seed_backups(namespaces, run)
        backups = [one for one in found if (one["metadata"]["namespace"], one["metadata"]["name"]) in named]
        gone = sweep_seed_backups(backups, scene, run, settled=settled, dry_run=dry_run)
        freed = settled if dry_run else frozenset()  # else what they show now is what counts
        gone += sweep_seed_pages(scene, namespaces, run, used_by=routes, settled=freed, dry_run=dry_run)
    except Interrupted:
        raise
    except Problem as problem:
        outcome.warn(f"what the maintenance-operator made stays: {problem}", run.tell)
    else:
        outcome.swept += gone
        outcome.changed = outcome.changed or bool(gone)


def _has_anything(route: Route, scene: Scene) -> bool:
    """Shows a page, has a backup, carries a mark, or holds on to a page it never showed."""
    held = any(route.uid in page.owners for page in scene.pages.values())
    return route.is_in_maintenance or held or bool(route.operators_marks)


def bring_back(
    chosen: Sequence[Chosen], scene: Scene, options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run
) -> None:
    """These routes lead to their applications again, and what was made for them goes."""
    refuse_unseen([one.route for one in chosen], scene)
    for text in recall([one.route for one in chosen]):
        outcome.warn(text, run.tell)
    returns = [_return(one) for one in chosen]
    outcome.targets += [one.outcome for one in returns]
    outcome.plan_hash = _plan_hash(returns, Terms({"": run.cluster.identity()}, options.hashed))
    run.tell(Planned(f"take the page away from {counted(len(returns), 'route')}", outcome.plan_hash))
    check_limits(len(returns), outcome.plan_hash, options.max_objects, options.plan_hash)
    if not returns:
        return
    _require_rights(returns, run)
    if options.check_mode:
        _try(returns, run)
        outcome.changed = outcome.changed or any(
            back.outcome.state == "pending" or back.restore.whole for back in returns
        )
        return
    if options.reopen_endpoints:
        wait_for_application(_services(returns), run, leave=options.linger)
    failed = _restore_all(returns, outcome, run)
    failed += _forget_all(returns, scene, outcome, run)
    _release_pages(returns, scene, options, outcome, run)
    _tell_conflicts(returns, outcome, run)
    if failed:
        raise failed[0]


def _return(chosen: Chosen) -> Return:
    route, backup = chosen.route, chosen.route.backup
    result = _restored(route, chosen)
    outcome = TargetOutcome(
        route.ref,
        "pending" if result.needed or _uncovered(route, chosen) else "disabled" if result.whole else "enabled",
        page=", ".join(sorted(route.pages)),
        strategy="overlay" if route.overlay else "swap" if route.known else "",
        locations=[location.as_dict() for location in (*result.restored, *_uncovered(route, chosen))],
        conflicts=[*result.conflicts, *result.stuck],
        since=backup.began.at if backup else "",
        by=backup.began.by if backup else "",
        until=backup.until if backup else None,
        reason=backup.reason if backup else "",
        item=route.item,
        operations=result.operations,
        hidden=never_shown(backup.changes if backup else ()),
    )
    return Return(route, chosen, result, outcome)


def _uncovered(route: Route, chosen: Chosen) -> list[Location]:
    """Places that an overlay is in front of, and that will be reachable again."""
    return [place for place in covered_places(route) if chosen.means(place, route)]


def _restored(route: Route, chosen: Chosen) -> Restore:
    marks = dict.fromkeys(route.operators_marks, ABSENT)
    result = restore(route.item, route.kind, route.known, marks, lambda place: chosen.means(place, route))
    result.staying += [place for place in covered_places(route) if not chosen.means(place, route)]
    return result


def _plan_hash(returns: Sequence[Return], terms: Terms) -> str:
    content = [
        [
            one.route.uid,
            [step for step in one.restore.operations if step["op"] != "test"],
            *([one.route.overlay.uid] if one.route.overlay else ()),
        ]
        for one in sorted(returns, key=lambda one: one.route.uid)
    ]
    return terms.hash_of(content)


def _require_rights(returns: Sequence[Return], run: Run) -> None:
    namespaces = sorted({one.route.namespace for one in returns})
    needed = [("patch", one.route.resource) for one in returns if one.restore.needed or not one.route.overlay]
    overlays = [one.route.overlay.resource for one in returns if one.route.overlay]
    needed += [(verb, resource) for resource in overlays for verb in ("patch", "delete")]
    require_all([*needed, *((verb, CONFIG_MAPS) for verb in ("patch", "delete"))], namespaces, run)
    require_rights([paused for backup in _backups(returns) for paused in backup.paused], run)


def _backups(returns: Sequence[Return]) -> list[Backup]:
    return [back.route.backup for back in returns if back.route.backup is not None]


def _try(returns: Sequence[Return], run: Run) -> None:
    def one(back: Return) -> None:
        if back.restore.needed:
            patch_route(
                back.route, lambda now: _restored(now, back.chosen).operations, run, "take page from", dry_run=True
            )

    run.cluster.for_each(returns, one)
    for problem in resume(_backups(returns), run, dry_run=True).values():
        raise problem


def _services(returns: Sequence[Return]) -> list[ServiceRef]:
    """Where the routes will lead to."""
    found = []
    for back in returns:
        found += [service for place in _uncovered(back.route, back.chosen) for service in place.services]
        claims = claim(back.route.locations, latest(back.route.known).values())
        for location in back.restore.restored:
            change = claims.of(location)
            if change is not None:
                found += services_in(change, back.route.kind, back.route.namespace)
    return found


def _restore_all(returns: Sequence[Return], outcome: MaintenanceOutcome, run: Run) -> list[Problem]:
    failed: list[Problem] = []

    def one(back: Return) -> None:
        run.stop.raise_if_set()
        try:
            changed = _take_away(back, run)
        except Interrupted:
            raise
        except Vanished:
            back.outcome.state, back.outcome.why = "disabled", "it was deleted meanwhile"
            return
        except Problem as problem:
            back.outcome.state, back.outcome.why = "failed", str(problem)
            failed.append(problem)
            return
        back.outcome.changed = changed
        outcome.changed = outcome.changed or changed
        back.outcome.state = "disabled" if back.restore.whole else "enabled"

    run.cluster.for_each(returns, one)
    return failed


def take_pages_away(routes: Sequence[Route], run: Run) -> dict[str, Problem]:
    """At once, from the routes as they are now: for what must not stay half done. Why not, by uid."""
    failed: dict[str, Problem] = {}
    done: list[Backup] = []
    for route in look_again(routes, run.cluster).values():
        back = _return(Chosen(route, [Wish()]))
        try:
            _take_away(back, run)
        except Vanished:
            continue
        except Problem as problem:
            failed[route.uid] = problem
            continue
        if back.restore.stuck:
            failed[route.uid] = Refused("a page stays", which=f"on {route.ref}", why="; ".join(back.restore.stuck))
        elif back.route.backup is not None:
            done.append(back.route.backup)
    kept = resume(done, run)
    for backup in done:
        if backup.record.uid not in kept:
            forget(backup, run)
    return failed


def _take_away(back: Return, run: Run) -> bool:
    def compute(route: Route) -> list[Operation]:
        back.restore = _restored(route, back.chosen)
        back.outcome.conflicts = [*back.restore.conflicts, *back.restore.stuck]
        return back.restore.operations

    uncovered = take_from_front(back.route, _uncovered(back.route, back.chosen), run)
    back.route, changed = patch_route(back.route, compute, run, "take page from")
    return changed or uncovered


def _forget_all(returns: Sequence[Return], scene: Scene, outcome: MaintenanceOutcome, run: Run) -> list[Problem]:
    """Backups go when their routes were seen without a page, and who waited for them goes on."""
    done = [back for back in returns if back.outcome.state == "disabled"]
    fresh = look_again([back.route for back in done], run.cluster)
    scene.routes.update(fresh)
    for back in done:
        now = fresh.get(back.route.uid)
        if now is not None and now.pages:
            back.outcome.state, back.outcome.why = "failed", "it shows a page again; the backup is kept"
    again = [str(back.route.ref) for back in done if back.outcome.state == "failed"]
    done = [back for back in done if back.outcome.state == "disabled"]
    kept = resume(_backups(done), run)

    def one(back: Return) -> None:
        if back.route.backup is None:
            return
        if back.route.backup.record.uid in kept:
            back.outcome.why = str(kept[back.route.backup.record.uid])
            return
        outcome.changed = True
        if seed_backup_of(back.route):
            forget_seed(back.route, run)
        else:
            forget(back.route.backup, run)

    run.cluster.for_each(done, one)
    _keep_if_needed([back.route for back in done if back.route.backup is not None], run)
    if again:
        raise Refused(
            "somebody puts the page back",
            which=", ".join(again[:5]),
            next_step="find out who, and run the task again; the backups are kept",
        )
    return list(kept.values())


def _keep_if_needed(routes: Sequence[Route], run: Run) -> None:
    """Another task may have put a page in front of a route while we deleted the backup it relies on."""
    known = {route.uid: route.backup for route in routes if not seed_backup_of(route)}
    for now in look_again(routes, run.cluster).values():
        backup = known.get(now.uid)
        if now.pages and backup is not None:
            now.backup = None
            record(now, backup.changes, backup.paused, backup.began, backup.remarks, run)


def _release_pages(
    returns: Sequence[Return], scene: Scene, options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run
) -> None:
    free = {back.route.uid for back in returns if back.outcome.state == "disabled"}
    leaving: dict[tuple[str, str], tuple[HostedPage, list[str]]] = {}
    for place, page in scene.pages.items():
        uids = [uid for uid in page.owners if uid in free]
        if uids:
            leaving[place] = (page, uids)
    # A backup without a page is left of a task that was ended in between: perhaps a moment ago.
    if leaving and any(back.outcome.changed or back.route.backup for back in returns):
        let_controllers_notice(options.linger, run)
    for place, (page, uids) in leaving.items():
        state = release(place, uids, run)
        outcome.page_sets.append(PageSetOutcome(*place, page.digest, state))
        outcome.changed = True


def _tell_conflicts(returns: Sequence[Return], outcome: MaintenanceOutcome, run: Run) -> None:
    for back in returns:
        for text in back.restore.conflicts:
            outcome.warn(f"{back.route.ref}: {text}", run.tell)
    stuck = [f"{back.route.ref}: {text}" for back in returns for text in back.restore.stuck]
    if stuck:
        stuck += [one.route.unreadable.why for one in returns if one.restore.stuck and one.route.unreadable]
        raise Refused(
            "some places still show a page",
            why="; ".join(stuck[:5]),
            next_step="give them a backend by hand (kubectl edit), then run the task again: it removes the rest",
        )
