# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admission policies of ours and their bindings: put in place, tried, compared, taken away, and probed.

Shared by every room and private to the collection. What they say is the business of the freeze and of the guards. Ours
carry a label; others of the same name are never touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .clock import Clock
from .events import Did, Tell
from .objects import ObjectRef, Record, Resource, ref_to
from .paths import covers
from .problems import CannotLook, Refused
from .well_known import CONFIG_MAPS

if TYPE_CHECKING:
    from .kube.answers import ApiError
    from .kube.cluster import Cluster
    from .kube.writes import Written

GROUP = "admissionregistration.k8s.io"
NAMESPACE_NAME = "kubernetes.io/metadata.name"  # a label that every namespace carries
LOOK_AGAIN = 0.25
PROBED = 3  # namespaces in which it is tried
_TRIES = 40


def policy_kinds(cluster: Cluster) -> tuple[Resource, Resource]:
    """Policies and bindings, as this cluster serves them."""
    found = []
    for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"):
        resource = cluster.find_kind(GROUP, kind).resource
        if resource is None or resource.version != "v1":
            raise CannotLook(
                "this cluster has no admission policies",
                why=f"it does not serve {kind} in {GROUP}/v1, which is there from Kubernetes 1.30 on",
                next_step="leave freeze or guard out; drain can stop the controllers instead (quiesce: scale)",
            )
        found.append(resource)
    return found[0], found[1]


def require_policies(cluster: Cluster) -> None:
    """Refuse now, before the first write, if they could not be put in place, changed or taken away."""
    for resource in policy_kinds(cluster):
        for verb in ("create", "patch", "delete"):
            cluster.require(verb, resource)


@dataclass(frozen=True)
class Ours:
    """What is written under our label. `word` is what we are doing with it, for people."""

    label: str
    word: str

    def put(self, resource: Resource, item: Mapping[str, Any], cluster: Cluster, tell: Tell) -> bool:
        """Create it or make it what it should be. Whether anything had to be written."""
        name = item["metadata"]["name"]
        written = cluster.create(resource, "", item)
        if written.effect.value == "already" and written.record:
            if self.label not in written.record.labels:
                raise self._taken(resource, name)
            if is_same(cluster.read_whole(resource, "", name) or {}, item):
                return False
            written = cluster.merge_patch(resource, written.record, item)
        _raise_unless_done(written)
        record: Record | None = written.record
        tell(Did(self.word, ref_to(resource, record) if record else ObjectRef("", "", "", name), written.effect.value))
        return True

    def try_out(self, resource: Resource, item: Mapping[str, Any], cluster: Cluster) -> bool:
        """Check mode: let the server try it. Whether it would be new or different."""
        name = item["metadata"]["name"]
        known = cluster.read_whole(resource, "", name)
        if known is not None and self.label not in ((known.get("metadata") or {}).get("labels") or {}):
            raise self._taken(resource, name)
        if known is None:
            _raise_unless_done(cluster.create(resource, "", item, dry_run=True))
        return known is None or not is_same(known, item)

    def is_there(self, resource: Resource, name: str, cluster: Cluster) -> bool:
        record = cluster.read(resource, "", name)
        return record is not None and self.label in record.labels

    def take_away(self, resource: Resource, name: str, cluster: Cluster, tell: Tell) -> bool:
        """Whether there was one of ours."""
        record = cluster.read(resource, "", name)
        if record is None or self.label not in record.labels:
            return False
        written = cluster.delete(resource, record)
        tell(Did(f"lift {self.word}", ref_to(resource, record), written.effect.value))
        _raise_unless_done(written)
        return written.changed

    def _taken(self, resource: Resource, name: str) -> Refused:
        return Refused(
            f"cannot {self.word}",
            which=f"{resource.kind} {name}",
            why="there is one of this name that is not ours",
            next_step="choose another name, or remove that one",
        )


def is_same(known: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Is everything we would write already there? The server adds defaults, which do not count."""
    return covers(known.get("spec"), item["spec"]) and covers(
        (known.get("metadata") or {}).get("annotations") or {}, item["metadata"].get("annotations") or {}
    )


def _raise_unless_done(written: Written) -> None:
    if written.problem:
        raise written.problem


def only_in(namespaces: Iterable[str]) -> dict[str, Any]:
    """A binding's `matchResources` for these namespaces."""
    among = {"key": NAMESPACE_NAME, "operator": "In", "values": list(namespaces)}
    return {"namespaceSelector": {"matchExpressions": [among]}}


# -- a probe: a ConfigMap that would be refused, tried without keeping it, shows when a policy has taken effect --------


def probe_name(policy: str) -> str:
    return f"{policy}-probe"


def probe_rule(policy: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    return {**rule, "operations": ["CREATE"], "resourceNames": [probe_name(policy)]}


def is_probe(policy: str) -> str:
    """CEL: is this request the probe?"""
    return f"request.kind.kind == 'ConfigMap' && request.name == '{probe_name(policy)}'"


def try_probe(policy: str, namespace: str, cluster: Cluster) -> ApiError | None:
    probe = {"metadata": {"name": probe_name(policy)}}
    return cluster.create(CONFIG_MAPS, namespace, probe, dry_run=True).problem


def nothing_can_be_created(problem: ApiError) -> bool:
    """The namespace is missing or on its way out: there a policy has nothing to forbid."""
    return problem.status == 404 or "is being terminated" in problem.why


def wait_until_lifted(policy: str, mark: str, namespaces: Iterable[str], cluster: Cluster, clock: Clock) -> None:
    """Until the API server has noticed; not for ever, as it will notice."""
    places = list(namespaces)
    for _try in range(_TRIES):
        problems = [try_probe(policy, place, cluster) for place in places]
        if not any(problem is not None and mark in problem.why for problem in problems):
            return
        clock.sleep(LOOK_AGAIN)
