# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several want the same route behind a page: it stays there until the last of them lets go."""

from __future__ import annotations

from integration.maintaining import Body, Maintenance, ingress, services_in
from integration.ranked import succeeded


def named(maintenance: Maintenance, *names: str) -> list[Body]:
    return maintenance.api.create(*(ingress(maintenance.namespace, name, f"{name}.example.com") for name in names))


def test_a_page_stays_until_the_last_holder_lets_go(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    one, other = named(maintenance, "one", "other")
    only = [{"namespace": maintenance.namespace, "name": "one"}]
    succeeded(maintenance("enabled", holder="nightly"))
    assert not succeeded(maintenance("enabled", holder="nightly"))["changed"]
    succeeded(maintenance("enabled", holder="upgrade", targets=only))
    held = {row["name"]: row["holders"] for row in maintenance.info()["targets"]}
    assert held == {"one": ["nightly", "upgrade"], "other": ["nightly"]}

    nobody = succeeded(maintenance("disabled", holder="somebody-else"))
    assert (nobody["changed"], nobody["targets"]) == (False, [])
    rehearsed = succeeded(maintenance("disabled", holder="nightly", check_mode=True))
    assert {row["name"]: row["state"] for row in rehearsed["targets"]} == {"one": "enabled", "other": "pending"}
    left = succeeded(maintenance("disabled", holder="nightly"))
    told = {row["name"]: (row["state"], row["why"]) for row in left["targets"]}
    assert told == {"one": ("enabled", "it stays for upgrade"), "other": ("disabled", "")}
    assert services_in(maintenance.live(one)) != {"shop"}
    assert services_in(maintenance.live(other)) == {"shop"}
    succeeded(maintenance("disabled", holder="upgrade", targets=None))
    assert services_in(maintenance.live(one)) == {"shop"}
    assert maintenance.ours() == []


def test_who_runs_tasks_by_hand_is_a_holder_and_takes_everything_away(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    succeeded(maintenance("enabled"))
    succeeded(maintenance("enabled", holder="nightly"))
    succeeded(maintenance("disabled", holder="nightly"))
    assert services_in(maintenance.live(route)) != {"shop"}, "it was there before that one came"
    succeeded(maintenance("enabled", holder="nightly"))
    succeeded(maintenance("disabled"))
    assert services_in(maintenance.live(route)) == {"shop"}
    assert maintenance.ours() == []


def test_what_a_holder_names_no_more_goes_back(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    one, other, elsewhere = named(maintenance, "one", "other", "elsewhere")
    here = maintenance.namespace
    succeeded(maintenance("enabled", targets=[{"namespace": here, "name": "elsewhere"}]))
    both = [{"namespace": here, "name": "one"}, {"namespace": here, "name": "other"}]
    succeeded(maintenance("enabled", holder="nightly", targets=both))
    narrowed = succeeded(maintenance("enabled", holder="nightly", targets=both[:1]))
    assert narrowed["changed"]
    assert services_in(maintenance.live(one)) != {"shop"}
    assert services_in(maintenance.live(other)) == {"shop"}
    assert services_in(maintenance.live(elsewhere)) != {"shop"}, "nobody has let go of that"
    assert not succeeded(maintenance("enabled", holder="nightly", targets=both[:1]))["changed"]
    succeeded(maintenance("disabled"))
    assert maintenance.ours() == []
