# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is somebody there to answer? Pages before a route shows them, and the application before its routes open again.

Room: maintenance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..events import Noted, Progress
from ..objects import Resource
from ..paths import condition_of, value_at
from ..problems import Problem, TimedOut
from ..well_known import ENDPOINT_SLICES, PODS, SERVICE_NAME, SERVICES
from .locations import ServiceRef
from .outcome import Run
from .workload import Workload

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_LOOK_AGAIN = 0.3
_DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments", namespaced=True)

Place = tuple[str, str]


def wait_for_pages(places: Sequence[Place], workload: Workload, run: Run) -> None:
    """Until every page has a server that answers, and the Service knows it."""

    def why_not(place: Place) -> str:
        return _why_not_served(place, workload, run.cluster)

    late = _wait(places, why_not, run, "pages", "ready")
    if late:
        place, why = next(iter(late.items()))
        raise TimedOut(
            "the page does not get ready",
            which="/".join(place),
            why=f"{why}; {len(late)} of {len(places)} pages after {run.deadline.seconds:.0f} s",
            next_step="look at the Pod (kubectl describe), mend it, and run the task again; no route was changed",
        )


def wait_for_application(services: Iterable[ServiceRef], run: Run, *, leave: float) -> None:
    """Until every Service that routes lead to again has a ready endpoint. `leave`: seconds needed for what follows."""
    places = sorted({(one.namespace, one.name) for one in services if one.kind == "Service"})

    def why_not(place: Place) -> str:
        return why_no_endpoint(place, run.cluster)

    late = _wait(places, why_not, run, "services of the application", "ready", leave)
    if late:
        named = "; ".join(f"Service {'/'.join(place)}: {why}" for place, why in list(late.items())[:5])
        raise TimedOut(
            "the application is not ready",
            why=f"{named}; the page stays",
            next_step="bring the application up and run the task again, or open anyway with reopen: {endpoints: false}",
        )


def let_controllers_notice(seconds: float, run: Run) -> None:
    """Routes were written, but requests still go where they went until the controllers have read them.

    Whatever a task or a play does next, removing the page or stopping the application, must not hit such a request.
    Never longer than the task may take.
    """
    seconds = min(seconds, run.deadline.left())
    if seconds > 0:
        run.tell(Noted(f"{seconds:.0f} s for the controllers to notice"))
        run.clock.sleep(seconds)
        run.stop.raise_if_set()


def _wait(
    places: Sequence[Place], why_not: Callable[[Place], str], run: Run, step: str, word: str, leave: float = 0.0
) -> Mapping[Place, str]:
    """What is not ready when time is over, and why."""
    late = dict.fromkeys(places, "")
    told = ""
    while late:
        found = {place: why_not(place) for place in late}
        late = {place: why for place, why in found.items() if why}
        if not late or run.deadline.left() <= leave:
            break
        done = len(places) - len(late)
        place, why = next(iter(late.items()))
        text = f"waiting for {'/'.join(place)}: {why}"
        if text != told:
            told = text
            run.tell(Noted(text))
        run.tell(Progress(step, done, len(places), run.deadline.left(), word=word))
        run.stop.raise_if_set()
        run.clock.sleep(min(_LOOK_AGAIN, run.deadline.left()))
    return late


def _why_not_served(place: Place, workload: Workload, cluster: Cluster) -> str:
    namespace, name = place
    if workload.kind == "pod":
        pod = cluster.read_whole(PODS, namespace, name)
        if pod is None:
            return "its Pod is not there"
        if not _is_true(pod, "Ready"):
            return _trouble([pod]) or "its Pod is starting"
    else:
        deployment = cluster.read_whole(_DEPLOYMENTS, namespace, name)
        if deployment is None:
            return "its Deployment is not there"
        seen = int(value_at(deployment, "status.observedGeneration") or 0)
        if seen < int(value_at(deployment, "metadata.generation") or 0) or not _is_true(deployment, "Available"):
            return _why_unavailable(deployment, cluster)
    return why_no_endpoint(place, cluster)


def _why_unavailable(deployment: Mapping[str, Any], cluster: Cluster) -> str:
    failure = condition_of(deployment, "ReplicaFailure")
    if failure and failure.get("status") == "True":
        return str(failure.get("message") or failure.get("reason") or "its Pods cannot be made")
    namespace = deployment["metadata"]["namespace"]
    labels = value_at(deployment, "spec.selector.matchLabels") or {}
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    try:
        pods = cluster.list_whole(PODS, namespace, selector)
    except Problem:  # no right to look at Pods: the reason stays unknown, the wait goes on
        pods = []
    ready = int(value_at(deployment, "status.availableReplicas") or 0)
    wanted = int(value_at(deployment, "spec.replicas") or 1)
    trouble = _trouble(pods)
    return f"{ready} of {wanted} Pods ready" + (f", {trouble}" if trouble else "")


def _trouble(pods: Sequence[Mapping[str, Any]]) -> str:
    """The first reason a Pod gives for not running."""
    for pod in pods:
        scheduled = condition_of(pod, "PodScheduled") or {}
        if scheduled.get("status") == "False":
            return str(scheduled.get("message") or scheduled.get("reason") or "")
        for status in value_at(pod, "status.containerStatuses") or ():
            waiting = (status.get("state") or {}).get("waiting") or {}
            if waiting.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
                return ": ".join(filter(None, (waiting["reason"], waiting.get("message"))))
    return ""


def why_no_endpoint(place: Place, cluster: Cluster) -> str:
    """Empty when somebody answers for this Service."""
    namespace, name = place
    slices = cluster.list_whole(ENDPOINT_SLICES, namespace, f"{SERVICE_NAME}={name}")
    for one in slices:
        for endpoint in one.get("endpoints") or ():
            # Unknown counts as ready, by the API's own rule.
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                return ""
    service = cluster.read_whole(SERVICES, namespace, name)
    if service is None:
        return "it does not exist"
    if value_at(service, "spec.type") == "ExternalName":
        return ""  # what is behind it is not for this cluster to know
    return "it has no ready endpoint"


def _is_true(item: Mapping[str, Any], condition: str) -> bool:
    return (condition_of(item, condition) or {}).get("status") == "True"


def ip_families(cluster: Cluster) -> tuple[str, ...]:
    """Those a new Service gets here, by that of the API server itself; nginx cannot listen where its node does not."""
    try:
        service = cluster.read_whole(SERVICES, "default", "kubernetes")
    except Problem:  # no right to look: a wrong guess shows as a page that does not get ready
        service = None
    found = value_at(service or {}, "spec.ipFamilies")
    return tuple(found) if isinstance(found, list) and found else ("IPv4",)
