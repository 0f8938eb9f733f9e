# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is there, also where somebody has put something that only looks like it."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.backups import (
    Began,
    Remarks,
    backup_name,
    new_backup,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.disable import refuse_to_forget
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.locations import page_for
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.scene import (
    Route,
    Unreadable,
    look,
    look_for_held,
)
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef, Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS, cluster_on
from ansible_collections.sunset.kube.tests.unit.maintenance.route_shapes import (
    INGRESS,
    OTHER_PAGE,
    an_ingress,
    path,
    rule,
)

CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps", True, verbs=VERBS)
INGRESSES = Resource("networking.k8s.io", "v1", "Ingress", "ingresses", True, verbs=VERBS)
BACKUP = {"sunset.dev/maintenance": "backup"}
HOLDERS = "sunset.dev/maintenance-holders"


@pytest.fixture
def server() -> FakeServer:
    return FakeServer(CONFIG_MAPS, INGRESSES)


def junk(server: FakeServer, name: str, namespace: str, holder: str = "") -> None:
    annotations = {HOLDERS: holder} if holder else {}
    item = server.add(CONFIG_MAPS, name, namespace, labels=BACKUP, annotations=annotations)
    item["data"] = {"target": "x"}


def test_what_only_looks_like_a_backup_holds_up_nobody(server: FakeServer) -> None:
    target = ObjectRef("networking.k8s.io/v1", "Ingress", "shop", "web", "uid-web")
    made = new_backup(target, [], [], Began(), Remarks(holders=frozenset({"tonight"})))
    item = server.add(CONFIG_MAPS, made["metadata"]["name"], labels=BACKUP, annotations={HOLDERS: "tonight"})
    item["data"] = made["data"]
    junk(server, "junk", "elsewhere")
    held, unreadable = look_for_held("tonight", None, cluster_on(server))
    assert ([backup.target for backup in held], unreadable) == ([target], [])
    junk(server, "more", "elsewhere", "tonight")
    held, unreadable = look_for_held("tonight", None, cluster_on(server))
    assert [backup.target for backup in held] == [target]
    assert ["elsewhere/more" in one.why for one in unreadable] == [True], "it may be his all the same"


@pytest.mark.parametrize(("namespace", "touched"), [("shop", False), ("elsewhere", True)])
def test_a_route_whose_own_backup_cannot_be_read_is_not_touched(
    server: FakeServer, namespace: str, touched: bool
) -> None:
    uid = server.add(INGRESSES, "web", spec={})["metadata"]["uid"]
    junk(server, backup_name(uid), namespace)
    scene = look([INGRESS], None, cluster_on(server))
    assert len(scene.unreadable) == 1
    assert (scene.routes[uid].unreadable is None) is touched
    assert scene.routes[uid].backup is None


def test_a_page_is_not_forgotten_because_nobody_can_read_how_it_was_before() -> None:
    page = {**path("/", ""), "backend": page_for(INGRESS.backends[0].page, OTHER_PAGE, "shop")}
    unreadable = Unreadable(frozenset({"tonight"}), "cannot read the backup")
    closed = Route(INGRESS, INGRESSES, an_ingress(rule("a", page)), unreadable=unreadable)
    assert closed.pages == {OTHER_PAGE}
    with pytest.raises(Refused, match="a page stays"):
        refuse_to_forget([closed], "tonight")
    refuse_to_forget([closed], "somebody else")
    opened = Route(INGRESS, INGRESSES, an_ingress(rule("a", path("/", "shop"))), unreadable=unreadable)
    refuse_to_forget([opened], "tonight")
