# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who stands behind a finalizer, told on a real API server by rights, releases, webhooks and Leases."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import finalizer
from integration.breaking import somebody_answers
from integration.explaining import Explainer, holder
from integration.ranked import Remover, define, failed, service_account, succeeded
from integration.running import run_job
from integration.stage import Body, Stage, body, bring_to_life, crd, deployment, lease
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

RBAC = "rbac.authorization.k8s.io"


class Product:
    """A kind of its own, with one object that hangs on a finalizer of that kind."""

    def __init__(self, stage: Stage, **annotations: str) -> None:
        self.stage = stage
        self.here = stage.namespace
        self.group = f"{stage.namespace}.example.com"
        definition = crd("Vase", self.group)
        definition["metadata"]["annotations"] = annotations
        self.definition = define(stage, definition)
        self.kind = self.definition["metadata"]["name"]
        stage.hang(body(f"{self.group}/v1", "Vase", "v", self.here, f"{self.group}/cleanup"))

    def controller(
        self, name: str, *, runs: bool, rules: list[dict[str, Any]] | None = None, **annotations: str
    ) -> Body:
        """A workload whose name says nothing, with an account of its own."""
        self.stage.put(service_account(name, self.here))
        made = deployment(name, self.here, account=name, replicas=int(runs))
        made["metadata"]["annotations"] = annotations
        [made] = self.stage.put(made)
        if runs:
            bring_to_life(self.stage, made)
        if rules:
            self.allow(name, rules)
        return made

    def allow(self, account: str, rules: list[dict[str, Any]]) -> None:
        name = f"{self.here}-{account}"
        role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
        subjects = [{"kind": "ServiceAccount", "namespace": self.here, "name": account}]
        self.stage.put(body(f"{RBAC}/v1", "ClusterRole", name, "", rules=rules))
        self.stage.put(body(f"{RBAC}/v1", "ClusterRoleBinding", name, "", roleRef=role, subjects=subjects))

    def rule(self, *verbs: str, resource: str = "vases", group: str = "") -> dict[str, Any]:
        return {"apiGroups": [group or self.group], "resources": [resource], "verbs": list(verbs)}

    def life(self, explain: Explainer) -> tuple[str, str, str]:
        found = holder(explain(kind=self.kind, name="v", namespace=self.here), "v")
        return found["alive"], found["owner"], found["why"]


# name: (what the account may do, does it run, who it is and whether he lives)
RIGHTS: dict[str, tuple[tuple[str, ...], str, bool, str]] = {
    "may patch it, and runs": (("get", "patch"), "vases", True, "alive"),
    "may update its finalizers, and runs": (("update",), "vases/finalizers", True, "alive"),
    "may patch it, and is scaled to zero": (("patch",), "vases", False, "gone"),
    "may only look, and runs": (("get", "list", "watch"), "vases", True, "unknown"),
    "may only look, and is scaled to zero": (("get", "list", "watch"), "vases", False, "unknown"),
}


@pytest.mark.parametrize(("verbs", "resource", "runs", "life"), RIGHTS.values(), ids=RIGHTS)
def test_a_workload_is_the_owner_if_its_account_may_change_the_kind(
    stage: Stage, explain: Explainer, verbs: tuple[str, ...], resource: str, runs: bool, life: str
) -> None:
    product = Product(stage)
    product.controller("potter", runs=runs, rules=[product.rule(*verbs, resource=resource)])
    found, who, why = product.life(explain)
    assert found == life
    assert (who == f"Deployment {product.here}/potter") is (life != "unknown")
    assert (f"may change {product.kind}" in why) is (life != "unknown")


def test_a_finalizer_stays_while_an_owner_by_right_runs_and_goes_without_one(stage: Stage, explain: Explainer) -> None:
    """What is told as alive is not taken off by the module either."""
    product = Product(stage)
    working = product.controller("potter", runs=True, rules=[product.rule("patch")])
    options = {"kind": product.kind, "namespace": product.here, "finalizers": [f"{product.group}/cleanup"]}
    kubeconfig = explain.user.kubeconfig
    [kept] = succeeded(run_job(finalizer.JOB, options, kubeconfig))["kept"]
    assert f"Deployment {product.here}/potter has 1 of 1 replicas available" in kept["reason"]
    assert stage.api.patch(stage.api.path_of(working), {"spec": {"replicas": 0}})[0] == 200
    until(lambda: not stage.look(working)["status"].get("availableReplicas"), "it to be down", every=0.05)
    assert succeeded(run_job(finalizer.JOB, options, kubeconfig))["counts"]["gone"] == 1


def test_who_may_change_everything_is_nobody_in_particular(stage: Stage, explain: Explainer) -> None:
    product = Product(stage)
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    product.controller("dashboard", runs=True, rules=[everything])
    assert product.life(explain)[0] == "unknown"


def test_who_holds_a_role_made_of_others_is_nobody_in_particular(stage: Stage, explain: Explainer) -> None:
    """As `edit` is: a product adds its kinds to it, and every pipeline that deploys with it may change them."""
    product = Product(stage)
    part, whole = f"{product.here}-part", f"{product.here}-pipeline"
    made_of = {"clusterRoleSelectors": [{"matchLabels": {"to": whole}}]}
    stage.put(body(f"{RBAC}/v1", "ClusterRole", part, "", labels={"to": whole}, rules=[product.rule("patch")]))
    [role] = stage.put(body(f"{RBAC}/v1", "ClusterRole", whole, "", aggregationRule=made_of, rules=[]))
    until(lambda: stage.look(role)["rules"], "the role to be put together", every=0.05)
    product.controller("pipeline", runs=True)
    subjects = [{"kind": "ServiceAccount", "namespace": product.here, "name": "pipeline"}]
    bound = {"apiGroup": RBAC, "kind": "ClusterRole", "name": whole}
    stage.put(body(f"{RBAC}/v1", "ClusterRoleBinding", whole, "", roleRef=bound, subjects=subjects))
    assert product.life(explain)[0] == "unknown"


def test_who_may_look_in_his_namespace_only_sees_who_runs_there(
    stage: Stage, explain: Explainer, as_user: AsUser
) -> None:
    product = Product(stage)
    name = f"{product.group.partition('.')[0]}-operator"
    [operator] = stage.put(deployment(name, product.here))
    bring_to_life(stage, operator)
    user = as_user("tenant", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}], product.here)
    asked = {"kind": product.kind, "name": "v", "namespace": product.here}
    until(lambda: explain(user=user, **asked)["looked_at"], "the rights to be in force")
    result = explain(user=user, **asked)
    assert (holder(result, "v")["alive"], holder(result, "v")["owner"]) == (
        "alive",
        f"Deployment {product.here}/{name}",
    )
    assert any(line.startswith("Deployments: ") and "403" in line for line in result["unreadable"])


def test_an_owner_by_name_that_is_down_is_not_gone_while_another_one_may_act(stage: Stage, explain: Explainer) -> None:
    """The old operator was scaled down, and a new one of another name has taken over."""
    product = Product(stage)
    old = product.group.partition(".")[0]
    stage.put(deployment(f"{old}-operator", product.here, replicas=0))
    assert product.life(explain)[0] == "gone"
    product.controller("successor", runs=True, rules=[product.rule("patch")])
    life, _who, why = product.life(explain)
    assert life == "unknown"
    assert f"but Deployment {product.here}/successor runs and may change {product.kind}" in why


def test_a_stale_lease_is_not_the_end_while_somebody_beside_it_may_act(stage: Stage, explain: Explainer) -> None:
    product = Product(stage)
    stage.put(lease(f"0a1b.{product.group}", product.here, renewed_ago=650))
    life, who, why = product.life(explain)
    assert (life, who) == ("gone", f"Lease {product.here}/0a1b.{product.group}")
    assert "was last renewed 6" in why
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    product.controller("rebuilt", runs=True, rules=[everything])
    assert product.life(explain)[0] == "unknown"
    stage.api.delete(f"/apis/coordination.k8s.io/v1/namespaces/{product.here}/leases/0a1b.{product.group}")
    stage.put(lease(f"2c3d.{product.group}", product.here, renewed_ago=1))
    assert product.life(explain)[0] == "alive"


def test_a_run_waits_for_whoever_is_not_told_as_gone(stage: Stage, plane: ControlPlane) -> None:
    """The old operator is scaled to zero: that ends a run in seconds, until one of another name has taken over."""
    product = Product(stage)
    old = product.group.partition(".")[0]
    stage.put(deployment(f"{old}-operator", product.here, replicas=0))
    members = {"objects": [{"kind": product.kind, "name": "v", "namespace": product.here}]}
    remove = Remover(plane)
    assert failed(remove(members, timeout=600)).startswith("stuck")
    product.controller("successor", runs=True, rules=[product.rule("patch")])
    assert "out of time" in failed(remove(members, timeout=20))


RELEASE = {"meta.helm.sh/release-name": "pottery", "meta.helm.sh/release-namespace": "kiln"}


@pytest.mark.parametrize(("runs", "life"), [(True, "alive"), (False, "gone")])
def test_the_helm_release_of_the_definition_leads_to_the_owner(
    stage: Stage, explain: Explainer, runs: bool, life: str
) -> None:
    product = Product(stage, **RELEASE)
    product.controller("stranger", runs=True)
    found, _who, why = product.life(explain)
    assert found == "unknown"
    assert f"Helm release kiln/pottery, which {product.kind} is from, has no workload here" in why
    product.controller("wheel", runs=runs, **RELEASE)
    found, who, _why = product.life(explain)
    assert (found, who) == (life, f"Deployment {product.here}/wheel")


def test_a_webhook_of_the_kind_that_is_answered_shows_life(stage: Stage, explain: Explainer) -> None:
    product = Product(stage)
    somebody_answers(stage, "checker")
    assert product.life(explain)[0] == "unknown"
    hook = {
        "name": "vases.example.com",
        "clientConfig": {"service": {"namespace": product.here, "name": "checker"}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": [
            {"apiGroups": [product.group], "resources": ["vases"], "apiVersions": ["*"], "operations": ["DELETE"]}
        ],
    }
    stage.put(
        body(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            f"vases-{product.here}",
            "",
            webhooks=[hook],
        )
    )
    stage.afterwards(
        lambda: stage.api.delete(
            f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/vases-{product.here}"
        )
    )
    life, who, why = product.life(explain)
    assert (life, who) == ("alive", f"Service {product.here}/checker")
    assert "has ready endpoints" in why


def test_who_may_not_see_roles_is_told_so_and_hears_nothing_of_an_end(
    stage: Stage, explain: Explainer, as_user: AsUser, audit: AuditTrail
) -> None:
    product = Product(stage)
    product.controller("potter", runs=False, rules=[product.rule("patch")])
    groups = [product.group, "apps", "coordination.k8s.io", "apiextensions.k8s.io", "admissionregistration.k8s.io", ""]
    user = as_user("half-blind", [{"apiGroups": groups, "resources": ["*"], "verbs": ["list", "get"]}])
    until(lambda: explain(user=user, kind=product.kind)["looked_at"], "the rights to be in force")
    result = explain(user=user, kind=product.kind, name="v", namespace=product.here)
    assert holder(result, "v")["alive"] == "unknown"
    assert any(line.startswith("ClusterRoles: ") and "403" in line for line in result["unreadable"])
