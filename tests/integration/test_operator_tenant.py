# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tenant with the role `edit` in one namespace, against the shipped operator with every right there is.

The API server's own rules are taken away first: what the operator does must not depend on them. What it did is seen in
the audit log, which it cannot write.
"""

from __future__ import annotations

import base64
import gzip
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from integration.glue import Body, conditions, definitions, request, why
from integration.in_cluster import HOME, PATIENCE, InCluster, offer_page_image
from integration.maintaining import ingress, services_in
from lab.node import workloads
from lab.node.node import Node
from lab.operator.pod import Operator
from lab.plane.api import Api
from lab.plane.audit import AuditEvent, AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

RBAC = "rbac.authorization.k8s.io"
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/requests.sunset.dev"
KEY = "sunset-operator-backup-key"
QUICK = {"linger": 0, "reopenEndpoints": False}


@pytest.fixture(scope="module")
def running(plane: ControlPlane, node: Node, operator: Operator) -> Operator:
    """The operator as it is shipped, with all rights; only the names of images are the lab's."""
    offer_page_image(node)
    operator.wait_until_leading()
    return operator


@pytest.fixture(scope="module")
def cluster(running: Operator) -> InCluster:
    return InCluster(running)


@pytest.fixture(scope="module")
def unguarded(running: Operator) -> None:
    """Resources as they could be stored before the API server had rules for them."""
    api = running.plane.api
    assert api.delete(POLICY)[0] == 200
    for one in definitions():
        api.apply_crd(one)


@dataclass(frozen=True)
class Tenant:
    """What a person with `edit` in a namespace can do, and no more."""

    api: Api
    namespace: str

    def ask(self, name: str, /, **spec: Any) -> Body:
        wanted = request("Maintenance", name, self.namespace, **spec)

        def taken() -> Body | None:
            code, answer = self.api.post(self.api.path_of(wanted, collection=True), wanted)
            return answer if code == 201 else None

        return until(taken, f"Maintenance {name} to be taken")  # the rules take a moment to be gone


@pytest.fixture
def tenant(plane: ControlPlane, node_namespace: str) -> Iterator[Tenant]:
    yield tenant_of(plane, node_namespace)
    path = f"/apis/sunset.dev/v1alpha1/namespaces/{node_namespace}/maintenances"
    for item in plane.api.get(path)[1].get("items") or ():
        plane.api.delete(plane.api.path_of(item))
        # The next test does not wait for it: the operator has nothing more to do for it.
        plane.api.patch(plane.api.path_of(item), {"metadata": {"finalizers": None}})


def tenant_of(plane: ControlPlane, namespace: str) -> Tenant:
    user = plane.user(f"tenant-{namespace}")
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "tenant", "namespace": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user.name}],
    }
    plane.api.create(binding)
    api = Api(user)
    path = f"/apis/sunset.dev/v1alpha1/namespaces/{namespace}/maintenances"
    until(lambda: api.post(path, request("Maintenance", "x", namespace), dryRun="All")[0] == 201, "the role edit")
    return Tenant(api, namespace)


def beyond(audit: AuditTrail, *namespaces: str) -> list[tuple[str, str, str, str]]:
    """What the operator's account did that is nobody's business in these namespaces."""
    return sorted(
        {
            (event.verb, "/".join(filter(None, (event.resource, event.subresource))), event.namespace, event.name)
            for event in audit.events(Operator.service_account)
            if _is_beyond(event, namespaces)
        }
    )


def _is_beyond(event: AuditEvent, namespaces: tuple[str, ...]) -> bool:
    if event.resource == "secrets" or event.subresource == "token":
        return (event.namespace, event.name) != (HOME, KEY)  # its own, with which it signs backups
    if event.namespace in namespaces or (event.namespace == HOME and event.resource in ("leases", "events")):
        return False
    return event.mutating or (event.resource == "configmaps" and event.verb == "get")


def disguised(**page: Any) -> str:
    """A dictionary as a text in which neither a dot nor a slash is seen: Ansible before 2.19 makes one of it."""
    return repr(page).replace("/", r"\x2f").replace(".", r"\x2e")


ELSEWHERE = {"name": "extension-apiserver-authentication", "namespace": "kube-system", "key": "client-ca-file"}
ATTACKS: dict[str, dict[str, Any]] = {
    "token-disguised": {"page": disguised(html_file=TOKEN)},
    "token-list": {"page": "[" + disguised(html_file=TOKEN) + "]"},
    "token-file": {"page": TOKEN},
    "token-key": {"page": {"htmlFile": TOKEN}},
    "token-role-key": {"page": {"html_file": TOKEN}},
    "config-map-disguised": {"page": disguised(config_map=ELSEWHERE)},
    "config-map": {"page": {"configMap": ELSEWHERE}},
    "namespace": {"namespace": "kube-system"},
    "namespace-disguised": {"namespace": "['kube-system']"},
    "targets": {"targets": [{"namespace": "kube-system"}, {"name": "shop"}]},
    "route-kinds": {"routeKinds": [{"group": "", "kind": "Node", "backends": []}]},
    "gitops": {"gitops": "pause"},
}


@pytest.mark.usefixtures("unguarded")
def test_nothing_is_read_or_written_outside_of_the_namespace_whatever_the_spec_says(
    cluster: InCluster, tenant: Tenant, audit: AuditTrail
) -> None:
    cluster.api.create(ingress(tenant.namespace))
    bypass = f"secret-{secrets.token_hex(8)}"
    asked = {name: tenant.ask(name, **spec, **QUICK) for name, spec in ATTACKS.items()}
    # Whatever becomes of it, nothing of its header is written to a file.
    header = tenant.ask("bypass", bypass={"headers": {"X-Pass": bypass}}, timeout=2, **QUICK)
    for name, item in asked.items():
        status = cluster.until(item, "Blocked")
        assert conditions(status) == {"Blocked": "InvalidSpec"}, (name, status)
        assert why(status).startswith("not done: "), name
    until(lambda: cluster.status(header).get("conditions"), "the last one to be looked at", timeout=PATIENCE)
    assert beyond(audit, tenant.namespace) == []

    token = cluster.operator.run("cat", TOKEN)
    assert len(token) > 100
    path = f"/api/v1/namespaces/{tenant.namespace}"
    seen = json.dumps([tenant.api.get(f"{path}/{plural}")[1] for plural in ("configmaps", "events", "services")])
    assert token not in seen
    root = "/tmp/ansible-operator/runner/sunset.dev/v1alpha1/Maintenance"
    find = f"find {root} -path '*/{tenant.namespace}/*/artifacts/*' -type f"
    assert int(cluster.operator.run("sh", "-c", f"{find} | wc -l")) > 10
    assert cluster.operator.run("sh", "-c", f"{find} -exec grep -l {bypass} {{}} +; true") == ""


def test_a_page_is_shown_with_nothing_else_set_and_a_forged_backup_changes_no_route(
    cluster: InCluster, tenant: Tenant, audit: AuditTrail
) -> None:
    """The page is served by the image that is named nowhere in the manifests."""
    workloads.start_app(cluster.api, tenant.namespace, "shop")
    [route] = cluster.api.create(ingress(tenant.namespace))
    live = cluster.api.path_of(route)
    audit.begin_anew()
    asked = tenant.ask("night", **QUICK)
    cluster.until(asked, "Planned")  # carried out: the page is shown
    assert services_in(cluster.api.get(live)[1]) != {"shop"}
    maps = f"/api/v1/namespaces/{tenant.namespace}/configmaps"
    [backup] = tenant.api.get(maps, labelSelector="sunset.dev/maintenance=backup")[1]["items"]
    for operations in forged(backup):
        code, _answer = tenant.api.patch(f"{maps}/{backup['metadata']['name']}", operations)
        assert code == 200, "a tenant writes ConfigMaps"
    before = {path["metadata"]["name"]: path for path in cluster.operator.pods()}
    cluster.change(asked, state="disabled")
    until(lambda: settled(cluster.status(asked)), "the forged backup to be dealt with", timeout=PATIENCE, every=0.25)
    now = cluster.api.get(live)[1]
    assert [rule.get("host") for rule in now["spec"]["rules"]] == [rule.get("host") for rule in route["spec"]["rules"]]
    assert "server-snippet" not in json.dumps(now["metadata"].get("annotations") or {})
    assert {pod["metadata"]["name"]: restarts(pod) for pod in cluster.operator.pods()} == {
        name: restarts(pod) for name, pod in before.items()
    }
    assert beyond(audit, tenant.namespace) == []


def forged(backup: Body) -> Iterator[list[dict[str, Any]]]:
    """Another host, an annotation that runs code in a proxy, a pointer that needs more memory than there is."""
    [first] = [json.loads(text) for key, text in sorted(backup["data"].items()) if key == "0000"]
    changes = [
        {**first, "pattern": "/spec/rules/0/host", "before": "bank.example.com", "after": first.get("after")},
        {**first, "pattern": "/spec/rules/999999999/http/paths/0/backend"},
    ]
    for number, change in enumerate(changes, 1):
        yield [{"op": "add", "path": f"/data/{number:04}", "value": json.dumps(change)}]
    snippet = json.dumps({**first, "before": {"nginx.ingress.kubernetes.io/server-snippet": "x"}})
    yield [{"op": "add", "path": "/data/0003", "value": snippet}]
    application = {
        "api_version": "argoproj.io/v1alpha1",
        "kind": "Application",
        "namespace": "argocd",
        "name": "bank",
        "annotation": "argocd.argoproj.io/skip-reconcile",
        "value": "true",
    }
    yield [{"op": "add", "path": "/data/paused-0", "value": json.dumps(application)}]


def settled(status: Body) -> bool:
    return bool({"Blocked", "Completed"} & conditions(status).keys())


def restarts(pod: Body) -> int:
    return sum(one["restartCount"] for one in pod["status"].get("containerStatuses") or ())


def test_release_metadata_of_a_tenant_deletes_nothing_of_others(
    cluster: InCluster, tenant: Tenant, audit: AuditTrail
) -> None:
    """An administrator uninstalls the tenant's release. Its metadata claims what is somebody else's, and is a bomb."""
    victim = f"victim-{secrets.token_hex(4)}"
    cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": victim}})
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": victim}, "rules": []}
    ledger = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ledger", "namespace": victim}}
    cluster.api.create(role, ledger)
    hook = "\n---\n".join(json.dumps(thing) for thing in (role, ledger))
    for name, text in (("shop", hook), ("bomb", "#" * (200 << 20))):
        hooks = [{"name": "x", "path": "x.yaml", "manifest": text, "events": ["pre-install"]}]
        code, answer = tenant.api.post(f"/api/v1/namespaces/{tenant.namespace}/secrets", helm_release(name, hooks))
        assert code == 201, answer
    audit.begin_anew()
    spec = {"namespace": tenant.namespace, "approve": "always"}
    asked = cluster.api.create(
        *(request("Uninstall", f"{name}-{victim}", HOME, release=name, **spec) for name in ("shop", "bomb"))
    )
    for item in asked:
        until(lambda item=item: settled(cluster.status(item)), "the uninstall", timeout=PATIENCE, every=0.25)  # type: ignore[misc]
    for thing in (role, ledger):
        assert cluster.api.get(cluster.api.path_of(thing))[0] == 200, thing
    assert [event for event in audit.writes(Operator.service_account) if event.namespace == victim] == []
    assert [restarts(pod) for pod in cluster.operator.pods()] == [0]
    for item in asked:
        cluster.remove(item)
    cluster.api.delete(cluster.api.path_of(role))
    cluster.api.delete(f"/api/v1/namespaces/{victim}")


def helm_release(name: str, hooks: list[dict[str, Any]]) -> Body:
    release = {"name": name, "version": 1, "info": {"status": "deployed"}, "manifest": "", "hooks": hooks}
    packed = base64.b64encode(gzip.compress(json.dumps(release).encode(), 1 if len(hooks[0]["manifest"]) < 1000 else 9))
    labels = {"owner": "helm", "name": name, "status": "deployed", "version": "1"}
    return {
        "metadata": {"name": f"sh.helm.release.v1.{name}.v1", "labels": labels},
        "type": "helm.sh/release.v1",
        "data": {"release": base64.b64encode(packed).decode()},
    }


@pytest.mark.usefixtures("unguarded")
def test_two_pages_that_never_get_ready_do_not_stop_the_maintenances_of_others(
    cluster: InCluster, tenant: Tenant
) -> None:
    """There are two workers. Two pages never get ready and ask for all the time in the world."""
    cluster.api.create(ingress(tenant.namespace))
    greedy = {"timeout": 2_000_000_000, "linger": 2_000_000_000, "workload": {"image": "nowhere.invalid/never:1"}}
    held = [tenant.ask(f"greedy-{number}", **greedy, reason=str(number)) for number in range(2)]
    for item in held:
        until(lambda item=item: conditions(cluster.status(item)), "it to be begun", timeout=PATIENCE)  # type: ignore[misc]
    last = tenant.ask("over", start="2020-01-01T00:00:00Z", end="1h", **QUICK)
    status = cluster.until(last, "Completed")
    assert conditions(status)["Completed"] == "Completed"
    for item in held:
        assert "Blocked" in conditions(cluster.until(item, "Blocked"))
