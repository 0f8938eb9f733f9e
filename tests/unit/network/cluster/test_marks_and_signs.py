# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is read out of objects of kubernetes-nmstate, and what is written on them."""

from __future__ import annotations

import json
from typing import Any

import jsonpatch
import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.helper_policies import helper_body
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.kinds import NEUTRAL, OPT_IN
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.marks import (
    marking,
    neutralising,
    putting_back,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.options import parse_nncp
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.outcome import (
    NncpOutcome,
    NodeOutcome,
    Phase,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.plan import NodePlan, make_plan
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.progress import progress_text
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.records import NodeRecord, Records
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.reports import unshown
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.scene import (
    Enacted,
    Enactment,
    NodeView,
    Policy,
    Scene,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.reversal import Reversal
from ansible_collections.sunset.kube.plugins.module_utils.objects import parse_time
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.plugins.module_utils.terms import Terms
from ansible_collections.sunset.kube.tests.unit.fakes import named

NOW = "2026-01-01T00:00:00Z"


def enactment(*true: str, generation: int = 2, desired: Any = None, at: str = NOW) -> Enactment:
    conditions = [
        {
            "type": kind,
            "status": "True" if kind in true else "False",
            "message": f"{kind} it is",
            "lastTransitionTime": at,
        }
        for kind in ("Available", "Failing", "Progressing", "Pending", "Aborted")
    ]
    status = {"policyGeneration": generation, "conditions": conditions if true else [], "desiredState": desired or {}}
    labels = {"nmstate.io/node": "n1", "nmstate.io/policy": "vlan"}
    return Enactment({"metadata": {"name": "n1.vlan", "labels": labels}, "status": status})


ENACTED = {
    "available": (("Available",), Enacted.AVAILABLE),
    "failing for good": (("Failing",), Enacted.FAILED),
    "failing, and at it again": (("Failing", "Progressing"), Enacted.RETRYING),
    "aborted": (("Aborted",), Enacted.FAILED),
    "waiting for a place": (("Pending",), Enacted.PENDING),
    "at it": (("Progressing",), Enacted.RUNNING),
    "nothing said": ((), Enacted.NOT_YET),
}


@pytest.mark.parametrize(("true", "expected"), named(ENACTED))
def test_how_far_a_handler_is(true: tuple[str, ...], expected: Enacted) -> None:
    assert enactment(*true).progress(2) is expected


@pytest.mark.parametrize("true", ["Available", "Failing"])
def test_what_an_older_generation_came_to_says_nothing(true: str) -> None:
    assert enactment(true, generation=1).progress(2) is Enacted.NOT_YET


def policy(selector: Any = None, annotations: Any = None, finalizers: Any = None, **metadata: Any) -> Policy:
    spec: dict[str, Any] = {"desiredState": {"interfaces": []}}
    spec |= {} if selector is None else {"nodeSelector": selector}
    marks = {
        **({"annotations": annotations} if annotations else {}),
        **({"finalizers": finalizers} if finalizers else {}),
    }
    return Policy({"metadata": {"name": "vlan", "uid": "u-1", "generation": 2, **marks, **metadata}, "spec": spec})


SELECTORS = {"with a selector": ({"role": "worker"},), "without one": (None,), "with an empty one": ({},)}


@pytest.mark.parametrize("selector", named(SELECTORS))
def test_neutralised_and_put_back_it_is_the_same_again(selector: Any) -> None:
    before = policy(selector, {OPT_IN: "true"})
    neutral = Policy(jsonpatch.apply_patch(before.item, neutralising(before)))
    assert neutral.spec["nodeSelector"] == NEUTRAL
    assert neutral.neutral
    assert neutral.begun
    assert jsonpatch.apply_patch(neutral.item, putting_back(neutral)) == before.item


FINALIZERS = {
    "none before": (None, ["sunset.dev/nncp-revert"]),
    "another one": (["x"], ["x", "sunset.dev/nncp-revert"]),
}


@pytest.mark.parametrize(("before", "after"), named(FINALIZERS))
def test_marked_it_has_our_finalizer(before: Any, after: list[str]) -> None:
    one = policy(finalizers=before)
    marked = Policy(jsonpatch.apply_patch(one.item, marking(one, '{"phase": "reverting"}')))
    assert list(marked.record.finalizers) == after
    assert marked.phase == "reverting"
    assert marking(marked, "{}")[-1]["path"].startswith("/metadata/annotations"), "once is enough"


def test_what_is_being_deleted_gets_no_finalizer_any_more() -> None:
    one = policy(annotations={OPT_IN: "true"}, deletionTimestamp=NOW)
    assert [step["path"] for step in marking(one, "{}")] == ["/metadata/annotations/sunset.dev~1revert-progress"]


@pytest.mark.parametrize("text", ["", "no json", "[1]", '"reverting"'])
def test_somebody_elses_progress_is_no_phase(text: str) -> None:
    assert policy(annotations={"sunset.dev/revert-progress": text}).phase == ""


def node_plan(name: str, state: Any) -> NodePlan:
    view = NodeView(name, {"kubernetes.io/hostname": f"host-{name}"}, ready=True, handled=True)
    return NodePlan(view, NodeRecord(name, {}, NOW), {}, {}, Reversal(state))


@pytest.mark.parametrize("name", ["vlan", "v" * 63, "a-name.with.dots-" + "x" * 46])
def test_a_helper_has_a_short_name_of_its_own_and_one_node(name: str) -> None:
    bodies = [helper_body(name, "u-1", node_plan(*one)) for one in (("a", {"x": 1}), ("b", {"x": 1}), ("a", {"x": 2}))]
    names = [one["metadata"]["name"] for one in bodies]
    assert len(set(names)) == 3
    assert all(len(one) <= 63 and one[-1].isalnum() for one in names)
    assert bodies[1]["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "host-b"}


def test_progress_names_those_that_are_not_done_first_and_not_all_of_a_thousand() -> None:
    outcome = NncpOutcome("vlan")
    outcome.nodes = {f"n{i}": NodeOutcome(f"n{i}", Phase.REVERTED) for i in range(1000)}
    outcome.nodes["zz"] = NodeOutcome("zz", Phase.FAILED, "x" * 1000)
    text = progress_text("reverting", outcome, 0.0)
    found = json.loads(text)
    assert next(iter(found["nodes"])) == "zz"
    assert found["counts"] == {"failed": 1, "reverted": 1000}
    assert len(text) < 16_000


MTU = {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1400}]}
OLDER = {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500}]}
REPORTS = {
    "shows it": (MTU, NOW, []),
    "does not": (OLDER, NOW, ["n1"]),
    "reports nothing": (None, NOW, ["n1"]),
    "has had time enough": (OLDER, "2025-12-31T23:55:00Z", []),
}


@pytest.mark.parametrize(("state", "at", "expected"), named(REPORTS))
def test_a_report_that_does_not_show_what_was_applied_a_moment_ago_is_not_believed(
    state: Any, at: str, expected: list[str]
) -> None:
    states = {} if state is None else {"n1": state}
    scene = Scene(policy(), {}, states, [enactment("Available", desired=MTU, at=at)])
    assert unshown(policy(), scene, parse_time(NOW)) == expected


def test_passwords_are_neither_planned_with_nor_recorded() -> None:
    secured = {"name": "eth1", "type": "ethernet", "802.1x": {"identity": "me", "password": "hunter2"}}
    here = policy(annotations={OPT_IN: "true"})
    view = NodeView("n1", {"kubernetes.io/hostname": "n1"}, ready=True, handled=True)
    scene = Scene(here, {"n1": view}, {"n1": MTU}, [enactment("Available", desired={"interfaces": [secured]})])
    options = parse_nncp({**DEFAULTS, "mode": "delete", "force": True}, check_mode=False)
    plan = make_plan(options, here, scene, Records("vlan", "nmstate", {}), NOW, Terms())
    assert "hunter2" not in plan.nodes["n1"].record.as_text()


DEFAULTS = {
    "policy": "vlan", "state": "absent", "mode": "auto", "force": False, "canary": 1, "on_failure": "stop",
    "unreachable": "fail", "timeout": 600,
}  # fmt: skip
BAD = {
    "no name": ({"policy": "a b"}, "policy"),
    "a long name": ({"policy": "a" * 64}, "policy"),
    "canaries": ({"canary": -1}, "canary"),
    "a word for a number": ({"max_unavailable": "half"}, "max_unavailable"),
    "nodes where they are known": ({"node_selector": {"a": "b"}}, "node_selector"),
    "no time": ({"timeout": 0}, "timeout"),
}


@pytest.mark.parametrize(("wrong", "field"), named(BAD))
def test_a_bad_option_is_named(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(BadOption, match=field):
        parse_nncp({**DEFAULTS, **wrong}, check_mode=False)


@pytest.mark.parametrize(("given", "meant"), [("3", 3), ("30%", "30%"), (None, None)])
def test_a_number_of_nodes_is_a_number(given: str | None, meant: Any) -> None:
    assert parse_nncp({**DEFAULTS, "max_unavailable": given}, check_mode=False).max_unavailable == meant
