# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our side of a measurement: one process from its start to its last answer, as a task of a playbook would run.

A script: `python -m benchmarks.ours --kubeconfig FILE --kind KIND --api-version V --namespace NS --action ACTION`
"""

from __future__ import annotations

import time

STARTED = time.perf_counter()

import argparse  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, RealClock, StopSign  # noqa: E402
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster  # noqa: E402
from ansible_collections.sunset.kube.plugins.module_utils.kube.configuration import (  # noqa: E402
    ConnectionOptions,
    load_endpoint,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.departure import (  # noqa: E402
    Leaver,
    delete_and_wait,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer import (  # noqa: E402
    FinalizerOptions,
    remove_named_finalizers,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.finalizer_rules import Wish  # noqa: E402


def main() -> None:
    options = _options()
    stop = StopSign()
    clock = RealClock(stop)
    endpoint = load_endpoint(ConnectionOptions(kubeconfig=options.kubeconfig))
    loaded = time.perf_counter()
    cluster = Cluster(lambda: endpoint, clock, stop, options.parallel)
    action = {"delete": _delete, "finalizer": _remove_finalizer, "list": _list}[options.action]
    done = action(options, cluster, clock, stop)
    ended = time.perf_counter()
    cluster.close()
    usage = os.times()
    print(
        json.dumps(
            {
                "objects": done,
                "seconds": ended - STARTED,
                "engine_seconds": ended - loaded,
                "cpu_seconds": usage.user + usage.system,
                "requests": cluster.requests(),
                "peak_mib": peak_mib(),
            }
        )
    )


def _delete(options: argparse.Namespace, cluster: Cluster, clock: RealClock, stop: StopSign) -> int:
    resource, _ = cluster.resolve(options.kind, options.api_version)
    assert resource is not None
    deadline = Deadline(clock, 600)
    listing = cluster.list(resource, options.namespace)
    leavers = [Leaver(resource, record) for record in listing.records]
    departed = delete_and_wait([listing], leavers, cluster, clock, stop, deadline, lambda event: None)
    return departed.gone


def _remove_finalizer(options: argparse.Namespace, cluster: Cluster, clock: RealClock, stop: StopSign) -> int:
    wish = Wish((options.finalizer,), owner=options.owner)
    asked = FinalizerOptions(options.kind, wish, options.api_version, namespace=options.namespace)
    outcome = remove_named_finalizers(asked, cluster, clock, stop, lambda event: None)
    if outcome.failure:
        raise outcome.failure
    return sum(release.gone for release in outcome.plan.releases)


def _list(options: argparse.Namespace, cluster: Cluster, clock: RealClock, stop: StopSign) -> int:
    resource, _ = cluster.resolve(options.kind, options.api_version)
    assert resource is not None
    listing = cluster.list(resource, options.namespace)
    leavers = [Leaver(resource, record) for record in listing.records]
    return len(leavers)


def peak_mib() -> float:
    """The most memory this program held. Not ru_maxrss: that one counts what the parent had before it called us."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--kind", required=True)
    parser.add_argument("--api-version", required=True)
    parser.add_argument("--namespace")
    parser.add_argument("--action", required=True)
    parser.add_argument("--finalizer", default="")
    parser.add_argument("--owner", default="gone")
    parser.add_argument("--parallel", type=int, default=16)
    return parser.parse_args()


if __name__ == "__main__":
    main()
