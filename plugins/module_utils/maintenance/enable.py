# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Put pages in front of routes: everything is tried first, then pages, backups and routes, in this order.

Room: maintenance. A route is only changed when its page answers and its backup is kept. If one of them fails, those
that were changed before it are put back.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Sequence

from ..events import Noted, Planned
from ..limits import check_limits
from ..objects import moment
from ..problems import Interrupted, Problem, Refused
from ..terms import Terms
from .backups import BY_HAND, Began, Remarks
from .changes import Operation, annotate, never_shown
from .coverage import as_it_will_be, tell_what_stays_open
from .disable import let_go_beyond, remove_what_the_operator_made, take_pages_away, warn_of
from .drift import last_writer, put_back
from .end_job import end_jobs
from .gitops import Truce, make_truce
from .hosting import host, release, try_end_job, try_out
from .options import MaintenanceOptions
from .originals import applied
from .outcome import MaintenanceOutcome, PageSetOutcome, Run, TargetOutcome, counted
from .overlay import Overlay
from .overlaying import in_front_of, is_in_front, put_in_front, try_in_front
from .pages.bundle import Bundle
from .patching import Vanished, patch_route
from .pausing import Pauses, ref_of, require_rights, try_pauses
from .plans import Plan, is_claimed, is_hosted, one_a_page, page_set_of, plan_hash, summary
from .readiness import ip_families, let_controllers_notice, wait_for_pages
from .recording import record
from .rights import require_all, rights_to_host
from .scene import Route, Scene, look, look_again, look_at_ours
from .seed import inherit, name_operator, taken_back
from .selection import (
    Chosen,
    choose,
    follows_annotation,
    is_a_solver,
    kinds_of,
    missing,
    namespaces_of,
    needed_kinds,
    refuse_all,
    why_no_page,
)
from .sources import PageSources
from .surroundings import Surroundings, look_around
from .swap import Selection, Swap, swap
from .verifying import verify

_CHANGED = "the maintenance-operator's flag has to go from the route itself: use strategy: swap to take it over"


def enable(options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    meant = kinds_of(options.targets, options.kinds, run.cluster)
    scene = look(
        options.kinds,
        namespaces_of(options.targets),
        run.cluster,
        widely=options.coverage,
        needed=needed_kinds(options.targets, meant),
        key=run.key,
    )
    outcome.unseen = scene.unseen
    warn_of(scene.unreadable, outcome, run)
    name_operator(scene, options.operator, outcome, run)
    chosen = _choose(options, meant, scene, outcome)
    if options.takeover:
        inherit([one.route for one in chosen], run)
    around = look_around(options, [one.route for one in chosen], scene, run.cluster)
    for text in around.warnings:
        outcome.warn(text, run.tell)
    swapped = [one.route for one in chosen if not around.overlays(one.route, _selection(one, options))]
    truce = make_truce(swapped, options.gitops, outcome, run)  # who is not touched is not put back
    refuse_all(
        [(one.route, one.route.unreadable.why) for one in chosen if one.route.unreadable]
        + [(one.route, why) for one in chosen if (why := why_no_page(one.route, takeover=options.takeover))]
        + [(one.route, why) for one in chosen for why in around.why_not(one.route, _selection(one, options))]
        + [(route, _CHANGED) for route in _left_as_they_are(chosen, swapped) if _marks_to_take(route, options)]
        + truce.refused
    )
    options = _with_end(options, run)
    sources = PageSources(options, run.cluster)
    plans = _with_places([_plan(one, options, sources, around, truce) for one in chosen], outcome)
    _refuse_lost(plans)
    _warn_of_drift(plans, outcome, run)
    outcome.targets += [plan.outcome for plan in plans]
    outcome.plan_hash = plan_hash(plans, Terms({"": run.cluster.identity()}, options.hashed))
    run.tell(Planned(summary(plans), outcome.plan_hash))
    check_limits(len(plans), outcome.plan_hash, options.max_objects, options.plan_hash)
    _require_rights(plans, options, run)
    _try_everything(plans, options, scene, run)
    if options.check_mode:
        outcome.changed = any(plan.needed or not is_claimed(plan, scene) for plan in plans)
        outcome.page_sets = [
            page_set_of(plan, "kept" if is_hosted(plan, scene) else "made") for plan in one_a_page(plans)
        ]
        if options.coverage:
            after = [(as_it_will_be(plan.route, plan.swap), plan.swap) for plan in plans]
            tell_what_stays_open(after, scene, outcome, run.cluster)
        let_go_beyond([plan.route for plan in plans], options, outcome, run)
        _end_takeover([plan.route for plan in plans], plans, scene, options, outcome, run)
        return
    found = [plan.route for plan in plans]
    _host(plans, options, outcome, run)
    plans = _as_they_are_now(plans, run)
    _swap_all(plans, options, around, outcome, run)
    if any(plan.outcome.changed for plan in plans):
        let_controllers_notice(options.linger, run)
    fresh = _read_back(plans, options, run)
    if options.coverage:
        now = [(fresh.get(plan.route.uid, plan.route), plan.swap) for plan in plans]
        tell_what_stays_open(now, scene, outcome, run.cluster)
    if options.verify and run.ask_web:
        shown = [(plan.route.kind, place, plan.bundle.id) for plan in plans for place in plan.swap.swapped]
        verify(shown, options.verify, options.answering, run.ask_web, outcome, run)
    _release_old_pages(plans, scene, outcome, run)
    let_go_beyond([plan.route for plan in plans], options, outcome, run)
    scene.routes.update(fresh)
    _end_takeover(found, plans, scene, options, outcome, run)


def _choose(
    options: MaintenanceOptions,
    meant: dict[str, frozenset[tuple[str, str]]],
    scene: Scene,
    outcome: MaintenanceOutcome,
) -> list[Chosen]:
    absent = missing(options.targets, meant, scene)
    if absent:
        raise Refused(
            "no such route", which=", ".join(absent[:10]), next_step="check names and namespaces; nothing was changed"
        )
    chosen = choose(options.targets, meant, scene)
    solvers = [one for one in chosen if is_a_solver(one.route)]
    for one in solvers:
        outcome.targets.append(TargetOutcome(one.route.ref, "exempt", why="cert-manager proves the host by it"))
    chosen = [one for one in chosen if one not in solvers]
    if not chosen:
        raise Refused(
            "no route fits the targets",
            why=f"{len(scene.routes)} routes were looked at",
            next_step="check namespace, hosts and labels; nothing was changed",
        )
    return chosen


def _with_end(options: MaintenanceOptions, run: Run) -> MaintenanceOptions:
    ends_at = options.ends_at
    if options.lasts is not None:
        ends_at = float(int(run.cluster.server_time() + options.lasts))
    if ends_at is not None and ends_at <= run.cluster.server_time():
        raise Refused("the window is over", why=f"it ended at {moment(ends_at)}", next_step="give a later window.end")
    families = ip_families(run.cluster)
    answering = dataclasses.replace(options.answering, ends_at=ends_at, ip_families=families)
    return dataclasses.replace(options, ends_at=ends_at, answering=answering)


def _plan(
    chosen: Chosen, options: MaintenanceOptions, sources: PageSources, around: Surroundings, truce: Truce
) -> Plan:
    route = chosen.route
    bundle = sources.bundle_for(route.namespace)
    selection = dataclasses.replace(
        _selection(chosen, options), annotations=truce.annotations_for(route), marks=_marks_to_take(route, options)
    )
    overlay = around.overlay_for(route, selection, bundle.name) if around.overlays(route, selection) else None
    done = _as_a_swap(overlay) if overlay else _swap(route, selection, bundle, around)
    backup = route.backup
    outcome = TargetOutcome(
        route.ref,
        page=bundle.name,
        strategy="overlay" if overlay else "swap",
        locations=[location.as_dict() for location in done.swapped],
        until=options.ends_at,
        reason=options.reason,
        since=backup.began.at if backup else "",
        paused=[str(ref_of(one)) for one in truce.paused_for(route)],
        item=route.item,
        operations=done.operations,
        hidden=never_shown([*(backup.changes if backup else ()), *done.changes]),
        in_front=overlay.summary if overlay else None,
        why="taken over from the maintenance-operator" if selection.marks else "",
    )
    before = frozenset(route.pages)
    plan = Plan(route, selection, bundle, done, outcome, truce.paused_for(route), before, overlay)
    outcome.state = "pending" if plan.needed else "enabled"
    return plan


def _as_a_swap(overlay: Overlay) -> Swap:
    """The places it closes; nothing is written to the route itself."""
    return Swap(swapped=list(overlay.places), exempt=list(overlay.exempt), services=list(overlay.services))


def _selection(chosen: Chosen, options: MaintenanceOptions) -> Selection:
    return Selection(tuple(chosen.wishes), options.exempt)


def _left_as_they_are(chosen: Sequence[Chosen], swapped: Sequence[Route]) -> list[Route]:
    uids = {route.uid for route in swapped}
    return [one.route for one in chosen if one.route.uid not in uids]


def _marks_to_take(route: Route, options: MaintenanceOptions) -> tuple[str, ...]:
    """What the maintenance-operator would find its page by, and its flag; not the one that our own operator follows."""
    if not options.takeover:
        return ()
    kept = route.operator.enabled if follows_annotation(route) else ""
    return tuple(mark for mark in route.operators_marks if mark != kept)


def _swap(route: Route, selection: Selection, bundle: Bundle, around: Surroundings) -> Swap:
    """A route of the maintenance-operator becomes what it was, and shows our page, in one patch: no request sees it."""
    first = taken_back(route, selection.marks)  # it tests the spec for both
    item = applied(route.item, first) if first else route.item
    known = route.backup.changes if route.backup else ()
    done = swap(item, route.kind, selection, bundle.name, known, around.middlewares, around.openings.carve)
    done.operations = [*first, *(step for step in done.operations if not first or step["path"] != "/spec")]
    return done


def _with_places(plans: Sequence[Plan], outcome: MaintenanceOutcome) -> list[Plan]:
    """No page is made for routes that would not show it."""
    for plan in plans:
        if not plan.swap.swapped:
            plan.outcome.state, plan.outcome.page, plan.outcome.why = "exempt", "", "all of its paths are exempt"
            outcome.targets.append(plan.outcome)
    plans = [plan for plan in plans if plan.swap.swapped]
    if not plans:
        raise Refused(
            "there is nothing to show a page on",
            why="all paths that fit the targets are exempt",
            next_step="check exempt_paths; nothing was changed",
        )
    return plans


def _refuse_lost(plans: Sequence[Plan]) -> None:
    """Nobody knows what stood there: a backup made now would hold the page itself."""
    lost = [(plan.route, location) for plan in plans for location in plan.swap.lost]
    refuse_all(
        [
            (route, f"{location.where} shows {location.page} already, and no backup says what was there")
            for route, location in lost
        ],
        "a page is there without a backup",
    )


def _warn_of_drift(plans: Sequence[Plan], outcome: MaintenanceOutcome, run: Run) -> None:
    for plan in plans:
        places = [place.where for place in put_back(plan.route) if plan.selection.takes(place)]
        if places:
            who = last_writer(plan.route.item, "f:spec")
            outcome.warn(f"{plan.route.ref}: {places[0]} was put back by {who}, and is closed again", run.tell)


def _require_rights(plans: Sequence[Plan], options: MaintenanceOptions, run: Run) -> None:
    namespaces = sorted({plan.route.namespace for plan in plans})
    needed = [("patch", plan.route.resource) for plan in plans if not plan.overlay]
    overlays = [plan.overlay.resource for plan in plans if plan.overlay]
    needed += [(verb, resource) for resource in overlays for verb in ("create", "patch", "delete")]
    require_all([*needed, *rights_to_host(options.workload, run, job=options.job is not None)], namespaces, run)
    require_rights([paused for plan in plans for paused in plan.paused], run)


def _try_everything(plans: Sequence[Plan], options: MaintenanceOptions, scene: Scene, run: Run) -> None:
    """The server tries every write without keeping it. All it says no to, in one list."""
    refused: list[str] = []
    lock = threading.Lock()

    def try_page(plan: Plan) -> None:
        said = try_out(plan.bundle, plan.route.namespace, options.workload, [plan.route], run)
        with lock:
            refused.extend(said)

    def try_route(plan: Plan) -> None:
        if plan.overlay:
            said = try_in_front(plan.route, plan.overlay, run)
            with lock:
                refused.extend(said)
            return
        written = run.cluster.json_patch(plan.route.resource, plan.route.record, plan.swap.operations, dry_run=True)
        if written.problem and not written.raced:
            with lock:
                refused.append(str(written.problem))

    # A page that is there already has its place in the quota, and would be refused a second one.
    run.cluster.for_each([plan for plan in one_a_page(plans) if not is_hosted(plan, scene)], try_page)
    for plan in one_a_page(plans) if options.job else ():
        refused += try_end_job(options, plan.bundle, plan.route.namespace, run)
    run.cluster.for_each([plan for plan in plans if plan.needed], try_route)
    refused += try_pauses([paused for plan in plans for paused in plan.paused], run)
    if refused:
        raise Refused(
            "the API server would not do it",
            why=" | ".join(sorted(set(refused))[:10]),
            next_step="mend what it says no to, and run the task again; nothing was changed",
        )


def _host(plans: Sequence[Plan], options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    shared: dict[tuple[str, str], list[Plan]] = {}
    for plan in plans:
        shared.setdefault((plan.route.namespace, plan.bundle.name), []).append(plan)

    def make(users: list[Plan]) -> None:
        first = users[0]
        routes = [plan.route for plan in users]
        further = functools.partial(end_jobs, options, first.bundle, first.route.namespace)
        changed = host(first.bundle, first.route.namespace, options.workload, routes, run, further)
        outcome.page_sets.append(page_set_of(first, "made" if changed else "kept"))
        outcome.changed = outcome.changed or changed

    run.cluster.for_each(list(shared.values()), make)
    run.tell(Noted(f"{counted(len(shared), 'page')} made; waiting until somebody answers"))
    wait_for_pages(list(shared), options.workload, run)


def _as_they_are_now(plans: Sequence[Plan], run: Run) -> list[Plan]:
    """Waiting for pages takes a while: what was edited meanwhile counts."""
    fresh = look_again([plan.route for plan in plans], run.cluster)
    for plan in plans:
        if plan.route.uid not in fresh:
            plan.outcome.state, plan.outcome.why = "failed", "it was deleted meanwhile"
    return [dataclasses.replace(plan, route=fresh[plan.route.uid]) for plan in plans if plan.route.uid in fresh]


def _swap_all(
    plans: Sequence[Plan], options: MaintenanceOptions, around: Surroundings, outcome: MaintenanceOutcome, run: Run
) -> None:
    began = Began(moment(run.cluster.server_time()), run.cluster.who_am_i())
    pauses = Pauses(run)

    def one(plan: Plan) -> None:
        run.stop.raise_if_set()
        try:
            changed = _swap_one(plan, options, around, began, pauses, run)
        except Vanished as problem:
            plan.outcome.state, plan.outcome.why = "failed", problem.why
            return
        except Problem as problem:
            plan.outcome.why = str(problem)
            raise
        plan.outcome.state, plan.outcome.changed = "enabled", changed
        outcome.changed = outcome.changed or changed

    try:
        run.cluster.for_each(plans, one)
    except Interrupted:
        raise  # the same task, run again, goes on from here
    except Problem:
        _put_back(plans, outcome, run)
        raise


def _swap_one(
    plan: Plan, options: MaintenanceOptions, around: Surroundings, began: Began, pauses: Pauses, run: Run
) -> bool:
    if plan.overlay:
        return _overlay_one(plan, options, around, began, run)
    paused = False

    def compute(route: Route) -> list[Operation]:
        nonlocal paused
        done = _swap(route, plan.selection, plan.bundle, around)
        _refuse_lost([dataclasses.replace(plan, route=route, swap=done)])
        plan.swap, plan.route = done, route
        known = route.backup.paused if route.backup else []
        if done.needed or plan.paused or (route.backup and _says_something_else(route, options)):
            record(route, done.changes, plan.paused, began, _remarks(options), run)
            paused = pauses.hold(route, plan.paused, known) or paused
        return done.operations

    plan.route, changed = patch_route(plan.route, compute, run, "show page on")
    return changed or paused


def _overlay_one(plan: Plan, options: MaintenanceOptions, around: Surroundings, began: Began, run: Run) -> bool:
    route = plan.route
    overlay = around.overlay_for(route, plan.selection, plan.bundle.name)
    plan.overlay, plan.swap = overlay, _as_a_swap(overlay)
    if route.backup is None or plan.needed or _says_something_else(route, options):
        record(route, [in_front_of(overlay)], [], began, _remarks(options), run)
    return put_in_front(route, overlay, run)


def _remarks(options: MaintenanceOptions) -> Remarks:
    return Remarks(options.ends_at, options.reason, frozenset({options.holder or BY_HAND}))


def _says_something_else(route: Route, options: MaintenanceOptions) -> bool:
    backup = route.backup
    return backup is not None and backup.remarks != _remarks(options).joined_by(backup.holders)


def _put_back(plans: Sequence[Plan], outcome: MaintenanceOutcome, run: Run) -> None:
    """All or nothing: an application half behind a page is worse than either. Those that had a page before keep one."""
    fresh = [plan for plan in plans if not plan.before]
    if not fresh:
        return
    run.tell(Noted(f"a route refused: what was changed of {len(fresh)} is put back"))
    with run.cluster.cleaning_up():
        failed = take_pages_away([plan.route for plan in fresh], run)
        for plan in fresh:
            problem = failed.get(plan.route.uid)
            if problem is None:
                _flag_again(plan, run)
                release((plan.route.namespace, plan.bundle.name), [plan.route.uid], run)
                plan.outcome.state, plan.outcome.changed = "disabled", False
            else:  # it keeps its page and its backup
                plan.outcome.state, plan.outcome.why = "failed", str(problem)
    outcome.changed = any(plan.outcome.changed for plan in plans)


def _flag_again(plan: Plan, run: Run) -> None:
    """Put the flag of the maintenance-operator back on a route that did not get our page."""
    before = (plan.outcome.item or {}).get("metadata", {}).get("annotations") or {}
    marks = {mark: before[mark] for mark in plan.selection.marks if mark in before}
    try:
        for route in look_again([plan.route], run.cluster).values() if marks else ():
            patch_route(route, lambda now: annotate(now.item, marks), run, "flag")
    except Interrupted:
        raise
    except Problem as problem:
        plan.outcome.why = f"its annotation for the maintenance-operator is missing: {problem}"


def _read_back(plans: Sequence[Plan], options: MaintenanceOptions, run: Run) -> dict[str, Route]:
    """Whether the routes show the page, seen with our own eyes: a healer may be faster than we are."""
    fresh = look_again([plan.route for plan in plans], run.cluster)
    _keep_what_is_needed([plan for plan in plans if plan.route.uid in fresh], options, run)
    undone = []
    for plan in plans:
        now = fresh.get(plan.route.uid)
        if now is None or plan.outcome.state != "enabled":
            continue
        if _is_undone(plan, now):
            plan.outcome.state = "failed"
            undone.append(f"{plan.route.ref} (by {last_writer(now.item)})")
    if undone:
        raise Refused(
            "somebody puts the routes back",
            which=f"({len(undone)} of {len(plans)})",
            why=", ".join(undone[:5]),
            next_step="pause who does it (gitops: pause), and run the task again; state: disabled takes all of it away",
        )
    return fresh


def _is_undone(plan: Plan, now: Route) -> bool:
    if plan.overlay:
        return not is_in_front(now, plan.overlay)
    if any(mark in now.annotations for mark in plan.selection.marks):
        return True  # the maintenance-operator was about to write, with what it had read before
    return any(place.page is None for place in _swap(now, plan.selection, plan.bundle, Surroundings()).swapped)


def _keep_what_is_needed(plans: Sequence[Plan], options: MaintenanceOptions, run: Run) -> None:
    """Another task may have taken the backup or the page for a leftover, just before the route came to need them."""
    pages, backups = look_at_ours(frozenset(plan.route.namespace for plan in plans), run.cluster, run.key)
    for plan in plans:
        route = plan.route
        page = pages.get((route.namespace, plan.bundle.name))
        if plan.outcome.state != "enabled":
            continue
        if route.uid not in backups and route.backup is not None:
            known = route.backup
            route.backup = None
            record(route, known.changes, known.paused, known.began, _remarks(options).joined_by(known.holders), run)
        if page is None or route.uid not in page.owners:
            further = functools.partial(end_jobs, options, plan.bundle, route.namespace)
            host(plan.bundle, route.namespace, options.workload, [route], run, further)


def _release_old_pages(plans: Sequence[Plan], scene: Scene, outcome: MaintenanceOutcome, run: Run) -> None:
    """Pages these routes have shown, or were to show, before this one."""
    leaving: dict[tuple[str, str], list[str]] = {}
    for plan in plans:
        for place, page in scene.pages.items():
            if place != (plan.route.namespace, plan.bundle.name) and plan.route.uid in page.owners:
                leaving.setdefault(place, []).append(plan.route.uid)
    for place, uids in leaving.items():
        state = release(place, uids, run)
        outcome.page_sets.append(PageSetOutcome(*place, scene.pages[place].digest, state))
        outcome.changed = True


def _end_takeover(
    found: Sequence[Route],
    plans: Sequence[Plan],
    scene: Scene,
    options: MaintenanceOptions,
    outcome: MaintenanceOutcome,
    run: Run,
) -> None:
    """Our pages are shown: what the maintenance-operator has made for the routes, as they were found, goes."""
    if options.takeover:
        settled = frozenset(plan.route.uid for plan in plans if options.check_mode or plan.route.backup is not None)
        remove_what_the_operator_made(found, scene, outcome, run, settled=settled, dry_run=options.check_mode)
