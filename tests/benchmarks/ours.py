# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our side of a measurement: a process from its start to its last answer, with nothing of Ansible around it.

A script: `python -m benchmarks.ours --kubeconfig FILE --kind KIND --api-version VERSION --action ACTION`. It prints one
line of JSON; whoever started it measures the whole process.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, RealClock, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Event, Looked
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.kube.configuration import ConnectionOptions, load_endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Listing
from ansible_collections.sunset.kube.plugins.module_utils.kube.transport import Transport
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.departure import (
    Departure,
    Leaver,
    delete_and_wait,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer import (
    FinalizerOptions,
    remove_named_finalizers,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer_rules import Wish

_VERBS = ("list", "watch", "get", "delete", "patch", "post")
_TIMEOUT = 800.0


class Run:
    """What every action needs."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.stop = StopSign()
        self.clock = RealClock(self.stop)
        endpoint = load_endpoint(ConnectionOptions(kubeconfig=options.kubeconfig))
        make = _ClusterOnHttpClient if options.wire == "http.client" else Cluster
        self.cluster = make(lambda: endpoint, self.clock, self.stop, options.parallel)


class _ClusterOnHttpClient(Cluster):
    def __init__(self, load: Callable[[], Endpoint], clock: RealClock, stop: StopSign, parallel: int) -> None:
        from benchmarks.http_client import HttpClientWire  # late: our own process shall not pay for it

        super().__init__(load, clock, stop, parallel)
        self._transport = Transport(load, clock, stop, parallel, connect=HttpClientWire)


def main() -> None:
    options = parse()
    run = Run(options)
    began = time.perf_counter()
    done = ACTIONS[options.action](run)
    engine_seconds = time.perf_counter() - began
    requests = run.cluster.requests()
    run.cluster.close()
    said = {
        "objects": done,
        "engine_seconds": engine_seconds,
        "requests": sum(requests[verb] for verb in _VERBS),
        "peak_mib": peak_mib(),
    }
    print(json.dumps(said))


def delete(run: Run) -> int:
    listing, leavers = _leavers(run)
    deadline = Deadline(run.clock, _TIMEOUT)
    return delete_and_wait([listing], leavers, run.cluster, run.clock, run.stop, deadline, _nobody_listens).gone


def remove_finalizer(run: Run) -> int:
    outcome = remove_named_finalizers(_finalizer_options(run), run.cluster, run.clock, run.stop, _nobody_listens)
    if outcome.failure:
        raise outcome.failure
    return sum(release.gone for release in outcome.plan.releases)


def plan_delete(run: Run) -> int:
    """Everything before the first write."""
    _listing, leavers = _leavers(run)
    Departure(leavers, run.clock)
    return len(leavers)


def plan_finalizer(run: Run) -> int:
    """Everything before the first write: a plan that is too big for `max_objects` ends there."""
    seen: list[int] = []
    asked = _finalizer_options(run, max_objects=1)
    with contextlib.suppress(Refused):
        remove_named_finalizers(
            asked, run.cluster, run.clock, run.stop, lambda e: seen.append(e.found) if isinstance(e, Looked) else None
        )
    return sum(seen)


ACTIONS = {
    "delete": delete,
    "finalizer": remove_finalizer,
    "plan-delete": plan_delete,
    "plan-finalizer": plan_finalizer,
}


def _leavers(run: Run) -> tuple[Listing, list[Leaver]]:
    resource, _warning = run.cluster.resolve(run.options.kind, run.options.api_version)
    assert resource is not None
    listing = run.cluster.list(resource, run.options.namespace)
    return listing, [Leaver(resource, record) for record in listing.records]


def _finalizer_options(run: Run, max_objects: int | None = None) -> FinalizerOptions:
    return FinalizerOptions(
        kind=run.options.kind,
        api_version=run.options.api_version,
        namespace=run.options.namespace,
        wish=Wish((run.options.finalizer,)),
        timeout=_TIMEOUT,
        max_objects=max_objects,
    )


def _nobody_listens(event: Event) -> None:
    """How results are shown is not what is measured here."""


def peak_mib() -> float:
    """The most memory this program held. Not ru_maxrss: that one also counts the parent's at the moment of the fork."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--kind", required=True)
    parser.add_argument("--api-version", required=True)
    parser.add_argument("--namespace")
    parser.add_argument("--action", required=True, choices=ACTIONS)
    parser.add_argument("--finalizer", default="")
    parser.add_argument("--parallel", type=int, default=48)
    parser.add_argument("--wire", choices=("ours", "http.client"), default="ours")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
