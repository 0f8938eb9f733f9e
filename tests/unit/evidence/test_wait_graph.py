# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who waits for whom, from an explanation to few nodes, and from these to a picture that nobody can break."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.evidence.graph_svg import figure
from ansible_collections.sunset.kube.plugins.module_utils.evidence.wait_graph import MOST_NODES, wait_graph
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.blockers import explain_blockers
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.target import Target
from ansible_collections.sunset.kube.tests.unit.evidence.test_report_html import EVIL, Reading
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, NAMESPACES, PODS, Told
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    NO_CONTEXTS,
    WEBHOOKS,
    InMemoryCluster,
)

F = "shop.example.com/cleanup"
KNOWN = "finalizer.acme.cert-manager.io"


def going(*, operator: bool = False) -> InMemoryCluster:
    """Namespace shop on its way out."""
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop", deleted=True, labels={"kubernetes.io/metadata.name": "shop"})
    if operator:
        cluster.add(DEPLOYMENTS, "shop-operator", deleted=True, finalizers=["x.example.org/y"], spec={"replicas": 1})
    return cluster


def graph_of(cluster: InMemoryCluster, **target: str) -> dict[str, Any]:
    told = explain_blockers(Target(**(target or {"namespace": "shop"})), cluster, NO_CONTEXTS, Told())
    graph = wait_graph([told])
    assert graph is not None
    return graph


def arcs(graph: Mapping[str, Any], **wanted: Any) -> list[str]:
    """Those arcs as words."""
    titles = [node["title"] for node in graph["nodes"]]
    fitting = [arc for arc in graph["arcs"] if all(arc[key] == value for key, value in wanted.items())]
    return sorted(f"{titles[arc['waits']]} → {titles[arc['on']]}" for arc in fitting)


def node(graph: Mapping[str, Any], title: str) -> dict[str, Any]:
    [found] = [node for node in graph["nodes"] if node["title"] == title]
    return dict(found)


def test_objects_that_wait_alike_are_one_node_with_some_names_and_all_of_them_counted() -> None:
    cluster = going()
    for number in range(9):
        cluster.add(DOMAINS, f"web{number}", deleted=True, finalizers=[F])
    graph = graph_of(cluster)
    assert arcs(graph) == ["9 Domain → nobody knows who", "Namespace shop → 9 Domain"]
    assert node(graph, "9 Domain")["notes"] == ["web0, web1, web2 and 6 more", "in shop"]
    assert graph["left_out"] == 0


def test_a_controller_is_told_with_its_state_and_the_finalizers_that_wait_for_it() -> None:
    cluster = InMemoryCluster()
    cluster.add(DEPLOYMENTS, "shop-operator", "ops", spec={"replicas": 1}, status={"availableReplicas": 1})
    cluster.add(DOMAINS, "web", deleted=True, finalizers=[F, "shop.example.com/other"])
    found = node(graph_of(cluster, kind="domains"), "Deployment ops/shop-operator")
    assert (found["sort"], found["state"]) == ("controller", "alive")
    assert found["notes"] == ["alive", F, "shop.example.com/other"]


def test_every_arrow_of_a_circle_is_marked_and_no_other() -> None:
    cluster = going(operator=True)
    cluster.add(DOMAINS, "web", deleted=True, finalizers=[F])
    graph = graph_of(cluster)
    assert arcs(graph, in_circle=True) == [
        "Deployment shop/shop-operator → Namespace shop",
        "Domain web → Deployment shop/shop-operator",
        "Namespace shop → Domain web",
    ]
    assert arcs(graph, in_circle=False) == [
        "Deployment shop-operator → nobody knows who",
        "Namespace shop → Deployment shop-operator",
    ]
    [cut] = [arc["cut"] for arc in graph["arcs"] if arc["cut"]]
    assert f"name=web finalizers={F}" in cut


def test_a_cut_for_many_is_one_command_and_says_what_it_costs() -> None:
    cluster = InMemoryCluster()
    for name in "ab":
        cluster.add(DOMAINS, name, deleted=True, finalizers=[KNOWN])
    [arc] = graph_of(cluster, kind="domains")["arcs"]
    assert arc["cut"].endswith(f"-a 'kind=domains.ingress.example.com namespace=shop finalizers={KNOWN}'")
    assert arc["cost"] == "without it something stays behind"


def test_what_is_alive_not_known_or_protected_is_never_proposed_for_a_cut() -> None:
    cluster = InMemoryCluster()
    cluster.add(DEPLOYMENTS, "shop-operator", "ops", spec={"replicas": 1}, status={"availableReplicas": 1})
    cluster.add(DOMAINS, "web", deleted=True, finalizers=[F, "who.example.org/x", "kubernetes.io/pvc-protection"])
    assert [arc["cut"] for arc in graph_of(cluster, kind="domains")["arcs"]] == ["", "", ""]


def test_webhooks_and_other_reasons_are_nodes_too() -> None:
    cluster = going()
    cluster.add(CONFIG_MAPS, "guarded")
    cluster.add(PODS, "slow", deleted=True, deletionGracePeriodSeconds=30)
    rule = {"apiGroups": [""], "apiVersions": ["*"], "operations": ["DELETE"], "resources": ["configmaps"]}
    client = {"service": {"namespace": "shop", "name": "guard"}}
    cluster.add(WEBHOOKS, "guard", webhooks=[{"name": "x", "clientConfig": client, "rules": [rule]}])
    graph = graph_of(cluster)
    assert "ConfigMap guarded → Webhook guard" in arcs(graph, in_circle=True)
    assert node(graph, "Webhook guard")["notes"] == ["nobody answers", "Service shop/guard"]
    assert "Pod slow → grace" in arcs(graph)


def test_a_great_graph_is_cut_to_what_can_be_read_and_the_rest_is_counted() -> None:
    cluster = going()
    for number in range(300):
        cluster.add(DOMAINS, f"web{number}", deleted=True, finalizers=[f"f{number}.example.com/x"])
    graph = graph_of(cluster)
    assert len(graph["nodes"]) <= MOST_NODES
    assert len(graph["nodes"]) + graph["left_out"] == 601
    shown = {arc["waits"] for arc in graph["arcs"]}
    objects = [place for place, node in enumerate(graph["nodes"]) if node["sort"] == "object"]
    assert set(objects) <= shown, "who is shown is shown with what he waits for"


def test_where_nothing_waits_there_is_no_graph() -> None:
    cluster = InMemoryCluster()
    cluster.add(DOMAINS, "web")
    assert wait_graph([explain_blockers(Target(kind="domains"), cluster, NO_CONTEXTS, Told())]) is None
    assert wait_graph([]) is None


def test_names_from_the_cluster_cannot_break_the_picture() -> None:
    graph = {
        "nodes": [
            {"sort": "object", "title": EVIL * 4, "notes": [EVIL], "state": ""},
            {"sort": "controller", "title": "x", "notes": ["y" * 300], "state": "gone"},
        ],
        "arcs": [{"waits": 0, "on": 1, "in_circle": True, "cut": EVIL, "cost": EVIL}],
        "left_out": 7,
    }
    text = "".join(figure(graph))
    read = Reading(text)
    assert "script" not in read.tags
    words = " ".join(read.words)
    assert "7 more are not drawn" in words
    assert EVIL in words
    assert max(map(len, read.words)) < 120


def test_both_pictures_have_every_box_and_every_arrow() -> None:
    cluster = going(operator=True)
    cluster.add(DOMAINS, "web", deleted=True, finalizers=[F])
    graph = graph_of(cluster)
    text = "".join(figure(graph))
    assert text.count('<g class="node ') == 2 * len(graph["nodes"])
    assert text.count('<path class="arc ') == 2 * len(graph["arcs"])
    assert text.count('<polygon class="head circle"') == 2 * 3
    assert text.count('<g class="cut">') == 2
