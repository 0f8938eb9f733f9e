# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who stands behind a finalizer, and is he alive? From Leases, workloads, field managers, rights, releases, webhooks.

Room: teardown (pure); owner_facts.py looks. All of it is a hint but one thing: a fresh Lease or a running workload that
fits proves life. Not finding an owner proves nothing, but of products that always run beside their objects
(profiles/at_home.py), and `gone` is said only where nothing speaks against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..objects import Resource
from ..profiles.at_home import AT_HOME, BY_PODS
from ..profiles.built_in_groups import BUILT_IN_GROUPS
from ..profiles.field_managers import TOOLS
from .catalogue import controllers_behind, known
from .owner_facts import Around, Lease, Life, Owner, OwnerFacts, Release, Workload, fetch_owner_facts

__all__ = [
    "Around",
    "Lease",
    "Life",
    "Owner",
    "OwnerFacts",
    "Workload",
    "fetch_owner_facts",
    "is_a_controller",
    "is_of_the_kind",
    "judge_owner",
]


@dataclass(frozen=True)
class _Traces:
    """Everything that may tell who the owner of one finalizer is."""

    finalizer: str
    names: frozenset[str]  # that he goes by, for sure
    named: Sequence[Workload]  # workloads that go by such a name
    leases: Sequence[Lease]
    behind: Sequence[Workload]  # workloads that may change this kind by name, if the finalizer is of the kind itself
    release: Release | None = None  # which the kind's definition is from
    released: Sequence[Workload] = ()  # its workloads
    hook: str = ""  # a webhook of the kind that answers
    kind: str = ""


def judge_owner(
    finalizer: str,
    managers: Sequence[str],
    facts: OwnerFacts,
    kind: Resource | None = None,
    namespace: str = "",
) -> Owner:
    """The likely owner of a finalizer that these field managers set, and whether he lives.

    `kind` and `namespace` are those of the object; they count where `facts` has something `around`.
    """
    entry = known(finalizer)
    if entry and entry.owner in BY_PODS:
        return Owner(Life.UNKNOWN, "", BY_PODS[entry.owner])
    traces = _traces(finalizer, managers, facts, kind, namespace)
    return _alive(traces) or _gone_or_not(traces, facts, kind, namespace) or _not_found(traces, facts)


def _traces(
    finalizer: str, managers: Sequence[str], facts: OwnerFacts, kind: Resource | None, namespace: str
) -> _Traces:
    names = controller_names(finalizer, managers, kind)
    workloads, leases = candidates(finalizer, managers, facts, kind)
    plain = _Traces(finalizer, frozenset(names), workloads, leases, ())
    around = facts.around
    if around is None or kind is None or not is_of_the_kind(finalizer, kind):
        return plain
    release = around.releases.get(kind.qualified)
    return _Traces(
        *(finalizer, frozenset(names), workloads, leases),
        behind=_changers(facts, around, kind, namespace, by_name=True),
        release=release,
        released=[workload for workload in facts.workloads if release and workload.release == release],
        hook=around.hooks.get(kind.qualified, ""),
        kind=kind.qualified,
    )


def _changers(facts: OwnerFacts, around: Around, kind: Resource, namespace: str, *, by_name: bool) -> list[Workload]:
    permits = around.permits.to_change(kind, namespace)
    accounts = {permit.account for permit in permits if permit.by_name or not by_name}
    return [workload for workload in facts.workloads if workload.account in accounts]


def is_of_the_kind(finalizer: str, kind: Resource) -> bool:
    """Whether a kind's own controller has put it there, by its domain. On a kind of Kubernetes anybody may have."""
    domain, group = finalizer.partition("/")[0].lower(), kind.group
    if group in BUILT_IN_GROUPS or "." not in domain or domain in _EVERYBODYS:
        return False
    return domain == group or domain.endswith(f".{group}") or group.endswith(f".{domain}")


_EVERYBODYS = frozenset({"k8s.io", "x-k8s.io", "kubernetes.io", "openshift.io", "cattle.io", "coreos.com"})


# -- alive -------------------------------------------------------------------------------------------------------------


def _alive(traces: _Traces) -> Owner | None:
    for lease in traces.leases:
        if lease.fresh:
            why = f"{lease} was renewed {max(0.0, lease.age):.0f} s ago by {lease.holder}"
            return Owner(Life.ALIVE, str(lease), why, lease.namespace)
    for workload in traces.named:
        if workload.available:
            return _running(workload, "")
    if traces.named or traces.leases:
        return None  # who goes by the right name and is down says more than who might also be the one
    for workload in traces.behind:
        if workload.available:
            return _running(workload, f", and it may change {traces.kind}")
    if len(traces.released) == 1 and traces.released[0].available:
        return _running(traces.released[0], f"; {traces.kind} is from the same Helm release")
    if traces.hook and not traces.behind and not traces.released:
        return Owner(Life.ALIVE, traces.hook.partition(",")[0], traces.hook)
    return None


def _running(workload: Workload, more: str) -> Owner:
    why = f"{workload} has {workload.available} of {workload.wanted} replicas available{more}"
    return Owner(Life.ALIVE, str(workload), why, workload.namespace)


# -- gone, or not for sure ---------------------------------------------------------------------------------------------


def _gone_or_not(traces: _Traces, facts: OwnerFacts, kind: Resource | None, namespace: str) -> Owner | None:
    found = _down(traces)
    if found is None:
        return None
    doubt, starting = _doubt(traces, facts, kind, namespace), _starting(traces) if facts.around else None
    if starting and not facts.unreadable:
        since = "" if starting.down_for is None else f"only for {starting.down_for:.0f} s: "
        why = f"{found.why}, but {since}{starting} may be starting"
        return Owner(Life.UNKNOWN, found.who, why, found.namespace, starting=True)
    if doubt:
        return Owner(Life.UNKNOWN, found.who, f"{found.why}, but {doubt}", found.namespace, starting=found.starting)
    return found


def _starting(traces: _Traces) -> Workload | None:
    """A controller that restarts, moves to another node or was just brought back is not gone."""
    return next((one for one in (*traces.named, *traces.behind, *traces.released) if one.may_be_starting), None)


def _down(traces: _Traces) -> Owner | None:
    """What speaks for his end."""
    recent = next((lease for lease in traces.leases if not lease.expired), None)
    if recent:
        why = f"{recent} was last renewed {recent.ago} ago"
        return Owner(Life.UNKNOWN, str(recent), why, recent.namespace, starting=True)
    if traces.named:
        first = traces.named[0]
        return Owner(Life.GONE, str(first), f"{first} has no available replica", first.namespace)
    if traces.leases:
        lease = traces.leases[0]
        return Owner(Life.GONE, str(lease), f"{lease} was last renewed {lease.ago} ago", lease.namespace)
    if traces.behind:
        first = traces.behind[0]
        why = f"{first}, which may change {traces.kind}, has no available replica"
        return Owner(Life.GONE, str(first), why, first.namespace)
    if traces.released and not any(workload.available for workload in traces.released):
        first = traces.released[0]
        why = f"{first}, from the same Helm release as {traces.kind}, has no available replica"
        return Owner(Life.GONE, str(first), why, first.namespace)
    return None


def _doubt(traces: _Traces, facts: OwnerFacts, kind: Resource | None, namespace: str) -> str:
    """What speaks against it."""
    unread = [*facts.unreadable]
    if facts.around and not traces.named:
        unread += facts.around.permits.unreadable
    if unread:
        return "could not look: " + "; ".join(unread)
    another = next((workload for workload in traces.behind if workload.available), None)
    if another and kind:
        return f"{another} runs and may change {kind.qualified}"
    return _runs_beside(traces, facts, kind, namespace) if kind and traces.leases and not traces.named else ""


def _runs_beside(traces: _Traces, facts: OwnerFacts, kind: Resource, namespace: str) -> str:
    """A Lease may be left from an older version that had another one: who runs beside it may be the owner."""
    lease = traces.leases[0]
    beside = [one for one in facts.workloads if one.available and one.namespace == lease.namespace]
    if kind.group in BUILT_IN_GROUPS:
        # Nearly everybody may change these, so rights tell nothing. A Lease of the owner's own name needs no doubt.
        sure = bool(_lease_names(lease) & traces.names)
        return f"{beside[0]} runs beside it" if beside and not sure else ""
    changers = _changers(facts, facts.around, kind, namespace, by_name=False) if facts.around else []
    another = next((one for one in beside if one in changers), None)
    return f"{another} runs and may change {kind.qualified}" if another else ""


def _not_found(traces: _Traces, facts: OwnerFacts) -> Owner:
    who = " or ".join(sorted(traces.names))
    if facts.unreadable:
        return Owner(Life.UNKNOWN, "", "could not look: " + "; ".join(facts.unreadable), unseen=True)
    why = f"no workload or Lease fits {who or traces.finalizer}"
    running = [str(workload) for workload in traces.released if workload.available]
    entry = known(traces.finalizer)
    if entry and entry.owner in AT_HOME and not running:
        return Owner(Life.GONE, who, f"{entry.owner} is not in the cluster: {why}")
    if traces.release:
        named = f"Helm release {'/'.join(traces.release)}, which {traces.kind} is from"
        left = f"{named}, runs {', '.join(running[:_MOST_NAMED])}" if running else f"{named}, has no workload here"
        return Owner(Life.UNKNOWN, who or f"Helm release {'/'.join(traces.release)}", f"{why}; {left}")
    return Owner(Life.UNKNOWN, who, why)


_MOST_NAMED = 3


# -- names -------------------------------------------------------------------------------------------------------------


def controller_names(finalizer: str, managers: Sequence[str], kind: Resource | None = None) -> set[str]:
    """Names by which the controller is known, from the catalogue and from who set the finalizer."""
    names = {manager.lower() for manager in managers if is_a_controller(manager)}
    return names | set(_catalogued(finalizer, kind))


def is_a_controller(manager: str) -> bool:
    """Whether a field manager tells which program it is: neither a person's tool, nor a name that all programs use."""
    return not TOOLS.fullmatch(manager.lower()) and manager.lower() not in _TOO_COMMON


def _catalogued(finalizer: str, kind: Resource | None) -> tuple[str, ...]:
    return controllers_behind(finalizer, kind.qualified if kind else "")


def candidates(
    finalizer: str, managers: Sequence[str], facts: OwnerFacts, kind: Resource | None = None
) -> tuple[list[Workload], list[Lease]]:
    """Everybody who may stand behind a finalizer. Of several whom the catalogue names, the one who has set it."""
    hints = {manager.lower() for manager in managers} & set(_catalogued(finalizer, kind))
    workloads = [workload for workload in facts.workloads if hints & workload.names]
    if not workloads:
        hints = controller_names(finalizer, managers, kind) | _words(finalizer)
        workloads = [workload for workload in facts.workloads if hints & workload.names]
    return workloads, [lease for lease in facts.leases if _is_lease_of(lease, finalizer, hints, workloads)]


def _words(finalizer: str) -> set[str]:
    """Names a controller of this finalizer would likely have: `shop.example.com/cleanup` → shop-operator …

    Not plain `shop`: that is as likely the application itself.
    """
    domain = finalizer.partition("/")[0].lower()
    first = domain.partition(".")[0]
    if "." not in domain or first in _TOO_COMMON:
        return set()
    return {f"{first}{tail}" for tail in ("-operator", "-controller", "-controller-manager", "-manager")}


_TOO_COMMON = frozenset(
    {"finalizer", "finalizers", "k8s", "kubernetes", "apps", "app", "controller", "operator", "manager", "main", "www"}
)


def _is_lease_of(lease: Lease, finalizer: str, hints: set[str], workloads: Sequence[Workload]) -> bool:
    domain = finalizer.partition("/")[0].lower()
    name = lease.name.lower()
    named_after_controller = bool(_lease_names(lease) & hints)
    # Frameworks name leader leases "<id>.<domain>"; holders begin with the pod's, and so with the workload's name.
    named_after_domain = "." in domain and (name == domain or name.endswith("." + domain))
    held_by = any(
        lease.namespace == workload.namespace and lease.holder.startswith(workload.name + "-") for workload in workloads
    )
    return named_after_controller or named_after_domain or held_by


def _lease_names(lease: Lease) -> set[str]:
    """Controllers that would call their leader Lease so: `shop-operator-leader` is of shop-operator."""
    name = lease.name.lower()
    return {name, *(name.removesuffix(tail) for tail in _LEADER_TAILS if name.endswith(tail))}


_LEADER_TAILS = ("-leader", "-leader-election", "-leader-elect", "-lock")
