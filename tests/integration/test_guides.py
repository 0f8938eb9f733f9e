# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the guides show is what molecule runs, word for word. Not with the unit tests: these go into the tarball."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

COLLECTION = Path(__file__).resolve().parents[2]
GUIDES = COLLECTION / "docs" / "docsite" / "rst"
SCENARIOS = COLLECTION / "extensions" / "molecule"

# Scenarios that are no role's.
OTHERS = {"default", "explain", "operator"}
# guide → playbooks of scenarios, in the order in which it shows them
SHOWN = {
    "guide_drain": ["drain/converge"],
    "guide_maintenance": ["maintenance/converge", "maintenance/open"],
    "guide_managed_cluster": ["managed_cluster/converge"],
    "guide_nncp_revert": ["network_revert/converge"],
    "guide_stuck_namespace": ["explain/converge"],
    "guide_uninstall": ["uninstall/converge"],
}


def plays_in(guide: str) -> list[str]:
    """Its blocks of YAML that are whole plays and not a task or an object."""
    blocks = re.findall(r"^\.\. code-block:: yaml\n\n((?:(?: {4}.*)?\n)+)", (GUIDES / f"{guide}.rst").read_text(), re.M)
    texts = [textwrap.dedent(block).strip() for block in blocks]
    return [text for text in texts if re.search(r"^ {2}hosts:", text, re.M)]


def playbook(name: str) -> str:
    """A playbook of a scenario, without what stands above its first play."""
    return (SCENARIOS / f"{name}.yml").read_text().partition("---\n")[2].strip()


@pytest.mark.parametrize("guide", SHOWN)
def test_a_guide_shows_the_playbooks_that_its_scenario_runs(guide: str) -> None:
    shown = plays_in(guide)
    for name in SHOWN[guide]:
        assert playbook(name) in shown, f"{guide}.rst does not show extensions/molecule/{name}.yml as it is"


def test_every_role_has_a_scenario_that_a_guide_shows() -> None:
    roles = {folder.name for folder in (COLLECTION / "roles").iterdir() if (folder / "tasks").is_dir()}
    shown = {name.partition("/")[0] for names in SHOWN.values() for name in names}
    assert shown - OTHERS == roles
    assert {file.parent.name for file in SCENARIOS.glob("*/molecule.yml")} == roles | OTHERS
