# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster a task means: its environment counts, its plan names the cluster, and so does its hash."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from integration.ranked import Remover, failed, named, remaining, succeeded
from integration.running import run_playbook
from integration.stage import Stage, config_map
from lab.fixtures import AsUser
from lab.plane.controlplane import ControlPlane
from lab.plane.users import read_kubeconfig

pytestmark = pytest.mark.quick

DEAD = "https://127.0.0.1:9"  # the discard port: no server listens there

# K8S_AUTH_* as kubernetes.core reads them, and its client: where it leads.
PEER = """
from ansible.module_utils.basic import AnsibleModule, env_fallback

def main():
    spec = {
        "kubeconfig": {"type": "path", "fallback": (env_fallback, ["K8S_AUTH_KUBECONFIG"])},
        "context": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_CONTEXT"])},
    }
    module = AnsibleModule(spec)
    import kubernetes
    kubernetes.config.load_kube_config(module.params["kubeconfig"], module.params["context"])
    client = kubernetes.client.CoreV1Api()
    found = client.read_namespace("kube-system")
    module.exit_json(cluster=client.api_client.configuration.host, uid=found.metadata.uid)

main()
"""

# A login plugin that knows the secret only from its environment.
LOGIN = """
import json, os
certificate, key = (open(os.environ[name]).read() for name in ("LOGIN_CERT", "LOGIN_KEY"))
status = {"clientCertificateData": certificate, "clientKeyData": key}
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}))
"""


def two_clusters(plane: ControlPlane, directory: Path) -> Path:
    """A kubeconfig with the context of a real cluster, and that of a dead one, which is the current one."""
    content = json.loads(plane.admin.kubeconfig.read_text())
    real = content["contexts"][0]["context"]
    content["clusters"].append({"name": "dead", "cluster": {"server": DEAD}})
    content["contexts"].append({"name": "dead", "context": {**real, "cluster": "dead"}})
    content["current-context"] = "dead"
    file = directory / "two.json"
    file.write_text(json.dumps(content))
    return file


def members_task(namespace: str, **more: Any) -> dict[str, Any]:
    selector = {"selector": {"kinds": ["ConfigMap"], "namespaces": [namespace]}}
    return {"name": "look", "sunset.kube.members_info": {"members": selector}, **more}


def test_the_environment_of_play_block_and_task_counts_here_as_in_a_shipped_module(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "peer.py").write_text(PEER)
    block = {
        "name": "with an environment",
        "environment": {"K8S_AUTH_CONTEXT": "dead"},
        "block": [
            {
                "name": "the task's is stronger",
                "environment": {"K8S_AUTH_CONTEXT": "{{ wanted }}"},
                "vars": {"wanted": "lab"},
                "block": [
                    members_task(stage.namespace),
                    members_task(stage.namespace, connection="elsewhere"),
                    {"name": "peer", "peer": {}},
                ],
            },
            members_task(stage.namespace, ignore_errors=True),
        ],
    }
    run = run_playbook([block], two_clusters(plane, tmp_path), extra_args=["--module-path", str(tmp_path / "library")])
    here, shipped, peer, after = run.results
    server = read_kubeconfig(plane.admin.kubeconfig).server
    assert here["cluster"] == shipped["cluster"] == peer["cluster"] == server, run.stdout
    assert (here["cluster_name"], here["_status"]) == (f"context lab ({here['cluster']})", "ok")
    assert DEAD in after["msg"], "what one task is given is not left for the next"


def test_login_plugin_and_kubeconfig_are_found_by_the_tasks_environment(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    content = json.loads(plane.admin.kubeconfig.read_text())
    user = content["users"][0]["user"]
    for part in ("certificate", "key"):
        (tmp_path / part).write_bytes(base64.b64decode(user.pop(f"client-{part}-data")))
    (tmp_path / "login.py").write_text(LOGIN)
    user["exec"] = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(tmp_path / "login.py")],
        "interactiveMode": "Never",
    }
    file = tmp_path / "config.json"
    file.write_text(json.dumps(content))
    login = {
        "K8S_AUTH_KUBECONFIG": "",
        "KUBECONFIG": str(file),
        "LOGIN_CERT": str(tmp_path / "certificate"),
        "LOGIN_KEY": str(tmp_path / "key"),
    }
    run = run_playbook([members_task(stage.namespace, environment=login)], two_clusters(plane, tmp_path))
    assert run.result["_status"] == "ok", run.stdout


def test_a_hash_is_for_one_cluster_under_any_address_and_for_the_options_it_was_made_with(
    stage: Stage, plane: ControlPlane
) -> None:
    remove = Remover(plane)
    made = stage.put(config_map("a", stage.namespace))
    of = named(*made)
    seen = succeeded(remove(of, check_mode=True))["plan_hash"]
    elsewhere = read_kubeconfig(plane.admin.kubeconfig).server.replace("127.0.0.1", "localhost")
    again = succeeded(remove(of, check_mode=True, host=elsewhere))
    assert again["plan_hash"] == seen
    for option, value in {
        "foreign_instances": "cascade",
        "ownership": "ignore",
        "keep_markers": False,
        "propagation_policy": "Orphan",
        "finalize_namespaces": True,
        "on_timeout": "continue",
    }.items():
        assert "the plan has changed" in failed(remove(of, plan_hash=seen, **{option: value})), option
    assert remaining(stage, made) == ["a"]
    succeeded(remove(of, plan_hash=seen, timeout=50, host=elsewhere))
    assert remaining(stage, made) == []


def test_who_may_not_read_kube_system_has_a_hash_of_the_address(
    stage: Stage, plane: ControlPlane, as_user: AsUser
) -> None:
    rules = [{"apiGroups": ["*"], "resources": ["configmaps"], "verbs": ["*"]}]
    tenant = as_user("tenant", rules)
    remove = Remover(plane)
    of = named(*stage.put(config_map("a", stage.namespace)))
    hashes = [succeeded(remove(of, check_mode=True, user=tenant))["plan_hash"] for _turn in range(2)]
    assert len(set(hashes)) == 1
    assert hashes[0] != succeeded(remove(of, check_mode=True))["plan_hash"]
    succeeded(remove(of, user=tenant, plan_hash=hashes[0]))
