# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a custom resource definition cannot refuse, made as a ValidatingAdmissionPolicy that is installed with them.

A definition knows neither the namespace of the operator nor fields that may be a text or an object, and sees no field
without a type. The operator itself decides all of this again: the policy only says so at once, to the person who asks.

Run: python3 scripts/inside.py python scripts/operator_admission.py (with --check it only says what is out of date)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

import operator_crds
from ansible_collections.sunset.kube.plugins.module_utils.incluster.kinds import WORKS
from ansible_collections.sunset.kube.plugins.module_utils.jobs.maintenance import ARGUMENTS
from checkout import ROOT
from made_files import write_or_check

FOLDER = ROOT / "operator" / "config" / "admission"
NAME = "requests.sunset.dev"
LABELS = {"app.kubernetes.io/name": "sunset-operator"}
# As operator/config/manager/namespace.yaml has it.
HOME = "has(namespaceObject.metadata.labels) && 'app.kubernetes.io/name' in namespaceObject.metadata.labels && " + (
    "namespaceObject.metadata.labels['app.kubernetes.io/name'] == 'sunset-operator'"
)


def policy() -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": NAME, "labels": LABELS},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [operator_crds.GROUP],
                        "apiVersions": ["*"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": [kind.plural for kind in operator_crds.KINDS],
                    }
                ]
            },
            # Whatever was stored before these rules can still be deleted: its finalizers are no part of its spec.
            "matchConditions": [
                {"name": "spec", "expression": "oldObject == null || object.spec != oldObject.spec"},
            ],
            "variables": _variables(),
            "validations": _validations(),
        },
    }


def _variables() -> list[dict[str, str]]:
    progress = "c.type == 'Progressing' && c.status == 'True' && c.reason == 'Running'"
    return [
        _variable("whole", f"request.kind.kind in {_words(kind for kind, work in _own() if work.approval)}"),
        _variable("home", HOME),
        _variable("page", "has(object.spec.page) ? object.spec.page : dyn({})"),
        _variable("profile", "has(object.spec.profile) ? object.spec.profile : dyn('auto')"),
        _variable(
            "running",
            "oldObject != null && has(oldObject.status) && has(oldObject.status.conditions) && "
            f"oldObject.status.conditions.exists(c, {progress})",
        ),
        _variable("open", "['suspend', 'approve']"),
    ]


def _validations() -> list[dict[str, str]]:
    home = "the operator's own namespace (label app.kubernetes.io/name: sunset-operator)"
    keys = [operator_crds.camel(name) for name in ARGUMENTS["page"]["options"] if name != "html_file"]
    return [
        {
            "expression": "oldObject != null || !variables.whole || variables.home",
            "messageExpression": "'this kind acts on the whole cluster and is only reconciled in "
            + home.replace("'", "\\'")
            + ": create the ' + request.kind.kind + ' there, not in ' + request.namespace",
        },
        {
            "expression": "type(variables.page) == string || type(variables.page) == map",
            "message": "spec.page is the name of a page, or an object",
        },
        {
            "expression": "type(variables.page) != map || variables.page.all(key, key in " + _words(keys) + ")",
            "message": f"spec.page has a key that is not known: there are {', '.join(keys)}. A file is not read",
        },
        {
            "expression": "type(variables.profile) == string || type(variables.profile) == map",
            "message": "spec.profile is the name of a product, or an object",
        },
        {
            "expression": "!variables.whole || !variables.running || ("
            "object.spec.all(key, key in variables.open || "
            "(key in oldObject.spec && object.spec[key] == oldObject.spec[key])) && "
            "oldObject.spec.all(key, key in variables.open || key in object.spec))",
            "message": "it is running: only suspend and approve can be changed now. Delete it to stop it, or wait "
            "until it is done",
        },
    ]


def _own() -> list[tuple[str, Any]]:
    return [(kind, work) for (_group, kind), work in WORKS.items() if work.own]


def _variable(name: str, expression: str) -> dict[str, str]:
    return {"name": name, "expression": expression}


def _words(words: Any) -> str:
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"


def binding() -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": NAME, "labels": LABELS},
        "spec": {"policyName": NAME, "validationActions": ["Deny"]},
    }


def files() -> dict[Path, str]:
    kustomization = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return {
        FOLDER / "policy.yaml": _text(policy()),
        FOLDER / "binding.yaml": _text(binding()),
        FOLDER / "kustomization.yaml": _text({**kustomization, "resources": ["policy.yaml", "binding.yaml"]}),
    }


def _text(document: dict[str, Any]) -> str:
    header = (ROOT / "galaxy.yml").read_text(encoding="utf-8").partition("\n\n")[0]
    body = yaml.dump(document, Dumper=operator_crds.Indented, sort_keys=False, width=110)
    return f"{header}\n\n# Made by scripts/operator_admission.py.\n---\n{body}"


def main() -> int:
    return write_or_check(files(), FOLDER.glob("*.yaml"), "operator_admission.py")


if __name__ == "__main__":
    raise SystemExit(main())
