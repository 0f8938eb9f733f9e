# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator made and nobody deletes is named in the end, and nothing of its neighbours."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.helm import Helm
from integration.ngrok_operator import DEPLOYMENTS, FIELD_MANAGER, NgrokOperator
from integration.products import OPERATOR_KINDS, custom, definition, ingress, marked
from integration.ranked import annotated, define, failed, succeeded
from integration.stage import Body, Stage, body, crd, deployment, lease
from integration.uninstalling import Uninstaller
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

MANAGED_BY = "app.kubernetes.io/managed-by"
SECRET = "ngrok-operator-default-tls"


def named(rows: list[dict[str, Any]], *namespaces: str) -> dict[str, str]:
    """What of these namespaces is named, with the trace it was known by. Those of other tests may be on their way."""
    here = [row for row in rows if row["object"]["namespace"] in namespaces]
    return {
        f"{row['object']['kind']} {row['object']['namespace']}/{row['object']['name']}": row["trace"] for row in here
    }


def kubectl(plane: ControlPlane, home: Path, command: str) -> None:
    """As it is pasted."""
    env = {**os.environ, "HOME": str(home), "KUBECONFIG": str(plane.admin.kubeconfig)}
    subprocess.run(["sh", "-c", command], env=env, check=True)


def gone_for_long(operator: NgrokOperator) -> None:
    """Scaled to 0, and nobody renews its Lease any more."""
    for component in DEPLOYMENTS:
        operator.scale(component, 0)
    place = f"/apis/coordination.k8s.io/v1/namespaces/{operator.namespace}/leases/{operator.name}-leader"
    stale = {"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}}
    assert operator.api.patch(place, stale, fieldManager=FIELD_MANAGER)[0] == 200


@pytest.fixture
def ngrok_definitions(plane: ControlPlane, ngrok_kinds: None) -> Iterator[list[Body]]:
    """The operator's definitions, which are there again for the next test."""
    definitions = [definition(*entry) for entry in OPERATOR_KINDS]
    yield definitions
    for one in definitions:
        plane.api.apply_crd(one)


def config_map(name: str, namespace: str, **labels: Any) -> Body:
    """With data: an object of which nobody wrote a field has no field manager."""
    return body("v1", "ConfigMap", name, namespace, data={"a": "b"}, **labels)


# -- the ngrok operator, played ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["running, Delete", "running, Retain", "gone, Retain"])
def test_what_the_ngrok_operator_made_and_is_still_there_is_named_and_nothing_else(
    stage: Stage,
    uninstaller: Uninstaller,
    plane: ControlPlane,
    ngrok_definitions: list[Body],
    tmp_path: Path,
    how: str,
) -> None:
    home, shop = stage.namespace, stage.another_namespace()
    stage.put(custom("Domain", "d", shop, labels=marked(home)), manager=FIELD_MANAGER)
    stage.put(config_map("settings", shop), manager="kubectl-client-side-apply")
    with NgrokOperator(stage, home, shop) as operator:
        bound = operator.bind("http://api.example", "bound", shop)
        services = {f"Service {home}/{bound['metadata']['name']}", f"Service {shop}/bound"}
        until(lambda: len(operator.holds()) == 3, "the operator to hold everything")
        if how == "gone, Retain":
            gone_for_long(operator)
        wanted = {"namespace": home, "instances": "delete", "policy": how.partition(", ")[2], "timeout": 60}
        done = succeeded(uninstaller(*operator.deployments().values(), *ngrok_definitions, **wanted))
    expected = {f"Secret {home}/{SECRET}"} | (services if how.endswith("Retain") else set())
    assert named(done["leftovers"], home, shop) == dict.fromkeys(expected, "made")
    assert named(done["possible_leftovers"], home, shop) == {}
    assert stage.api.get(f"/apis/coordination.k8s.io/v1/namespaces/{home}/leases/ngrok-operator-leader")[0] == 404
    for row in done["leftovers"]:
        if row["object"]["namespace"] in (home, shop):
            assert row["command"] in "\n".join(done["text"])
            kubectl(plane, tmp_path, row["command"])
    again = succeeded(uninstaller(*operator.deployments().values(), *ngrok_definitions, **wanted))
    assert named(again["leftovers"] + again["possible_leftovers"], home, shop) == {}


def test_a_helm_release_of_it_leaves_its_neighbours_unnamed(
    stage: Stage, uninstaller: Uninstaller, plane: ControlPlane, ngrok_definitions: list[Body], tmp_path: Path
) -> None:
    """Other releases in its namespace and elsewhere, and objects that only use it."""
    home, shop = stage.namespace, stage.another_namespace()
    helm, elsewhere = Helm(plane, tmp_path / "home", home), Helm(plane, tmp_path / "shop", shop)
    labels = {"app.kubernetes.io/name": "billing", MANAGED_BY: "Helm", "helm.sh/chart": "billing-1.0.0"}
    files = {"templates/c.yaml": body("v1", "ConfigMap", "billing", "", labels=labels)}
    for one in (helm, elsewhere):
        one("install", "billing", str(one.chart(files, "billing", "billing")))
    uses = annotated(ingress("web", shop), **{"k8s.ngrok.com/mapping-strategy": "edges"})
    uses["metadata"]["labels"] = {"ingress.k8s.ngrok.com/team": "shop"}
    stage.put(uses, manager="kubectl-client-side-apply")
    stage.put(config_map("made-by-billing", home, labels={MANAGED_BY: "billing"}), manager="billing")
    with NgrokOperator(stage, home, shop) as operator:
        bound = operator.bind("http://api.example", "bound", shop)
        until(lambda: len(operator.holds()) == 2, "the operator to hold everything")
        adopted = {
            "labels": {MANAGED_BY: "Helm"},
            "annotations": {
                f"meta.helm.sh/{key}": value
                for key, value in (
                    ("release-name", "tunnel"),
                    ("release-namespace", home),
                )
            },
        }
        chart = {}
        for number, one in enumerate((*operator.deployments().values(), *ngrok_definitions)):
            assert plane.api.patch(plane.api.path_of(one), {"metadata": adopted})[0] == 200  # Helm takes it over
            chart[f"templates/{number}.yaml"] = one
        helm("install", "tunnel", str(helm.chart(chart, "ngrok-operator", "tunnel")))
        gone_for_long(operator)
        done = succeeded(uninstaller(release="tunnel", namespace=home, instances="delete"))
    services = [f"Service {home}/{bound['metadata']['name']}", f"Service {shop}/bound"]
    assert named(done["leftovers"], home, shop) == dict.fromkeys([f"Secret {home}/{SECRET}", *services], "made")
    assert named(done["possible_leftovers"], home, shop) == {}


# -- any product -------------------------------------------------------------------------------------------------------


class Made:
    """A product of this test's own, with a definition, an operator, and what that has made."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.name = f"p{secrets.token_hex(4)}-operator"
        self.home, self.shop = stage.namespace, stage.another_namespace()
        self.definition = define(stage, crd("Parcel", f"{self.name}.example.com"))
        self.workload = deployment("mail", self.home)
        self.workload["metadata"]["labels"] = {"app.kubernetes.io/name": self.name}
        stage.put(self.workload)

    @property
    def label(self) -> dict[str, str]:
        return {f"{self.name}.example.com/parcel": "first"}

    def uninstalled(self, uninstaller: Uninstaller, **more: Any) -> dict[str, Any]:
        return uninstaller(self.workload, self.definition, namespace=self.home, **more)


@pytest.fixture
def made(stage: Stage) -> Made:
    return Made(stage)


def test_what_its_program_made_is_left_and_what_only_has_its_name_may_be(made: Made, uninstaller: Uninstaller) -> None:
    stage, home, shop, name = made.stage, made.home, made.shop, made.name
    stage.put(
        config_map("at-home", home),
        config_map("labelled", shop, labels=made.label),
        config_map("managed", shop, labels={MANAGED_BY: name}),
        config_map("bare", shop),
        annotated(config_map("kept", home), **{"sunset.dev/keep": "true"}),
        manager=name,
    )
    stage.put(config_map("restored", shop, labels={MANAGED_BY: name}), manager="velero-server")
    stage.put(config_map("nameless", shop, labels=made.label), manager="manager")
    shared = stage.put(config_map("shared", shop, labels=made.label), manager=name)[0]
    stage.api.patch(stage.api.path_of(shared), {"data": {"by": "hand"}}, fieldManager="kubectl-edit")
    done = succeeded(made.uninstalled(uninstaller))
    sure = [f"ConfigMap {home}/at-home", f"ConfigMap {shop}/labelled", f"ConfigMap {shop}/managed"]
    assert named(done["leftovers"], home, shop) == dict.fromkeys(sure, "made")
    maybe = [f"ConfigMap {shop}/{one}" for one in ("bare", "restored", "nameless")]
    assert named(done["possible_leftovers"], home, shop) == dict.fromkeys(maybe, "name")


def test_its_leader_lease_goes_if_its_pod_held_it_and_is_named_if_not(made: Made, uninstaller: Uninstaller) -> None:
    stage, home, shop = made.stage, made.home, made.shop
    held = lease(f"{made.name}-leader", home, renewed_ago=60, holder="mail-6c9f7d5b4-x2k4z_1")
    other = lease(f"{made.name}-backup", home, renewed_ago=60, holder="somewhere-else")
    of_another = lease("outlet-leader", shop, renewed_ago=60, holder="outlet-1")  # one for each installation
    stage.put(held, other, of_another, manager=made.name)
    plan = succeeded(made.uninstalled(uninstaller, check_mode=True))
    assert "Lease" in [row["object"]["kind"] for step in plan["plan"] for row in step["objects"]]
    done = succeeded(made.uninstalled(uninstaller))
    assert stage.is_gone(held)
    assert named(done["leftovers"], home, shop) == {f"Lease {home}/{made.name}-backup": "made"}
    assert named(done["possible_leftovers"], home, shop) == {}


def test_what_others_wrote_is_not_named_whatever_of_it_they_use(made: Made, uninstaller: Uninstaller) -> None:
    stage, home, shop = made.stage, made.home, made.shop
    by_hand = config_map("by-hand", shop, labels=made.label)
    stage.put(annotated(by_hand, **made.label), manager="kubectl-client-side-apply")
    stage.put(config_map("of-helm", home, labels={MANAGED_BY: "Helm"}), manager="helm")
    stage.put(config_map("of-another", home, labels={"app.kubernetes.io/name": made.name}), manager="another-operator")
    (owner,) = stage.put(config_map("owner", shop), manager="kubectl-create")
    owned = config_map("owned", shop, labels=made.label)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    owned["metadata"]["ownerReferences"] = [reference]
    stage.put(owned, manager=made.name)
    done = succeeded(made.uninstalled(uninstaller, on_leftovers="fail"))
    assert named(done["leftovers"] + done["possible_leftovers"], home, shop) == {}


def test_only_what_is_sure_makes_the_task_fail(made: Made, uninstaller: Uninstaller) -> None:
    made.stage.put(config_map("bare", made.shop), manager=made.name)
    done = succeeded(made.uninstalled(uninstaller, on_leftovers="fail"))
    assert named(done["possible_leftovers"], made.shop) == {f"ConfigMap {made.shop}/bare": "name"}
    assert "1 may be left of it, see possible_leftovers" in done["verified"]
    made.stage.put(config_map("at-home", made.home), manager=made.name)
    again = made.uninstalled(uninstaller, on_leftovers="fail")
    assert f"ConfigMap {made.home}/at-home (made by its program {made.name}" in failed(again)


def test_what_another_installation_may_have_made_is_no_leftover(made: Made, uninstaller: Uninstaller) -> None:
    stage = made.stage
    second = deployment("mail-2", stage.another_namespace())
    second["metadata"]["labels"] = {"app.kubernetes.io/name": made.name}
    stage.put(second)
    stage.put(config_map("labelled", made.shop, labels=made.label), config_map("at-home", made.home), manager=made.name)
    done = succeeded(made.uninstalled(uninstaller, crds="keep"))
    assert named(done["leftovers"], made.home, made.shop) == {}
    assert named(done["possible_leftovers"], made.home, made.shop) == {f"ConfigMap {made.home}/at-home": "name"}


def test_looking_for_what_it_made_costs_no_request(made: Made, uninstaller: Uninstaller, audit: AuditTrail) -> None:
    """Each kind is listed at the end, and nothing is read by its name, however much there is to find."""

    def asked() -> set[tuple[str, str]]:  # a set: what goes by itself is waited for with another look
        return {(one.verb, one.uri.partition("?")[0]) for one in audit.events(uninstaller.user.name)}

    audit.begin_anew()
    succeeded(made.uninstalled(uninstaller, stages=["verify"]))
    without = asked()
    made.stage.put(*(config_map(f"made-{number}", made.home) for number in range(20)), manager=made.name)
    audit.begin_anew()
    done = succeeded(made.uninstalled(uninstaller, stages=["verify"]))
    assert list(named(done["leftovers"], made.home).values()).count("made") == 20
    assert ("list", "/api/v1/configmaps") in without
    assert asked() <= without
