# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The handlers of kubernetes-nmstate, played: one a node, all in one thread, with a network that exists only here.

They do what the real ones do, the bad habits included: a policy is applied again whenever its generation changes, also
while it is being deleted; what an older generation came to is wiped only when they get to it; slots are counted in the
policy's status, and a node that failed keeps its own; enactments belong to the node and go some time after the policy.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.network.after import state_after
from integration import nmstate_conditions as conditions
from lab.plane.api import Api

State = dict[str, Any]
GROUP = "/apis/nmstate.io"
POLICIES = f"{GROUP}/v1/nodenetworkconfigurationpolicies"
ENACTMENTS = f"{GROUP}/v1beta1/nodenetworkconfigurationenactments"
STATES = f"{GROUP}/v1beta1/nodenetworkstates"
REFRESH = "nmstate.io/force-nns-refresh"
RETRIES = 5
_TICK = 0.05


@dataclass
class Job:
    """A policy that a node's handler works on."""

    policy: str
    generation: int
    ticks: int


@dataclass
class Handler:
    node: str
    uid: str
    network: State
    alive: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    seen: dict[str, tuple[str, int]] = field(default_factory=dict)  # of each policy: uid and generation
    queue: list[str] = field(default_factory=list)
    job: Job | None = None


class Handlers:
    def __init__(self, api: Api) -> None:
        self.api = api
        self.of: dict[str, Handler] = {}
        self.ticks = 3  # an apply takes
        self.lag = 0  # ticks until a node's report shows what was applied
        self.fails: Callable[[str, str], bool] = lambda node, policy: False
        self.holds: Callable[[str, str], bool] = lambda node, policy: False  # an apply that does not end
        self.forgets: Callable[[str, str], bool] = lambda node, policy: False  # says success, does nothing
        self.applied: list[tuple[str, str]] = []  # node and policy, in order, as often as it happened
        self.most_at_once = 0
        self._late: list[list[Any]] = []
        self._asked: dict[str, str] = {}  # of each node: the last wish for a report
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nmstate-handlers", daemon=True)
        self.problem: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join(20)

    def _run(self) -> None:
        try:
            while not self._end.wait(_TICK):
                self._tick()
        except BaseException as problem:  # told by `stop`; a thread's own death is seen by nobody
            self.problem = problem

    # -- one tick ----------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        policies = {item["metadata"]["name"]: item for item in self.api.get(POLICIES)[1]["items"]}
        nodes = {item["metadata"]["name"]: item for item in self.api.get("/api/v1/nodes")[1]["items"]}
        for handler in list(self.of.values()):
            if handler.alive and handler.node in nodes:
                self._notice(handler, policies, nodes[handler.node]["metadata"].get("labels") or {})
                self._go_on(handler, policies)
        self.most_at_once = max(self.most_at_once, sum(one.job is not None for one in self.of.values()))
        for item in self.api.get(STATES)[1]["items"]:
            node, asked = item["metadata"]["name"], (item["metadata"].get("labels") or {}).get(REFRESH, "")
            if node in self.of and self._asked.get(node, "") != asked:
                self._asked[node] = asked
                self.report(node)
        for late in list(self._late):
            late[0] -= 1
            if late[0] <= 0:
                self._late.remove(late)
                if late[1] in nodes:
                    self.report(late[1])

    def _notice(self, handler: Handler, policies: Mapping[str, Any], labels: Mapping[str, str]) -> None:
        now = {name: (item["metadata"]["uid"], item["metadata"]["generation"]) for name, item in policies.items()}
        if labels != handler.labels:  # every policy again, in alphabetical order
            handler.labels, handler.seen = dict(labels), {}
        changed = sorted(name for name, version in now.items() if handler.seen.get(name) != version)
        gone = sorted(set(handler.seen) - set(now))
        handler.queue += [name for name in (*changed, *gone) if name not in handler.queue]
        handler.seen = now

    def _go_on(self, handler: Handler, policies: Mapping[str, Any]) -> None:
        if handler.job is not None:
            handler.job.ticks -= 1
            if handler.job.ticks <= 0 and not self.holds(handler.node, handler.job.policy):
                job, handler.job = handler.job, None
                self._applied(handler, job)
        elif handler.queue:
            self._reconcile(handler, handler.queue.pop(0))

    # -- reconciling -------------------------------------------------------------------------------------------------

    def _reconcile(self, handler: Handler, name: str) -> None:
        status, policy = self.api.get(f"{POLICIES}/{name}")
        if status == 404:
            self._drop(handler, name)
            return
        if not conditions.is_true(policy, "Progressing"):
            self._set(f"{POLICIES}/{name}", conditions=conditions.of_policy("unknown"))
        selector = policy["spec"].get("nodeSelector") or {}
        if any(handler.labels.get(key) != value for key, value in selector.items()):
            self._drop(handler, name)
        else:
            self._enact(handler, policy)
        self._conclude(name)

    def _enact(self, handler: Handler, policy: Mapping[str, Any]) -> None:
        name, generation = policy["metadata"]["name"], policy["metadata"]["generation"]
        before = self._enactment(handler, name)
        path = f"{ENACTMENTS}/{handler.node}.{name}"
        kept = (before.get("status") or {}) if before else {}
        changes: dict[str, Any] = {"desiredState": rendered(policy, handler), "policyGeneration": generation}
        if kept.get("policyGeneration") != generation:
            changes["conditions"] = []
        if before is None:
            self._create_enactment(handler, name)
        self._set(path, **changes)
        if (kept.get("retryCount") or {}).get(str(generation), 0) >= RETRIES:
            return
        retrying = conditions.is_true({"status": kept}, "Failing") and conditions.is_true(
            {"status": kept}, "Progressing"
        )
        if not retrying and not self._take_slot(name, generation):
            failed = self._failed(name)
            aborted = failed >= conditions.slots(policy, len(self._enactments(name)))
            self._set(path, conditions=conditions.of_enactment("aborted" if aborted else "pending"))
            handler.queue += [] if aborted else [name]
            return
        self._set(path, conditions=conditions.of_enactment("progressing"))
        handler.job = Job(name, generation, self.ticks)

    def _applied(self, handler: Handler, job: Job) -> None:
        path = f"{ENACTMENTS}/{handler.node}.{job.policy}"
        status, enactment = self.api.get(path)
        if status == 404:
            return
        if self.fails(handler.node, job.policy):
            tries = (enactment["status"].get("retryCount") or {}).get(str(job.generation), 0) + 1
            word = "failed" if tries >= RETRIES else "retrying"
            told = f"rolled back, probe ping failed, try {tries} of {RETRIES}"
            self._set(path, retryCount={str(job.generation): tries}, conditions=conditions.of_enactment(word, told))
            handler.queue += [] if word == "failed" else [job.policy]
        else:
            if not self.forgets(handler.node, job.policy):
                handler.network = state_after(handler.network, enactment["status"]["desiredState"])
            self.applied.append((handler.node, job.policy))
            self._set(path, conditions=conditions.of_enactment("available"))
            self._give_slot(job.policy, job.generation)
            self._late.append([self.lag, handler.node])
        self._conclude(job.policy)

    def _conclude(self, name: str) -> None:
        status, policy = self.api.get(f"{POLICIES}/{name}")
        if status == 404:
            return
        selector = (policy["spec"].get("nodeSelector") or {}).items()
        matching = [one for one in self.of.values() if all(one.labels.get(key) == value for key, value in selector)]
        ready = [one for one in matching if one.alive]
        found = self._enactments(name)
        word = conditions.policy_word(len(matching), len(ready), found, policy["metadata"]["generation"])
        counts = {"unavailableNodeCountMap": None} if word == "available" else {}
        self._set(f"{POLICIES}/{name}", conditions=conditions.of_policy(word), **counts)

    # -- slots -------------------------------------------------------------------------------------------------------

    def _take_slot(self, name: str, generation: int) -> bool:
        policy, taken = self._taken(name, generation)
        if policy is None or taken >= conditions.slots(policy, len(self._enactments(name))):
            return False
        self._set(f"{POLICIES}/{name}", unavailableNodeCountMap={str(generation): taken + 1})
        return True

    def _give_slot(self, name: str, generation: int) -> None:
        _policy, taken = self._taken(name, generation)
        if taken > 0:
            self._set(f"{POLICIES}/{name}", unavailableNodeCountMap={str(generation): taken - 1})

    def _taken(self, name: str, generation: int) -> tuple[dict[str, Any] | None, int]:
        code, policy = self.api.get(f"{POLICIES}/{name}")
        if code == 404:
            return None, 0
        return policy, ((policy.get("status") or {}).get("unavailableNodeCountMap") or {}).get(str(generation), 0)

    def _failed(self, name: str) -> int:
        found = self._enactments(name)
        return sum(conditions.is_true(one, "Failing") and not conditions.is_true(one, "Progressing") for one in found)

    # -- objects -----------------------------------------------------------------------------------------------------

    def report(self, node: str) -> None:
        """The node's state, as its handler shows it. Where the Node is deleted meanwhile, so is this."""
        path, handler = f"{STATES}/{node}", self.of[node]
        if self.api.get(path)[0] == 404:
            self.api.post(STATES, {**_kind("NodeNetworkState"), "metadata": self._owned(handler, node)})
        # At once and as a whole: a merge would keep what is gone.
        seen = {"op": "add", "path": "/status", "value": {"currentState": handler.network}}
        code, answer = self.api.patch(f"{path}/status", [seen])
        assert code in (200, 404), answer

    def _enactments(self, policy: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api.get(ENACTMENTS, labelSelector=f"nmstate.io/policy={policy}")[1]["items"]
        return found

    def _enactment(self, handler: Handler, policy: str) -> dict[str, Any] | None:
        status, item = self.api.get(f"{ENACTMENTS}/{handler.node}.{policy}")
        return item if status == 200 else None

    def _create_enactment(self, handler: Handler, policy: str) -> None:
        metadata = self._owned(handler, f"{handler.node}.{policy}")
        metadata["labels"] = {"nmstate.io/policy": policy, "nmstate.io/node": handler.node}
        self.api.post(ENACTMENTS, {**_kind("NodeNetworkConfigurationEnactment"), "metadata": metadata})

    def _drop(self, handler: Handler, policy: str) -> None:
        self.api.delete(f"{ENACTMENTS}/{handler.node}.{policy}")

    def _set(self, path: str, **status: Any) -> None:
        """Somebody may have deleted it meanwhile, which is nobody's fault."""
        code, answer = self.api.patch(f"{path}/status", {"status": status})
        assert code in (200, 404), answer

    def _owned(self, handler: Handler, name: str) -> dict[str, Any]:
        owner = {"apiVersion": "v1", "kind": "Node", "name": handler.node, "uid": handler.uid}
        return {"name": name, "ownerReferences": [owner]}


def rendered(policy: Mapping[str, Any], handler: Handler) -> State:
    """Of all that captures can do only one: the interface with the default route."""
    text: State = copy.deepcopy(policy["spec"].get("desiredState") or {})
    if policy["spec"].get("capture"):
        route = handler.network["routes"]["config"][0]
        for interface in text.get("interfaces") or ():
            if "{{" in interface["name"]:
                interface["name"] = route["next-hop-interface"]
    return text


def _kind(kind: str) -> dict[str, str]:
    return {"apiVersion": "nmstate.io/v1beta1", "kind": kind}
