# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every module's documentation says what its argument specification says, and its examples are accepted."""

from __future__ import annotations

import importlib
import importlib.resources
from types import ModuleType
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.sunset.kube.plugins.doc_fragments import (
    connection,
    installation,
    members,
    node,
    resource,
    routes,
    run,
)
from ansible_collections.sunset.kube.plugins.module_utils.front import Job
from ansible_collections.sunset.kube.plugins.module_utils.node_front import NodeJob
from ansible_collections.sunset.kube.tests.unit.fakes import named

PLUGINS = "ansible_collections.sunset.kube.plugins"
NAMES = (
    "blockers_info",
    "drain",
    "finalizer",
    "freeze",
    "hub_guard",
    "maintenance",
    "maintenance_info",
    "managed_cluster",
    "members_info",
    "nmstate_apply",
    "nmstate_confirm",
    "nmstate_info",
    "nmstate_revert",
    "nncp_guard",
    "nncp_revert",
    "ranked_delete",
    "reconcile_begin",
    "reconcile_end",
    "requeue_after",
    "undo",
    "uninstall",
)
FRAGMENTS = {
    "sunset.kube.connection": connection.ModuleDocFragment.DOCUMENTATION,
    "sunset.kube.installation": installation.ModuleDocFragment.DOCUMENTATION,
    "sunset.kube.members": members.ModuleDocFragment.DOCUMENTATION,
    "sunset.kube.members.optional": members.ModuleDocFragment.OPTIONAL,
    "sunset.kube.node": node.ModuleDocFragment.DOCUMENTATION,
    "sunset.kube.resource": resource.ModuleDocFragment.DOCUMENTATION,
    "sunset.kube.routes": routes.ModuleDocFragment.DOCUMENTATION,
    "sunset.kube.run": run.ModuleDocFragment.DOCUMENTATION,
    "sunset.kube.run.waiting": run.ModuleDocFragment.WAITING,
}
# The documentation of members is shared, and speaks of options that only the deletion has.
SPEAKS_OF = {"members_info": "ranked_delete"}


def job_of(name: str) -> Job | NodeJob:
    found: Job | NodeJob = importlib.import_module(f"{PLUGINS}.module_utils.jobs.{name}").JOB
    return found


MODULES: dict[str, tuple[Job | NodeJob, ModuleType]] = {
    name: (job_of(name), importlib.import_module(f"{PLUGINS}.modules.{name}")) for name in NAMES
}


def documented(module: ModuleType) -> dict[str, Any]:
    """Every option of the documentation, those of its fragments included."""
    text = yaml.safe_load(module.DOCUMENTATION)
    options: dict[str, Any] = dict(text["options"])
    for name in text.get("extends_documentation_fragment") or ():
        fragment = FRAGMENTS.get(name)
        if fragment is not None:
            options.update(yaml.safe_load(fragment)["options"])
    return options


def agreed(options: dict[str, Any], children: str) -> dict[str, Any]:
    """What documentation and argument specification must say alike, in one form."""
    return {
        name: {
            **{key: option.get(key) for key in ("default", "choices", "elements")},
            "type": option.get("type", "str"),
            "required": bool(option.get("required")),
            "aliases": sorted(option.get("aliases") or ()),
            "options": agreed(option.get(children) or {}, children),
        }
        for name, option in options.items()
    }


@pytest.mark.parametrize(("job", "module"), named(MODULES))
def test_every_option_is_documented_as_it_is_and_no_other(job: Job | NodeJob, module: ModuleType) -> None:
    assert agreed(documented(module), "suboptions") == agreed(job.arguments, "options")


@pytest.mark.parametrize(("job", "module"), named(MODULES))
def test_every_example_is_accepted(job: Job | NodeJob, module: ModuleType) -> None:
    validator = ArgumentSpecValidator(job.arguments)
    for task in yaml.safe_load(module.EXAMPLES):
        given = task[f"sunset.kube.{job.name}"] or {}
        where = {"host": "http://api.example.com"} if isinstance(job, Job) else {}
        checked = validator.validate({**given, **where})
        assert checked.error_messages == []
        job.check(checked.validated_parameters)


@pytest.mark.parametrize(("job", "module"), named(MODULES))
def test_every_option_that_is_named_in_the_documentation_exists(job: Job | NodeJob, module: ModuleType) -> None:
    used = yaml.safe_load(module.DOCUMENTATION).get("extends_documentation_fragment") or ()
    fragments = [FRAGMENTS[name] for name in used if name in FRAGMENTS]
    words = {part.partition(")")[0] for text in (module.DOCUMENTATION, *fragments) for part in text.split("O(")[1:]}
    tops = {word.partition("=")[0].partition(".")[0].partition("[")[0] for word in words}
    assert tops <= set(job_of(SPEAKS_OF.get(job.name, job.name)).arguments)


def test_every_module_is_here() -> None:
    folder = importlib.resources.files(f"{PLUGINS}.modules")
    there = {entry.name.removesuffix(".py") for entry in folder.iterdir() if entry.name.endswith(".py")}
    assert there - {"__init__"} == set(NAMES)
