# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options, secrets, signals and results: what both fronts share, and the module front."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import importlib
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.basic import AnsibleModule

from ansible_collections.sunset.kube.plugins.module_utils import front
from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Planned, Progress, Reached, Warned
from ansible_collections.sunset.kube.plugins.module_utils.front import (
    CONNECTION,
    RUN,
    Context,
    Job,
    connection_options,
    perform,
    run_module,
)
from ansible_collections.sunset.kube.plugins.module_utils.kube.configuration import ConnectionOptions
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.problems import (
    BadOption,
    Interrupted,
    NotLoggedIn,
    Problem,
    Refused,
    TimedOut,
    Unreachable,
)
from ansible_collections.sunset.kube.plugins.module_utils.reporting import Report, stop_on_signals
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.module_args import patch_module_args

COLLECTION = "ansible_collections.sunset.kube"
ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("[a-z]*.py"))


# -- options and their documentation -----------------------------------------------------------------------------------


def fragment(name: str) -> dict[str, Any]:
    """A documentation fragment by its full name: `sunset.kube.attributes.writes` is WRITES of attributes.py."""
    file, _dot, section = name.removeprefix("sunset.kube.").partition(".")
    module = importlib.import_module(f"{COLLECTION}.plugins.doc_fragments.{file}")
    content: dict[str, Any] = yaml.safe_load(getattr(module.ModuleDocFragment, (section or "documentation").upper()))
    return content


def documented(options: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Options as documented, without their descriptions."""
    told = {
        name: {key: value for key, value in option.items() if key != "description"} for name, option in options.items()
    }
    for option in told.values():
        option.pop("version_added", None)
        if "suboptions" in option:
            option["options"] = documented(option.pop("suboptions"))
    return told


def specified(arguments: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Options as specified, without what documentation does not repeat."""
    known = ("type", "elements", "default", "choices", "aliases", "required", "options")
    told = {name: {key: option[key] for key in known if key in option} for name, option in arguments.items()}
    for option in told.values():
        if "options" in option:
            option["options"] = specified(option["options"])
    return told


@pytest.mark.parametrize(
    ("name", "arguments"),
    named({"connection": ("sunset.kube.connection", CONNECTION), "run": ("sunset.kube.run", RUN)}),
)
def test_every_shared_option_is_documented_as_it_is_specified(name: str, arguments: dict[str, Any]) -> None:
    assert documented(fragment(name)["options"]) == specified(arguments)


@pytest.mark.parametrize("name", MODULES)
def test_every_option_of_a_module_is_documented_as_it_is_specified(name: str) -> None:
    module = importlib.import_module(f"{COLLECTION}.plugins.modules.{name}")
    job = importlib.import_module(f"{COLLECTION}.plugins.module_utils.jobs.{name}").JOB
    documentation = yaml.safe_load(module.DOCUMENTATION)
    parts = [fragment(part) for part in documentation.get("extends_documentation_fragment", [])]
    options = {key: value for part in (*parts, documentation) for key, value in (part.get("options") or {}).items()}
    assert documented(options) == specified(job.arguments)


def is_for_clusters(name: str) -> bool:
    return isinstance(importlib.import_module(f"{COLLECTION}.plugins.module_utils.jobs.{name}").JOB, Job)


@pytest.mark.parametrize("name", list(filter(is_for_clusters, MODULES)))
def test_every_cluster_module_has_an_action_plugin_and_is_in_the_action_group(name: str) -> None:
    action = importlib.import_module(f"{COLLECTION}.plugins.action.{name}").ActionModule
    runtime = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    assert (action.JOB.name, name in runtime["action_groups"]["cluster"]) == (name, True)


def test_every_connection_option_reaches_the_connection() -> None:
    fields = {field.name for field in dataclasses.fields(ConnectionOptions)}
    assert fields == set(CONNECTION)


def test_connection_options_are_taken_over_as_they_are() -> None:
    given = {name: f"the {name}" for name in CONNECTION} | {"impersonate_groups": ["a", "b"], "validate_certs": False}
    expected = given | {"impersonate_groups": ("a", "b")}
    assert dataclasses.asdict(connection_options(given)) == expected


# -- variables ---------------------------------------------------------------------------------------------------------


def params_of(arguments: dict[str, Any], **args: Any) -> dict[str, Any]:
    with patch_module_args(args):
        return dict(AnsibleModule(argument_spec=arguments).params)


# As kubernetes.core names them, and some more.
VARIABLES: dict[str, tuple[str, str, Any]] = {
    "kubeconfig": ("K8S_AUTH_KUBECONFIG", "/a/config", "/a/config"),
    "context": ("K8S_AUTH_CONTEXT", "lab", "lab"),
    "host": ("K8S_AUTH_HOST", "https://h", "https://h"),
    "api_key": ("K8S_AUTH_API_KEY", "t", "t"),
    "username": ("K8S_AUTH_USERNAME", "u", "u"),
    "password": ("K8S_AUTH_PASSWORD", "p", "p"),
    "validate_certs": ("K8S_AUTH_VERIFY_SSL", "no", False),
    "ca_cert": ("K8S_AUTH_SSL_CA_CERT", "/a/ca", "/a/ca"),
    "client_cert": ("K8S_AUTH_CERT_FILE", "/a/crt", "/a/crt"),
    "client_key": ("K8S_AUTH_KEY_FILE", "/a/key", "/a/key"),
    "proxy": ("K8S_AUTH_PROXY", "http://p", "http://p"),
    "no_proxy": ("K8S_AUTH_NO_PROXY", "a,b", "a,b"),
    "impersonate_user": ("K8S_AUTH_IMPERSONATE_USER", "eve", "eve"),
    "impersonate_groups": ("K8S_AUTH_IMPERSONATE_GROUPS", "a,b", ["a", "b"]),
    "in_cluster": ("K8S_AUTH_IN_CLUSTER", "true", "true"),
}


def test_every_connection_option_has_a_variable() -> None:
    assert set(VARIABLES) == set(CONNECTION)


@pytest.mark.parametrize(("option", "row"), [pytest.param(name, row, id=name) for name, row in VARIABLES.items()])
def test_a_variable_counts_where_the_option_is_not_given(
    option: str, row: tuple[str, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    variable, text, value = row
    monkeypatch.setenv(variable, text)
    given = "auto" if option == "in_cluster" else ["x"] if option == "impersonate_groups" else "yes"
    assert params_of(CONNECTION)[option] == value
    assert params_of(CONNECTION, **{option: given})[option] in (given, True)


@pytest.mark.parametrize(("option", "row"), [pytest.param(name, row, id=name) for name, row in VARIABLES.items()])
def test_every_variable_is_documented_with_its_option(option: str, row: tuple[str, str, Any]) -> None:
    text = " ".join(fragment("sunset.kube.connection")["options"][option]["description"])
    assert re.findall(r"E\((K8S_AUTH_\w+)\)", text) == [row[0]]


@pytest.mark.parametrize(
    ("given", "value"), named({"true": (True, "true"), "false": (False, "false"), "auto": ("auto", "auto")})
)
def test_in_cluster_may_be_written_as_a_yaml_boolean(given: Any, value: str) -> None:
    assert params_of(CONNECTION, in_cluster=given)["in_cluster"] == value


# -- performing --------------------------------------------------------------------------------------------------------

PARAMS: dict[str, Any] = {
    **dict.fromkeys(CONNECTION),
    **dict.fromkeys(RUN),
    "in_cluster": "auto",
    "host": "https://api.example.com",
    "parallel": 2,
}
NO_REQUESTS = {"list": 0, "watch": 0, "get": 0, "delete": 0, "patch": 0, "post": 0, "put": 0, "throttled_seconds": 0.0}


def job(work: Any, check: Any = lambda params: None) -> Job:
    return Job("job", {**CONNECTION, **RUN}, check, work)


def performed(
    work: Any, check: Any = lambda params: None, shown: list[Any] | None = None, **params: Any
) -> dict[str, Any]:
    show = shown.append if shown is not None else lambda event: None
    return perform(job(work, check), {**PARAMS, **params}, check_mode=False, stop=StopSign(), show=show)


def raising(problem: BaseException) -> Any:
    def raise_it(anything: Any) -> Any:
        raise problem

    return raise_it


def test_a_job_that_works_gives_its_result() -> None:
    assert performed(lambda context: Report({"changed": True, "x": 1})) == {"changed": True, "x": 1}


def test_a_job_that_fails_gives_its_result_and_a_message() -> None:
    report = Report({"changed": True}, failure=Refused("cannot", why="it is guarded"))
    assert performed(lambda context: report) == {"changed": True, "failed": True, "msg": "cannot: it is guarded."}


def test_a_job_that_raises_a_problem_gives_a_message_and_its_requests() -> None:
    assert performed(raising(Refused("cannot"))) == {
        "changed": False,
        "requests": NO_REQUESTS,
        "failed": True,
        "msg": "cannot.",
    }


def test_a_job_that_breaks_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        performed(raising(ZeroDivisionError()))


BAD_STARTS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "options": (raising(BadOption("bad options", why="x")), {}, "bad options: x."),
    "a connection": (lambda params: None, {"client_cert": "/x"}, "client_cert is given without client_key"),
}


@pytest.mark.parametrize(("check", "params", "text"), named(BAD_STARTS))
def test_bad_options_fail_before_the_job_begins(check: Any, params: dict[str, Any], text: str) -> None:
    began: list[int] = []
    result = performed(lambda context: began.append(1), check, **params)
    assert (result["changed"], result["failed"], text in result["msg"], began) == (False, True, True, [])


def test_a_job_for_a_tenant_begins_nothing_beyond_its_namespace() -> None:
    """Whatever templates have made of the spec: what counts is what the module is given."""
    began: list[int] = []
    params = {**PARAMS, "targets": [{"namespace": "tenant"}], "page": {"html_file": "/token"}}
    by = {"api_version": "sunset.dev/v1alpha1", "kind": "Maintenance", "namespace": "tenant", "home": "operators-own"}
    work = job(lambda context: began.append(1))
    result = perform(
        work, params, check_mode=False, stop=StopSign(), show=lambda event: False, asked_by={**by, "name": "x"}
    )
    assert (result["failed"], "names a file" in result["msg"], began) == (True, True, [])


def test_the_job_gets_what_it_needs() -> None:
    seen: list[Context] = []
    stop = StopSign()

    def work(context: Context) -> Report:
        seen.append(context)
        return Report({})

    perform(job(work), PARAMS, check_mode=True, stop=stop, show=lambda event: None)
    [context] = seen
    assert (context.params, context.check_mode, context.stop) == (PARAMS, True, stop)
    assert (context.cluster.endpoint.host, context.here) == ("api.example.com", False)


@pytest.mark.parametrize(
    "outcome", named({"after success": None, "after a problem": Refused("x"), "after a break": KeyError()})
)
def test_every_cluster_is_closed(outcome: BaseException | None, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Any] = []
    monkeypatch.setattr(front.Cluster, "close", lambda self: closed.append(self.endpoint))
    clusters: list[Any] = []

    def work(context: Context) -> Report:
        clusters.append(context.cluster.endpoint)
        if outcome is not None:
            raise outcome
        return Report({})

    with contextlib.suppress(KeyError):
        performed(work)
    assert closed == clusters


def test_another_context_is_another_cluster_made_once_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = [{"name": name, "context": {"cluster": name}} for name in ("lab", "live")]
    clusters = [{"name": name, "cluster": {"server": f"http://{name}.example.com"}} for name in ("lab", "live")]
    two = {"contexts": contexts, "clusters": clusters, "current-context": "lab"}
    closed: list[str] = []
    monkeypatch.setattr(front.Cluster, "close", lambda self: closed.append(self.endpoint.host))

    def work(context: Context) -> Report:
        other = context.other_cluster("live")
        return Report({"same": other is context.other_cluster("live"), "host": other.endpoint.host})

    result = performed(work, kubeconfig=two, host=None)
    assert result == {"same": True, "host": "live.example.com"}
    assert closed == ["lab.example.com", "live.example.com"]


OF_ONE_SERVER: dict[str, dict[str, Any]] = {
    "its address": {"host": "http://lab.example.com"},
    "a token": {"api_key": "hush"},
    "a password": {"username": "anna", "password": "hush"},
    "an authority": {"ca_cert": "/etc/hosts"},
    "a certificate": {"client_cert": "/etc/hosts", "client_key": "/etc/hosts"},
    "the service account of a pod": {"in_cluster": "true"},
}


@pytest.mark.parametrize("options", named(OF_ONE_SERVER))
def test_what_is_said_of_one_server_is_never_used_for_the_one_of_another_context(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a step for another cluster would be done in this one, or be sent this one's credentials."""
    seen: list[Any] = []

    def load(wanted: Any) -> Endpoint:
        seen.append(wanted.context)
        return Endpoint("lab.example.com", 80, context=wanted.context or "")

    monkeypatch.setattr(front, "load_endpoint", load)
    given = {"host": None, **options}
    result = performed(lambda context: Report({"host": context.other_cluster("live").endpoint.host}), **given)
    assert "host" not in result, result
    assert f"context live names another cluster, and {next(iter(options))} is given" in result["msg"]
    assert "hush" not in result["msg"]
    assert seen == [None], "nothing is read for the other one"


def test_a_context_that_no_kubeconfig_has_is_not_the_cluster_around_the_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a kubeconfig the service account is taken, whatever the context."""
    monkeypatch.setattr(front, "load_endpoint", lambda wanted: Endpoint("198.51.100.1", 443))
    result = performed(lambda context: Report({"host": context.other_cluster("live").endpoint.host}), host=None)
    assert "there is no kubeconfig with context live" in result["msg"]


@pytest.mark.parametrize(("options", "seconds"), named({"its own": ({"timeout": 30}, 30), "by default": ({}, 600)}))
def test_every_cluster_of_a_job_has_a_deadline(options: dict[str, Any], seconds: float) -> None:
    def work(context: Context) -> Report:
        clusters = [context.cluster, context.distant_cluster(kubeconfig({}), None)]
        deadlines = [cluster._transport.deadline for cluster in clusters]
        return Report({"seconds": [deadline.seconds for deadline in deadlines if deadline]})

    assert performed(work, **options) == {"seconds": [seconds] * 2}


def test_what_was_sent_and_not_answered_is_a_warning_of_the_result() -> None:
    def work(context: Context) -> Report:
        context.cluster._transport.unanswered.append("DELETE /x was sent and not answered")
        return Report({"changed": False}, warnings=["careful"])

    assert performed(work)["_warnings"] == ["careful", "DELETE /x was sent and not answered"]


def test_of_many_requests_without_an_answer_ten_are_named_and_the_rest_is_counted() -> None:
    def work(context: Context) -> Report:
        context.cluster._transport.unanswered.extend(f"DELETE /{number}" for number in range(48))
        return Report({"changed": False})

    warnings = performed(work)["_warnings"]
    assert (len(warnings), warnings[-1]) == (11, "38 more requests were not answered")


def test_what_reports_on_a_custom_resource_ends_soon_after_a_stop_too() -> None:
    stop = StopSign()
    named_by = {"api_version": "sunset.dev/v1alpha1", "kind": "Uninstall", "name": "x", "namespace": "y"}
    board = front._board(named_by, "uninstall", ConnectionOptions(host="https://api.example.com"), stop)
    transport = board._cluster._transport
    assert (transport.stop is stop, transport.stopping_seconds) == (True, 50.0)


def test_an_object_nested_too_deeply_is_a_sentence_and_no_traceback() -> None:
    assert "nested too deeply" in performed(raising(RecursionError()))["msg"]


# -- evidence ----------------------------------------------------------------------------------------------------------


REACHED = Reached("https://api.example.com:443 (option host)")


def tells(context: Context) -> Report:
    for event in (Planned("nothing", "abc"), Progress("step", 1, 2, 3.0), Warned("careful")):
        context.tell(event)
    return Report({"changed": False}, plan={"plan_hash": "abc"})


def test_rows_are_kept_only_where_evidence_is_asked_for() -> None:
    assert performed(tells) == {"changed": False}
    evidence = performed(tells, evidence_dir="/anywhere")["_evidence"]
    assert (evidence["plan"], [row["event"] for row in evidence["timeline"]]) == (
        {"cluster": REACHED.cluster, "plan_hash": "abc"},
        ["planned", "warned"],
    )


def test_rows_are_handed_on_as_they_come_and_progress_only_where_it_was_shown() -> None:
    kept: list[Any] = []
    shown = iter([False, True, False, True, True])

    def work(context: Context) -> Report:
        tells(context)
        context.tell(Progress("step", 2, 2, 3.0))
        assert [row["event"] for row in kept] == ["planned", "warned", "progress"], "before the job is over"
        return Report({"changed": False})

    params = {**PARAMS, "evidence_dir": "/anywhere"}
    result = perform(
        job(work), params, check_mode=False, stop=StopSign(), show=lambda event: next(shown), keep=kept.append
    )
    assert [row["event"] for row in result["_evidence"]["timeline"]] == ["planned", "warned"]
    assert kept[2]["done"] == 2


def test_no_row_holds_a_secret() -> None:
    def work(context: Context) -> Report:
        context.tell(Warned("the proxy said: s3cret is wrong"))
        return Report({"changed": False})

    [row] = performed(work, evidence_dir="/anywhere", api_key="s3cret")["_evidence"]["timeline"]
    assert row["text"] == "the proxy said: ******** is wrong"


def test_a_secret_that_is_part_of_a_time_does_not_spoil_it() -> None:
    [row] = performed(tells, evidence_dir="/x", api_key="2")["_evidence"]["timeline"][:1]
    assert datetime.datetime.fromisoformat(row["time"])


FAILURES: dict[str, tuple[Problem | None, str]] = {
    "no failure": (None, ""),
    "a refusal": (Refused("cannot"), "refused"),
    "bad options": (BadOption("cannot"), "refused"),
    "time is over": (TimedOut("cannot"), "blocked"),
    "told to stop": (Interrupted("cannot"), "interrupted"),
    "no answer": (Unreachable("cannot"), "unreachable"),
    "not let in": (NotLoggedIn("cannot"), "unreachable"),
    "anything else": (Problem("cannot"), "failed"),
}


@pytest.mark.parametrize(("failure", "word"), named(FAILURES))
def test_evidence_says_what_kind_of_failure_it_was(failure: Problem | None, word: str) -> None:
    result = performed(lambda context: Report({"changed": False}, failure=failure), evidence_dir="/anywhere")
    assert result["_evidence"]["failure"] == word


def test_evidence_is_kept_of_a_job_that_never_began() -> None:
    def check(params: dict[str, Any]) -> None:
        raise BadOption("bad")

    evidence = performed(tells, check=check, evidence_dir="/anywhere")["_evidence"]
    assert (evidence["failure"], evidence["timeline"]) == ("refused", [])


def test_the_first_line_of_what_people_read_names_the_cluster() -> None:
    def work(context: Context) -> Report:
        return Report({"changed": False, "text": ["a tree"], "table": [f"cluster {REACHED.cluster}", "a row"]})

    result = performed(work)
    assert result["text"] == [f"cluster {REACHED.cluster}", "a tree"]
    assert result["table"] == [f"cluster {REACHED.cluster}", "a row"], "once is enough"
    assert performed(lambda context: Report({"text": []}))["text"] == []


def test_every_event_is_shown_as_it_comes() -> None:
    shown: list[Any] = []
    performed(tells, shown=shown)
    assert shown == [REACHED, Planned("nothing", "abc"), Progress("step", 1, 2, 3.0), Warned("careful")]


def test_evidence_is_kept_of_a_job_that_fails_too() -> None:
    def work(context: Context) -> Report:
        tells(context)
        raise Refused("cannot")

    evidence = performed(work, evidence_dir="/anywhere")["_evidence"]
    assert (evidence["plan"], len(evidence["timeline"])) == ({}, 2)


# -- secrets -----------------------------------------------------------------------------------------------------------


def kubeconfig(*users: dict[str, Any]) -> dict[str, Any]:
    return {
        "current-context": "lab",
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "u0"}}],
        "clusters": [{"name": "lab", "cluster": {"server": "https://api.example.com"}}],
        "users": [{"name": f"u{number}", "user": user} for number, user in enumerate(users)],
    }


# Every place of a user in a kubeconfig where something stands that nobody should read.
HIDING_PLACES: dict[str, dict[str, Any]] = {
    "token": {"token": "s3cret"},
    "password": {"password": "s3cret"},
    "client-key-data": {"client-key-data": "s3cret"},
    "id-token": {"auth-provider": {"config": {"id-token": "s3cret"}}},
    "access-token": {"auth-provider": {"config": {"access-token": "s3cret"}}},
    "refresh-token": {"auth-provider": {"config": {"refresh-token": "s3cret"}}},
    "client-secret": {"auth-provider": {"config": {"client-secret": "s3cret"}}},
    "a variable of a plugin": {"exec": {"command": "x", "env": [{"name": "PASSWORD", "value": "s3cret"}]}},
}
SECRETS: dict[str, dict[str, Any]] = {
    "api_key": {"api_key": "s3cret"},
    "password": {"username": "u", "password": "s3cret"},
    "a header that passes a page": {"bypass": {"headers": {"X-Tester": "s3cret"}, "cookies": None}},
    "a cookie that passes a page": {"bypass": {"headers": None, "cookies": {"tester": "s3cret"}}},
    "the password of a proxy": {"proxy": "http://me:s3cret@proxy.example.com:3128"},
    **{
        f"{place} in a kubeconfig": {"host": None, "kubeconfig": kubeconfig({"token": "other"}, user)}
        for place, user in HIDING_PLACES.items()
    },
}


def leaky(secret: str) -> Any:
    text = f"before {secret} after"
    return lambda context: Report({"changed": False}, failure=Refused(text), warnings=[text])


@pytest.mark.parametrize("params", named(SECRETS))
def test_secrets_never_show_in_messages_and_warnings(params: dict[str, Any]) -> None:
    result = performed(leaky("s3cret"), **params)
    assert (result["msg"], result["_warnings"]) == ("before ******** after.", ["before ******** after"])


def test_a_secret_within_another_leaves_nothing_of_either() -> None:
    users = [{"token": "abcdefghij"[:length]} for length in range(3, 11)]
    result = performed(leaky("abcdefghij"), host=None, kubeconfig=kubeconfig(*users))
    assert result["msg"] == "before ******** after."


# -- the module --------------------------------------------------------------------------------------------------------


def module_result(work: Any, capsys: Any, **args: Any) -> tuple[int, dict[str, Any], str]:
    """Exit code, result and everything printed of a module run."""
    with patch_module_args({"host": "https://api.example.com", **args}), pytest.raises(SystemExit) as ended:
        run_module(job(work))
    printed = capsys.readouterr().out
    return int(ended.value.code or 0), json.loads(printed), printed


def test_a_module_that_works_prints_its_result_and_warns(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr(AnsibleModule, "warn", lambda self, text: warned.append(text))
    code, result, _printed = module_result(lambda context: Report({"changed": True}, warnings=["careful"]), capsys)
    assert (code, result["changed"], warned, "_warnings" in result) == (0, True, ["careful"], False)


def test_a_module_that_fails_prints_what_was_done_and_why(capsys: Any) -> None:
    report = Report({"changed": True, "removed": [1]}, failure=Refused("cannot", why="it is guarded"))
    code, result, _printed = module_result(lambda context: report, capsys)
    assert (code, result["failed"], result["msg"], result["changed"], result["removed"]) == (
        1,
        True,
        "cannot: it is guarded.",
        True,
        [1],
    )


@pytest.mark.parametrize("wanted", [True, False], ids=["with --diff", "without"])
def test_a_module_shows_the_diff_only_where_it_is_wanted(wanted: bool, capsys: Any) -> None:
    report = Report({"changed": True}, diff={"before": "a", "after": "b"})
    _code, result, _printed = module_result(lambda context: report, capsys, _ansible_diff=wanted)
    assert ("diff" in result) is wanted


@pytest.mark.parametrize("wanted", [True, False], ids=["with --check", "without"])
def test_a_module_hands_check_mode_to_its_job(wanted: bool, capsys: Any) -> None:
    _code, result, _printed = module_result(
        lambda context: Report({"check": context.check_mode}), capsys, _ansible_check_mode=wanted
    )
    assert result["check"] is wanted


def test_a_module_never_prints_the_secrets_of_a_kubeconfig(capsys: Any) -> None:
    given = kubeconfig({"token": "s3cret-token", "password": "s3cret-pass"})
    _code, result, printed = module_result(
        lambda context: Report({"changed": False, "odd": "s3cret-token"}), capsys, kubeconfig=given
    )
    assert "s3cret" not in printed
    assert result["odd"] == "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"


# -- signals -----------------------------------------------------------------------------------------------------------

SIGNALS = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}


@pytest.mark.parametrize(("number", "name"), [pytest.param(value, name, id=name) for name, value in SIGNALS.items()])
def test_a_signal_becomes_the_wish_to_stop_and_handlers_are_put_back(number: signal.Signals, name: str) -> None:
    before = signal.getsignal(number)
    stop = StopSign()
    with stop_on_signals(stop):
        os.kill(os.getpid(), number)
        assert (stop.is_set(), stop.reason) == (True, f"received {name}")
    assert signal.getsignal(number) is before


def test_handlers_are_put_back_after_a_break_too() -> None:
    before = {number: signal.getsignal(number) for number in SIGNALS.values()}
    with pytest.raises(ZeroDivisionError), stop_on_signals(StopSign()):
        raise ZeroDivisionError
    assert {number: signal.getsignal(number) for number in SIGNALS.values()} == before


def test_a_module_that_is_told_to_stop_still_reports(capsys: Any) -> None:
    def work(context: Context) -> Report:
        os.kill(os.getpid(), signal.SIGTERM)
        assert context.stop.is_set()
        return Report({"changed": True, "removed": ["first"]}, failure=Refused("stopped", why=context.stop.reason))

    code, result, _printed = module_result(work, capsys)
    assert (code, result["removed"], result["msg"]) == (1, ["first"], "stopped: received SIGTERM.")
