# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing secret leaves the cluster in the clear: not on the screen, not in results, not in any file of a run."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

from integration.broken_apps import CANARY, RELEASE, Shop
from integration.collection_playbooks import play_named
from lab.plane.controlplane import ControlPlane

VAULT_PASSWORD = "canary-Tb4Wm9-opens-the-bundle"


def spellings(text: str) -> Iterator[str]:
    """As it is, as a Secret has it, and inside a longer text that was encoded: at each of three offsets."""
    yield text
    for offset in range(3):
        encoded = base64.b64encode(b"." * offset + text.encode()).decode().rstrip("=")
        yield encoded[4:-4] if offset else encoded[:-4]


def record_of(shop: Shop) -> str:
    """Helm's record holds the password too, packed and encoded twice: any part of it tells everything."""
    path = f"/api/v1/namespaces/{shop.namespace}/secrets/sh.helm.release.v1.{RELEASE}.v1"
    data: str = shop.api.get(path)[1]["data"]["release"]
    return data


def written_to(*directories: Path) -> dict[str, str]:
    files = [file for directory in directories for file in directory.rglob("*") if file.is_file()]
    return {str(file): file.read_bytes().decode("utf-8", "replace") for file in files}


def test_planted_secrets_are_nowhere(shop: Shop, plane: ControlPlane, tmp_path: Path) -> None:
    shop.end_operator()
    record = record_of(shop)
    words = [*spellings(CANARY), *spellings(VAULT_PASSWORD), record[:60], record[600:660]]
    planted = json.dumps(shop.api.get(f"/api/v1/namespaces/{shop.namespace}/secrets/{RELEASE}-db")[1])
    assert any(word in planted for word in words), "they are what a leak would look like"
    variables = tmp_path / "variables.json"  # as a pipeline keeps it, off the command line
    evidence = tmp_path / "evidence"
    wanted = {"release": RELEASE, "namespace": shop.namespace, "confirm": "skip", "timeout": 60}
    wanted |= {"instances": "delete", "volumes": "delete", "evidence_dir": str(evidence)}
    variables.write_text(json.dumps({**wanted, "undo_vault_password": VAULT_PASSWORD}))
    runs = {
        "check": ("--check", "--diff", "-vvv", "--extra-vars", "force=true"),
        "refused": ("-vvv",),  # nobody runs who takes the finalizers off
        "run": ("--diff", "-vvv", "--extra-vars", '{"force": true, "force_after": 0}'),
    }
    for name, arguments in runs.items():
        place = tmp_path / name
        done = play_named(
            "sunset.kube.uninstall", place, plane.admin.kubeconfig, *arguments, "--extra-vars", f"@{variables}"
        )
        assert bool(done.rc) == (name == "refused"), done.stdout
    texts = written_to(evidence, *(tmp_path / name for name in runs))
    assert [file for file in texts if file.endswith("report.html")], "there is evidence to look at"
    assert [file for file in texts if "/undo/" in file], "there is a bundle to look at"
    found = {(file, word) for file, text in texts.items() for word in words if word in text}
    assert found == set()
    modes = {oct(file.stat().st_mode & 0o077) for file in evidence.rglob("*") if file.is_file()}
    assert modes == {"0o0"}, "only the one who ran it may read it"
