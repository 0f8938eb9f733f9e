# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Things that somebody else broke: webhooks, converters and API groups with nobody behind them."""

from __future__ import annotations

import secrets
from typing import Any

from integration.ranked import define
from integration.stage import Body, Stage, body, crd
from lab.waiting import until

WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


def dead_webhook(stage: Stage, resource: str, *operations: str, group: str = "", **more: Any) -> Body:
    """Asks Service `guard` of the test's namespace, which does not exist, about every such request there."""
    here = stage.namespace
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": list(operations), "resources": [resource]}
    hook = {
        "name": "guard.example.com",
        "clientConfig": {"service": {"namespace": here, "name": "guard"}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 2,
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": here}},
        **more,
    }
    name = f"guard-{here}"
    stage.afterwards(lambda: stage.api.delete(f"{WEBHOOKS}/{name}"))  # or the stage could not be cleared
    [made] = stage.put(
        body("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", name, "", webhooks=[hook])
    )
    return made


def is_refused(stage: Stage, thing: Body, operation: str = "DELETE") -> bool:
    """Whether the API server would delete or change it, but for a webhook."""
    path, touched = stage.api.path_of(thing), {"metadata": {"annotations": {"touched": "yes"}}}
    asked = {
        "DELETE": lambda: stage.api.delete(path, dryRun="All"),
        "UPDATE": lambda: stage.api.patch(path, touched, dryRun="All"),
    }
    status, answer = asked[operation]()
    return status == 500 and "failed calling webhook" in answer["message"]


def somebody_answers(stage: Stage, name: str = "guard", *, ready: bool = True) -> None:
    """A Service without a selector, and an endpoint that says whether it is ready."""
    here = stage.namespace
    endpoint = {"addresses": ["198.18.0.250"], "conditions": {"ready": ready}}
    slice_of = {"addressType": "IPv4", "endpoints": [endpoint], "ports": [{"port": 443, "name": "https"}]}
    labels = {"kubernetes.io/service-name": name}
    stage.put(body("v1", "Service", name, here, spec={"ports": [{"port": 443, "name": "https"}]}))
    stage.put(body("discovery.k8s.io/v1", "EndpointSlice", f"{name}-1", here, labels=labels, **slice_of))


def dead_converter(stage: Stage) -> tuple[Body, Body]:
    """A definition whose one object is stored in a version that is not the preferred one, and nobody converts."""
    definition = crd("Gizmo", f"{secrets.token_hex(4)}.example.com")
    for version in definition["spec"]["versions"]:
        version["storage"] = version["name"] == "v1beta1"
    made = define(stage, definition)
    spec, path = made["spec"], stage.api.path_of(made)
    thing = body(f"{spec['group']}/v1beta1", "Gizmo", "stored", stage.namespace)
    [stored] = stage.put(thing)
    client = {"service": {"namespace": stage.namespace, "name": "convert"}}
    hook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    assert stage.api.patch(path, {"spec": {"conversion": {"strategy": "Webhook", "webhook": hook}}})[0] == 200
    none = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
    stage.afterwards(lambda: stage.api.patch(path, none))
    everything = f"/apis/{spec['group']}/v1/gizmos"
    until(lambda: stage.api.get(everything, limit=1)[0] == 500, "the conversion to fail", every=0.05)
    return made, stored
