# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's manifests on a real API server: up to date, accepted, and with no more rights than they must have."""

from __future__ import annotations

import copy
import importlib.metadata
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields
from ansible_collections.sunset.kube.plugins.module_utils.profiles.built_in_groups import BUILT_IN_GROUPS
from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_products import PRODUCTS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.profile import read_profile
from lab import modules, tools
from lab.operator import manifests
from lab.operator.manifests import CONFIG, NAME, NAMESPACE
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

ROOT = Path(__file__).parents[2]
TREES = sorted(file.parent for file in CONFIG.rglob("kustomization.yaml") if "components" not in file.parts)
COMPONENTS = sorted(folder.name for folder in (CONFIG / "components").iterdir())
FEATURES = sorted(folder.name for folder in (CONFIG / "rights").iterdir() if folder.is_dir())
MONITOR = "service-monitor"
PROMETHEUS = ("github.com/prometheus-operator/prometheus-operator", "v0.83.0")
READ = {"get", "list", "watch"}
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{NAME}"
GROUPS = ["system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}"]


def kubectl(plane: ControlPlane, *arguments: str, documents: list[dict[str, Any]] | None = None) -> str:
    done = subprocess.run(
        [str(tools.kubectl()), f"--kubeconfig={plane.admin.kubeconfig}", *arguments],
        input=json.dumps({"apiVersion": "v1", "kind": "List", "items": documents or []}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def apply(plane: ControlPlane, documents: list[dict[str, Any]], *options: str) -> None:
    kubectl(plane, "apply", "--server-side", "--force-conflicts", *options, "-f", "-", documents=documents)


@pytest.fixture(scope="module")
def installed(plane: ControlPlane) -> Iterator[list[dict[str, Any]]]:
    """The default tree. No node lets its pod in, which stays Pending: that is all the same here."""
    documents = manifests.rendered(CONFIG / "default")
    apply(plane, documents)
    yield documents
    kubectl(plane, "delete", "--wait=false", "-f", "-", documents=documents)
    for one in (one for one in documents if one["kind"] in ("Namespace", "CustomResourceDefinition")):
        path = plane.api.path_of(one)
        until(lambda path=path: plane.api.get(path)[0] == 404, f"{path} to be gone")  # type: ignore[misc]


# A run, and the operator itself, in MiB: measured on the lab, with some room.
A_RUN, THE_OPERATOR = 100, 200


def test_the_memory_is_enough_for_as_many_runs_as_there_may_be_at_once() -> None:
    [deployment] = [one for one in manifests.rendered(CONFIG / "default") if one["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    at_once = next(int(one.partition("=")[2]) for one in container["args"] if "max-concurrent-reconciles" in one)
    kinds = sum(len(yaml.safe_load(file.read_text())) for file in (ROOT / "operator").glob("watches*.yaml"))
    limit = int(container["resources"]["limits"]["memory"].removesuffix("Gi")) * 1024
    assert at_once * kinds * A_RUN + THE_OPERATOR <= limit


def undeploy(plane: ControlPlane) -> subprocess.CompletedProcess[str]:
    """Its first command only: the rest would take the tests' own operator away."""
    around = {**os.environ, "KUBECONFIG": str(plane.admin.kubeconfig)}
    around["PATH"] = f"{tools.kubectl().parent}{os.pathsep}{around['PATH']}"
    command = ["sh", str(ROOT / "operator" / "held.sh")]
    return subprocess.run(command, env=around, capture_output=True, text=True, check=False)


def test_it_is_not_taken_away_while_something_waits_for_it(
    plane: ControlPlane, installed: list[dict[str, Any]], namespace: str
) -> None:
    assert undeploy(plane).returncode == 0
    metadata = {"name": "night", "namespace": namespace, "finalizers": ["example.com/other", "sunset.dev/maintenance"]}
    body = {"apiVersion": "sunset.dev/v1alpha1", "kind": "Maintenance", "metadata": metadata, "spec": {"suspend": True}}
    [asked] = plane.api.create(body)
    refused = undeploy(plane)
    assert refused.returncode == 1
    assert f"maintenances.sunset.dev/night in {namespace}" in refused.stderr
    # The command that it names does what it says, once.
    [command] = [line.strip() for line in refused.stderr.splitlines() if line.strip().startswith("kubectl patch")]
    kubectl(plane, *shlex.split(command)[1:])
    assert plane.api.get(plane.api.path_of(asked))[1]["metadata"]["finalizers"] == ["example.com/other"]
    assert undeploy(plane).returncode == 0
    plane.api.patch(plane.api.path_of(asked), {"metadata": {"finalizers": None}})


def test_who_cannot_look_is_not_told_that_nothing_waits(plane: ControlPlane) -> None:
    around = {"PATH": f"{tools.kubectl().parent}{os.pathsep}{os.environ['PATH']}", "KUBECONFIG": "/nowhere"}
    command = ["sh", str(ROOT / "operator" / "held.sh")]
    assert subprocess.run(command, env=around, capture_output=True, check=False).returncode == 2


def may(plane: ControlPlane, verb: str, group: str, resource: str, namespace: str = "") -> bool:
    plural, _slash, part = resource.partition("/")
    what = {"verb": verb, "group": group, "resource": plural, "subresource": part, "namespace": namespace}
    spec = {"user": ACCOUNT, "groups": GROUPS, "resourceAttributes": what}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    return bool(plane.api.create(review)[0]["status"]["allowed"])


def rules_in(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [rule for one in documents if one["kind"].endswith("Role") for rule in one.get("rules") or ()]


def role_of(feature: str) -> dict[str, Any]:
    (role,) = manifests.rendered(CONFIG / "rights" / feature)
    return role


def everything() -> list[dict[str, Any]]:
    return [*manifests.rendered(CONFIG / "default"), *manifests.rendered(CONFIG / "rights")]


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", ["operator_rbac.py", "operator_admission.py", "operator_bundle.py"])
def test_the_files_are_what_the_script_makes(script: str) -> None:
    command = [sys.executable, str(ROOT / "scripts" / script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_ansible_core_of_the_image_is_the_one_the_tests_run_with() -> None:
    pins = (ROOT / "operator" / "requirements.txt").read_text().splitlines()
    [pinned] = [line for line in pins if line.startswith("ansible-core==")]
    assert pinned.split()[0] == f"ansible-core=={importlib.metadata.version('ansible-core')}"
    assert all("--hash=sha256:" in line for line in pins if line and not line.startswith("#"))


def test_it_does_not_start_where_it_does_not_know_its_own_namespace() -> None:
    for around in ({}, {"POD_NAMESPACE": ""}):
        script = (ROOT / "operator" / "entrypoint.sh").read_text().replace("cd /opt/ansible", "cd /")
        done = subprocess.run(
            ["sh", "-c", script.partition("# What a container")[0]],
            env={"PATH": os.environ["PATH"], **around},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "POD_NAMESPACE is not set" in done.stderr) == (1, True)


def test_the_image_is_that_of_this_version() -> None:
    deployment = next(one for one in manifests.rendered(CONFIG / "manager") if one["kind"] == "Deployment")
    image = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image.rpartition(":")[2] == yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]


@pytest.mark.parametrize("suite", [[], ["--select-optional=suite=operatorframework"]], ids=["required", "recommended"])
def test_the_bundle_is_one_that_olm_takes(suite: list[str]) -> None:
    program = tools.ensure(["operator-sdk"])["operator-sdk"]
    command = [str(program), "bundle", "validate", str(ROOT / "operator" / "bundle"), "--output=json-alpha1", *suite]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    assert (done.returncode, told["passed"]) == (0, True), done.stdout
    said = [one["message"] for one in told["outputs"] or ()]
    # It takes names of resources for the versions of them that Kubernetes has given up; ours are rules, without one.
    assert [text for text in said if "deprecated and removed in v1.25" not in text] == []


# -- trees -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: str(tree.relative_to(CONFIG)))
def test_the_server_accepts_every_tree(plane: ControlPlane, installed: list[dict[str, Any]], tree: Path) -> None:
    documents = manifests.rendered(tree)
    assert documents
    places = {one["metadata"].get("namespace") for one in documents} - {None, NAMESPACE}
    for place in places:
        plane.api.post("/api/v1/namespaces", {"metadata": {"name": place}})
    apply(plane, documents, "--dry-run=server", "--validate=strict")
    for place in places:
        plane.api.delete(f"/api/v1/namespaces/{place}")


@pytest.fixture
def monitors(plane: ControlPlane) -> Iterator[None]:
    """The kind that Prometheus' operator brings, as it is published; without its others, so for one test only."""
    [definition] = modules.documents(*PROMETHEUS, "example/prometheus-operator-crd/*_servicemonitors.yaml")
    plane.api.apply_crd(definition)
    yield
    plane.api.delete(plane.api.path_of(definition))
    home = f"/apis/{definition['spec']['group']}"
    until(lambda: plane.api.get(home)[0] == 404, "the group to be gone")


@pytest.mark.parametrize("component", sorted({*COMPONENTS} - {MONITOR}))
def test_the_server_accepts_every_component(
    plane: ControlPlane, installed: list[dict[str, Any]], component: str
) -> None:
    documents = manifests.for_the_lab("lab.invalid/any:1", (), (component,), {})
    assert len(documents) == len(installed)
    apply(plane, documents, "--dry-run=server", "--validate=strict")


def test_the_server_accepts_the_component_for_prometheus(
    plane: ControlPlane, installed: list[dict[str, Any]], monitors: None
) -> None:
    documents = manifests.for_the_lab("lab.invalid/any:1", (), (MONITOR,), {})
    assert [one["kind"] for one in documents if one not in installed and one["kind"] != "Deployment"] == [
        "ServiceMonitor"
    ]
    apply(plane, documents, "--dry-run=server", "--validate=strict")


def test_components_can_be_had_together_and_with_every_right() -> None:
    documents = manifests.for_the_lab("lab.invalid/any:1", (".",), COMPONENTS, {})
    container = deployment_in(documents)["spec"]["template"]["spec"]["containers"][0]
    variables = {one["name"]: one.get("value") for one in container["env"]}
    watched = {"WATCH_NMSTATE", "WATCH_OCM", "WATCH_ROUTES", "WATCH_TRAEFIK"}
    assert {name for name in variables if name.startswith("WATCH_")} == watched


def test_a_pod_of_it_passes_where_the_restricted_standard_is_enforced(
    plane: ControlPlane, installed: list[dict[str, Any]]
) -> None:
    template = deployment_in(installed)["spec"]["template"]
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
    pod = {"metadata": {**template["metadata"], "name": "one"}, "spec": template["spec"]}
    status, answer = plane.api.post(pods, pod, dryRun="All")
    assert status == 201, answer
    lax = copy.deepcopy(pod)
    lax["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    assert plane.api.post(pods, lax, dryRun="All")[0] == 403


def test_metrics_and_policy_mean_the_operator() -> None:
    documents = manifests.rendered(CONFIG / "default")
    template = deployment_in(documents)["spec"]["template"]
    ports = {port["name"] for port in template["spec"]["containers"][0]["ports"]}
    service = next(one for one in documents if one["kind"] == "Service")
    policy = next(one for one in documents if one["kind"] == "NetworkPolicy")
    labels = template["metadata"]["labels"].items()
    assert service["spec"]["selector"].items() <= labels
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    assert {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]} <= ports
    monitor = CONFIG / "components" / "service-monitor" / "service_monitor.yaml"
    wanted = yaml.safe_load(monitor.read_text())["spec"]
    assert wanted["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert {one["port"] for one in wanted["endpoints"]} <= {port["name"] for port in service["spec"]["ports"]}


def deployment_in(documents: list[dict[str, Any]]) -> dict[str, Any]:
    return next(one for one in documents if one["kind"] == "Deployment")


# -- rights ------------------------------------------------------------------------------------------------------------


def test_no_rule_has_a_star_or_lets_anybody_gain_rights() -> None:
    for rule in rules_in(everything()):
        words = {*rule["verbs"], *rule.get("resources", ()), *rule.get("apiGroups", ())}
        if set(rule["verbs"]) == {"get", "list", "watch"} and not BUILT_IN_GROUPS & set(rule["apiGroups"]):
            words -= {"*"}  # a drain reads every kind of a product's own groups
        assert not words & {"*", "escalate", "bind", "impersonate", "approve", "sign"}, rule
        # Writing one of these would be as good: pods run as anybody, tokens speak for anybody.
        gates = {"pods/exec", "pods/attach", "pods/portforward", "serviceaccounts/token", "nodes/proxy"}
        assert not gates & set(rule.get("resources", ())), rule


def test_secrets_are_read_only_for_features_that_say_why() -> None:
    reading = {
        one["metadata"]["name"]: one["metadata"]["annotations"]["sunset.dev/why"]
        for one in manifests.rendered(CONFIG / "rights")
        for rule in one["rules"]
        if "secrets" in rule["resources"] and READ & set(rule["verbs"])
    }
    assert set(reading) == {"sunset-operator-uninstall", "sunset-operator-drain-rook"}
    assert all("Secrets" in why for why in reading.values())
    default = rules_in(manifests.rendered(CONFIG / "default"))
    # The key with which it signs backups: one Secret of its own namespace, by name.
    own = [rule for rule in default if "secrets" in rule.get("resources", ())]
    assert [(rule["verbs"], rule.get("resourceNames")) for rule in own] == [
        (["create"], None),
        (["get"], ["sunset-operator-backup-key"]),
    ]
    roles = manifests.rendered(CONFIG / "default")
    assert {one["kind"] for one in roles if any(rule in own for rule in one.get("rules", ()))} == {"Role"}


@pytest.mark.usefixtures("route_kinds", "hub_kinds", "nmstate_kinds")
def test_kinds_in_rules_are_called_as_the_server_and_the_definitions_call_them(plane: ControlPlane) -> None:
    served = resources_of(plane)
    # Other tests define some of the kinds of these products on this server; test_truth has all of them.
    profiles = [read_profile(profile, "profile", BadFields()) for profile in PRODUCTS.values()]
    groups = {group for group, _name in served} - {group for profile in profiles for group in profile.own_groups}
    named = {
        (group, name)
        for rule in rules_in(everything())
        for group in rule.get("apiGroups", ())
        for name in rule.get("resources", ())
    }
    known = {(group, name) for group, name in named if group in groups and group != "sunset.dev" and name != "*"}
    assert len(known) > 80
    # On this server some groups have fewer kinds than elsewhere: versions that are not on by default.
    assert known - set(served) <= NOT_SERVED_HERE


NOT_SERVED_HERE = {
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    ("gateway.networking.k8s.io", "tcproutes"),
    ("gateway.networking.k8s.io", "tlsroutes"),
    ("gateway.networking.k8s.io", "udproutes"),
}


def resources_of(plane: ControlPlane) -> dict[tuple[str, str], set[str]]:
    """Everything the server has, parts included, with its verbs."""
    found: dict[tuple[str, str], set[str]] = {}
    versions = [("", "/api/v1")]
    for group in plane.api.get("/apis")[1]["groups"]:
        versions += [(group["name"], f"/apis/{one['groupVersion']}") for one in group["versions"]]
    for name, path in versions:
        for resource in plane.api.get(path)[1]["resources"]:
            found.setdefault((name, resource["name"]), set()).update(resource["verbs"])
    return found


def test_by_default_it_may_read_all_but_secrets(plane: ControlPlane, installed: list[dict[str, Any]]) -> None:
    until(lambda: may(plane, "list", "apps", "deployments"), "its rights to be in force")
    definitions = plane.api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")[1]["items"]
    of_others = {one["spec"]["group"] for one in definitions}
    builtin = {
        (group, name)
        for (group, name), verbs in resources_of(plane).items()
        if "list" in verbs and group not in of_others
    }
    unreadable = {one for one in builtin if not all(may(plane, verb, *one) for verb in ("get", "list", "watch"))}
    assert unreadable - NOBODY_ELSE_MISSES == {("", "secrets")}


# Transient, of no cluster, or of the server's own.
NOBODY_ELSE_MISSES = {("", "componentstatuses"), ("internal.apiserver.k8s.io", "storageversions")}


def test_by_default_it_may_change_nothing_but_its_own(plane: ControlPlane, installed: list[dict[str, Any]]) -> None:
    until(lambda: may(plane, "list", "apps", "deployments"), "its rights to be in force")
    writes = {"create", "update", "patch", "delete", "deletecollection"}
    allowed = {
        (verb, group, name)
        for (group, name), verbs in resources_of(plane).items()
        for verb in verbs & writes
        if may(plane, verb, group, name)
    }
    own = {one for one in allowed if one[1] == "sunset.dev"}
    kinds = ("drains", "maintenances", "managedclusterdeletions", "networkreverts", "uninstalls")
    assert own == {
        (verb, "sunset.dev", f"{kind}{part}") for kind in kinds for part in ("", "/status") for verb in CHANGE
    }
    assert allowed - own == {
        ("create", "", "events"),
        ("patch", "", "events"),
        ("create", "events.k8s.io", "events"),
        ("patch", "events.k8s.io", "events"),
        ("create", "authentication.k8s.io", "tokenreviews"),
        ("create", "authentication.k8s.io", "selfsubjectreviews"),
        ("create", "authorization.k8s.io", "selfsubjectaccessreviews"),
        ("create", "authorization.k8s.io", "selfsubjectrulesreviews"),  # everybody may
        ("create", "authorization.k8s.io", "subjectaccessreviews"),
    }


CHANGE = ("update", "patch")


def test_its_lease_is_the_only_one_it_may_write(plane: ControlPlane, installed: list[dict[str, Any]]) -> None:
    until(lambda: may(plane, "create", "coordination.k8s.io", "leases", NAMESPACE), "its rights to be in force")
    assert not may(plane, "update", "coordination.k8s.io", "leases", NAMESPACE)  # any of them
    assert not may(plane, "create", "coordination.k8s.io", "leases", "kube-system")


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_is_what_its_role_says_and_goes_with_it(
    plane: ControlPlane, installed: list[dict[str, Any]], feature: str
) -> None:
    role = role_of(feature)
    asked = [
        (verb, group, name)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for name in rule["resources"]
        for verb in rule["verbs"]
        if verb not in READ or name == "secrets"
    ]
    assert not [one for one in asked if may(plane, *one)]
    apply(plane, [role])
    try:
        until(lambda: all(may(plane, *one) for one in asked), f"{feature} to be in force")
        for one in REFUSED.get(feature, ()):
            assert not may(plane, *one), one
    finally:
        plane.api.delete(plane.api.path_of(role))
    until(lambda: not any(may(plane, *one) for one in asked), f"{feature} to be gone")


@pytest.mark.parametrize("feature", sorted(one.name for one in (CONFIG / "rights-namespaced").iterdir()))
def test_a_right_to_run_things_can_be_given_in_one_namespace_only(
    plane: ControlPlane, installed: list[dict[str, Any]], namespace: str, feature: str
) -> None:
    assert "runs anything" in role_of(feature)["metadata"]["annotations"]["sunset.dev/why"]
    documents = manifests.rendered(CONFIG / "rights-namespaced" / feature)
    kubectl(plane, "apply", f"--namespace={namespace}", "--server-side", "-f", "-", documents=documents)
    until(lambda: may(plane, "patch", "apps", "deployments", namespace), "the right to be in force")
    assert not may(plane, "patch", "apps", "deployments", "kube-system")
    assert not may(plane, "patch", "apps", "deployments")
    kubectl(plane, "delete", f"--namespace={namespace}", "-f", "-", documents=documents)


# What somebody might expect a feature to bring along, and must not.
REFUSED = {
    "uninstall": [
        ("create", "apps", "deployments"),
        ("patch", "apps", "deployments"),
        ("patch", "", "secrets"),
        ("delete", "", "nodes"),
        ("delete", "", "persistentvolumes"),
        ("deletecollection", "", "pods"),
    ],
    "force": [
        ("patch", "", "secrets"),
        ("patch", "", "serviceaccounts"),
        ("patch", "rbac.authorization.k8s.io", "clusterroles"),
        ("patch", "rbac.authorization.k8s.io", "clusterrolebindings"),
        ("patch", "admissionregistration.k8s.io", "validatingwebhookconfigurations"),
        ("patch", "", "nodes"),
    ],
    "drain-ngrok": [("delete", "networking.k8s.io", "ingresses"), ("delete", "", "services"), ("list", "", "secrets")],
    "drain-cert-manager": [("delete", "cert-manager.io", "certificates"), ("list", "", "secrets")],
    "maintenance": [("delete", "networking.k8s.io", "networkpolicies"), ("list", "", "secrets")],
    "managed-clusters": [("create", "", "namespaces"), ("patch", "", "namespaces"), ("list", "", "secrets")],
    "network-revert": [("patch", "", "nodes"), ("list", "", "secrets")],
    "freeze": [("create", "admissionregistration.k8s.io", "validatingwebhookconfigurations")],
    "quiesce": [("create", "apps", "deployments"), ("delete", "apps", "deployments")],
}


def test_editors_of_a_namespace_close_its_routes_and_no_more(
    plane: ControlPlane, installed: list[dict[str, Any]]
) -> None:
    rules = "/apis/rbac.authorization.k8s.io/v1/clusterroles"

    def verbs(role: str, resource: str) -> set[str]:
        found = plane.api.get(f"{rules}/{role}")[1].get("rules") or ()
        return {verb for rule in found if resource in rule.get("resources", ()) for verb in rule["verbs"]}

    until(lambda: "create" in verbs("edit", "maintenances"), "the role edit to have it")
    assert verbs("view", "uninstalls") == READ
    assert verbs("edit", "uninstalls") == READ
    assert verbs("admin", "drains") == READ
    assert verbs("edit", "maintenances") == {*READ, "create", "update", "patch", "delete"}
