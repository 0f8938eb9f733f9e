# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Middlewares that hide a page are left out, also those inside of chains; all others stay."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.middlewares import (
    ROUTER_MIDDLEWARES,
    Middlewares,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.originals import applied
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.restore import restore
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, swap
from ansible_collections.sunset.kube.tests.unit.maintenance.carved_routes import PAGE, ingress, kind_of

KNOWN = Middlewares(
    {
        ("shop", "login"): {"basicAuth": {"secret": "users"}},
        ("shop", "gzip"): {"compress": {}},
        ("shop", "all"): {
            "chain": {"middlewares": [{"name": "gzip"}, {"name": "login"}, {"name": "sso", "namespace": "sso"}]}
        },
        ("shop", "harmless"): {"chain": {"middlewares": [{"name": "gzip"}]}},
        ("shop", "nested"): {"chain": {"middlewares": [{"name": "harmless"}, {"name": "all"}]}},
        ("shop", "endless"): {"chain": {"middlewares": [{"name": "endless"}, {"name": "gzip"}]}},
        ("sso", "sso"): {"forwardAuth": {"address": "https://sso.example.com"}},
        ("shop-eu", "login"): {"headers": {}},
    }
)
GZIP = {"name": "gzip", "namespace": "shop"}


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ([{"name": "login"}, {"name": "gzip"}], [{"name": "gzip"}]),
        ([{"name": "sso", "namespace": "sso"}], []),
        ([{"name": "login", "namespace": "elsewhere"}], [{"name": "login", "namespace": "elsewhere"}]),
        ([{"name": "all"}], [GZIP]),
        ([{"name": "harmless"}], [{"name": "harmless"}]),
        ([{"name": "nested"}], [{"name": "harmless", "namespace": "shop"}, GZIP]),
        ([{"name": "endless"}], [{"name": "endless"}]),
        ([{"name": "auth@file"}], [{"name": "auth@file"}]),
        ([{"name": "shop-login@kubernetescrd"}], []),
    ],
)
def test_references_of_an_ingress_route(given: list[dict[str, str]], left: list[dict[str, str]]) -> None:
    assert KNOWN.left_of_references(given, "shop") == left


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("shop-gzip@kubernetescrd, shop-login@kubernetescrd", "shop-gzip@kubernetescrd"),
        ("shop-login@kubernetescrd", ""),
        ("shop-all@kubernetescrd,auth@file", "shop-gzip@kubernetescrd,auth@file"),
        ("shop-gzip@kubernetescrd ,  auth@file", "shop-gzip@kubernetescrd ,  auth@file"),
        ("shop-eu-login@kubernetescrd", "shop-eu-login@kubernetescrd"),
    ],
)
def test_the_annotation_of_an_ingress(given: str, left: str) -> None:
    assert KNOWN.left_of_annotation(given) == left


def test_the_annotation_comes_back_letter_by_letter() -> None:
    text = "shop-gzip@kubernetescrd ,shop-login@kubernetescrd"
    item = ingress(annotations={ROUTER_MIDDLEWARES: text})
    kind = kind_of(item)
    done = swap(item, kind, Selection(), PAGE, middlewares=KNOWN)
    shown = applied(item, done.operations)
    assert shown["metadata"]["annotations"][ROUTER_MIDDLEWARES] == "shop-gzip@kubernetescrd"
    assert not swap(shown, kind, Selection(), PAGE, done.changes, KNOWN).operations

    back = applied(shown, restore(shown, kind, done.changes).operations)
    assert back["metadata"]["annotations"] == {ROUTER_MIDDLEWARES: text}
