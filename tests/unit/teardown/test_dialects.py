# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Three ways to write a deletion order, and the one list of steps they come to."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.plugins.module_utils.teardown.dialects import (
    CUSTOM_KEYS,
    GROUP_KEYS,
    RULE_KEYS,
    TYPE_KEYS,
    read_order,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.steps import (
    DEFAULT_STEPS,
    Narrowing,
    Standard,
    StepRule,
    TypeRule,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

NAMESPACED = "namespaced-resources"
CM = {"kind": "cm"}


def show(steps: tuple[StepRule, ...]) -> str:
    """One line a step: rank, what it takes, and what is special about it."""
    return "".join(f"{step.rank} {_taken(step)}{_marks(step)}\n" for step in steps)


def _taken(step: StepRule) -> str:
    return f"<{step.standard.value}>" if step.standard else ", ".join(_type(entry) for entry in step.types)


def _type(entry: TypeRule) -> str:
    group = "anything" if entry.group is None else entry.group or "core"
    return f"{'every ' if entry.everything else ''}{group}/{entry.version or 'any'} {entry.kind}"


def _marks(step: StepRule) -> str:
    marks = {
        " force": step.force,
        f" in {step.context}": step.context,
        f" within {step.timeout} s": step.timeout,
    }
    return "".join(text for text, given in marks.items() if given)


def groups(text: str) -> str:
    return show(read_order(yaml.safe_load(text), None))


def rules(text: str) -> str:
    return show(read_order(None, yaml.safe_load(text)))


def complaints(groups: Any = None, rules: Any = None) -> list[str]:
    with pytest.raises(BadOption) as refused:
        read_order(groups, rules)
    return re.split(r"; (?=deletion_)", refused.value.why)  # a complaint may hold "; " itself


# -- the default -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", [None, []], ids=["not given", "an empty list"])
def test_without_an_order_namespaced_objects_go_first_and_definitions_last(nothing: Any) -> None:
    assert read_order(nothing, nothing) == DEFAULT_STEPS
    assert show(DEFAULT_STEPS) == f"100 <{NAMESPACED}>\n200 <cluster-scoped-resources>\n300 <crds>\n"


# -- dialect A: the seed's groups --------------------------------------------------------------------------------------

SEED_A: dict[str, tuple[str, str]] = {
    "the default written out": (
        """
        - predefinedResourceGroup: namespaced-resources
        - predefinedResourceGroup: cluster-scoped-resources     # does not include the crds
        - predefinedResourceGroup: crds
        """,
        "1 <namespaced-resources>\n2 <cluster-scoped-resources>\n3 <crds>\n",
    ),
    "definitions are skipped": (
        """
        - predefinedResourceGroup: namespaced-resources
        - predefinedResourceGroup: cluster-scoped-resources
        """,
        "1 <namespaced-resources>\n2 <cluster-scoped-resources>\n",
    ),
    "force": (
        """
        - predefinedResourceGroup: namespaced-resources
          force-delete:
            enabled: true
        - predefinedResourceGroup: cluster-scoped-resources
          force-delete:
            enabled: true
        - predefinedResourceGroup: crds
        """,
        "1 <namespaced-resources> force\n2 <cluster-scoped-resources> force\n3 <crds>\n",
    ),
    "certain resources first": (
        """
        - resources:
            - group:   ""
              version: "v1"
              kind:    "configmaps"
            - group:   ""
              version: "v1"
              kind:    "secrets"
        - predefinedResourceGroup: namespaced-resources
        """,
        "1 core/v1 configmaps, core/v1 secrets\n2 <namespaced-resources>\n",
    ),
    "resources outside the chart": (
        """
        - resources:
            - group:   "my.group"
              version: "v1"
              kind:    "mycustomresources"
              selector:
                all: true
        - predefinedResourceGroup: crds
        """,
        "1 every my.group/v1 mycustomresources\n2 <crds>\n",
    ),
    "force switched off": (
        "[{predefinedResourceGroup: crds, force-delete: {enabled: false}}]",
        "1 <crds>\n",
    ),
}


@pytest.mark.parametrize(("text", "steps"), named(SEED_A))
def test_the_seeds_groups_are_read_as_the_seed_says(text: str, steps: str) -> None:
    assert groups(text) == steps


# -- dialect C: the groups Landscaper ships ----------------------------------------------------------------------------

LANDSCAPER: dict[str, tuple[str, str]] = {
    "predefined": ("[{predefinedResourceGroup: {type: crds}}]", "1 <crds>\n"),
    "predefined and forced": ("[{predefinedResourceGroup: {type: crds, forceDelete: true}}]", "1 <crds> force\n"),
    "nothing at all": ("[{predefinedResourceGroup: {type: empty}}]", "1 <empty>\n"),
    "custom": (
        "[{customResourceGroup: {resources: [{apiVersion: v1, kind: A}, {apiVersion: apps/v1, kind: B}]}}]",
        "1 core/v1 A, apps/v1 B\n",
    ),
    "custom, all of them, by force": (
        "[{customResourceGroup: {resources: [{apiVersion: v1, kind: A}, {kind: B}], deleteAllResources: true,"
        " forceDelete: true}}]",
        "1 every core/v1 A, every anything/any B force\n",
    ),
    "another cluster": (
        "[{customResourceGroup: {resources: [{apiVersion: v1, kind: A}], deleteAllResources: true, targetName: edge}}]",
        "1 every core/v1 A in edge\n",
    ),
    "both dialects in one list": (
        "[{predefinedResourceGroup: crds}, {predefinedResourceGroup: {type: crds}}, {resources: [{kind: A}]},"
        " {customResourceGroup: {resources: [{kind: B}]}}]",
        "1 <crds>\n2 <crds>\n3 anything/any A\n4 anything/any B\n",
    ),
}


@pytest.mark.parametrize(("text", "steps"), named(LANDSCAPER))
def test_landscapers_groups_are_read_too(text: str, steps: str) -> None:
    assert groups(text) == steps


# -- dialect B: the seed's ranks ---------------------------------------------------------------------------------------

STANDARD = "100 <namespaced-resources>\n200 <cluster-scoped-resources>\n300 <crds>\n"
SEED_B: dict[str, tuple[str, str]] = {
    "the seed's long example": (
        """
        - deletionRank: 50
          types:
          - group: ""
            version: v1
            kind: configmap
            selector:
              all: true
        - deletionRank: 51
          types:
          - group: ""
            version: v1
            kind: secret
          forceDelete:
            enabled: true
        - deletionRank: 52
          types:
          - group: g1
            version: v1
            kind: k1
            selector:
              all: true
        - deletionRank: 53
          types:
          - group: g2
            version: v2
            kind: k3
        - deletionRank: 150 # rank higher than the namespaced objects
          types:
          - group:
            version: v1
            kind: namespace
        """,
        "50 every core/v1 configmap\n"
        "51 core/v1 secret force\n"
        "52 every g1/v1 k1\n"
        "53 g2/v2 k3\n"
        "100 <namespaced-resources>\n"
        "150 core/v1 namespace\n"
        "200 <cluster-scoped-resources>\n"
        "300 <crds>\n",
    ),
    "order in the list does not count, and ranks may be negative": (
        "[{deletionRank: 7, types: [{kind: B}]}, {deletionRank: -3, types: [{kind: A}]}]",
        f"-3 anything/any A\n7 anything/any B\n{STANDARD}",
    ),
    "a standard rank with force": (
        "[{deletionRank: 100, forceDelete: {enabled: true}}]",
        "100 <namespaced-resources> force\n200 <cluster-scoped-resources>\n300 <crds>\n",
    ),
    "a standard rank as it is": ("[{deletionRank: 200}]", STANDARD),
    "a standard rank left out": (
        "[{deletionRank: 300, skip: true}]",
        "100 <namespaced-resources>\n200 <cluster-scoped-resources>\n",
    ),
    "a rank between the standard ones": (
        "[{deletionRank: 250, types: [{kind: A}]}]",
        "100 <namespaced-resources>\n200 <cluster-scoped-resources>\n250 anything/any A\n300 <crds>\n",
    ),
    "another cluster": (
        "[{deletionRank: 1, types: [{kind: A, selector: {all: true}}], targetName: edge}]",
        f"1 every anything/any A in edge\n{STANDARD}",
    ),
}


@pytest.mark.parametrize(("text", "steps"), named(SEED_B))
def test_the_seeds_rules_are_sorted_by_rank_and_the_standard_ones_are_always_there(text: str, steps: str) -> None:
    assert rules(text) == steps


# -- spelling ----------------------------------------------------------------------------------------------------------

CORE: dict[str, tuple[dict[str, Any], tuple[str | None, str | None]]] = {
    "empty group": ({"group": "", "version": "v1"}, ("", "v1")),
    "null group": ({"group": None, "version": "v1"}, ("", "v1")),
    "no group beside a version": ({"version": "v1"}, ("", "v1")),
    "group alone": ({"group": "apps"}, ("apps", None)),
    "empty group alone": ({"group": ""}, ("", None)),
    "neither": ({}, (None, None)),
    "apiVersion of the core": ({"apiVersion": "v1"}, ("", "v1")),
    "apiVersion": ({"apiVersion": "apps/v1"}, ("apps", "v1")),
    "empty apiVersion": ({"apiVersion": ""}, (None, None)),
}


@pytest.mark.parametrize(("fields", "group_version"), named(CORE))
def test_a_type_names_its_group_in_many_ways(
    fields: dict[str, Any], group_version: tuple[str | None, str | None]
) -> None:
    [step] = read_order([{"resources": [{"kind": "x", **fields}]}], None)
    assert (step.types[0].group, step.types[0].version) == group_version


def test_a_key_may_be_written_in_camel_case_with_underscores_or_with_dashes() -> None:
    def written(change: Any) -> tuple[StepRule, ...]:
        step = {
            "customResourceGroup": {
                "resources": [{"apiVersion": "v1", "kind": "A", "labelSelector": "a=b"}],
                "deleteAllResources": True,
                "forceDelete": True,
                "targetName": "edge",
            },
            "beforeDelete": {"scale": 0},
        }
        return read_order([_renamed(step, change)], None)

    camel = written(str)
    assert camel[0].before_delete == {"scale": 0}
    for separator in "_-":
        assert (
            written(lambda key, sep=separator: "".join(f"{sep}{c.lower()}" if c.isupper() else c for c in key)) == camel
        )


def _renamed(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {change(key): _renamed(inner, change) for key, inner in value.items()}
    return [_renamed(inner, change) for inner in value] if isinstance(value, list) else value


def test_a_dialect_b_key_may_be_written_with_underscores_too() -> None:
    seed = [{"deletionRank": 5, "types": [CM], "forceDelete": {"enabled": True}, "beforeDelete": {"scale": 0}}]
    ours = [{"deletion_rank": 5, "types": [CM], "force_delete": {"enabled": True}, "before_delete": {"scale": 0}}]
    assert read_order(None, ours) == read_order(None, seed)


FLAGS = {
    "true": (True, True),
    "false": (False, False),
    "absent": (None, False),
    "the word true, from a template": ("true", True),
    "Yes": ("Yes", True),
    "False": ("False", False),
    "no": ("no", False),
}


@pytest.mark.parametrize(("value", "force"), named(FLAGS))
@pytest.mark.parametrize("shape", [lambda flag: flag, lambda flag: {"enabled": flag}], ids=["plain", "with enabled"])
def test_force_is_a_flag_or_a_mapping_with_one(shape: Any, value: Any, force: bool) -> None:
    [step] = read_order([{"predefinedResourceGroup": "crds", "forceDelete": shape(value)}], None)
    assert step.force is force


# -- what every step may have ------------------------------------------------------------------------------------------

COMMON: dict[str, Any] = {
    "names": "web-*",
    "namespaces": ["shop", "bank"],
    "labelSelector": "app=shop",
    "exclude": [{"kind": "secrets", "names": ["precious"]}],
    "timeout": 90,
    "beforeDelete": {"annotate": {"a": "b"}},
    "name": "first of all",
}
STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "A, predefined": ("deletion_groups", {"predefinedResourceGroup": NAMESPACED}),
    "A, resources": ("deletion_groups", {"resources": [CM]}),
    "C, predefined": ("deletion_groups", {"predefinedResourceGroup": {"type": NAMESPACED}}),
    "C, custom": ("deletion_groups", {"customResourceGroup": {"resources": [CM]}}),
    "B, rule": ("deletion_order_rules", {"deletionRank": 5, "types": [CM]}),
    "B, standard rank": ("deletion_order_rules", {"deletionRank": 100}),
}


def read_one(option: str, item: Any) -> StepRule:
    return read_order([item], None)[0] if option == "deletion_groups" else read_order(None, [item])[0]


@pytest.mark.parametrize(("option", "item"), named(STEPS))
def test_every_step_may_be_narrowed_timed_named_and_prepared(option: str, item: dict[str, Any]) -> None:
    step = read_one(option, {**item, **COMMON})
    assert (step.narrowing, step.timeout, step.name, step.before_delete, step.path) == (
        Narrowing(("web-*",), ("shop", "bank"), "app=shop"),
        90.0,
        "first of all",
        {"annotate": {"a": "b"}},
        f"{option}[0]",
    )
    [excluded] = step.exclude
    assert (excluded.kind, excluded.narrowing.names, excluded.path) == (
        "secrets",
        ("precious",),
        f"{option}[0].exclude[0]",
    )


def test_a_type_may_be_narrowed_by_itself() -> None:
    [step] = read_order([{"resources": [{**CM, "names": ["a"], "namespaces": "shop", "labelSelector": "x"}]}], None)
    assert step.types[0].narrowing == Narrowing(("a",), ("shop",), "x")


NAMES: dict[str, tuple[dict[str, Any], str]] = {
    "standard": ({"predefinedResourceGroup": "crds"}, "custom resource definitions"),
    "nothing": ({"predefinedResourceGroup": "empty"}, "nothing"),
    "types, each once": ({"resources": [{"kind": "a"}, {"kind": "b"}, {"kind": "a", "group": "x"}]}, "a, b"),
    "given": ({"predefinedResourceGroup": "crds", "name": "mine"}, "mine"),
}


@pytest.mark.parametrize(("item", "name"), named(NAMES))
def test_a_step_is_called_by_what_it_takes(item: dict[str, Any], name: str) -> None:
    assert read_order([item], None)[0].name == name


def test_a_forced_standard_rank_keeps_its_name_and_group() -> None:
    [first, *_rest] = read_order(None, [{"deletionRank": 100, "forceDelete": True}])
    assert (first.name, first.standard) == ("namespaced resources", Standard.NAMESPACED)


# -- complaints --------------------------------------------------------------------------------------------------------

ONE_OF = "needs exactly one of predefinedResourceGroup, resources and customResourceGroup"
AT_LEAST = "needs a list of at least one type"
G, R = "deletion_groups[0]", "deletion_order_rules[0]"
BAD_GROUPS: dict[str, tuple[Any, list[str]]] = {
    "no mapping": ("crds", [f"{G}: must be a mapping, not str", f"{G}: {ONE_OF}"]),
    "neither": ({}, [f"{G}: {ONE_OF}"]),
    "both": ({"predefinedResourceGroup": "crds", "resources": [CM]}, [f"{G}: {ONE_OF}"]),
    "A and C at once": ({"resources": [CM], "customResourceGroup": {"resources": [CM]}}, [f"{G}: {ONE_OF}"]),
    "unknown group": (
        {"predefinedResourceGroup": "namespaced"},
        [
            f"{G}.predefinedResourceGroup: must be one of namespaced-resources, cluster-scoped-resources, crds, empty,"
            " not 'namespaced'"
        ],
    ),
    "unknown type": (
        {"predefinedResourceGroup": {"type": "all"}},
        [
            f"{G}.predefinedResourceGroup.type: must be one of namespaced-resources, cluster-scoped-resources, crds,"
            " empty, not 'all'"
        ],
    ),
    "missing type": (
        {"predefinedResourceGroup": {}},
        [
            f"{G}.predefinedResourceGroup.type: must be one of namespaced-resources, cluster-scoped-resources, crds,"
            " empty, not None"
        ],
    ),
    "no types": ({"resources": []}, [f"{G}.resources: {AT_LEAST}"]),
    "no types in a custom group": (
        {"customResourceGroup": {}},
        [f"{G}.customResourceGroup.resources: {AT_LEAST}"],
    ),
    "a type without kind": ({"resources": [{"group": ""}]}, [f"{G}.resources[0].kind: is missing"]),
    "a type that is no mapping": (
        {"resources": ["cm"]},
        [f"{G}.resources[0]: must be a mapping, not str", f"{G}.resources[0].kind: is missing"],
    ),
    "a typo": (
        {"resources": [{**CM, "seletor": {"all": True}}]},
        [f"{G}.resources[0].seletor: is not known here; did you mean selector?"],
    ),
    "a key far from all": (
        {"predefinedResourceGroup": "crds", "forceDelete": {"zzz": 1}},
        [f"{G}.forceDelete.zzz: is not known here; known are enabled"],
    ),
    "a key of the other dialect": (
        {"resources": [CM], "deletionRank": 5},
        [
            f"{G}.deletionRank: is not known here; known are predefinedResourceGroup, resources, customResourceGroup,"
            " forceDelete, targetName, exclude, timeout, beforeDelete, name, names, namespaces, labelSelector"
        ],
    ),
    "a key in two spellings": (
        {"predefinedResourceGroup": "crds", "forceDelete": True, "force-delete": False},
        [f"{G}.force-delete: is given twice, in two spellings"],
    ),
    "apiVersion and group": (
        {"resources": [{**CM, "apiVersion": "v1", "group": ""}]},
        [f"{G}.resources[0]: give either apiVersion, or group and version"],
    ),
    "no flag": (
        {"resources": [{**CM, "selector": {"all": "all"}}]},
        [f"{G}.resources[0].selector.all: must be true or false, not 'all'"],
    ),
    "no flag in a custom group": (
        {"customResourceGroup": {"resources": [CM], "deleteAllResources": 1}},
        [f"{G}.customResourceGroup.deleteAllResources: must be true or false, not 1"],
    ),
    "no text": ({"resources": [{**CM, "group": 5}]}, [f"{G}.resources[0].group: must be text, not 5"]),
    "no texts": (
        {"predefinedResourceGroup": "crds", "names": ["a", 1]},
        [f"{G}.names: must be a list of texts"],
    ),
    "no time": (
        {"predefinedResourceGroup": "crds", "timeout": 0},
        [f"{G}.timeout: needs seconds, more than 0, not 0"],
    ),
    "a time without end": (
        {"predefinedResourceGroup": "crds", "timeout": float("nan")},
        [f"{G}.timeout: needs seconds, more than 0, not nan"],
    ),
    "a flag as time": (
        {"predefinedResourceGroup": "crds", "timeout": True},
        [f"{G}.timeout: needs seconds, more than 0, not True"],
    ),
    "a selector nobody can read": (
        {"resources": [{**CM, "labelSelector": "a=(b"}]},
        [f"{G}.resources[0].labelSelector: cannot read 'a=(b'"],
    ),
    "an unknown preparation": (
        {"predefinedResourceGroup": "crds", "beforeDelete": {"scales": 0}},
        [f"{G}.beforeDelete.scales: is not known here; did you mean scale?"],
    ),
    "an exclusion that is no list": (
        {"predefinedResourceGroup": "crds", "exclude": "cm"},
        [f"{G}.exclude: must be a list, not str"],
    ),
    "another cluster's members": (
        {"resources": [CM], "targetName": "edge"},
        [f"{G}.targetName: needs selector.all or deleteAllResources: members live in this cluster"],
    ),
    "another cluster's standard group": (
        {"predefinedResourceGroup": "crds", "targetName": "edge"},
        [f"{G}.targetName: needs selector.all or deleteAllResources: members live in this cluster"],
    ),
}


@pytest.mark.parametrize(("item", "why"), named(BAD_GROUPS))
def test_a_bad_group_is_named_with_the_path_of_its_field(item: Any, why: list[str]) -> None:
    assert complaints(groups=[item]) == why


BAD_RULES: dict[str, tuple[Any, list[str]]] = {
    "no mapping": (
        5,
        [
            f"{R}: must be a mapping, not int",
            f"{R}.deletionRank: needs a whole number, not None",
            f"{R}.types: {AT_LEAST}",
        ],
    ),
    "no rank": ({"types": [CM]}, [f"{R}.deletionRank: needs a whole number, not None"]),
    "a flag as rank": ({"deletionRank": True, "types": [CM]}, [f"{R}.deletionRank: needs a whole number, not True"]),
    "half a rank": ({"deletionRank": 1.5, "types": [CM]}, [f"{R}.deletionRank: needs a whole number, not 1.5"]),
    "types on a standard rank": (
        {"deletionRank": 200, "types": [CM]},
        [f"{R}.types: is not allowed on the ranks 100, 200 and 300"],
    ),
    "no types": ({"deletionRank": 5}, [f"{R}.types: {AT_LEAST}"]),
    "skip elsewhere": (
        {"deletionRank": 5, "types": [CM], "skip": True},
        [f"{R}.skip: is only allowed on the ranks 100, 200 and 300; leave this rule out instead"],
    ),
    "another cluster's standard rank": (
        {"deletionRank": 100, "targetName": "edge"},
        [f"{R}.targetName: needs selector.all or deleteAllResources: members live in this cluster"],
    ),
}


@pytest.mark.parametrize(("item", "why"), named(BAD_RULES))
def test_a_bad_rule_is_named_with_the_path_of_its_field(item: Any, why: list[str]) -> None:
    assert complaints(rules=[item]) == why


@pytest.mark.parametrize("rank", [5, 100, -1], ids=["own", "standard", "negative"])
def test_a_rank_is_used_once(rank: int) -> None:
    rule = {"deletionRank": rank} if rank == 100 else {"deletionRank": rank, "types": [CM]}
    assert complaints(rules=[rule, rule]) == [
        f"deletion_order_rules[1].deletionRank: {rank} is used twice; every rule needs a rank of its own"
    ]


def test_missing_ranks_are_not_taken_for_equal_ones() -> None:
    assert complaints(rules=[{"types": [CM]}, {"types": [CM]}]) == [
        f"deletion_order_rules[{place}].deletionRank: needs a whole number, not None" for place in (0, 1)
    ]


def test_groups_and_rules_cannot_stand_together() -> None:
    assert complaints([{"predefinedResourceGroup": "crds"}], [{"deletionRank": 100}]) == [
        "deletion_order_rules: cannot stand together with deletion_groups"
    ]


def test_paths_name_the_option_that_was_read() -> None:
    with pytest.raises(BadOption, match=r"deletion_groups_during_update\[0\]: needs exactly one"):
        read_order([{}], None, groups_option="deletion_groups_during_update")


def test_everything_bad_is_told_at_once() -> None:
    assert complaints(
        groups=[
            {"predefinedResourceGroup": "x", "timeout": -1, "labelSelector": "="},
            {"resources": [{"kind": ""}, CM, {"kind": 7, "selector": []}]},
        ]
    ) == [
        "deletion_groups[0].labelSelector: cannot read '='",
        "deletion_groups[0].timeout: needs seconds, more than 0, not -1",
        f"{G}.predefinedResourceGroup: must be one of {', '.join(each.value for each in Standard)}, not 'x'",
        "deletion_groups[1].resources[0].kind: is missing",
        "deletion_groups[1].resources[2].kind: must be text, not 7",
        "deletion_groups[1].resources[2].kind: is missing",
        "deletion_groups[1].resources[2].selector: must be a mapping, not list",
    ]


# -- anything at all ---------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(
    [
        "force-delete",
        "type",
        "enabled",
        "all",
        "annotate",
        "patch",
        "scale",
        *GROUP_KEYS,
        *RULE_KEYS,
        *CUSTOM_KEYS,
        *TYPE_KEYS,
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 301),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["crds", "empty", "cm", "v1", "a=b", "a in (b)"]),
)
NESTED = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.integers(), inner, max_size=4),
    max_leaves=7,
)


@given(st.lists(NESTED, max_size=3), st.sampled_from(["groups", "rules"]))
def test_anything_is_steps_or_a_complaint_and_never_a_traceback(items: list[Any], option: str) -> None:
    try:
        steps = read_order(items, None) if option == "groups" else read_order(None, items)
    except BadOption:
        return
    assert all((step.standard is None) is bool(step.types) for step in steps)
    assert [step.rank for step in steps] == sorted(step.rank for step in steps)
