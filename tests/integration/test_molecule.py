# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles as molecule runs them: a check that changes nothing, the playbook of the guide, the same again, and a look.

A scenario passes without a single warning, of molecule or of ansible.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from integration.nmstate_fleet import Fleet
from integration.running import PlayRun, _program, settings, started
from lab.fixtures import AsUser
from lab.node.images import APP_IMAGE, NGINX_IMAGE
from lab.node.node import Node
from lab.operator.pod import Operator
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane

COLLECTION = Path(__file__).parents[2]
# Seconds: a dozen playbooks on a busy machine.
PATIENCE = 600.0
# These need more than an API server and have a test of their own below; `default` is no role's.
NOT_BY_ITSELF = ("default", "maintenance", "network_revert", "operator")
# The second uninstall finds nothing: somebody who mistyped the release's name must be told.
WANTED_WARNINGS = ("[WARNING]: nothing to delete: there is no record of Helm release shop/shop",)
SCENARIOS = sorted(file.parent.name for file in (COLLECTION / "extensions" / "molecule").glob("*/molecule.yml"))


def run_molecule(directory: Path, scenario: str, **environment: str) -> PlayRun:
    """`molecule test -s SCENARIO`, in a copy of its own: molecule writes beside what it runs."""
    copy = directory / "kube"
    shutil.copytree(COLLECTION / "extensions" / "molecule", copy / "extensions" / "molecule")
    shutil.copy(COLLECTION / "galaxy.yml", copy)
    surroundings = {**settings(copy), "NO_COLOR": "1", **environment}
    with started([_program("molecule"), "test", "--scenario-name", scenario], copy, surroundings) as play:
        return play.finish(PATIENCE)


def molecule(directory: Path, plane: ControlPlane, scenario: str, **environment: str) -> None:
    """Passes, on the cluster it is given."""
    done = run_molecule(directory, scenario, MOLECULE_KUBECONFIG=str(plane.admin.kubeconfig), **environment)
    assert done.rc == 0, done.stdout
    lines = [line for line in done.stdout.splitlines() if "warning" in line.lower()]
    warned = [line for line in lines if not line.startswith(WANTED_WARNINGS)]
    assert not warned, done.stdout


def test_a_scenario_never_touches_the_cluster_of_kubeconfig(as_user: AsUser, audit: AuditTrail, tmp_path: Path) -> None:
    user = as_user("daily-work", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])
    daily = {"KUBECONFIG": str(user.kubeconfig), "K8S_AUTH_KUBECONFIG": str(user.kubeconfig)}
    done = run_molecule(tmp_path, "drain", **daily)
    assert (done.rc != 0, audit.events(user.name)) == (True, []), done.stdout
    assert "set MOLECULE_KUBECONFIG to the kubeconfig of a cluster that is made for tests" in " ".join(
        done.stdout.split()
    )


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in NOT_BY_ITSELF])
def test_the_scenario_of_a_role_passes(plane: ControlPlane, tmp_path: Path, scenario: str) -> None:
    molecule(tmp_path, plane, scenario)


def test_the_scenario_of_network_revert_passes(plane: ControlPlane, fleet: Fleet, tmp_path: Path) -> None:
    """On nodes whose handlers are played."""
    fleet.nodes(2)
    with fleet.alive():
        molecule(tmp_path, plane, "network_revert")


def test_the_scenario_of_maintenance_passes(plane: ControlPlane, node: Node, tmp_path: Path) -> None:
    """On a node where pages really answer."""
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    node.admit("shop")
    try:
        molecule(tmp_path, plane, "maintenance", MOLECULE_PAGE_IMAGE=NGINX_IMAGE, MOLECULE_APP_IMAGE=APP_IMAGE)
    finally:
        plane.api.delete("/api/v1/namespaces/shop")


def test_the_scenario_of_the_operator_passes(plane: ControlPlane, operator: Operator, tmp_path: Path) -> None:
    """With the operator in a pod."""
    operator.wait_until_leading()
    molecule(tmp_path, plane, "operator")
