# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a backup may hold: what a swap makes, and nothing else. Signed, where there is a key."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.backup_key import BackupKey
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.backups import (
    Began,
    Remarks,
    grown,
    new_backup,
    read_backup,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.changes import Change, Role
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.checked_backup import why_not_ours
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.claims import services_in
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.middlewares import Middlewares
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import RouteKind
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, swap
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef
from ansible_collections.sunset.kube.plugins.module_utils.pointers import ABSENT
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.maintenance.route_shapes import (
    HTTP_ROUTE,
    INGRESS,
    INGRESS_ROUTE,
    ISTIO,
    OPENSHIFT,
    PAGE,
    a_route,
    an_ingress,
    an_ingress_route,
    patched,
    path,
    rule,
    swapped,
    traefik_entry,
)

ITEM = an_ingress(rule("h", path("/", "web")))
_BEHIND, (BACKEND,), _DONE = swapped(ITEM, INGRESS)
VIRTUAL = a_route({"hosts": ["h"], "http": [{"route": [{"destination": {"host": "web"}}], "mirror": {"host": "m"}}]})
_BEHIND, ISTIO_CHANGES, _DONE = swapped(VIRTUAL, ISTIO)
MIRROR = ISTIO_CHANGES[1]
REENCRYPT = Change(Role.BESIDE, "", "/spec/tls/termination", "/spec/tls/termination", "reencrypt", "edge")
SNIPPET = "nginx.ingress.kubernetes.io/server-snippet"
ANNOTATION = Change(
    Role.ANNOTATION, SNIPPET, "", "/metadata/annotations/nginx.ingress.kubernetes.io~1server-snippet", "x", ABSENT
)
ADDED = Change(
    Role.ADDED,
    BACKEND.identity,
    "/spec/rules/{0}/http/paths",
    "/spec/rules/0/http/paths/-",
    ABSENT,
    {"path": "/open", "pathType": "Prefix", "backend": BACKEND.before},
)
IN_FRONT = Change(Role.IN_FRONT, "", "IngressRoute.traefik.io", "maintenance-overlay-u-1")


def with_(change: Change, **values: Any) -> Change:
    return dataclasses.replace(change, **values)


OURS: dict[str, tuple[RouteKind, Change]] = {
    "a backend": (INGRESS, BACKEND),
    "a mirror": (ISTIO, MIRROR),
    "a kind of TLS": (OPENSHIFT, REENCRYPT),
    "an annotation": (INGRESS, ANNOTATION),
    "an entry for an exempt path": (INGRESS, ADDED),
    "an overlay": (INGRESS, IN_FRONT),
}


@pytest.mark.parametrize(("kind", "change"), named(OURS))
def test_what_a_page_changes_is_ours(kind: RouteKind, change: Change) -> None:
    assert why_not_ours([BACKEND, change] if kind is INGRESS else [change], kind, "shop", "u-1") == ""


FORGED: dict[str, tuple[RouteKind, Change]] = {
    "a place outside of the table": (INGRESS, with_(BACKEND, pattern="/spec/rules/*/host")),
    "a pointer elsewhere": (INGRESS, with_(BACKEND, pointer="/spec/rules/0/host")),
    "an entry that no list has": (INGRESS, with_(BACKEND, pointer="/spec/rules/999999999/http/paths/0/backend")),
    "a number without end": (INGRESS, with_(BACKEND, pointer=f"/spec/rules/{'9' * 5000}/http/paths/0/backend")),
    "an identity that is none": (INGRESS, with_(BACKEND, identity="x")),
    "an identity of another place": (INGRESS, with_(BACKEND, identity='["/spec/defaultBackend"]')),
    "an identity that is too deep": (INGRESS, with_(BACKEND, identity="[" * 100_000)),
    "another page than ours": (INGRESS, with_(BACKEND, after={"service": {"name": "mine", "port": {"number": 80}}})),
    "more than a page": (INGRESS, with_(BACKEND, after={**BACKEND.after, "resource": {}})),
    "a page as what stood there": (INGRESS, with_(BACKEND, before=BACKEND.after)),
    "nothing as what stood there": (INGRESS, with_(BACKEND, before=ABSENT)),
    "a mirror of the whole route": (ISTIO, with_(MIRROR, identity="")),
    "something else beside": (ISTIO, with_(MIRROR, pattern="/spec/http/{0}/headers", pointer="/spec/http/0/headers")),
    "hosts": (ISTIO, with_(MIRROR, identity="", pattern="/spec/hosts", pointer="/spec/hosts")),
    "a label": (ISTIO, with_(MIRROR, identity="", pattern="/metadata/labels", pointer="/metadata/labels")),
    "a mirror that is something else meanwhile": (ISTIO, with_(MIRROR, after={"host": "other"})),
    "TLS that we leave alone": (OPENSHIFT, with_(REENCRYPT, before="passthrough")),
    "an annotation of others": (
        INGRESS,
        with_(ANNOTATION, identity="team", pointer="/metadata/annotations/team"),
    ),
    "an annotation that we refuse": (
        INGRESS,
        with_(
            ANNOTATION,
            identity="nginx.ingress.kubernetes.io/ssl-passthrough",
            pointer="/metadata/annotations/nginx.ingress.kubernetes.io~1ssl-passthrough",
        ),
    ),
    "an annotation at another place": (INGRESS, with_(ANNOTATION, pointer="/metadata/labels/x")),
    "an annotation that is no text": (INGRESS, with_(ANNOTATION, before={"a": 1})),
    "an annotation that is on meanwhile": (INGRESS, with_(ANNOTATION, after="x")),
    "any entry": (INGRESS, with_(ADDED, after={})),
    "any entry with that backend": (INGRESS, with_(ADDED, after={"backend": BACKEND.before})),
    "an entry of another backend": (INGRESS, with_(ADDED, after=path("/open", "other"))),
    "an entry of another list": (INGRESS, with_(ADDED, pattern="/spec/rules", pointer="/spec/rules/-")),
    "an entry that stood there": (INGRESS, with_(ADDED, before={"path": "/"})),
    "an overlay of another route": (INGRESS, with_(IN_FRONT, pointer="maintenance-overlay-u-2")),
    "an overlay of another kind": (INGRESS, with_(IN_FRONT, pattern="Secret")),
}


@pytest.mark.parametrize(("kind", "change"), named(FORGED))
def test_what_no_page_changes_is_not_ours(kind: RouteKind, change: Change) -> None:
    known = [BACKEND] if kind is INGRESS else []
    assert why_not_ours([*known, change], kind, "shop", "u-1").startswith(change.role.value)


def test_middlewares_that_were_taken_out_are_ours() -> None:
    entry = traefik_entry("Host(`h`)", "web", middlewares=[{"name": "login"}, {"name": "https"}])
    known = Middlewares({("shop", "login"): {"basicAuth": {}}, ("shop", "https"): {"redirectScheme": {}}})
    done = swap(an_ingress_route(entry), INGRESS_ROUTE, Selection(), PAGE, (), known)
    assert [change.role for change in done.changes] == [Role.BACKEND, Role.BESIDE]
    assert why_not_ours(done.changes, INGRESS_ROUTE, "shop", "u-1") == ""


def test_services_of_a_recorded_backend_are_read_without_its_place() -> None:
    refs = [{"name": "web", "port": 80}, {"name": "far", "namespace": "other", "port": 80}]
    pattern = "/spec/rules/*/backendRefs"
    change = Change(Role.BACKEND, "", pattern, "/spec/rules/999999999/backendRefs", refs)
    assert [str(one) for one in services_in(change, HTTP_ROUTE, "shop")] == ["Service shop/web", "Service other/far"]


# -- signatures ----------------------------------------------------------------------------------------------------

KEY = BackupKey(b"k" * 32, "sunset-system/key")
TARGET = ObjectRef("networking.k8s.io/v1", "Ingress", "shop", "web", "u-1")


def signed() -> dict[str, Any]:
    item = new_backup(TARGET, [BACKEND], [], Began("2026-01-01T00:00:00Z", "me"), Remarks(), KEY)
    item["metadata"].update(uid="b-1", resourceVersion="5")
    return item


def test_a_signed_backup_is_read_and_grows() -> None:
    item = signed()
    backup = read_backup(item, KEY)
    item = patched(item, grown(backup, [ANNOTATION], [], Remarks(reason="CHG-7"), KEY))
    assert read_backup(item, KEY).changes == [BACKEND, ANNOTATION]
    # Until when, why and for whom may change: they restore nothing.
    item = patched(item, grown(read_backup(item, KEY), [], [], Remarks(reason="later")))
    assert read_backup(item, KEY).reason == "later"


def _another_value(item: dict[str, Any]) -> None:
    lie = json.loads(item["data"]["0000"])
    lie["before"]["service"]["name"] = "elsewhere"
    item["data"]["0000"] = json.dumps(lie)


def _of_another_route(item: dict[str, Any]) -> None:
    item["data"]["target"] = item["data"]["target"].replace("u-1", "u-2")
    item["metadata"]["name"] = "maintenance-backup-u-2"


TAMPERED: dict[str, Any] = {
    "another value": _another_value,
    "one more entry": lambda item: item["data"].update({"0001": json.dumps(ANNOTATION.as_dict())}),
    "one less entry": lambda item: item["data"].pop("0000"),
    "a pause": lambda item: item["data"].update({"paused-0": "{}"}),
    "no signature": lambda item: item["data"].pop("hmac"),
    "a signature that is no text": lambda item: item["data"].update(hmac="é"),
    "another route": _of_another_route,
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_backup_that_was_changed_is_not_trusted(case: str) -> None:
    item = signed()
    TAMPERED[case](item)
    with pytest.raises(Refused, match="ConfigMap shop/maintenance-backup-u-"):
        read_backup(item, KEY)


def test_a_backup_is_not_trusted_in_another_namespace_nor_by_another_key() -> None:
    item = signed()
    with pytest.raises(Refused, match="not signed with the key of Secret sunset-system/other"):
        read_backup(item, BackupKey(b"o" * 32, "sunset-system/other"))
    item["metadata"]["namespace"] = "other"
    item["data"]["target"] = item["data"]["target"].replace('"shop"', '"other"')
    with pytest.raises(Refused, match="is not trusted"):
        read_backup(item, KEY)
    assert "kkkk" not in repr(KEY)
