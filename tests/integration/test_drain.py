# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draining an operator: what is released, what is deleted, what is left alone, in which order."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from integration.products import (
    LEGACY,
    NEW,
    Drainer,
    anchor,
    controller,
    custom,
    ingress,
    ingress_class,
    marked,
    one_of_each,
    operator_deployment,
)
from integration.ranked import failed, kept, succeeded
from integration.stage import FOREIGN, Stage

pytestmark = pytest.mark.quick


def test_retain_takes_the_finalizer_off_everything_and_deletes_nothing(stage: Stage, drainer: Drainer) -> None:
    user, operator = one_of_each(stage, LEGACY)
    result = succeeded(drainer(policy="Retain"))
    assert (result["drain_status"], result["progress"]) == ("completed", "11/11")
    assert all(stage.finalizers(thing) == [] for thing in (*user, *operator))
    assert result["changed"] is True
    again = succeeded(drainer(policy="Retain"))
    assert (again["changed"], again["drain_status"], again["progress"]) == (False, "completed", "0/0")


def test_delete_lets_the_controller_clean_up(stage: Stage, drainer: Drainer) -> None:
    user, operator = one_of_each(stage, LEGACY)
    kinds = ("CloudEndpoint", "AgentEndpoint", "Domain", "IPPolicy", "BoundEndpoint")
    operator_deployment(stage, stage.namespace)
    with controller(stage, stage.namespace, *kinds) as running:
        result = succeeded(drainer(policy="Delete"))
        assert running.ledger == set()
    assert all(stage.is_gone(thing) for thing in operator)
    assert [stage.finalizers(thing) for thing in user] == [[]] * len(user)
    assert result["progress"] == "11/11"


def test_the_anchor_goes_last_and_its_policy_counts(stage: Stage, drainer: Drainer) -> None:
    user, operator = one_of_each(stage, LEGACY, FOREIGN)
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace, LEGACY, policy="Retain"))
    result = succeeded(drainer())
    assert stage.is_gone(ko)
    assert result["policy"] == "Retain"
    assert all(stage.finalizers(thing) == [FOREIGN] for thing in (*user, *operator))


def test_another_installations_objects_are_left_alone(stage: Stage, drainer: Drainer) -> None:
    here, there = stage.namespace, stage.another_namespace()
    stage.put(ingress_class("ngrok"), ingress_class("other", "other.example.com/controller"))
    ours, theirs, lost = stage.put(
        ingress("a", here, LEGACY, of_class="ngrok"),
        ingress("b", here, LEGACY, of_class="other"),
        ingress("c", here, LEGACY, of_class="vanished"),
    )
    (foreign,) = stage.put(custom("Domain", "d", there, NEW, labels=marked(there)))
    stage.put(anchor("ngrok-operator", here, LEGACY))
    result = succeeded(drainer())
    assert stage.finalizers(ours) == []
    assert stage.finalizers(theirs) == [LEGACY]
    assert stage.finalizers(lost) == [LEGACY]
    assert stage.finalizers(foreign) == [NEW]
    assert {name: verdict for name, (verdict, _why) in kept(result).items()} == {
        "b": "not_owned",
        "c": "unmatched",
        "d": "not_owned",
    }


def test_delete_without_an_operator_is_refused(stage: Stage, drainer: Drainer) -> None:
    _users, operator = one_of_each(stage, LEGACY)
    assert "policy Delete needs the running operator" in failed(drainer(policy="Delete"))
    assert all(stage.finalizers(thing) == [LEGACY] for thing in operator)


def test_finalizers_that_come_back_are_taken_off_again(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(ingress_class("ngrok"))
    (web,) = stage.put(ingress("web", here, LEGACY, of_class="ngrok"))
    with controller(stage, here, "Ingress", adds_back=2):
        result = succeeded(drainer(quiesce="none", settle=1))
    assert stage.finalizers(web) == []
    assert result["came_back"] == 2


@pytest.mark.slow
def test_finalizers_that_never_stop_coming_back_fail_the_task(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(ingress_class("ngrok"))
    stage.put(ingress("web", here, LEGACY, of_class="ngrok"))
    with controller(stage, here, "Ingress", adds_back=50):
        message = failed(drainer(quiesce="none", settle=1))
    assert "keep coming back" in message
    assert "late-pod" in message


def test_a_freeze_stops_them(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(ingress_class("ngrok"))
    (web,) = stage.put(ingress("web", here, LEGACY, of_class="ngrok"))
    with controller(stage, here, "Ingress", adds_back=50) as running:

        def until_the_thaw(event: object) -> None:
            """A controller that lives on may do what it likes when the freeze is over; that is not the question."""
            if isinstance(event, Did) and event.action == "lift freeze":
                running.retire()

        result = succeeded(drainer(quiesce="none", settle=1, freeze=True, on_event=until_the_thaw))
    assert stage.finalizers(web) == []
    assert result["came_back"] == 0
    policies = stage.api.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies")[1]["items"]
    assert [one for one in policies if one["metadata"]["name"].startswith("sunset")] == []
