# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks over SSH in the lab's network: they reach a node, lose it, find it again, and die with their controller."""

from __future__ import annotations

from typing import Any

from integration.network.plays import play, playing
from lab.net.network import Net
from lab.waiting import until

PING: dict[str, Any] = {"ansible.builtin.ping": {}}


def command(line: str, **more: Any) -> dict[str, Any]:
    return {"ansible.builtin.command": line, **more}


def test_tasks_run_on_the_node_and_their_results_come_back_in_order(net: Net) -> None:
    run = play(net, PING, command("hostname"), command("false", ignore_errors=True))
    assert [(one["_status"], one.get("ping"), one.get("stdout")) for one in run.results] == [
        ("ok", "pong", None),
        ("ok", None, "node0"),
        ("failed", None, ""),
    ]
    assert run.rc == 0, run.stdout


def test_check_mode_and_diff_get_to_the_node(net: Net) -> None:
    copy = {"ansible.builtin.copy": {"content": "new\n", "dest": "/etc/motd"}}
    checked = play(net, copy, check=True, diff=True).result
    assert checked["changed"]
    assert checked["diff"][0]["after"] == "new\n"
    assert net.node(0).path("/etc/motd").read_text() != "new\n"


def test_a_node_without_its_address_is_unreachable_until_it_has_it_again(net: Net) -> None:
    node = net.node(0)
    assert play(net, PING).result["_status"] == "ok"
    node.run(["ip", "address", "delete", f"{node.address}/25", "dev", "eth1"], check=True)
    assert play(net, PING).result["_status"] == "unreachable"
    node.run(["ip", "address", "add", f"{node.address}/25", "dev", "eth1"], check=True)
    node.run(["ip", "route", "replace", "default", "via", "198.51.100.1"], check=True)
    assert play(net, PING).result["_status"] == "ok"


def test_a_playbook_is_followed_while_it_runs_and_dies_without_an_answer(net: Net) -> None:
    marker = net.node(0).path("/run/marker")
    with playing(net, [PING, command("sh -c 'touch /run/marker; exec sleep 600'"), PING]) as running:
        running.until(marker.exists, "the task on the node")
        assert [one["_status"] for one in running.results] == ["ok"]
        assert "TASK [ansible.builtin.command]" in running.output
        assert running.processes()
        running.kill()
        assert not running.processes()
        run = running.finish()
    assert run.rc != 0
    assert len(run.results) == 1
    until(lambda: play(net, PING).rc == 0, "the node to be reached by another play")
