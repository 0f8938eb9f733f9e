# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long a task waits for others."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.outcome import Run
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.readiness import let_controllers_notice
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, Told, cluster_on


def test_controllers_are_not_given_more_time_than_the_task_has() -> None:
    clock, stop = FakeClock(), StopSign()
    run = Run(cluster_on(FakeServer(), clock, stop), clock, stop, Told(), Deadline(clock, 10.0))
    began = clock.now()
    let_controllers_notice(4.0, run)
    assert clock.now() - began == 4.0
    let_controllers_notice(600.0, run)
    assert clock.now() - began == 10.0
