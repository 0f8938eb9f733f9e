# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tools that put back what they find changed: how an object says that it is theirs, and how each is asked to wait.

Room: profiles (data). A new tool is one entry. Places in objects are JSON pointers; None stands for "nothing is there".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sign:
    """How an object names its owner. `how` is a way of reading it; see gitops/healers.py."""

    how: str
    keys: tuple[str, ...]
    # Others use this mark, too: it says something only where such an owner exists.
    ambiguous: bool = False


@dataclass(frozen=True)
class Quiet:
    """When the owner leaves its objects as they are: one of these values stands there."""

    pointer: str
    values: tuple[Any, ...]
    why: str


@dataclass(frozen=True)
class Generator:
    """Who makes owners, and takes off them what is not in the template."""

    group: str
    kind: str
    preserves: str  # where the annotations stand that it leaves alone
    mode: str  # where it says how much it changes at all
    hands_off: tuple[str, ...]  # ways in which it changes nothing


@dataclass(frozen=True)
class Retirement:
    """How an owner is treated when everything it owns is taken away, and it goes last itself."""

    # A merge patch that makes it wait, and the value that shows that it does.
    patch: Mapping[str, Any]
    waits_when: tuple[str, Any]
    # Finalizers (globs) by which it would clean up after itself. We do; what we keep must not be taken by it.
    gives_up: tuple[str, ...]
    # A condition that is true as long as it works on something it began before; it ends that although it waits.
    busy: str = ""
    # Where it says that it works on something, which it would never end once it waits: waited for before.
    ends_first: tuple[str, str] | None = None
    way_back: str = ""  # for people, when the run ends early; {name} and {namespace} are the owner's


@dataclass(frozen=True)
class GitopsOwner:
    tool: str
    group: str
    kind: str
    signs: tuple[Sign, ...]
    quiet: tuple[Quiet, ...] = ()
    # Annotations of the object itself by which the tool leaves it alone: key, values.
    left_alone: tuple[tuple[str, tuple[str, ...]], ...] = ()
    # How we ask it to wait: an annotation on the object, or on the owner. Neither: only people can.
    pause_object: tuple[str, str] | None = None
    pause_owner: tuple[str, str] | None = None
    # Where the owner lists what is its own, to tell namesakes apart.
    lists: str = ""
    # Where the owner keeps the mark that its objects carry, if that is not its name.
    marks_with: str = ""
    generator: Generator | None = None
    retirement: Retirement | None = field(default=None, hash=False)
    way_out: str = ""  # for people; {name} and {namespace} are the owner's


_SKIP_RECONCILE = "argocd.argoproj.io/skip-reconcile"


def _suspended(kind: str) -> Retirement:
    return Retirement(
        {"spec": {"suspend": True}},
        ("/spec/suspend", True),
        ("finalizers.fluxcd.io",),
        busy="Reconciling",
        way_back=f"flux resume {kind} {{name}} -n {{namespace}}",
    )


GITOPS_OWNERS: tuple[GitopsOwner, ...] = (
    GitopsOwner(
        "Argo CD",
        "argoproj.io",
        "Application",
        signs=(
            Sign("tracking-id", ("argocd.argoproj.io/tracking-id",)),
            Sign("instance", ("argocd.argoproj.io/instance",)),
            # Every Helm chart sets this one.
            Sign("instance", ("app.kubernetes.io/instance",), ambiguous=True),
        ),
        quiet=(
            Quiet("/metadata/annotations/argocd.argoproj.io~1skip-reconcile", ("true",), "it is paused"),
            Quiet("/spec/syncPolicy/automated", (None,), "it only syncs when told to"),
            Quiet("/spec/syncPolicy/automated/enabled", (False,), "its automated sync is off"),
            Quiet("/spec/syncPolicy/automated/selfHeal", (None, False), "its self-heal is off; the next commit syncs"),
        ),
        pause_owner=(_SKIP_RECONCILE, "true"),
        lists="/status/resources",
        generator=Generator(
            "argoproj.io",
            "ApplicationSet",
            preserves="/spec/preservedFields/annotations",
            mode="/spec/syncPolicy/applicationsSync",
            hands_off=("create-only", "create-delete"),
        ),
        retirement=Retirement(
            {"metadata": {"annotations": {_SKIP_RECONCILE: "true"}}},
            ("/metadata/annotations/argocd.argoproj.io~1skip-reconcile", "true"),
            # While it waits it does not look at its finalizers either.
            ("resources-finalizer.argocd.argoproj.io*",),
            ends_first=("/status/operationState/phase", "Running"),
            way_back=f"kubectl annotate application {{name}} -n {{namespace}} {_SKIP_RECONCILE}-",
        ),
        way_out=f"kubectl annotate application {{name}} -n {{namespace}} {_SKIP_RECONCILE}=true",
    ),
    GitopsOwner(
        "Flux",
        "kustomize.toolkit.fluxcd.io",
        "Kustomization",
        signs=(Sign("labels", ("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace")),),
        quiet=(Quiet("/spec/suspend", (True,), "it is suspended"),),
        left_alone=(
            ("kustomize.toolkit.fluxcd.io/reconcile", ("disabled",)),
            ("kustomize.toolkit.fluxcd.io/ssa", ("Ignore", "IfNotPresent")),
        ),
        pause_object=("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
        retirement=_suspended("kustomization"),
        way_out="flux suspend kustomization {name} -n {namespace}",
    ),
    GitopsOwner(
        "Flux",
        "helm.toolkit.fluxcd.io",
        "HelmRelease",
        signs=(Sign("labels", ("helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace")),),
        quiet=(
            Quiet("/spec/suspend", (True,), "it is suspended"),
            Quiet(
                "/spec/driftDetection/mode",
                (None, "disabled", "warn"),
                "it does not correct drift; the next upgrade does",
            ),
        ),
        left_alone=(("helm.toolkit.fluxcd.io/driftDetection", ("disabled",)),),
        pause_object=("helm.toolkit.fluxcd.io/driftDetection", "disabled"),
        retirement=_suspended("helmrelease"),
        way_out="flux suspend helmrelease {name} -n {namespace}",
    ),
    GitopsOwner(
        "Fleet",
        "fleet.cattle.io",
        "Bundle",
        signs=(Sign("object-set", ("objectset.rio.cattle.io/id", "objectset.rio.cattle.io/owner-gvk")),),
        quiet=(
            Quiet("/spec/paused", (True,), "it is paused"),
            Quiet("/spec/correctDrift/enabled", (None, False), "it does not correct drift; the next commit does"),
        ),
        way_out="pause its GitRepo",
    ),
    GitopsOwner(
        "Config Sync",
        "configsync.gke.io",
        "RootSync",
        signs=(
            Sign("annotations", ("configmanagement.gke.io/sync-name", "configmanagement.gke.io/sync-namespace")),
            Sign("managed", ("configmanagement.gke.io/managed", "configsync.gke.io/manager")),
        ),
        left_alone=(
            ("configmanagement.gke.io/managed", ("disabled",)),
            ("client.lifecycle.config.k8s.io/mutation", ("ignore",)),
        ),
        way_out="annotate the route in its repository with client.lifecycle.config.k8s.io/mutation: ignore",
    ),
    GitopsOwner(
        "kapp-controller",
        "kappctrl.k14s.io",
        "App",
        # kapp itself, run by people, marks objects alike and does not come back to them.
        signs=(Sign("label", ("kapp.k14s.io/app",), ambiguous=True),),
        quiet=(
            Quiet("/spec/paused", (True,), "it is paused"),
            Quiet("/spec/canceled", (True,), "it is cancelled"),
        ),
        marks_with="/status/deploy/kapp/associatedResources/label",
        way_out="kctrl app pause -a {name} -n {namespace}",
    ),
    GitopsOwner(
        "Open Cluster Management",
        "work.open-cluster-management.io",
        "AppliedManifestWork",
        signs=(Sign("owner", ("work.open-cluster-management.io", "AppliedManifestWork")),),
        way_out="take the route out of its ManifestWork, or set that one's update strategy to CreateOnly",
    ),
)
