# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources of ours beside a running operator, as a person meets them: created, changed, looked at, deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.source import DEFAULT_IMAGE
from integration.glue import Body, conditions, request
from lab.node import images
from lab.node.node import Node
from lab.operator.pod import Operator
from lab.waiting import until

HOME = Operator.namespace
# Seconds: several runs, on a machine that has other things to do.
PATIENCE = 240.0


def offer_page_image(node: Node) -> None:
    """The public image that serves pages where nobody names another: the node has one of that name."""
    if DEFAULT_IMAGE not in node.images():
        node.load_image(images.nginx(DEFAULT_IMAGE))


class InCluster:
    """Resources of ours, as they are after a while."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.api = operator.plane.api

    def ask(self, kind: str, name: str, /, namespace: str = HOME, **spec: Any) -> Body:
        [made] = self.api.create(request(kind, name, namespace, **spec))
        return made

    def status(self, item: Mapping[str, Any]) -> Body:
        """Empty where it has none, and where the resource is gone."""
        code, found = self.api.get(self.api.path_of(item))
        return found.get("status") or {} if code == 200 else {}

    def until(self, item: Mapping[str, Any], type_: str) -> Body:
        """Its status, once that condition is true."""

        def seen() -> Body | None:
            status = self.status(item)
            return status if type_ in conditions(status) else None

        try:
            return until(seen, f"{item['kind']} {item['metadata']['name']} to be {type_}", timeout=PATIENCE, every=0.25)
        except Exception as problem:
            raise AssertionError(f"{problem}\n{self.status(item)}\n{self.operator.logs('--tail=60')}") from problem

    def change(self, item: Mapping[str, Any], **spec: Any) -> None:
        code, answer = self.api.patch(self.api.path_of(item), {"spec": spec})
        assert code == 200, answer

    def remove(self, item: Mapping[str, Any]) -> None:
        path = self.api.path_of(item)
        self.api.delete(path)
        until(lambda: self.api.get(path)[0] == 404, f"{path} to go", timeout=PATIENCE, every=0.25)
