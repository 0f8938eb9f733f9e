# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a drain as result, plan, diff and undo bundle."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import StepBegan
from ansible_collections.sunset.kube.plugins.module_utils.evidence.drain_results import (
    drafts_result,
    drain_diff,
    drain_plan,
    drain_result,
    drain_undo,
)
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_markdown import markdown
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import page_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.draft import Drafts
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.drain import DrainOutcome
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    BASKETS,
    INGRESSES,
    NAME,
    PLACE,
    SHOP,
    STORES,
    DrainCluster,
    F,
    G,
    LivingOperator,
    drained,
    held,
    options_of,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVICES, When, api_error

MARKED = {NAME: "shop", PLACE: "ops"}
REQUESTS = {"list": 3}
NO = api_error(403, "Forbidden", "no")


def shop(available: int = 0) -> DrainCluster:
    cluster = DrainCluster()
    cluster.deploy(available, available)
    cluster.anchor(status={"id": "op_1", "drainStatus": "draining"}, policy="Delete" if available else "Retain")
    cluster.add(SERVICES, "web", finalizers=[G, F])
    cluster.add(BASKETS, "b", finalizers=[F], labels=MARKED, status={"id": "b_1"})
    cluster.add(BASKETS, "bare", finalizers=[G], labels=MARKED)
    cluster.add(BASKETS, "theirs", finalizers=[F], labels={PLACE: "dev"})
    cluster.add(STORES, "s", finalizers=[F], labels=MARKED)
    held(cluster, (INGRESSES, "unclear"))
    return cluster


def result_of(outcome: DrainOutcome, **params: Any) -> dict[str, Any]:
    return drain_result(outcome, options_of(**params), REQUESTS)


def result(available: int = 0, **params: Any) -> dict[str, Any]:
    cluster = shop(available)
    return result_of(drained(cluster, told=LivingOperator(cluster), **params))


def ref(row: dict[str, Any]) -> str:
    return f"{row['kind']} {row['name']}"


def kind(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in found["kinds"] if row["kind"] == name)


# -- the plan, for whoever approves it ---------------------------------------------------------------------------------


def test_the_table_says_of_each_object_what_becomes_of_it_and_what_stays() -> None:
    table = result()["table"]
    assert table[:3] == ["policy Retain", "Service: 0 to delete, 1 to let go", f"  let go shop/web, without {F}"]
    assert table[-4:-2] == [
        "stays elsewhere: Basket shop/b (status.id b_1): policy Retain",
        "stays elsewhere: ShopOperator ops/main (status.id op_1): "
        "the operator does not run, so nobody deregisters it outside the cluster",
    ]
    assert [line.split(":")[:2] for line in table[-2:]] == [
        ["not touched", " Ingress shop/unclear"],
        ["not touched", " Basket shop/theirs"],
    ]


def test_a_long_list_of_what_goes_cuts_off_neither_a_kind_nor_what_stays() -> None:
    cluster = shop()
    held(cluster, *((STORES, f"s-{number:03}") for number in range(300)), labels=MARKED)
    table = result_of(drained(cluster, check_mode=True))["table"]
    assert "Store: 0 to delete, 301 to let go" in table
    assert [line for line in table if line.startswith("  … and")] == ["  … and 276 more"]
    assert table[-1].startswith("not touched: Basket shop/theirs")


# -- a run -------------------------------------------------------------------------------------------------------------


def test_a_run_says_what_became_of_everything() -> None:
    found = result()
    assert (found["changed"], found["drain_status"], found["progress"], found["policy"]) == (
        True,
        "completed",
        "3/3",
        "Retain",
    )
    assert (found["errors"], found["survivors"], found["stopped"], found["came_back"]) == ([], [], [], 0)
    assert (found["forecast_seconds"], found["requests"]) == (4, REQUESTS)
    assert {key: found["counts"][key] for key in ("release", "delete", "released", "deleted", "survivors")} == {
        "release": 4,  # the anchor's too
        "delete": 1,
        "released": 4,
        "deleted": 1,
        "survivors": 0,
    }


def test_the_anchor_and_the_controller_are_told() -> None:
    found = result()
    assert (ref(found["anchor"]["object"]), found["anchor"]["policy"], found["anchor"]["drain_status"]) == (
        "ShopOperator main",
        "Retain",
        "draining",
    )
    assert found["controller"] == {
        "who": "Deployment ops/shop-operator",
        "alive": "gone",
        "reason": "Deployment ops/shop-operator has no available replica",
    }


def test_without_an_anchor_there_is_none() -> None:
    assert result_of(drained(DrainCluster()))["anchor"] is None


def test_every_kind_has_its_row_with_counts() -> None:
    found = result()
    assert [row["kind"] for row in found["kinds"]] == [
        *("HTTPRoute", "Ingress", "Service", "Gateway", "GatewayClass", "Basket", "Store"),
    ]
    assert kind(found, "Basket") == {
        "kind": "Basket",
        "group": "shop.example.com",
        "api_version": "shop.example.com/v1",
        "role": "operator",
        "state": "served",
        "reason": "",
        "found": 2,
        "without_finalizer": 1,
        "total": 1,
        "released": 1,
        "gone": 0,
        "deleted": 0,
        "not_ours": 1,
    }


def test_a_kind_that_is_not_installed_has_a_row_with_the_reason() -> None:
    cluster = shop()
    cluster.served.remove(STORES)
    found = kind(result_of(drained(cluster)), "Store")
    assert (found["state"], found["api_version"], found["total"], found["role"]) == (
        "not installed",
        "",
        0,
        "operator",
    )
    assert found["reason"]


def test_deleted_objects_are_counted_as_such() -> None:
    found = result(1, policy="Delete", instance={"controller_namespace": "ops"})
    row = kind(found, "Basket")
    assert (found["policy"], found["progress"], row["deleted"], row["released"]) == ("Delete", "3/3", 1, 0)
    assert (kind(found, "Service")["released"], kind(found, "Service")["deleted"]) == (1, 0)


def test_what_is_not_ours_and_what_is_unclear_is_listed() -> None:
    found = result()
    assert [(ref(row["object"]), row["verdict"]) for row in found["kept"]] == [
        ("Ingress unclear", "unmatched"),
        ("Basket theirs", "not_owned"),
    ]
    assert [ref(row) for row in found["unmatched"]] == ["Ingress unclear"]


def test_what_stays_is_listed_with_its_ids() -> None:
    rows = {ref(row["object"]): (row["reason"], row["external"]) for row in result()["retained"]}
    assert rows["Basket b"] == ("policy Retain", {"status.id": "b_1"})
    assert rows["ShopOperator main"][1] == {"status.id": "op_1"}
    assert rows["Service web"] == ("it belongs to its user: released, never deleted", {})


def test_what_was_stripped_by_force_is_on_the_bill() -> None:
    cluster = shop()
    found = result_of(drained(cluster, policy="Delete", force=True))
    reason = "its finalizer was stripped by force: its controller may not have cleaned up outside the cluster"
    assert [ref(row["object"]) for row in found["retained"] if row["reason"] == reason] == ["Basket b", "Store s"]


def test_stopped_controllers_are_listed_with_what_they_had() -> None:
    cluster = shop(3)
    [stopped] = result_of(drained(cluster, policy="Retain", quiesce="scale"))["stopped"]
    assert (ref(stopped["object"]), stopped["replicas"]) == ("Deployment shop-operator", 3)


def test_steps_are_the_kinds_and_the_anchor() -> None:
    assert [(row["name"], row["rank"], row["released"], row["deleted"]) for row in result()["steps"]][-3:] == [
        ("Basket", 6, 1, 0),
        ("Store", 7, 1, 0),
        ("ShopOperator (anchor)", 8, 1, 1),
    ]


def test_rounds_are_added_up() -> None:
    cluster = DrainCluster()
    held(cluster, (SERVICES, "web"))
    told = When(StepBegan, lambda: cluster.clock.at(cluster.clock.now() + 1, back))

    def back() -> None:
        cluster.change(SERVICES, "web", finalizers=[F])

    found = result_of(drained(cluster, told=told))
    assert (kind(found, "Service")["released"], found["came_back"], found["progress"]) == (2, 1, "1/1")


# -- failures ----------------------------------------------------------------------------------------------------------


def refused(count: int, text: str = "no") -> dict[str, Any]:
    cluster = DrainCluster()
    for number in range(count):
        held(cluster, (BASKETS, f"b{number:02}"))
        cluster.refusals[f"Basket shop/b{number:02}"] = api_error(403, "Forbidden", text)
    return result_of(drained(cluster))


def test_a_refusal_is_an_error_and_a_survivor() -> None:
    found = refused(1)
    assert (found["drain_status"], found["progress"], found["errors"]) == (
        "failed",
        "0/1",
        ["Basket shop/b00: HTTP 403 Forbidden, no"],
    )
    [survivor] = found["survivors"]
    assert (survivor["name"], survivor["finalizers"], survivor["blocked_by"][0]["what"]) == ("b00", [F], "refused")


def test_only_the_newest_twenty_errors_are_told_and_each_is_cut() -> None:
    found = refused(25, "x" * 2000)
    assert (len(found["errors"]), {len(text) for text in found["errors"]}) == (20, {1024})
    assert (found["errors"][0].startswith("Basket shop/b05"), found["errors"][-1].startswith("Basket shop/b24")) == (
        True,
        True,
    )
    assert (len(found["survivors"]), found["counts"]["survivors"]) == (25, 25)


def test_a_plan_that_was_refused_is_shown_all_the_same() -> None:
    found = result(max_objects=1)
    assert (found["changed"], found["drain_status"], found["progress"], len(found["errors"])) == (
        False,
        "failed",
        "0/3",
        1,
    )
    assert [row["total"] for row in found["kinds"]] == [0, 0, 1, 0, 0, 1, 1]


def test_a_drain_without_a_survey_says_little() -> None:
    assert result_of(DrainOutcome()) == {"changed": False, "drain_status": "completed", "requests": REQUESTS}
    assert (drain_plan(DrainOutcome()), drain_undo(DrainOutcome())) == ({}, None)


# -- check mode --------------------------------------------------------------------------------------------------------


def test_check_mode_says_what_would_be_and_shows_the_plan() -> None:
    found = result(check_mode=True)
    assert (found["changed"], found["drain_status"], found["progress"]) == (True, "pending", "0/3")
    basket = next(row for row in found["plan"] if row["name"] == "Basket")
    [released] = basket["release"]
    assert (ref(released["object"]), released["finalizers"]) == ("Basket b", [F])
    anchor = found["plan"][-1]
    assert (ref(anchor["objects"][0]["object"]), len(anchor["release"])) == ("ShopOperator main", 1)


def _with_anchor() -> DrainCluster:
    cluster = DrainCluster()
    cluster.anchor()
    return cluster


def _with_refusal() -> DrainCluster:
    cluster = _with_anchor()
    cluster.refusals["ShopOperator ops/main"] = NO
    return cluster


CHECKED: dict[str, tuple[Any, bool]] = {
    "nothing to do": (DrainCluster, False),
    "an anchor alone": (_with_anchor, True),
    "something refused": (_with_refusal, False),
}


@pytest.mark.parametrize(("make", "changed"), named(CHECKED))
def test_check_mode_says_whether_anything_would_change(make: Any, changed: bool) -> None:
    assert result_of(drained(make(), check_mode=True))["changed"] is changed


def test_check_mode_and_run_have_the_same_keys_but_for_the_plan() -> None:
    assert result(check_mode=True).keys() - result().keys() == {"plan"}


# -- files -------------------------------------------------------------------------------------------------------------


def test_the_plan_file_has_the_bill_of_what_stays_outside() -> None:
    plan = drain_plan(drained(shop()))
    assert json.loads(json.dumps(plan)) == plan
    assert (plan["profile"], plan["policy"], len(plan["kept"])) == ("shop", "Retain", 2)
    assert {ref(row["object"]): row["external"] for row in plan["ledger"]} == {
        "Basket b": {"status.id": "b_1"},
        "ShopOperator main": {"status.id": "op_1"},
    }


def test_long_lists_are_cut_while_the_files_are_complete() -> None:
    cluster = DrainCluster()
    held(cluster, *((BASKETS, f"b{number}") for number in range(250)))
    outcome = drained(cluster, check_mode=True)
    found = result_of(outcome)
    assert (len(found["retained"]), found["truncated"]["retained"]) == (200, 250)
    step = next(row for row in found["plan"] if row["name"] == "Basket")
    whole = next(row for row in drain_plan(outcome)["steps"] if row["name"] == "Basket")
    assert (len(step["release"]), len(whole["release"])) == (200, 250)


def test_the_diff_shows_finalizers_before_and_after() -> None:
    found = drain_diff(drained(shop(1), check_mode=True))
    assert found["before"] == (
        f"Service shop/web: {G}, {F}\nBasket shop/b: {F}\nStore shop/s: {F}\nShopOperator ops/main: {F}\n"
    )
    assert found["after"] == f"Service shop/web: {G}\n"


def test_the_diff_of_a_release_and_a_delete_of_one_object_has_it_once() -> None:
    cluster = _with_anchor()
    found = drain_diff(drained(cluster, check_mode=True))
    assert (found["before"], found["after"]) == (
        f"ShopOperator ops/main: {F}\n",
        "ShopOperator ops/main: none\n",
    )


def test_a_diff_of_nothing_is_empty() -> None:
    assert (drain_diff(DrainOutcome())["before"], drain_diff(DrainOutcome())["after"]) == ("", "")


def test_a_long_diff_says_that_it_is_cut() -> None:
    cluster = DrainCluster()
    held(cluster, *((BASKETS, f"b{number}") for number in range(250)))
    assert drain_diff(drained(cluster, check_mode=True))["before"].endswith("… and 50 more\n")


def test_deleted_objects_are_kept_for_the_undo_folder() -> None:
    cluster = shop(1)
    bundle = drain_undo(drained(cluster, told=LivingOperator(cluster), evidence_dir="somewhere"))
    assert bundle is not None
    assert [item["metadata"]["name"] for step in bundle["steps"] for item in step["objects"]] == ["b", "s", "main"]


@pytest.mark.parametrize("check_mode", [True, False], ids=["with --check", "without"])
def test_a_report_can_be_made_of_any_result(check_mode: bool) -> None:
    text = markdown(page_of(result(check_mode=check_mode), "sunset.kube.drain", "https://h", "now", "me"))
    assert "| Basket shop/theirs | not_owned |" in text


def test_drafts_are_a_result_that_changes_nothing() -> None:
    assert drafts_result(Drafts([SHOP], ["pods: no"]), REQUESTS) == {
        "changed": False,
        "drain_status": "pending",
        "draft_profiles": [SHOP],
        "unreadable": ["pods: no"],
        "requests": REQUESTS,
        "truncated": {},
    }


def test_what_there_was_no_time_for_is_a_survivor() -> None:
    cluster = DrainCluster()
    held(cluster, (SERVICES, "web"), (BASKETS, "b"))
    told = When(StepBegan, lambda: cluster.clock.advance(700))
    found = result_of(drained(cluster, told=told))
    assert (found["drain_status"], len(found["survivors"])) == ("failed", 2)
