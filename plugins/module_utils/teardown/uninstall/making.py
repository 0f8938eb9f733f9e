# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Did a product make this object? By field managers and labels; annotations only say that an object uses a product.

Room: teardown (pure). Every user may choose labels and field managers: the answer is for a report, and no reason to
delete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...objects import Record
from ...profiles.field_managers import CLUSTER, DELIVERERS, DELIVERY, PLAIN, TOOLS
from ...well_known import MADE_BY_US

MANAGED_BY, OURSELVES = MADE_BY_US
APP_NAME, CHART = "app.kubernetes.io/name", "helm.sh/chart"
_SHARED_DOMAINS = ("k8s.io", "kubernetes.io", "x-k8s.io")
_VERSIONED = re.compile(r"(?P<chart>.+?)-v?[0-9]+\.[0-9].*")
_SHORTEST = 3
Labels = Mapping[str, str]


@dataclass(frozen=True)
class Product:
    """What an application is called in what it makes. Names in lower case."""

    programs: frozenset[str] = frozenset()  # its workloads, their app.kubernetes.io/name, its charts
    names: frozenset[str] = frozenset()  # these, and the release
    domains: frozenset[str] = frozenset()  # of its label keys
    homes: frozenset[str] = frozenset()  # namespaces of its workloads

    def has_program(self, workload: Record) -> bool:
        return bool({workload.name.lower(), workload.labels.get(APP_NAME, "").lower()} & self.programs)


@dataclass(frozen=True)
class Making:
    certain: bool  # else it only bears the name
    why: str


def product_of(
    workloads: Mapping[tuple[str, str], Labels], labels: Iterable[Labels], release: str, domains: Iterable[str]
) -> Product:
    """`workloads` by namespace and name, each with its labels; `labels` of everything that is deleted."""
    called = {name for _namespace, name in workloads}
    called |= {of_it.get(APP_NAME, "") for of_it in workloads.values()}
    called |= {_chart_of(of_it.get(CHART, "")) for of_it in labels}
    programs = frozenset(name.lower() for name in called if _tells(name))
    return Product(
        programs=programs,
        names=programs | ({release.lower()} if _tells(release) else frozenset()),
        domains=frozenset(domain for domain in domains if not _is_below(domain, (*_SHARED_DOMAINS, *DELIVERY))),
        homes=frozenset(namespace for namespace, _name in workloads),
    )


def making_of(record: Record, product: Product) -> Making | None:
    """None where nothing tells that the product made it. What has an owner goes with that."""
    writers = [name for name in record.managers if name.lower() not in CLUSTER and name != OURSELVES]
    if record.owner_uids or (record.managers and not writers):
        return None
    program = next((name for name in writers if name.lower() in product.programs), "")
    alone = bool(program) and all(name.lower() in product.programs for name in writers)
    label = next((key for key in record.labels if _is_below(_domain(key), product.domains)), "")
    managed_by = record.labels.get(MANAGED_BY, "")
    managed = managed_by.lower() in product.names
    if alone:
        at_home = "in its namespace" if record.namespace in product.homes else ""
        more = f"label {label}" if label else f"label {MANAGED_BY}" if managed else at_home
        why = f"made by its program {program} (the only field manager{f'; {more}' if more else ''})"
        return Making(bool(more), why)
    if managed:
        return Making(False, f"its label {MANAGED_BY} is {managed_by}")
    if label and all(_may_be_of(name, product) for name in writers):
        return Making(False, f"its label {label} is of a group or profile of it")
    return None


def _chart_of(label: str) -> str:
    found = _VERSIONED.fullmatch(label)
    return found["chart"] if found else label


def _tells(name: str) -> bool:
    """Whether a name tells one product from others."""
    lower = name.lower()
    common = lower in PLAIN or lower in CLUSTER
    return len(name) >= _SHORTEST and not common and not TOOLS.fullmatch(lower) and not DELIVERERS.fullmatch(lower)


def _may_be_of(writer: str, product: Product) -> bool:
    """A program of the product, one named after it (cert-manager-certificates-issuing), or one without a name."""
    lower = writer.lower()
    return lower in PLAIN or any(lower == name or lower.startswith(f"{name}-") for name in product.programs)


def _domain(key: str) -> str:
    domain, slash, _name = key.partition("/")
    return domain if slash else ""


def _is_below(domain: str, parents: Iterable[str]) -> bool:
    return any(domain == parent or domain.endswith(f".{parent}") for parent in parents)
