# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one place that wires: options → cluster, clock, event sink → use case → result. For both fronts.

Room: the front itself; private to the collection. A module calls `run_module`; the action plugins' base class calls
`perform` in its own process, with live lines. Neither knows what the job does.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible.module_utils.basic import AnsibleModule, env_fallback

from .clock import Deadline, RealClock, StopSign
from .events import Event, Progress, Reached, SetAside, Tell
from .evidence.ending import ending_of, word_for
from .evidence.files import row_for
from .evidence.lines import under_its_cluster
from .evidence.ranked_results import undo_of
from .incluster.board import Board
from .incluster.reach import refuse_beyond_reach
from .kube.answers import too_deep
from .kube.cluster import Cluster
from .kube.configuration import ConnectionOptions, load_endpoint
from .kube.web import WebAnswer, ask_web
from .problems import BadOption, Problem
from .reporting import Report, hand_back, shown, stop_on_signals
from .shown import NOTHING_SHOWN, Shown
from .terms import hashed_options
from .visible import visible


def _env(name: str) -> tuple[Any, list[str]]:
    return env_fallback, [f"K8S_AUTH_{name}"]


# Names and variables as in kubernetes.core, so that people can keep their settings.
CONNECTION: dict[str, dict[str, Any]] = {
    "kubeconfig": {"type": "raw", "fallback": _env("KUBECONFIG")},
    "context": {"type": "str", "fallback": _env("CONTEXT")},
    "host": {"type": "str", "fallback": _env("HOST")},
    "api_key": {"type": "str", "no_log": True, "fallback": _env("API_KEY")},
    "username": {"type": "str", "fallback": _env("USERNAME")},
    "password": {"type": "str", "no_log": True, "fallback": _env("PASSWORD")},
    "validate_certs": {"type": "bool", "aliases": ["verify_ssl"], "fallback": _env("VERIFY_SSL")},
    "ca_cert": {"type": "path", "aliases": ["ssl_ca_cert"], "fallback": _env("SSL_CA_CERT")},
    "client_cert": {"type": "path", "aliases": ["cert_file"], "fallback": _env("CERT_FILE")},
    "client_key": {"type": "path", "no_log": False, "aliases": ["key_file"], "fallback": _env("KEY_FILE")},
    "proxy": {"type": "str", "fallback": _env("PROXY")},
    "no_proxy": {"type": "str", "fallback": _env("NO_PROXY")},
    "impersonate_user": {"type": "str", "fallback": _env("IMPERSONATE_USER")},
    "impersonate_groups": {"type": "list", "elements": "str", "fallback": _env("IMPERSONATE_GROUPS")},
    "in_cluster": {
        "type": "str",
        "choices": ["auto", "true", "false"],
        "default": "auto",
        "fallback": _env("IN_CLUSTER"),
    },
}

RUN: dict[str, dict[str, Any]] = {
    "timeout": {"type": "int", "default": 600},
    # With fewer, etcd cannot batch its commits and the server pays more for each write: `make bench` shows it.
    "parallel": {"type": "int", "default": 48},
    "max_objects": {"type": "int"},
    "plan_hash": {"type": "str"},
    "evidence_dir": {"type": "path"},
}

# Of those that wait until something is gone.
WAITING: dict[str, dict[str, Any]] = {"fail_fast": {"type": "bool", "default": True}}

# Options that are in no plan's hash, and why. A job adds its own; every other option is in it.
UNHASHED: dict[str, str] = {
    **dict.fromkeys(CONNECTION, "the hash has the cluster's own identity, whatever leads to it"),
    "timeout": "how long it may take, never what is done",
    "parallel": "how many requests at once, never what is done",
    "max_objects": "a limit that can only refuse",
    "plan_hash": "it is the hash",
    "evidence_dir": "where the report is written; the cluster is not touched by it",
    "fail_fast": "how long it waits, never what is done",
    "undo_vault_password": "a secret; it decides only what the undo bundle holds",
}

# Seconds after a stop in which the status is still written; the operator's pod has 60 (operator/config/manager).
_LAST_WORDS = 50.0
_MOST_NAMED = 10

# What a kubeconfig given as a dictionary may hold that nobody should read in a log.
_SECRET_KEYS = frozenset(
    {
        "access-token",
        "client-certificate-data",
        "client-key-data",
        "client-secret",
        "id-token",
        "password",
        "refresh-token",
        "token",
    }
)


# Lists of lines in a result: a plan or an outcome to read.
_FOR_PEOPLE = {"text", "table"}


@dataclass
class Context:
    """What a job needs to do its work."""

    params: dict[str, Any]
    check_mode: bool
    cluster: Cluster
    clock: RealClock
    stop: StopSign
    tell: Tell
    # Whether this is the controller's own process, so that what is handed back goes nowhere else.
    here: bool
    # The plan of the hash that was given, where a custom resource has kept it.
    shown: Shown
    # The options that are part of a plan's hash.
    hashed: Mapping[str, Any]
    # Another context of the same connection, for steps that name one.
    other_cluster: Callable[[str], Cluster]
    # Another cluster altogether, by its own kubeconfig and context.
    distant_cluster: Callable[[Any, str | None], Cluster]
    # A web server that is not the API server.
    ask_web: Callable[..., WebAnswer] = ask_web


@dataclass(frozen=True)
class Job:
    """One module: its options, how they are checked before anything is sent, and its work."""

    name: str
    arguments: dict[str, dict[str, Any]]
    check: Callable[[dict[str, Any]], None]
    work: Callable[[Context], Report]
    rules: Mapping[str, Any] = field(default_factory=dict)
    plans: bool = True  # one that only looks has no plan to keep
    # Options of its own that are not in its plan's hash, each with the reason.
    unhashed: Mapping[str, str] = field(default_factory=dict)

    def hashed(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return hashed_options(params, self.arguments, UNHASHED.keys() | self.unhashed.keys())


def perform(
    job: Job,
    params: dict[str, Any],
    *,
    check_mode: bool,
    stop: StopSign,
    show: Callable[[Event], bool],
    here: bool = False,
    keep: Callable[[dict[str, Any]], None] | None = None,
    met: Callable[[dict[str, str]], None] | None = None,
    set_aside: Callable[[dict[str, Any]], None] | None = None,
    asked_by: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a job and return its result; a failed one has `failed` and `msg`, with whatever was done until then.

    `show` gets every event and says whether it showed it, `keep` gets every row of the timeline, while the job goes on;
    `met` gets the cluster's address and name, `set_aside` what is about to be deleted, before it is. `asked_by` names a
    custom resource whose status shows how it goes.
    """
    try:
        if asked_by:
            refuse_beyond_reach(params, asked_by)
        job.check(params)
        connection = connection_options(params)
        clock = RealClock(stop)
        # Of every cluster and job. Those that wait for something have limits of their own, too.
        deadline = Deadline(clock, params.get("timeout") or RUN["timeout"]["default"])

        def opened(options: ConnectionOptions) -> Cluster:
            made = Cluster(lambda: load_endpoint(options), clock, stop, params["parallel"])
            made.limit_to(deadline)
            return made

        cluster = opened(connection)
    except Problem as problem:
        return _result(Report({"changed": False}, failure=problem), params, [], "")
    if met is not None:
        met({"cluster": cluster.endpoint.url, "cluster_name": cluster.endpoint.title})
    show(Reached(str(cluster.endpoint)))
    others: dict[str, Cluster] = {}

    def other_cluster(context: str) -> Cluster:
        if context not in others:
            _refuse_options_of_one_server(context, connection)
            made = others[context] = opened(dataclasses.replace(connection, context=context))
            if made.endpoint.context != context:  # the cluster around the pod, for want of a kubeconfig
                raise BadOption(
                    "no such cluster",
                    why=f"there is no kubeconfig with context {context}",
                    next_step="set kubeconfig to a file that has it",
                )
        return others[context]

    def distant_cluster(kubeconfig: Any, context: str | None) -> Cluster:
        made = opened(ConnectionOptions(kubeconfig=kubeconfig, context=context))
        others[f"{len(others)} of its own"] = made  # closed with the others
        return made

    board = _board(asked_by, job.name, connection, stop) if asked_by else None
    rows: list[dict[str, Any]] = []
    unanswered: list[str] = []
    lock = threading.Lock()
    secrets = _secrets(params)

    def tell(event: Event) -> None:
        if isinstance(event, SetAside):
            bundle = undo_of(event.keepsakes)
            if set_aside is not None and bundle is not None:
                set_aside(bundle)
            return
        with lock:
            was_shown = show(event)
            if board is not None:
                board.hear(event)
            if not params.get("evidence_dir"):
                return
            row = _without(secrets, row_for(event, cluster.server_time()))
            # Of progress, which comes many times a second, only what was worth a line, and only for who follows.
            if not isinstance(event, Progress):
                rows.append(row)
            elif not was_shown:
                return
            if keep is not None:
                keep(row)

    try:
        shown = board.shown(params.get("plan_hash")) if board is not None else NOTHING_SHOWN
        hashed = job.hashed(params)
        context = Context(
            params, check_mode, cluster, clock, stop, tell, here, shown, hashed, other_cluster, distant_cluster
        )
        report = job.work(context)
    except (Problem, RecursionError) as problem:
        failure = problem if isinstance(problem, Problem) else too_deep("an object of the cluster")
        report = Report({"changed": False, "requests": cluster.requests()}, failure=failure)
    finally:
        for each in (cluster, *others.values()):
            each.close()
            unanswered.extend(each.unanswered())
    if len(unanswered) > _MOST_NAMED:
        unanswered[_MOST_NAMED:] = [f"{len(unanswered) - _MOST_NAMED} more requests were not answered"]
    report = dataclasses.replace(report, warnings=[*report.warnings, *unanswered])
    result = _result(report, params, rows, str(cluster.endpoint))
    if board is not None:
        outcome = ending_of(result, word_for(report.failure), check_mode)["outcome"]
        board.settle(result, outcome, report.plan if check_mode else None, params.get("plan_hash"))
        board.close()
        result.setdefault("_warnings", []).extend([visible(board.problem)] if board.problem else [])
    return result


# They are about the one server that a task is connected to.
_OF_ONE_SERVER = ("host", "api_key", "username", "password", "ca_cert", "client_cert", "client_key")


def _refuse_options_of_one_server(context: str, connection: ConnectionOptions) -> None:
    """Single options win over what a kubeconfig says: they would lead back to this server, or log in to the other."""
    given = [name for name in _OF_ONE_SERVER if getattr(connection, name)]
    given += ["in_cluster"] if connection.in_cluster == "true" else []
    if given:
        raise BadOption(
            "bad options",
            why=f"context {context} names another cluster, and {given[0]} is given, which would count for both",
            next_step="put both clusters into one kubeconfig, each with its own address and credentials, and leave out "
            + ", ".join(given),
        )


def _board(asked_by: Mapping[str, str], job: str, connection: ConnectionOptions, stop: StopSign) -> Board:
    """With a connection of its own: what it sends is no part of the work, and goes on when the work has to stop."""
    clock = RealClock()
    cluster = Cluster(lambda: load_endpoint(connection), clock, stop, 1)
    cluster.outlive_the_run(_LAST_WORDS)
    return Board(asked_by, cluster, clock, stop, job=job)


def _result(report: Report, params: dict[str, Any], rows: list[dict[str, Any]], cluster: str) -> dict[str, Any]:
    result = shown(report, lambda text: _clean(text, params))
    for lines in _FOR_PEOPLE & result.keys():
        result[lines] = under_its_cluster(result[lines], cluster)
    if params.get("evidence_dir"):
        result["_evidence"] = {
            "plan": {"cluster": cluster, **report.plan} if report.plan else {},
            "timeline": rows,
            "undo": report.undo,
            "graph": report.graph,
            "cluster": cluster,
            "failure": word_for(report.failure),
        }
    return result


def run_module(job: Job) -> None:
    """The module front: everything at once, at the end. SIGTERM stops the writes and still reports."""
    module = AnsibleModule(argument_spec=job.arguments, supports_check_mode=True, **job.rules)
    module.no_log_values.update(_secrets(module.params))
    stop = StopSign()
    with stop_on_signals(stop):
        where: dict[str, str] = {}
        result = perform(
            job,
            module.params,
            check_mode=module.check_mode,
            stop=stop,
            show=_nobody,
            met=where.update,
        )
    hand_back(module, {**result, **where})


def _nobody(event: Event) -> bool:
    """Nobody watches a module while it runs."""
    return False


def connection_options(params: dict[str, Any]) -> ConnectionOptions:
    given: dict[str, Any] = {name: params.get(name) for name in CONNECTION}
    given["impersonate_groups"] = tuple(params.get("impersonate_groups") or ())
    return ConnectionOptions(**given)


def names_a_cluster(params: Mapping[str, Any]) -> bool:
    """Whether options or `K8S_AUTH_*` say which one. Otherwise it is the one that kubectl speaks to, too."""
    return any(params.get(name) for name in ("kubeconfig", "context", "host"))


def _secrets(params: dict[str, Any]) -> set[str]:
    """Every secret among the options, for masking."""
    found = {str(params[name]) for name in ("api_key", "password", "undo_vault_password") if params.get(name)}

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(str(value[key]) for key in _SECRET_KEYS & value.keys() if value[key])
            # The environment of a login plugin, where access keys are kept.
            for variable in value["env"] if isinstance(value.get("env"), list) else ():
                if isinstance(variable, dict) and variable.get("value"):
                    found.add(str(variable["value"]))
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    bypass = params.get("bypass") or {}
    for word in ("headers", "cookies"):
        found.update(str(value) for value in (bypass.get(word) or {}).values())
    walk(params.get("kubeconfig"))
    walk(params.get("spoke"))
    with contextlib.suppress(ValueError):
        found.add(urllib.parse.urlsplit(params.get("proxy") or "").password or "")
    return found - {""}


def _clean(text: str, params: dict[str, Any]) -> str:
    return _masked(text, _secrets(params))


def _without(secrets: set[str], row: dict[str, Any]) -> dict[str, Any]:
    texts = {key for key, value in row.items() if isinstance(value, str)} - {"time", "event"}
    return {**row, **{key: _masked(row[key], secrets) for key in texts}}


def _masked(text: str, secrets: set[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):  # the longest first: one may be within another
        text = text.replace(secret, "********")
    return text
