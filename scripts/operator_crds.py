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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from checkout import ROOT
from made_files import write_or_check

FOLDER = ROOT / "operator" / "config" / "crd"
GROUP, VERSION = "sunset.dev", "v1alpha1"
# There is no controller's disk, nobody to ask, and no password to type.
NOT_IN_A_CLUSTER = frozenset({"evidence_dir", "confirm", "undo_vault_password", "plan_hash", "journal_dir"})
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

    @property
    def plural(self) -> str:
        return f"{self.kind.lower()}s"

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.plural}.yaml"


KINDS = (
    Kind(
        "Uninstall",
        "uninstall",
        "unin",
        "Takes a whole application out of the cluster, its operator included.",
        columns=(("Release", ".spec.release"), ("Plan", ".status.planHash")),
    ),
    Kind(
        "Drain",
        "drain",
        "drn",
        "Frees everything an operator holds, before it is uninstalled.",
        gates=("suspend", "approve", "onDeletion"),
        columns=(("Profile", ".spec.profile"), ("Drain", ".status.drainStatus")),
    ),
    Kind(
        "Maintenance",
        "maintenance",
        "maint",
        "Puts applications behind a maintenance page, and back exactly as they were. Deleting it ends the maintenance.",
        # It can be taken back: nobody has to approve a plan.
        gates=("suspend", "start"),
        columns=(("Wanted", ".spec.state"), ("Until", ".spec.end")),
    ),
    Kind(
        "ManagedClusterDeletion",
        "managed_cluster",
        "mcd",
        "Takes managed clusters off an Open Cluster Management hub, in order.",
        without=frozenset({"guard"}),
    ),
    Kind(
        "NetworkRevert",
        "network_revert",
        "netrev",
        "Takes a NodeNetworkConfigurationPolicy back on every node, in waves, then deletes it.",
        # What a node does for itself, over SSH.
        without=frozenset({"policy", "desired_state", "probes", "settle", "backend", "rehearse", "guard"}),
        columns=(("Policy", ".spec.nncp"),),
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
        "is the approval. Use it as a hook before an uninstallation.",
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
            "description": "Which objects were in the plan that was shown, so that it can be gone on with.",
            "properties": {
                "planHash": {"type": "string"},
                "spec": {"type": "string", "description": "Digest of the spec that the plan was made for."},
                "objects": {"type": "string"},
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
        "drainProgress": {"type": "string"},
        "drainErrors": {"type": "array", "items": {"type": "string"}},
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
    spec = {"type": "object", "description": "What to do.", "properties": dict(_properties(kind))}
    required = [_camel(name) for name, option in _options(kind) if option.get("required")]
    if required:
        spec["required"] = required
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
        yield _camel(name), _property(option)
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


def _property(option: Mapping[str, Any]) -> dict[str, Any]:
    form = option.get("type", "str")
    target = _of(option.get("elements", "raw") if form == "list" else form)
    schema: dict[str, Any] = {"type": "array", "items": target} if form == "list" else target
    if option.get("choices"):
        target["enum"] = list(option["choices"])
    if form == "int":
        schema["minimum"] = 0
    if option.get("default") is not None:
        schema["default"] = option["default"]
    return {"description": _plain(option["description"]), **schema}


def _of(form: str) -> dict[str, Any]:
    return dict(TYPES[form])


def _plain(text: str | list[str]) -> str:
    """Ansible's markup as plain words: `kubectl explain` knows none of it."""
    joined = text if isinstance(text, str) else " ".join(text)
    plain = re.sub(r"[A-Z]\(([^()]*)\)", lambda found: found[1].rpartition("#module:")[2].rpartition(":")[2], joined)
    return " ".join(plain.split())


def _camel(name: str) -> str:
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
