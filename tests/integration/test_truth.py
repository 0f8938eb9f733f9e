# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every profile against a real release of its product: names, kinds, controllers, and a drain with its own definitions.

On a control plane of its own: tests beside it have other definitions of some of these kinds.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields
from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_products import PRODUCTS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.controllers import labelled
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.controllers import find_controllers
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.profile import (
    Profile,
    ProfileKind,
    read_profile,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.owners import Life
from integration.products import Drainer
from integration.ranked import failed, succeeded
from integration.releases import ARGO_CD, FLUX, KYVERNO_WITHOUT, LONGHORN, TRUTHS
from integration.running import open_cluster, warnings_of
from integration.schemas import has_path, smallest, storage_version
from integration.stage import Body, Stage, body, bring_to_life, deployment, lease
from integration.truth import Truth
from lab.plane.controlplane import ControlPlane

EACH = pytest.mark.parametrize("truth", TRUTHS, ids=str)

# What rules in CEL, or webhooks, ask for besides the schema.
_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "resourceRef": {"name": "a"}}
_USAGE: Body = {"spec": {"of": _CONFIG_MAP, "reason": "a"}}
BESIDES: dict[str, Body] = {
    "Publication.postgresql.cnpg.io": {"spec": {"target": {"allTables": True, "objects": None}}},
    "Usage.apiextensions.crossplane.io": _USAGE,
    "Usage.protection.crossplane.io": _USAGE,
    "ClusterUsage.protection.crossplane.io": _USAGE,
}
# Kinds of Kubernetes itself that carry finalizers of products.
BUILT_IN: dict[str, tuple[str, Body]] = {
    "ClusterRole": ("rbac.authorization.k8s.io/v1", {}),
    "ClusterRoleBinding": (
        "rbac.authorization.k8s.io/v1",
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}},
    ),
    "ConfigMap": ("v1", {}),
    "Deployment": ("apps/v1", {"spec": deployment("a", "a", replicas=0)["spec"]}),
    "Role": ("rbac.authorization.k8s.io/v1", {}),
    "RoleBinding": (
        "rbac.authorization.k8s.io/v1",
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}},
    ),
    "Secret": ("v1", {}),
    "Service": ("v1", {"spec": {"ports": [{"port": 80}]}}),
    "ServiceAccount": ("v1", {}),
}
CLUSTER_WIDE = ("ClusterRole", "ClusterRoleBinding")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """With the real definitions of all products."""
    with ControlPlane.start(tmp_path_factory.mktemp("truth")) as running:
        definitions = [one for truth in TRUTHS for one in truth.crds]
        with ThreadPoolExecutor(8, thread_name_prefix="definitions") as pool:
            list(pool.map(running.api.apply_crd, definitions))
        yield running


@pytest.fixture
def stage(plane: ControlPlane) -> Iterator[Stage]:
    here = Stage(plane)
    yield here
    here.clear()


@pytest.fixture
def drainer(plane: ControlPlane) -> Drainer:
    return Drainer(plane)


def profile_of(truth: Truth) -> Profile:
    bad = BadFields()
    profile = read_profile(PRODUCTS[truth.profile], "profile", bad)
    bad.raise_if_any()
    return profile


def kinds_of(profile: Profile) -> list[ProfileKind]:
    return [*profile.user_kinds, *profile.operator_kinds]


# -- what the profile says ---------------------------------------------------------------------------------------------


def test_every_profile_has_a_release_that_it_is_held_against() -> None:
    assert {*PRODUCTS} - {truth.profile for truth in TRUTHS} == {"ngrok"}


@EACH
def test_the_profile_names_this_release(truth: Truth) -> None:
    how = {one.version: one.how for one in profile_of(truth).checked}
    assert "CRDs applied" in how.get(truth.release, ())


@EACH
def test_its_finalizers_are_those_of_the_source(truth: Truth) -> None:
    assert truth.finalizers() == {*profile_of(truth).finalizers} - truth.elsewhere


@EACH
def test_every_place_that_sets_a_finalizer_is_known(truth: Truth) -> None:
    assert [path for path, kinds in truth.writes.items() if kinds is None] == []


@EACH
def test_its_kinds_are_those_that_the_source_puts_a_finalizer_on(truth: Truth) -> None:
    assert truth.held() == {one.kind for one in kinds_of(profile_of(truth))} - truth.unheld


@EACH
def test_no_group_of_it_is_forgotten(truth: Truth) -> None:
    assert {group for group, _kind in truth.kinds} - {one.group for one in kinds_of(profile_of(truth))} == truth.bare


@EACH
def test_its_kinds_exist(truth: Truth) -> None:
    groups = {group for group, _kind in truth.kinds}
    missing = {one.kind for one in kinds_of(profile_of(truth)) if (one.group, one.kind) not in truth.kinds}
    built_in = {one.kind for one in kinds_of(profile_of(truth)) if one.group not in groups}
    assert missing - built_in <= truth.unheld
    assert built_in <= {*BUILT_IN}


@EACH
def test_the_paths_it_names_exist_in_the_schemas(truth: Truth) -> None:
    profile = profile_of(truth)
    paths = [(one, path) for one in kinds_of(profile) for path in one.external_ids]
    paths += [(one, one.own_policy[0]) for one in kinds_of(profile) if one.own_policy]
    named = [(one.group, one.kind, path) for one, path in paths]
    named += [(one.group, one.kind, one.path) for one in profile.refuse_delete_while]
    schemas = {key: storage_version(one)[1] for key, one in truth.kinds.items()}
    assert [one for one in named if not has_path(schemas[one[0], one[1]], one[2])] == []


@EACH
def test_annotations_it_sets_are_the_products(truth: Truth) -> None:
    names = [name for one in kinds_of(profile_of(truth)) for name, _value in one.annotations]
    assert [name for name in names if not truth.says(name.rpartition("/")[2])] == []


def test_kyverno_has_no_finalizers_any_more() -> None:
    names = PRODUCTS["kyverno"]["finalizers"]
    assert [path for path, text in KYVERNO_WITHOUT.sources() if any(f'"{name}"' in text for name in names)] == []


# -- its controllers ---------------------------------------------------------------------------------------------------


def workloads_of(truth: Truth, namespace: str, replicas: int = 0) -> list[Body]:
    """As the product has them, none available. Longhorn's manifests are in no module: its label is in its source."""
    found = copy.deepcopy(truth.workloads)
    if truth is LONGHORN:
        assert truth.says('"app": LonghornManagerDaemonSetName,')
        assert truth.says('LonghornManagerDaemonSetName = "longhorn-manager"')
        found = [deployment("longhorn-manager", namespace), deployment("longhorn-ui", namespace)]
        found[0]["metadata"]["labels"] = {"app": "longhorn-manager"}
    for one in found:
        one["metadata"]["namespace"] = namespace
        one["spec"]["replicas"] = replicas
    return found


@EACH
def test_its_workloads_are_exactly_the_controllers(truth: Truth, stage: Stage, drainer: Drainer) -> None:
    profile = profile_of(truth)
    stage.put(*workloads_of(truth, stage.namespace))
    with open_cluster(drainer.user.kubeconfig) as cluster:
        found = labelled(profile.workloads, stage.namespace, cluster)
        assert {one.record.name for one in found} == {*truth.controllers}
        assert find_controllers(profile, stage.namespace, (), cluster).owner.life is Life.GONE


@EACH
def test_each_kind_has_its_own_controller(truth: Truth, stage: Stage, drainer: Drainer) -> None:
    kinds = kinds_of(profile_of(truth))
    stage.put(*workloads_of(truth, stage.namespace))
    with open_cluster(drainer.user.kubeconfig) as cluster:
        found = {
            one.kind: [found.record.name for found in labelled(one.finalized_by, stage.namespace, cluster)]
            for one in kinds
        }
    assert found == {one.kind: [name] if (name := truth.cleaner_of(one.kind)) else [] for one in kinds}


@pytest.mark.parametrize(("truth", "kind"), [(FLUX, "Kustomization"), (ARGO_CD, "Application")], ids=str)
def test_delete_is_refused_while_only_another_controller_runs(
    truth: Truth, kind: str, stage: Stage, drainer: Drainer
) -> None:
    [rule] = [one for one in kinds_of(profile_of(truth)) if one.kind == kind]
    [held] = stage.put(thing(truth.kinds[rule.group, kind], stage.namespace, rule.finalizers[0]))
    mine = truth.cleaner_of(kind)
    [down] = [one for one in workloads_of(truth, stage.namespace) if one["metadata"]["name"] == mine]
    another = next(name for name in truth.controllers if name != mine)
    [runs] = [one for one in workloads_of(truth, stage.namespace) if one["metadata"]["name"] == another]
    up = deployment(another, stage.namespace)
    up["metadata"]["labels"] = runs["metadata"]["labels"]
    stage.put(down, up)
    bring_to_life(stage, up)
    message = failed(drainer(truth.profile, policy="Delete"))
    assert "policy Delete needs the running operator" in message
    assert f"{mine} has no available replica" in message
    assert "deletionTimestamp" not in stage.look(held)["metadata"]


@pytest.mark.parametrize(("truth", "name"), [pytest.param(one, name, id=name) for one in TRUTHS for name in one.leases])
def test_a_fresh_lease_shows_that_it_lives(truth: Truth, name: str, stage: Stage, drainer: Drainer) -> None:
    """The Deployment says nothing: none of its replicas is available."""
    assert truth.says(truth.leases[name])
    holder = max((one for one in truth.controllers if name.startswith(one)), key=len, default=truth.controllers[0])
    stage.put(*(one for one in workloads_of(truth, stage.namespace, 1) if one["metadata"]["name"] == holder))
    stage.put(lease(name, stage.namespace, renewed_ago=0, holder=f"{holder}-5d8f9-x2x_1"))
    with open_cluster(drainer.user.kubeconfig) as cluster:
        owner = find_controllers(profile_of(truth), stage.namespace, (), cluster).owner
    assert (owner.life, owner.who) == (Life.ALIVE, f"Lease {stage.namespace}/{name}")


# -- a drain -----------------------------------------------------------------------------------------------------------


def thing(definition: Body, namespace: str, *finalizers: str) -> Body:
    """The smallest object that the product's own schema takes."""
    spec = definition["spec"]
    version, schema = storage_version(definition)
    kind = spec["names"]["kind"]
    made = smallest({**schema, "required": [one for one in schema.get("required", ()) if one not in _GIVEN]})
    place = namespace if spec["scope"] == "Namespaced" else ""
    name = f"{namespace}-{kind.lower()}"
    more = _merged(made, BESIDES.get(f"{kind}.{spec['group']}", {}))
    return body(f"{spec['group']}/{version}", kind, name, place, *finalizers, **more)


_GIVEN = ("apiVersion", "kind", "metadata")


def _merged(made: Body, more: Body) -> Body:
    for key, value in more.items():
        made[key] = _merged(made.get(key) or {}, value) if isinstance(value, dict) else value
    return made


def built_in(kind: ProfileKind, namespace: str) -> Body:
    version, more = BUILT_IN[kind.kind]
    place = "" if kind.kind in CLUSTER_WIDE else namespace
    names = [name for name in kind.finalizers if "/" in name]  # Kubernetes takes no others on kinds of its own
    return body(version, kind.kind, f"{namespace}-{kind.kind.lower()}", place, *names, **more)


def carriers(truth: Truth, namespace: str) -> list[Body]:
    """One object of every kind of the profile, with all finalizers that the profile has for it."""
    profile = profile_of(truth)
    known = {(one.group, one.kind): one for one in kinds_of(profile)}
    made = [built_in(one, namespace) for one in known.values() if one.kind in BUILT_IN]
    return made + [
        thing(truth.kinds[key], namespace, *one.finalizers) for key, one in known.items() if key in truth.kinds
    ]


def still_held(stage: Stage, things: list[Body]) -> list[tuple[str, list[str]]]:
    return [(one["kind"], names) for one in things if (names := stage.finalizers(one))]


@EACH
def test_a_drain_takes_its_finalizers_off_every_kind(truth: Truth, stage: Stage, drainer: Drainer) -> None:
    made = stage.put(*carriers(truth, stage.namespace))
    result = succeeded(drainer(truth.profile, policy="Retain"))
    assert still_held(stage, made) == []
    assert (result["drain_status"], result["progress"]) == ("completed", f"{len(made)}/{len(made)}")


@EACH
def test_a_kind_that_only_a_later_release_holds_is_found_and_freed(
    truth: Truth, stage: Stage, drainer: Drainer
) -> None:
    """Every kind of its groups that is not in the profile, as if the product had begun to put its finalizer there.

    Argo CD and Istio have none: nothing is found, and nothing is done.
    """
    profile = profile_of(truth)
    known, groups = {(one.group, one.kind) for one in kinds_of(profile)}, {one.group for one in kinds_of(profile)}
    others = {key: one for key, one in truth.kinds.items() if key[0] in groups | truth.bare and key not in known}
    made = stage.put(*(thing(one, stage.namespace, profile.finalizers[0]) for one in others.values()))
    result = succeeded(drainer(truth.profile, policy="Retain"))
    assert still_held(stage, made) == []
    text = warnings_of(result)
    assert [
        kind for kind, count in Counter(kind for _group, kind in others).items() if f"{kind} x{count}" not in text
    ] == []


def test_longhorns_remote_backups_are_safe_with_its_own_schemas(stage: Stage, drainer: Drainer) -> None:
    """Delete is refused as long as a target is configured. longhorn-manager is played: nothing of it runs."""
    [manager, _ui] = workloads_of(LONGHORN, stage.namespace, 1)
    stage.put(manager)
    bring_to_life(stage, manager)
    target = thing(LONGHORN.kinds["longhorn.io", "BackupTarget"], stage.namespace, "longhorn.io")
    target["spec"] = {**target.get("spec", {}), "backupTargetURL": "s3://backups@eu/"}
    held = stage.put(target, thing(LONGHORN.kinds["longhorn.io", "Backup"], stage.namespace, "longhorn.io"))
    assert "spec.backupTargetURL" in failed(drainer("longhorn", policy="Delete"))
    assert [one for one in held if "deletionTimestamp" in stage.look(one)["metadata"]] == []
