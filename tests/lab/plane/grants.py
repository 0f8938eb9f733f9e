# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rights for a user: a role with the given rules, bound to the user, in force when `granted` returns."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lab.plane.api import Api
from lab.plane.users import User
from lab.problems import LabError
from lab.waiting import until

RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True)
class Grant:
    """What was created, and a question whose answer tells whether it is in force."""

    user: User
    paths: tuple[str, ...]
    question: Mapping[str, Any] | None


def grant(api: Api, user: User, rules: Iterable[Mapping[str, Any]], namespace: str | None = None) -> Grant:
    """Let the user do what the rules say, in one namespace or (without) in the whole cluster, and wait until it may."""
    listed = [dict(rule) for rule in rules]
    name = f"lab-{secrets.token_hex(6)}"
    prefix = "" if namespace else "Cluster"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    role = {"apiVersion": f"{RBAC}/v1", "kind": f"{prefix}Role", "metadata": metadata, "rules": listed}
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": f"{prefix}RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": f"{prefix}Role", "name": name},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user.name}],
    }
    api.create(role, binding)
    given = Grant(user, (api.path_of(binding), api.path_of(role)), _question(listed, namespace))
    # The server learns of new roles through a watch of its own, a moment after they are stored.
    until(lambda: _in_force(api, given) is not False, f"the rights of {user.name} to be in force", every=0.01)
    return given


def revoke(api: Api, given: Grant) -> None:
    """Take the rights back. If the user keeps them from elsewhere, that is no error."""
    for path in given.paths:
        api.delete(path)
    with contextlib.suppress(LabError):
        until(lambda: _in_force(api, given) is not True, "the rights to be gone", timeout=2, every=0.01)


def _in_force(api: Api, given: Grant) -> bool | None:
    """None when there is nothing to ask."""
    if given.question is None:
        return None
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": given.user.name, "groups": list(given.user.groups), **given.question},
    }
    return bool(api.create(review)[0]["status"]["allowed"])


def _question(rules: list[dict[str, Any]], namespace: str | None) -> dict[str, Any] | None:
    """One thing the rules allow. One is enough: all of them come into force together."""
    if not rules:
        return None
    rule = rules[0]
    if rule.get("nonResourceURLs"):
        return {"nonResourceAttributes": {"path": rule["nonResourceURLs"][0], "verb": rule["verbs"][0]}}
    resource, _slash, subresource = rule["resources"][0].partition("/")
    return {
        "resourceAttributes": {
            "group": rule.get("apiGroups", [""])[0],
            "resource": resource,
            "subresource": subresource,
            "verb": rule["verbs"][0],
            "name": next(iter(rule.get("resourceNames", ())), ""),
            "namespace": namespace or "",
        }
    }
