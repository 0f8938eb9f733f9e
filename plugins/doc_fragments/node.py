# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the modules that change a node's network, and what they promise."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  policy:
    description:
      - The policy's name on this node, with small letters, digits, dots and dashes. What is applied under a name is
        taken back under it.
    type: str
    required: true
  probes:
    description:
      - What must work after the change if it works before. All are asked at once; what does not work beforehand is not
        asked again.
      - Without this option the probes are the default gateways of both families (V(ping) and V(neighbour)), the name
        servers, the way back to the controller, the API server and the readiness of the Node, as far as the node has
        them. An empty list means no probes at all.
    type: list
    elements: dict
    suboptions:
      type:
        description:
          - V(ping) sends an ICMP echo, without a C(ping) program. V(neighbour) asks for the address by ARP or neighbour
            discovery, where pings are dropped. V(tcp) opens a connection. V(http) wants an answer.
            V(dns) asks name servers directly.
          - V(api_server) wants any answer of the API server. V(node_ready) wants the Node to be Ready with a heartbeat
            from after the change. V(controller) tries the way back to the host that runs Ansible.
        type: str
        required: true
        choices: [ping, tcp, http, dns, neighbour, api_server, node_ready, controller]
      target:
        description:
          - An address for V(ping), V(neighbour) and V(controller), also with C(%interface); C(host:port) for V(tcp);
            a URL for V(http), with a space and a status behind it if it must be a certain one, such as C(200) or
            C(2xx); C(name@server) for V(dns), of which both parts may be left out; a URL or C(host:port) for
            V(api_server); a Node for V(node_ready).
          - Without a target the node's own settings at that moment are used. Needed for V(tcp) and V(http).
        type: str
      family:
        description:
          - Ask over this family only.
        type: str
        choices: [ipv4, ipv6]
      timeout:
        description:
          - Seconds to wait for one answer, from 3 to 10 by default, depending on the type.
        type: float
  timeout:
    description:
      - The dead-man's time in seconds. If the change is not confirmed so long after it was made, the node goes back by
        itself. Probes and O(settle) have to fit into it.
    type: int
    default: 120
  settle:
    description:
      - Seconds all probes must hold before the change is confirmed.
    type: int
    default: 5
  lease:
    description:
      - Seconds after which the node goes back when it has not heard of the controller. Each contact starts them anew,
        up to O(timeout). Bridges with the spanning tree protocol carry nothing for 30 seconds, so be careful with
        less.
    type: int
    default: 60
  backend:
    description:
      - How the network is changed. V(nmstatectl) and V(networkmanager) need a running NetworkManager, V(iproute2)
        changes the kernel only, so it does not survive a reboot.
      - V(auto) takes nmstatectl if it is installed and NetworkManager runs, else NetworkManager itself if it runs, else
        iproute2.
    type: str
    choices: [auto, nmstatectl, networkmanager, iproute2]
    default: auto
  journal_dir:
    description:
      - Where this node keeps what was there before each policy, and what is under way. Only root can read it.
      - An absolute path. Because root runs code from it after a reboot, the directories above it must belong to root,
        and no other user may write to them; a directory below C(/tmp) is refused.
    type: path
    default: /var/lib/sunset-kube/network
  force:
    description:
      - Go ahead although the change touches the interface, address or route that carries SSH, the default route, the
        node's address or the way to the API server. Never switches off the probes or the dead-man.
    type: bool
    default: false
  rehearse:
    description:
      - Do it, probe, and roll it back in any case. The task fails if a probe does, and never reports a change.
    type: bool
    default: false
  transaction:
    description:
      - An id for this change, 8 to 32 of the characters 0-9 and a-f. By default one is made up.
    type: str
  desired_secrets:
    description:
      - Passwords of O(desired_state), which are taken out of it for the way to the node, so that no log shows them.
        The task does this by itself.
    type: list
    elements: str
attributes:
  check_mode:
    description: Can run without changing anything and says what it would do.
    support: full
    details:
      - Risks are warnings then, and probes are not asked.
  diff_mode:
    description: Shows what changes.
    support: full
  idempotent:
    description: A second run with the same options changes nothing.
    support: full
  async:
    description: Can run in the background with C(async).
    support: none
    details:
      - The change is confirmed over a new connection by the task itself, so it must be there.
  action:
    description: Comes back over a new connection after the change, from the controller.
    support: full
notes:
  - Needs root on the node, so use C(become). Needs Python on the node and C(ip); NetworkManager backends need
    C(nmcli) and C(busctl), too.
  - Three guards bring the node back, whoever is first - NetworkManager's checkpoint, a process of our own that outlives
    the task, the connection and NetworkManager, and a systemd unit or line in C(/etc/cron.d) for the case of a reboot.
    All of them are gone when the change is decided.
author:
  - sunset.kube contributors (@sunset-kube)
"""
