# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""May we? Access reviews, asked before the first write.

Room: kube.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..objects import Resource
from .answers import error_from
from .transport import Request, Transport

_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True)
class Right:
    """One thing to be allowed: a verb on a kind, in a namespace or (empty) everywhere."""

    verb: str
    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        where = (
            f" in namespace {self.namespace}"
            if self.namespace
            else " in all namespaces"
            if self.resource.namespaced
            else ""
        )
        part = f"/{self.subresource}" if self.subresource else ""
        return f"{self.verb} {self.resource.qualified}{part}{where}"


def is_allowed(transport: Transport, right: Right) -> bool:
    """Ask the server. A cluster that does not offer reviews raises: not knowing is not a yes."""
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {
            "resourceAttributes": {
                "verb": right.verb,
                "group": right.resource.group,
                "version": right.resource.version,
                "resource": right.resource.plural,
                "namespace": right.namespace,
                "name": right.name,
                **({"subresource": right.subresource} if right.subresource else {}),
            }
        },
    }
    answer = transport.send(Request("POST", _PATH, "post", json.dumps(body).encode()))
    if not answer.ok:
        raise error_from(answer, "cannot ask whether we may", str(right))
    return bool((answer.json().get("status") or {}).get("allowed"))


def who_am_i(transport: Transport) -> str:
    """Only for records that people read: a cluster that does not tell is no reason to stop."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    answer = transport.send(Request("POST", path, "post", json.dumps(body).encode()))
    if not answer.ok:
        return ""
    user = (answer.json().get("status") or {}).get("userInfo") or {}
    return str(user.get("username") or "")
