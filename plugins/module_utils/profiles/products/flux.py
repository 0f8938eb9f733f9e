# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flux 2: all its controllers use one finalizer name.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "flux",
    "title": "Flux",
    "finalizers": ["finalizers.fluxcd.io"],
    # What uses a source goes before the source.
    "operator_kinds": [
        {"group": "kustomize.toolkit.fluxcd.io", "kind": "Kustomization"},
        {"group": "helm.toolkit.fluxcd.io", "kind": "HelmRelease"},
        {"group": "image.toolkit.fluxcd.io", "kind": "ImageUpdateAutomation"},
        {"group": "image.toolkit.fluxcd.io", "kind": "ImagePolicy"},
        {"group": "image.toolkit.fluxcd.io", "kind": "ImageRepository"},
        {"group": "notification.toolkit.fluxcd.io", "kind": "Receiver"},
        # Not every release puts a finalizer on these two.
        {"group": "notification.toolkit.fluxcd.io", "kind": "Alert"},
        {"group": "notification.toolkit.fluxcd.io", "kind": "Provider"},
        {"group": "source.toolkit.fluxcd.io", "kind": "HelmChart"},
        {"group": "source.toolkit.fluxcd.io", "kind": "GitRepository"},
        {"group": "source.toolkit.fluxcd.io", "kind": "OCIRepository"},
        {"group": "source.toolkit.fluxcd.io", "kind": "HelmRepository"},
        {"group": "source.toolkit.fluxcd.io", "kind": "Bucket"},
    ],
    "workloads": ["app.kubernetes.io/part-of=flux"],
    "notes": [
        "Deleting a Kustomization with prune deletes what it applied; deleting a HelmRelease uninstalls it.",
        "Taking the finalizer off first, or suspending the object, keeps the workloads.",
        "A Kustomization that contains others makes them again: start with the outermost.",
    ],
}
