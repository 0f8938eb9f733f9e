# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of an uninstall: what is refused before anything is sent, and what they mean for the deletion."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.sunset.kube.plugins.module_utils.jobs.uninstall import ARGUMENTS
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.options import (
    UninstallOptions,
    parse_uninstall,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named


def parsed(**given: Any) -> UninstallOptions:
    checked = ArgumentSpecValidator(ARGUMENTS).validate({"host": "http://api.example.com", **given})
    assert checked.error_messages == []
    return parse_uninstall(checked.validated_parameters, check_mode=False)


BAD = {
    "nothing given": ({}, "say what to uninstall"),
    "a variable that came out empty": ({"release": " ", "namespace": "shop"}, "release: is empty"),
    "a release nowhere": ({"release": "shop", "source": "helm"}, "namespace: is needed with source: helm"),
    "a source without a name": ({"namespace": "shop", "source": "kapp"}, "release: is needed with source: kapp"),
    "no manifests": ({"namespace": "shop", "source": "manifests"}, "manifests: is needed"),
    "manifests of a release": ({"manifests": ["a.yml"], "release": "shop"}, "release: says nothing for manifests"),
    "manifests and Helm": (
        {"manifests": ["a.yml"], "source": "helm", "release": "shop", "namespace": "shop"},
        "manifests: says nothing with source: helm",
    ),
    "a whole namespace and a release": (
        {"release": "shop", "namespace": "shop", "source": "namespace"},
        "release: says nothing",
    ),
    "which namespace": ({"manifests": ["a.yml"], "delete_namespace": True}, "delete_namespace: needs namespace"),
    "no stage": ({"namespace": "shop", "stages": []}, "stages: is empty"),
    "no time": ({"namespace": "shop", "timeout": 0}, "timeout: must be 1 or more"),
    "a product nobody knows": ({"namespace": "shop", "profile": "ngork"}, "did you mean ngrok"),
    "an empty part of an installation": ({"namespace": "shop", "instance": {"namespaces": []}}, "instance.namespaces"),
}


@pytest.mark.parametrize(("given", "complaint"), named(BAD))
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadOption, match=complaint):
        parsed(**given)


def test_every_bad_field_is_named_at_once() -> None:
    with pytest.raises(BadOption) as refusal:
        parsed(source="helm", stages=[], timeout=0)
    assert [word in refusal.value.why for word in ("release", "namespace", "stages", "timeout")] == [True] * 4


def test_force_reaches_every_step_of_the_deletion() -> None:
    assert [rule.force for rule in parsed(namespace="shop", force=True).deletion({}, 60.0).rules] == [True] * 3
    assert [rule.force for rule in parsed(namespace="shop").deletion({}, 60.0).rules] == [False] * 3


def test_only_instances_keep_spares_a_definition() -> None:
    meant = {wish: parsed(namespace="shop", instances=wish).deletion({}, 60.0).foreign for wish in INSTANCES}
    assert meant == {"refuse": "refuse", "delete": "refuse", "keep": "keep"}


INSTANCES = ("refuse", "delete", "keep")


def test_products_are_found_unless_the_task_names_one_or_none() -> None:
    assert parsed(namespace="shop").finds_profiles
    assert not parsed(namespace="shop", profile="none").finds_profiles
    own = parsed(namespace="shop", profile="ngrok")
    assert not own.finds_profiles
    assert own.drain.profile is not None


def test_consent_to_force_is_the_drains_too() -> None:
    found = parsed(release="shop", namespace="shop", force=True, force_after=7, force_allow=["x/y"])
    assert (found.drain.ladder.force, found.drain.ladder.after, found.drain.ladder.allow) == (True, 7.0, ("x/y",))
    assert (found.force, found.ladder.after, found.ladder.allow) == (True, 7.0, ("x/y",))
