# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Maintenance of applications: the use case behind `maintenance`. Each state has a file of its own.

Room: maintenance. options → look → choose → try everything → act → look again → outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..clock import Clock, Deadline, StopSign
from ..events import Tell
from ..problems import Problem
from .disable import disable
from .enable import enable
from .key_secret import key_in
from .options import MaintenanceOptions
from .outcome import AskWeb, MaintenanceOutcome, Run
from .sweep import sweep

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_STATES = {"enabled": enable, "disabled": disable, "swept": sweep}


def set_maintenance(
    options: MaintenanceOptions, cluster: Cluster, clock: Clock, stop: StopSign, tell: Tell, ask_web: AskWeb
) -> MaintenanceOutcome:
    began = clock.now()
    deadline = Deadline(clock, options.timeout)
    cluster.limit_to(deadline)
    outcome = MaintenanceOutcome(options.state, options.check_mode)
    try:
        key = key_in(options.backup_key_secret, cluster, tell, check_mode=options.check_mode)
        _STATES[options.state](options, outcome, Run(cluster, clock, stop, tell, deadline, ask_web, key))
    except Problem as problem:
        outcome.failure = problem
    outcome.seconds = clock.now() - began
    return outcome
