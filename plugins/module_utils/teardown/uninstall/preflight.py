# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to know before the first write: each check is a function that looks at the scheme and says what it found.

Room: teardown. A finding that stops names the one thing to decide, and how to say it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...objects import Resource
from ...problems import Problem, Refused
from ...well_known import PERSISTENT_VOLUME_CLAIMS, WORKLOADS
from ..catalogue import known
from ..drain.drain import require_rights_to_drain
from ..foreign import NAMESPACES, Foreign
from ..guards import CRD
from ..healers import find_healers
from ..members.looking import Member
from ..obstacles.finding import find_obstacles
from ..obstacles.obstacle import API_SERVICE, Obstacle
from ..owners import Life, OwnerFacts, Workload, fetch_owner_facts, judge_owner
from ..ranked_delete import Deletion, require_rights_for
from ..truce import pauses_of
from .options import UninstallOptions
from .scheme import Scheme

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

OK, WARN, STOP = "ok", "warn", "stop"


@dataclass(frozen=True)
class Finding:
    check: str
    level: str
    text: str
    next_step: str = ""


@dataclass
class Surroundings:
    """What the checks look at; fetched once."""

    options: UninstallOptions
    scheme: Scheme
    cluster: Cluster
    owners: OwnerFacts

    @property
    def going(self) -> list[Member]:
        return [entry.member for entry in self.scheme.plan.going]

    def takes(self, group: str, plural: str) -> list[Member]:
        kind = (group, plural)
        return [member for member in self.going if (member.resource.group, member.resource.plural) == kind]


def preflight(options: UninstallOptions, scheme: Scheme, cluster: Cluster) -> list[Finding]:
    around = Surroundings(options, scheme, cluster, fetch_owner_facts(cluster))
    return [finding for check in CHECKS for finding in check(around)]


def refuse_if_stopped(findings: Iterable[Finding], so_far: str = "nothing was changed") -> None:
    stops = [finding for finding in findings if finding.level == STOP]
    if not stops:
        return
    more = f" (and {len(stops) - 1} more, see preflight)" if len(stops) > 1 else ""
    raise Refused("not begun", why=f"{stops[0].text}{more}", next_step=f"{stops[0].next_step}; {so_far}")


def access(around: Surroundings) -> Iterator[Finding]:
    if around.scheme.deletion is None:
        return
    try:
        require_all_rights(around.options, around.scheme, around.cluster)
    except Problem as refusal:
        yield Finding("access", STOP, f"{refusal.which}: {refusal.why}".strip(": "), refusal.next_step)
    else:
        yield Finding("access", OK, "everything in the plan may be deleted")


def require_all_rights(options: UninstallOptions, scheme: Scheme, cluster: Cluster) -> None:
    """Of every stage, before the first write of any: half a run is worse than none."""
    if options.stages & {"preflight", "delete"} and scheme.deletion is not None:
        require_rights_for(scheme.deletion)
    for survey in scheme.surveys:
        require_rights_to_drain(survey, options.drain, cluster)


def what_would_go_along(around: Surroundings) -> Iterator[Finding]:
    if around.scheme.deletion is not None:
        yield from _along(around.scheme.deletion.foreign, around.options)


def refuse_what_would_go_along(deletion: Deletion, options: UninstallOptions, so_far: str) -> None:
    """Always, whichever stages were chosen, and again when the plan was made anew."""
    refuse_if_stopped(_along(deletion.foreign, options), so_far)


def _along(foreign: Iterable[Foreign], options: UninstallOptions) -> Iterator[Finding]:
    """One decision, however many definitions it is about."""
    decisions: dict[str, list[Foreign]] = defaultdict(list)
    for entry in foreign:
        decisions[_way_out(entry, options)].append(entry)
    for way_out, entries in decisions.items():
        more = f" (and {len(entries) - 1} more alike)" if len(entries) > 1 else ""
        yield Finding("others", STOP, f"{entries[0].member.ref}{more}: {entries[0].why}", way_out)


def _way_out(entry: Foreign, options: UninstallOptions) -> str:
    if (entry.member.resource.group, entry.member.resource.plural) == NAMESPACES:
        return _way_out_of_the_namespace(entry, options)
    if options.instances == "delete":  # and something keeps them all the same, as the plan says
        return "uninstall whoever they belong to first, or set crds: keep to leave the definitions and them"
    return "set instances: delete to take them too, or crds: keep to leave the definitions and them"


def _way_out_of_the_namespace(entry: Foreign, options: UninstallOptions) -> str:
    claims = [one for one in entry.others if one.kind == PERSISTENT_VOLUME_CLAIMS.kind]
    ways = ["leave delete_namespace out"]
    if claims and options.volumes == "keep":
        ways.append("set volumes: delete to delete their data, too")
    narrowed = " and ".join(name for name in ("release", "manifests") if getattr(options, name))
    if narrowed and len(claims) < len(entry.others):
        ways.append(f"leave {narrowed} out to take everything in it")
    return ", or ".join(ways)


def controllers(around: Surroundings) -> Iterator[Finding]:
    """Finalizers need somebody who takes them off: whoever is proven gone will not."""
    holding: dict[str, list[Member]] = defaultdict(list)
    drained = {name for survey in around.scheme.surveys for name in survey.profile.finalizers}
    freed = {(one.record.uid, name) for one in around.scheme.plan.releases for name in one.finalizers}
    for member in around.going:
        for name in member.record.finalizers:
            entry = known(name)
            if name not in drained and (member.record.uid, name) not in freed and not (entry and entry.shared):
                holding[name].append(member)
    for name, members in sorted(holding.items()):
        yield _controller_of(name, members, around)
    if not holding:
        yield Finding("controllers", OK, "nothing in the plan waits for a controller")


def _controller_of(name: str, members: list[Member], around: Surroundings) -> Finding:
    managers = sorted({manager for member in members for _name, manager in member.record.finalizer_managers})
    first = members[0]
    owner = judge_owner(name, managers, around.owners, first.resource, first.record.namespace)
    others = f" and {len(members) - 1} more" if len(members) > 1 else ""
    held = f"{first.ref}{others} {'wait' if others else 'waits'} for finalizer {name}"
    if owner.life is Life.ALIVE:
        return Finding("controllers", OK, f"{held}: {owner.why}")
    strips = around.options.ladder.may_strip(name)
    if around.options.force and strips:
        return Finding("controllers", WARN, f"{held}; it is stripped if nobody takes it off ({owner.why})")
    lost = _lost_workload(around)
    if owner.life is Life.GONE or lost:
        return Finding(
            "controllers",
            STOP,
            # Both: how old its Lease is decides whether it counts as gone, not whether the Deployment is missing.
            f"{held}, and its controller does not run: {'; '.join(filter(None, [lost, owner.why]))}",
            f"bring the controller back, or set force: true{'' if strips else f' and force_allow: [{name}]'} to strip "
            "the finalizer; what it would clean up outside the cluster stays",
        )
    return Finding("controllers", WARN, f"{held}; whether its controller runs is not known: {owner.why}")


def _lost_workload(around: Surroundings) -> str:
    """A workload that belongs to the application and is not there: nobody else in the cluster fits the finalizer."""
    absent = around.scheme.deletion.ground.absent if around.scheme.deletion else []
    lost = [claim for claim in absent if claim.kind in _WORKLOAD_KINDS]
    return f"{lost[0].kind} {lost[0].namespace}/{lost[0].name} belongs to it and is not there" if lost else ""


_WORKLOAD_KINDS = frozenset(resource.kind for resource in WORKLOADS)


def second_instances(around: Surroundings) -> Iterator[Finding]:
    """Another installation of the same program needs the definitions as much as this one."""
    definitions = around.takes(*CRD)
    ours = {(member.resource.kind, member.record.namespace, member.record.name) for member in around.going}
    mine = [one for one in around.owners.workloads if (one.kind, one.namespace, one.name) in ours]
    for other in around.owners.workloads if definitions else ():
        if (other.kind, other.namespace, other.name) not in ours and any(_same(one, other) for one in mine):
            yield Finding(
                "second instances",
                STOP,
                f"{other} runs the same program and may need {definitions[0].ref} as well",
                "set crds: keep, or uninstall that one first",
            )


def _same(one: Workload, other: Workload) -> bool:
    return bool(one.app and one.app == other.app and one.images & other.images)


def obstacles(around: Surroundings) -> Iterator[Finding]:
    """Webhooks, converters and API services that would stop our writes. Those in the plan itself go first."""
    kinds: set[Resource] = {member.resource for member in around.going}
    namespaces = {member.record.namespace for member in around.going}
    found = find_obstacles(kinds, namespaces, around.cluster)
    own = {member.ref.uid for member in around.going}
    for obstacle in found.found:
        yield _of(obstacle, own=obstacle.ref.uid in own)
    for text in found.unreadable:
        yield Finding("obstacles", WARN, f"could not look: {text}")
    if not found.found and not found.unreadable:
        yield Finding("obstacles", OK, "no dead webhook, converter or API service is in the way")


def _of(obstacle: Obstacle, *, own: bool) -> Finding:
    text = f"{obstacle.ref}: {obstacle.why}"
    if own:
        return Finding("obstacles", OK, f"{text}; it is in the plan itself")
    level = STOP if obstacle.certain and obstacle.kind != API_SERVICE else WARN
    return Finding("obstacles", level, text, obstacle.suggestion)


def gitops_owners(around: Surroundings) -> Iterator[Finding]:
    """Whoever owns what goes, and would bring it back. The source itself waits and goes last."""
    for pause in pauses_of(around.scheme.plan):
        yield Finding("gitops owners", OK, f"{pause.ref} waits while its objects go, and goes last")
    found = find_healers(around.going, around.cluster)
    for one in found:
        level = STOP if one.certain and around.options.gitops == "fail" else WARN
        ways = ", or ".join(filter(None, [one.way_out, "set gitops: ignore"]))
        yield Finding("gitops owners", level, one.text, ways if one.certain else "")
    if not found:
        yield Finding("gitops owners", OK, "nobody outside of the plan brings anything back")


Check = Callable[[Surroundings], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (access, what_would_go_along, controllers, gitops_owners, second_instances, obstacles)
