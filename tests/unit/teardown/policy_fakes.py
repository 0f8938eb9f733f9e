# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admission policies that take effect in a cluster in memory: as far as probes can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.kube.writes import Effect, Written
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import FakeCluster, api_error

_GROUP = "admissionregistration.k8s.io"


def _kind(kind: str, plural: str) -> Resource:
    return Resource(_GROUP, "v1", kind, plural, False, kind.lower(), (), VERBS)


POLICIES = _kind("ValidatingAdmissionPolicy", "validatingadmissionpolicies")
BINDINGS = _kind("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings")


class PoliciesWork(FakeCluster):
    """A probe is denied while its policy is bound."""

    freeze_works = True

    def create(self, resource: Resource, namespace: str, item: Mapping[str, Any], *, dry_run: bool = False) -> Written:
        name = item["metadata"]["name"]
        frozen = name.removesuffix("-probe")
        bound = {thing["spec"]["policyName"] for key, thing in self.objects.items() if key[1] == BINDINGS.plural}
        if name != frozen and frozen in bound and self.freeze_works:
            policy = self.objects[POLICIES.group, POLICIES.plural, "", frozen]
            said = policy["spec"]["validations"][0]["message"]
            problem = api_error(403, "Forbidden", f"ValidatingAdmissionPolicy '{frozen}' denied request: {said}")
            return Written(Effect.REFUSED, problem=problem)
        return super().create(resource, namespace, item, dry_run=dry_run)
