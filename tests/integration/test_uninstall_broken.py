# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Five differently broken applications, each removed by one command, or stopped with the one thing to decide.

The whole cluster is counted before the application came and after it went. `test_helm_leaves.py` has what plain helm
leaves of the same five.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from integration.broken_apps import BREAK, DEFINITIONS, RELEASE, Shop
from integration.census import everybody
from integration.collection_playbooks import play_named
from integration.running import Result
from lab.plane.controlplane import ControlPlane

FORCE = {"force": True, "force_after": 1}
# Whoever uninstalls a shop wants its orders and its data gone; the stops below are about what is broken.
WANTED = {"release": RELEASE, "confirm": "skip", "instances": "delete", "volumes": "delete", "timeout": 60}
TAX = "ConfigMap shop-tax-records"  # has a keep marker


@dataclass(frozen=True)
class Run:
    """One command: what it says beyond WANTED, and if it stops, what the reader has to decide."""

    variables: dict[str, Any] = field(default_factory=dict)
    stops_with: str = ""


@dataclass(frozen=True)
class Way:
    """The commands one types, and what is left then, all of it named in the result."""

    runs: tuple[Run, ...]
    left: frozenset[str]


WAYS = {
    "operator gone": Way(
        (Run({}, "belongs to it and is not there"), Run(FORCE)),
        frozenset({TAX}),
    ),
    "webhook dead": Way((Run(),), frozenset({TAX})),
    "definitions stuck": Way((Run({}, "force: true"), Run(FORCE)), frozenset({TAX})),
    "API service broken": Way((Run(),), frozenset({TAX})),
    # The record went with the namespace, so nobody can tell any more whose the definitions are.
    "namespace terminating": Way((Run(FORCE),), frozenset(f"CustomResourceDefinition {name}" for name in DEFINITIONS)),
}


def uninstall(shop: Shop, plane: ControlPlane, directory: Path, **variables: Any) -> tuple[Result, str]:
    """The result of the engine's last turn, and what the play printed."""
    where = {"namespace": shop.namespace, "evidence_dir": str(directory / "evidence")}
    run = play_named("sunset.kube.uninstall", directory, plane.admin.kubeconfig, **{**WANTED, **where, **variables})
    results = [result for result in run.results if "preflight" in result]
    assert results, run.stdout
    return {**results[-1], "rc": run.rc}, run.stdout


def named_in(result: Result) -> set[str]:
    """Everything the result says that it stays or is left."""
    rows = [row["object"] for key in ("kept", "leftovers") for row in result[key]]
    return {f"{row['kind']} {row['name']}" for row in rows}


@pytest.mark.parametrize("broken", WAYS)
def test_a_broken_application_goes_or_says_what_to_decide(
    shop: Shop, plane: ControlPlane, tmp_path: Path, broken: str
) -> None:
    BREAK[broken](shop)
    way = WAYS[broken]
    for number, run in enumerate(way.runs):
        result, said = uninstall(shop, plane, tmp_path / str(number), **run.variables)
        assert bool(result["rc"]) == bool(run.stops_with), said
        report = (Path(result["evidence"]) / "report.html").read_text()
        if run.stops_with:
            assert run.stops_with in result["msg"]
            assert len([row for row in result["preflight"] if row["level"] == "stop"]) <= 1
            assert run.stops_with in report
    found = {f"{one.kind} {one.name}" for one in shop.left()}
    assert found == way.left
    assert found <= named_in(result)
    if broken != "namespace terminating":  # which takes everybody along
        neighbours = {one for one in shop.before if one.namespace == shop.namespace}
        assert neighbours <= everybody(shop.api)
