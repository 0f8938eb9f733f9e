# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""api_server and node_ready: the cluster as this node sees it.

Room: network (probes). api_server: any HTTP answer over a new connection counts, also 401 or 503, for it crossed the
network; with a kubeconfig the certificate is checked. node_ready: Ready alone proves nothing right after a change, as
the control plane notices a lost node only after some 40 s, so a heartbeat must arrive which was not there after it.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Mapping
from typing import Any

from ...paths import condition_of, value_at
from .attempt import Attempt, Failed, OpenApi, Success
from .targets import Page, api
from .web import exchange, unchecked

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


def api_server(attempt: Attempt) -> Success:
    probe = attempt.probe
    if not probe.target and attempt.api:
        status, _content = _get(attempt, attempt.api, "/readyz")
        return Success(f"answer {status}")
    target = probe.target or attempt.surroundings.api_server
    if not target:
        raise Failed("no address of the API server is known")
    wanted = api(target)
    status, _body = exchange(wanted, probe.family, attempt.deadline, tls=unchecked() if wanted.tls else None)
    return Success(f"answer {status}" if probe.target else f"{wanted.authority} answers {status}")


def node_ready(attempt: Attempt) -> Success:
    name = attempt.probe.target or attempt.surroundings.node_name
    if attempt.api is None:
        raise Failed("no kubeconfig to ask with")
    quoted = urllib.parse.quote(name, safe="")
    status, node = _get(attempt, attempt.api, f"/api/v1/nodes/{quoted}")
    if status != 200:
        raise Failed(f"the API server answers {status} for Node {name}")
    lease_status, lease = _get(attempt, attempt.api, f"{_LEASES}/{quoted}")
    ready = condition_of(node, "Ready") or {}
    heartbeat = heartbeat_of(ready, lease if lease_status == 200 else {})
    if ready.get("status") != "True":
        raise Failed(f"Node {name} is not Ready ({ready.get('reason') or 'no condition'})", heartbeat)
    if attempt.earlier is not None and not attempt.earlier.mark:
        raise Failed(f"Node {name} is Ready, waiting for a heartbeat newer than the change", heartbeat)
    if attempt.earlier is not None and attempt.earlier.mark == heartbeat:
        raise Failed(f"Node {name} is Ready, but no heartbeat since the change (last {heartbeat})", heartbeat)
    return Success(f"Node {name} is Ready, heartbeat {heartbeat or 'unknown'}", heartbeat)


def heartbeat_of(ready: Mapping[str, Any], lease: Mapping[str, Any]) -> str:
    """The kubelet renews its lease every 10 s; the condition, without a change, only every 5 minutes.

    Compared for being another one, never by age: the clocks of node and server need not agree.
    """
    return str(value_at(lease, "spec.renewTime") or ready.get("lastHeartbeatTime") or "")


def _get(attempt: Attempt, open_api: OpenApi, path: str) -> tuple[int, dict[str, Any]]:
    endpoint = open_api()
    if endpoint.proxy:
        raise Failed(f"{endpoint.authority} is behind a proxy, which probes do not use")
    status, body = exchange(
        Page(endpoint.host, endpoint.port, endpoint.tls is not None, endpoint.base_path + path),
        attempt.probe.family,
        attempt.deadline,
        tls=endpoint.tls,
        server_name=endpoint.server_name or "",
        headers={"Accept": "application/json", **dict(endpoint.headers)},
    )
    try:
        content = json.loads(body)
    except ValueError:
        content = {}
    return status, content if isinstance(content, dict) else {}
