# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that OLM installed go whole and for good, with an OLM beside us that repairs what is missing."""

from __future__ import annotations

import pytest

from integration.olm import ALPHA, V1, LivingOlm, Operator, cluster_service_version, install
from integration.ranked import Remover, cluster_role, deletions, failed, kept, remaining, succeeded
from integration.running import warnings_of
from integration.stage import Stage, body
from integration.uninstalling import Uninstaller, left
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.usefixtures("olm_kinds")


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


@pytest.fixture
def operator(stage: Stage) -> Operator:
    return install(stage)


def take_the_order(stage: Stage, operator: Operator) -> None:
    """Nobody outside of the plan may stand in the way."""
    stage.api.delete(stage.api.path_of(operator.parts["order"]))


def test_an_operator_goes_for_good_although_olm_repairs(
    remove: Remover, stage: Stage, operator: Operator, audit: AuditTrail
) -> None:
    take_the_order(stage, operator)
    with LivingOlm(stage.api, operator) as olm:
        stage.api.delete(stage.api.path_of(operator.parts["deployment"]))
        until(lambda: "deployment" in olm.repaired, "OLM to repair the Deployment")
        olm.repaired.clear()
        audit.begin_anew()
        succeeded(remove(operator.members))
        assert olm.repaired == []
    for part, thing in operator.parts.items():
        assert stage.api.get(stage.api.path_of(thing))[0] == 404, part
    order = deletions(audit, remove.user)
    name, version = operator.name, operator.version
    assert order[:2] == [name, version], "the Subscription, then the version"
    assert order[-1] == f"{name}.{operator.namespace}", "what OLM makes as long as anything is there"
    assert order[-2] == operator.parts["definition"]["metadata"]["name"]
    again = succeeded(remove(operator.members))
    assert (again["changed"], "nor an installed version of that package" in warnings_of(again)) == (False, True)


def test_custom_resources_go_between_the_subscription_and_the_version(
    remove: Remover, uninstaller: Uninstaller, stage: Stage, operator: Operator, audit: AuditTrail
) -> None:
    assert "Order" in failed(remove(operator.members)), "somebody else's, until the task takes them"
    where = {"release": operator.name, "namespace": operator.namespace}
    neighbours = cluster_role(f"olm.og.bank.{operator.name}")
    owner = {"olm.owner": "bank", "olm.owner.kind": "OperatorGroup", "olm.owner.namespace": "bank"}
    stage.put({**neighbours, "metadata": {**neighbours["metadata"], "labels": owner}})
    with LivingOlm(stage.api, operator) as olm:
        audit.begin_anew()
        result = succeeded(uninstaller(**where, instances="delete"))
        assert olm.repaired == []
    assert result["source"] == f"OLM Subscription {operator.namespace}/{operator.name}"
    order = deletions(audit, uninstaller.user)
    assert order[:3] == [operator.name, *operator.names("order"), operator.version]
    assert order.index("controller") > order.index(operator.version)
    assert remaining(stage, list(operator.parts.values())) == []
    assert left(result) == {}, "the roles of another OperatorGroup are nobody's leftovers"


def test_a_run_that_was_cut_off_after_the_subscription_goes_on(
    remove: Remover, stage: Stage, operator: Operator
) -> None:
    take_the_order(stage, operator)
    stage.api.delete(stage.api.path_of(operator.parts["subscription"]))
    result = succeeded(remove(operator.members))
    assert "is gone; what its installed versions brought is taken" in warnings_of(result)
    assert remaining(stage, list(operator.parts.values())) == []


def test_what_another_operator_needs_stays_with_the_reason(remove: Remover, stage: Stage, operator: Operator) -> None:
    take_the_order(stage, operator)
    definition = operator.parts["definition"]["metadata"]["name"]
    neighbour = Operator(f"bank-{operator.name}", stage.namespace)
    other = {**cluster_service_version(neighbour, definition, "Order")}
    [other] = stage.put(other)
    result = succeeded(remove(operator.members))
    why = {name: reason for name, (_verdict, reason) in kept(result).items()}
    place = f"ClusterServiceVersion {stage.namespace}/{neighbour.version}"
    assert why == {
        definition: f"{place} owns it, too",
        "operator": f"{place} uses it, too",
        operator.parts["group"]["metadata"]["name"]: f"{place} needs it, too",
    }
    assert remaining(stage, [other, *(operator.parts[part] for part in ("definition", "account", "group"))]) == sorted(
        [neighbour.version, *operator.names("definition", "account", "group")]
    )


def test_the_members_of_an_operator_can_be_shown(remove: Remover, operator: Operator) -> None:
    shown = {f"{row['object']['kind']} {row['object']['name']}" for row in remove.info(operator.members)["members"]}
    expected = {
        f"{thing['kind']} {thing['metadata']['name']}" for part, thing in operator.parts.items() if part != "order"
    }
    assert expected <= shown


def test_nothing_is_taken_for_gone_that_may_not_be_seen(
    remove: Remover, stage: Stage, operator: Operator, plane: ControlPlane
) -> None:
    nobody = plane.user(f"nobody-{operator.name}")
    assert "cannot read Subscription" in failed(remove(operator.members, user=nobody))
    assert stage.find(body(ALPHA, "Subscription", operator.name, operator.namespace)) is not None
    assert stage.find(body(V1, "Operator", f"{operator.name}.{operator.namespace}", "")) is not None
