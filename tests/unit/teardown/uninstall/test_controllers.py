# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Before the first write: who takes finalizers off, and what to decide where nobody does."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import a_cluster, uninstalled

# Of products that are proven gone when they are not found.
PLAIN, GUARDS_DATA = "finalizer.acme.cert-manager.io", "longhorn.io"


def finding(finalizer: str, **params: Any) -> tuple[str, str]:
    """How the preflight judges a single object with this finalizer, and what it asks for."""
    cluster = a_cluster()
    cluster.add(NAMESPACES, "shop", "")
    cluster.add(CONFIG_MAPS, "held", finalizers=[finalizer])
    outcome = uninstalled(cluster, namespace="shop", check_mode=True, profile="none", **params)
    (found,) = [one for one in outcome.findings if one.check == "controllers"]
    return found.level, found.next_step


@pytest.mark.parametrize(
    ("finalizer", "ways"),
    [
        (PLAIN, "set force: true to strip the finalizer"),
        (GUARDS_DATA, f"set force: true and force_allow: [{GUARDS_DATA}] to strip the finalizer"),
    ],
)
def test_where_nobody_is_left_the_options_that_help_are_named(finalizer: str, ways: str) -> None:
    level, decide = finding(finalizer)
    assert level == "stop"
    assert ways in decide


def test_force_goes_on_with_what_it_may_strip() -> None:
    assert finding(PLAIN, force=True)[0] == "warn"


def test_force_alone_does_not_go_on_with_what_guards_data() -> None:
    level, decide = finding(GUARDS_DATA, force=True)
    assert level == "stop"
    assert f"force_allow: [{GUARDS_DATA}]" in decide
    assert finding(GUARDS_DATA, force=True, force_allow=[GUARDS_DATA])[0] == "warn"
