# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's network: real nodes that Ansible reaches by SSH, a gateway with switches, and nothing left afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.net.addresses import API_PORT, API_SERVER, DHCP, MANAGEMENT, RESOLVERS
from lab.net.network import Net
from lab.net.node import NetNode
from lab.problems import LabError
from lab.processes import runs
from lab.waiting import until

TESTS = Path(__file__).parents[1]
API = f"http://{API_SERVER.ip}:{API_PORT}/healthz"
GATEWAY, GATEWAY6 = str(MANAGEMENT.v4.ip), str(MANAGEMENT.v6.ip)
SPARE = "203.0.113.40/25"  # an address for eth2
pytestmark = pytest.mark.net  # also those that start a network by themselves


def ansible(net: Net, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A real `ansible` in the controller's network, for all nodes."""
    inventory = directory / "inventory.json"
    inventory.write_text(json.dumps(net.inventory()))
    program = str(Path(sys.executable).with_name("ansible"))
    settings = {
        "ANSIBLE_HOME": str(directory / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1",
    }
    environment = {**os.environ, **settings, "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.oneline"}
    command = [program, "all", "--one-line", "--inventory", str(inventory), *arguments]
    return net.controller.run(command, env=environment)


def over_ssh(net: Net, command: str, *options: str) -> subprocess.CompletedProcess[str]:
    return net.controller.run(net.node(0).ssh_command(command, *options))


def apply(node: NetNode, state: dict[str, Any], *options: str) -> None:
    node.run(["nmstatectl", "apply", *options, "-"], stdin=json.dumps(state), check=True)


def with_address(interface: str, address: str) -> dict[str, Any]:
    ip, length = address.split("/")
    ipv4 = {"enabled": True, "dhcp": False, "address": [{"ip": ip, "prefix-length": int(length)}]}
    return {"interfaces": [{"name": interface, "type": "ethernet", "state": "up", "ipv4": ipv4}]}


def boot_id(node: NetNode) -> str:
    return node.run(["cat", "/proc/sys/kernel/random/boot_id"], check=True).stdout


def state_of(node: NetNode) -> dict[str, str]:
    return {one["name"]: one["state"] for one in node.show()["interfaces"]}


# -- nodes -----------------------------------------------------------------------------------------------------------


def test_ansible_reaches_the_node_by_ssh_and_finds_what_a_server_has(net: Net, tmp_path: Path) -> None:
    assert '"ping": "pong"' in ansible(net, tmp_path, "-m", "ansible.builtin.ping").stdout
    question = "hostname; id -un; echo $SSH_CONNECTION; nmstatectl --version"
    told = ansible(net, tmp_path, "-m", "ansible.builtin.raw", "-a", question).stdout
    for word in ("node0", "root", net.controller.address, net.node(0).address, "nmstatectl 2.2.62"):
        assert word in told


def test_network_manager_has_the_interfaces_and_nmstatectl_shows_them(net: Net) -> None:
    node = net.node(0)
    assert node.programs == ["dbus", "NetworkManager", "sshd", "cron"]
    assert state_of(node) == {"lo": "up", "eth1": "up", "eth2": "up", "eth3": "down"}
    assert node.addresses() == [f"{node.address}/25", f"{node.address6}/64"] == node.addresses("eth1")
    defaults = [(route["family"], route["gateway"]) for route in node.routes() if route["dst"] == "default"]
    assert defaults == [(4, GATEWAY), (6, GATEWAY6)]
    assert [rule["priority"] for rule in node.rules() if rule["family"] == 4] == [0, 32766, 32767]
    assert node.show()["dns-resolver"]["config"]["server"] == [str(own[0].ip) for own in RESOLVERS]


def test_a_node_without_network_manager_has_the_same_network(net: Net) -> None:
    node = net.node(0)
    before = node.addresses(), sorted(route["dst"] for route in node.routes() if "gateway" in route)
    net.reset(network_manager=False)
    assert "NetworkManager" not in node.programs
    assert (node.addresses(), sorted(route["dst"] for route in node.routes() if "gateway" in route)) == before
    assert state_of(node)["eth1"] == "up"
    assert over_ssh(net, "hostname").stdout == "node0\n"


def test_a_lease_is_given_on_eth2_for_both_families(net: Net) -> None:
    node = net.node(0)
    ipv6 = {"enabled": True, "dhcp": True, "autoconf": True}
    eth2 = {"name": "eth2", "type": "ethernet", "state": "up", "ipv4": {"enabled": True, "dhcp": True}, "ipv6": ipv6}
    apply(node, {"interfaces": [eth2]})
    [given] = until(net.gateway.leases, "a lease").values()
    until(lambda: f"{given}/25" in node.addresses("eth2"), "the address of the lease")
    until(lambda: any(one.startswith("2001:db8:2:") for one in node.addresses("eth2")), "an IPv6 address")
    assert node.pings(str(DHCP.v4.ip))


def test_a_checkpoint_that_nobody_confirms_brings_the_old_address_back(net: Net) -> None:
    node = net.node(0)
    apply(node, with_address("eth2", SPARE))
    before = node.snapshot()
    apply(node, with_address("eth2", "203.0.113.41/25"), "--no-commit", "--timeout", "2")
    assert node.addresses("eth2") == ["203.0.113.41/25"]
    until(lambda: node.snapshot() == before, "the old address")


def test_a_checkpoint_dies_with_network_manager(net: Net) -> None:
    node = net.node(0)
    apply(node, with_address("eth2", SPARE))
    apply(node, with_address("eth2", "203.0.113.41/25"), "--no-commit", "--timeout", "60")
    node.kill_network_manager()
    assert node.addresses("eth2") == ["203.0.113.41/25"]
    node.start_network_manager()
    refused = node.run(["nmstatectl", "rollback"])
    assert refused.returncode != 0
    assert "Not active checkpoints" in refused.stderr
    assert node.addresses("eth2") == ["203.0.113.41/25"]


# -- reboot and reset ------------------------------------------------------------------------------------------------


def test_a_reboot_keeps_files_and_profiles_and_ends_everything_else(net: Net) -> None:
    node = net.node(0)
    apply(node, with_address("eth2", SPARE))
    node.run(["ip", "link", "add", "br9", "type", "bridge"], check=True)
    node.run(["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 &"], check=True)
    for place in ("/var/lib/journal-of-mine", "/run/marker", "/tmp/marker"):
        node.path(place).write_text("here")
    node.path("/etc/cron.d/guard").write_text("@reboot root echo back > /var/lib/guard\n")
    started = boot_id(node)
    node.reboot()
    assert boot_id(node) not in (started, Path("/proc/sys/kernel/random/boot_id").read_text())
    until(lambda: node.addresses("eth2") == [SPARE], "the profile's address")
    assert "br9" not in node.links()
    assert "sleep" not in node.run(["ps", "-e"], check=True).stdout
    assert node.path("/var/lib/journal-of-mine").read_text() == "here"
    assert not node.path("/run/marker").exists()
    assert not node.path("/tmp/marker").exists()
    assert until(node.path("/var/lib/guard").exists, "cron to do @reboot")


def test_reset_makes_everything_as_new(net: Net) -> None:
    node = net.node(0)
    before = node.snapshot(), node.show()["dns-resolver"]
    apply(node, with_address("eth2", SPARE))
    node.path("/var/lib/journal-of-mine").mkdir()
    kept = ("-o", "ControlMaster=auto", "-o", "ControlPersist=600", "-o", "ControlPath=/run/kept")
    assert over_ssh(net, "true", *kept).returncode == 0
    net.gateway.stop_http()
    net.gateway.drop_icmp(True)
    net.gateway.link_down(0)
    net.reset()
    assert (node.snapshot(), node.show()["dns-resolver"]) == before
    assert not node.path("/var/lib/journal-of-mine").exists()
    assert node.fetch(API) == 200
    assert node.pings(GATEWAY)
    assert over_ssh(net, "hostname", *kept).stdout == "node0\n"  # by a new connection, the old one leads nowhere


# -- switches of the gateway -----------------------------------------------------------------------------------------


def test_the_gateway_swallows_pings_and_nothing_else(net: Net) -> None:
    node, everywhere = net.node(0), (GATEWAY, GATEWAY6, net.controller.address, net.controller.address6)
    assert [node.pings(address) for address in everywhere] == [True] * 4
    net.gateway.drop_icmp(True)
    assert [node.pings(address) for address in everywhere] == [False] * 4
    assert node.fetch(API) == 200
    net.gateway.drop_icmp(False)
    assert node.pings(GATEWAY)


def test_each_resolver_has_a_switch(net: Net) -> None:
    node, servers = net.node(0), [str(own[0].ip) for own in RESOLVERS]
    assert [node.resolve("resolver.example.com", server) for server in servers] == [[server] for server in servers]
    assert node.resolve("node0.example.com", str(RESOLVERS[0][1].ip)) == [node.address]
    assert node.resolve("nobody.example.com", servers[0]) == []
    net.gateway.stop_dns(0)
    assert [node.resolve("api.example.com", server) for server in servers] == [None, [str(API_SERVER.ip)]]
    net.gateway.stop_dns()
    net.gateway.start_dns(0)
    assert [node.resolve("api.example.com", server) for server in servers] == [[str(API_SERVER.ip)], None]


def test_the_api_server_and_dhcp_have_a_switch(net: Net) -> None:
    node = net.node(0)
    assert node.fetch(API) == 200
    net.gateway.stop_http()
    assert node.fetch(API) is None
    net.gateway.stop_dhcp()
    assert not net.gateway.listens("udp", 67)
    net.gateway.start_http()
    net.gateway.start_dhcp()
    assert node.fetch(API) == 200


def test_a_pulled_cable_cuts_ssh_and_the_node_sees_it(net: Net) -> None:
    node = net.node(0)
    net.gateway.link_down(0)
    until(lambda: "NO-CARRIER" in node.links()["eth1"]["flags"], "the node to see it")
    assert over_ssh(net, "true", "-o", "ConnectTimeout=1").returncode == 255
    net.gateway.link_up(0)
    assert over_ssh(net, "hostname").stdout == "node0\n"


def test_nothing_leads_out_of_the_network(net: Net) -> None:
    assert not [route for family in ("-4", "-6") for route in net.gateway.ip(family, "route", "show", "default")]
    # Both ends of every cable are here: no interface of the machine's own network is among them.
    assert {link["ifname"] for link in net.gateway.ip("link")} == {
        "lo",
        *("lan0", "lan1", "lan2", "lan3"),
        *("controller", "node0-eth1", "node0-eth2", "node0-eth3"),
    }
    assert {link["ifname"] for link in net.controller.ip("link")} == {"lo", "eth0"}
    assert set(net.node(0).links()) == {"lo", "eth1", "eth2", "eth3"}


# -- nothing is left behind ------------------------------------------------------------------------------------------


def namespaces() -> set[str]:
    """Every namespace some running process of this machine is in."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            found |= namespaces_of(int(folder.name)) if runs(int(folder.name)) else set()
    return found


def namespaces_of(pid: int) -> set[str]:
    return {os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("net", "mnt", "pid")}


def own_namespaces(net: Net) -> set[str]:
    return set().union(*(namespaces_of(machine.sandbox.first) for machine in (net.gateway, net.controller, *net.nodes)))


def traces(directory: Path) -> list[str]:
    """What a network could have left on the machine."""
    links = subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True, check=True).stdout
    return [
        *(line for line in Path("/proc/self/mounts").read_text().splitlines() if str(directory) in line),
        *(line for line in links.splitlines() if line.startswith(("lan", "node", "controller"))),
        *(f"file {path}" for path in directory.glob("*")),
    ]


def test_stop_leaves_nothing_and_two_networks_do_not_meet(net: Net, tmp_path: Path) -> None:
    with Net.start(tmp_path / "other", nodes=2, network_manager=False) as other:
        first, second = other.nodes
        assert first.pings(second.address)  # neighbours on one wire
        own = own_namespaces(other)
        assert len(own) == 12
        assert own <= namespaces()
        other.gateway.stop_http()
        assert (first.fetch(API), net.node(0).fetch(API)) == (None, 200)
    assert traces(tmp_path / "other") == []
    assert not own & namespaces()
    assert net.node(0).fetch(API) == 200
    other.stop()


IN_ANOTHER_PROCESS = """
import os, sys, time
from lab.net.network import Net
with Net.start(sys.argv[1], network_manager=False) as net:
    sandboxes = [machine.sandbox.first for machine in (net.gateway, net.controller, *net.nodes)]
    net.node(0).run(["sh", "-c", "setsid sleep 600 >/dev/null 2>&1 &"], check=True)
    print(*(os.readlink(f"/proc/{pid}/ns/{kind}") for pid in sandboxes for kind in ("net", "mnt", "pid")), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other_process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], set[str]]]:
    """Another Python process that runs a network: the process, the network's namespaces."""
    command = [sys.executable, "-c", textwrap.dedent(IN_ANOTHER_PROCESS), str(tmp_path / "other")]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        yield process, set(process.stdout.readline().split())
        process.kill()


def test_nothing_runs_on_when_the_process_that_started_it_is_killed(
    other_process: tuple[subprocess.Popen[str], set[str]], tmp_path: Path
) -> None:
    process, own = other_process
    assert len(own) == 9
    assert own <= namespaces()
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    assert not runs(process.pid)
    until(lambda: not own & namespaces(), "every process of the network to end")


def test_a_network_is_refused_where_it_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "something").touch()
    with pytest.raises(LabError, match="is not empty"):
        Net.start(tmp_path)
    with pytest.raises(LabError, match="a network of 21 nodes cannot be had: 1 to 20"):
        Net.start(tmp_path / "large", nodes=21)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match=r"apt-get install cron dbus dnsmasq-base iproute2 network-manager nftables"):
        Net.start(tmp_path / "bare")
