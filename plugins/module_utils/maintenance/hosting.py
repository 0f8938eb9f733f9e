# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pages on the cluster: made once for each namespace and content, kept for the routes that show them, then removed.

Room: maintenance. Who shows a page stands in the owner references of its ConfigMap, and everything else of the page is
owned by that ConfigMap: so Kubernetes itself removes a page when the last of its routes is deleted. Deleting the
ConfigMap, with its resourceVersion, is the one moment at which a page ends: whoever claims it before wins, and whoever
comes later makes it anew, under another uid.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..events import Did
from ..objects import ObjectRef, Record, Resource, record_of, ref_to
from ..paths import covers
from ..problems import Interrupted, Problem, Refused
from ..well_known import CONFIG_MAPS
from .changes import Operation
from .end_job import end_jobs, end_pods_to_try
from .markers import DIGEST, OUR_LABEL, PAGE, ROLE
from .options import MaintenanceOptions
from .outcome import Run
from .page_set import Manifest, config_map, page_set, pod_to_try
from .pages.bundle import Bundle
from .rights import may_create_pods
from .scene import Route
from .workload import Workload

if TYPE_CHECKING:
    from ..kube.writes import Written

_NO_UID = "00000000-0000-0000-0000-000000000000"  # of what is only tried
_RACES = 30
_LOOK_AGAIN = 0.2
_STEP_ASIDE = 0.05  # seconds; longer after each lost race, and not the same for everybody


def owner_of(route: Route) -> dict[str, Any]:
    ref = route.ref
    return {"apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name, "uid": ref.uid}


# Everything a page may consist of besides its ConfigMap; how it was made may have been changed since.
PART_KINDS = (
    ("apps", "Deployment"),
    ("", "Pod"),
    ("", "Service"),
    ("policy", "PodDisruptionBudget"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("batch", "CronJob"),
)


def host(
    bundle: Bundle,
    namespace: str,
    workload: Workload,
    routes: Sequence[Route],
    run: Run,
    further: Callable[[str], Sequence[Manifest]] = lambda _uid: (),
) -> bool:
    """Make the page, or claim the one that is there, for these routes. Whether anything had to be written.

    `further`: what else belongs to it, by the uid of its ConfigMap.
    """
    record, changed = _claim(bundle, namespace, routes, run)
    for part in (*page_set(bundle, namespace, workload, record.uid), *further(record.uid)):
        changed = _make(part, namespace, record.uid, run, scaled=workload.autoscaling is not None) or changed
    return changed


def try_out(bundle: Bundle, namespace: str, workload: Workload, routes: Sequence[Route], run: Run) -> list[str]:
    """Let the server try to create everything, and a Pod as the Deployment would make it. What it says no to."""
    items = [config_map(bundle, namespace, [owner_of(route) for route in routes[:1]])]
    items += page_set(bundle, namespace, workload, _NO_UID)
    if workload.kind != "pod" and may_create_pods(namespace, run):
        items.append(pod_to_try(bundle, namespace, workload))  # quotas and pod security only look at Pods
    return _try(items, namespace, run)


def try_end_job(options: MaintenanceOptions, bundle: Bundle, namespace: str, run: Run) -> list[str]:
    """Let the server try what ends the window, and its Pod."""
    items = end_jobs(options, bundle, namespace, _NO_UID)
    if may_create_pods(namespace, run):
        items += end_pods_to_try(options, bundle, namespace)
    return _try(items, namespace, run)


def _try(items: Iterable[Manifest], namespace: str, run: Run) -> list[str]:
    refused = []
    for item in items:
        resource = _resource(item, run.cluster)
        written = run.cluster.create(resource, namespace, item, dry_run=True)
        if written.problem:
            refused.append(str(written.problem))
    return refused


def _claim(bundle: Bundle, namespace: str, routes: Sequence[Route], run: Run) -> tuple[Record, bool]:
    owners = [owner_of(route) for route in routes]
    for race in range(_RACES):
        run.stop.raise_if_set()
        item = run.cluster.read_whole(CONFIG_MAPS, namespace, bundle.name)
        if item is None:
            made = _create(CONFIG_MAPS, namespace, config_map(bundle, namespace, owners), run)
            if made is not None and _owns_all(made, owners):
                return made, True
            continue  # somebody else was faster
        record = record_of(item["metadata"])
        _refuse_strangers(record, bundle, ref_to(CONFIG_MAPS, record))
        if record.terminating:
            run.clock.sleep(_LOOK_AGAIN)
            continue
        lacking = [owner for owner in owners if owner["uid"] not in record.owner_uids]
        if not lacking:
            return record, False
        written = run.cluster.json_patch(CONFIG_MAPS, record, _add_owners(item, lacking))
        if written.effect.value == "done" and written.record is not None:
            run.tell(Did("claim page", ref_to(CONFIG_MAPS, record), written.effect.value))
            return written.record, True
        if not written.gone:
            _raise_unless_raced(written)
            _step_aside(race, run)
    raise _too_busy(ObjectRef("v1", "ConfigMap", namespace, bundle.name))


def _owns_all(record: Record, owners: Sequence[Mapping[str, Any]]) -> bool:
    """When the answer to a create got lost, the object that is there may be somebody else's."""
    return all(owner["uid"] in record.owner_uids for owner in owners)


def _add_owners(item: Mapping[str, Any], lacking: Sequence[Mapping[str, Any]]) -> list[Operation]:
    known = item["metadata"].get("ownerReferences") or []
    if known:  # at the end of the list, however long it is by then: many may do so at once, and nobody loses
        return [{"op": "add", "path": "/metadata/ownerReferences/-", "value": owner} for owner in lacking]
    version = item["metadata"].get("resourceVersion")
    return [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "add", "path": "/metadata/ownerReferences", "value": list(lacking)},
    ]


def _step_aside(race: int, run: Run) -> None:
    run.clock.sleep(_STEP_ASIDE * (race + 1) * secrets.randbelow(100) / 100)


def _refuse_strangers(record: Record, bundle: Bundle, ref: ObjectRef) -> None:
    ours = record.labels.get(ROLE) == PAGE
    if ours and record.annotations.get(DIGEST) == bundle.digest:
        return
    raise Refused(
        "cannot host the page",
        which=str(ref),
        why="there is a ConfigMap of this name that is not ours" if not ours else "it holds another page",
        next_step="look at it; delete or rename it, and run the task again",
    )


def _make(part: Mapping[str, Any], namespace: str, owner: str, run: Run, *, scaled: bool) -> bool:
    resource = _resource(part, run.cluster)
    name = part["metadata"]["name"]
    for _race in range(_RACES):
        run.stop.raise_if_set()
        item = run.cluster.read_whole(resource, namespace, name)
        if item is None:
            if _create(resource, namespace, part, run) is not None:
                return True
            continue
        record = record_of(item["metadata"])
        if record.terminating:
            run.clock.sleep(_LOOK_AGAIN)
        elif owner not in record.owner_uids or _is_dead(item):
            _clear_away(resource, record, run)  # left of a page that has ended: it would go with it
        elif _is_as_wanted(item, part, scaled=scaled):
            return False
        else:
            written = run.cluster.merge_patch(resource, record, {"spec": _to_change(part, scaled=scaled)})
            if written.effect.value == "done" and written.record is not None:
                run.tell(Did("change page", ref_to(resource, record), written.effect.value))
                # The same thing written in another way (0.5 and 500m) is no change.
                return written.record.resource_version != record.resource_version
            if not written.gone:
                _raise_unless_raced(written)
    raise _too_busy(ObjectRef(resource.api_version, resource.kind, namespace, name))


def _create(resource: Resource, namespace: str, item: Mapping[str, Any], run: Run) -> Record | None:
    """None if one is there. Whoever creates has looked first: a quota that is used up refuses before that is seen."""
    written = run.cluster.create(resource, namespace, item)
    if written.problem and not written.raced:
        raise written.problem
    if not written.changed or written.record is None:
        return None
    run.tell(Did("make page", ref_to(resource, written.record), written.effect.value))
    return written.record


def _is_dead(item: Mapping[str, Any]) -> bool:
    """A bare Pod that has ended does not come back by itself."""
    return item.get("kind") == "Pod" and (item.get("status") or {}).get("phase") in ("Failed", "Succeeded")


def _is_as_wanted(item: Mapping[str, Any], part: Mapping[str, Any], *, scaled: bool) -> bool:
    # A Pod cannot be changed; what differs in it is made by the server.
    return item.get("kind") == "Pod" or covers(item.get("spec"), _to_change(part, scaled=scaled))


def _to_change(part: Mapping[str, Any], *, scaled: bool) -> dict[str, Any]:
    """How many replicas there are is for the autoscaler to say, once there is one."""
    hidden = {"replicas"} if scaled and part["kind"] == "Deployment" else set()
    return {key: value for key, value in part["spec"].items() if key not in hidden}


def _clear_away(resource: Resource, record: Record, run: Run) -> None:
    if record.labels.get(OUR_LABEL[0]) != OUR_LABEL[1]:
        raise Refused(
            "cannot host the page",
            which=f"{resource.kind} {record.place}",
            why="there is one of this name that is not ours",
            next_step="look at it; delete or rename it, and run the task again",
        )
    written = run.cluster.delete(resource, record)
    run.tell(Did("clear away", ref_to(resource, record), written.effect.value))
    _raise_unless_raced(written)


def release(place: tuple[str, str], uids: Iterable[str], run: Run) -> str:
    """These routes do not show the page any more. "removed" when nobody does, else "kept"."""
    namespace, name = place
    leaving = frozenset(uids)
    for race in range(_RACES):
        item = run.cluster.read_whole(CONFIG_MAPS, namespace, name)
        if item is None:
            return "removed"
        record = record_of(item["metadata"])
        if record.labels.get(ROLE) != PAGE or record.terminating:
            return "kept"
        known = item["metadata"].get("ownerReferences") or []
        staying = [owner for owner in known if owner.get("uid") not in leaving]
        if not staying:
            if _end(record, run):
                return "removed"
        elif len(staying) == len(known):
            return "kept"
        else:
            written = run.cluster.json_patch(CONFIG_MAPS, record, _set_owners(record, staying))
            if written.effect.value == "done":
                run.tell(Did("release page", ref_to(CONFIG_MAPS, record), written.effect.value))
                return "kept"
            _raise_unless_raced(written)
        _step_aside(race, run)
    raise _too_busy(ObjectRef("v1", "ConfigMap", namespace, name))


def _set_owners(record: Record, staying: Sequence[Mapping[str, Any]]) -> list[Operation]:
    return [
        {"op": "test", "path": "/metadata/resourceVersion", "value": record.resource_version},
        {"op": "replace", "path": "/metadata/ownerReferences", "value": list(staying)},
    ]


def _end(record: Record, run: Run) -> bool:
    """Delete the ConfigMap, unless somebody has claimed it since; then what it owns, not waiting for the collector."""
    written = run.cluster.delete(CONFIG_MAPS, record, unchanged=True)
    if written.raced:
        return False
    run.tell(Did("remove page", ref_to(CONFIG_MAPS, record), written.effect.value))
    if written.problem:
        raise written.problem
    for group, kind in reversed(PART_KINDS):
        resource = run.cluster.find_kind(group, kind).resource
        if resource is None:
            continue
        try:
            part = run.cluster.read(resource, record.namespace, record.name)
        except Interrupted:
            raise
        except Problem:
            continue  # not for us to see: the collector takes it, since its ConfigMap is gone
        if part is not None and record.uid in part.owner_uids and not part.terminating:
            # The job that ends the window may be the very one that does this: it must not be ended with its CronJob.
            propagation = "Orphan" if kind == "CronJob" else "Background"
            gone = run.cluster.delete(resource, part, propagation=propagation)
            run.tell(Did("remove page", ref_to(resource, part), gone.effect.value))
    return True


def _raise_unless_raced(written: Written) -> None:
    if written.problem and not written.raced:
        raise written.problem


def _too_busy(ref: ObjectRef) -> Refused:
    return Refused(
        "cannot host the page",
        which=str(ref),
        why=f"others changed it faster than we could, {_RACES} times",
        next_step="run the task again",
    )


def _resource(item: Mapping[str, Any], cluster: Any) -> Resource:
    group = item["apiVersion"].rpartition("/")[0]
    found = cluster.find_kind(group, item["kind"]).resource
    if found is None:
        raise Refused("cannot host the page", why=f"the cluster does not serve {item['kind']} {item['apiVersion']}")
    resource: Resource = found
    return resource
