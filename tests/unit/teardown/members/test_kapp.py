# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a kapp application."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Membership, Search
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.kapp import kapp_membership
from ansible_collections.sunset.kube.tests.unit.fakes import named, record
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, InMemoryCluster

SOURCE = "kapp application shop/web"
SPEC: dict[str, Any] = {
    "labelKey": "kapp.k14s.io/app",
    "labelValue": "17",
    "usedGKs": [{"Group": "", "Kind": "Service"}, {"Group": "apps", "Kind": "Deployment"}],
}


def app(spec: Any, name: str = "web.apps.k14s.io", namespace: str = "shop") -> InMemoryCluster:
    cluster = InMemoryCluster()
    text = spec if isinstance(spec, str) or spec is None else json.dumps(spec)
    cluster.add(CONFIG_MAPS, name, namespace, labels={"kapp.k14s.io/is-app": ""}, data={"spec": text})
    return cluster


def membership(spec: Any = None, **more: Any) -> Membership:
    return kapp_membership("web", "shop", app(spec or SPEC, **more))


def test_the_record_names_the_label_and_the_kinds() -> None:
    label = "kapp.k14s.io/app=17"
    assert membership().searches == [
        Search("Service", "/", label_selector=label, source=SOURCE),
        Search("Deployment", "apps/", label_selector=label, source=SOURCE),
    ]


@pytest.mark.parametrize("name", ["web", "web.apps.k14s.io"], ids=["old name", "new name"])
def test_the_record_is_found_under_its_old_and_its_new_name(name: str) -> None:
    assert [claim.name for claim in membership(name=name).records] == [name]


def test_the_records_of_past_changes_go_with_it() -> None:
    cluster = app(SPEC)
    for name, of in (("web-change-1", "web"), ("web-change-2", "web.apps.k14s.io"), ("other-change", "other")):
        cluster.add(CONFIG_MAPS, name, labels={"kapp.k14s.io/app-change-app": of})
    found = kapp_membership("web", "shop", cluster)
    assert {claim.name for claim in found.records} == {"web.apps.k14s.io", "web-change-1", "web-change-2"}


@pytest.mark.parametrize("kinds", [{"usedGKs": None}, {"usedGKs": []}, {}], ids=["null", "none", "missing"])
def test_an_old_record_without_kinds_searches_all_and_says_so(kinds: dict[str, Any]) -> None:
    found = membership({key: value for key, value in {**SPEC, "usedGKs": 0, **kinds}.items() if value != 0})
    assert found.searches == [Search("*", label_selector="kapp.k14s.io/app=17", source=SOURCE)]
    assert "all kinds are searched" in found.warnings[0]


@pytest.mark.parametrize(
    "cluster",
    [InMemoryCluster(), app(SPEC, "other"), app(SPEC, namespace="bank")],
    ids=["no record", "of another", "elsewhere"],
)
def test_an_application_without_a_record_is_missing(cluster: InMemoryCluster) -> None:
    assert kapp_membership("web", "shop", cluster).missing == (
        "there is no record of kapp application shop/web (ConfigMap web.apps.k14s.io or web)"
    )


BAD: dict[str, Any] = {
    "no JSON": "{",
    "empty": "",
    "a list": "[]",
    "a number": "5",
    "null": "null",
    "no label": "{}",
    "an empty label value, which would take everything": json.dumps({**SPEC, "labelValue": ""}),
    "a null label key": json.dumps({**SPEC, "labelKey": None}),
    "kinds that are none": json.dumps({**SPEC, "usedGKs": ["Service"]}),
    "a kind without a name": json.dumps({**SPEC, "usedGKs": [{"Group": ""}]}),
}


@pytest.mark.parametrize("spec", named(BAD))
def test_a_record_nobody_can_read_is_a_failure_with_a_way_out(spec: str) -> None:
    with pytest.raises(CannotLook, match="cannot read the record of kapp application shop/web") as refused:
        kapp_membership("web", "shop", app(spec))
    assert refused.value.next_step == "give the members by selector instead"


def test_a_live_object_must_still_carry_the_label() -> None:
    not_ours = membership().not_ours
    assert not_ours is not None
    assert not_ours(record(labels={"kapp.k14s.io/app": "17"}), True) == ""
    assert "another kapp application" in not_ours(record(labels={"kapp.k14s.io/app": "18"}), True)
    assert not_ours(record(), True) == "it carries no label kapp.k14s.io/app=17"


def test_what_the_source_does_not_mark_needs_no_label() -> None:
    """What its objects own, and what a step takes beyond them, was never labelled."""
    not_ours = membership().not_ours
    assert not_ours is not None
    assert not_ours(record(), False) == ""
    assert not_ours(record(labels={"kapp.k14s.io/app": "18"}), False) != ""


def test_a_label_that_is_not_kapps_own_is_refused() -> None:
    """Else whoever writes one ConfigMap would choose by any label what is deleted in the whole cluster."""
    with pytest.raises(
        Refused, match=r"those with the label app, and kapp labels its objects with kapp.k14s.io/app only"
    ):
        membership({**SPEC, "labelKey": "app", "labelValue": "payments"})


def test_the_label_value_of_another_application_is_refused() -> None:
    cluster = app(SPEC)
    cluster.add(CONFIG_MAPS, "broken", "bank", labels={"kapp.k14s.io/is-app": ""}, data={"spec": "{"})
    cluster.add(CONFIG_MAPS, "web", "bank", labels={"kapp.k14s.io/is-app": ""}, data={"spec": json.dumps(SPEC)})
    with pytest.raises(Refused, match=r"ConfigMap bank/web says that the objects labelled kapp.k14s.io/app: 17"):
        kapp_membership("web", "shop", cluster)


def test_who_cannot_see_other_applications_deletes_nothing_outside_of_the_namespace() -> None:
    cluster = app(SPEC)
    cluster.not_cluster_wide.add("configmaps")
    not_ours = kapp_membership("web", "shop", cluster).not_ours
    assert not_ours is not None
    mark = {"kapp.k14s.io/app": "17"}
    assert not_ours(record(labels=mark), True) == ""
    assert "cannot be seen" in not_ours(record("x", "bank", labels=mark), True)
    assert "cannot be seen" in not_ours(record("x", "", labels=mark), True)
