# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of the maintenance-operator's annotations: what an option may say, and which of them a route is believed."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.seed_names import names_given
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields, BadOption
from ansible_collections.sunset.kube.plugins.module_utils.profiles.maintenance_operator import (
    DEFAULT_NAMES,
    PAGE,
    Names,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named


def given(**options: Any) -> Names | None:
    bad = BadFields()
    names = names_given(options, bad)
    bad.raise_if_any()
    return names


def test_what_is_left_out_is_as_usual() -> None:
    assert given() is None
    assert given(backup_config_map_prefix="saved") == Names(backups="saved", source="option")
    named_flag = given(maintenance_annotation="pages.example.com/closed", maintenance_annotation_value="yes")
    assert named_flag is not None
    assert named_flag.marks == (DEFAULT_NAMES.marker, DEFAULT_NAMES.marks[1], "pages.example.com/closed")


def test_the_users_choice_of_a_page_is_no_mark() -> None:
    assert PAGE not in DEFAULT_NAMES.marks


BAD: dict[str, tuple[dict[str, str], str]] = {
    "no annotation": ({"maintenance_annotation": "two words"}, "maintenance_annotation: 'two words' is no name"),
    "a long name": ({"backup_annotation": "x" * 64}, "is no name of an annotation"),
    "a long domain": ({"backup_annotation": f"{'a.' * 130}b/x"}, "is no name of an annotation"),
    "of Kubernetes": ({"backup_annotation": "nginx.ingress.kubernetes.io/auth-url"}, "belongs to nginx.ingress"),
    "of Kubernetes' projects": ({"backup_annotation": "k8s.io/x"}, "belongs to k8s.io"),
    "ours": ({"maintenance_annotation": "sunset.dev/maintenance"}, "belongs to sunset.dev"),
    "the choice of a page": ({"backup_annotation": PAGE}, "is where users choose a page"),
    "one for both": ({"backup_annotation": DEFAULT_NAMES.enabled}, "is the annotation that asks for a page"),
    "no value": ({"maintenance_annotation_value": ""}, "maintenance_annotation_value: is empty"),
    "a prefix that begins no name": ({"backup_config_map_prefix": "Saved_"}, "cannot begin the name of a ConfigMap"),
}


@pytest.mark.parametrize(("options", "why"), named(BAD))
def test_a_name_that_cannot_be_the_operators_is_refused(options: dict[str, str], why: str) -> None:
    with pytest.raises(BadOption, match=r"maintenance_operator\.") as problem:
        given(**options)
    assert why in str(problem.value)
