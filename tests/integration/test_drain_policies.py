# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draining with Retain and with Delete: which finalizers go, which objects go, what the anchor has to do with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from integration.ngrok_operator import NgrokOperator
from integration.products import (
    GATEWAY_EXISTS,
    LEGACY,
    NEW,
    OPERATOR_NAMES,
    Drainer,
    anchor,
    controller,
    custom,
    gateway_class,
    ingress,
    ingress_class,
    kind_row,
    marked,
    one_of_each,
    operator_deployment,
    refusing,
    service,
    set_status,
)
from integration.ranked import annotated, failed, kept, names, succeeded, when_waiting_for
from integration.running import warnings_of
from integration.stage import FOREIGN, Body, Stage, config_map, lease
from lab.plane.audit import AuditTrail
from lab.waiting import until

pytestmark = pytest.mark.quick

POLICIES = pytest.mark.parametrize("policy", ["Retain", "Delete"])
MINE, YOURS = "a.example.org/hold", "z.example.org/hold"


def writes(audit: AuditTrail, drainer: Drainer) -> list[tuple[str, str]]:
    """Verb and plural of everything the drain wrote, in order."""
    return [(event.verb, event.resource) for event in audit.writes(drainer.user.name)]


def in_order(entries: list[Any]) -> list[Any]:
    """Without immediate repetitions."""
    return [entry for place, entry in enumerate(entries) if place == 0 or entries[place - 1] != entry]


def reasons(result: dict[str, Any]) -> dict[str, str]:
    return {row["object"]["name"]: row["reason"] for row in result["retained"]}


# -- what happens to objects -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("carried", "policy"),
    [
        ([LEGACY], "Retain"),
        ([NEW], "Retain"),
        ([LEGACY, NEW], "Retain"),
        ([MINE, NEW, YOURS], "Retain"),
        ([MINE, LEGACY, FOREIGN, NEW, YOURS], "Retain"),
        ([MINE, LEGACY, FOREIGN, NEW, YOURS], "Delete"),
    ],
    ids=["legacy", "new", "both", "new-among-others", "both-among-others", "both-with-delete"],
)
def test_a_users_object_loses_the_products_finalizers_in_one_patch_and_keeps_all_others(
    stage: Stage, drainer: Drainer, audit: AuditTrail, carried: list[str], policy: str
) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, *carried))
    result = succeeded(drainer(policy=policy))
    assert stage.finalizers(lb) == [name for name in carried if name not in (LEGACY, NEW)]
    assert "deletionTimestamp" not in stage.look(lb)["metadata"]
    assert writes(audit, drainer) == [("patch", "services")]
    assert (result["progress"], kind_row(result, "Service")["released"]) == ("1/1", 1)


def test_an_empty_cluster_is_drained_already(stage: Stage, drainer: Drainer, audit: AuditTrail) -> None:
    result = succeeded(drainer())
    assert (result["drain_status"], result["progress"], result["changed"]) == ("completed", "0/0", False)
    assert result["errors"] == []
    assert writes(audit, drainer) == []


@POLICIES
def test_an_object_without_the_finalizer_is_neither_counted_nor_touched(
    stage: Stage, drainer: Drainer, policy: str
) -> None:
    here = stage.namespace
    things = stage.put(
        custom("Domain", "bare", here, labels=marked(here)),
        custom("IPPolicy", "held-by-others", here, FOREIGN, labels=marked(here)),
        service("lb", here),
    )
    before = stage.versions(things)
    result = succeeded(drainer(policy=policy))
    assert stage.versions(things) == before
    assert (result["changed"], result["progress"]) == (False, "0/0")
    row = kind_row(result, "Domain")
    assert (row["found"], row["total"], row["without_finalizer"]) == (0, 0, 1)
    assert kind_row(result, "Service")["without_finalizer"] == 0, "of user kinds that is no news"


def test_objects_without_the_finalizer_go_too_where_the_task_says_so_but_not_those_a_person_wrote(
    stage: Stage, drainer: Drainer
) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    made, written = stage.put(
        custom("Domain", "made", here, labels=marked(here)), custom("Domain", "written", here, labels={"team": "a"})
    )
    (lb,) = stage.put(service("lb", here))
    before = stage.versions([written, lb])
    result = succeeded(drainer(policy="Delete", only_with_finalizer=False))
    assert stage.is_gone(made)
    assert stage.versions([written, lb]) == before
    assert result["progress"] == "1/1"
    assert "written by a person" in kept(result)["written"][1]


@POLICIES
def test_objects_that_are_being_deleted_already_are_freed_and_not_deleted_again(
    stage: Stage, drainer: Drainer, audit: AuditTrail, policy: str
) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    things = stage.hang(
        service("lb", here, LEGACY),
        custom("Domain", "d", here, LEGACY, labels=marked(here)),
        custom("CloudEndpoint", "e", here, NEW, labels=marked(here)),
    )
    with (
        controller(stage, here, *OPERATOR_NAMES, finalizer=LEGACY, delay=0.5),
        controller(stage, here, *OPERATOR_NAMES, finalizer=NEW, delay=0.5),
    ):
        succeeded(drainer(policy=policy, quiesce="none"))
    assert all(stage.is_gone(thing) for thing in things)
    assert "delete" not in {verb for verb, _plural in writes(audit, drainer)}


def test_what_a_person_wrote_is_drained_like_the_rest_with_retain(stage: Stage, drainer: Drainer) -> None:
    """Upstream: three hand-written objects, three drained."""
    kinds = ("IPPolicy", "CloudEndpoint", "AgentEndpoint")
    things = stage.put(*(custom(kind, "mine", stage.namespace, LEGACY) for kind in kinds))
    result = succeeded(drainer(policy="Retain"))
    assert result["progress"] == "3/3"
    assert [stage.finalizers(thing) for thing in things] == [[], [], []]


def test_what_a_person_wrote_is_released_and_reported_with_delete(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    written, made = stage.put(
        custom("CloudEndpoint", "written", here, LEGACY), custom("CloudEndpoint", "made", here, LEGACY)
    )
    stage.api.patch(stage.api.path_of(made), {"metadata": {"labels": marked(here)}})
    with controller(stage, here, "CloudEndpoint"):
        result = succeeded(drainer(policy="Delete"))
    assert stage.is_gone(made)
    assert stage.finalizers(written) == []
    assert "written by a person" in reasons(result)["written"]
    row = kind_row(result, "CloudEndpoint")
    assert (row["released"], row["deleted"], row["total"]) == (1, 1, 2)


def test_what_is_released_outlives_an_owner_that_is_deleted(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    [made] = stage.put(custom("CloudEndpoint", "made", here, LEGACY, labels=marked(here)))
    owner = {key: made["metadata"][key] for key in ("name", "uid")}
    marker = {"sunset.dev/keep": "true"}
    ours, plain = annotated(custom("CloudEndpoint", "ours", here, LEGACY), **marker), config_map("plain", here)
    for thing in (ours, plain):
        thing["metadata"]["ownerReferences"] = [{"apiVersion": made["apiVersion"], "kind": "CloudEndpoint", **owner}]
    ours, plain = stage.put(ours, plain)
    with controller(stage, here, "CloudEndpoint"):
        result = succeeded(drainer(policy="Delete"))
    assert stage.is_gone(made)
    until(lambda: stage.is_gone(plain), "the garbage collector", every=0.05)
    assert (stage.finalizers(ours), stage.look(ours)["metadata"].get("ownerReferences")) == ([], None)
    assert (result["counts"]["detached"], result["lost"]) == (1, [])
    assert any(line.startswith("loses an owner: CloudEndpoint") for line in result["table"])


def test_what_a_person_wrote_is_deleted_with_consent(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    (written,) = stage.put(custom("CloudEndpoint", "written", here, LEGACY))
    with controller(stage, here, "CloudEndpoint") as running:
        result = succeeded(drainer(policy="Delete", user_authored="drain"))
        assert running.ledger == set()
    assert stage.is_gone(written)
    assert result["retained"] == []


def test_an_object_with_an_owner_counts_as_made_by_the_operator(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    (owner,) = stage.put(service("owner", here))
    owned = custom("CloudEndpoint", "owned", here, LEGACY)
    reference = {"apiVersion": "v1", "kind": "Service", "name": "owner", "uid": owner["metadata"]["uid"]}
    owned["metadata"]["ownerReferences"] = [reference]
    (owned,) = stage.put(owned)
    with controller(stage, here, "CloudEndpoint"):
        succeeded(drainer(policy="Delete"))
    assert stage.is_gone(owned)


def test_a_keep_marker_keeps_the_object_with_delete_but_not_its_finalizer(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    marker = {"sunset.dev/keep": "true"}
    (dear,) = stage.put(annotated(custom("Domain", "dear", here, LEGACY, labels=marked(here)), **marker))
    result = succeeded(drainer(policy="Delete"))
    assert stage.finalizers(dear) == []
    assert "sunset.dev/keep" in reasons(result)["dear"]


def test_a_domain_that_keeps_its_reservation_is_reported_with_its_ids(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    kind = "Domain"
    stays, goes = stage.put(
        custom(kind, "stays", here, LEGACY, labels=marked(here), spec={"domain": "s.io", "reclaimPolicy": "Retain"}),
        custom(kind, "goes", here, LEGACY, labels=marked(here), spec={"domain": "g.io", "reclaimPolicy": "Delete"}),
    )
    set_status(stage, stays, {"id": "rd_1"})
    with controller(stage, here, "Domain"):
        result = succeeded(drainer(policy="Delete"))
    assert stage.is_gone(stays)
    assert stage.is_gone(goes)
    (row,) = result["retained"]
    assert row["object"]["name"] == "stays"
    assert "retained by its own policy" in row["reason"]
    assert row["external"] == {"status.id": "rd_1", "spec.domain": "s.io"}


def test_with_retain_the_ids_of_what_stays_outside_are_listed(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    domain, endpoint, policy, bound = stage.put(
        custom("Domain", "d", here, LEGACY, spec={"domain": "shop.example.com"}),
        custom("CloudEndpoint", "e", here, LEGACY, spec={"url": "https://shop.example.com"}),
        custom("IPPolicy", "p", here, LEGACY),
        custom("BoundEndpoint", "b", here, LEGACY, spec={"endpointURI": "http://x.svc"}),
    )
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY))
    for thing, identity in ((domain, "rd_1"), (endpoint, "ep_1"), (ko, "k8sop_1")):
        set_status(stage, thing, {"id": identity})
    result = succeeded(drainer())
    assert {row["object"]["name"]: row["external"] for row in result["retained"]} == {
        "d": {"status.id": "rd_1", "spec.domain": "shop.example.com"},
        "e": {"status.id": "ep_1", "spec.url": "https://shop.example.com"},
        "p": {},
        "b": {"spec.endpointURI": "http://x.svc"},
        "ngrok-operator": {"status.id": "k8sop_1"},
    }
    assert stage.finalizers(policy) == stage.finalizers(bound) == []


def test_with_retain_a_running_controllers_ledger_stays_as_it_was(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    things = stage.put(*(custom(kind, "o", here, LEGACY, labels=marked(here)) for kind in OPERATOR_NAMES))
    with controller(stage, here, *OPERATOR_NAMES) as running:
        before = set(running.ledger)
        succeeded(drainer(policy="Retain"))
        assert running.cleaned == []
        assert running.ledger == before
    assert {thing["metadata"]["uid"] for thing in things} == before


def test_with_delete_the_controller_gets_every_object_with_its_finalizer_still_on(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    """Nothing is stripped: the operator cleans up outside before it lets go."""
    _users, operator = one_of_each(stage, LEGACY)
    operator_deployment(stage, stage.namespace)
    with controller(stage, stage.namespace, *OPERATOR_NAMES) as running:
        succeeded(drainer(policy="Delete"))
        assert running.ledger == set()
        assert running.cleaned.count("o") >= len(operator)
    patched = {plural for verb, plural in writes(audit, drainer) if verb == "patch"}
    users = {"httproutes", "tcproutes", "tlsroutes", "ingresses", "services", "gateways"}
    assert patched == {*users, "deployments"}, "the operator is stopped when it has cleaned up"


def test_a_second_run_changes_nothing(stage: Stage, drainer: Drainer, audit: AuditTrail) -> None:
    one_of_each(stage, LEGACY, NEW)
    stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    assert succeeded(drainer())["changed"] is True
    audit.begin_anew()
    again = succeeded(drainer())
    assert (again["changed"], again["progress"], again["drain_status"]) == (False, "0/0", "completed")
    assert writes(audit, drainer) == []


# -- whose is it -------------------------------------------------------------------------------------------------------


def test_bound_endpoints_are_the_operators_own_and_go_with_their_services(stage: Stage, drainer: Drainer) -> None:
    """Its poller makes them without labels and without an owner."""
    home, shop = stage.namespace, stage.another_namespace()
    with NgrokOperator(stage, home, shop) as operator:
        bound = operator.bind("http://api.example", "bound", shop)
        until(lambda: len(operator.holds()) == 2, "the operator to hold them")
        result = succeeded(drainer(policy="Delete"))
    assert stage.is_gone(bound)
    assert "BoundEndpoint" not in {row["object"]["kind"] for row in result["retained"]}
    for name, namespace in ((bound["metadata"]["name"], home), ("bound", shop)):
        assert stage.is_gone(service(name, namespace))


def test_bound_endpoints_of_another_installation_are_left_alone(stage: Stage, drainer: Drainer) -> None:
    here, elsewhere = stage.namespace, stage.another_namespace()
    stage.put(anchor("a", here, LEGACY), anchor("b", elsewhere, LEGACY))
    ours, theirs = stage.put(*(custom("BoundEndpoint", "one", place, LEGACY) for place in (here, elsewhere)))
    operator_deployment(stage, here)
    instance = {"controller_name": "ngrok-operator", "controller_namespace": here}
    with controller(stage, here, "BoundEndpoint", "KubernetesOperator"):
        result = succeeded(drainer(policy="Delete", anchor={"name": "a", "namespace": here}, instance=instance))
    assert stage.is_gone(ours)
    assert stage.finalizers(theirs) == [LEGACY]
    (row,) = [row for row in result["kept"] if row["object"]["kind"] == "BoundEndpoint"]
    assert row["reason"] == f"it lies in the namespace of another operator; that of this installation is {here}"


@pytest.mark.parametrize("kind", ["CloudEndpoint", "AgentEndpoint"])
@pytest.mark.parametrize("known_by", ["status", "host"])
def test_a_domain_that_a_persons_endpoint_uses_is_released_and_not_deleted(
    stage: Stage, drainer: Drainer, kind: str, known_by: str
) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    url = {"url": "https://mine.example.com"} if known_by == "host" else {}
    (endpoint,) = stage.put(custom(kind, "mine", here, LEGACY, spec=url))
    if known_by == "status":
        set_status(stage, endpoint, {"domainRef": {"name": "mine-example-com", "namespace": here}})
    used, unused = stage.put(
        custom("Domain", "mine-example-com", here, LEGACY, labels=marked(here), spec={"domain": "Mine.example.com"}),
        custom("Domain", "other-example-com", here, LEGACY, labels=marked(here), spec={"domain": "other.example.com"}),
    )
    with controller(stage, here, "Domain") as running:
        result = succeeded(drainer(policy="Delete"))
        assert running.cleaned == ["other-example-com"]
    assert (stage.finalizers(endpoint), stage.finalizers(used), stage.is_gone(unused)) == ([], [], True)
    assert reasons(result)["mine-example-com"].startswith(f"{kind} {here}/mine, which stays, uses it")
    assert succeeded(drainer(policy="Delete"))["changed"] is False


def test_a_domain_goes_with_an_endpoint_that_goes_and_nobody_elsewhere_keeps_it(stage: Stage, drainer: Drainer) -> None:
    here, elsewhere = stage.namespace, stage.another_namespace()
    operator_deployment(stage, here)
    spec = {"url": "https://mine.example.com"}
    stage.put(
        custom("CloudEndpoint", "made", here, LEGACY, labels=marked(here), spec=spec),
        custom("CloudEndpoint", "mine", elsewhere, LEGACY, spec=spec),
    )
    (domain,) = stage.put(
        custom("Domain", "mine-example-com", here, LEGACY, labels=marked(here), spec={"domain": "mine.example.com"})
    )
    with controller(stage, here, "CloudEndpoint", "Domain"):
        succeeded(drainer(policy="Delete"))
    assert stage.is_gone(domain)


# -- order -------------------------------------------------------------------------------------------------------------

USERS_ORDER = ["httproutes", "tcproutes", "tlsroutes", "ingresses", "services", "gateways", "gatewayclasses"]
OPERATORS_ORDER = ["cloudendpoints", "agentendpoints", "domains", "ippolicies", "boundendpoints"]


def test_kinds_go_in_the_profiles_order_and_the_anchor_goes_last(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    one_of_each(stage, LEGACY)
    (ours,) = stage.put(gateway_class("ours", GATEWAY_EXISTS))
    stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    succeeded(drainer())
    assert stage.finalizers(ours) == []
    order = in_order([plural for _verb, plural in writes(audit, drainer)])
    assert order == [*USERS_ORDER, *OPERATORS_ORDER, "kubernetesoperators"]


def test_with_delete_a_kind_is_gone_before_the_next_one_is_deleted(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    _users, operator = one_of_each(stage, LEGACY)
    (second,) = stage.put(custom("CloudEndpoint", "o2", stage.namespace, LEGACY, labels=marked(stage.namespace)))
    operator_deployment(stage, stage.namespace)
    with controller(stage, stage.namespace, *OPERATOR_NAMES, delay=0.3):
        succeeded(drainer(policy="Delete"))
    assert all(stage.is_gone(thing) for thing in (*operator, second))
    deletes = [plural for verb, plural in writes(audit, drainer) if verb == "delete"]
    assert deletes == ["cloudendpoints", *OPERATORS_ORDER]
    # The controller's own patch of the endpoints comes before our delete of the first domain.
    events = audit.events()
    first_domain = next(e.time for e in events if (e.verb, e.resource) == ("delete", "domains"))
    freed = [e.completed for e in events if (e.verb, e.resource, e.code) == ("patch", "cloudendpoints", 200)]
    assert freed
    assert max(freed[:2]) < first_domain


# -- who runs ----------------------------------------------------------------------------------------------------------


class LeaderOf:
    """Renews a Lease as a leader does, until the block ends."""

    def __init__(self, stage: Stage, name: str, holder: str, program: str) -> None:
        self._program = program
        self._stage, self._lease = stage, lease(name, stage.namespace, renewed_ago=0, holder=holder)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def _renew(self) -> None:
        while not self._over.wait(1.0):
            now = lease("now", self._stage.namespace, renewed_ago=0)["spec"]["renewTime"]
            where = self._stage.api.path_of(self._lease)
            self._stage.api.patch(where, {"spec": {"renewTime": now}}, fieldManager=self._program)

    def __enter__(self) -> None:
        self._stage.put(self._lease, manager=self._program)
        self._thread.start()

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        self._thread.join()


POD = "edge-manager-6d4cf56db6-x2x4z_7f"
# Name and holder of the Lease, the program that renews it, and what the task says.
LEADERS = {
    "named after the controller that the task names": ("edge-leader", "x", "x", {"controller_name": "edge-manager"}),
    "named after the controller that its objects name": ("edge-leader-election", "x", "x", {}),
    "a lock": ("edge-lock", "x", "x", {}),
    "held by its pod": ("0a1b", POD, "x", {}),
    "renewed by the program that set the finalizers": ("0a1b", "x", "ngrok-edge", {}),
    "named as operators of the SDK do it": ("0a1b2c.k8s.ngrok.com", "x", "x", {}),
}


@pytest.mark.parametrize(("name", "holder", "program", "instance"), LEADERS.values(), ids=LEADERS)
def test_an_operator_with_a_name_of_its_own_and_only_its_lease_to_show_is_running(
    stage: Stage, drainer: Drainer, name: str, holder: str, program: str, instance: dict[str, str]
) -> None:
    """As `nameOverride` installs it: no workload carries the product's label."""
    here = stage.namespace
    made = custom("Domain", "d", here, LEGACY, labels=marked(here, "edge-manager"))
    (domain,) = stage.put(made, manager="ngrok-edge")
    where = {"controller_namespace": here, **instance}
    said = failed(drainer(policy="Delete", instance=where, check_mode=True))
    assert "policy Delete needs the running operator" in said
    with LeaderOf(stage, name, holder, program), controller(stage, here, *OPERATOR_NAMES):
        result = succeeded(drainer(policy="Delete", instance=where))
    assert result["controller"]["alive"] == "alive"
    assert f"Lease {here}/{name} was renewed" in result["controller"]["reason"]
    assert stage.is_gone(domain)


def test_a_lease_whose_term_has_ended_is_no_running_operator(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here, "edge")))
    stage.put(lease("edge-leader", here, renewed_ago=20))
    instance = {"controller_name": "edge", "controller_namespace": here}
    said = failed(drainer(policy="Delete", instance=instance))
    assert "policy Delete needs the running operator" in said


# -- the anchor --------------------------------------------------------------------------------------------------------


def condition(status: str, reason: str) -> Body:
    entry = {"type": "Draining", "status": status, "reason": reason, "message": "", "lastTransitionTime": None}
    return {"conditions": [entry]}


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({}, "pending"),
        ({"registrationStatus": "error"}, "pending"),
        ({"drainStatus": "pending"}, "pending"),
        ({"drainStatus": "draining", "drainProgress": "1/3"}, "draining"),
        ({"drainStatus": "failed", "drainErrors": ["x"]}, "failed"),
        ({"drainStatus": "completed"}, "completed"),
        (condition("True", "DrainInProgress"), "draining"),
        (condition("True", "DrainFailed"), "failed"),
        (condition("False", "DrainCompleted"), "completed"),
        (condition("False", "Pending"), "pending"),
    ],
)
def test_whatever_the_anchor_says_of_itself_everything_is_drained_and_its_status_is_not_written(
    stage: Stage, drainer: Drainer, audit: AuditTrail, status: Body, word: str
) -> None:
    """Upstream skips the drain when the anchor was never registered, and when it says that it is done."""
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    if status:
        set_status(stage, ko, status)
    audit.begin_anew()
    result = succeeded(drainer())
    assert result["anchor"]["drain_status"] == word
    assert stage.finalizers(lb) == []
    assert stage.is_gone(ko)
    assert [event for event in audit.writes(drainer.user.name) if event.subresource] == []


def test_a_half_done_drain_is_resumed(stage: Stage, drainer: Drainer) -> None:
    """The anchor is being deleted, some objects are free, the operator is gone."""
    here = stage.namespace
    done, open_ = stage.put(service("done", here), service("open", here, LEGACY))
    (ko,) = stage.hang(anchor("ngrok-operator", here, LEGACY, NEW))
    result = succeeded(drainer())
    assert result["anchor"]["drain_status"] == "draining"
    assert stage.finalizers(open_) == []
    assert stage.is_gone(ko)
    assert result["progress"] == "1/1"
    assert stage.look(done)["metadata"]["resourceVersion"] == done["metadata"]["resourceVersion"]


def test_an_anchor_without_any_finalizer_is_drained_and_deleted_too(stage: Stage, drainer: Drainer) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace))
    succeeded(drainer())
    assert stage.finalizers(lb) == []
    assert stage.is_gone(ko)


def test_an_anchor_alone_is_removed(stage: Stage, drainer: Drainer) -> None:
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    result = succeeded(drainer())
    assert stage.is_gone(ko)
    assert (result["changed"], result["progress"]) == (True, "0/0")


def test_with_two_anchors_and_none_named_nothing_happens(stage: Stage, drainer: Drainer, audit: AuditTrail) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    stage.put(anchor("first", stage.namespace), anchor("second", stage.another_namespace()))
    message = failed(drainer())
    assert "which installation is meant" in message
    assert "first" in message
    assert "second" in message
    assert stage.finalizers(lb) == [LEGACY]
    assert writes(audit, drainer) == []


def test_the_anchor_can_be_left_alone(stage: Stage, drainer: Drainer) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    result = succeeded(drainer(remove_anchor=False))
    assert stage.finalizers(lb) == []
    assert stage.look(ko)["metadata"]["resourceVersion"] == ko["metadata"]["resourceVersion"]
    assert result["anchor"]["object"]["name"] == "ngrok-operator"
    again = succeeded(drainer(remove_anchor=False))
    assert again["changed"] is False


def test_an_anchor_made_anew_meanwhile_is_not_touched(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(service("lb", here, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY))
    anew: list[Body] = []

    def replace(event: Any) -> None:
        if isinstance(event, Did) and event.object.kind == "Service" and not anew:
            stage.release(ko)
            stage.api.delete(stage.api.path_of(ko))
            anew.extend(stage.put(anchor("ngrok-operator", here, LEGACY)))

    result = drainer(on_event=replace)
    succeeded(result)
    assert stage.finalizers(anew[0]) == [LEGACY]
    assert "created anew" in warnings_of(result)


def test_the_anchor_is_told_the_tasks_policy_before_it_is_deleted(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    """Or the running operator would delete what this task promised to retain."""
    here = stage.namespace
    (domain,) = stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY, policy="Delete"))
    operator_deployment(stage, here)
    with controller(stage, here, "KubernetesOperator", delay=0.5):
        seen: list[str] = []

        def look(event: Any) -> None:
            if isinstance(event, Did) and event.action == "delete":
                seen.append(stage.look(ko)["spec"]["drain"]["policy"])

        result = succeeded(drainer(policy="Retain", on_event=look))
    assert seen == ["Retain"]
    of_anchor = [verb for verb, plural in writes(audit, drainer) if plural == "kubernetesoperators"]
    assert of_anchor == ["patch", "delete"]
    assert writes(audit, drainer)[0] == ("patch", "kubernetesoperators"), "the operator is told before anything else"
    assert stage.is_gone(ko)
    assert stage.finalizers(domain) == []
    assert result["anchor"]["policy"] == "Delete"


def test_an_anchor_that_agrees_is_not_patched(stage: Stage, drainer: Drainer, audit: AuditTrail) -> None:
    here = stage.namespace
    stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)), anchor("ko", here, LEGACY, policy="Delete"))
    operator_deployment(stage, here)
    with controller(stage, here, "KubernetesOperator", "Domain"):
        result = succeeded(drainer())
    assert result["policy"] == "Delete"
    assert "patch" not in {verb for verb, _plural in writes(audit, drainer)}


def test_a_running_operator_takes_the_anchors_finalizer_off_itself(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    here = stage.namespace
    stage.put(service("lb", here, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY))
    operator_deployment(stage, here)
    with controller(stage, here, "KubernetesOperator", delay=2) as running:
        succeeded(drainer())
        assert "ngrok-operator" in running.cleaned
    assert stage.is_gone(ko)
    assert ("patch", "kubernetesoperators") not in writes(audit, drainer)


def test_an_anchor_somebody_else_holds_is_waited_for(stage: Stage, drainer: Drainer) -> None:
    """Upstream watches a whole deletion through a hold finalizer of the test's own."""
    here = stage.namespace
    (lb,) = stage.put(service("lb", here, LEGACY))
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY, FOREIGN))
    seen: list[tuple[list[str], list[str]]] = []

    def let_go() -> None:
        seen.append((stage.finalizers(lb), stage.finalizers(ko)))
        stage.release(ko)

    result = succeeded(drainer(on_event=when_waiting_for(FOREIGN, let_go)))
    assert seen == [([], [FOREIGN])]
    assert stage.is_gone(ko)
    assert (result["drain_status"], result["errors"]) == ("completed", [])


# -- failures ----------------------------------------------------------------------------------------------------------


def test_what_is_refused_is_counted_and_named_and_the_anchor_stays(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    things = stage.put(*(service(name, here, LEGACY) for name in ("a", "b", "c")))
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY))
    with refusing(stage, things[1], "object.metadata.name != 'b'", "the treasury says no", "UPDATE"):
        result = drainer()
    message = failed(result)
    assert "b" in message
    assert "the treasury says no" in message
    assert [stage.finalizers(thing) for thing in things] == [[], [LEGACY], []]
    assert (result["drain_status"], result["progress"]) == ("failed", "2/3")
    assert len(result["errors"]) == 1
    assert names(result["survivors"]) == ["b"]
    assert stage.finalizers(ko) == [LEGACY]
    assert "deletionTimestamp" not in stage.look(ko)["metadata"]


def test_errors_are_bounded_and_survivors_complete(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    things = stage.put(*(custom("Domain", f"d{n:02}", here, LEGACY) for n in range(25)))
    with refusing(stage, things[0], "false", "no " * 700, "UPDATE"):
        result = drainer()
    failed(result)
    assert result["progress"] == "0/25"
    assert len(result["errors"]) == 20
    assert {len(text) for text in result["errors"]} == {1024}
    assert len(result["survivors"]) == 25
    assert result["changed"] is False


# -- check mode --------------------------------------------------------------------------------------------------------


def planned_releases(result: dict[str, Any]) -> set[tuple[str, str]]:
    rows = [row for step in result["plan"] for row in step["release"]]
    return {(row["object"]["kind"], row["object"]["name"]) for row in rows}


Change = Callable[[Stage], Any]


def test_the_plan_of_check_mode_is_what_a_run_does(stage: Stage, drainer: Drainer, audit: AuditTrail) -> None:
    user, operator = one_of_each(stage, LEGACY)
    (ko,) = stage.put(anchor("ngrok-operator", stage.namespace, LEGACY))
    checked = succeeded(drainer(check_mode=True))
    assert (checked["changed"], checked["drain_status"], checked["progress"]) == (True, "pending", "0/11")
    assert writes(audit, drainer) == []
    expected = {(thing["kind"], thing["metadata"]["name"]) for thing in (*user, *operator, ko)}
    assert planned_releases(checked) == expected
    done = succeeded(drainer(plan_hash=checked["plan_hash"]))
    assert done["plan_hash"] == checked["plan_hash"]
    patched = {(event.resource, event.name) for event in audit.writes(drainer.user.name) if event.verb == "patch"}
    assert len(patched) == len(expected)


@pytest.mark.parametrize(
    "change",
    [
        lambda stage: stage.put(service("late", stage.namespace, LEGACY)),
        lambda stage: stage.put(anchor("ngrok-operator", stage.namespace, LEGACY)),
        lambda stage: stage.api.patch(
            f"/api/v1/namespaces/{stage.namespace}/services/lb", {"metadata": {"finalizers": [LEGACY, NEW]}}
        ),
    ],
    ids=["one more object", "an anchor", "one more finalizer"],
)
def test_a_plan_that_is_not_true_any_more_is_refused(stage: Stage, drainer: Drainer, change: Change) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    checked = succeeded(drainer(check_mode=True))
    change(stage)
    before = stage.versions([lb])
    assert "plan" in failed(drainer(plan_hash=checked["plan_hash"]))
    assert stage.versions([lb]) == before


def test_the_plan_of_delete_is_another_one(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))
    retain = succeeded(drainer(policy="Retain", check_mode=True))
    delete = succeeded(drainer(policy="Delete", check_mode=True))
    assert retain["plan_hash"] != delete["plan_hash"]
    assert "plan" in failed(drainer(policy="Delete", plan_hash=retain["plan_hash"]))


def test_more_objects_than_the_task_allows_are_refused(stage: Stage, drainer: Drainer) -> None:
    (one, _other) = stage.put(service("a", stage.namespace, LEGACY), service("b", stage.namespace, LEGACY))
    failed(drainer(max_objects=1))
    assert stage.finalizers(one) == [LEGACY]
    succeeded(drainer(max_objects=2))


def test_an_ingress_of_a_default_class_is_drained(stage: Stage, drainer: Drainer) -> None:
    default = {"ingressclass.kubernetes.io/is-default-class": "true"}
    stage.put(annotated(ingress_class("ngrok"), **default))
    (web,) = stage.put(ingress("web", stage.namespace, LEGACY))
    succeeded(drainer())
    assert stage.finalizers(web) == []
