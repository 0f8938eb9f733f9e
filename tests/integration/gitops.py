# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owners as Argo CD and Flux have them: their kinds, their objects, what names them, and controllers that heal.

Argo CD's Application is defined as Argo CD itself defines it; definitions of the others are open ones of ours.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from integration.stage import Body, Stage, crd
from lab import modules
from lab.plane.api import Api
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

ARGO, FLUX, FLUX_HELM = "argoproj.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"
SKIP, PAUSED_FOR = "argocd.argoproj.io/skip-reconcile", "sunset.dev/paused-for"
TRACKING_ID = "argocd.argoproj.io/tracking-id"
ARGO_RELEASE = ("github.com/argoproj/argo-cd/v3", "v3.0.6")
IN_CLUSTER = {"server": "https://kubernetes.default.svc", "namespace": "default"}
SELF_HEAL = {"syncPolicy": {"automated": {"selfHeal": True}}}
KINDS = (("ApplicationSet", ARGO), ("Kustomization", FLUX), ("HelmRelease", FLUX_HELM))


@pytest.fixture(scope="session")
def gitops_kinds(plane: ControlPlane) -> None:
    for kind, group in KINDS:
        plane.api.apply_crd(crd(kind, group))
    for definition in modules.documents(*ARGO_RELEASE, "manifests/crds/application-crd.yaml"):
        plane.api.apply_crd(definition)


def owner(group: str, kind: str, name: str, namespace: str, spec: Mapping[str, Any], **metadata: Any) -> Body:
    return {
        "apiVersion": f"{group}/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": dict(spec),
    }


def application(name: str, namespace: str, spec: Mapping[str, Any] | None = None, **metadata: Any) -> Body:
    whole = {"project": "default", "destination": IN_CLUSTER, **(SELF_HEAL if spec is None else spec)}
    made = owner(ARGO, "Application", name, namespace, whole, **metadata)
    return {**made, "apiVersion": f"{ARGO}/v1alpha1"}


def tracked(route: Body, application_name: str) -> Body:
    """Of this Application, as Argo CD marks it by default."""
    group = route["apiVersion"].rpartition("/")[0]
    metadata = route["metadata"]
    place = f"{metadata['namespace']}/{metadata['name']}"
    return with_annotations(route, {TRACKING_ID: f"{application_name}:{group}/{route['kind']}:{place}"})


def labelled(route: Body, group: str, name: str, namespace: str) -> Body:
    """Of this Kustomization or HelmRelease, as Flux marks it."""
    labels = {f"{group}/name": name, f"{group}/namespace": namespace}
    return {**route, "metadata": {**route["metadata"], "labels": labels}}


def with_annotations(route: Body, annotations: Mapping[str, str]) -> Body:
    known = route["metadata"].get("annotations") or {}
    return {**route, "metadata": {**route["metadata"], "annotations": {**known, **annotations}}}


# -- controllers that heal ---------------------------------------------------------------------------------------------


class Healer:
    """Plays a controller: many times a second it looks at its owner, and does what that one wants done.

    `healed` has the names of what it made again. `waits` and `finalizer` say how its owner is paused, and by which mark
    it cleans up; `owner` is as it was created.
    """

    def __init__(
        self, api: Api, owner_object: Body, objects: Sequence[Body], waits: Callable[[Body], bool], finalizer: str
    ) -> None:
        self._api = api
        self._owner = owner_object
        self._objects = [_bare(one) for one in objects]
        self._waits = waits
        self._finalizer = finalizer
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self.healed: list[str] = []
        self.cleaned_up: list[str] = []
        self.problems: list[BaseException] = []

    def __enter__(self) -> Healer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(5)
        assert self.problems == [], self.problems

    def prove_that_it_heals(self, stage: Stage, thing: Body) -> Body:
        """Delete one of its objects as anybody could, and see it come back; as it is then."""
        self._api.delete(self._api.path_of(thing))
        name = thing["metadata"]["name"]
        back = until(lambda: self.healed and stage.find(_bare(thing)), f"{name} to come back")
        self.healed.clear()
        return dict(back)

    def _live(self) -> None:
        while not self._ended.is_set():
            try:
                self._look()
            except Exception as problem:
                self.problems.append(problem)
                return
            self._ended.wait(0.02)

    def _look(self) -> None:
        status, owner_now = self._api.get(self._api.path_of(self._owner))
        if status == 404:
            return
        assert status == 200, owner_now
        metadata = owner_now["metadata"]
        if metadata.get("deletionTimestamp"):
            if self._finalizer in (metadata.get("finalizers") or ()):
                self._end(owner_now)
        elif not self._waits(owner_now):
            for one in self._objects:
                self._heal(one)

    def _heal(self, one: Body) -> None:
        if self._api.post(self._api.path_of(one, collection=True), one)[0] != 201:
            return
        status, owner_now = self._api.get(self._api.path_of(self._owner))
        if status == 404 or self._waits(owner_now):
            # It was told while it was at it. A real one ends what it began and says so, and is waited for.
            self._api.delete(self._api.path_of(one))
        else:
            self.healed.append(one["metadata"]["name"])

    def _end(self, owner_now: Body) -> None:
        """Its owner goes: one that waits just lets it go, any other takes along what is left."""
        for one in () if self._waits(owner_now) else self._objects:
            if self._api.delete(self._api.path_of(one))[0] == 200:
                self.cleaned_up.append(one["metadata"]["name"])
        left = [name for name in owner_now["metadata"]["finalizers"] if name != self._finalizer]
        self._api.patch(self._api.path_of(self._owner), {"metadata": {"finalizers": left}})


def _bare(thing: Body) -> Body:
    """As it stands in git."""
    keep = ("name", "namespace", "labels", "annotations")
    metadata = {key: thing["metadata"][key] for key in keep if thing["metadata"].get(key)}
    return {**{key: value for key, value in thing.items() if key not in ("metadata", "status")}, "metadata": metadata}


def is_skipped(application_now: Body) -> bool:
    return bool((application_now["metadata"].get("annotations") or {}).get(SKIP) == "true")


def is_suspended(flux_object: Body) -> bool:
    return bool(flux_object["spec"].get("suspend"))
