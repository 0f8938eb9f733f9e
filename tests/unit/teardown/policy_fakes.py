# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admission policies that take effect in a cluster in memory: as far as probes can tell."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import Answer
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.tests.unit.fakes import Call, refusal
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import InMemoryCluster, a_kind

_GROUP = "admissionregistration.k8s.io"
POLICIES = a_kind(_GROUP, "ValidatingAdmissionPolicy", "validatingadmissionpolicies", False)
BINDINGS = a_kind(_GROUP, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", False)


class PoliciesWork(InMemoryCluster):
    """A probe is denied while its policy is bound."""

    freeze_works = True

    def __init__(self, *resources: Resource) -> None:
        super().__init__(*resources)
        self.server.meddlers.append(self._deny)

    def _deny(self, call: Call) -> Answer | None:
        frozen = call.name.removesuffix("-probe")
        bound = {thing["spec"]["policyName"] for key, thing in self.objects.items() if key[1] == BINDINGS.plural}
        if call.verb != "create" or call.name == frozen or frozen not in bound or not self.freeze_works:
            return None
        said = self.objects[POLICIES.group, POLICIES.plural, "", frozen]["spec"]["validations"][0]["message"]
        return refusal(403, "Forbidden", f"ValidatingAdmissionPolicy '{frozen}' denied request: {said}")
