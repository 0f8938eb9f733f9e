# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which webhooks would refuse what because nobody answers behind them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.obstacles.backends import Backends, Service
from ansible_collections.sunset.kube.plugins.module_utils.teardown.obstacles.obstacle import Obstacle
from ansible_collections.sunset.kube.plugins.module_utils.teardown.obstacles.webhooks import (
    Scope,
    is_asked_about,
    judge_configuration,
)
from ansible_collections.sunset.kube.plugins.module_utils.well_known import WEBHOOK_CONFIGURATIONS
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, NAMESPACES, PODS, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, ROLES, WEBHOOKS

Body = dict[str, Any]
SHOP = {"shop": {"team": "a", "kubernetes.io/metadata.name": "shop"}}
ALL: Body = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
SERVICE = {"service": {"namespace": "ops", "name": "guard"}}
OTHER = {"service": {"namespace": "ops", "name": "other"}}


def hook(rule: Body | None = None, **more: Any) -> Body:
    return {"name": "guard.example.com", "clientConfig": SERVICE, "rules": [{**ALL, **(rule or {})}], **more}


def judged(
    *hooks: Body, kinds: tuple[Resource, ...] = (CONFIG_MAPS,), backends: Backends | None = None, versions: str = "v1"
) -> Obstacle | None:
    served = {(kind.group, kind.plural): frozenset(versions.split()) for kind in kinds}
    item = {"metadata": {"name": "guard", "uid": "u"}, "webhooks": list(hooks)}
    return judge_configuration(WEBHOOK_CONFIGURATIONS[0], item, Scope(kinds, SHOP, served), backends or Backends())


# name: (webhook, kind it may intercept, whether it does)
INTERCEPTED: dict[str, tuple[Body, Resource, bool]] = {
    "everything": (hook(), CONFIG_MAPS, True),
    "only deletions": (hook({"operations": ["DELETE"]}), CONFIG_MAPS, True),
    "only updates, and so patches": (hook({"operations": ["UPDATE"]}), CONFIG_MAPS, True),
    "only creations and connections": (hook({"operations": ["CREATE", "CONNECT"]}), CONFIG_MAPS, False),
    "a kind by name": (hook({"resources": ["configmaps"]}), CONFIG_MAPS, True),
    "another kind": (hook({"resources": ["secrets"]}), CONFIG_MAPS, False),
    "every kind and subresource": (hook({"resources": ["*/*"]}), CONFIG_MAPS, True),
    "only a subresource": (hook({"resources": ["pods/status", "pods/*"]}), PODS, False),
    "a subresource of everything": (hook({"resources": ["*/scale"]}), PODS, False),
    "its group": (hook({"apiGroups": [DOMAINS.group]}), DOMAINS, True),
    "the core group": (hook({"apiGroups": [""]}), DOMAINS, False),
    "its namespace by label": (hook(namespaceSelector={"matchLabels": {"team": "a"}}), CONFIG_MAPS, True),
    "another namespace by label": (hook(namespaceSelector={"matchLabels": {"team": "b"}}), CONFIG_MAPS, False),
    "all but its namespace": (
        hook(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]}),
        CONFIG_MAPS,
        False,
    ),
    "namespaces with a label it lacks": (
        hook(namespaceSelector={"matchExpressions": [{"key": "guarded", "operator": "Exists"}]}),
        CONFIG_MAPS,
        False,
    ),
    "a Namespace, by its own labels": (hook(namespaceSelector={"matchLabels": {"team": "b"}}), NAMESPACES, False),
    "an object outside of namespaces": (hook(namespaceSelector={"matchLabels": {"team": "b"}}), ROLES, True),
    "only what is in namespaces": (hook({"scope": "Namespaced"}), ROLES, False),
    "only what is outside of namespaces": (hook({"scope": "Cluster"}), ROLES, True),
    "not what is outside of namespaces": (hook({"scope": "Cluster"}), CONFIG_MAPS, False),
    "one that fails open": (hook(failurePolicy="Ignore"), CONFIG_MAPS, False),
    "one that fails closed": (hook(failurePolicy="Fail"), CONFIG_MAPS, True),
    "never webhook configurations themselves": (hook(), WEBHOOKS, False),
}


@pytest.mark.parametrize(("webhook", "kind", "expected"), named(INTERCEPTED))
def test_a_dead_webhook_is_an_obstacle_to_what_it_intercepts(webhook: Body, kind: Resource, expected: bool) -> None:
    assert (judged(webhook, kinds=(kind,)) is not None) is expected


def test_a_rule_for_another_version_counts_unless_it_wants_exactly_that() -> None:
    old = {"apiVersions": ["v1beta1"]}
    assert judged(hook(old), kinds=(DOMAINS,), versions="v1 v1beta1")
    assert judged(hook(old, matchPolicy="Exact"), kinds=(DOMAINS,), versions="v1 v1beta1") is None
    assert judged(hook({"apiVersions": ["v0"]}), kinds=(DOMAINS,), versions="v1 v1beta1") is None


def backends(ready: int = 0, ports: frozenset[int] = frozenset({443}), external: bool = False) -> Backends:
    return Backends({("ops", "guard"): Service(external, ports)}, {("ops", "guard"): ready})


# name: (client configuration, what is there, reason ("" for none), certain)
BACKENDS: dict[str, tuple[Body, Backends, str, bool]] = {
    "no such Service": (SERVICE, Backends(), "Service ops/guard does not exist", True),
    "a Service without endpoints": (SERVICE, backends(), "Service ops/guard has no ready endpoint", True),
    "a Service that is ready": (SERVICE, backends(1), "", True),
    "a port the Service does not have": (
        {"service": {**SERVICE["service"], "port": 8443}},
        backends(1),
        "Service ops/guard has no port 8443",
        True,
    ),
    "another port that it has": (
        {"service": {**SERVICE["service"], "port": 8443}},
        backends(1, frozenset({8443})),
        "",
        True,
    ),
    "a Service that leads outside": (SERVICE, backends(external=True), "leads out of the cluster", False),
    "a Service nobody lets us see": (SERVICE, Backends(unseen={"ops"}), "may not be looked at", False),
    "a url": ({"url": "https://guard.example.com/"}, Backends(), "guard.example.com/ cannot be tried", False),
}


@pytest.mark.parametrize(("client", "there", "reason", "certain"), named(BACKENDS))
def test_whether_anybody_answers(client: Body, there: Backends, reason: str, certain: bool) -> None:
    found = judged(hook(clientConfig=client), backends=there)
    assert bool(found) is bool(reason)
    if found:
        assert reason in found.why
        assert found.certain is certain


@pytest.mark.parametrize("narrowing", [{"objectSelector": {"matchLabels": {"a": "b"}}}, {"matchConditions": [{}]}])
def test_a_webhook_for_some_objects_only_is_uncertain_and_says_so(narrowing: Body) -> None:
    found = judged(hook(**narrowing))
    assert found
    assert not found.certain
    assert f"may refuse every delete and update of configmaps with a fitting {next(iter(narrowing))}" in found.why


def test_an_obstacle_names_the_configuration_the_reason_and_the_way_out() -> None:
    found = judged(hook(clientConfig={"url": "https://x/"}), hook(clientConfig=SERVICE), hook(clientConfig=OTHER))
    assert found
    assert (found.kind, str(found.ref), found.certain) == ("webhook", "ValidatingWebhookConfiguration guard", True)
    assert found.why == (
        "refuses every delete and update of configmaps: Service ops/guard does not exist; "
        "webhook guard.example.com (and 2 more like it)"
    )
    assert found.services == {("ops", "guard"), ("ops", "other")}
    assert found.suggestion == (
        "bring Service ops/guard, ops/other back, or, if its application is gone: "
        "kubectl delete validatingwebhookconfiguration guard"
    )


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_webhook_that_answers_may_refuse_whatever_happens_when_it_fails(policy: str) -> None:
    item = {"webhooks": [hook({"resources": ["configmaps"]}, failurePolicy=policy)]}
    asked = [is_asked_about(item, Scope([kind], SHOP, {})) for kind in (CONFIG_MAPS, PODS)]
    assert asked == [True, False]
