# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications go behind a page and come back exactly as they were, as often as you like."""

from __future__ import annotations

import pytest

from integration.maintaining import INGRESSES, Maintenance, ingress, shape
from integration.ranked import succeeded
from lab.plane.controlplane import ControlPlane


@pytest.fixture
def maintenance(plane: ControlPlane, node_namespace: str, route_kinds: None) -> Maintenance:
    return Maintenance(plane, node_namespace)


def test_a_route_shows_the_page_and_comes_back_exactly_as_it_was_again_and_again(maintenance: Maintenance) -> None:
    maintenance.api.create(ingress(maintenance.namespace))
    path = f"{INGRESSES.format(maintenance.namespace)}/web"
    before = shape(maintenance.route(path))

    for _round in range(3):
        on = succeeded(maintenance("enabled"))
        again = succeeded(maintenance("enabled"))
        assert (on["changed"], again["changed"]) == (True, False)
        shown = maintenance.route(path)["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"]
        assert shown == on["targets"][0]["page"]

        off = succeeded(maintenance("disabled"))
        again = succeeded(maintenance("disabled"))
        assert (off["changed"], again["changed"]) == (True, False)
        assert shape(maintenance.route(path)) == before
        assert maintenance.ours() == []
