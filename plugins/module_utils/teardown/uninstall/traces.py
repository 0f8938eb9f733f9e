# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an application would be recognised by, once it should be gone. Taken from the plan, before the first write.

Room: teardown (pure).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...objects import Record
from ...profiles.built_in_groups import BUILT_IN_GROUPS
from ..catalogue import known
from ..guards import CRD
from .making import Product, product_of
from .options import UninstallOptions
from .scheme import Scheme

INSTANCE = "app.kubernetes.io/instance"
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
_SHARED_DOMAINS = ("k8s.io", "kubernetes.io", "x-k8s.io")
Place = tuple[str, str]  # namespace and name


@dataclass
class Traces:
    source: str
    is_marked: Callable[[Record], bool] | None = None
    release: str = ""
    namespaces: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    finalizers: frozenset[str] = frozenset()
    accounts: frozenset[Place] = frozenset()
    services: frozenset[Place] = frozenset()
    workloads: frozenset[Place] = frozenset()
    # Kinds (group and plural) whose definitions nobody names any more, as the record that did is gone.
    orphans: frozenset[Place] = frozenset()
    gone: frozenset[str] = frozenset()  # uids that should not own anything any more
    kept: dict[str, str] = field(default_factory=dict)  # uid → why it stays on purpose
    product: Product = field(default_factory=Product)
    undrained: frozenset[str] = frozenset()  # uids that a drain released, or that are not of what it drained

    def finalizer_of(self, record: Record) -> str:
        return next((name for name in record.finalizers if self._is_its_finalizer(name)), "")

    def _is_its_finalizer(self, name: str) -> bool:
        if name in self.finalizers:
            return True
        domain = name.partition("/")[0]
        return any(domain == group or domain.endswith(f".{group}") for group in self.groups)


def traces_of(scheme: Scheme, options: UninstallOptions) -> Traces:
    going = [entry.member for entry in scheme.plan.going]
    definitions = [one for one in going if (one.resource.group, one.resource.plural) == CRD]
    groups = {one.record.name.partition(".")[2] for one in definitions}

    absent = scheme.deletion.ground.absent if scheme.deletion else []

    def places(group: str, *kinds: str) -> dict[Place, Mapping[str, str]]:
        """With their labels. Of the plan, and of what was gone before: a run may be the second one."""
        here = [one for one in going if one.resource.group == group and one.resource.kind in kinds]
        gone = [one for one in absent if one.group == group and one.kind in kinds]
        found: dict[Place, Mapping[str, str]] = {(one.namespace, one.name): one.labels for one in gone}
        return found | {(one.record.namespace, one.record.name): one.record.labels for one in here}

    custom = {(one.resource.group, one.resource.plural) for one in going if one.resource.group not in BUILT_IN_GROUPS}
    seen = {name for one in going for name in one.record.finalizers if not _is_common(name)}
    seen |= {name for survey in scheme.surveys for name in survey.profile.finalizers}
    workloads = places("apps", *WORKLOADS)
    own = frozenset(groups - BUILT_IN_GROUPS)
    labels = [key for one in scheme.surveys for key in one.profile.controller_labels]
    domains = {*own, *(key.partition("/")[0] for key in labels)}
    drains = [survey.plan.whole for survey in scheme.surveys]
    spared = [one.record for plan in drains for one in plan.releases]
    spared += [entry.member.record for plan in drains for entry in plan.kept]
    return Traces(
        source=scheme.origin.what if scheme.origin else scheme.membership.source,
        is_marked=scheme.membership.bears_its_mark,
        release=options.release,
        namespaces=frozenset({options.namespace, scheme.membership.default_namespace} - {""}),
        groups=own,
        finalizers=frozenset(seen),
        accounts=frozenset(places("", "ServiceAccount")),
        services=frozenset(places("", "Service")),
        workloads=frozenset(workloads),
        orphans=frozenset(custom if scheme.membership.by_marks else ()),
        gone=frozenset(scheme.deleted - {entry.member.record.uid for entry in scheme.plan.kept}),
        kept={entry.member.record.uid: entry.verdict.why for entry in scheme.plan.kept},
        product=product_of(workloads, [one.record.labels for one in going], options.release, domains),
        undrained=frozenset(one.uid for one in spared),
    )


def _is_common(name: str) -> bool:
    """Finalizers that many products share say nothing about one of them."""
    entry = known(name)
    domain = name.partition("/")[0]
    return (entry is not None and entry.shared) or "." not in domain or domain.endswith(_SHARED_DOMAINS)
