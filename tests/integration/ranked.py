# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of ranked deletion share: running the job as a user of its own, and reading what it did, in order.

The user has a name, so that the audit log tells its requests from those of the stage.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Progress
from ansible_collections.sunset.kube.plugins.module_utils.jobs import members_info, ranked_delete
from integration.running import Result, run_job
from integration.stage import Body, Stage, body
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User
from lab.waiting import until

RBAC = "rbac.authorization.k8s.io"
OnEvent = Callable[[Any], None]


class Remover:
    """Runs `ranked_delete` and `members_info`, by default as somebody who may do everything."""

    def __init__(self, plane: ControlPlane) -> None:
        self.user = plane.user("remover", (MASTERS,))

    def __call__(
        self,
        members: Mapping[str, Any],
        *,
        check_mode: bool = False,
        user: User | None = None,
        kubeconfig: Path | Mapping[str, Any] | None = None,
        stop: StopSign | None = None,
        on_event: OnEvent | None = None,
        **options: Any,
    ) -> Result:
        params = {"members": dict(members), "timeout": 60, **options}
        where = kubeconfig or (user or self.user).kubeconfig
        return run_job(ranked_delete.JOB, params, where, check_mode=check_mode, stop=stop, on_event=on_event)

    def info(
        self,
        members: Mapping[str, Any],
        *,
        user: User | None = None,
        kubeconfig: Path | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Result:
        where = kubeconfig or (user or self.user).kubeconfig
        return run_job(members_info.JOB, {"members": dict(members), **options}, where)


def succeeded(result: Result) -> Result:
    assert not result.get("failed"), result["msg"]
    return result


def failed(result: Result) -> str:
    assert result.get("failed"), result
    message: str = result["msg"]
    return message


def both(plane: ControlPlane, second: ControlPlane) -> dict[str, Any]:
    """One kubeconfig with two contexts, `lab` and `second`."""
    one: dict[str, Any] = json.loads(plane.admin.kubeconfig.read_text())
    two: dict[str, Any] = json.loads(second.admin.kubeconfig.read_text())
    for part in ("clusters", "users", "contexts"):
        one[part].append({**two[part][0], "name": "second"})
    one["contexts"][1]["context"] = {"cluster": "second", "user": "second"}
    return one


# -- members -----------------------------------------------------------------------------------------------------------


def named(*things: Body) -> dict[str, Any]:
    """`members.objects`: these objects, one by one."""
    return {"objects": [reference(thing) for thing in things]}


def reference(thing: Body) -> dict[str, str]:
    metadata = thing["metadata"]
    row = {"api_version": thing["apiVersion"], "kind": thing["kind"], "name": metadata["name"]}
    return {**row, "namespace": metadata["namespace"]} if metadata.get("namespace") else row


def manifests(*things: Body) -> dict[str, Any]:
    """`members.manifests`: these objects as the chart has them, without what the server added."""
    return {"manifests": [manifest(thing) for thing in things]}


def manifest(thing: Body) -> Body:
    return {"apiVersion": thing["apiVersion"], "kind": thing["kind"], "metadata": _plain(thing["metadata"])}


def _plain(metadata: Mapping[str, Any]) -> Body:
    return {key: metadata[key] for key in ("name", "namespace", "labels", "annotations") if metadata.get(key)}


def service_account(name: str, namespace: str, *finalizers: str) -> Body:
    return body("v1", "ServiceAccount", name, namespace, *finalizers)


def cluster_role(name: str, *finalizers: str) -> Body:
    return body(f"{RBAC}/v1", "ClusterRole", name, "", *finalizers, rules=[])


def cluster_role_binding(name: str, role: str) -> Body:
    to = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    return body(f"{RBAC}/v1", "ClusterRoleBinding", name, "", roleRef=to, subjects=[])


def service(name: str, namespace: str) -> Body:
    return body("v1", "Service", name, namespace, spec={"ports": [{"port": 443}]})


def annotated(thing: Body, **annotations: str) -> Body:
    return {**thing, "metadata": {**thing["metadata"], "annotations": annotations}}


def define(stage: Stage, definition: Body) -> Body:
    """Put a definition on the stage and wait until its kind is served; it is cleared with the stage."""
    [made] = stage.put(definition)
    spec = definition["spec"]
    served = [version["name"] for version in spec["versions"] if version["served"]]
    groups = [f"/apis/{spec['group']}/{version}" for version in served]  # discovery may lag behind
    lists = [f"{group}/{spec['names']['plural']}" for group in groups]
    until(
        lambda: all(stage.api.get(path, limit=1)[0] == 200 for path in (*lists, *groups)),
        f"{made['metadata']['name']} to be served",
        timeout=30,
        every=0.05,
    )
    return made


# -- results -----------------------------------------------------------------------------------------------------------


def names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of the objects in a list of the result."""
    return sorted(row["object"]["name"] if "object" in row else row["name"] for row in rows)


def kept(result: Result) -> dict[str, tuple[str, str]]:
    """Name → verdict and reason, of everything that stays on purpose."""
    return {row["object"]["name"]: (row["verdict"], row["reason"]) for row in result["kept"]}


def planned(result: Result) -> list[list[str]]:
    """The objects of each step of a plan that has any, wave by wave."""
    steps = []
    for step in result["plan"]:
        waves: dict[int, list[str]] = {}
        for row in step["objects"]:
            waves.setdefault(row["wave"], []).append(row["object"]["name"])
        steps += [sorted(waves[wave]) for wave in sorted(waves)]
    return steps


def remaining(stage: Stage, things: Iterable[Body]) -> list[str]:
    return sorted(thing["metadata"]["name"] for thing in things if not stage.is_gone(thing))


# -- what the server saw -----------------------------------------------------------------------------------------------


def deletions(audit: AuditTrail, user: User) -> list[str]:
    """The names of the objects that this user asked to delete, in the order the requests arrived."""
    return [event.name for event in audit.writes(user.name) if event.verb == "delete"]


def in_portions(order: Sequence[str], like: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cut a flat order into portions of the expected sizes; inside a portion everything happens at once."""
    rest = list(order)
    portions = []
    for portion in like:
        portions.append(sorted(rest[: len(portion)]))
        rest = rest[len(portion) :]
    return portions + ([rest] if rest else [])


def when_waiting_for(finalizer: str, act: Callable[[], Any]) -> OnEvent:
    """Acts once, when the run says that it waits for this finalizer: by then it has sent all it may send."""
    done: list[bool] = []

    def look(event: Any) -> None:
        if isinstance(event, Progress) and finalizer in event.waiting and not done:
            done.append(True)
            act()

    return look
