# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The community's maintenance-operator, played: `kopf run --standalone --namespace NAMESPACE maintenance_operator.py`.

Written after the behaviour of its version 2.0.5 and with the packages it pins, faults included:

- A backup is named after the route alone, so an Ingress and an IngressRoute of one name overwrite each other's.
- The backup and the page are made before the route is patched. A patch that is refused leaves both.
- A rule with a host and nothing else gets an empty list of paths, which the API server refuses.
- With rules, `defaultBackend` is not swapped.
- A merge patch without a key does not remove the key, so its marks stay on the route when the page is gone.
- A route whose marks stayed counts as in maintenance already, and is not put behind a page again.
- Names of annotations, the value of the flag and the prefix of backups come from the environment; `service-name` and
  `used-by` do not.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import kopf
from kubernetes import client, config

PREFIX = "maintenance-operator.mithucste30.io/"
FLAG = os.environ.get("MAINTENANCE_ANNOTATION", PREFIX + "enabled")
FLAG_VALUE = os.environ.get("MAINTENANCE_ANNOTATION_VALUE", "true")
MARKER = os.environ.get("BACKUP_ANNOTATION", PREFIX + "original-service")
CUSTOM_PAGE = os.environ.get("CUSTOM_PAGE_ANNOTATION", PREFIX + "custom-page")
BACKUPS = os.environ.get("BACKUP_CONFIGMAP_PREFIX", "maintenance-backup")
SERVICE, USED_BY = PREFIX + "service-name", PREFIX + "used-by"
PORT = 80

config.load_kube_config()
core, networking, custom = client.CoreV1Api(), client.NetworkingV1Api(), client.CustomObjectsApi()


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_kwargs: Any) -> None:
    settings.persistence.finalizer = PREFIX + "finalizer"


# -- what is done to both kinds --------------------------------------------------------------------------------------


@kopf.on.create("networking.k8s.io", "v1", "ingresses")
@kopf.on.update("networking.k8s.io", "v1", "ingresses")
def ingress_changed(spec: Any, name: str, namespace: str, annotations: Any, **_kwargs: Any) -> None:
    follow(dict(spec), name, namespace, dict(annotations), IngressKind())


@kopf.on.create("traefik.io", "v1alpha1", "ingressroutes")
@kopf.on.update("traefik.io", "v1alpha1", "ingressroutes")
def ingress_route_changed(spec: Any, name: str, namespace: str, annotations: Any, **_kwargs: Any) -> None:
    follow(dict(spec), name, namespace, dict(annotations), IngressRouteKind())


def follow(spec: dict, name: str, namespace: str, annotations: dict, kind: IngressKind | IngressRouteKind) -> None:
    flagged, marked = annotations.get(FLAG) == FLAG_VALUE, MARKER in annotations
    if flagged and not marked:
        keep_backup(name, namespace, kind.backup(spec))
        service = make_page(namespace, name, annotations.get(CUSTOM_PAGE, "").strip())
        marks = {**annotations, MARKER: "true", SERVICE: service}
        kind.patch(name, namespace, {"metadata": {"annotations": marks}, "spec": kind.behind_page(spec, service)})
    elif marked and not flagged:
        backup = read_backup(name, namespace)
        if backup is not None:
            # What is left out of a merge patch stays.
            left = {key: value for key, value in annotations.items() if key not in (MARKER, SERVICE)}
            kind.patch(name, namespace, {"metadata": {"annotations": left}, "spec": kind.restored(backup)})
            ignoring(404, core.delete_namespaced_config_map, f"{BACKUPS}-{name}", namespace)
            release_page(namespace, name, annotations.get(SERVICE, ""))


class IngressKind:
    def backup(self, spec: dict) -> dict:
        return {"rules": spec.get("rules", []), "defaultBackend": spec.get("defaultBackend")}

    def behind_page(self, spec: dict, service: str) -> dict:
        backend = {"service": {"name": service, "port": {"number": PORT}}}
        rules = []
        for rule in spec.get("rules") or ():
            paths = [{**path, "backend": backend} for path in (rule.get("http") or {}).get("paths", ())]
            rules.append({**rule, "http": {"paths": paths}})
        if not rules:
            return {"rules": spec.get("rules"), "defaultBackend": backend}
        return {"rules": rules, "defaultBackend": spec.get("defaultBackend")}

    def restored(self, backup: dict) -> dict:
        return {"rules": backup.get("rules", []), "defaultBackend": backup.get("defaultBackend")}

    def patch(self, name: str, namespace: str, body: dict) -> None:
        networking.patch_namespaced_ingress(name, namespace, body)  # a strategic merge patch


class IngressRouteKind:
    def backup(self, spec: dict) -> dict:
        return {"routes": spec.get("routes", [])}

    def behind_page(self, spec: dict, service: str) -> dict:
        page = [{"name": service, "port": PORT}]
        return {"routes": [{**route, "services": page} for route in spec.get("routes") or ()]}

    def restored(self, backup: dict) -> dict:
        return {"routes": backup.get("routes", [])}

    def patch(self, name: str, namespace: str, body: dict) -> None:
        custom.patch_namespaced_custom_object("traefik.io", "v1alpha1", namespace, "ingressroutes", name, body)


# -- backups ---------------------------------------------------------------------------------------------------------


def keep_backup(name: str, namespace: str, backup: dict) -> None:
    place = f"{BACKUPS}-{name}"
    labels = {"app": "maintenance-operator", "backup-for": name}
    item = {"metadata": {"name": place, "namespace": namespace, "labels": labels}, "data": {"backup": dumps(backup)}}
    if not ignoring(409, core.create_namespaced_config_map, namespace, item):
        core.patch_namespaced_config_map(place, namespace, item)


def dumps(value: Any) -> str:
    return json.dumps(value, default=dict)  # kopf's views of an object are no dictionaries


def read_backup(name: str, namespace: str) -> Any:
    found = ignoring(404, core.read_namespaced_config_map, f"{BACKUPS}-{name}", namespace)
    return json.loads(found.data.get("backup", "{}")) if found else None


# -- pages -----------------------------------------------------------------------------------------------------------


def make_page(namespace: str, user: str, custom_page: str) -> str:
    """One ConfigMap, one Pod and one Service for each content; the ConfigMap counts its users."""
    html = f"<html><body><h1>Site Under Maintenance</h1><!-- {custom_page or 'default'} --></body></html>"
    digest = hashlib.sha256(html.encode()).hexdigest()[:8]
    name = f"maintenance-{digest}"
    labels = {"app": "maintenance-page", "managed-by": "maintenance-operator", "content-hash": digest}
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    known = ignoring(404, core.read_namespaced_config_map, name, namespace)
    if known is None:
        marks = {PREFIX + "custom-page": custom_page or "default", USED_BY: user}
        item = {"metadata": {**metadata, "annotations": marks}, "data": {"index.html": html}}
        core.create_namespaced_config_map(namespace, item)
    else:
        count(name, namespace, [*(one for one in users_of(known) if one != user), user])
    mount = {"name": "html", "mountPath": "/usr/share/nginx/html", "readOnly": True}
    container = {"name": "nginx", "image": "nginx:alpine", "ports": [{"containerPort": 80}], "volumeMounts": [mount]}
    volume = {"name": "html", "configMap": {"name": name}}
    pod = {"metadata": metadata, "spec": {"containers": [container], "volumes": [volume]}}
    ignoring(409, core.create_namespaced_pod, namespace, pod)
    ports = [{"name": "http", "port": PORT, "targetPort": 80}]
    service = {"metadata": metadata, "spec": {"type": "ClusterIP", "selector": labels, "ports": ports}}
    ignoring(409, core.create_namespaced_service, namespace, service)
    return name


def release_page(namespace: str, user: str, name: str) -> None:
    known = ignoring(404, core.read_namespaced_config_map, name, namespace) if name else None
    if known is None:
        return
    left = [one for one in users_of(known) if one != user]
    if left:
        count(name, namespace, left)
        return
    for delete in (core.delete_namespaced_pod, core.delete_namespaced_service, core.delete_namespaced_config_map):
        ignoring(404, delete, name, namespace)


def users_of(page: Any) -> list[str]:
    return [one for one in (page.metadata.annotations or {}).get(USED_BY, "").split(",") if one]


def count(name: str, namespace: str, users: list[str]) -> None:
    core.patch_namespaced_config_map(name, namespace, {"metadata": {"annotations": {USED_BY: ",".join(users)}}})


def ignoring(status: int, call: Any, *arguments: Any) -> Any:
    """What the API server answers, or None where it answers with this status."""
    try:
        return call(*arguments)
    except client.ApiException as problem:
        if problem.status != status:
            raise
        return None
