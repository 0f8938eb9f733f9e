# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes a test's namespace without the namespace controller, where nothing is left in it.

The controller asks the API server for each kind three times, about a hundred requests a namespace and an eighth of the
CPU time of all tests. etcd tells in one request that nothing is left.
"""

from __future__ import annotations

import base64
import http.client
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.plane.controlplane import ControlPlane

# What the control plane puts into every namespace, and would put there again while it is Active.
BY_ITSELF = {"serviceaccounts/default", "configmaps/kube-root-ca.crt"}


def delete_namespace(plane: ControlPlane, name: str) -> None:
    """Delete a namespace without waiting for it to be gone. An empty one is gone at once."""
    path = f"/api/v1/namespaces/{name}"
    status, namespace = plane.api.delete(path)
    if status != 200:
        return
    # Nothing can be created in it any more.
    objects = _objects(plane, name)
    events = {one for one in objects if one.startswith("events/")}
    if objects - events - BY_ITSELF:
        return
    for one in BY_ITSELF | ({"events"} if events else set()):
        plane.api.delete(f"{path}/{one}")
    # A namespace that has metadata.finalizers, too, stays for those who remove them.
    plane.api.put(f"{path}/finalize", {**namespace, "spec": {"finalizers": []}})


def _objects(plane: ControlPlane, namespace: str) -> set[str]:
    """Resource and name of each object in the namespace."""
    within = f"/{namespace}/"
    keys = [base64.b64decode(found["key"]).decode() for found in _everything(plane)]
    return {key.removeprefix("/registry/").replace(within, "/", 1) for key in keys if within in key}


def _everything(plane: ControlPlane) -> list[dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", plane.layout.ports.etcd, timeout=60)
    first, end = (base64.b64encode(key).decode() for key in (b"/registry/", b"/registry0"))
    try:
        connection.request("POST", "/v3/kv/range", json.dumps({"key": first, "range_end": end, "keys_only": True}))
        found: list[dict[str, str]] = json.loads(connection.getresponse().read()).get("kvs") or []
        return found
    finally:
        connection.close()
