# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flux 2: one finalizer name for all controllers but source-watcher, which is part of Flux from 2.7 on.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any


def _kind(group: str, kind: str, controller: str) -> dict[str, Any]:
    """With the one controller of Flux that takes the finalizer off this kind."""
    label = f"app.kubernetes.io/part-of=flux,app.kubernetes.io/component={controller}"
    return {"group": group, "kind": kind, "finalized_by": [label]}


# What uses a source goes before the source.
_KINDS = [
    _kind("kustomize.toolkit.fluxcd.io", "Kustomization", "kustomize-controller"),
    _kind("helm.toolkit.fluxcd.io", "HelmRelease", "helm-controller"),
    _kind("image.toolkit.fluxcd.io", "ImageUpdateAutomation", "image-automation-controller"),
    _kind("image.toolkit.fluxcd.io", "ImagePolicy", "image-reflector-controller"),
    _kind("image.toolkit.fluxcd.io", "ImageRepository", "image-reflector-controller"),
    _kind("notification.toolkit.fluxcd.io", "Receiver", "notification-controller"),
    # Not every release puts a finalizer on these two.
    _kind("notification.toolkit.fluxcd.io", "Alert", "notification-controller"),
    _kind("notification.toolkit.fluxcd.io", "Provider", "notification-controller"),
    _kind("source.extensions.fluxcd.io", "ArtifactGenerator", "source-watcher"),
    _kind("source.toolkit.fluxcd.io", "HelmChart", "source-controller"),
    _kind("source.toolkit.fluxcd.io", "GitRepository", "source-controller"),
    _kind("source.toolkit.fluxcd.io", "OCIRepository", "source-controller"),
    _kind("source.toolkit.fluxcd.io", "HelmRepository", "source-controller"),
    _kind("source.toolkit.fluxcd.io", "Bucket", "source-controller"),
]

PROFILE: dict[str, Any] = {
    "name": "flux",
    "title": "Flux",
    "checked": [
        {"version": "2.7.0", "how": ["source read"]},
        {"version": "2.9.4", "how": ["source read"]},
        {"version": "2.9.5", "how": ["source read", "CRDs applied", "controller run"]},
    ],
    "finalizers": ["finalizers.fluxcd.io", "source.extensions.fluxcd.io/finalizer"],
    "operator_kinds": _KINDS,
    "workloads": ["app.kubernetes.io/part-of=flux"],
    "notes": [
        "Deleting a Kustomization with prune deletes what it applied; deleting a HelmRelease uninstalls it.",
        "Taking the finalizer off first, or suspending the object, keeps the workloads.",
        "A Kustomization that contains others makes them again: start with the outermost.",
    ],
}
