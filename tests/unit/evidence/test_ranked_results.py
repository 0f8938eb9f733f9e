# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a ranked deletion as result, plan, diff and undo bundle."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import StepBegan
from ansible_collections.sunset.kube.plugins.module_utils.evidence.ranked_results import (
    members_result,
    plan_rows,
    ranked_diff,
    ranked_plan,
    ranked_result,
    undo_bundle,
)
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_markdown import markdown
from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import page_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members_info import show_members
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ranked_delete import RankedOutcome
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    NO_CONTEXTS,
    ROLES,
    SECRETS,
    InMemoryCluster,
    When,
    api_error,
    named_members,
    ranked,
)

F = "shop.example.com/cleanup"
REQUESTS = {"list": 3}
MEMBERS = named_members((CONFIG_MAPS, "a"), (CONFIG_MAPS, "kept"), (ROLES, "web"), (CONFIG_MAPS, "gone"))
GROUPS = [{"predefinedResourceGroup": "namespaced-resources"}]


ONLY_SEALED = "Secrets are only kept encrypted, with undo_vault_password, when the task runs on the controller"


def cluster() -> InMemoryCluster:
    made = InMemoryCluster()
    made.add(CONFIG_MAPS, "a")
    made.add(CONFIG_MAPS, "kept", annotations={"sunset.dev/keep": "true"})
    made.add(ROLES, "web")
    return made


def outcome(**params: Any) -> RankedOutcome:
    return ranked(cluster(), **{"members": MEMBERS, "deletion_groups": GROUPS, **params})


def result(**params: Any) -> dict[str, Any]:
    return ranked_result(outcome(**params), REQUESTS)


def named_ref(row: dict[str, Any]) -> str:
    return f"{row['kind']} {row['name']}"


def test_a_run_says_what_became_of_every_member() -> None:
    found = result()
    assert (found["changed"], found["source"], found["requests"], found["survivors"]) == (
        True,
        "objects",
        REQUESTS,
        [],
    )
    assert found["steps"] == [
        {
            "name": "namespaced resources",
            "rank": 1,
            "total": 1,
            "deleted": 1,
            "gone": 0,
            "released": 0,
            "kept": 1,
            "seconds": 0.0,
        }
    ]
    assert found["counts"] == {
        "delete": 1,
        "keep": 1,
        "unmatched": 1,
        "deleted": 1,
        "released": 0,
        "survivors": 0,
        "refused": 0,
        "detached": 0,
        "gone": 1,
        "lost": 0,
    }
    assert [(named_ref(row["object"]), row["verdict"]) for row in found["kept"]] == [
        ("ConfigMap kept", "keep"),
        ("ClusterRole web", "unmatched"),
    ]
    assert [named_ref(row) for row in found["unmatched"]] == ["ClusterRole web"]


def test_check_mode_adds_the_plan_and_says_whether_anything_would_change() -> None:
    found = result(check_mode=True)
    [step] = found["plan"]
    [row] = step["objects"]
    assert (found["changed"], found["counts"]["deleted"], found["steps"][0]["deleted"]) == (True, 0, 0)
    assert (step["name"], step["waves"], step["total"], step["force"]) == ("namespaced resources", 1, 1, False)
    assert (named_ref(row["object"]), row["wave"], row["verdict"], row["reason"], row["finalizers"]) == (
        "ConfigMap a",
        1,
        "delete",
        "named by members.objects[0]",
        [],
    )


def test_check_mode_of_nothing_to_do_changes_nothing() -> None:
    assert result(check_mode=True, members=named_members((CONFIG_MAPS, "kept")))["changed"] is False


def test_check_mode_and_run_have_the_same_keys_but_for_the_plan() -> None:
    assert result(check_mode=True).keys() - result().keys() == {"plan"}


def test_what_was_kept_late_and_what_was_replaced_is_told_with_its_reason() -> None:
    made = cluster()
    made.add(CONFIG_MAPS, "late")
    made.add(CONFIG_MAPS, "new")

    def meanwhile() -> None:
        made.change(CONFIG_MAPS, "late", annotations={"sunset.dev/keep": "true"})
        made.objects["", "configmaps", "shop", "new"]["metadata"]["uid"] = "another"

    members = named_members(*((CONFIG_MAPS, name) for name in ("a", "late", "new")))
    found = ranked_result(ranked(made, members=members, told=When(StepBegan, meanwhile)), REQUESTS)
    assert {named_ref(row["object"]): row["verdict"] for row in found["kept"]} == {
        "ConfigMap late": "keep",
        "ConfigMap new": "replaced",
    }


def test_a_survivor_says_what_holds_it_and_for_how_long() -> None:
    made = InMemoryCluster()
    made.add(DOMAINS, "web", finalizers=[F])
    found = ranked_result(ranked(made, members=named_members((DOMAINS, "web")), timeout=60), REQUESTS)
    [survivor] = found["survivors"]
    assert (named_ref(survivor), survivor["finalizers"], survivor["deleting_for"]) == ("Domain web", [F], 60)
    assert [blocker["finalizer"] for blocker in survivor["blocked_by"]] == [F]


def test_a_refusal_is_a_survivor_and_is_counted() -> None:
    made = InMemoryCluster()
    made.add(DOMAINS, "web")
    made.refusals["Domain shop/web"] = api_error(403, "Forbidden", "no")
    found = ranked_result(ranked(made, members=named_members((DOMAINS, "web"))), REQUESTS)
    assert (found["counts"]["refused"], found["survivors"][0]["blocked_by"][0]["what"]) == (1, "refused")


def test_a_plan_that_was_refused_shows_its_steps_all_the_same() -> None:
    found = result(max_objects=1, members=named_members((CONFIG_MAPS, "a"), (ROLES, "web")), deletion_groups=None)
    assert (found["changed"], [step["total"] for step in found["steps"]]) == (False, [1, 1, 0])


def test_long_lists_are_cut_and_say_so_while_the_files_are_complete() -> None:
    made = InMemoryCluster()
    for number in range(250):
        made.add(CONFIG_MAPS, f"k{number}", annotations={"sunset.dev/keep": "true"})
        made.add(SECRETS, f"s{number}")
    made.add(ROLES, "x")
    selector = {"selector": {"kinds": ["cm", "secret"]}}
    planned = ranked(made, members=selector, check_mode=True)
    found = ranked_result(planned, REQUESTS)
    assert (len(found["kept"]), found["truncated"], len(found["plan"][0]["objects"])) == (200, {"kept": 250}, 200)
    whole = ranked_plan(planned)
    assert (len(whole["kept"]), len(whole["steps"][0]["objects"])) == (250, 250)
    assert ranked_diff(planned)["before"].endswith("… and 50 more\n")


def test_the_diff_shows_every_object_that_goes_with_its_step() -> None:
    assert ranked_diff(outcome(check_mode=True)) == {
        "before_header": "objects",
        "after_header": "objects",
        "before": "1. namespaced resources: ConfigMap shop/a\n",
        "after": "",
    }


def test_the_plan_file_names_what_is_kept_and_can_be_written() -> None:
    plan = ranked_plan(outcome())
    assert json.loads(json.dumps(plan)) == plan
    assert ([row["verdict"] for row in plan["kept"]], plan["plan_hash"]) == (
        ["keep", "unmatched"],
        result()["plan_hash"],
    )


def test_rows_of_a_plan_are_numbered_by_wave() -> None:
    made = InMemoryCluster()
    path = "/namespaces/shop/ConfigMap/b"
    made.add(CONFIG_MAPS, "a", annotations={"config.kubernetes.io/depends-on": path})
    made.add(CONFIG_MAPS, "b")
    planned = ranked(made, members=named_members((CONFIG_MAPS, "a"), (CONFIG_MAPS, "b")), check_mode=True)
    rows = plan_rows(planned.plan)[0]["objects"]
    assert [(row["wave"], row["object"]["name"]) for row in rows] == [(1, "a"), (2, "b")]


BUNDLES: dict[str, tuple[dict[str, Any], bool]] = {
    "with a folder": ({"evidence_dir": "somewhere"}, True),
    "without": ({}, False),
    "check mode keeps nothing": ({"evidence_dir": "somewhere", "check_mode": True}, False),
}


@pytest.mark.parametrize(("params", "kept"), named(BUNDLES))
def test_objects_are_kept_for_the_undo_folder(params: dict[str, Any], kept: bool) -> None:
    bundle = undo_bundle(outcome(**params))
    names = [item["metadata"]["name"] for step in (bundle or {}).get("steps", ()) for item in step["objects"]]
    assert names == (["a"] if kept else [])


def test_what_is_left_out_of_the_bundle_is_a_line_of_text() -> None:
    made = InMemoryCluster()
    made.add(SECRETS, "password")
    bundle = undo_bundle(ranked(made, members=named_members((SECRETS, "password")), evidence_dir="x"))
    assert bundle is not None
    assert bundle["left_out"] == [f"Secret shop/password: {ONLY_SEALED}"]


def test_no_content_of_a_secret_is_in_result_plan_diff_or_bundle() -> None:
    made = InMemoryCluster()
    made.add(SECRETS, "password", data={"key": "c2VjcmV0"}, annotations={"note": "x"})
    done = ranked(made, members=named_members((SECRETS, "password")), evidence_dir="x")
    everything = [ranked_result(done, REQUESTS), ranked_plan(done), ranked_diff(done), undo_bundle(done)]
    assert "c2VjcmV0" not in json.dumps(everything)


@pytest.mark.parametrize("check_mode", [True, False], ids=["with --check", "without"])
def test_a_report_can_be_made_of_any_result(check_mode: bool) -> None:
    text = markdown(page_of(result(check_mode=check_mode), "sunset.kube.ranked_delete", "https://h", "now", "me"))
    assert ("- what: objects" in text, "| ConfigMap shop/kept | keep |" in text) == (True, True)


def test_members_are_shown_with_source_owner_and_marker() -> None:
    found = members_result(show_members({"objects": MEMBERS["objects"]}, cluster(), NO_CONTEXTS, Told()), REQUESTS)
    assert [
        (named_ref(row["object"]), row["source"], row["owned"], bool(row["keep_marker"])) for row in found["members"]
    ] == [
        ("ConfigMap a", "named by members.objects[0]", True, False),
        ("ConfigMap kept", "named by members.objects[1]", True, True),
        ("ClusterRole web", "named by members.objects[2]", True, False),
    ]
    assert (found["changed"], [row["name"] for row in found["absent"]], found["missing"]) == (False, ["gone"], "")
    assert [step["total"] for step in found["plan"]] == [1, 1, 0]


def test_an_absent_object_of_the_core_group_has_a_proper_version() -> None:
    found = members_result(show_members(MEMBERS, cluster(), NO_CONTEXTS, Told()), REQUESTS)
    assert [row["api_version"] for row in found["absent"]] == ["v1"]
