# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Landscaper DeployItem: the Helm release that it installed, or the objects that its status lists.

Room: teardown. The Helm deployer installs a release unless `helmDeployment` is false, and then its status lists only
what the deployer waits for, such as Deployments: of such a DeployItem the release is the source. The manifest deployer,
and the Helm deployer without a release, list every object with the uid it had, and label each with the DeployItem's
name.

The DeployItem itself is not deleted: its Execution would make it again. Once its objects are gone, its deployer has
nothing left to do when the Installation is deleted. Read in Landscaper 0.152.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...commands import kubectl
from ...objects import Record
from ...problems import CannotLook
from .claims import Claim, Membership, OwnershipTest
from .helm import helm_membership
from .landscaper_targets import GROUP, require_this_cluster

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

LABELS = tuple(f"{name}.deployer.{GROUP}/deployitem" for name in ("manifest", "helm"))
_HELM = f"{GROUP}/helm"
# Policies under which an object is not deleted with its DeployItem.
_KEEP = frozenset({"keep", "ignore"})
_SCHEDULE = f"continuousreconcile.extensions.{GROUP}/active"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")


def landscaper_membership(
    deploy_item: str, namespace: str, cluster: Cluster, *, stored_in: Cluster | None = None, target: str = ""
) -> Membership:
    """`stored_in`: the cluster of the DeployItem, if not this one. `target`: the Target that the task calls this one.

    A DeployItem whose Target is another cluster is refused.
    """
    source = f"Landscaper DeployItem {namespace}/{deploy_item}"
    home = stored_in or cluster
    kind, _warning = home.resolve("DeployItem", f"{GROUP}/", by_hand=False)
    item = home.read_whole(kind, namespace, deploy_item) if kind else None
    if item is None:
        return Membership(source, missing=f"there is no {source}")
    where = require_this_cluster(item, source, home, cluster, target)
    spec = item.get("spec") or {}
    installs = spec.get("type") == _HELM and (spec.get("config") or {}).get("helmDeployment") is not False
    membership = _of_release(item, source, cluster) if installs else _of_status(item, source)
    membership.source += f" ({where}, in {home.endpoint.title})" if stored_in else f" ({where})"
    membership.warnings += _put_back(item, source)
    return membership


def _of_release(item: Mapping[str, Any], source: str, cluster: Cluster) -> Membership:
    config = (item.get("spec") or {}).get("config") or {}
    name, place = (str(config.get(key) or "") for key in ("name", "namespace"))
    if not _NAME.fullmatch(name) or not _NAME.fullmatch(place):
        raise CannotLook(
            f"cannot tell which Helm release {source} installed",
            why=f"its spec.config names the release {name!r} in namespace {place!r}",
            next_step="name the release itself, by members.helm",
        )
    membership = helm_membership(name, place, "auto", cluster)
    if membership.missing:
        listed = len(_managed(item))
        membership.missing += f", which {source} installed"
        membership.missing += f"; the status lists {listed} of its objects, never all of them" if listed else ""
    membership.source += f" of {source}"
    return membership


def _of_status(item: Mapping[str, Any], source: str) -> Membership:
    name = item["metadata"]["name"]
    membership = Membership(f"managed resources of {source}", not_ours=_labelled_by(name))
    for entry in _managed(item):
        membership.claims.append(_claim(entry, source))
    if not membership.claims:
        membership.warnings.append(f"the status of {source} lists no objects")
    return membership


def _managed(item: Mapping[str, Any]) -> list[Any]:
    return ((item.get("status") or {}).get("providerStatus") or {}).get("managedResources") or []


def _claim(entry: Any, source: str) -> Claim:
    resource = entry.get("resource") if isinstance(entry, Mapping) else None
    if not isinstance(resource, Mapping) or not resource.get("kind") or not resource.get("name"):
        raise CannotLook(f"cannot read the status of {source}", why=f"it lists an object without a name: {entry!r}")
    group, _slash, version = str(resource.get("apiVersion") or "").rpartition("/")
    policy = str(entry.get("policy") or "manage")
    return Claim(
        group,
        str(resource["kind"]),
        str(resource["name"]),
        str(resource.get("namespace") or ""),
        version,
        source,
        keep=f"Landscaper policy {policy}" if policy in _KEEP else "",
        uid=str(resource.get("uid") or ""),
        before_delete=_recorded_preparations(entry),
    )


def _recorded_preparations(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the DeployItem wants done to this object before it is deleted."""
    recorded = {"annotate": entry.get("annotateBeforeDelete"), "patch": entry.get("patchBeforeDelete")}
    return {key: value for key, value in recorded.items() if isinstance(value, Mapping) and value}


def _labelled_by(deploy_item: str) -> OwnershipTest:
    """A user who may write the status can name any object. The deployer labels what it creates and what it updates."""

    def not_ours(record: Record, marked: bool) -> str:
        owners = [record.labels[label] for label in LABELS if label in record.labels]
        if deploy_item in owners or not (owners or marked):
            return ""
        if owners:
            return f"it belongs to Landscaper DeployItem {owners[0]}"
        return f"it carries no label of a Landscaper DeployItem ({LABELS[0]})"

    return not_ours


def _put_back(item: Mapping[str, Any], source: str) -> list[str]:
    """Otherwise a deployer works only when the Installation is reconciled, or changed."""
    metadata = item["metadata"]
    config = (item.get("spec") or {}).get("config") or {}
    idle = metadata.get("deletionTimestamp") or (metadata.get("annotations") or {}).get(_SCHEDULE) == "false"
    if idle or not config.get("continuousReconcile"):
        return []
    place = {"namespace": metadata["namespace"], "name": metadata["name"]}
    stop = kubectl(f"annotate deployitem {{name}} {_SCHEDULE}=false", **place)
    return [f"{source} is reconciled on a schedule, and its deployer puts back what is deleted (way out: {stop})"]
