# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's image, built with its own Containerfile and run as a pod on a real kubelet with its own manifests."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
from typing import Any

import yaml

from lab.operator import image as operator_image
from lab.operator.manifests import NAME
from lab.operator.pod import Operator
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

MIB = 1 << 20


def pod_of(operator: Operator) -> dict[str, Any]:
    return operator.wait_until_ready()


def test_it_runs_where_the_restricted_standard_is_enforced(plane: ControlPlane, operator: Operator) -> None:
    _status, namespace = plane.api.get(f"/api/v1/namespaces/{operator.namespace}")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    pod = pod_of(operator)
    assert not pod["spec"].get("hostNetwork")
    assert [one["restartCount"] for one in pod["status"]["containerStatuses"]] == [0]


def test_it_is_nobody_special_and_writes_to_tmp_only(operator: Operator) -> None:
    assert operator.run("id", "-u").strip() == "1001"
    writable = "for place in / /opt/ansible /usr/share /etc /var/tmp /tmp; do [ -w $place ] && echo $place; done; true"
    assert operator.run("sh", "-c", writable).split() == ["/tmp"]
    root = next(line for line in operator.run("cat", "/proc/mounts").splitlines() if line.split()[1] == "/")
    assert "ro" in root.split()[3].split(",")
    assert "CapEff:\t0000000000000000" in operator.run("cat", "/proc/self/status")


def test_it_needs_little_memory_while_nobody_asks_for_anything(operator: Operator) -> None:
    operator.wait_until_leading()
    used = operator.memory()
    assert MIB < used <= 256 * MIB


def test_it_brings_this_collection_and_the_packages_it_needs(operator: Operator) -> None:
    version = yaml.safe_load((operator_image.ROOT / "galaxy.yml").read_text())["version"]
    listed = json.loads(operator.run("ansible-galaxy", "collection", "list", "--format=json"))
    told = {place: found for place, found in listed.items() if "/ansible/_internal/" not in place}  # ansible-core's own
    assert told == {"/usr/share/ansible/collections/ansible_collections": {"sunset.kube": {"version": version}}}
    # Every requirement of the collection is met, whether by the base image or by our own list.
    wanted = (operator_image.ROOT / "requirements.txt").read_text().splitlines()
    lines = [line for line in wanted if line and not line.startswith("#")]
    names = [line.partition(">=")[0] for line in lines]
    assert len(names) == 3
    check = "import sys, importlib.metadata as m; [m.version(name) for name in sys.argv[1:]]; print('all')"
    assert operator.run("python3", "-c", check, *names) == "all\n"


def test_it_watches_its_own_kinds_and_no_others_unless_told(operator: Operator) -> None:
    watched = yaml.safe_load(operator.run("cat", "/tmp/watches.yaml"))
    assert {one["group"] for one in watched} == {"sunset.dev"}
    assert watched == yaml.safe_load((operator_image.ROOT / "operator" / "watches.yaml").read_text())


def test_foreign_kinds_are_added_to_one_list_when_switched_on(operator: Operator) -> None:
    """What ansible-operator would be given, without starting a second one."""
    script = "sed 's|^exec .*|cat $all|' /usr/local/bin/sunset-operator > /tmp/try/run && sh /tmp/try/run"
    said = operator.run("sh", "-c", f"mkdir -p /tmp/try && export WATCH_OCM=true TMPDIR=/tmp/try && {script}")
    assert said.startswith("watching what is in watches-ocm.yaml, too\n")
    operator_folder = operator_image.ROOT / "operator"
    expected = [
        *yaml.safe_load((operator_folder / "watches.yaml").read_text()),
        *yaml.safe_load((operator_folder / "watches-ocm.yaml").read_text()),
    ]
    assert yaml.safe_load(said.partition("\n")[2]) == expected


def ask_for_metrics(operator: Operator, token: str | None) -> tuple[int, str]:
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE  # it made its certificate for itself
    address = pod_of(operator)["status"]["podIP"]
    connection = http.client.HTTPSConnection(address, 8443, timeout=20, context=trust)
    try:
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_metrics_are_for_those_who_may_read_them(plane: ControlPlane, operator: Operator, namespace: str) -> None:
    operator.wait_until_leading()
    assert ask_for_metrics(operator, None)[0] == 401
    for name in ("a", "b"):
        metadata = {"name": name, "namespace": namespace}
        plane.api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"metrics-{namespace}"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "sunset-operator-metrics-reader",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": namespace}],
    }
    plane.api.create(binding)
    try:
        status, told = ask_for_metrics(operator, plane.service_account_token(namespace, "a"))
        assert (status, "ansible_operator_build_info" in told) == (200, True)
        assert ask_for_metrics(operator, plane.service_account_token(namespace, "b"))[0] == 403
    finally:
        plane.api.delete(plane.api.path_of(binding))


def test_one_that_is_killed_is_followed_by_another(operator: Operator) -> None:
    before = operator.wait_until_leading()
    operator.kill()
    after = operator.wait_until_leading()
    assert after != before


# -- the commands of the guide: last, for the second of them takes the operator away -----------------------------------


def make(plane: ControlPlane, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["make", f"--directory={operator_image.ROOT}", "--no-print-directory", *words]
    surroundings = {**os.environ, "KUBECONFIG": str(plane.admin.kubeconfig)}
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False, timeout=300)


def keep_what_the_lab_needs(operator: Operator) -> None:
    """The way to the API server: owned by the lab too, it stays when others apply the manifests as they are."""
    path = f"/apis/apps/v1/namespaces/{operator.namespace}/deployments/{NAME}"
    _status, deployment = operator.plane.api.get(path)
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    way = [one for one in container["env"] if one["name"].startswith("KUBERNETES_SERVICE_")]
    assert len(way) == 2
    pod = {"containers": [{"name": container["name"], "env": way}]}
    metadata = {"name": NAME, "namespace": operator.namespace}
    wanted = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": {"spec": pod}}}
    command = ["kubectl", f"--kubeconfig={operator.plane.admin.kubeconfig}", "apply", "--server-side"]
    command += ["--field-manager=lab", "--force-conflicts", "--filename=-"]
    subprocess.run(command, input=json.dumps(wanted), text=True, capture_output=True, check=True)


def test_make_deploys_it_and_takes_it_away_once_nothing_waits_for_it(plane: ControlPlane, operator: Operator) -> None:
    namespace = operator.namespace  # elsewhere a Drain is refused
    keep_what_the_lab_needs(operator)
    _archive, reference = operator_image.built()
    deployed = make(plane, "operator-deploy", f"IMAGE={reference}", "RIGHTS=drain-ngrok freeze")
    assert deployed.returncode == 0, deployed.stderr
    assert "successfully rolled out" in deployed.stdout
    operator.wait_until_leading()

    metadata = {"name": "ngrok", "namespace": namespace}
    spec = {"profile": "ngrok", "onDeletion": True, "instance": {"namespaces": [namespace]}}
    drain = {"apiVersion": "sunset.dev/v1alpha1", "kind": "Drain", "metadata": metadata, "spec": spec}
    plane.api.create(drain)
    path = plane.api.path_of(drain)
    until(lambda: plane.api.get(path)[1]["metadata"].get("finalizers"), "the operator to hold the Drain")
    refused = make(plane, "operator-undeploy")
    assert refused.returncode != 0
    assert f"drains.sunset.dev/ngrok in {namespace}" in refused.stderr
    assert operator.wait_until_ready()

    plane.api.delete(path)
    until(lambda: plane.api.get(path)[0] == 404, "the Drain to be done", timeout=90)
    gone = make(plane, "operator-undeploy")
    assert gone.returncode == 0, gone.stderr
    left = subprocess.run(
        [
            "kubectl",
            f"--kubeconfig={plane.admin.kubeconfig}",
            "get",
            "crd,ns,clusterrole,clusterrolebinding",
            "-o=name",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [name for name in left.stdout.split() if "sunset" in name] == []
