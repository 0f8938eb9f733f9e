# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of a cluster's removal."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs.managed_cluster import ARGUMENTS
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.options import (
    ClusterOptions,
    parse_clusters,
    spelled,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

DEFAULTS: dict[str, Any] = {name: entry.get("default") for name, entry in ARGUMENTS.items()}


def options_of(check_mode: bool = False, **params: Any) -> ClusterOptions:
    return parse_clusters({**DEFAULTS, **params}, check_mode=check_mode)


def complaint(**params: Any) -> str:
    with pytest.raises(BadOption) as refused:
        options_of(**params)
    return refused.value.why


def test_nothing_but_a_name_is_needed() -> None:
    assert options_of(name="edge") == ClusterOptions(names=("edge",))


def test_every_option_reaches_its_place() -> None:
    found = options_of(
        check_mode=True,
        names=["a", "b", "a"],
        wait_for=["Widget"],
        wait_for_missing="ignore",
        cleanup=["g/v1/things"],
        manifestworks="none",
        namespace="keep",
        on_unreachable="force",
        spoke_content="orphan",
        freeze=False,
        force_after=7,
        concurrency=3,
        timeout=60,
        max_objects=5,
        plan_hash="abc",
        evidence_dir="somewhere",
    )
    assert found == ClusterOptions(
        names=("a", "b"),
        wait_for=("Widget",),
        wait_for_missing="ignore",
        cleanup=("g/v1/things",),
        manifestworks="none",
        namespace="keep",
        on_unreachable="force",
        spoke_content="orphan",
        freeze=False,
        force_after=7.0,
        concurrency=3,
        timeout=60.0,
        max_objects=5,
        plan_hash="abc",
        check_mode=True,
        keepsakes=True,
    )


def test_a_spoke_reaches_its_place() -> None:
    spoke = {"kubeconfig": "x", "context": None}
    assert options_of(name="edge", spoke=spoke).spoke == spoke


def test_a_selector_will_do() -> None:
    found = options_of(label_selector="site=hamburg")
    assert (found.names, found.label_selector) == ((), "site=hamburg")


ONE = "give exactly one of name, names and label_selector"
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, ONE),
    "name and names": ({"name": "a", "names": ["b"]}, ONE),
    "name and selector": ({"name": "a", "label_selector": "x=y"}, ONE),
    "names and selector": ({"names": ["a"], "label_selector": "x=y"}, ONE),
    "all three": ({"name": "a", "names": ["a"], "label_selector": "x=y"}, ONE),
    "an empty name": ({"name": ""}, "name: is empty"),
    "a blank name": ({"name": "  "}, "name: is empty"),
    "no names": ({"names": []}, "names: is empty"),
    "a blank among names": ({"names": ["a", " "]}, "names: is empty"),
    "an empty selector": ({"label_selector": ""}, "every cluster of the hub"),
    "a blank selector": ({"label_selector": " "}, "every cluster of the hub"),
    "an empty kind to wait for": ({"name": "a", "wait_for": ["Pod", ""]}, "wait_for[1]: is empty"),
    "one slash": ({"name": "a", "wait_for": ["apps/deployments"]}, "wait_for[0]: cannot read 'apps/deployments'"),
    "no kind at all": ({"name": "a", "wait_for": ["bad entry!"]}, "wait_for[0]: cannot read 'bad entry!'"),
    "a dot at the end": ({"name": "a", "cleanup": ["works."]}, "cleanup[0]: cannot read 'works.'"),
    "three slashes": ({"name": "a", "cleanup": ["a/b/c/d"]}, "cleanup[0]: cannot read 'a/b/c/d'"),
    "an empty part": ({"name": "a", "cleanup": ["g//things"]}, "cleanup[0]: cannot read 'g//things'"),
    "nothing to clean up": ({"name": "a", "cleanup": []}, "cleanup: is empty"),
    "no concurrency": ({"name": "a", "concurrency": 0}, "concurrency: must be 1 or more, not 0"),
    "no time": ({"name": "a", "timeout": 0}, "timeout: must be 1 or more, not 0"),
    "force before time": ({"name": "a", "force_after": -1}, "force_after: must be 0 or more, not -1"),
    "a spoke of several": ({"names": ["a", "b"], "spoke": {"kubeconfig": "x"}}, "spoke: goes with exactly one"),
    "a spoke of a selector": ({"label_selector": "a=b", "spoke": {"kubeconfig": "x"}}, "spoke: goes with exactly one"),
    "an empty hash": ({"name": "a", "plan_hash": ""}, "plan_hash: is empty"),
}


@pytest.mark.parametrize(("params", "text"), named(BAD))
def test_bad_options_are_named(params: dict[str, Any], text: str) -> None:
    assert text in complaint(**params)


def test_all_bad_options_are_named_at_once() -> None:
    why = complaint(name="", wait_for=["a/b"], cleanup=["c/d"], concurrency=0)
    assert [word in why for word in ("name:", "wait_for[0]:", "cleanup[0]:", "concurrency:")] == [True] * 4


@pytest.mark.parametrize("params", [{"name": "a", "force_after": -1}, {}], ids=["force_after", "no name"])
def test_one_fault_is_one_complaint(params: dict[str, Any]) -> None:
    assert ";" not in complaint(**params).replace("is empty; leave", "")


SPELLINGS: dict[str, tuple[str, str, str | None]] = {
    "group/version/resource": ("argoproj.io/v1alpha1/applications", "applications", "argoproj.io/v1alpha1"),
    "resource.version.group": ("applications.v1alpha1.argoproj.io", "applications.v1alpha1.argoproj.io", None),
    "a kind": ("Application", "Application", None),
}


@pytest.mark.parametrize(("text", "kind", "api_version"), named(SPELLINGS))
def test_three_spellings(text: str, kind: str, api_version: str | None) -> None:
    assert spelled(text) == (kind, api_version)
    assert options_of(name="a", wait_for=[text], cleanup=[text]).wait_for == (text,)
