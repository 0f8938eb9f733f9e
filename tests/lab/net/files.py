# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the disk of a network node when it is new, and what of the machine's own files it does not see."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.net import addresses
from lab.net.addresses import DOMAIN, MANAGEMENT, RESOLVERS

HOME = "/root"
HOST_KEY = "/etc/ssh/lab_host_key"
SSHD_CONFIG = "/etc/ssh/lab_sshd_config"
# Without NetworkManager the node is set up from this file at each boot: commands for `ip -batch`.
IP_COMMANDS = "/etc/lab-network"
PROFILES = "/etc/NetworkManager/system-connections"
# The machine may have these too. A node has its own, or none.
HIDDEN = (
    "/etc/NetworkManager",
    "/etc/cron.d",
    "/etc/crontab",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/machine-id",
    "/etc/resolv.conf",
    f"{HOME}/.ansible",
    f"{HOME}/.ansible_async",
    f"{HOME}/.ssh",
    "/usr/local/bin/nmstatectl",
    "/var/lib/NetworkManager",
    "/var/lib/dbus/machine-id",
    "/var/spool/cron/crontabs",
)
FOLDERS = (
    PROFILES,
    "/etc/NetworkManager/conf.d",
    "/etc/NetworkManager/dispatcher.d",
    "/etc/cron.d",
    "/var/lib/NetworkManager",
    "/var/spool/cron/crontabs",
)
SECRET = re.compile(r"_key$|\.nmconnection$")  # NetworkManager and sshd refuse what others may read


@dataclass(frozen=True)
class Supplies:
    """What all nodes of a network share: throw-away SSH keys, and a program that Debian does not have."""

    host_key: Path
    client_key: Path
    known_hosts: Path
    nmstatectl: Path


def install(number: int, at: Callable[[str], Path], supplies: Supplies) -> None:
    """Write a new node's files; `at` tells where a path of the node is out here."""
    for folder in FOLDERS:
        at(folder).mkdir(parents=True, exist_ok=True)
    for path, text in _files(number, supplies).items():
        file = at(path)
        file.write_text(text)
        file.chmod(0o600 if SECRET.search(path) else 0o644)
    _let_root_in(at("/etc/shadow"))
    at("/usr/local/bin").mkdir(parents=True, exist_ok=True)
    at("/usr/local/bin/nmstatectl").symlink_to(supplies.nmstatectl)


def wipe(disk: Path) -> None:
    """Take everything off a disk. Its node must be off."""
    for layer in disk.iterdir():
        shutil.rmtree(layer)


def _files(number: int, supplies: Supplies) -> dict[str, str]:
    name = f"node{number}"
    return {
        "/etc/hostname": f"{name}\n",
        "/etc/hosts": f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {name}.{DOMAIN} {name}\n",
        "/etc/machine-id": hashlib.sha256(name.encode()).hexdigest()[:32] + "\n",
        "/etc/resolv.conf": "".join(f"nameserver {own[0].ip}\n" for own in RESOLVERS),
        "/etc/NetworkManager/NetworkManager.conf": NETWORK_MANAGER,
        f"{PROFILES}/eth1.nmconnection": _management_profile(number),
        f"{PROFILES}/eth2.nmconnection": SPARE_PROFILE,
        HOST_KEY: supplies.host_key.read_text(),
        SSHD_CONFIG: SSHD,
        "/etc/ssh/lab_authorized_keys": supplies.client_key.with_suffix(".pub").read_text(),
        IP_COMMANDS: _ip_commands(number),
    }


# NetworkManager takes cables between namespaces for somebody else's unless it is told, and must not ask for a udev that
# is not there; what it finds is set down, so that nothing hangs on Debian's defaults.
NETWORK_MANAGER = """\
[main]
plugins=keyfile
dns=default
rc-manager=file
no-auto-default=*
hostname-mode=none
auth-polkit=root-only

[device-lab]
match-device=interface-name:eth*
managed=1
"""

SSHD = f"""\
Port 22
HostKey {HOST_KEY}
AuthorizedKeysFile /etc/ssh/lab_authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PidFile none
MaxStartups 100
Subsystem sftp internal-sftp
"""

# Up, without an address: what a spare interface of a server looks like. eth3 has no profile at all.
SPARE_PROFILE = """\
[connection]
id=eth2
uuid=00000000-0000-4000-8000-0000000000e2
type=ethernet
interface-name=eth2

[ipv4]
method=disabled

[ipv6]
method=disabled
"""


def _management_profile(number: int) -> str:
    v4, v6 = addresses.node(number)
    return f"""\
[connection]
id=eth1
uuid=00000000-0000-4000-8000-0000000000e1
type=ethernet
interface-name=eth1

[ipv4]
method=manual
address1={v4},{MANAGEMENT.v4.ip}
dns={";".join(str(own[0].ip) for own in RESOLVERS)};

[ipv6]
method=manual
address1={v6},{MANAGEMENT.v6.ip}
"""


def _ip_commands(number: int) -> str:
    v4, v6 = addresses.node(number)
    return f"""\
link set eth1 up
link set eth2 up
address add {v4} dev eth1
address add {v6} dev eth1
route add default via {MANAGEMENT.v4.ip}
route add default via {MANAGEMENT.v6.ip}
"""


def _let_root_in(shadow: Path) -> None:
    """sshd takes no key for an account that is locked with "!"; "*" is no password either, but not locked."""
    shadow.write_text(re.sub(r"(?m)^root:![^:]*:", "root:*:", shadow.read_text()))
