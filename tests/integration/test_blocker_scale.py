# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of objects that hang, explained with as many requests as a few: counted by the API server's audit log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from integration.explaining import Explainer
from integration.stage import GROUP, crd, widget
from lab.plane.audit import AuditEvent, AuditTrail
from lab.plane.controlplane import ControlPlane

# 10 000 of them take a minute to make and to clear; tests/unit has them in memory.
MANY = 2000
PAGE = 2000  # objects in one answer
FINALIZERS = [f"keeper{number}.example.com/cleanup" for number in range(40)]


@pytest.fixture
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of its own, thrown away as it is: two namespaces, one full of objects that hang, one with one."""
    with ControlPlane.start(tmp_path_factory.mktemp("crowd"), controller_manager=False) as plane:
        plane.api.apply_crd(crd("Widget"))
        for namespace, number in (("many", MANY), ("few", 1)):
            plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            path = f"/apis/{GROUP}/v1/namespaces/{namespace}/widgets"
            bodies = (widget(f"w{one}", namespace, FINALIZERS[one % len(FINALIZERS)]) for one in range(number))
            plane.api.create_many(path, bodies)
            assert plane.api.delete(path)[0] == 200, "the whole collection at once"
        yield plane


def test_thousands_of_objects_take_as_many_requests_as_one(crowd: ControlPlane) -> None:
    explain = Explainer(crowd)
    trail = AuditTrail(crowd.audit)
    explain(namespace="few")
    few = _counted(trail.events(explain.user.name))
    trail.begin_anew()
    result = explain(namespace="many")
    many = _counted(trail.events(explain.user.name))
    assert result["looked_at"] > MANY
    assert result["truncated"]["blockers"] >= MANY
    assert many["list"] == few["list"] + (MANY - 1) // PAGE
    assert many["get"] == few["get"]
    assert many["patch"] <= 20, "dry runs"
    assert many["create"] <= 20, "questions about rights"
    assert trail.writes(explain.user.name) == []
    assert len(result["text"]) < 40, "one screen"


def _counted(events: list[AuditEvent]) -> Counter[str]:
    return Counter(event.verb for event in events)
