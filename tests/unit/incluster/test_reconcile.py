# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two ends of a reconciliation: what a role is given, and how long it is until the next try."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.incluster.board import Board
from ansible_collections.sunset.kube.plugins.module_utils.incluster.reconcile import begin, end
from ansible_collections.sunset.kube.plugins.module_utils.objects import moment

from ..fakes import FakeClock
from .one_resource import OneResource

HUB = {"group": "cluster.open-cluster-management.io", "version": "v1"}


def begun(server: OneResource, **more: Any) -> Any:
    return begin(server.named, "home", server, FakeClock(), **more)  # type: ignore[arg-type]


def blocked(server: OneResource, text: str) -> float:
    return end(server.named, "blocked", text, server, FakeClock()).wake_after  # type: ignore[arg-type]


def only(things: Iterable[Any]) -> Any:
    (one,) = things
    return one


def test_what_the_operator_sets_for_a_role_is_set_for_those_that_include_it() -> None:
    image = {"maintenance_workload": {"image": "registry.example.com/nginx"}}
    for kind, given in (("Uninstall", image), ("Maintenance", image), ("Drain", {})):
        server = OneResource(kind, spec={"state": "enabled"})
        assert begun(server, defaults=image).arguments.items() >= given.items()
        assert ("maintenance_workload" in begun(server, defaults=image).arguments) is bool(given)


def test_who_gives_a_part_of_a_mapping_keeps_the_rest_that_the_operator_sets() -> None:
    image = {"maintenance_workload": {"image": "registry.example.com/nginx", "replicas": 2}}
    server = OneResource("Maintenance", spec={"state": "enabled", "workload": {"replicas": 3}})
    assert begun(server, defaults=image).arguments["maintenance_workload"] == {
        "image": "registry.example.com/nginx",
        "replicas": 3,
    }


def test_a_variable_that_ansible_operator_has_left_as_it_is_counts_as_unset() -> None:
    server = OneResource("Maintenance", spec={"state": "enabled"})
    left = begun(server, defaults={"maintenance_workload": {"image": "${PAGE_IMAGE}"}})
    assert "maintenance_workload" not in left.arguments
    homeless = begin(server.named, "${POD_NAMESPACE}", server, FakeClock())  # type: ignore[arg-type]
    assert (homeless.go, "its own namespace" in homeless.message) == ("nothing", True)


def standing(**spec: Any) -> OneResource:
    """A Maintenance that shows its page, and whose spec was changed afterwards; it was created an hour ago."""
    server = OneResource("Maintenance", spec=spec)
    server.item["metadata"].update(generation=1, creationTimestamp=moment(server.now - 3600))
    end(server.named, "standing", "", server, FakeClock())  # type: ignore[arg-type]
    server.item["metadata"]["generation"] = 2
    return server


def test_a_page_goes_at_its_end_though_its_spec_has_become_invalid() -> None:
    server = standing(state="enabled", end="2h", page="/etc/passwd")
    refused = begun(server)
    assert (refused.go, refused.wake_after) == ("nothing", 3600.0)
    assert begun(server).wake_after == 3600.0, "also where it was said before"
    server.now += 3600
    over = begun(server)
    assert (over.go, over.arguments["maintenance_state"]) == ("run", "disabled")
    end(server.named, "completed", "", server, FakeClock(), generation=2)  # type: ignore[arg-type]
    assert begun(server).go == "nothing"
    assert "True" not in [one["status"] for one in server.status["conditions"] if one["type"] == "Blocked"]


def test_an_end_that_cannot_be_read_is_nothing_to_go_by() -> None:
    refused = begun(standing(state="enabled", end="tomorrow"))
    assert (refused.go, refused.wake_after) == ("nothing", 0.0)


def test_a_refusal_is_said_of_the_spec_as_it_is_now() -> None:
    server = OneResource("Uninstall", spec={"manifests": ["/a"]})
    for generation in (1, 2):
        server.item["metadata"]["generation"] = generation
        begun(server)
        assert {one["observedGeneration"] for one in server.status["conditions"]} == {generation}


def test_the_spec_is_told_from_others_that_ask_for_something_else() -> None:
    digests = {begun(OneResource("Drain", spec={"policy": policy})).spec_digest for policy in ("Retain", "Delete")}
    assert len(digests) == 2


def test_a_spec_that_is_changed_in_mid_run_is_still_to_be_done() -> None:
    server = OneResource("Uninstall", spec={"release": "a", "approve": "always"})
    server.item["metadata"]["generation"] = 1
    first = begun(server)
    server.item["metadata"]["generation"] = 2
    server.item["spec"]["release"] = "b"
    end(server.named, "completed", "", server, FakeClock(), generation=first.generation)  # type: ignore[arg-type]
    assert begun(server).arguments["uninstall_release"] == "b"
    assert begun(server).go == "run"


def planned(server: OneResource, plan_hash: str) -> tuple[float, str]:
    """One turn that ends with this plan: when it goes on, and what people read."""
    work = begun(server)
    assert work.go == "plan"
    digest = {"spec_digest": work.spec_digest}
    board = Board({**server.named, **digest}, server, FakeClock(), job="drain")  # type: ignore[arg-type]
    board.settle({"plan_hash": plan_hash}, "planned", {"steps": [{"name": "one"}]})
    wake = end(server.named, "planned", "look", server, FakeClock()).wake_after  # type: ignore[arg-type]
    return wake, only(one["message"] for one in server.status["conditions"] if one["type"] == "Progressing")


def test_a_plan_that_was_approved_before_it_was_made_begins_at_once_and_is_kept() -> None:
    """At its creation, or after a refusal: only a plan that is kept can be gone on with later."""
    server = OneResource("Drain", spec={"approve": "abc"})
    wake, message = planned(server, "abc")
    assert (wake, "it begins" in message, server.events) == (1.0, True, {})
    assert (begun(server).go, begun(server).arguments["drain_plan_hash"]) == ("run", "abc")
    assert server.status["shown"]["planHash"] == "abc"


def test_an_approval_of_another_plan_or_another_spec_is_told() -> None:
    server = OneResource("Drain", spec={"approve": "abc", "policy": "Retain"})
    assert planned(server, "abc")[0] == 1.0
    server.item["spec"]["policy"] = "Delete"
    server.item["metadata"]["generation"] = 2
    for plan_hash in ("abd", "abc"):
        server.item["status"]["conditions"] = []
        wake, message = planned(server, plan_hash)
        assert (wake, "set spec.approve to status.planHash" in message) == (0.0, True)
        assert begun(server).go == "nothing"


def test_what_has_no_hash_is_not_approved_by_that_of_an_earlier_plan() -> None:
    """A network that is only recorded has no plan."""
    server = OneResource("Drain", spec={"approve": "abc"}, status={"planHash": "abc"})
    wake, message = planned(server, "")
    assert (wake, "set spec.approve to always" in message, server.status["planHash"]) == (0.0, True, "")


def test_a_refusal_names_what_somebody_with_kubectl_can_do() -> None:
    server = OneResource("Drain")
    blocked(
        server, "the plan has changed: look at the new plan with --check and give its plan_hash; nothing was changed"
    )
    event = only(server.events.values())
    assert "set spec.approve to status.planHash" in event["message"]


def test_kinds_of_others_are_tried_less_and_less_often() -> None:
    server = OneResource("ManagedCluster", **HUB)
    server.item["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    waits = []
    for seconds in (0, 40, 400, 4000):
        server.now += seconds
        waits.append(blocked(server, "an addon hangs"))
    assert waits == [15.0, 15.0, 110.0, 300.0]


def test_what_is_told_again_is_one_event_that_is_counted() -> None:
    server = OneResource("Ingress", "networking.k8s.io", "v1")
    waits = []
    for seconds in (0, 200, 200):
        server.now += seconds
        waits.append(blocked(server, f"nobody answers for {seconds} s"))
    event = only(server.events.values())
    assert (event["count"], event["reason"], event["type"]) == (3, "Blocked", "Warning")
    assert (event["firstTimestamp"], event["lastTimestamp"]) == ("2026-01-01T00:00:00Z", "2026-01-01T00:06:40Z")
    assert waits == [15.0, 50.0, 100.0], "by how long it is told, where nothing else is known"
    blocked(server, "something else is in the way")
    assert len(server.events) == 2


@pytest.mark.parametrize("name", ["one", "x" * 80, "a" * 49 + "-b"])
def test_an_event_has_a_name_that_the_api_server_takes(name: str) -> None:
    server = OneResource("Ingress", "networking.k8s.io", "v1")
    server.item["metadata"]["name"] = name
    blocked(server, "something is in the way")
    event = only(server.events)
    assert len(event) <= 70
    assert "-." not in event
