# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A freeze forbids what it says, for as long as it says, to everybody it says; and nothing else."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import freeze
from integration.ranked import failed, succeeded
from integration.running import Result, run_job
from integration.stage import CLEANUP, FOREIGN, GROUP, WIDGETS, Body, Stage, body, config_map, gadget, widget
from lab.fixtures import AsUser
from lab.plane.api import Api
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User
from lab.waiting import until

pytestmark = pytest.mark.quick

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
POLICIES, BINDINGS = f"{ADMISSION}/validatingadmissionpolicies", f"{ADMISSION}/validatingadmissionpolicybindings"
GADGETS = f"gadgets.{GROUP}"
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]


class Freezer:
    """Runs `freeze` under one name; everything it leaves is removed in the end."""

    def __init__(self, plane: ControlPlane) -> None:
        self.api = plane.api
        self.user = plane.user("freezer", (MASTERS,))
        self.name = f"freeze-{secrets.token_hex(4)}"
        self.names = {self.name}

    def __call__(self, *, user: User | None = None, check_mode: bool = False, **options: Any) -> Result:
        params = {"name": self.name, "timeout": 60, **options}
        if re.fullmatch("[a-z0-9-]+", params["name"] or ""):
            self.names.add(params["name"])
        return run_job(freeze.JOB, params, (user or self.user).kubeconfig, check_mode=check_mode)

    def parts(self, name: str = "") -> list[int]:
        """Whether policy and binding are there."""
        return [self.api.get(f"{collection}/{name or self.name}")[0] for collection in (POLICIES, BINDINGS)]

    def clear(self) -> None:
        for name in self.names:
            for collection in (BINDINGS, POLICIES):
                self.api.delete(f"{collection}/{name}")


@pytest.fixture
def freezer(plane: ControlPlane, stage: Stage) -> Iterator[Freezer]:
    running = Freezer(plane)
    yield running
    running.clear()


def try_create(stage: Stage, thing: Body, api: Api | None = None) -> int:
    """What the server says; nothing is kept."""
    speaker = api or stage.api
    return speaker.post(stage.api.path_of(thing, collection=True), thing, dryRun="All")[0]


# -- creating ----------------------------------------------------------------------------------------------------------


def test_nobody_may_create_the_frozen_kinds_and_everything_else_is_allowed(stage: Stage, freezer: Freezer) -> None:
    here = stage.namespace
    (old,) = stage.put(widget("old", here))
    result = succeeded(freezer(kinds=[WIDGETS]))
    assert (result["changed"], result["name"]) == (True, freezer.name)
    status, answer = stage.api.post(stage.api.path_of(old, collection=True), widget("new", here))
    assert status == 403
    assert f"frozen by sunset.kube ({freezer.name}" in answer["message"]
    assert f"until {result['ends']}" in answer["message"]
    old_version = body(f"{GROUP}/v1beta1", "Widget", "new", here)
    assert try_create(stage, old_version) == 403, "in any version"
    assert try_create(stage, config_map("new", here)) == 201
    assert try_create(stage, gadget(f"new-{here}")) == 201
    path = stage.api.path_of(old)
    assert stage.api.patch(path, {"metadata": {"labels": {"a": "b"}, "finalizers": [CLEANUP]}})[0] == 200
    assert stage.api.delete(path)[0] == 200


def test_only_the_named_namespaces_are_frozen(stage: Stage, freezer: Freezer) -> None:
    here, also, there = stage.namespace, stage.another_namespace(), stage.another_namespace()
    succeeded(freezer(kinds=[WIDGETS], namespaces=[here, also]))
    assert [try_create(stage, widget("w", where)) for where in (here, also, there)] == [403, 403, 201]


def test_kinds_of_the_whole_cluster_can_be_frozen(stage: Stage, freezer: Freezer) -> None:
    succeeded(freezer(kinds=["Gadget"]))
    assert try_create(stage, gadget("g")) == 403
    assert try_create(stage, widget("w", stage.namespace)) == 201


def test_namespaces_do_not_freeze_kinds_of_the_whole_cluster(stage: Stage, freezer: Freezer) -> None:
    """Only in these namespaces: a Gadget is in none. The server's namespaceSelector lets it through to the rule."""
    result = freezer(kinds=[WIDGETS, GADGETS], namespaces=[stage.namespace])
    if result.get("failed"):  # saying that it does not go together is as good
        assert "amespace" in result["msg"]
        return
    assert try_create(stage, widget("w", stage.namespace)) == 403
    assert try_create(stage, gadget("g")) == 201


def test_the_freeze_is_not_for_allowed_users(stage: Stage, freezer: Freezer, as_user: AsUser) -> None:
    friend, stranger = as_user("friend", EVERYTHING), as_user("stranger", EVERYTHING)
    succeeded(freezer(kinds=[WIDGETS], namespaces=[stage.namespace], allow_users=["friend"]))
    thing = widget("w", stage.namespace)
    assert [try_create(stage, thing, Api(user)) for user in (friend, stranger)] == [201, 403]


def test_who_freezes_may_be_allowed_himself(stage: Stage, freezer: Freezer) -> None:
    """Then his own probe goes through; that does not mean that the freeze does not work."""
    succeeded(freezer(kinds=[WIDGETS], namespaces=[stage.namespace], allow_users=["freezer"]))
    assert try_create(stage, widget("w", stage.namespace)) == 403
    assert try_create(stage, widget("w", stage.namespace), Api(freezer.user)) == 201


# -- finalizers --------------------------------------------------------------------------------------------------------

Way = Callable[[Stage, Body, list[str]], int]


def by_update(stage: Stage, thing: Body, finalizers: list[str]) -> int:
    now = stage.look(thing)
    now["metadata"]["finalizers"] = finalizers
    return stage.api.put(stage.api.path_of(thing), now, dryRun="All")[0]


def by_merge_patch(stage: Stage, thing: Body, finalizers: list[str]) -> int:
    return stage.api.patch(stage.api.path_of(thing), {"metadata": {"finalizers": finalizers}}, dryRun="All")[0]


def by_json_patch(stage: Stage, thing: Body, finalizers: list[str]) -> int:
    patch = [{"op": "add", "path": "/metadata/finalizers", "value": finalizers}]
    return stage.api.patch(stage.api.path_of(thing), patch, dryRun="All")[0]


def by_apply(stage: Stage, thing: Body, finalizers: list[str]) -> int:
    wanted = body(thing["apiVersion"], thing["kind"], thing["metadata"]["name"], stage.namespace, *finalizers)
    how = {"fieldManager": "applier", "force": "true", "dryRun": "All"}
    kind = "application/apply-patch+yaml"
    return stage.api.request("PATCH", stage.api.path_of(thing), wanted, query=how, content_type=kind)[0]


def by_creation(stage: Stage, thing: Body, finalizers: list[str]) -> int:
    return try_create(stage, body(thing["apiVersion"], thing["kind"], "another", stage.namespace, *finalizers))


WAYS = [by_update, by_merge_patch, by_json_patch, by_apply, by_creation]


@pytest.mark.parametrize("kind", ["Widget", "ConfigMap"])
def test_nobody_may_add_a_frozen_finalizer_in_any_way(stage: Stage, freezer: Freezer, kind: str) -> None:
    here = stage.namespace
    make = {"Widget": widget, "ConfigMap": config_map}[kind]
    team = {"team": "a"}  # a field of somebody's own, so that the server notes when it changes
    bare, carrying = stage.put(make("bare", here, labels=team), make("carrying", here, CLEANUP, FOREIGN, labels=team))
    succeeded(freezer(finalizers=[CLEANUP], on_kinds=[WIDGETS, "configmaps"], namespaces=[here]))
    assert {way.__name__: way(stage, bare, [CLEANUP]) for way in WAYS} == {way.__name__: 403 for way in WAYS}
    assert {way.__name__: way(stage, bare, [FOREIGN]) in (200, 201) for way in WAYS} == {
        way.__name__: True for way in WAYS
    }
    for way in (by_update, by_merge_patch, by_json_patch):
        assert way(stage, carrying, [FOREIGN]) == 200, "taking it off stays allowed"
        assert way(stage, carrying, [FOREIGN, CLEANUP, "x.example.com/y"]) == 200, "it is there already"
    labelled = {"metadata": {"labels": {"a": "b"}}}
    assert stage.api.patch(stage.api.path_of(carrying), labelled)[0] == 200
    assert try_create(stage, gadget("g", CLEANUP)) == 201, "another kind"


def test_finalizers_can_be_frozen_by_their_beginning(stage: Stage, freezer: Freezer) -> None:
    (bare,) = stage.put(widget("bare", stage.namespace, labels={"team": "a"}))
    succeeded(freezer(finalizers=["keeper.example.com/*"], on_kinds=[WIDGETS], namespaces=[stage.namespace]))
    assert by_merge_patch(stage, bare, [CLEANUP]) == 403
    assert by_merge_patch(stage, bare, ["keeper.example.com/other"]) == 403
    assert by_merge_patch(stage, bare, ["keeper.example.org/other"]) == 200


def test_objects_with_the_finalizer_can_still_be_deleted_and_freed(stage: Stage, freezer: Freezer) -> None:
    (thing,) = stage.hang(widget("w", stage.namespace, CLEANUP))
    succeeded(freezer(kinds=[WIDGETS], finalizers=[CLEANUP], on_kinds=[WIDGETS], namespaces=[stage.namespace]))
    stage.release(thing)
    assert stage.is_gone(thing)


# -- its end -----------------------------------------------------------------------------------------------------------


def test_a_freeze_ends_by_itself_while_it_is_still_there(stage: Stage, freezer: Freezer) -> None:
    here = stage.namespace
    (old,) = stage.put(widget("old", here, labels={"team": "a"}))
    frozen: dict[str, Any] = {"kinds": [WIDGETS], "finalizers": [CLEANUP], "on_kinds": [WIDGETS], "namespaces": [here]}
    succeeded(freezer(**frozen, expires_after=4))
    assert try_create(stage, widget("w", here)) == 403
    assert by_merge_patch(stage, old, [CLEANUP]) == 403
    until(lambda: try_create(stage, widget("w", here)) == 201, "creating to be allowed again")
    assert {way.__name__: way(stage, old, [CLEANUP]) in (200, 201) for way in WAYS} == {
        way.__name__: True for way in WAYS
    }
    assert freezer.parts() == [200, 200]


def test_a_freeze_ends_for_objects_without_managed_fields_too(stage: Stage, freezer: Freezer) -> None:
    """Nothing in them tells the time of a change: they were stripped, or never had a field of their own."""
    here = stage.namespace
    stripped, empty = stage.put(widget("stripped", here, labels={"team": "a"}), widget("empty", here))
    strip = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]
    assert stage.api.patch(stage.api.path_of(stripped), strip)[0] == 200
    assert all("managedFields" not in stage.look(thing)["metadata"] for thing in (stripped, empty))
    succeeded(freezer(finalizers=[CLEANUP], on_kinds=[WIDGETS], namespaces=[here], expires_after=2))
    until(lambda: try_create(stage, widget("w", here, CLEANUP)) == 201, "the freeze to be over")
    assert [by_merge_patch(stage, thing, [CLEANUP]) for thing in (stripped, empty)] == [200, 200]


def test_a_lifted_freeze_forbids_nothing(stage: Stage, freezer: Freezer) -> None:
    succeeded(freezer(kinds=[WIDGETS], namespaces=[stage.namespace]))
    result = succeeded(freezer(state="absent"))
    assert (result["changed"], result["lifted"]) == (True, [freezer.name])
    assert freezer.parts() == [404, 404]
    until(lambda: try_create(stage, widget("w", stage.namespace)) == 201, "the policy to be forgotten")
    again = succeeded(freezer(state="absent"))
    assert (again["changed"], again["lifted"]) == (False, [])


def test_sweeping_removes_what_is_over_and_nothing_else(stage: Stage, freezer: Freezer, plane: ControlPlane) -> None:
    here = stage.namespace
    over, alive, foreign = (f"{freezer.name}-{word}" for word in ("over", "alive", "foreign"))
    freezer.names.add(foreign)
    succeeded(freezer(name=over, kinds=[WIDGETS], namespaces=[here], expires_after=2))
    succeeded(freezer(name=alive, kinds=[WIDGETS], namespaces=[stage.another_namespace()]))
    make_foreign(stage, foreign)
    until(lambda: try_create(stage, widget("w", here)) == 201, "the first to be over")
    checked = until(
        lambda: (found := freezer(name=None, state="swept", check_mode=True))["changed"] and found, "it to be seen"
    )
    assert over in checked["lifted"]
    assert freezer.parts(over) == [200, 200]
    result = succeeded(freezer(name=None, state="swept"))
    assert over in result["lifted"]
    assert not {alive, foreign} & set(result["lifted"])
    assert freezer.parts(over) == [404, 404]
    assert freezer.parts(alive) == [200, 200]
    assert freezer.parts(foreign)[0] == 200
    assert succeeded(freezer(name=None, state="swept"))["lifted"] == []


# -- again -------------------------------------------------------------------------------------------------------------


def test_the_same_task_again_moves_the_end(stage: Stage, freezer: Freezer) -> None:
    first = succeeded(freezer(kinds=[WIDGETS], namespaces=[stage.namespace], expires_after=100))
    second = succeeded(freezer(kinds=[WIDGETS], namespaces=[stage.namespace], expires_after=200))
    assert second["changed"] is True
    assert second["ends"] > first["ends"]
    _status, answer = stage.api.get(f"{POLICIES}/{freezer.name}")
    assert second["ends"] in answer["spec"]["validations"][0]["expression"]


def test_another_freeze_under_the_same_name_is_in_force_when_the_task_returns(stage: Stage, freezer: Freezer) -> None:
    here = stage.namespace
    succeeded(freezer(kinds=[WIDGETS], namespaces=[here]))
    succeeded(freezer(kinds=["configmaps"], namespaces=[here]))
    answers = [try_create(stage, config_map("c", here)), try_create(stage, widget("w", here))]
    assert answers == [403, 201]


def test_a_freeze_of_some_namespaces_can_be_widened_to_all(stage: Stage, freezer: Freezer) -> None:
    here, there = stage.namespace, stage.another_namespace()
    succeeded(freezer(kinds=[WIDGETS], namespaces=[here]))
    succeeded(freezer(kinds=[WIDGETS]))
    _status, binding = stage.api.get(f"{BINDINGS}/{freezer.name}")
    assert not binding["spec"].get("matchResources", {}).get("namespaceSelector", {}).get("matchExpressions")
    until(lambda: try_create(stage, widget("w", there)) == 403, "the freeze of all namespaces")


def test_an_allowed_user_can_be_taken_off_the_list(stage: Stage, freezer: Freezer, as_user: AsUser) -> None:
    friend = Api(as_user("former-friend", EVERYTHING))
    options: dict[str, Any] = {"kinds": [WIDGETS], "namespaces": [stage.namespace]}
    succeeded(freezer(**options, allow_users=["former-friend"]))
    succeeded(freezer(**options))
    until(lambda: try_create(stage, widget("w", stage.namespace), friend) == 403, "the friendship to end")


# -- others ------------------------------------------------------------------------------------------------------------


def make_foreign(stage: Stage, name: str) -> Body:
    rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["widgets"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "true"}]}
    (made,) = stage.api.create(
        body("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", name, "", spec=spec)
    )
    return made


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_policy_that_is_not_ours_is_neither_overwritten_nor_lifted(
    stage: Stage, freezer: Freezer, check_mode: bool
) -> None:
    theirs = make_foreign(stage, freezer.name)
    message = failed(freezer(kinds=[WIDGETS], namespaces=[stage.namespace], check_mode=check_mode))
    assert "not ours" in message
    lifted = succeeded(freezer(state="absent", check_mode=check_mode))
    assert (lifted["changed"], lifted["lifted"]) == (False, [])
    _status, now = stage.api.get(f"{POLICIES}/{freezer.name}")
    assert (now["metadata"]["generation"], now["spec"]) == (1, theirs["spec"])
    assert "sunset.dev/freeze" not in now["metadata"].get("labels", {})
    assert freezer.parts() == [200, 404]


def test_check_mode_says_what_would_be_and_writes_nothing(stage: Stage, freezer: Freezer, audit: AuditTrail) -> None:
    options: dict[str, Any] = {"kinds": [WIDGETS], "namespaces": [stage.namespace]}
    assert succeeded(freezer(**options, check_mode=True))["changed"] is True
    assert succeeded(freezer(state="absent", check_mode=True))["changed"] is False
    assert freezer.parts() == [404, 404]
    assert audit.writes("freezer") == []
    succeeded(freezer(**options))
    audit.begin_anew()
    assert succeeded(freezer(state="absent", check_mode=True))["changed"] is True
    assert audit.writes("freezer") == []
    assert freezer.parts() == [200, 200]


def test_the_rights_the_documentation_names_are_enough(stage: Stage, freezer: Freezer, as_user: AsUser) -> None:
    admission = ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]
    rules = [
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": admission,
            "verbs": ["get", "list", "create", "patch", "delete"],
        },
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]},
    ]
    user = as_user("little-freezer", rules)
    options: dict[str, Any] = {"kinds": [WIDGETS], "namespaces": [stage.namespace]}
    succeeded(freezer(**options, user=user))
    succeeded(freezer(**options, user=user))
    succeeded(freezer(state="absent", user=user))


def test_a_namespace_that_does_not_exist_yet_can_be_frozen_or_is_named(stage: Stage, freezer: Freezer) -> None:
    """The probe cannot be tried there; the message must not say that the freeze does not work."""
    result = freezer(kinds=[WIDGETS], namespaces=[f"no-{secrets.token_hex(4)}", stage.namespace])
    if result.get("failed"):
        assert "namespace" in result["msg"]
        assert freezer.parts() == [404, 404], "what failed is not left in force"
        return
    assert try_create(stage, widget("w", stage.namespace)) == 403


def test_a_freeze_that_cannot_be_probed_says_why_and_is_not_left_in_force(
    stage: Stage, freezer: Freezer, as_user: AsUser
) -> None:
    rules = [{"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["*"]}]
    message = failed(freezer(kinds=[WIDGETS], namespaces=[stage.namespace], user=as_user("no-probe", rules)))
    assert "configmaps" in message.lower()
    assert freezer.parts() == [404, 404]


BAD = {
    "nothing to forbid": {},
    "finalizers on nothing": {"finalizers": [CLEANUP]},
    "no finalizers on kinds": {"on_kinds": [WIDGETS]},
    "an empty list": {"kinds": []},
    "an empty name of a kind": {"kinds": [""]},
    "no namespaces": {"kinds": [WIDGETS], "namespaces": []},
    "any finalizer": {"finalizers": ["*"], "on_kinds": [WIDGETS]},
    "a star in the middle": {"finalizers": ["a*/b"], "on_kinds": [WIDGETS]},
    "over before it began": {"kinds": [WIDGETS], "expires_after": 0},
    "no name": {"kinds": [WIDGETS], "name": None},
    "a name that cannot be": {"kinds": [WIDGETS], "name": "My Freeze"},
    "an unknown kind": {"kinds": ["gizmos.example.com"]},
}


@pytest.mark.parametrize("options", BAD.values(), ids=BAD.keys())
def test_bad_options_are_refused_before_anything_is_written(
    stage: Stage, freezer: Freezer, audit: AuditTrail, options: dict[str, Any]
) -> None:
    failed(freezer(**options))
    assert audit.writes("freezer") == []
