# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Marks by which owners say "do not delete this", of every tool we know, and ours.

Room: profiles (data). An annotation or label, the values that mean keep (as a set of words, because some markers hold a
comma-separated list), and whose marker it is.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KeepMarker:
    key: str
    words: frozenset[str]
    tool: str


KEEP_MARKERS = (
    KeepMarker("sunset.dev/keep", frozenset({"true"}), "sunset.kube"),
    KeepMarker("helm.sh/resource-policy", frozenset({"keep"}), "Helm"),
    KeepMarker(
        "argocd.argoproj.io/sync-options",
        frozenset({"Delete=false", "Prune=false", "Delete=confirm", "Prune=confirm"}),
        "Argo CD",
    ),
    KeepMarker("kustomize.toolkit.fluxcd.io/prune", frozenset({"disabled"}), "Flux"),
    KeepMarker("kustomize.toolkit.fluxcd.io/reconcile", frozenset({"disabled"}), "Flux"),
    KeepMarker("kustomize.toolkit.fluxcd.io/ssa", frozenset({"Ignore"}), "Flux"),
    KeepMarker("kapp.k14s.io/delete-strategy", frozenset({"orphan"}), "kapp"),
    KeepMarker("cli-utils.sigs.k8s.io/on-remove", frozenset({"keep"}), "cli-utils"),
    KeepMarker("client.lifecycle.config.k8s.io/deletion", frozenset({"detach"}), "cli-utils"),
)
# Argo CD's consent to what `Delete=confirm` holds back.
DELETION_APPROVED = "argocd.argoproj.io/deletion-approved"
