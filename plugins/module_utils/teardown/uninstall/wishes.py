# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task wishes beyond what the source names: definitions and their instances, volumes, routes, the namespace.

Room: teardown. Each wish changes the ground a plan is made of; a thing that stays says by which option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ...objects import Record
from ...problems import Problem
from ...profiles.route_kinds import ROUTE_KINDS
from ...well_known import MADE_BY_US, NAMESPACES
from ..guards import CRD, judge, keep_marker_of
from ..members.looking import TRANSIENT, Looker, Member
from ..plan import GOING, Ground, Plan
from ..ranked_delete import Adjust
from ..verdicts import Fate, Verdict
from .leases import leases_of
from .options import UninstallOptions
from .volumes import add_volumes

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


_ROUTES_STAY = "routes: keep"


def adjusting(options: UninstallOptions, cluster: Cluster) -> Adjust:
    def adjust(ground: Ground, looker: Looker) -> None:
        if options.routes != "delete":
            # A page in front of the routes: put there after the plan was shown, and taken away by who put it there.
            ground.members = [member for member in ground.members if not _is_made_by_us(member)]
        known = {member.record.uid for member in ground.members}
        if options.crds == "keep":
            _keep(ground, lambda member: _kind(member) == CRD, "crds: keep")
        elif options.instances == "delete":
            ground.members += [one for one in instances_of(ground, looker) if one.record.uid not in known]
        if options.routes == "keep":
            _keep(ground, _is_route, _ROUTES_STAY)
        add_volumes(ground, looker, cluster, keep=options.volumes == "keep")
        ground.members += [one for one in leases_of(ground, looker, cluster) if one.record.uid not in known]
        _deal_with_the_namespace(options, ground, looker, cluster)

    return adjust


def _keep(ground: Ground, wanted: Callable[[Member], bool], why: str) -> None:
    """Of what would go: where something else keeps it, that is the reason."""
    for member in ground.members:
        if wanted(member) and judge(member, ground.facts).fate in GOING:
            member.keep = why


def _kind(member: Member) -> tuple[str, str]:
    return member.resource.group, member.resource.plural


def _is_made_by_us(member: Member) -> bool:
    return member.record.labels.get(MADE_BY_US[0]) == MADE_BY_US[1]


def routes_in(plan: Plan) -> list[Member]:
    """Those that a page may stand in front of: they go, or would if the task did not leave them for the page."""
    left = [entry for entry in plan.kept if entry.verdict == Verdict(Fate.KEEP, _ROUTES_STAY)]
    return [entry.member for entry in (*plan.going, *left) if _is_route(entry.member)]


def _is_route(member: Member) -> bool:
    return (member.resource.group, member.resource.kind) in ROUTE_KINDS


def instances_of(ground: Ground, looker: Looker) -> Iterator[Member]:
    """Custom resources of definitions that go, whoever made them: shown in the plan, gone before their operator is."""
    definitions = [member for member in ground.members if _kind(member) == CRD]
    for definition in [one for one in definitions if judge(one, ground.facts).fate in GOING]:
        plural, _dot, group = definition.record.name.partition(".")
        resource = looker.resolve(plural, f"{group}/", by_hand=False)
        if resource is None:
            continue  # not served any more: the API server is already taking it apart
        for record in looker.everything(resource):
            yield Member(resource, record, f"of {definition.ref} (instances: delete)", marked=False)


def _deal_with_the_namespace(options: UninstallOptions, ground: Ground, looker: Looker, cluster: Cluster) -> None:
    """With the source's records, after them: as long as anything is left, the record says what belongs together.

    A namespace that somebody has deleted already takes everything in it along: all of it is in the plan.
    """
    name = options.namespace
    record = _namespace_if_seen(options, looker, cluster) if name else None
    if record is None or not (options.delete_namespace or record.terminating):
        return
    looker.look_into_namespace(name)
    looker.everything(NAMESPACES)
    if record.terminating:
        ground.members += list(_going_along(name, ground, looker))
    ground.members = [member for member in ground.members if not _is_namespace(member, name)]
    why = "it is being deleted" if record.terminating else "delete_namespace: true"
    member = Member(NAMESPACES, record, why, marked=False)
    member.keep = keep_marker_of(member)
    ground.records.append(member)


def _namespace_if_seen(options: UninstallOptions, looker: Looker, cluster: Cluster) -> Record | None:
    """A tenant who may not look at his namespace can do without, unless it is to go as well."""
    name = options.namespace
    try:
        return cluster.read(NAMESPACES, "", name)
    except Problem as problem:
        if options.delete_namespace or not problem.is_forbidden:
            raise
        looker.warnings.append(f"cannot see whether namespace {name} is being deleted ({problem.why})")
        return None


def _going_along(namespace: str, ground: Ground, looker: Looker) -> Iterator[Member]:
    known = {member.record.uid for member in (*ground.members, *ground.records)}
    for listing in looker.listings:
        kind = (listing.scope.resource.group, listing.scope.resource.plural)
        for record in listing.records if listing.scope.resource.namespaced and kind not in TRANSIENT else ():
            if record.namespace == namespace and record.uid not in known:
                known.add(record.uid)
                why = f"namespace {namespace} is being deleted"
                yield Member(listing.scope.resource, record, why, marked=False)


def _is_namespace(member: Member, name: str) -> bool:
    return _kind(member) == ("", "namespaces") and member.record.name == name
