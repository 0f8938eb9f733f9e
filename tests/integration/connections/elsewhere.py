# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection plugin to a host that is not called local: modules are packed, copied and started there by themselves.

The host is this machine all the same; only its name keeps our actions from running in the controller's process.
"""

from __future__ import annotations

from ansible.plugins.connection.local import Connection as Local

DOCUMENTATION = """
name: elsewhere
short_description: This machine, as if it were another one
description:
  - Runs commands on this machine, under a name that is not C(local).
extends_documentation_fragment:
  - connection_pipelining
"""


class Connection(Local):
    transport = "elsewhere"
