# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the guard of a hub says: no new addons for a cluster that leaves, nothing at all where there is no cluster.

Room: teardown (pure). Both rules take ManagedClusters as their parameters, which the API server keeps at hand itself.
The first looks at every ManagedCluster, so it is about all there are and will be. "There is none of this name" cannot
be asked that way; the second is bound to each namespace with the ManagedCluster of its name, and denies when that one
is missing.
"""

from __future__ import annotations

from typing import Any

from ...admission import is_probe, only_in, probe_rule
from ...profiles import ocm

LABEL = "sunset.dev/guard"
LEAVING = "no-new-addons-while-a-cluster-leaves.sunset.dev"
WITHOUT = "no-addons-or-works-without-a-cluster.sunset.dev"
MARK = "guarded by sunset.kube"
_CLUSTERS = {"apiVersion": f"{ocm.CLUSTERS[0]}/v1", "kind": ocm.CLUSTERS[1]}


def leaving_policy() -> dict[str, Any]:
    """Addons are denied in the namespace of a ManagedCluster that is being deleted."""
    leaves = "params.metadata.name == request.namespace && has(params.metadata.deletionTimestamp)"
    validation = {
        "expression": f"!({is_probe(LEAVING)}) && !({leaves})",
        "message": f"the cluster is leaving the hub, so it gets no new addons ({MARK})",
        "reason": "Forbidden",
    }
    # A rule that cannot be evaluated must not hold up anybody.
    return _policy(LEAVING, "Ignore", [_creation_of(ocm.ADDONS[0], ocm.ADDON_PLURAL)], validation)


def leaving_binding() -> dict[str, Any]:
    return _binding(LEAVING, LEAVING, {"selector": {}, "parameterNotFoundAction": "Allow"})


def without_policy() -> dict[str, Any]:
    """Addons and works are denied where the ManagedCluster that the binding names is missing."""
    validation = {
        "expression": f"!({is_probe(WITHOUT)})",
        "message": f"there is no ManagedCluster for this namespace ({MARK})",
        "reason": "Forbidden",
    }
    rules = [_creation_of(ocm.ADDONS[0], ocm.ADDON_PLURAL), _creation_of(ocm.WORKS[0], ocm.WORK_PLURAL)]
    # "Ignore" would also ignore that the parameter is missing, which is what this is about.
    return _policy(WITHOUT, "Fail", rules, validation)


def without_binding(namespace: str) -> dict[str, Any]:
    wanted = {"name": namespace, "parameterNotFoundAction": "Deny"}
    return _binding(binding_name(namespace), WITHOUT, wanted, matchResources=only_in([namespace]))


def binding_name(namespace: str) -> str:
    return f"{namespace}.{WITHOUT}"


def bound_namespace(binding: str) -> str:
    """The namespace a binding of ours is about; empty for others."""
    namespace, _dot, policy = binding.partition(".")
    return namespace if policy == WITHOUT else ""


def _policy(name: str, on_error: str, rules: list[dict[str, Any]], validation: dict[str, str]) -> dict[str, Any]:
    return {
        "metadata": _metadata(name),
        "spec": {
            "failurePolicy": on_error,
            "paramKind": _CLUSTERS,
            "matchConstraints": {"resourceRules": [*rules, probe_rule(name)]},
            "validations": [validation],
        },
    }


def _binding(name: str, policy: str, params: dict[str, Any], **more: Any) -> dict[str, Any]:
    spec = {"policyName": policy, "validationActions": ["Deny"], "paramRef": params, **more}
    return {"metadata": _metadata(name), "spec": spec}


def _metadata(name: str) -> dict[str, Any]:
    return {"name": name, "labels": {LABEL: "true"}}


def _creation_of(group: str, plural: str) -> dict[str, Any]:
    return {"apiGroups": [group], "apiVersions": ["*"], "resources": [plural], "operations": ["CREATE"]}
