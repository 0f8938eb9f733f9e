# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Only what worked before can be lost."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.network.probes.findings import compared, regressions
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.probe import Finding, Probe

PING, DNS, TCP, GONE = Probe("ping", family="ipv4"), Probe("dns"), Probe("tcp", "a:1"), Probe("controller")
BEFORE = [
    Finding(PING, True, "ping: fine"),
    Finding(DNS, True, "dns: fine"),
    Finding(TCP, False, "tcp: refused"),
    Finding(GONE, True, "controller: fine"),
]
AFTER = [Finding(PING, False, "ping: silent"), Finding(DNS, True, "dns: still fine"), Finding(TCP, False, "tcp: no")]


def test_what_worked_before_and_does_not_now_is_lost() -> None:
    assert [finding.detail for finding in regressions(BEFORE, AFTER)] == [
        "ping: silent",
        "controller: not asked again",
    ]


def test_what_never_worked_and_what_works_only_now_is_no_loss() -> None:
    assert regressions([Finding(TCP, False, "no")], [Finding(TCP, False, "no"), Finding(PING, False, "no")]) == []
    assert regressions([Finding(TCP, False, "no")], [Finding(TCP, True, "yes")]) == []


def test_the_result_says_what_was_and_what_is_and_null_where_nobody_asked_again() -> None:
    rows = [(row["type"], row["before"], row["after"], row["detail"]) for row in compared(BEFORE, AFTER)]
    assert rows == [
        ("ping", True, False, "ping: silent"),
        ("dns", True, True, "dns: still fine"),
        ("tcp", False, None, "tcp: refused"),
        ("controller", True, None, "controller: fine"),
    ]
