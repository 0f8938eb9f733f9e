# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the engine says to whoever runs a task, as somebody with kubectl needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.incluster.words import for_kubectl
from ansible_collections.sunset.kube.plugins.module_utils.limits import check_limits
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused

ROOT = Path(__file__).resolve().parents[3]


def test_another_plan_is_approved_in_the_resource() -> None:
    with pytest.raises(Refused) as refused:
        check_limits(3, "0123456789ab", None, "ba9876543210")
    text = for_kubectl(str(refused.value))
    assert "--check" not in text
    assert "plan_hash" not in text
    assert "spec.approve is ba9876543210" in text
    assert "set spec.approve to status.planHash" in text


def test_more_objects_are_allowed_in_the_resource() -> None:
    with pytest.raises(Refused) as refused:
        check_limits(3, "0123456789ab", 2, None)
    text = for_kubectl(str(refused.value))
    assert "--check" not in text
    assert "max_objects" not in text
    assert "raise spec.maxObjects" in text


def test_a_page_that_stays_is_lifted_by_a_resource() -> None:
    said = (ROOT / "roles" / "uninstall" / "tasks" / "engine.yml").read_text(encoding="utf-8")
    command = "ansible-playbook sunset.kube.maintenance -e state=disabled -e namespace="
    assert command in said
    assert for_kubectl(f"lift it with: {command}shop and {command}pay") == (
        "lift it with: a Maintenance with state: disabled in namespace shop and a Maintenance with state: disabled in "
        "namespace pay"
    )
