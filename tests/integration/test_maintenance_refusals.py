# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be done is said before anything is written, all of it at once."""

from __future__ import annotations

from typing import Any

import pytest

from integration.maintaining import Body, Maintenance, admission, ingress, ingress_route, services_in
from integration.ranked import failed, succeeded
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail

pytestmark = pytest.mark.quick

BIG = "<p>" + "x" * (1024 * 1024) + "</p>"


@pytest.fixture
def shop(maintenance_here: Maintenance) -> Maintenance:
    maintenance_here.api.create(ingress(maintenance_here.namespace))
    return maintenance_here


def versions(maintenance: Maintenance) -> dict[str, str]:
    """Every object of the namespace that a task about maintenance could touch."""
    here = maintenance.namespace
    found = {}
    for root in (
        "/api/v1",
        "/apis/apps/v1",
        "/apis/networking.k8s.io/v1",
        "/apis/policy/v1",
        "/apis/traefik.io/v1alpha1",
    ):
        for plural in ("configmaps", "services", "deployments", "ingresses", "poddisruptionbudgets", "ingressroutes"):
            status, listed = maintenance.api.get(f"{root}/namespaces/{here}/{plural}")
            items = listed["items"] if status == 200 else ()
            found.update({f"{plural}/{one['metadata']['name']}": one["metadata"]["resourceVersion"] for one in items})
    # The cluster's own, which comes to every new namespace when it comes.
    return {name: version for name, version in found.items() if name != "configmaps/kube-root-ca.crt"}


def config_map(namespace: str, name: str, **data: str) -> Body:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        pytest.param({"page": {"config_map": "missing"}}, "the page is not there", id="a page that is not there"),
        pytest.param({"page": {"name": "missing"}}, "maintenance-page-missing", id="a named page that is not there"),
        pytest.param({"page": {"config_map": "odd"}}, "key page.html: it has index.html", id="a page without its key"),
        pytest.param({"page": {"html": BIG}}, "the page is too big", id="a page that no ConfigMap can hold"),
        pytest.param({"page": {"html_file": "/nowhere/page.html"}}, "cannot read page.html_file", id="no such file"),
        pytest.param({"status_code": 200}, "status_code: must be an error", id="a page that looks like success"),
        pytest.param({"plan_hash": "feedface"}, "the plan has changed", id="another plan"),
        pytest.param({"window": {"end": "2020-01-01T00:00:00Z"}}, "the window is over", id="a window that is over"),
        pytest.param({"exempt_paths": ["/.well-known/", "/x"], "targets": None}, "no such route", id="no such route"),
    ],
)
def test_a_task_that_cannot_be_done_writes_nothing(
    shop: Maintenance, audit: AuditTrail, options: dict[str, Any], told: str
) -> None:
    shop.api.create(config_map(shop.namespace, "odd", **{"index.html": "<p>x</p>"}))
    if options.get("targets", ()) is None:
        options = {**options, "targets": [{"namespace": shop.namespace, "name": "nobody"}]}
    before = versions(shop)
    assert told in failed(shop("enabled", **options))
    assert audit.writes("maintainer") == []
    assert versions(shop) == before


def test_routes_that_cannot_show_a_page_are_named_all_at_once(shop: Maintenance, audit: AuditTrail) -> None:
    here = shop.namespace
    through = ingress(here, "through")
    through["metadata"]["annotations"] = {"nginx.ingress.kubernetes.io/ssl-passthrough": "true"}
    operated = ingress(here, "operated")
    operated["metadata"]["annotations"] = {"maintenance-operator.mithucste30.io/enabled": "true"}
    lost = ingress(here, "lost", service="maintenance-0123456789")
    services = [{"name": "db", "port": 5432}]
    tcp = {
        "apiVersion": "traefik.io/v1alpha1",
        "kind": "IngressRouteTCP",
        "metadata": {"name": "tcp", "namespace": here},
        "spec": {"routes": [{"match": "HostSNI(`*`)", "services": services}]},
    }
    shop.api.create(through, operated, lost, tcp)

    message = failed(shop("enabled"))
    assert "no page can be shown for 2 routes" in message
    for name in ("through", "operated"):
        assert f"{here}/{name}" in message
    assert "routes TCP" in failed(shop("enabled", targets=[{"namespace": here, "kind": "IngressRouteTCP"}]))
    message = failed(shop("enabled", targets=[{"namespace": here, "kind": "Ingress", "name": "lost"}]))
    assert "a page is there without a backup" in message
    assert "do not know where this kind keeps" in failed(
        shop("enabled", targets=[{"namespace": here, "kind": "Secret"}])
    )
    assert audit.writes("maintainer") == []


def test_quotas_policies_and_pod_security_are_asked_before_the_first_write(
    shop: Maintenance, audit: AuditTrail
) -> None:
    here = shop.namespace
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "full", "namespace": here},
        "spec": {"hard": {"pods": "0", "services": "0"}},
    }
    shop.api.create(quota)
    message = failed(shop("enabled"))
    assert "exceeded quota" in message
    assert "pods" in message
    assert "services" in message
    shop.api.delete(shop.api.path_of(quota))

    with admission(shop, "false", ingress(here)):
        assert "this one stays as it is" in failed(shop("enabled"))
        assert "this one stays as it is" in failed(shop("enabled", check_mode=True))

    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    assert shop.api.patch(f"/api/v1/namespaces/{here}", label)[0] == 200
    assert succeeded(shop("enabled", check_mode=True))["changed"]
    assert audit.writes("maintainer") == []


def test_check_mode_says_what_would_change_and_changes_no_resource_version(
    shop: Maintenance, audit: AuditTrail
) -> None:
    shop.api.create(ingress_route(shop.namespace))
    before = versions(shop)
    plan = succeeded(shop("enabled", check_mode=True))
    assert plan["changed"]
    assert plan["counts"] == {"targets": 2, "pending": 2}
    assert plan["page_sets"][0]["state"] == "made"
    page = plan["page_sets"][0]["name"]
    assert (plan["diff"]["before"].count("shop"), plan["diff"]["after"].count(page)) == (4, 4)
    again = succeeded(shop("enabled", check_mode=True))
    assert again["plan_hash"] == plan["plan_hash"]
    assert not succeeded(shop("disabled", check_mode=True))["changed"]
    assert versions(shop) == before
    assert audit.writes("maintainer") == []
    assert "max_objects is 1" in failed(shop("enabled", max_objects=1, plan_hash=plan["plan_hash"]))


INGRESSES = {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": ["get", "list", "patch"]}
CONFIG = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "create", "patch", "delete"]}


def test_every_missing_right_is_named_before_the_first_write(
    shop: Maintenance, audit: AuditTrail, as_user: AsUser
) -> None:
    user = as_user("halfway", [INGRESSES, CONFIG], shop.namespace)
    only = [{"namespace": shop.namespace, "kind": "Ingress"}]
    message = failed(shop.run(user.kubeconfig, state="enabled", targets=only))
    for right in ("create deployments.apps", "patch deployments.apps", "create services", "delete services"):
        assert right in message
    assert "configmaps" not in message
    assert audit.writes("halfway") == []

    blind = failed(shop.run(user.kubeconfig, state="enabled"))
    assert "ingressroutes" in blind  # with no kind given, IngressRoutes would have to be seen, too
    assert services_in(shop.live(ingress(shop.namespace))) == {"shop"}
