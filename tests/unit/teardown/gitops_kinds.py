# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds of Argo CD, Flux and OLM, as a cluster in memory serves them."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS


def _kind(group: str, version: str, kind: str, namespaced: bool = True) -> Resource:
    return Resource(group, version, kind, f"{kind.lower()}s", namespaced, kind.lower(), (), VERBS)


APPLICATIONS = _kind("argoproj.io", "v1alpha1", "Application")
APPLICATION_SETS = _kind("argoproj.io", "v1alpha1", "ApplicationSet")
KUSTOMIZATIONS = _kind("kustomize.toolkit.fluxcd.io", "v1", "Kustomization")
HELM_RELEASES = _kind("helm.toolkit.fluxcd.io", "v2", "HelmRelease")
SUBSCRIPTIONS = _kind("operators.coreos.com", "v1alpha1", "Subscription")
VERSIONS = _kind("operators.coreos.com", "v1alpha1", "ClusterServiceVersion")
INSTALL_PLANS = _kind("operators.coreos.com", "v1alpha1", "InstallPlan")
OPERATOR_GROUPS = _kind("operators.coreos.com", "v1", "OperatorGroup")
CONDITIONS = _kind("operators.coreos.com", "v2", "OperatorCondition")
OPERATORS = _kind("operators.coreos.com", "v1", "Operator", False)
GITOPS = (APPLICATIONS, APPLICATION_SETS, KUSTOMIZATIONS, HELM_RELEASES)
OLM = (SUBSCRIPTIONS, VERSIONS, INSTALL_PLANS, OPERATOR_GROUPS, CONDITIONS, OPERATORS)
