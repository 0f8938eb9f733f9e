# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ngrok operator as it is: two of its controllers do not know of its drain, and put their finalizers back.

Whatever is drained or uninstalled stays free, because they are stopped once the operator has done its part.
"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from integration.ngrok_operator import AGENT, FORWARDER, MANAGER, NgrokOperator, load_balancer
from integration.products import OPERATOR_KINDS, Drainer, custom, definition, marked
from integration.ranked import failed, succeeded
from integration.running import Result, warnings_of
from integration.stage import Stage
from integration.uninstalling import Uninstaller
from lab.waiting import until

STOPPED = {MANAGER: 0, AGENT: 0, FORWARDER: 0}
RUNNING = {MANAGER: 1, AGENT: 1, FORWARDER: 1}


@pytest.fixture(autouse=True)
def alone(stage: Stage, ngrok_kinds: None) -> None:
    """No test finds the installations of the one before, whose namespaces are still being deleted."""
    lists = [f"/apis/{group}/{version}/{plural}" for group, _kind, plural, version, _scope in OPERATOR_KINDS]
    until(lambda: not any(stage.api.get(path)[1]["items"] for path in lists), "other installations to be deleted")


@contextlib.contextmanager
def installed(stage: Stage, **how: Any) -> Any:
    """An installation, with a LoadBalancer, a Domain and a BoundEndpoint that it holds; and the user's namespace."""
    home, shop = stage.another_namespace(), stage.another_namespace()
    stage.put(load_balancer("lb", shop), custom("Domain", "d", shop, labels=marked(home)))
    with NgrokOperator(stage, home, shop, **how) as operator:
        operator.bind("http://api.example", "bound", shop)
        # The Service, the AgentEndpoint made for it, the Domain, the BoundEndpoint, the anchor.
        until(lambda: len(operator.holds()) == 5, "the operator to hold everything")
        yield operator


def test_its_own_drain_leaves_finalizers_where_a_controller_does_not_know_of_it(
    stage: Stage, ngrok_kinds: None
) -> None:
    """Why a drain by us has to do more than delete the anchor."""
    with installed(stage) as operator:
        home, shop = operator.watched
        stage.api.delete(stage.api.path_of(operator.anchor_body()))
        until(lambda: stage.is_gone(operator.anchor_body()), "the operator's own drain")
        until(lambda: len(operator.holds()) == 2, "its controllers to put them back")
        assert [thing.partition("/")[0] for thing in operator.holds()] == [f"BoundEndpoint {home}", f"Service {shop}"]
        assert operator.deleted_outside == [f"KubernetesOperator {home}/ngrok-operator"]
        for kind, name in (("leases", "ngrok-operator-leader"), ("secrets", "ngrok-operator-default-tls")):
            group = "/apis/coordination.k8s.io/v1" if kind == "leases" else "/api/v1"
            status, found = stage.api.get(f"{group}/namespaces/{home}/{kind}/{name}")
            assert (status, found["metadata"]["managedFields"][0]["manager"]) == (200, "ngrok-operator")


# -- one run -----------------------------------------------------------------------------------------------------------


def is_clean(operator: NgrokOperator) -> bool:
    return operator.holds() == []


def planned_and_drained(drainer: Drainer, operator: NgrokOperator, policy: str) -> Result:
    """The plan says who is stopped, and its run does that."""
    before = operator.replicas()
    plan = succeeded(drainer(policy=policy, check_mode=True))
    assert operator.replicas() == before
    done = succeeded(drainer(policy=policy, plan_hash=plan["plan_hash"]))
    assert done["stopped"] == plan["stopped"]
    assert is_clean(operator)
    assert operator.replicas() == STOPPED
    return done


def uninstalled(uninstaller: Uninstaller, operator: NgrokOperator, policy: str) -> Result:
    things = [*operator.deployments().values(), *(definition(*kind) for kind in OPERATOR_KINDS)]
    options = {"namespace": operator.namespace, "instances": "delete", "policy": policy}
    plan = succeeded(uninstaller(*things, check_mode=True, **options))
    succeeded(uninstaller(*things, plan_hash=plan["plan_hash"], **options))
    assert operator.replicas() == {}
    assert is_clean(operator)
    return plan


def test_one_run_frees_everything_and_it_stays_free(
    stage: Stage, drainer: Drainer, uninstaller: Uninstaller, ngrok_kinds: None
) -> None:
    with contextlib.ExitStack() as stack:

        def another(**how: Any) -> NgrokOperator:
            for kind in OPERATOR_KINDS:  # an uninstall has taken them
                stage.api.apply_crd(definition(*kind))
            return stack.enter_context(installed(stage, **how))

        def gone(operator: NgrokOperator) -> NgrokOperator:
            for component in RUNNING:
                operator.scale(component, 0)
            return operator

        stage.afterwards(lambda: [stage.api.apply_crd(definition(*kind)) for kind in OPERATOR_KINDS])
        operators = []
        for policy in ("Retain", "Delete"):
            operators.append(another())
            plan = uninstalled(uninstaller, operators[-1], policy)
            assert any("stop Deployment" in line and "ngrok-operator-manager" in line for line in plan["text"])
        operators.append(gone(another()))
        uninstalled(uninstaller, operators[-1], "Retain")
        retained = another()
        done = planned_and_drained(drainer, retained, "Retain")
        assert retained.deleted_outside == [f"KubernetesOperator {retained.namespace}/ngrok-operator"]
        ids = [row["external"] for row in done["retained"] if row["object"]["kind"] == "BoundEndpoint"]
        assert ids == [{"spec.endpointURL": "http://api.example"}]
        deleted = another()
        done = planned_and_drained(drainer, deleted, "Delete")
        assert f"Domain {deleted.watched[1]}/d" in deleted.deleted_outside
        assert any("stop Deployment" in line and "once the operator has done" in line for line in done["table"])
        dead = gone(another())
        assert "ngrok-operator-manager has no available replica" in failed(drainer(policy="Delete"))
        succeeded(drainer(policy="Retain"))
        operators += [retained, deleted, dead]
        # A running operator gets its events last: when it has put its finalizers back, the others would have, too.
        running = another()
        for one in (*operators, running):
            one.touch()
        until(lambda: len(running.holds()) == 5, "the operator that runs to put them back")
        assert [thing for one in operators for thing in one.holds()] == []


# -- what is not stopped ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("freeze", [False, True])
def test_an_operator_that_may_not_be_stopped_is_a_failure_that_says_so(
    stage: Stage, drainer: Drainer, freeze: bool
) -> None:
    """A write that the freeze has refused waits in its queue, and is tried again when the freeze is over."""
    with installed(stage) as operator:
        result = drainer(quiesce="none", freeze=freeze, settle=10)  # shorter, if they come back
        message = failed(result)
        assert "the finalizers keep coming back" in message
        assert "leave quiesce out" in message
        assert operator.replicas() == RUNNING
        assert "runs on, and may put its finalizers back later" in warnings_of(result)


def test_a_freeze_does_not_let_a_refused_write_win(stage: Stage, drainer: Drainer) -> None:
    with installed(stage) as operator:
        result = succeeded(drainer(freeze=True))
        assert is_clean(operator)
        assert operator.replicas() == STOPPED
        assert result["came_back"] == 0


def test_a_retry_that_comes_late_finds_no_operator_any_more(stage: Stage, drainer: Drainer) -> None:
    """Its test of a BoundEndpoint takes longer than the drain watches. No Service makes it put anything back before."""
    home, shop = stage.another_namespace(), stage.another_namespace()
    with NgrokOperator(stage, home, shop, dials_for=5.0) as operator:
        operator.bind("http://api.example", "bound", shop)
        until(lambda: len(operator.holds()) == 2, "the operator to hold the BoundEndpoint and its anchor")
        succeeded(drainer(settle=1))
        until(lambda: not operator.manager.alive, "the operator to be stopped")
        assert is_clean(operator)


# -- who takes them off ------------------------------------------------------------------------------------------------


def test_the_agent_alone_is_no_running_operator(stage: Stage, drainer: Drainer) -> None:
    with installed(stage) as operator:
        operator.scale(MANAGER, 0)
        refused = drainer(policy="Delete")
        assert "ngrok-operator-manager has no available replica" in failed(refused)
        assert len(operator.holds()) == 5
        result = succeeded(drainer(policy="Retain"))
        assert (result["controller"]["alive"], is_clean(operator)) == ("gone", True)
        assert operator.replicas() == STOPPED


def test_the_agent_is_needed_for_its_own_kind(stage: Stage, drainer: Drainer) -> None:
    with installed(stage) as operator:
        operator.scale(AGENT, 0)
        assert "ngrok-operator-agent has no available replica" in failed(drainer(policy="Delete"))
        assert len(operator.holds()) == 5
