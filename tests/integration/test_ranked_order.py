# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of a ranked deletion: the default, the three ways to write one, barriers between steps, waves inside them.

Proven by the API server's audit log: what was asked, and when it arrived.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, StepBegan, StepEnded
from integration.ranked import (
    RBAC,
    Remover,
    annotated,
    cluster_role,
    cluster_role_binding,
    define,
    deletions,
    failed,
    in_portions,
    kept,
    manifests,
    named,
    names,
    planned,
    remaining,
    service,
    service_account,
    succeeded,
    when_waiting_for,
)
from integration.running import warnings_of
from integration.stage import CLEANUP, FOREIGN, GROUP, Body, Stage, body, config_map, crd, deployment, gadget, widget
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane

pytestmark = pytest.mark.quick

NAMESPACED = {"predefinedResourceGroup": "namespaced-resources"}
CLUSTER_SCOPED = {"predefinedResourceGroup": "cluster-scoped-resources"}
CRDS = {"predefinedResourceGroup": "crds"}
CONFIG_MAPS = {"group": "", "version": "v1", "kind": "configmaps"}
SECRETS = {"group": "", "version": "v1", "kind": "secrets"}


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


def secret(name: str, namespace: str, *finalizers: str) -> Body:
    return body("v1", "Secret", name, namespace, *finalizers)


def definition(kind: str = "Thing", **more: Any) -> Body:
    """A kind of the test's own, whose definition may be deleted."""
    return crd(kind, f"{secrets.token_hex(4)}.example.com", **more)


def instance(of: Body, name: str, namespace: str, *finalizers: str, version: str = "v1") -> Body:
    spec = of["spec"]
    return body(f"{spec['group']}/{version}", spec["names"]["kind"], name, namespace, *finalizers)


@dataclass
class Chart:
    """Two of each: service accounts (in two namespaces), cluster roles, bindings, definitions."""

    accounts: list[Body] = field(default_factory=list)
    roles: list[Body] = field(default_factory=list)
    bindings: list[Body] = field(default_factory=list)
    definitions: list[Body] = field(default_factory=list)

    @property
    def objects(self) -> list[Body]:
        return [*self.accounts, *self.roles, *self.bindings, *self.definitions]


def put_chart(stage: Stage, *, mark: str = "", with_definitions: bool = True, hold: tuple[str, ...] = ()) -> Chart:
    tail = f"{mark}{secrets.token_hex(3)}"
    first, second = stage.namespace, stage.another_namespace()
    return Chart(
        accounts=stage.put(
            service_account(f"account-a-{tail}", first, *hold), service_account(f"account-b-{tail}", second)
        ),
        roles=stage.put(cluster_role(f"role-a-{tail}", *hold), cluster_role(f"role-b-{tail}")),
        bindings=stage.put(*(cluster_role_binding(f"binding-{x}-{tail}", f"role-{x}-{tail}") for x in "ab")),
        definitions=stage.put(definition("One"), definition("Two")) if with_definitions else [],
    )


def name_of(thing: Body) -> str:
    name: str = thing["metadata"]["name"]
    return name


# -- the default order -------------------------------------------------------------------------------------------------


def test_by_default_namespaced_objects_go_first_then_cluster_scoped_ones_then_definitions(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    chart = put_chart(stage)
    result = succeeded(remove(manifests(*reversed(chart.objects))))
    assert remaining(stage, chart.objects) == []
    expected = [
        sorted(map(name_of, chart.accounts)),
        sorted(map(name_of, (*chart.roles, *chart.bindings))),
        sorted(map(name_of, chart.definitions)),
    ]
    assert in_portions(deletions(audit, remove.user), expected) == expected
    assert [(step["name"], step["rank"], step["total"], step["deleted"]) for step in result["steps"]] == [
        ("namespaced resources", 100, 2, 2),
        ("cluster-scoped resources", 200, 4, 4),
        ("custom resource definitions", 300, 2, 2),
    ]
    assert (result["changed"], result["survivors"], result["unmatched"]) == (True, [], [])


def test_the_next_step_is_not_touched_before_every_object_of_the_one_before_is_gone(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    held, free = stage.put(config_map("held", stage.namespace, CLEANUP), config_map("free", stage.namespace))
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))
    seen: list[Any] = []

    def release() -> None:
        seen.append(stage.look(later))
        stage.release(held)

    waiting = when_waiting_for(CLEANUP, release)
    events: list[Any] = []

    def note(event: Any) -> None:
        events.append(event)
        waiting(event)

    succeeded(remove(named(held, free, later), on_event=note))
    assert seen == [later], "untouched, while its predecessor was held and everything else of that step was gone"
    assert remaining(stage, [held, free, later]) == []
    times = {(event.verb, event.name): event.time for event in audit.writes()}
    assert times["delete", "held"] < times["patch", "held"] < times["delete", name_of(later)]
    # The timeline shows the same: by resourceVersion, the step's own end lies before the next deletion.
    order = [event for event in events if isinstance(event, (Did, StepBegan, StepEnded))]
    ended = next(i for i, event in enumerate(order) if isinstance(event, StepEnded))
    assert {event.object.name for event in order[:ended] if isinstance(event, Did)} == {"held", "free"}
    assert [event.object.name for event in order[ended:] if isinstance(event, Did)] == [name_of(later)]


def test_a_namesake_that_comes_back_does_not_hold_the_barrier(remove: Remover, stage: Stage) -> None:
    """Gone means this uid. Somebody has created another object of that name meanwhile."""
    [held] = stage.put(config_map("held", stage.namespace, CLEANUP))
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))
    again: list[Body] = []

    def swap() -> None:
        stage.release(held)
        again.extend(stage.put(config_map("held", stage.namespace)))

    succeeded(remove(named(held, later), on_event=when_waiting_for(CLEANUP, swap)))
    assert remaining(stage, [held, later]) == []
    assert stage.look(again[0]) == again[0]


def test_what_is_already_being_deleted_is_waited_for_without_a_second_delete(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    [held] = stage.hang(config_map("held", stage.namespace, CLEANUP))
    result = succeeded(remove(named(held), on_event=when_waiting_for(CLEANUP, lambda: stage.release(held))))
    assert deletions(audit, remove.user) == []
    assert result["counts"]["terminating"] == 1
    assert (result["steps"][0]["deleted"], result["steps"][0]["gone"]) == (0, 1)  # another client has deleted it
    assert stage.is_gone(held)


# -- dialect A: groups -------------------------------------------------------------------------------------------------


def test_groups_are_processed_in_the_order_they_are_written(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    things = stage.put(
        config_map("map", stage.namespace),
        secret("secret", stage.namespace),
        service_account("account", stage.namespace),
        gadget(f"gadget-{stage.namespace}"),
    )
    groups = [{"resources": [CONFIG_MAPS, SECRETS]}, CLUSTER_SCOPED, NAMESPACED, CRDS]
    succeeded(remove(manifests(*things), deletion_groups=groups))
    expected = [["map", "secret"], [f"gadget-{stage.namespace}"], ["account"]]
    assert in_portions(deletions(audit, remove.user), expected) == expected


def test_a_group_left_out_leaves_its_objects_there_and_reports_them_as_unmatched(remove: Remover, stage: Stage) -> None:
    chart = put_chart(stage)
    result = succeeded(remove(manifests(*chart.objects), deletion_groups=[NAMESPACED, CLUSTER_SCOPED]))
    assert remaining(stage, chart.objects) == sorted(map(name_of, chart.definitions))
    assert names(result["unmatched"]) == sorted(map(name_of, chart.definitions))
    assert {verdict for verdict, _reason in kept(result).values()} == {"unmatched"}


def test_selector_all_takes_objects_of_the_type_that_are_not_members(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here, there = stage.namespace, stage.another_namespace()
    member, stranger = stage.put(widget("member", here), widget("stranger", there))
    [other] = stage.put(config_map("member", here))
    everything = {"group": GROUP, "version": "v1", "kind": "widgets", "selector": {"all": True}}
    groups = [{"resources": [everything]}, NAMESPACED]
    succeeded(remove(manifests(member, other), deletion_groups=groups))
    assert remaining(stage, [member, stranger, other]) == []
    expected = [["member", "stranger"], ["member"]]
    assert in_portions(deletions(audit, remove.user), expected) == expected


def test_selector_all_runs_for_an_empty_release_too(remove: Remover, stage: Stage) -> None:
    """Landscaper returns before it looks at the groups when the release has no objects left."""
    [stranger] = stage.put(widget("stranger", stage.namespace))
    everything = {"group": GROUP, "kind": "Widget", "selector": {"all": True}}
    gone = config_map("never-was", stage.namespace)
    succeeded(remove(manifests(gone), deletion_groups=[{"resources": [everything]}]))
    assert stage.is_gone(stranger)


# -- dialect B: ranks --------------------------------------------------------------------------------------------------


def test_the_seeds_example_of_ranks_gives_the_order_it_lists(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    first, second = define(stage, definition("First")), define(stage, definition("Second"))
    here, outside = stage.another_namespace(), stage.another_namespace()
    inside = stage.put(
        config_map("map", here),
        secret("secret", here, CLEANUP),
        instance(first, "first", here),
        instance(second, "second", here),
        service_account("account", here),
    )
    role = stage.put(cluster_role(f"role-{here}"))
    strangers = stage.put(config_map("foreign-map", outside), instance(first, "foreign-first", outside))
    [foreign_second] = stage.put(secret("foreign-secret", outside))
    namespace = body("v1", "Namespace", here, "")
    rules = [
        {"deletionRank": 150, "types": [{"group": None, "version": "v1", "kind": "namespace"}]},
        {
            "deletionRank": 51,
            "types": [{"group": "", "version": "v1", "kind": "secret"}],
            "forceDelete": {"enabled": True},
        },
        {
            "deletionRank": 50,
            "types": [{"group": "", "version": "v1", "kind": "configmap", "selector": {"all": True}}],
            "namespaces": [here, outside],  # other tests have ConfigMaps of their own
        },
        {"deletionRank": 53, "types": [{"group": second["spec"]["group"], "version": "v1", "kind": "second"}]},
        {
            "deletionRank": 52,
            "types": [{"group": first["spec"]["group"], "version": "v1", "kind": "first", "selector": {"all": True}}],
        },
    ]
    members = manifests(*inside, *role, namespace, first, second)
    result = succeeded(remove(members, deletion_order_rules=rules, force_after=0))
    mine = {"map", "foreign-map", "secret", "first", "foreign-first", "second", "account", here, f"role-{here}"}
    mine |= {name_of(first), name_of(second)}
    expected = [
        ["foreign-map", "map"],
        ["secret"],
        ["first", "foreign-first"],
        ["second"],
        ["account"],
        [here],
        [f"role-{here}"],
        sorted([name_of(first), name_of(second)]),
    ]
    order = [name for name in deletions(audit, remove.user) if name in mine]
    assert in_portions(order, expected) == expected
    assert remaining(stage, [*inside, *role, *strangers]) == []
    assert remaining(stage, [foreign_second]) == ["foreign-secret"]
    assert [step["rank"] for step in result["steps"]] == [50, 51, 52, 53, 100, 150, 200, 300]
    assert result["steps"][1]["released"] == 1


def test_standard_ranks_are_added_and_a_negative_rank_comes_first(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    things = stage.put(
        config_map("map", stage.namespace),
        gadget(f"gadget-{stage.namespace}"),
        service_account("account", stage.namespace),
    )
    rules = [{"deletionRank": -5, "types": [{"group": GROUP, "version": "v1", "kind": "gadget"}]}]
    result = succeeded(remove(manifests(*things), deletion_order_rules=rules))
    expected = [[f"gadget-{stage.namespace}"], ["account", "map"]]
    assert in_portions(deletions(audit, remove.user), expected) == expected
    assert [step["rank"] for step in result["steps"]] == [-5, 100, 200, 300]


def test_a_skipped_standard_rank_keeps_its_objects_and_reports_them(remove: Remover, stage: Stage) -> None:
    things = stage.put(config_map("map", stage.namespace), gadget(f"gadget-{stage.namespace}"))
    result = succeeded(remove(manifests(*things), deletion_order_rules=[{"deletionRank": 200, "skip": True}]))
    assert remaining(stage, things) == [f"gadget-{stage.namespace}"]
    assert names(result["unmatched"]) == [f"gadget-{stage.namespace}"]


def test_a_rank_after_the_standard_one_takes_its_type_out_of_it(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    things = stage.put(config_map("map", stage.namespace), secret("secret", stage.namespace))
    rules = [{"deletion_rank": 400, "types": [{"version": "v1", "kind": "ConfigMap"}]}]
    succeeded(remove(manifests(*things), deletion_order_rules=rules))
    assert deletions(audit, remove.user) == ["secret", "map"]


# -- dialect C: as Landscaper ships it; its own cases, in our words ----------------------------------------------------

ACCOUNTS = {"apiVersion": "v1", "kind": "ServiceAccount"}
ROLES = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole"}
BINDINGS = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding"}


def predefined(kind: str, **more: Any) -> dict[str, Any]:
    return {"predefinedResourceGroup": {"type": kind, **more}}


def custom(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"customResourceGroup": {"resources": list(resources), **more}}


@pytest.mark.parametrize(
    ("group", "parts"),
    [
        ("namespaced-resources", ("accounts",)),
        ("cluster-scoped-resources", ("roles", "bindings")),
        ("crds", ("definitions",)),
        ("empty", ()),
    ],
)
def test_a_single_predefined_group_takes_its_class_of_objects_and_leaves_the_rest(
    remove: Remover, stage: Stage, group: str, parts: tuple[str, ...]
) -> None:
    chart = put_chart(stage)
    result = succeeded(remove(manifests(*chart.objects), deletion_groups=[predefined(group)]))
    taken = [thing for part in parts for thing in getattr(chart, part)]
    left = sorted({name_of(thing) for thing in chart.objects} - {name_of(thing) for thing in taken})
    assert remaining(stage, chart.objects) == left
    assert names(result["unmatched"]) == left
    assert result["changed"] is bool(taken)


def test_a_custom_group_takes_exactly_the_names_and_namespaces_it_lists(remove: Remover, stage: Stage) -> None:
    chart = put_chart(stage, with_definitions=False)
    there = chart.accounts[1]["metadata"]["namespace"]
    groups = [custom({**ACCOUNTS, "namespaces": [there]}, BINDINGS, {**ROLES, "names": [name_of(chart.roles[0])]})]
    succeeded(remove(manifests(*chart.objects), deletion_groups=groups))
    assert remaining(stage, chart.objects) == sorted([name_of(chart.accounts[0]), name_of(chart.roles[1])])


def test_cluster_scoped_first_then_accounts_of_one_namespace_leaves_the_definitions(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    chart = put_chart(stage)
    groups = [predefined("cluster-scoped-resources"), custom({**ACCOUNTS, "namespaces": [stage.namespace]})]
    succeeded(remove(manifests(*chart.objects), deletion_groups=groups))
    left = [chart.accounts[1], *chart.definitions]
    assert remaining(stage, chart.objects) == sorted(map(name_of, left))
    expected = [sorted(map(name_of, (*chart.roles, *chart.bindings))), [name_of(chart.accounts[0])]]
    assert in_portions(deletions(audit, remove.user), expected) == expected


def test_force_on_two_groups_strips_two_finalizers_each(remove: Remover, stage: Stage) -> None:
    chart = put_chart(stage, with_definitions=False, hold=(CLEANUP, FOREIGN))
    groups = [predefined("namespaced-resources", forceDelete=True), custom(ROLES, BINDINGS, forceDelete=True)]
    result = succeeded(remove(manifests(*chart.objects), deletion_groups=groups, force_after=0))
    assert remaining(stage, chart.objects) == []
    assert [step["released"] for step in result["steps"]] == [1, 1]


@pytest.mark.parametrize(
    ("groups", "parts"),
    [
        (None, ("accounts", "roles", "bindings")),
        ([predefined("cluster-scoped-resources")], ("roles", "bindings")),
        ([custom(ACCOUNTS)], ("accounts",)),
    ],
    ids=["default", "cluster-scoped", "one type"],
)
def test_an_update_prunes_orphans_of_the_chosen_groups_only(
    remove: Remover, stage: Stage, groups: Any, parts: tuple[str, ...]
) -> None:
    """The new chart has lost its first account, its first role and its first binding."""
    chart = put_chart(stage, with_definitions=False)
    desired = [chart.accounts[1], chart.roles[1], chart.bindings[1]]
    options = {"deletion_groups_during_update": groups} if groups else {}
    result = succeeded(
        remove(manifests(*chart.objects), state="pruned", desired=manifests(*desired)["manifests"], **options)
    )
    orphans = {part: getattr(chart, part)[0] for part in ("accounts", "roles", "bindings")}
    gone = {name_of(orphans[part]) for part in parts}
    assert remaining(stage, chart.objects) == sorted({name_of(thing) for thing in chart.objects} - gone)
    assert names(result["unmatched"]) == sorted({name_of(thing) for thing in orphans.values()} - gone)


@pytest.mark.parametrize("narrowed", ["types", "namespace", "names", "names and namespace"])
def test_delete_all_reaches_a_second_release_as_far_as_it_is_narrowed(
    remove: Remover, stage: Stage, narrowed: str
) -> None:
    here, there = stage.namespace, stage.another_namespace()
    mine = stage.put(widget("a", here), widget("b", here), widget("a", there))
    other = stage.put(widget("c", here), widget("c", there), widget("d", there))
    narrowing = {
        "types": {},
        "namespace": {"namespaces": [there]},
        "names": {"names": ["c"]},
        "names and namespace": {"names": ["a", "c"], "namespaces": [here]},
    }[narrowed]
    groups = [custom({"apiVersion": f"{GROUP}/v1", "kind": "Widget", **narrowing}, deleteAllResources=True)]
    succeeded(remove(manifests(*mine), deletion_groups=groups))
    left = [(thing["metadata"]["namespace"], name_of(thing)) for thing in (*mine, *other) if not stage.is_gone(thing)]
    assert sorted(left) == sorted(
        {
            "types": [],
            "namespace": [(here, "a"), (here, "b"), (here, "c")],
            "names": [(here, "a"), (here, "b"), (there, "a"), (there, "d")],
            "names and namespace": [(here, "b"), (there, "a"), (there, "c"), (there, "d")],
        }[narrowed]
    )


# -- which objects a group takes ---------------------------------------------------------------------------------------


def test_globs_labels_and_exclusions_narrow_every_group(remove: Remover, stage: Stage) -> None:
    here = stage.namespace
    things = stage.put(
        config_map("web-1", here, labels={"tier": "web"}),
        config_map("web-2", here, labels={"tier": "web"}),
        config_map("db-1", here, labels={"tier": "db"}),
        secret("web-secret", here),
        service_account("web-account", here),
    )
    groups = [
        {**NAMESPACED, "names": ["web-*"], "namespaces": [f"{here[:-2]}*"], "exclude": [{"kind": "sa"}]},
        {"resources": [{**CONFIG_MAPS, "labelSelector": "tier notin (web)"}]},
    ]
    result = succeeded(remove(manifests(*things), deletion_groups=groups))
    assert remaining(stage, things) == ["web-account"]
    assert [step["deleted"] for step in result["steps"]] == [3, 1]


def test_an_exclusion_may_be_narrowed_itself(remove: Remover, stage: Stage) -> None:
    things = stage.put(config_map("a", stage.namespace), config_map("b", stage.namespace))
    groups = [{**NAMESPACED, "exclude": [{"kind": "ConfigMap", "names": ["b"]}]}]
    succeeded(remove(manifests(*things), deletion_groups=groups))
    assert remaining(stage, things) == ["b"]


@pytest.mark.parametrize("spelling", ["configmaps", "configmap", "cm", "ConfigMap", "CONFIGMAPS", "Cm"])
def test_a_type_is_understood_in_every_spelling(remove: Remover, stage: Stage, spelling: str) -> None:
    things = stage.put(config_map("map", stage.namespace), service_account("account", stage.namespace))
    groups = [{"resources": [{"group": "", "version": "v1", "kind": spelling}]}]
    result = succeeded(remove(manifests(*things), check_mode=True, deletion_groups=groups))
    assert planned(result) == [["map"]]


@pytest.mark.parametrize("version", ["v1beta1", "v1", "v1alpha1", None])
def test_the_version_of_a_rule_need_not_be_the_one_the_object_was_written_in(
    remove: Remover, stage: Stage, version: str | None
) -> None:
    """One stored object, shown in every served version: a rule is about the kind. It is deleted and counted once."""
    [old] = stage.put(body(f"{GROUP}/v1beta1", "Widget", "old", stage.namespace))
    rule = {"group": GROUP, "kind": "widgets", **({"version": version} if version else {})}
    also = body(f"{GROUP}/v1", "Widget", "old", stage.namespace)
    result = succeeded(remove(manifests(old, also), deletion_groups=[{"resources": [rule]}]))
    assert stage.is_gone(old)
    assert result["steps"][0]["total"] == 1


def test_a_type_that_is_not_installed_is_an_empty_set_with_a_warning(remove: Remover, stage: Stage) -> None:
    [thing] = stage.put(config_map("map", stage.namespace))
    groups = [{"resources": [{"group": "nowhere.example.org", "version": "v1", "kind": "zeppelins"}]}, NAMESPACED]
    result = succeeded(remove(manifests(thing), deletion_groups=groups))
    assert stage.is_gone(thing)
    assert "zeppelins" in warnings_of(result)
    assert "not installed" in warnings_of(result)


def test_a_members_kind_that_is_not_installed_any_more_is_gone_with_a_warning(remove: Remover, stage: Stage) -> None:
    """Otherwise a second run, after the definitions went, would fail."""
    [thing] = stage.put(config_map("map", stage.namespace))
    lost = body("nowhere.example.org/v1", "Zeppelin", "hindenburg", stage.namespace)
    result = succeeded(remove(manifests(thing, lost)))
    assert stage.is_gone(thing)
    assert "Zeppelin" in warnings_of(result)


# -- bad orders --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"deletion_groups": [{"resources": [{**CONFIG_MAPS, "kind": "configmpas"}]}]}, "did you mean ConfigMap"),
        ({"deletion_groups": [{"resources": [{"group": "", "kind": "deployments"}]}]}, "apps/v1"),
        ({"deletion_groups": [NAMESPACED], "deletion_order_rules": [{"deletionRank": 100}]}, "cannot stand together"),
        (
            {
                "deletion_order_rules": [
                    {"deletionRank": 7, "types": [CONFIG_MAPS]},
                    {"deletionRank": 7, "types": [SECRETS]},
                ]
            },
            "deletion_order_rules[1].deletionRank",
        ),
        ({"deletion_order_rules": [{"deletionRank": 200, "types": [SECRETS]}]}, "deletion_order_rules[0].types"),
        ({"deletion_order_rules": [{"deletionRank": 7}]}, "deletion_order_rules[0].types"),
        ({"deletion_order_rules": [{"types": [SECRETS]}]}, "deletion_order_rules[0].deletionRank"),
        (
            {"deletion_order_rules": [{"deletionRank": 7, "types": [SECRETS], "skip": True}]},
            "deletion_order_rules[0].skip",
        ),
        ({"deletion_groups": [NAMESPACED, {**CRDS, "resources": [SECRETS]}]}, "deletion_groups[1]: needs exactly one"),
        ({"deletion_groups": [{"forceDelete": True}]}, "deletion_groups[0]: needs exactly one"),
        ({"deletion_groups": [{"resources": []}]}, "deletion_groups[0].resources"),
        ({"deletion_groups": [custom()]}, "deletion_groups[0].customResourceGroup.resources"),
        ({"deletion_groups": [{"predefinedResourceGroup": {}}]}, "deletion_groups[0].predefinedResourceGroup.type"),
        ({"deletion_groups": [predefined("everything")]}, "deletion_groups[0].predefinedResourceGroup.type"),
        (
            {"deletion_groups": [{"resources": [{**SECRETS, "seletor": {"all": True}}]}]},
            "deletion_groups[0].resources[0].seletor: is not known here; did you mean selector?",
        ),
        ({"deletion_groups": [{"resources": [{"group": ""}]}]}, "deletion_groups[0].resources[0].kind"),
        ({"deletion_groups": [{**NAMESPACED, "labelSelector": "a in b"}]}, "deletion_groups[0].labelSelector"),
        ({"deletion_groups": [{"resources": [SECRETS], "targetName": "other"}]}, "deletion_groups[0].targetName"),
        ({"deletion_groups": [{**NAMESPACED, "timeout": 0}]}, "deletion_groups[0].timeout"),
        (
            {"deletion_groups": [{**NAMESPACED, "beforeDelete": {"scale": "none"}}]},
            "deletion_groups[0].beforeDelete.scale",
        ),
        ({"state": "pruned"}, "desired"),
        (
            {
                "state": "pruned",
                "desired": [],
                "deletion_groups_during_update": [{"resources": [{**SECRETS, "selector": {"all": True}}]}],
            },
            "deletion_groups_during_update",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_bad_order_is_refused_with_the_place_of_the_mistake_before_anything_is_written(
    remove: Remover, stage: Stage, audit: AuditTrail, options: dict[str, Any], said: str
) -> None:
    things = stage.put(config_map("map", stage.namespace), secret("secret", stage.namespace))
    assert said in failed(remove(manifests(*things), **options))
    assert audit.writes(remove.user.name) == []
    assert remaining(stage, things) == ["map", "secret"]


def test_every_mistake_is_named_at_once(remove: Remover, stage: Stage) -> None:
    groups = [{"resources": []}, {**CRDS, "resources": [SECRETS]}, {"predefinedResourceGroup": "crd"}]
    said = failed(remove(named(config_map("map", "nowhere")), deletion_groups=groups))
    for place in ("deletion_groups[0].resources", "deletion_groups[1]", "deletion_groups[2].predefinedResourceGroup"):
        assert place in said


# -- waves inside a step -----------------------------------------------------------------------------------------------


def test_a_custom_resource_goes_before_its_definition_even_in_one_step(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    thing = define(stage, definition("Thing"))
    [one] = stage.put(instance(thing, "one", stage.namespace))
    both = [{"kind": "CustomResourceDefinition"}, {"group": thing["spec"]["group"], "kind": "Thing"}]
    result = succeeded(remove(named(thing, one), deletion_groups=[{"resources": both}]))
    assert deletions(audit, remove.user) == ["one", name_of(thing)]
    assert result["steps"][0]["deleted"] == 2


def test_content_goes_before_its_namespace_even_in_one_step(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    here = stage.another_namespace()
    [content] = stage.put(config_map("content", here))
    namespace = body("v1", "Namespace", here, "")
    both = [{"kind": "Namespace"}, {"kind": "ConfigMap"}]
    succeeded(remove(named(namespace, content), deletion_groups=[{"resources": both}]))
    assert deletions(audit, remove.user) == ["content", here]


def test_who_depends_on_another_goes_before_it(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    here = stage.namespace
    chain = [
        annotated(
            config_map("roof", here), **{"config.kubernetes.io/depends-on": f"/namespaces/{here}/ConfigMap/walls"}
        ),
        annotated(
            config_map("walls", here), **{"config.kubernetes.io/depends-on": f"/namespaces/{here}/Secret/ground, /x/y"}
        ),
    ]
    made = stage.put(secret("ground", here), *chain)
    succeeded(remove(named(*made)))
    assert deletions(audit, remove.user) == ["roof", "walls", "ground"]


def test_objects_that_depend_on_each_other_in_a_circle_are_refused(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here = stage.namespace
    made = stage.put(
        annotated(config_map("hen", here), **{"config.kubernetes.io/depends-on": f"/namespaces/{here}/ConfigMap/egg"}),
        annotated(config_map("egg", here), **{"config.kubernetes.io/depends-on": f"/namespaces/{here}/ConfigMap/hen"}),
    )
    said = failed(remove(named(*made)))
    assert "circle" in said
    assert "hen" in said
    assert audit.writes(remove.user.name) == []


def test_custom_resources_are_gone_before_their_operator_is_touched(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here = stage.namespace
    held, operator = stage.put(widget("held", here, CLEANUP), deployment("operator", here))
    account = stage.put(service_account("operator", here))[0]
    succeeded(
        remove(manifests(operator, account, held), on_event=when_waiting_for(CLEANUP, lambda: stage.release(held)))
    )
    ours = [event for event in audit.writes(remove.user.name) if event.verb == "delete"]
    assert ours[0].resource == "widgets"
    [released] = [event for event in audit.writes() if event.verb == "patch" and event.name == "held"]
    assert {event.resource for event in ours if event.time > released.time} >= {"deployments", "serviceaccounts"}
    assert [event.resource for event in ours if event.time < released.time] == ["widgets"]


def test_custom_resources_without_a_namespace_are_gone_before_the_operator_too(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    """They are cluster-scoped, and yet their operator, which is not, must outlive them."""
    here = stage.namespace
    made = stage.put(gadget(f"gadget-{here}"), service_account("operator", here), cluster_role(f"role-{here}"))
    succeeded(remove(manifests(*made)))
    assert deletions(audit, remove.user) == [f"gadget-{here}", "operator", f"role-{here}"]


def webhooks(name: str, namespace: str, backend: str, kind: str = "Validating") -> Body:
    hook = {
        "name": "hook.example.com",
        "clientConfig": {"service": {"namespace": namespace, "name": backend}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": [
            {"apiGroups": ["none.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["x"]}
        ],
    }
    return body("admissionregistration.k8s.io/v1", f"{kind}WebhookConfiguration", name, "", webhooks=[hook])


def test_by_default_webhook_configurations_go_before_the_backends_they_call(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here = stage.namespace
    made = stage.put(
        service("backend", here),
        webhooks(f"validating-{here}", here, "backend"),
        webhooks(f"mutating-{here}", here, "backend", "Mutating"),
        cluster_role(f"role-{here}"),
    )
    result = succeeded(remove(manifests(*made)))
    expected = [[f"mutating-{here}", f"validating-{here}"], ["backend"], [f"role-{here}"]]
    assert in_portions(deletions(audit, remove.user), expected) == expected
    assert result["steps"][0]["name"] == "webhook configurations"


def test_in_a_step_of_ones_own_webhook_configurations_go_before_their_backends_too(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here = stage.namespace
    made = stage.put(service("backend", here), webhooks(f"validating-{here}", here, "backend"))
    both = [{"kind": "Service"}, {"kind": "ValidatingWebhookConfiguration"}]
    succeeded(remove(manifests(*made), deletion_groups=[{"resources": both}]))
    assert deletions(audit, remove.user) == [f"validating-{here}", "backend"]


def test_whoever_converts_a_kind_outlives_its_objects(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    """Without its converter a kind cannot even be listed in its other versions."""
    here = stage.namespace
    converted = definition("Converted")
    client = {"service": {"namespace": here, "name": "converter"}}
    converted["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
    }
    define(stage, converted)
    group = converted["spec"]["group"]
    made = stage.put(service("converter", here), instance(converted, "held", here, CLEANUP), config_map("map", here))
    kinds = [{"kind": "Service"}, {"group": group, "kind": "Converted"}]
    held = made[1]
    result = succeeded(
        remove(
            manifests(*made),
            deletion_groups=[{"resources": kinds}, NAMESPACED],
            on_event=when_waiting_for(CLEANUP, lambda: stage.release(held)),
        )
    )
    assert deletions(audit, remove.user) == ["held", "converter", "map"]
    assert result["steps"][0]["deleted"] == 2


def test_change_rules_of_kapp_count_when_the_task_says_so(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    here = stage.namespace
    group, rule = "kapp.k14s.io/change-group", "kapp.k14s.io/change-rule"
    made = stage.put(
        annotated(config_map("base", here), **{rule: "delete after deleting example.com/app"}),
        annotated(secret("app", here), **{group: "example.com/app", rule: "upsert after upserting example.com/base"}),
        annotated(config_map("first", here), **{f"{rule}.one": "delete before deleting example.com/app"}),
    )
    assert planned(succeeded(remove(named(*made), check_mode=True))) == [["app", "base", "first"]]
    succeeded(remove(named(*made), order_annotations=["kapp"]))
    assert deletions(audit, remove.user) == ["first", "app", "base"]


def test_a_circle_of_kapp_rules_is_refused(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    group, rule = "kapp.k14s.io/change-group", "kapp.k14s.io/change-rule"
    made = stage.put(
        *(
            annotated(config_map(one, stage.namespace), **{group: one, rule: f"delete after deleting {other}"})
            for one, other in (("hen", "egg"), ("egg", "hen"))
        )
    )
    assert "circle" in failed(remove(named(*made), order_annotations=["kapp"]))
    assert audit.writes(remove.user.name) == []


def test_sync_waves_of_argo_cd_count_backwards_when_the_task_says_so(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here, wave = stage.namespace, "argocd.argoproj.io/sync-wave"
    made = stage.put(
        annotated(config_map("early", here), **{wave: "-1"}),
        config_map("zero", here),
        annotated(secret("late", here), **{wave: "10"}),
        annotated(config_map("late-too", here), **{wave: "10"}),
    )
    succeeded(remove(named(*made), order_annotations=["argocd"]))
    expected = [["late", "late-too"], ["zero"], ["early"]]
    assert in_portions(deletions(audit, remove.user), expected) == expected
