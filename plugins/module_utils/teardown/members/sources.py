# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The option `members`: which source it names, and what that source knows.

Room: teardown. A table from the option's key to the reader of the source; a new source is one more line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...labels import parse_selector
from ...problems import BadFields, BadOption
from ...well_known import NAMESPACES
from .argocd import argocd_membership
from .claims import Claim, Membership, Search
from .flux import flux_membership
from .helm import helm_membership
from .inventories import applyset_membership, inventory_membership
from .kapp import kapp_membership
from .landscaper import landscaper_membership
from .manifests import manifest_membership
from .olm import olm_membership

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

OtherCluster = Callable[[str], "Cluster"]


def read_members(option: Mapping[str, Any], cluster: Cluster, other_cluster: OtherCluster) -> Membership:
    """What belongs to the thing that `members` names. `other_cluster`: by its context, where the source names one."""
    name, value = chosen_source(option)
    if name == "landscaper" and value.get("context"):
        return _landscaper(value, cluster, other_cluster(value["context"]))
    return SOURCES[name](value, cluster)


def chosen_source(option: Mapping[str, Any]) -> tuple[str, Any]:
    given = [(name, value) for name, value in option.items() if value is not None]
    if len(given) != 1:
        named = ", ".join(name for name, _value in given) or "none"
        raise BadOption("bad options", why=f"members needs exactly one of {', '.join(SOURCES)}; given: {named}")
    return given[0]


def check_members(option: Mapping[str, Any], bad: BadFields | None = None) -> None:
    """Complain about what can be seen without a cluster. An empty text would find everything, or something else.

    Complains to `bad` if given one, and raises by itself otherwise.
    """
    complaints = BadFields() if bad is None else bad
    try:
        name, value = chosen_source(option)
    except BadOption as problem:
        complaints.complain(problem.why)
    else:
        _check_source(name, value, complaints)
    if bad is None:
        complaints.raise_if_any()


def _check_source(name: str, value: Any, bad: BadFields) -> None:
    if name != "manifests":
        _refuse_empty_texts(value, f"members.{name}", bad)
    if name == "objects":
        _check_objects(value, bad)
    if name == "selector":
        if not value.get("label_selector") and "*" in (value.get("kinds") or ["*"]):
            bad.add("members.selector", "needs label_selector or kinds: it would take everything")
        try:
            parse_selector(value.get("label_selector") or "", "members.selector.label_selector")
        except BadOption as problem:
            bad.complain(problem.why)


def _refuse_empty_texts(value: Any, path: str, bad: BadFields) -> None:
    if isinstance(value, str) and not value.strip():
        bad.add(path, "is empty; leave it out or give a value")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _refuse_empty_texts(inner, f"{path}.{key}", bad)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            _refuse_empty_texts(inner, f"{path}[{i}]", bad)


def _check_objects(value: list[Any], bad: BadFields) -> None:
    for i, item in enumerate(value):
        if not isinstance(item, Mapping):
            bad.add(f"members.objects[{i}]", f"must be a mapping, not {type(item).__name__}")
            continue
        for key in ("kind", "name"):
            if not item.get(key):
                bad.add(f"members.objects[{i}].{key}", "is missing")


def _helm(value: Mapping[str, Any], cluster: Cluster) -> Membership:
    return helm_membership(value["release"], value["namespace"], value["driver"], cluster)


def _manifests(value: Any, cluster: Cluster) -> Membership:
    return manifest_membership(*manifest_sources(value))


def manifest_sources(value: Any) -> tuple[list[Any], str]:
    """`manifests` is a list, one text, or `{sources, namespace}`."""
    namespace = "default"
    if isinstance(value, Mapping) and "sources" in value and "kind" not in value:
        namespace = str(value.get("namespace") or namespace)
        value = value["sources"]
    return (value if isinstance(value, list) else [value]), namespace


def _objects(value: list[Any], cluster: Cluster) -> Membership:
    return Membership("objects", claims=[_reference(item, i) for i, item in enumerate(value)])


def _reference(item: Mapping[str, Any], place: int) -> Claim:
    api_version = item.get("api_version") or item.get("apiVersion")
    group, _slash, version = str(api_version or "").rpartition("/")
    return Claim(
        group if api_version else None,
        str(item["kind"]),
        str(item["name"]),
        str(item.get("namespace") or ""),
        version,
        f"named by members.objects[{place}]",
        named=True,
    )


def _selector(value: Mapping[str, Any], cluster: Cluster) -> Membership:
    labels = value.get("label_selector") or ""
    source = f"selector {labels}" if labels else "selector"
    kinds, namespaces = value.get("kinds") or ["*"], value.get("namespaces") or [None]
    searches = [Search(kind, None, place, labels, source, by_hand=True) for kind in kinds for place in namespaces]
    return Membership(source, searches=searches)


def _kapp(value: Mapping[str, Any], cluster: Cluster) -> Membership:
    return kapp_membership(value["app"], value["namespace"], cluster)


def _flux(value: Mapping[str, Any], cluster: Cluster) -> Membership:
    return flux_membership(value["kind"], value["name"], value["namespace"], cluster)


def _argocd(value: Mapping[str, Any], cluster: Cluster) -> Membership:
    return argocd_membership(value["name"], value["namespace"], cluster)


def _olm(value: Mapping[str, Any], cluster: Cluster) -> Membership:
    return olm_membership(value["subscription"], value["namespace"], cluster)


def _applyset(value: Mapping[str, Any], cluster: Cluster) -> Membership:
    return applyset_membership(value["name"], value["namespace"], cluster)


def _inventory(value: Mapping[str, Any], cluster: Cluster) -> Membership:
    return inventory_membership(value["name"], value["namespace"], cluster)


def _landscaper(value: Mapping[str, Any], cluster: Cluster, stored_in: Cluster | None = None) -> Membership:
    target = value.get("target") or ""
    return landscaper_membership(value["deploy_item"], value["namespace"], cluster, stored_in=stored_in, target=target)


def _namespace(value: str, cluster: Cluster) -> Membership:
    source = f"namespace {value}"
    if cluster.read(NAMESPACES, "", value) is None:
        return Membership(source, missing=f"there is no {source}")
    return Membership(source, searches=[Search("*", namespace=value, source=f"in {source}")], default_namespace=value)


SOURCES: dict[str, Callable[[Any, Any], Membership]] = {
    "helm": _helm,
    "manifests": _manifests,
    "objects": _objects,
    "selector": _selector,
    "kapp": _kapp,
    "flux": _flux,
    "argocd": _argocd,
    "olm": _olm,
    "applyset": _applyset,
    "inventory": _inventory,
    "landscaper": _landscaper,
    "namespace": _namespace,
}
