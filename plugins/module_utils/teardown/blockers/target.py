# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody asks about: an object, a kind, a namespace, the members of a release, or everything that hangs.

Room: teardown (pure).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...labels import parse_selector
from ...problems import BadFields, BadOption
from ..members.sources import check_members

_TEXTS = ("api_version", "kind", "name", "namespace", "label_selector")


@dataclass(frozen=True)
class Target:
    """The options as they were given; empty means not given."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    label_selector: str = ""
    members: Mapping[str, Any] | None = None
    dry_run: bool = True  # whether the API server may be asked what it would say


def parse_target(params: Mapping[str, Any]) -> Target:
    bad = BadFields()
    given = {name: params[name] for name in _TEXTS if params.get(name) is not None}
    for name, value in given.items():
        if not value.strip():
            bad.add(name, "is empty; leave it out or give a value")
    for name in ("name", "api_version", "label_selector"):
        if given.get(name) and not given.get("kind"):
            bad.add(name, "needs kind")
    if given.get("name") and given.get("label_selector"):
        bad.add("label_selector", "cannot be used with name")
    if given.get("label_selector"):
        try:
            parse_selector(given["label_selector"])
        except BadOption as problem:
            bad.complain(problem.why)
    members = params.get("members")
    if members is not None:
        if given:
            bad.add("members", f"cannot be used with {', '.join(given)}")
        check_members(members, bad)
    bad.raise_if_any()
    return Target(**given, members=members, dry_run=params.get("dry_run") is not False)
