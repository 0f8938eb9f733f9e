# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each node was before a policy, kept in the cluster: one ConfigMap a policy and node.

Room: network. Private to the collection. Written before the policy is applied, completed before it is taken back:
the handlers' enactments are gone as soon as a policy is off its nodes, so nothing else tells a run that goes on after
a crash what there is to undo.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...events import Did, Tell
from ...objects import ObjectRef, Record, record_of, ref_to
from ...problems import CannotLook, Refused
from ...well_known import CONFIG_MAPS
from .kinds import FOR_POLICY

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

LABEL = "sunset.dev/nncp-record"
NODE = "sunset.dev/node"  # an annotation: names of nodes may be longer than labels
KEY = "record.json"
SCHEMA = 1


@dataclass(frozen=True)
class NodeRecord:
    node: str
    pre: Mapping[str, Any]
    recorded_at: str
    made_up: bool = False  # nobody recorded it in time: `pre` is how the node would be without the policy
    desired: Mapping[str, Any] | None = None  # what the policy wanted of this node, once that is being taken back

    def as_text(self) -> str:
        content = {"schema": SCHEMA, **self.__dict__}
        return json.dumps(content, sort_keys=True)


@dataclass
class Records:
    """Those of one policy, in one namespace."""

    policy: str
    namespace: str
    found: dict[str, tuple[Record, NodeRecord]]

    def of(self, node: str) -> NodeRecord | None:
        return self.found[node][1] if node in self.found else None

    def write(self, one: NodeRecord, cluster: Cluster, tell: Tell, *, dry_run: bool = False) -> bool:
        """Whether anything had to be written."""
        known = self.found.get(one.node)
        if known and known[1] == one:
            return False
        item = self._item(one)
        if known:
            written = cluster.merge_patch(CONFIG_MAPS, known[0], item, dry_run=dry_run)
        else:
            written = cluster.create(CONFIG_MAPS, self.namespace, item, dry_run=dry_run)
        name = item["metadata"]["name"]
        ref = ObjectRef("v1", "ConfigMap", self.namespace, name, written.record.uid if written.record else "")
        tell(Did("record", ref, written.effect.value, detail=one.node, dry_run=dry_run))
        if written.problem:
            raise written.problem
        if written.effect.value != "done" or written.record is None:
            raise Refused(
                "cannot record the state of",
                which=f"node {one.node}",
                why=f"somebody has written or removed ConfigMap {self.namespace}/{name} meanwhile",
                next_step="look at it, and run the same task again",
            )
        if not dry_run:
            self.found[one.node] = (written.record, one)
        return True

    def drop(self, nodes: Iterable[str], cluster: Cluster, tell: Tell) -> None:
        for node in nodes:
            record, _one = self.found.pop(node)
            written = cluster.delete(CONFIG_MAPS, record)
            tell(Did("forget", ref_to(CONFIG_MAPS, record), written.effect.value))
            if written.problem:
                raise written.problem

    def _item(self, one: NodeRecord) -> dict[str, Any]:
        metadata = {
            "name": name_of(self.policy, one.node),
            "labels": {LABEL: "true", FOR_POLICY: self.policy},
            "annotations": {NODE: one.node},
        }
        return {"metadata": metadata, "data": {KEY: one.as_text()}}


def name_of(policy: str, node: str) -> str:
    return f"sunset-nncp-{hashlib.sha256(f'{policy}/{node}'.encode()).hexdigest()[:16]}"


def read_records(policy: str, namespace: str, cluster: Cluster) -> Records:
    found: dict[str, tuple[Record, NodeRecord]] = {}
    for item in cluster.list_whole(CONFIG_MAPS, namespace, f"{LABEL}=true,{FOR_POLICY}={policy}"):
        one = _read(item)
        found[one.node] = (record_of(item["metadata"]), one)
    return Records(policy, namespace, found)


def _read(item: Mapping[str, Any]) -> NodeRecord:
    try:
        content = json.loads((item.get("data") or {})[KEY])
        if content.pop("schema") != SCHEMA:
            raise ValueError("it was written by another version")
        return NodeRecord(**content)
    except (KeyError, TypeError, ValueError) as problem:
        place = f"{item['metadata'].get('namespace')}/{item['metadata'].get('name')}"
        raise CannotLook(
            "cannot read the record",
            which=f"ConfigMap {place}",
            why=str(problem),
            next_step="mend or delete it; without it, only mode: delete is left for that node",
        ) from problem
