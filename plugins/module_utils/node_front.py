# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The front of modules that work on the host they run on, and know no cluster.

Room: the front itself; private to the collection. All it imports runs on Python 3.9, too: that is what many nodes have.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from .clock import RealClock, StopSign
from .problems import Problem
from .reporting import Report, hand_back, shown, stop_on_signals


@dataclass(frozen=True)
class NodeJob:
    """One module: its options, how they are checked before anything is looked at, and its work."""

    name: str
    arguments: dict[str, dict[str, Any]]
    check: Callable[[dict[str, Any]], None]
    work: Callable[[NodeContext], Report]
    rules: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeContext:
    params: dict[str, Any]
    check_mode: bool
    clock: RealClock
    environ: Mapping[str, str]


def run_node_module(job: NodeJob) -> None:
    module = AnsibleModule(argument_spec=job.arguments, supports_check_mode=True, **job.rules)
    stop = StopSign()
    with stop_on_signals(stop):
        result = perform_on_node(job, NodeContext(module.params, module.check_mode, RealClock(stop), os.environ))
    hand_back(module, result)


def perform_on_node(job: NodeJob, context: NodeContext) -> dict[str, Any]:
    """The result; a failed one has `failed` and `msg`."""
    try:
        job.check(context.params)
        report = job.work(context)
    except Problem as problem:
        report = Report({"changed": False}, failure=problem)
    return shown(report, str)
