# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where an application comes from: the record that says what belongs to it.

Room: teardown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...problems import Refused
from ..drain.options import AUTO
from ..members.detection import Candidate, find_sources
from .options import UninstallOptions

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

# Their objects mostly lie elsewhere than the application.
_OWNERS = frozenset({"flux", "argocd", "olm"})


def find_origin(options: UninstallOptions, cluster: Cluster) -> Candidate | None:
    """The source the task names, or the one there is. Where nothing is found, the most likely one: it says so.

    None: nothing of that name is there, and the task does not say where it should be.
    """
    if options.manifests:
        return _manifests(options)
    if options.source == "namespace" or not options.release:
        return Candidate("namespace", {"namespace": options.namespace}, f"namespace {options.namespace}")
    if options.source not in (AUTO, *_OWNERS):
        return _named(options.source, options)
    source = None if options.source == AUTO else options.source
    fitting = find_sources(options.release, options.namespace or None, cluster, source)
    if not fitting:
        return _nothing_found(options)
    return _the_one_meant([one for i, one in enumerate(fitting) if one not in fitting[:i]], options)


def _the_one_meant(fitting: list[Candidate], options: UninstallOptions) -> Candidate:
    """The one that none of the others installed. One of several equals only if it lies where the task says."""
    # Marks in a circle: then none of them is the first.
    roots = [one for one in fitting if not one.installed_by] or fitting
    first = roots[0]
    if any(one.source != first.source for one in roots):
        raise _ambiguous(options, roots, f"source: {first.source}")
    alike = [one for one in roots if one.elsewhere == first.elsewhere]
    right_here = [one for one in alike if _place(one)[1] == options.namespace] if len(alike) > 1 else alike
    if len(right_here) == 1:
        return right_here[0]
    name, namespace = _place(first)
    called = f"release: {name} and " if name != options.release else ""
    example = f"{called}namespace: {namespace}"
    if first.source == "flux" and len(right_here) > 1:
        example = f"members.flux.kind: {first.option['flux']['kind']} of the module ranked_delete"
    raise _ambiguous(options, alike, example)


def _place(candidate: Candidate) -> tuple[str, str]:
    value = candidate.option[candidate.source]
    word, _title = _WORDS.get(candidate.source, ("name", ""))
    return str(value[word]), str(value["namespace"])


def _ambiguous(options: UninstallOptions, found: list[Candidate], example: str) -> Refused:
    there = "are both there" if len(found) == 2 else "are there"
    return Refused(
        f"more than one thing is called {options.release}",
        why=f"{' and '.join(one.what for one in found)} {there}",
        next_step=f"say which, for example {example}; nothing was changed",
    )


def _manifests(options: UninstallOptions) -> Candidate:
    sources = options.manifests if isinstance(options.manifests, list) else [options.manifests]
    value: dict[str, Any] = {"sources": sources}
    if options.namespace:
        value["namespace"] = options.namespace
    return Candidate("manifests", {"manifests": value}, "manifests")


def _named(source: str, options: UninstallOptions) -> Candidate:
    word, title = _WORDS[source]
    value = {word: options.release, "namespace": options.namespace}
    if source == "helm":
        value["driver"] = "auto"
    return Candidate(source, {source: value}, f"{title} {options.namespace}/{options.release}")


_WORDS = {
    "helm": ("release", "Helm release"),
    "kapp": ("app", "kapp application"),
    "argocd": ("name", "Argo CD Application"),
    "olm": ("subscription", "OLM Subscription"),
}


def _nothing_found(options: UninstallOptions) -> Candidate | None:
    if options.source == "flux":
        value = {"kind": "HelmRelease", "name": options.release, "namespace": options.namespace}
        return Candidate("flux", {"flux": value}, f"Flux HelmRelease {options.namespace}/{options.release}")
    if options.source in _OWNERS:
        return _named(options.source, options)  # whoever names an owner does not mean a Helm release of that name
    return _named("helm", options) if options.namespace else None
