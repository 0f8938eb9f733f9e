# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The folder `undo`: what a run deleted, ready to be created again."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.files import EvidenceFolder
from ansible_collections.sunset.kube.tests.unit.fakes import SERVER_NOW

ITEM = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "ü"}}


@pytest.fixture
def folder(tmp_path: Path) -> EvidenceFolder:
    return EvidenceFolder(str(tmp_path), "ranked_delete", SERVER_NOW)


def step(name: str, *objects: Any) -> dict[str, Any]:
    return {"step": name, "objects": list(objects)}


def files(folder: EvidenceFolder) -> list[str]:
    return sorted(entry.name for entry in (Path(folder.path) / "undo").iterdir())


def test_each_step_is_one_list_in_the_order_of_deletion(folder: EvidenceFolder) -> None:
    folder.write_undo([step("namespaced resources", ITEM), step("records", ITEM)], [])
    assert files(folder) == ["01-namespaced-resources.json", "02-records.json"]
    content = json.loads((Path(folder.path) / "undo" / "01-namespaced-resources.json").read_text())
    assert content == {"apiVersion": "v1", "kind": "List", "items": [ITEM]}


def test_a_steps_name_becomes_a_file_name_whatever_it_holds(folder: EvidenceFolder) -> None:
    folder.write_undo([step("../../etc/passwd"), step("a, b" * 50), step("")], [])
    names = files(folder)
    assert names[0] == "01-------etc-passwd.json"
    assert all("/" not in name and len(name) <= 68 for name in names)


def test_what_could_not_be_kept_is_listed(folder: EvidenceFolder) -> None:
    folder.write_undo([], ["Secret shop/a: no", "Secret shop/b: no"])
    assert (Path(folder.path) / "undo" / "left-out.txt").read_text() == "Secret shop/a: no\nSecret shop/b: no\n"


def test_nothing_left_out_is_no_file(folder: EvidenceFolder) -> None:
    folder.write_undo([], [])
    assert files(folder) == []


def test_only_the_owner_may_read_it(folder: EvidenceFolder) -> None:
    folder.write_undo([step("x", ITEM)], ["y"])
    undo = Path(folder.path) / "undo"
    assert stat.S_IMODE(undo.stat().st_mode) == 0o700
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in undo.iterdir()} == {0o600}
