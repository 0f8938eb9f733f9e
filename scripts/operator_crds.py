# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's custom resource definitions, made from the roles' argument specifications.

The spec of a resource is its role's arguments: without the role's name in front, in camelCase. What only makes sense on
a control node is left out, and what only makes sense in a cluster is added. A test compares the files with this.

Run: python scripts/operator_crds.py (writes operator/config/crd/; with --check only says what is out of date)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import operator_limits
from checkout import ROOT
from made_files import write_or_check

FOLDER = ROOT / "operator" / "config" / "crd"
GROUP, VERSION = "sunset.dev", "v1alpha1"
# There is no controller's disk, nobody to ask, and no password to type.
NOT_IN_A_CLUSTER = frozenset({"evidence_dir", "confirm", "undo_vault_password", "plan_hash", "journal_dir", "holder"})
LIBERAL = {"x-kubernetes-preserve-unknown-fields": True}


@dataclass(frozen=True)
class Kind:
    kind: str
    role: str
    short: str
    what: str  # for `kubectl explain`
    without: frozenset[str] = frozenset()
    gates: tuple[str, ...] = ("suspend", "approve")
    columns: tuple[tuple[str, str], ...] = ()
    # Where the words of the role are those of somebody at a command line.
    says: Mapping[str, str] = field(default_factory=dict)

    @property
    def plural(self) -> str:
        return f"{self.kind.lower()}s"

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.plural}.yaml"


PAGE = (
    "The page. As an object, one of html, configMap (a name, or name and key) and name, what programs are told (json, "
    "xml, text), or title, details, contact, product, language and refresh for the built-in page."
)
KINDS = (
    Kind(
        "Uninstall",
        "uninstall",
        "unin",
        "Takes a whole application out of the cluster, its operator included.",
        columns=(("Release", ".spec.release"), ("Plan", ".status.planHash")),
        says={
            "manifests": "Documents that name the objects, as a list.",
            "profile": "The product to drain first, by its name or as an object. auto finds out, none drains nothing.",
            "stages": "What to do. Leave some out to do them later, or not at all.",
            "maintenance": '"true" puts a maintenance page in front of the application\'s routes, takes these routes '
            "last, and the page away when all is gone. After a failure the page stays. keep leaves the routes and the "
            "page.",
            "page": PAGE,
            "missing": "Whether it is an error that no such release is there. ok by default: it is gone already.",
        },
        # Whoever writes release metadata in one namespace would choose what the operator deletes in others.
        without=frozenset({"ownership"}),
    ),
    Kind(
        "Drain",
        "drain",
        "drn",
        "Frees everything an operator holds, before it is uninstalled.",
        gates=("suspend", "approve", "onDeletion"),
        columns=(("Profile", ".spec.profile"), ("Drain", ".status.drainStatus")),
        says={"profile": "The product by its name, or as an object. auto drains nothing and drafts such objects."},
    ),
    Kind(
        "Maintenance",
        "maintenance",
        "maint",
        "Puts applications behind a maintenance page, and back exactly as they were. Deleting it ends the maintenance.",
        # It can be taken back: nobody has to approve a plan.
        gates=("suspend", "start"),
        # The first would let the operator ask any address that a user names. The others rely on backups that every user
        # can write, which the operator does not: it signs its own.
        without=frozenset({"verify", "takeover", "operator"}),
        says={
            "state": "enabled shows the page, disabled takes it away from these routes whoever asked for it, swept "
            "repairs what was left.",
            "namespace": "All routes of this namespace; its own by default. Another one only in the operator's "
            "namespace.",
            "targets": "Which routes are meant: objects with kind, name, namespace, labelSelector, hosts, paths, "
            "ingressClass and service, all of them optional. All routes of its own namespace by default.",
            "page": f"{PAGE} As a word, the name of a ConfigMap maintenance-page-<word> beside the routes.",
            "end": "Until when, for example 2026-11-16T23:30:00Z, or how long, for example 1h30m.",
            "window": "The same as an object with end or for.",
            "workload": "What serves the page: kind, replicas, image, pullSecrets, resources, runAsUser, nodeSelector, "
            "tolerations, serviceType and autoscaling.",
            "bypass": "Who still reaches the application: headers, cookies and cidrs. Whoever may read this resource "
            "reads them.",
            "gitops": "What to do with routes of Argo CD and Flux. pause only in the operator's namespace.",
            "linger": "Seconds that controllers are given to notice, before it counts as done and before a page goes.",
            "routeKinds": "Further kinds of routes, with group, kind and backends. Only in the operator's namespace.",
        },
        columns=(("Wanted", ".spec.state"), ("Until", ".spec.end")),
    ),
    Kind(
        "ManagedClusterDeletion",
        "managed_cluster",
        "mcd",
        "Takes managed clusters off an Open Cluster Management hub, in order.",
        # Credentials of another cluster are for nobody who may look at this one.
        without=frozenset({"guard", "spoke"}),
    ),
    Kind(
        "NetworkRevert",
        "network_revert",
        "netrev",
        "Takes a NodeNetworkConfigurationPolicy back on every node, in waves, then deletes it.",
        # What a node does for itself, over SSH.
        without=frozenset({"policy", "desired_state", "probes", "settle", "backend", "rehearse", "guard"}),
        columns=(("Policy", ".spec.nncp"),),
        says={
            "nncp": "Name of the NodeNetworkConfigurationPolicy.",
            "timeout": "Seconds it may take, 600 by default.",
        },
    ),
)

# What our resources have beside their role's arguments.
GATES: dict[str, Any] = {
    "suspend": {
        "type": "boolean",
        "default": False,
        "description": "Begin nothing as long as this is true. What has begun is finished.",
    },
    "approve": {
        "type": "string",
        "pattern": "^([0-9a-f]{12,64}|always)$",
        "description": "The hash of the plan that may be carried out, as status.planHash shows it, or always. Without "
        "it only the plan is made.",
    },
    "onDeletion": {
        "type": "boolean",
        "default": False,
        "description": "Wait until this resource is deleted, drain then, and let it go when that is done. Its deletion "
        "is the approval. Use it as a hook before an uninstallation. With suspend it goes without draining.",
    },
    "start": {
        "type": "string",
        "format": "date-time",
        "description": "Begin at this time, for example 2026-11-16T22:00:00Z. A duration in end counts from it.",
    },
}
STATUS: dict[str, Any] = {
    "type": "object",
    "description": "What was seen and done. Written by the operator.",
    "properties": {
        "conditions": {
            "type": "array",
            "description": "Planned, Progressing, Blocked and Completed.",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type", "status", "reason", "lastTransitionTime"],
                "properties": {
                    # The list keeps ansible-operator out, which would write a status of its own over ours.
                    "type": {"type": "string", "enum": ["Planned", "Progressing", "Blocked", "Completed"]},
                    "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                    "reason": {"type": "string"},
                    "message": {"type": "string"},
                    "lastTransitionTime": {"type": "string", "format": "date-time"},
                    "observedGeneration": {"type": "integer", "format": "int64"},
                },
            },
        },
        "observedGeneration": {"type": "integer", "format": "int64", "description": "The spec that this is about."},
        "planHash": {"type": "string", "description": "Hash of the plan, for spec.approve."},
        "outcome": {
            "type": "string",
            "description": "How the last run came out: planned, done, nothing_to_do, blocked, refused, interrupted, "
            "unreachable or failed.",
        },
        "attempts": {"type": "integer", "description": "Runs of this spec that were blocked, one after the other."},
        "shown": {
            "type": "object",
            "description": "What was in the plan that was shown, so that it can be gone on with.",
            "properties": {
                "planHash": {"type": "string"},
                "spec": {"type": "string", "description": "Digest of the spec that the plan was made for."},
                "terms": {"type": "string", "description": "Digest of the cluster and the options it was made for."},
                "objects": {"type": "string", "description": "uids of what is deleted, packed."},
                "released": {"type": "string", "description": "uids of what is only let go of, packed."},
                "work": {"type": "string", "description": "What is done to nodes, as a digest for each, packed."},
                "policies": {
                    "type": "object",
                    "description": "How each product's drain deals with what is outside of the cluster.",
                    "additionalProperties": {"type": "string"},
                },
            },
        },
        "progress": {"type": "string", "description": "How far it is, for example 7/12."},
        "text": {"type": "array", "items": {"type": "string"}, "description": "Plan or outcome as a tree."},
        "survivors": {
            "type": "array",
            "description": "What should be gone and is not, with what holds it.",
            "items": {"type": "object", **LIBERAL},
        },
        "drainStatus": {"type": "string", "description": "pending, draining, completed or failed."},
        "drainProgress": {"type": "string", "description": "How far the drain is, for example 7/12."},
        "drainErrors": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What went wrong in the last drain.",
        },
    },
}


def definition_of(kind: Kind) -> dict[str, Any]:
    columns = [("State", "string", '.status.conditions[?(@.type=="Progressing")].reason')]
    columns += [(name, "string", path) for name, path in kind.columns]
    columns += [("Progress", "string", ".status.progress"), ("Age", "date", ".metadata.creationTimestamp")]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "shortNames": [kind.short],
                "categories": ["sunset"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        {"name": name, "type": form, "jsonPath": path} for name, form, path in columns
                    ],
                    "schema": {"openAPIV3Schema": _schema(kind)},
                }
            ],
        },
    }


def _schema(kind: Kind) -> dict[str, Any]:
    spec: dict[str, Any] = {"type": "object", "description": "What to do.", "properties": dict(_properties(kind))}
    required = [camel(name) for name, option in _options(kind) if option.get("required")]
    if required:
        spec["required"] = required
    if rules := operator_limits.SPECS.get(kind.kind):
        spec["x-kubernetes-validations"] = rules
    return {
        "type": "object",
        "description": kind.what,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": STATUS,
        },
    }


def _properties(kind: Kind) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, option in _options(kind):
        says = kind.says.get(name) or kind.says.get(camel(name)) or ""
        form = "list" if camel(name) == "manifests" else option.get("type", "str")  # in a cluster there are no paths
        schema = _property({**option, "type": form}, says, kind.role)
        yield camel(name), operator_limits.limited(kind.kind, camel(name), schema)
    for name in kind.gates:
        yield name, GATES[name]


def _options(kind: Kind) -> Iterator[tuple[str, Mapping[str, Any]]]:
    path = ROOT / "roles" / kind.role / "meta" / "argument_specs.yml"
    options = yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]
    for name, option in options.items():
        bare = name.removeprefix(f"{kind.role}_")
        if bare not in NOT_IN_A_CLUSTER | kind.without:
            yield bare, option


TYPES: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "path": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "dict": {"type": "object", **LIBERAL},
    "raw": LIBERAL,
}


def _property(option: Mapping[str, Any], says: str, role: str) -> dict[str, Any]:
    form = option.get("type", "str")
    target = _of(option.get("elements", "raw") if form == "list" else form)
    schema: dict[str, Any] = {"type": "array", "items": target} if form == "list" else target
    if option.get("choices"):
        target["enum"] = list(option["choices"])
    if form == "int":
        schema["minimum"] = 0
    if option.get("default") is not None:
        schema["default"] = option["default"]
    return {"description": says or plain(option["description"], role), **schema}


def _of(form: str) -> dict[str, Any]:
    return dict(TYPES[form])


def plain(text: str | list[str], role: str) -> str:
    """Ansible's markup as plain words: `kubectl explain` knows none of it, nor how variables of roles are called."""
    joined = text if isinstance(text, str) else " ".join(text)
    # The roles can do more than that. A value keeps its spelling, though it comes first then.
    joined = re.sub(r"^On a cluster, ([a-z]?)", lambda found: found[1].upper(), joined)

    def bare(found: re.Match[str]) -> str:
        markup, inner = found.groups()
        if markup == "O":
            return camel(inner.rpartition(":")[2].removeprefix(f"{role}_"))
        return f"the module {inner}" if markup == "M" else inner

    return " ".join(re.sub(r"([A-Z])\(([^()]*)\)", bare, joined).split())


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class Indented(yaml.SafeDumper):
    """Lists stand below their key, as in our other files."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def text_of(kind: Kind) -> str:
    header = (ROOT / "galaxy.yml").read_text(encoding="utf-8").partition("\n\n")[0]
    body = yaml.dump(definition_of(kind), Dumper=Indented, sort_keys=False, width=110, allow_unicode=True)
    return (
        f"{header}\n\n# Made by scripts/operator_crds.py from roles/{kind.role}/meta/argument_specs.yml.\n---\n{body}"
    )


def main() -> int:
    made = {kind.file: text_of(kind) for kind in KINDS}
    return write_or_check(made, FOLDER.glob("*s.yaml"), "operator_crds.py")


if __name__ == "__main__":
    raise SystemExit(main())
