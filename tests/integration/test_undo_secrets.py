# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets in the undo bundle: encrypted, readable again with the password, and nowhere else."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from ansible.parsing.vault import VaultLib, VaultSecret

from integration.running import run_playbook
from lab.plane.controlplane import ControlPlane

WORD = "open-sesame-and-close-again"


def test_deleted_secrets_are_kept_encrypted_when_a_password_is_given(
    plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "login", "namespace": namespace},
        "stringData": {"word": WORD},
    }
    plane.api.create(secret)
    task = {
        "members": {"objects": [{"kind": "Secret", "name": "login", "namespace": namespace}]},
        "evidence_dir": str(tmp_path),
        "undo_vault_password": "the password",
    }
    run = run_playbook([{"sunset.kube.ranked_delete": task}], plane.admin.kubeconfig, extra_args=["-vvv"])
    assert run.rc == 0, run.stdout
    folder = Path(run.result["evidence"])
    sealed = (folder / "undo" / "secrets.vault").read_text()
    opened = VaultLib([("default", VaultSecret(b"the password"))]).decrypt(sealed)
    [kept] = json.loads(opened)["items"]
    encoded = base64.b64encode(WORD.encode()).decode()
    assert (kept["metadata"]["name"], kept["data"]) == ("login", {"word": encoded})
    texts = [file.read_text() for file in folder.rglob("*") if file.is_file()] + [run.stdout, json.dumps(run.result)]
    assert not any(word in text for text in texts for word in (WORD, encoded, "the password"))
