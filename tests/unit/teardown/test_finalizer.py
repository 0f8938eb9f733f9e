# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removing named finalizers, from options to outcome, on a server in memory."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Looked, Planned, Progress, Warned
from ansible_collections.sunset.kube.plugins.module_utils.problems import (
    BadOption,
    Interrupted,
    Refused,
    TimedOut,
    Unreachable,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer import (
    FinalizerOptions,
    FinalizerOutcome,
    FinalizerPlan,
    Release,
    parse_options,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer_rules import Wish
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DEPLOYMENTS,
    DOMAINS,
    NAMESPACES,
    NODES,
    FakeClock,
    Told,
    answer,
    named,
    record,
    refusal,
)
from ansible_collections.sunset.kube.tests.unit.teardown.finalizer_runs import DEFAULTS, F, run

G = "example.com/other"
PATH = "/apis/ingress.example.com/v1/namespaces/shop/domains"


def hanging(*names: str, **more: Any) -> FakeServer:
    """A server with these Domains, each being deleted and held by F."""
    server = FakeServer()
    for name in names:
        server.add(DOMAINS, name, deleted=True, finalizers=[F], **more)
    return server


def went(outcome: FinalizerOutcome) -> list[str]:
    return [f"{release.ref} {', '.join(release.finalizers)}" for release in outcome.plan.releases if release.changed]


def stayed(outcome: FinalizerOutcome) -> list[tuple[str, str, Fate]]:
    return [(str(skip.object), skip.finalizer, skip.verdict.fate) for skip in outcome.plan.skips]


def left(server: FakeServer) -> dict[str, list[str]]:
    return {name: thing["metadata"].get("finalizers") for (*_place, name), thing in server.objects.items()}


# -- the usual run -----------------------------------------------------------------------------------------------------


def test_the_named_finalizers_of_hanging_objects_go_and_nothing_else() -> None:
    server = hanging("a", "b")
    server.add(DOMAINS, "two", deleted=True, finalizers=[G, F])
    server.add(DOMAINS, "alive", finalizers=[F])
    server.add(DOMAINS, "held", deleted=True, finalizers=[G])
    server.add(DOMAINS, "elsewhere", "bank", deleted=True, finalizers=[F])
    outcome = run(server)
    assert went(outcome) == [f"Domain shop/{name} {F}" for name in ("a", "b", "two")]
    assert stayed(outcome) == [("Domain shop/alive", F, Fate.KEEP)]
    assert [held.name for _resource, held in outcome.plan.held] == ["held"]
    assert (outcome.plan.looked_at, outcome.failure, outcome.warnings) == (5, None, [])
    assert left(server) == {"two": [G], "alive": [F], "held": [G], "elsewhere": [F]}


def test_a_second_run_changes_nothing() -> None:
    server = hanging("a")
    server.add(DOMAINS, "two", deleted=True, finalizers=[G, F])
    run(server)
    before = copy.deepcopy(server.objects)
    outcome = run(server)
    assert (went(outcome), server.objects, outcome.failure) == ([], before, None)


def test_check_mode_makes_the_same_plan_and_changes_nothing() -> None:
    server = hanging("a", "b")
    before = copy.deepcopy(server.objects)
    planned = run(server, check_mode=True)
    assert (server.objects, planned.check_mode, planned.failure) == (before, True, None)
    assert [asked.query for asked in server.writes()] == [{"dryRun": "All"}] * 2
    done = run(server)
    assert (planned.plan.hash, went(planned)) == (done.plan.hash, went(done))


def test_everything_is_told_in_order() -> None:
    server, told = hanging("a"), Told()
    server.add(DOMAINS, "alive", finalizers=[F])
    outcome = run(server, told=told)
    [release] = outcome.plan.releases
    assert told == [
        Looked("Domain", 2, "namespace shop"),
        Planned(f"remove {F} from 1 (of 2 looked at); 1 stay", outcome.plan.hash),
        Did("remove finalizer", release.ref, "gone", F, str(server._version), False),
        Progress("removing finalizers", 1, 1, 600.0, word="done"),
    ]


def test_several_named_finalizers_of_one_object_go_in_one_patch() -> None:
    server = FakeServer()
    server.add(DOMAINS, "web", deleted=True, finalizers=[G, "keep.me/x", F])
    outcome = run(server, finalizers=["example.com/*"])
    assert went(outcome) == [f"Domain shop/web {G}, {F}"]
    assert (len(server.writes()), left(server)) == (1, {"web": ["keep.me/x"]})


def test_the_whole_cluster_is_looked_through_without_a_namespace() -> None:
    server = hanging("a")
    server.add(DOMAINS, "b", "bank", deleted=True, finalizers=[F])
    assert went(run(server, namespace=None)) == [f"Domain bank/b {F}", f"Domain shop/a {F}"]


def test_namespaces_are_looked_through_one_by_one_where_only_that_is_allowed() -> None:
    server = hanging("a")
    server.add(NAMESPACES, "shop")
    server.refuse("GET", "/apis/ingress.example.com/v1/domains", refusal(403, "Forbidden"))
    assert went(run(server, namespace=None)) == [f"Domain shop/a {F}"]


def test_only_objects_with_the_labels_are_looked_at() -> None:
    server = hanging("a", labels={"app": "shop"})
    server.add(DOMAINS, "b", deleted=True, finalizers=[F])
    assert went(run(server, label_selector="app=shop")) == [f"Domain shop/a {F}"]


# -- one object --------------------------------------------------------------------------------------------------------


def test_one_object_is_read_by_its_name() -> None:
    server = hanging("a", "b")
    assert went(run(server, name="b")) == [f"Domain shop/b {F}"]


def test_one_object_that_is_not_there_is_nothing_to_do() -> None:
    outcome = run(hanging("a"), name="gone")
    assert (outcome.plan.releases, outcome.plan.looked_at, outcome.failure) == ([], 0, None)


def test_a_cluster_scoped_object_needs_no_namespace() -> None:
    server = FakeServer()
    server.add(NODES, "n1", deleted=True, finalizers=[F])
    assert went(run(server, kind="Node", name="n1", namespace=None)) == [f"Node n1 {F}"]


PLACES = {
    "a namespace for a cluster-scoped kind": (
        {"kind": "Node"},
        "bad options: namespace is given, but Node is cluster-scoped. Next: leave it out.",
    ),
    "a name without its namespace": (
        {"name": "web", "namespace": None},
        "bad options: Domain lives in a namespace, and none is given. Next: set namespace.",
    ),
}


@pytest.mark.parametrize(("params", "sentence"), named(PLACES))
def test_a_place_that_cannot_be_is_refused(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        run(hanging("web"), **params)
    assert str(refused.value) == sentence


# -- kinds -------------------------------------------------------------------------------------------------------------


def test_a_kind_that_is_not_installed_is_nothing_to_do_with_a_warning() -> None:
    told = Told()
    outcome = run(FakeServer(), kind="Spaceship", told=told)
    warning = "Spaceship is not installed: the server has no such kind in any group"
    assert (outcome.plan, outcome.warnings, outcome.failure, told) == (
        FinalizerPlan(terms=outcome.plan.terms),
        [warning],
        None,
        [Warned(warning)],
    )


def test_a_version_that_is_not_served_is_replaced_with_a_warning() -> None:
    outcome = run(hanging("a"), api_version="ingress.example.com/v9")
    assert (len(went(outcome)), outcome.warnings) == (
        1,
        ["Domain (ingress.example.com/v9) is not served in this version; ingress.example.com/v1 is used instead"],
    )


# -- the controller behind it ------------------------------------------------------------------------------------------


def with_operator(server: FakeServer, available: int, written: str = "2025-12-31T00:00:00Z") -> FakeServer:
    server.add(
        DEPLOYMENTS,
        "example-operator",
        spec={"replicas": 1},
        status={"availableReplicas": available},
        managedFields=[{"time": written}],
    )
    return server


def looks_for_owners(server: FakeServer) -> bool:
    return any(asked.path == "/apis/apps/v1/deployments" for asked in server.asked)


@pytest.mark.parametrize(
    ("available", "owner", "removed"),
    named({"alive": (1, "gone", 0), "gone": (0, "gone", 1), "alive, and any will do": (1, "any", 1)}),
)
def test_a_finalizer_stays_while_its_controller_is_proven_alive(available: int, owner: str, removed: int) -> None:
    server = with_operator(hanging("a"), available)
    outcome = run(server, owner=owner)
    assert (len(went(outcome)), looks_for_owners(server)) == (removed, owner == "gone")


@pytest.mark.parametrize(("owner", "removed"), [("gone", 0), ("any", 1)])
def test_a_finalizer_stays_while_its_controller_may_be_starting(owner: str, removed: int) -> None:
    """Somebody follows the first advice, to bring it back, and in the same breath the second."""
    outcome = run(with_operator(hanging("a"), 0, "2025-12-31T23:59:55Z"), owner=owner)
    assert len(went(outcome)) == removed
    assert all("may be starting" in skip.verdict.why for skip in outcome.plan.skips)


def test_a_field_manager_leads_to_the_controller_too() -> None:
    server = FakeServer()
    fields = {"f:metadata": {"f:finalizers": {f'v:"{F}"': {}}}}
    server.add(DOMAINS, "a", deleted=True, finalizers=[F], managedFields=[{"manager": "janitor", "fieldsV1": fields}])
    server.add(DEPLOYMENTS, "janitor", spec={"replicas": 1}, status={"availableReplicas": 1})
    assert stayed(run(server)) == [("Domain shop/a", F, Fate.KEEP)]


def test_controllers_are_not_looked_for_where_nothing_would_go_anyway() -> None:
    server = FakeServer()
    server.add(DOMAINS, "alive", finalizers=[F])
    run(server)
    assert not looks_for_owners(server)


def test_controllers_that_may_not_be_looked_for_are_a_warning() -> None:
    server = hanging("a")
    server.refuse("GET", "/apis/apps/v1/deployments", refusal(403, "Forbidden", "no"))
    outcome = run(server)
    assert (len(went(outcome)), outcome.warnings) == (
        1,
        ["whether the controllers still run could not be checked (Deployments: HTTP 403 Forbidden, no)"],
    )


def refused(server: FakeServer, **params: Any) -> Refused:
    """The refusal a run ends with."""
    try:
        failure = run(server, **params).failure
    except Refused as problem:
        failure = problem
    assert isinstance(failure, Refused)
    return failure


# -- limits ------------------------------------------------------------------------------------------------------------


def test_more_objects_than_allowed_are_refused_before_anything_is_written() -> None:
    server = hanging("a", "b")
    assert str(refused(server, max_objects=1)) == (
        "too many objects: the plan touches 2, and max_objects is 1. "
        "Next: look at the plan with --check, then raise max_objects or select less; nothing was changed."
    )
    assert server.writes() == []


def test_as_many_objects_as_allowed_are_fine() -> None:
    assert len(went(run(hanging("a", "b"), max_objects=2))) == 2


def test_another_plan_than_the_one_looked_at_is_refused_before_anything_is_written() -> None:
    server = hanging("a")
    seen = run(server, check_mode=True).plan.hash
    server.add(DOMAINS, "late", deleted=True, finalizers=[F])
    server.asked.clear()
    problem = refused(server, plan_hash=seen)
    assert (problem.what, server.writes()) == ("the plan has changed", [])
    assert f"plan_hash is {seen}" in problem.why


def test_the_plan_looked_at_is_carried_out() -> None:
    server = hanging("a")
    seen = run(server, check_mode=True).plan.hash
    assert len(went(run(server, plan_hash=seen))) == 1


def test_a_missing_right_is_refused_before_anything_is_written() -> None:
    server = hanging("a")
    server.refuse(
        "POST",
        "/apis/authorization.k8s.io",
        answer(201, {"kind": "SelfSubjectAccessReview", "status": {"allowed": False}}),
    )
    problem = refused(server)
    assert (problem.what, problem.which, server.writes()) == (
        "not allowed",
        "to patch domains.ingress.example.com in namespace shop",
        [],
    )


def test_no_right_is_asked_for_where_nothing_is_to_be_done() -> None:
    server = FakeServer()
    run(server)
    assert "POST" not in server.methods()


# -- the hash ----------------------------------------------------------------------------------------------------------


def plan_of(*entries: tuple[str, list[str]]) -> FinalizerPlan:
    return FinalizerPlan([Release(DOMAINS, record(name, finalizers=names), tuple(names)) for name, names in entries])


entries = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", "d"]), st.lists(st.sampled_from([F, G, "x/y"]), min_size=1, unique=True)),
    max_size=4,
    unique_by=lambda entry: entry[0],
)


@given(entries, st.randoms(use_true_random=False))
def test_the_hash_does_not_depend_on_any_order(found: list[tuple[str, list[str]]], random: Any) -> None:
    shuffled = [(name, random.sample(names, len(names))) for name, names in random.sample(found, len(found))]
    assert plan_of(*shuffled).hash == plan_of(*found).hash


@given(entries, entries)
def test_different_plans_have_different_hashes(
    one: list[tuple[str, list[str]]], other: list[tuple[str, list[str]]]
) -> None:
    same = {name: set(names) for name, names in one} == {name: set(names) for name, names in other}
    assert (plan_of(*one).hash == plan_of(*other).hash) is same


def test_an_object_that_was_replaced_gives_another_hash() -> None:
    old, new = (FinalizerPlan([Release(DOMAINS, record("a", uid=uid), (F,))]) for uid in ("u1", "u2"))
    assert old.hash != new.hash


# -- when something goes wrong -----------------------------------------------------------------------------------------


def test_a_write_that_is_refused_does_not_keep_the_others_from_going() -> None:
    server = hanging("a", "b", "c")
    server.refuse("PATCH", f"{PATH}/b", refusal(403, "Forbidden", "denied by a webhook"))
    outcome = run(server)
    assert went(outcome) == [f"Domain shop/a {F}", f"Domain shop/c {F}"]
    assert [str(release.problem) for release in outcome.plan.releases if release.problem] == [
        "cannot remove the finalizer from Domain shop/b: HTTP 403 Forbidden, denied by a webhook. "
        "Next: ask for the right to do this, or run as a user who has it (see context and impersonate_user)."
    ]
    assert str(outcome.failure).startswith(
        "could not remove finalizers from Domain shop/b: HTTP 403 Forbidden, denied by a webhook. Next: "
    )


def test_many_refusals_name_the_first_and_count_the_rest() -> None:
    server = hanging("a", "b", "c")
    server.refuse("PATCH", PATH, refusal(405, "MethodNotAllowed"))
    outcome = run(server)
    assert "Domain shop/a (and 2 more, see survivors)" in str(outcome.failure)


def test_a_refusal_shows_in_check_mode_already() -> None:
    server = hanging("a")
    server.refuse("PATCH", PATH, refusal(422, "Invalid", "denied", [{"message": "guarded"}]))
    assert isinstance(run(server, check_mode=True).failure, Refused)


def test_an_object_that_was_replaced_meanwhile_is_left_alone_and_is_no_failure() -> None:
    server = hanging("a", "b")

    def replace() -> None:
        server.add(DOMAINS, "a", uid="new", deleted=True, finalizers=[F])

    server.before("PATCH", replace)
    outcome = run(server)
    assert (went(outcome), stayed(outcome), outcome.failure) == (
        [f"Domain shop/b {F}"],
        [("Domain shop/a", F, Fate.REPLACED)],
        None,
    )
    assert left(server) == {"a": [F]}


def test_an_object_that_went_by_itself_meanwhile_is_no_change_and_no_failure() -> None:
    server = hanging("a")
    server.before("PATCH", lambda: server.remove(DOMAINS, "a"))
    outcome = run(server)
    [release] = outcome.plan.releases
    assert (release.done, release.gone, release.changed, outcome.failure) == (True, True, False, None)


def test_when_the_time_is_over_the_rest_is_left_and_the_run_fails() -> None:
    clock, server = FakeClock(), hanging("a", "b", "c")
    server.before("PATCH", lambda: clock.advance(601.0))
    outcome = run(server, clock=clock)
    assert (went(outcome), type(outcome.failure)) == ([f"Domain shop/a {F}"], TimedOut)
    assert str(outcome.failure) == (
        "out of time: 1 of 3 objects were dealt with within 600 s. Next: run the task again, or raise timeout."
    )
    assert left(server) == {"b": [F], "c": [F]}


def test_after_the_stop_sign_no_write_is_sent_and_what_was_done_is_told() -> None:
    stop, server = StopSign(), hanging("a", "b", "c")
    server.before("PATCH", lambda: stop.set("received SIGTERM"))
    outcome = run(server, stop=stop)
    assert (went(outcome), len(server.writes())) == ([f"Domain shop/a {F}"], 1)
    assert str(outcome.failure) == (
        "stopped: received SIGTERM; 1 of 3 objects were dealt with. Next: run the task again: it goes on from here."
    )
    assert isinstance(outcome.failure, Interrupted)


def test_a_stop_sign_that_comes_during_a_pause_is_told_the_same_way() -> None:
    stop, clock, server = StopSign(), FakeClock(), hanging("a", "b")
    server.refuse("PATCH", f"{PATH}/a", answer(429, retry_after="30"))
    clock.at(clock.now() + 10.0, lambda: stop.set("received SIGTERM"))
    outcome = run(server, stop=stop, clock=clock)
    assert (isinstance(outcome.failure, Interrupted), len(server.writes())) == (True, 1)


def test_a_server_that_goes_away_ends_the_run_with_what_was_done() -> None:
    server = hanging("a", "b", "c")
    server.refuse("PATCH", f"{PATH}/b", ConnectionResetError("reset by peer"))
    outcome = run(server)
    assert (went(outcome), type(outcome.failure)) == ([f"Domain shop/a {F}"], Unreachable)


def test_a_stop_sign_that_comes_with_the_last_write_fails_nothing() -> None:
    stop, server = StopSign(), hanging("a")
    server.before("PATCH", lambda: stop.set("received SIGTERM"))
    assert run(server, stop=stop).failure is None


def test_the_run_is_timed_and_dated_by_the_servers_clock() -> None:
    clock, server = FakeClock(), hanging("a")
    server.before("PATCH", lambda: clock.advance(5.0))
    outcome = run(server, clock=clock)
    assert (outcome.seconds, outcome.server_time) == (5.0, 1767225600.0)


# -- options -----------------------------------------------------------------------------------------------------------


def test_options_become_values() -> None:
    params = {
        **DEFAULTS,
        "finalizers": [f" {F} ", "example.com/*"],
        "api_version": "ingress.example.com/v1",
        "grace": 300,
        "owner": "any",
        "allow_protected": True,
        "terminating_only": False,
        "timeout": 60,
        "max_objects": 5,
        "plan_hash": "abc",
        "label_selector": "app=shop",
    }
    assert parse_options(params, check_mode=True) == FinalizerOptions(
        kind="Domain",
        wish=Wish((F, "example.com/*"), terminating_only=False, grace=300.0, owner="any", allow_protected=True),
        api_version="ingress.example.com/v1",
        namespace="shop",
        label_selector="app=shop",
        timeout=60.0,
        max_objects=5,
        plan_hash="abc",
        check_mode=True,
    )


LONE = "a lone * would take finalizers nobody thought of; name them, or use a glob like example.com/*"
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no finalizers": ({"finalizers": []}, "finalizers: give at least one name or glob, and no empty ones"),
    "an empty finalizer": ({"finalizers": [F, " "]}, "finalizers: give at least one name or glob, and no empty ones"),
    "a lone star": ({"finalizers": ["*"]}, f"finalizers: {LONE}"),
    "a lone star among others": ({"finalizers": [F, " * "]}, f"finalizers: {LONE}"),
    "stars by another name": ({"finalizers": ["**"]}, f"finalizers: {LONE}"),
    "stars and a slash": ({"finalizers": ["*/*"]}, f"finalizers: {LONE}"),
    "a name and labels": (
        {"name": "web", "label_selector": "a=b"},
        "name: cannot stand together with label_selector",
    ),
    "a negative grace": ({"grace": -1}, "grace: must be 0 or more, not -1"),
    "no time": ({"timeout": 0}, "timeout: must be 1 or more, not 0"),
    "no objects": ({"max_objects": 0}, "max_objects: must be 1 or more, not 0"),
    "no workers": ({"parallel": 0}, "parallel: must be 1 or more, not 0"),
    "too many workers": ({"parallel": 65}, "parallel: must be 64 or less, not 65"),
    "several at once": (
        {"grace": -1, "timeout": 0},
        "timeout: must be 1 or more, not 0; grace: must be 0 or more, not -1",
    ),
}


@pytest.mark.parametrize(("params", "why"), named(BAD))
def test_bad_options_are_refused_all_at_once(params: dict[str, Any], why: str) -> None:
    with pytest.raises(BadOption) as refused:
        parse_options({**DEFAULTS, **params}, check_mode=False)
    assert refused.value.why == why


@pytest.mark.parametrize("option", ["kind", "name", "namespace", "label_selector"])
@pytest.mark.parametrize("text", ["", "  "], ids=["empty", "blank"])
def test_an_empty_option_is_a_mistake_and_never_means_everything(option: str, text: str) -> None:
    # `name: "{{ thing.name | default('') }}"` must not free every object of the kind in the cluster.
    with pytest.raises(BadOption, match=option):
        parse_options({**DEFAULTS, option: text}, check_mode=False)
