# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every option of a job with a plan hash is part of that hash, or has a reason not to be."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils import jobs
from ansible_collections.sunset.kube.plugins.module_utils.front import UNHASHED, Job
from ansible_collections.sunset.kube.plugins.module_utils.terms import Terms

_FOUND = [importlib.import_module(f"{jobs.__name__}.{found.name}") for found in pkgutil.iter_modules(jobs.__path__)]
JOBS: dict[str, Job] = {
    module.JOB.name: module.JOB for module in _FOUND if hasattr(module, "JOB") and "plan_hash" in module.JOB.arguments
}
OTHER: dict[str, Any] = {
    "str": "another",
    "int": 7,
    "list": ["another"],
    "dict": {"another": "value"},
    "raw": {"another": "value"},
    "path": "/another",
}
OPTIONS = [
    (name, option)
    for name, job in sorted(JOBS.items())
    for option, spec in sorted(job.arguments.items())
    if len(spec.get("choices", "ab")) > 1  # else it can say only one thing
]


def params_of(job: Job, **given: Any) -> dict[str, Any]:
    return {**{name: option.get("default") for name, option in job.arguments.items()}, **given}


def another(option: dict[str, Any]) -> Any:
    if option["type"] == "bool":
        return not option.get("default")
    chosen = [choice for choice in option.get("choices", ()) if choice != option.get("default")]
    if option["type"] == "list":
        return chosen[:1] or OTHER["list"]
    return chosen[0] if chosen else OTHER[option["type"]]


def test_all_jobs_with_a_plan_to_approve_are_looked_at() -> None:
    assert {"drain", "finalizer", "managed_cluster", "nncp_revert", "ranked_delete", "uninstall"} <= JOBS.keys()


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_is_in_the_hash_or_has_a_reason_not_to_be(name: str, option: str) -> None:
    job = JOBS[name]
    why_not = {**UNHASHED, **job.unhashed}.get(option, "")
    changed = params_of(job, **{option: another(job.arguments[option])})
    same = Terms({}, job.hashed(changed)).hash_of([]) == Terms({}, job.hashed(params_of(job))).hash_of([])
    assert same == bool(why_not)
    assert not why_not or " " in why_not


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_only_options_there_are_have_a_reason(job: Job) -> None:
    assert job.unhashed.keys() <= job.arguments.keys()
    assert not job.unhashed.keys() & UNHASHED.keys()


def test_what_is_left_out_and_what_is_empty_say_the_same() -> None:
    job = JOBS["ranked_delete"]
    assert job.hashed(params_of(job, force_deny=[])) == job.hashed(params_of(job, force_deny=None))
    removes, nothing = ({"annotate": given} for given in ({"a": None}, {}))
    assert job.hashed(params_of(job, before_delete=removes)) != job.hashed(params_of(job, before_delete=nothing))


def test_a_secret_counts_and_cannot_be_read() -> None:
    job = JOBS["maintenance"]
    one, other = (job.hashed(params_of(job, bypass={"headers": {"x": word}})) for word in ("hunter2", "hunter3"))
    assert one != other
    assert "hunter2" not in str(one)
