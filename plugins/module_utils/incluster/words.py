# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The next step, for somebody who has kubectl and no Ansible at hand.

Room: incluster (pure). The engine speaks to whoever runs a task; here nobody does.
"""

from __future__ import annotations

import re

# What the engine and the roles say → what to do in a cluster.
_IN_A_CLUSTER: tuple[tuple[str, str], ...] = (
    (
        r"look at the new plan with --check and give its plan_hash",
        "look at the new plan in status.text, and set spec.approve to status.planHash",
    ),
    (r"and plan_hash is (\w+)", r"and spec.approve is \1"),
    (
        r"look at the plan with --check, then raise max_objects or select less",
        "look at the plan in status.text, then raise spec.maxObjects or select less",
    ),
    (r"and max_objects is (\d+)", r"and spec.maxObjects is \1"),
    (
        r"ansible-playbook sunset\.kube\.maintenance -e state=disabled -e namespace=(\S+)",
        r"a Maintenance with state: disabled in namespace \1",
    ),
)


def for_kubectl(text: str) -> str:
    for said, meant in _IN_A_CLUSTER:
        text = re.sub(said, meant, text)
    return text
