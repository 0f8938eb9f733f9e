# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node of the lab's network: D-Bus, NetworkManager, sshd and cron as on a server, in a sandbox of its own.

It is reached by SSH from the lab's controller. What is written to /etc, /var, /root and /usr/local stays on its disk
over a reboot and is gone with the lab; /run and /tmp start anew with each boot.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab import sandbox_init
from lab.net import addresses, files
from lab.net.files import Supplies
from lab.net.gateway import Gateway
from lab.net.machine import Machine
from lab.sandbox import SandboxSpec
from lab.waiting import until

NETWORK_MANAGER = "NetworkManager"
SSH_PORT = 22
FAMILIES = ("4", "6")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": files.HOME,
    "USER": "root",
    "LANG": "C.UTF-8",
}
BASE_PYTHON = os.path.realpath(sys.executable)  # out of its environment: only the standard library, as on a server


class NetNode(Machine):
    """Made by `Net`. `number` counts from 0; `address` and `address6` are those it is managed by."""

    def __init__(self, number: int, directory: Path, gateway: Gateway, supplies: Supplies) -> None:
        self.number = number
        self.address, self.address6 = (str(interface.ip) for interface in addresses.node(number))
        self.gateway = gateway
        self._supplies = supplies
        # On the gateway's disk, which outlives a reboot and the sandbox of this node, but not the lab.
        self._disk = f"{gateway.directory}/{sandbox_init.SCRATCH}/node{number}"
        gateway.path(self._disk).mkdir()
        super().__init__(f"node{number}", directory, self._sandbox_spec(), within=gateway.sandbox)

    def _sandbox_spec(self) -> SandboxSpec:
        return SandboxSpec(
            overlays=("/etc", "/var", files.HOME, "/usr/local", "/tmp"),
            hidden=files.HIDDEN,
            forgotten=("/tmp",),
            empty=("/run",),
            disk=Path(self._disk),
            network=True,
            hostname=f"node{self.number}",
            # NetworkManager asks for router advertisements by itself. Without it, nobody wants an address by chance.
            settings={"net/ipv6/conf/default/accept_ra": 0},
        )

    # -- on, off, new ------------------------------------------------------------------------------------------------

    def install(self, *, network_manager: bool = True) -> None:
        """Write a new node's files to an empty disk and boot. For a node that was just switched on."""
        files.install(self.number, self.path, self._supplies)
        self._boot(network_manager)
        self._wait_for_own_addresses()

    def reinstall(self, *, network_manager: bool = True) -> None:
        """Make the node as new: nothing that was written to it is left."""
        self.switch_off()
        files.wipe(self.gateway.path(self._disk))
        self.switch_on()
        self.install(network_manager=network_manager)

    def reboot(self, *, network_manager: bool = True) -> None:
        """Switch the node off and on: no process is left, its files are. Then services start, and cron does @reboot."""
        self.switch_off()
        self.switch_on()
        self._boot(network_manager)

    def _boot(self, network_manager: bool) -> None:
        for folder in ("/run/dbus", "/run/sshd", "/run/lock"):
            self.path(folder).mkdir(exist_ok=True)
        self.gateway.plug_in_node(self.number, self.sandbox)
        bus = ["dbus-daemon", "--system", "--nofork", "--nopidfile"]
        self.start("dbus", bus, self.path("/run/dbus/system_bus_socket").exists)
        if network_manager:
            self.start_network_manager()
        else:
            self.run(["ip", "-batch", files.IP_COMMANDS], check=True)
        sshd = ["/usr/sbin/sshd", "-D", "-e", "-f", files.SSHD_CONFIG]
        self.start("sshd", sshd, lambda: self.listens("tcp", SSH_PORT))
        self.start("cron", ["cron", "-f"], self.path("/run/crond.pid").exists)

    def _wait_for_own_addresses(self) -> None:
        """An IPv6 address cannot be used at once: the kernel asks first whether somebody else has it."""

        def settled() -> bool:
            entries = [one for link in self.ip("address", "show", "dev", "eth1") for one in link["addr_info"]]
            return {self.address, self.address6} <= {one["local"] for one in entries if not one.get("tentative")}

        until(settled, f"the addresses of {self.name}", every=0.05)

    # -- NetworkManager ----------------------------------------------------------------------------------------------

    def start_network_manager(self) -> None:
        """Start NetworkManager and wait until it has brought up what its profiles say."""
        self.start(NETWORK_MANAGER, [NETWORK_MANAGER, "--debug"], self._network_is_up)

    def kill_network_manager(self) -> None:
        """End NetworkManager by SIGKILL. Interfaces stay as they are, checkpoints are lost."""
        self.kill(NETWORK_MANAGER)

    def _network_is_up(self) -> bool:
        return self.run(["nm-online", "--wait-for-startup", "--quiet", "--timeout", "1"]).returncode == 0

    # -- looking -----------------------------------------------------------------------------------------------------

    def links(self) -> dict[str, dict[str, Any]]:
        """Interfaces by name, as `ip` tells them."""
        return {link["ifname"]: link for link in self.ip("link", "show")}

    def addresses(self, interface: str | None = None) -> list[str]:
        """Addresses with prefix length, of one interface or of all; without those every interface gives itself."""
        shown = self.ip("address", "show", *(["dev", interface] if interface else []))
        entries = [entry for link in shown for entry in link.get("addr_info", ())]
        return [f"{one['local']}/{one['prefixlen']}" for one in entries if one.get("scope") == "global"]

    def routes(self, table: str = "main") -> list[dict[str, Any]]:
        """Routes of both families, as `ip` tells them, with `family` added."""
        return self._of_both_families("route", "show", "table", table)

    def rules(self) -> list[dict[str, Any]]:
        """Policy rules of both families, as `ip` tells them, with `family` added."""
        return self._of_both_families("rule", "show")

    def show(self) -> dict[str, Any]:
        """What `nmstatectl show` tells; asked of the kernel where NetworkManager does not run."""
        by_kernel = [] if NETWORK_MANAGER in self.programs else ["--kernel"]
        return json.loads(self.run(["nmstatectl", "show", "--json", *by_kernel], check=True).stdout)

    def snapshot(self) -> dict[str, list[Any]]:
        """The network as it can be compared: no counters, no lifetimes, nothing in an order of chance."""
        links = [
            (name, link.get("link_type"), link.get("linkinfo", {}).get("info_kind"), link.get("master"), link["mtu"])
            for name, link in self.links().items()
        ]
        where = [f"{interface} {address}" for interface in self.links() for address in self.addresses(interface)]
        told: dict[str, list[Any]] = {
            "links": links,
            "addresses": where,
            "routes": self.routes(),
            "rules": self.rules(),
        }
        return {what: sorted(json.dumps(one, sort_keys=True) for one in found) for what, found in told.items()}

    def _of_both_families(self, *arguments: str) -> list[dict[str, Any]]:
        return [{**entry, "family": int(family)} for family in FAMILIES for entry in self.ip(f"-{family}", *arguments)]

    # -- Ansible -----------------------------------------------------------------------------------------------------

    @property
    def ssh(self) -> dict[str, Any]:
        """The node in Ansible's inventory."""
        return {
            "ansible_host": self.address,
            "ansible_port": SSH_PORT,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self._supplies.client_key),
            "ansible_ssh_common_args": " ".join(self._ssh_options()),
            "ansible_control_path_dir": "/run/lab-ssh",  # short: a socket's path has at most 108 characters
            "ansible_python_interpreter": BASE_PYTHON,
        }

    def ssh_command(self, command: str, *options: str) -> list[str]:
        """What to run on the controller so that this command runs here, without Ansible in between."""
        key = ["-i", str(self._supplies.client_key), "-p", str(SSH_PORT)]
        return ["ssh", *self._ssh_options(), *key, *options, f"root@{self.address}", command]

    def _ssh_options(self) -> list[str]:
        options = {
            "HostKeyAlias": self.name,  # the node stays itself when its address changes
            "UserKnownHostsFile": str(self._supplies.known_hosts),
            "StrictHostKeyChecking": "yes",
            "IdentitiesOnly": "yes",
        }
        return ["-F", "none", *(word for key, value in options.items() for word in ("-o", f"{key}={value}"))]

    def environment(self) -> Mapping[str, str]:
        return ENVIRONMENT
