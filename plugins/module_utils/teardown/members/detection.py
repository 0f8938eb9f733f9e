# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which sources know an application by this name: everything that `members` could be given for it.

Room: teardown. A few lists, all at once; a kind that is not installed costs nothing. What cannot be looked at ends the
search: the one that was not seen may own those that were.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...objects import Record, Resource, record_of
from ...problems import ENDS_THE_TASK, BadOption, CannotLook, Problem
from ...well_known import CONFIG_MAPS, NAMESPACES
from .argocd import why_elsewhere
from .flux import FLUX_GROUPS, installed_by
from .helm_releases import STORES
from .olm import COPIED_FROM
from .olm import GROUP as OLM

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_KAPP_SUFFIX = ".apps.k14s.io"


@dataclass(frozen=True)
class Candidate:
    """One source: the option `members` that names it, and its name for people."""

    source: str
    option: dict[str, Any]
    what: str
    elsewhere: bool = False  # of this name, but not about this cluster
    # Which other one of them installed it, as its own marks say, or as a HelmRelease names its Helm release.
    installed_by: str = field(default="", compare=False)


@dataclass(frozen=True)
class _Wanted:
    release: str
    namespace: str | None

    def is_here(self, *namespaces: str) -> bool:
        return self.namespace is None or self.namespace in namespaces


@dataclass(frozen=True)
class _Sighting:
    """A candidate, by what its own object is known, whom that object names as its owner, and what it installs."""

    candidate: Candidate
    key: Key
    record: Record | None = None
    installs: Key | None = None

    def installed(self, other: _Sighting) -> bool:
        """Whether the other one is what this one installed. A mark without a namespace fits any."""
        if self is other:
            return False
        named = any(
            (kind, name) == (self.key[0], self.key[2]) and namespace in ("", self.key[1])
            for kind, namespace, name in _owners_of(other)
        )
        return named or self.installs == other.key


Key = tuple[str, str, str]  # source (for Flux: the kind), namespace, name
Look = Callable[[_Wanted, "Cluster"], Iterable[_Sighting]]


def find_sources(
    release: str | None, namespace: str | None, cluster: Cluster, source: str | None = None
) -> list[Candidate]:
    """Everything of this name, strongest first: who owns another one comes before it. Nothing there: an empty list.

    With `source` only of that one, and nothing else is looked at.
    """
    if not release:
        return _bare_namespace(namespace, cluster) if namespace else []
    if not _NAME.fullmatch(release):
        raise BadOption("bad options", why=f"release: {release!r} cannot be the name of anything in a cluster")
    looks = {name: look for name, (of, look) in _LOOKS.items() if source in (None, of)}
    sightings = _look_everywhere(_Wanted(release, namespace), looks, cluster)
    return [_with_installer(sighting, sightings) for sighting in _owners_first(sightings)]


def _bare_namespace(namespace: str, cluster: Cluster) -> list[Candidate]:
    if cluster.read(NAMESPACES, "", namespace) is None:
        return []
    return [Candidate("namespace", {"namespace": namespace}, f"namespace {namespace}")]


def _look_everywhere(wanted: _Wanted, looks: Mapping[str, Look], cluster: Cluster) -> list[_Sighting]:
    seen: dict[str, list[_Sighting]] = {}
    unseen: dict[str, Problem] = {}
    lock = threading.Lock()

    def look(name: str) -> None:
        try:
            found = list(looks[name](wanted, cluster))
        except ENDS_THE_TASK:
            raise
        except Problem as problem:
            with lock:
                unseen[name] = problem
        else:
            with lock:
                seen[name] = found

    cluster.for_each(looks, look)
    if unseen:
        raise _cannot_see(wanted, {name: unseen[name] for name in looks if name in unseen}, seen)
    return [sighting for name in looks for sighting in seen[name]]


def _cannot_see(wanted: _Wanted, unseen: Mapping[str, Problem], seen: Mapping[str, list[_Sighting]]) -> CannotLook:
    found = [sighting.candidate.what for sightings in seen.values() for sighting in sightings]
    why = "; ".join(f"{name}: {problem.why}" for name, problem in unseen.items())
    return CannotLook(
        f"cannot see whether {wanted.release} belongs to",
        which=" or ".join(unseen),
        why=why + (f" (seen: {', '.join(found)})" if found else ""),
        next_step="name the source in the task, or run as a user who may look there",
    )


def _kind(kind: str, group: str, cluster: Cluster) -> Resource | None:
    resource, _warning = cluster.resolve(kind, f"{group}/", by_hand=False)
    return resource


# -- one function a source ---------------------------------------------------------------------------------------------


def _argo_applications(wanted: _Wanted, cluster: Cluster) -> Iterator[_Sighting]:
    """Mostly all in Argo CD's own namespace; what they are about says their destination."""
    for item in _namesakes(wanted, _kind("Application", "argoproj.io", cluster), cluster):
        record = record_of(item["metadata"])
        destination = (item.get("spec") or {}).get("destination") or {}
        resources = (item.get("status") or {}).get("resources") or ()
        places = {str(entry.get("namespace") or "") for entry in (destination, *resources)}
        if not wanted.is_here(record.namespace, *places):
            continue
        option = {"argocd": {"name": record.name, "namespace": record.namespace}}
        elsewhere = bool(why_elsewhere(item, cluster.endpoint))
        what = Candidate("argocd", option, f"Argo CD Application {record.place}", elsewhere)
        yield _Sighting(what, ("argocd", record.namespace, record.name), record)


def _flux_kustomizations(wanted: _Wanted, cluster: Cluster) -> Iterator[_Sighting]:
    for item in _namesakes(wanted, _kind("Kustomization", FLUX_GROUPS["Kustomization"], cluster), cluster):
        record = record_of(item["metadata"])
        target = str((item.get("spec") or {}).get("targetNamespace") or "")
        entries = ((item.get("status") or {}).get("inventory") or {}).get("entries") or ()
        places = {str(entry.get("id") or "").partition("_")[0] for entry in entries}
        if wanted.is_here(record.namespace, target, *places):
            yield _flux("Kustomization", record)


def _flux_helm_releases(wanted: _Wanted, cluster: Cluster) -> Iterator[_Sighting]:
    """By its own name, and by that of the release it installed, which may be another."""
    resource = _kind("HelmRelease", FLUX_GROUPS["HelmRelease"], cluster)
    for item in cluster.list_whole(resource) if resource else ():
        record, installed = record_of(item["metadata"]), installed_by(item)
        named = wanted.release in (record.name, installed.release)
        if named and wanted.is_here(record.namespace, installed.storage, installed.target):
            yield _flux("HelmRelease", record, ("helm", installed.storage, installed.release))


def _flux(kind: str, record: Record, installs: Key | None = None) -> _Sighting:
    option = {"flux": {"kind": kind, "name": record.name, "namespace": record.namespace}}
    what = Candidate("flux", option, f"Flux {kind} {record.place}")
    return _Sighting(what, (kind, record.namespace, record.name), record, installs)


def _olm_subscriptions(wanted: _Wanted, cluster: Cluster) -> Iterator[_Sighting]:
    """By its own name, its package's, or the installed version's; a version may be left of one that is gone."""
    if found := list(_subscriptions(wanted, cluster)):
        yield from found
        return
    resource = _kind("ClusterServiceVersion", OLM, cluster)
    for record in cluster.list(resource, wanted.namespace, f"!{COPIED_FROM}").records if resource else ():
        labelled = f"{OLM}/{wanted.release}.{record.namespace}" in record.labels
        if labelled or wanted.release in (record.name, record.name.partition(".v")[0]):
            package = wanted.release.partition(".v")[0]
            option = {"olm": {"subscription": package, "namespace": record.namespace}}
            what = Candidate("olm", option, f"what OLM Subscription {record.namespace}/{package} installed")
            yield _Sighting(what, ("olm", record.namespace, package), record)


def _subscriptions(wanted: _Wanted, cluster: Cluster) -> Iterator[_Sighting]:
    resource = _kind("Subscription", OLM, cluster)
    for item in cluster.list_whole(resource, wanted.namespace) if resource else ():
        record = record_of(item["metadata"])
        package = str((item.get("spec") or {}).get("name") or "")
        installed = str((item.get("status") or {}).get("installedCSV") or "")
        if wanted.release in (record.name, package, installed, installed.partition(".v")[0]):
            option = {"olm": {"subscription": record.name, "namespace": record.namespace}}
            what = Candidate("olm", option, f"OLM Subscription {record.place}")
            yield _Sighting(what, ("olm", record.namespace, record.name), record)


def _kapp_applications(wanted: _Wanted, cluster: Cluster) -> Iterator[_Sighting]:
    names = (wanted.release, f"{wanted.release}{_KAPP_SUFFIX}")
    records = cluster.list(CONFIG_MAPS, wanted.namespace, "kapp.k14s.io/is-app").records
    for place in sorted({record.namespace for record in records if record.name in names}):
        option = {"kapp": {"app": wanted.release, "namespace": place}}
        what = Candidate("kapp", option, f"kapp application {place}/{wanted.release}")
        yield _Sighting(what, ("kapp", place, wanted.release))


def _helm_releases(wanted: _Wanted, cluster: Cluster) -> Iterator[_Sighting]:
    selector = f"owner=helm,name={wanted.release}"
    places: set[str] = set()
    for store in STORES.values():
        places |= {record.namespace for record in cluster.list(store, wanted.namespace, selector).records}
    for place in sorted(places):
        option = {"helm": {"release": wanted.release, "namespace": place, "driver": "auto"}}
        what = Candidate("helm", option, f"Helm release {place}/{wanted.release}")
        yield _Sighting(what, ("helm", place, wanted.release))


def _namesakes(wanted: _Wanted, resource: Resource | None, cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Whole objects of this name, wherever they are: their lists are long, and few are called so."""
    if resource is None:
        return
    for record in cluster.list(resource).records:
        if record.name != wanted.release:
            continue
        item = cluster.read_whole(resource, record.namespace, record.name)
        if item is not None:
            yield item


# In the order of strength: what stands first usually installed what stands below.
_LOOKS: dict[str, tuple[str, Look]] = {
    "Argo CD Applications": ("argocd", _argo_applications),
    "Flux Kustomizations": ("flux", _flux_kustomizations),
    "Flux HelmReleases": ("flux", _flux_helm_releases),
    "OLM Subscriptions": ("olm", _olm_subscriptions),
    "kapp applications": ("kapp", _kapp_applications),
    "Helm releases": ("helm", _helm_releases),
}


# -- who owns whom -----------------------------------------------------------------------------------------------------


def _owners_first(sightings: list[_Sighting]) -> list[_Sighting]:
    """The usual order, but whoever is marked as another one's object comes after that one."""
    left = sorted(sightings, key=lambda sighting: sighting.candidate.elsewhere)
    ordered: list[_Sighting] = []
    while left:
        free = [one for one in left if not any(other.installed(one) for other in left)]
        # Marks that go round in a circle, copied by hand: the usual order has to do.
        following = (free or left)[0]
        left.remove(following)
        ordered.append(following)
    return ordered


def _with_installer(sighting: _Sighting, sightings: list[_Sighting]) -> Candidate:
    installers = [one.candidate.what for one in sightings if one.installed(sighting)]
    return replace(sighting.candidate, installed_by=installers[0] if installers else "")


def _owners_of(sighting: _Sighting) -> set[Key]:
    if sighting.record is None:
        return set()
    owners = set()
    for key, mark, place in _MARKS:
        marks = sighting.record.annotations if mark in sighting.record.annotations else sighting.record.labels
        if marks.get(mark):
            # Argo CD writes `[namespace_]application:group/Kind:…`; the others just a name.
            before, _line, name = marks[mark].partition(":")[0].rpartition("_")
            owners.add((key, before or marks.get(place, ""), name))
    return owners


# Source, the mark with the name of the owner, and the one with its namespace.
_MARKS = (
    ("argocd", "argocd.argoproj.io/tracking-id", ""),
    ("argocd", "argocd.argoproj.io/instance", ""),
    ("Kustomization", "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"),
    ("HelmRelease", "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"),
    ("helm", "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"),
)
