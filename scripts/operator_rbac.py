# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's rights, made from what the collection knows: profiles, kinds of routes, owners, and the tables below.

By default it may read, except for Secrets, and look after its own kinds. What it may do to other things is given by
feature: one ClusterRole each in operator/config/rights, whose label adds it to what the operator may do. No rule has a
star, and none lets anybody gain rights they do not have. Those that come close, because whoever writes Deployments runs
what they like with any ServiceAccount beside them, are also in operator/config/rights-namespaced, for some namespaces.

Run: python3 scripts/inside.py python scripts/operator_rbac.py (with --check it only says what is out of date)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import operator_crds
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import NO_PAGES, ROUTE_KINDS
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster import kinds as nmstate
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.plugins.module_utils.profiles.built_in_groups import BUILT_IN_GROUPS
from ansible_collections.sunset.kube.plugins.module_utils.profiles.gitops_owners import GITOPS_OWNERS
from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_products import PRODUCTS
from ansible_collections.sunset.kube.plugins.module_utils.profiles.route_kinds import ROUTE_KINDS as ALL_ROUTES
from checkout import ROOT
from made_files import write_or_check

CONFIG = ROOT / "operator" / "config"
AGGREGATE = {"sunset.dev/aggregate-to-operator": "true"}
NAME = {"app.kubernetes.io/name": "sunset-operator"}
READ = ("get", "list", "watch")
ALL = "*"
MAKE = ("create", "patch", "delete")

Kind = tuple[str, str]  # group and kind, or group and plural

ADMISSION = "admissionregistration.k8s.io"
RBAC = "rbac.authorization.k8s.io"
POLICIES: tuple[Kind, ...] = (
    (ADMISSION, "ValidatingAdmissionPolicy"),
    (ADMISSION, "ValidatingAdmissionPolicyBinding"),
)
WEBHOOKS: tuple[Kind, ...] = (
    (ADMISSION, "ValidatingWebhookConfiguration"),
    (ADMISSION, "MutatingWebhookConfiguration"),
)
ROLES: tuple[Kind, ...] = ((RBAC, "Role"), (RBAC, "RoleBinding"), (RBAC, "ClusterRole"), (RBAC, "ClusterRoleBinding"))
DEFINITIONS: tuple[Kind, ...] = (
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
)
SCALABLE: tuple[Kind, ...] = (("apps", "Deployment"), ("apps", "StatefulSet"))

# Beyond what the role "view" sees: what holds things, what depends on them, who owns them.
ALSO_READ: tuple[Kind, ...] = (
    ("", "Node"),
    ("", "PersistentVolume"),
    ("", "PodTemplate"),
    (ADMISSION, "MutatingAdmissionPolicy"),
    (ADMISSION, "MutatingAdmissionPolicyBinding"),
    *POLICIES,
    *WEBHOOKS,
    *ROLES,
    *DEFINITIONS,
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("coordination.k8s.io", "Lease"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "ResourceClaim"),
    ("resource.k8s.io", "ResourceClaimTemplate"),
    ("resource.k8s.io", "ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "CSIStorageCapacity"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storage.k8s.io", "VolumeAttributesClass"),
    ("gateway.networking.k8s.io", "ReferenceGrant"),
    ("traefik.io", "Middleware"),
    ("traefik.containo.us", "Middleware"),
    ("operators.coreos.com", "CatalogSource"),
    ("operators.coreos.com", "ClusterServiceVersion"),
    ("operators.coreos.com", "InstallPlan"),
    ("operators.coreos.com", "Operator"),
    ("operators.coreos.com", "OperatorCondition"),
    ("operators.coreos.com", "OperatorGroup"),
    ("operators.coreos.com", "Subscription"),
    ocm.KLUSTERLETS,
    ocm.APPLIED_WORKS,
)

# What an application consists of, as a chart or a manifest brings it. Its custom resources are yours to add.
APPLICATION: tuple[Kind, ...] = (
    ("", "ConfigMap"),
    ("", "Namespace"),
    ("", "PersistentVolumeClaim"),
    ("", "Pod"),
    ("", "ReplicationController"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("apps", "ControllerRevision"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("coordination.k8s.io", "Lease"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("monitoring.coreos.com", "PodMonitor"),
    ("monitoring.coreos.com", "PrometheusRule"),
    ("monitoring.coreos.com", "ServiceMonitor"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "StorageClass"),
    ("gateway.networking.k8s.io", "Gateway"),
    ("gateway.networking.k8s.io", "GatewayClass"),
    ("gateway.networking.k8s.io", "ReferenceGrant"),
    ("operators.coreos.com", "CatalogSource"),
    ("operators.coreos.com", "ClusterServiceVersion"),
    ("operators.coreos.com", "InstallPlan"),
    ("operators.coreos.com", "Operator"),
    ("operators.coreos.com", "OperatorCondition"),
    ("operators.coreos.com", "OperatorGroup"),
    ("operators.coreos.com", "Subscription"),
    *POLICIES,
    *WEBHOOKS,
    *ROLES,
    *DEFINITIONS,
    *sorted(ALL_ROUTES),
)
# Never patched by an uninstall, not even with force: who may patch one of these can give rights away, or read secrets.
NEVER_PATCHED: frozenset[Kind] = frozenset({*ROLES, *POLICIES, *WEBHOOKS, ("", "Secret"), ("", "ServiceAccount")})

# A maintenance page and what it stands on.
PAGE: tuple[Kind, ...] = (
    ("", "ConfigMap"),
    ("", "Pod"),
    ("", "Service"),
    ("apps", "Deployment"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("batch", "CronJob"),
    ("policy", "PodDisruptionBudget"),
)


RUNS_ANYTHING = (
    "An account with this permission runs anything, with any ServiceAccount of a namespace, because it may create or "
    "patch a Deployment there: it is as powerful as the most powerful ServiceAccount of the cluster. Where that is too "
    "much, give it in some namespaces only (operator/config/rights-namespaced)."
)


@dataclass(frozen=True)
class Right:
    """Verbs on kinds, perhaps on a part of them."""

    verbs: tuple[str, ...]
    kinds: tuple[Kind, ...]
    part: str = ""


@dataclass(frozen=True)
class Feature:
    """Something you may want the operator to do, and what it must be allowed for that."""

    name: str
    why: str
    rights: tuple[Right, ...]


def features() -> Iterator[Feature]:
    owners = tuple((one.group, one.kind) for one in GITOPS_OWNERS if one.retirement)
    yield Feature(
        "uninstall",
        "Uninstall: delete what an application consists of. Secrets are read because Helm keeps its records there, and "
        "so does Argo CD of its clusters. Custom resources of your application are not in here: add a ClusterRole with "
        "the same label.",
        (
            Right(("delete",), (*APPLICATION, *owners)),
            Right(("patch",), owners),  # asked to wait while what they own goes
            # volumes: keep removes the owner references by which they would be deleted.
            Right(("patch",), (("", "PersistentVolumeClaim"),)),
            Right(READ, (("", "Secret"),)),
        ),
    )
    yield Feature(
        "force",
        "Uninstall with force: true, which strips finalizers of objects that stay. Whoever may patch a Deployment may "
        "run anything: add this one only where you need it.",
        (
            Right(("patch",), tuple(kind for kind in APPLICATION if kind not in NEVER_PATCHED)),
            Right(("update",), (("", "Namespace"),), "finalize"),
        ),
    )
    for name, profile in sorted(PRODUCTS.items()):
        yield _drain(name, profile)
    yield Feature(
        "quiesce",
        "Drain and uninstall that stop an operator (quiesce: scale, or auto where it runs and could put its finalizers "
        "back). "
        f"{RUNS_ANYTHING}",
        (Right(("patch",), SCALABLE),),
    )
    yield Feature(
        "freeze",
        "Drain and uninstall with freeze: true: nobody creates what is just being deleted. ConfigMaps are never kept: "
        "a dry run shows whether the policy is in force.",
        (Right(MAKE, POLICIES), Right(("create",), (("", "ConfigMap"),))),
    )
    yield _maintenance()
    yield Feature(
        "managed-clusters",
        "ManagedClusterDeletion, and ManagedClusters that opt in (component ocm). Its freeze is a policy, and what is "
        "left of a cluster are its namespace and the hub's bindings.",
        (
            Right(("update", "patch", "delete"), (ocm.CLUSTERS,)),
            Right(("patch", "delete"), (ocm.ADDONS, ocm.WORKS)),
            Right(("delete",), (("", "Namespace"), *(kind for kind in ROLES if kind[1] != "Role"))),
            Right(MAKE, POLICIES),
            Right(("create",), (("", "ConfigMap"),)),
        ),
    )
    yield Feature(
        "network-revert",
        "NetworkRevert, and NodeNetworkConfigurationPolicies that opt in (component nmstate). What nodes were before "
        "is kept in ConfigMaps.",
        (
            Right((*MAKE, "update"), ((nmstate.GROUP, nmstate.POLICY),)),
            Right(MAKE, (("", "ConfigMap"),)),
        ),
    )


def _drain(name: str, profile: Mapping[str, Any]) -> Feature:
    """Users' objects are set free, the operator's own may be deleted, too."""
    own = [(one["group"], one["kind"]) for one in profile.get("operator_kinds", ())]
    if anchor := profile.get("anchor"):
        own.append((anchor["group"], anchor["kind"]))
    others = [(one["group"], one["kind"]) for one in profile.get("user_kinds", ())]
    # Kinds that the next release brings carry its finalizers, too. They are found; to set them free is yours to allow.
    groups = sorted({group for group, _kind in own} - BUILT_IN_GROUPS)
    rights = [Right(("patch", "delete"), tuple(own)), Right(("patch",), tuple(others))]
    rights += [Right(READ, tuple((group, ALL) for group in groups))]
    secrets = ("", "Secret") in (*own, *others)
    rights += [Right(READ, (("", "Secret"),))] if secrets else []
    why = f"Drain with profile {name}: take {profile['title']}'s finalizers off, and delete its own objects."
    why += " It holds Secrets, which are read for that." if secrets else ""
    return Feature(f"drain-{name}", why, tuple(rights))


def _maintenance() -> Feature:
    routes = tuple((kind.group, kind.kind) for kind in ROUTE_KINDS)
    overlays = tuple((kind.group, kind.kind) for kind in ROUTE_KINDS if kind.overlay)
    paused = tuple((one.group, one.kind) for one in GITOPS_OWNERS if one.pause_owner)
    return Feature(
        "maintenance",
        "Maintenance, routes that opt in (component routes), and uninstall with maintenance: true: pages, and routes "
        f"that lead to them. {RUNS_ANYTHING}",
        (
            Right(("patch", "update"), routes),
            Right(("create", "delete"), overlays),
            Right(("patch",), paused),
            Right(MAKE, PAGE),
        ),
    )


def reads() -> tuple[Kind, ...]:
    """Every kind the collection knows by name, so that a look never fails for want of rights; but no Secrets."""
    known: set[Kind] = {*ALSO_READ, *ALL_ROUTES, *NO_PAGES, ocm.CLUSTERS, ocm.ADDONS, ocm.WORKS}
    known |= {(kind.group, kind.kind) for kind in ROUTE_KINDS}
    known |= {(keeper.group, keeper.kind) for keeper in ocm.KEEPERS}
    known |= {(nmstate.GROUP, kind) for kind in (nmstate.POLICY, nmstate.ENACTMENT, nmstate.STATE)}
    for owner in GITOPS_OWNERS:
        known.add((owner.group, owner.kind))
        known |= {(owner.generator.group, owner.generator.kind)} if owner.generator else set()
    for feature in features():
        known |= {kind for right in feature.rights for kind in right.kinds}
    return tuple(sorted(kind for kind in known - {("", "Secret")} if kind[1] != ALL))


def operator_rules() -> list[dict[str, Any]]:
    own = [kind.plural for kind in operator_crds.KINDS]
    group = operator_crds.GROUP
    return [
        _rule(group, own, (*READ, "update", "patch")),
        _rule(group, [f"{name}/status" for name in own], ("get", "update", "patch")),
        _rule(group, [f"{name}/finalizers" for name in own], ("update",)),
        _rule("", ["events"], ("create", "get", "patch")),
        _rule("events.k8s.io", ["events"], ("create", "patch")),
        # Who asks for metrics, and may they? What may we?
        _rule("authentication.k8s.io", ["selfsubjectreviews", "tokenreviews"], ("create",)),
        _rule("authorization.k8s.io", ["selfsubjectaccessreviews", "subjectaccessreviews"], ("create",)),
        *rules_of([Right(READ, reads())]),
    ]


def rules_of(rights: Iterable[Right]) -> Iterator[dict[str, Any]]:
    """One rule for all kinds of a group that have the same verbs."""
    verbs: dict[tuple[str, str], set[str]] = {}
    for right in rights:
        for group, kind in right.kinds:
            plural = f"{plural_of(kind)}/{right.part}" if right.part else plural_of(kind)
            verbs.setdefault((group, plural), set()).update(right.verbs)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, plural), allowed in sorted(verbs.items()):
        together.setdefault((group, tuple(sorted(allowed))), []).append(plural)
    for (group, allowed_verbs), plurals in together.items():
        yield _rule(group, plurals, allowed_verbs)


def plural_of(kind: str) -> str:
    """As authors of definitions make it, all of those we know."""
    if kind == ALL:
        return ALL
    name = kind.lower()
    if name.endswith(("s", "x", "ch", "sh")):
        return f"{name}es"
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}s"


def _rule(group: str, resources: Iterable[str], verbs: Iterable[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _role(name: str, rules: list[dict[str, Any]], labels: Mapping[str, str], why: str = "") -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": {**NAME, **labels}}
    if why:
        metadata["annotations"] = {"sunset.dev/why": why}
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def user_roles() -> list[dict[str, Any]]:
    """For people. Whoever may edit a namespace may look at our kinds there, and close and open its own routes.

    Other kinds act on the whole cluster, with the operator's rights: who may create them is for you to say.
    """
    own = [kind.plural for kind in operator_crds.KINDS]
    group = operator_crds.GROUP
    status = [f"{name}/status" for name in own]
    write = ("create", "update", "patch", "delete")
    look = [_rule(group, [*own, *status], READ)]
    edit = [*look, _rule(group, own, write)]
    mend = [*edit, _rule(group, own, ("deletecollection",)), _rule(group, status, ("update", "patch"))]
    lookers, editors = (
        {f"{RBAC}/aggregate-to-{name}": "true" for name in names}
        for names in (("view", "edit", "admin"), ("edit", "admin"))
    )
    return [
        _role("sunset-viewer", look, lookers),
        _role("sunset-maintenance-editor", [_rule(group, ["maintenances"], write)], editors),
        _role("sunset-editor", edit, {}),
        _role("sunset-admin", mend, {}),
    ]


def files() -> dict[Path, str]:
    """Everything that is made here."""
    kustomization = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    made = {
        CONFIG / "rbac" / "operator_role.yaml": _text(_role("sunset-operator", operator_rules(), {})),
    }
    for role in user_roles():
        name = role["metadata"]["name"].removeprefix("sunset-").replace("-", "_")
        made[CONFIG / "rbac" / f"{name}_role.yaml"] = _text(role)
    for feature in features():
        folder = CONFIG / "rights" / feature.name
        rules = list(rules_of(feature.rights))
        role = _role(f"sunset-operator-{feature.name}", rules, AGGREGATE, feature.why)
        made[folder / "role.yaml"] = _text(role)
        made[folder / "kustomization.yaml"] = _text({**kustomization, "resources": ["role.yaml"]})
        if RUNS_ANYTHING in feature.why:
            made |= _in_some_namespaces(feature, rules)
    every = sorted(feature.name for feature in features())
    made[CONFIG / "rights" / "kustomization.yaml"] = _text({**kustomization, "resources": every})
    return made


def _in_some_namespaces(feature: Feature, rules: list[dict[str, Any]]) -> dict[Path, str]:
    """The same without the label that adds it everywhere, and what binds it in the namespace it is applied to."""
    folder, name = CONFIG / "rights-namespaced" / feature.name, f"sunset-operator-{feature.name}-namespaced"
    why = feature.why.replace(f" {RUNS_ANYTHING}", "")
    role = _role(name, rules, {}, f"{why} In the namespaces that bind it.")
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name, "labels": NAME},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "sunset-operator", "namespace": "sunset-system"}],
    }
    kustomization = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return {
        folder / "role.yaml": _text(role),
        folder / "binding.yaml": _text(binding),
        folder / "kustomization.yaml": _text({**kustomization, "resources": ["role.yaml", "binding.yaml"]}),
    }


def _text(document: Mapping[str, Any]) -> str:
    header = (ROOT / "galaxy.yml").read_text(encoding="utf-8").partition("\n\n")[0]
    body = yaml.dump(document, Dumper=operator_crds.Indented, sort_keys=False, width=110)
    return f"{header}\n\n# Made by scripts/operator_rbac.py.\n---\n{body}"


def main() -> int:
    found = [file for folder in ("rights", "rights-namespaced") for file in (CONFIG / folder).rglob("*.yaml")]
    return write_or_check(files(), found, "operator_rbac.py")


if __name__ == "__main__":
    raise SystemExit(main())
