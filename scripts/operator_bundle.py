# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's bundle for OLM, made from the kustomize tree, the samples and the definitions: it never drifts.

Run: python3 scripts/inside.py python scripts/operator_bundle.py (with --check it only says what is out of date)
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

import operator_crds
from checkout import ROOT
from made_files import write_or_check

CONFIG = ROOT / "operator" / "config"
BUNDLE = ROOT / "operator" / "bundle"
PACKAGE, CHANNEL = "sunset-operator", "alpha"
# Made by OLM from the ClusterServiceVersion, or by who installs it.
MADE_BY_OLM = ("Deployment", "Namespace", "ServiceAccount", "Role", "RoleBinding", "CustomResourceDefinition")
# Of no use to OLM, which takes some kinds only: there the operator alone says what it does not do.
NOT_FOR_OLM = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
# How a console shows a field; the others are texts.
LOOKS = {
    "boolean": "urn:alm:descriptor:com.tectonic.ui:booleanSwitch",
    "integer": "urn:alm:descriptor:com.tectonic.ui:number",
    "string": "urn:alm:descriptor:com.tectonic.ui:text",
}
STATUS_LOOKS = {"conditions": "urn:alm:descriptor:io.kubernetes.conditions"}

Manifest = dict[str, Any]


def files() -> dict[Path, str]:
    """Everything that is made here."""
    manifests = rendered(CONFIG / "manifests")
    version = version_of_the_collection()
    made = {BUNDLE / "manifests" / f"{PACKAGE}.clusterserviceversion.yaml": _text(service_version(manifests, version))}
    for one in manifests:
        if one["kind"] == "CustomResourceDefinition":
            names = one["spec"]
            made[BUNDLE / "manifests" / f"{names['group']}_{names['names']['plural']}.yaml"] = _text(one)
        elif one["kind"] not in (*MADE_BY_OLM, *NOT_FOR_OLM) and not _is_own_role(one):
            name = f"{one['metadata']['name']}_{one['kind'].lower()}.yaml"
            metadata = {key: value for key, value in one["metadata"].items() if key != "namespace"}
            made[BUNDLE / "manifests" / name] = _text({**one, "metadata": metadata})
    made[BUNDLE / "metadata" / "annotations.yaml"] = _text({"annotations": labels_of_the_bundle()})
    made[ROOT / "operator" / "bundle.Containerfile"] = _containerfile()
    return made


def service_version(manifests: list[Manifest], version: str) -> Manifest:
    """The ClusterServiceVersion: texts from the base, the rest from what would be applied by hand."""
    base: Manifest = yaml.safe_load(
        (CONFIG / "manifests" / "bases" / f"{PACKAGE}.clusterserviceversion.yaml").read_text()
    )
    deployment = next(one for one in manifests if one["kind"] == "Deployment")
    account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
    image = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    roles = {(one["kind"], one["metadata"]["name"]): one for one in manifests if one["kind"].endswith("Role")}
    base["metadata"]["name"] = f"{PACKAGE}.v{version}"
    base["metadata"]["annotations"] = {
        **base["metadata"]["annotations"],
        "alm-examples": json.dumps(rendered(CONFIG / "samples"), indent=2),
        "containerImage": image,
        "operatorframework.io/suggested-namespace": deployment["metadata"]["namespace"],
    }
    base["spec"] = {
        **base["spec"],
        "version": version,
        "customresourcedefinitions": {"owned": [_described(kind) for kind in operator_crds.KINDS]},
        "install": {
            "strategy": "deployment",
            "spec": {
                "clusterPermissions": [
                    {"serviceAccountName": account, "rules": roles["ClusterRole", "sunset-operator"]["rules"]}
                ],
                "permissions": [
                    {"serviceAccountName": account, "rules": role["rules"]}
                    for (kind, _name), role in roles.items()
                    if kind == "Role"
                ],
                "deployments": [
                    {
                        "name": deployment["metadata"]["name"],
                        "label": deployment["metadata"]["labels"],
                        "spec": deployment["spec"],
                    }
                ],
            },
        },
    }
    return base


def _is_own_role(one: Mapping[str, Any]) -> bool:
    """In the ClusterServiceVersion already."""
    return one["kind"] in ("ClusterRole", "ClusterRoleBinding") and one["metadata"]["name"] == "sunset-operator"


def _described(kind: operator_crds.Kind) -> Manifest:
    schema = operator_crds.definition_of(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return {
        "kind": kind.kind,
        "name": f"{kind.plural}.{operator_crds.GROUP}",
        "version": operator_crds.VERSION,
        "displayName": " ".join(re.findall(r"[A-Z][a-z]+", kind.kind)),
        "description": kind.what,
        "specDescriptors": list(_fields(schema["spec"]["properties"], {})),
        "statusDescriptors": list(_fields(schema["status"]["properties"], STATUS_LOOKS)),
    }


def _fields(properties: Mapping[str, Mapping[str, Any]], looks: Mapping[str, str]) -> Iterator[Manifest]:
    for name, one in properties.items():
        title = re.sub(r"([A-Z])", lambda found: f" {found[1].lower()}", name).capitalize()
        shown: Manifest = {"path": name, "displayName": title}
        if one.get("description"):
            shown["description"] = one["description"]
        look = looks.get(name) or LOOKS.get(one.get("type", ""))
        if one.get("enum"):
            yield {
                **shown,
                "x-descriptors": [f"urn:alm:descriptor:com.tectonic.ui:select:{word}" for word in one["enum"]],
            }
        else:
            yield {**shown, "x-descriptors": [look]} if look else shown


def labels_of_the_bundle() -> dict[str, str]:
    prefix = "operators.operatorframework.io.bundle"
    return {
        f"{prefix}.mediatype.v1": "registry+v1",
        f"{prefix}.manifests.v1": "manifests/",
        f"{prefix}.metadata.v1": "metadata/",
        f"{prefix}.package.v1": PACKAGE,
        f"{prefix}.channels.v1": CHANNEL,
        f"{prefix}.channel.default.v1": CHANNEL,
    }


def _containerfile() -> str:
    labels = "".join(f"LABEL {name}={value}\n" for name, value in labels_of_the_bundle().items())
    copies = "COPY bundle/manifests /manifests/\nCOPY bundle/metadata /metadata/\n"
    how = "# The context is operator/: podman build --file operator/bundle.Containerfile --tag IMAGE operator\n"
    return f"{_header()}\n\n# Made by scripts/operator_bundle.py.\n{how}FROM scratch\n\n{labels}\n{copies}"


def rendered(folder: Path) -> list[Manifest]:
    done = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{folder.relative_to(ROOT)} cannot be rendered: {done.stderr.strip()}")
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def version_of_the_collection() -> str:
    version: str = yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
    return version


def _header() -> str:
    return (ROOT / "galaxy.yml").read_text(encoding="utf-8").partition("\n\n")[0]


def _text(document: Manifest) -> str:
    body = yaml.dump(document, Dumper=operator_crds.Indented, sort_keys=False, width=110, allow_unicode=True)
    # No "---" before it: OLM takes what is above for the first document, and looks no further.
    return f"{_header()}\n\n# Made by scripts/operator_bundle.py.\n{body}"


def main() -> int:
    return write_or_check(files(), BUNDLE.rglob("*.yaml"), "operator_bundle.py")


if __name__ == "__main__":
    raise SystemExit(main())
