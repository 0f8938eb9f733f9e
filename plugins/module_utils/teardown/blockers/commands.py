# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands to copy: what a person types next.

Room: teardown (pure).
"""

from __future__ import annotations

from ...commands import ad_hoc, kubectl
from ...objects import Resource
from ..owner_facts import Workload

_DEPLOYED = {"Deployment": "deploy", "StatefulSet": "sts", "DaemonSet": "ds"}


def remove_finalizer(kind: Resource, namespace: str, name: str, finalizer: str, *, consent: bool = False) -> str:
    """Guarded as always: it refuses while the controller is seen to live. Without a name, of all objects of the kind.

    Who is not found does not stop it: removals.py has what must be known before.
    """
    options = {"kind": kind.qualified, "namespace": namespace, "name": name, "finalizers": [finalizer]}
    return ad_hoc("finalizer", {**options, "allow_protected": "true" if consent else ""})


def explain(**options: str) -> str:
    """Ask again, about something else."""
    return ad_hoc("blockers_info", options)


def bring_back(workload: Workload) -> str:
    """Start it again where it was scaled down; otherwise look why it does not run. Nobody scales a DaemonSet."""
    place, what = workload.namespace, f"{_DEPLOYED[workload.kind]}/{workload.name}"
    if workload.wanted or workload.kind == "DaemonSet":
        return f"see why its owner does not run: {kubectl('describe {what}', namespace=place, what=what)}"
    scale = kubectl("scale {what} --replicas=1", namespace=place, what=what)
    return f"bring its owner back for a while: {scale}"


def look_at(owner: str, *, alive: bool) -> str:
    """Empty where the owner is no workload that can be looked at."""
    kind, _blank, place = owner.partition(" ")
    namespace, _slash, name = place.partition("/")
    if kind not in _DEPLOYED:
        return ""
    what = f"{_DEPLOYED[kind]}/{name}"
    return kubectl("logs {what} --tail=50" if alive else "describe {what}", namespace=namespace, what=what)
