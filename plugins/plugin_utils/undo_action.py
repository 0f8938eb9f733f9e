# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Opens the Secrets of an undo bundle: on the controller, where the bundle and the password are.

Room: action (base).
"""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.parsing.vault import VaultLib, VaultSecret

from ..module_utils.evidence.bundle import sealed_secrets
from .engine_action import EngineAction


class UndoAction(EngineAction):
    """As any other, with Secrets among the options if there is a password for them."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        bundle = self._task.args.get("bundle")
        if bundle and self._task.args.get("evidence_dir"):
            # Where it leads now: evidence/latest is about to become the folder of this run.
            bundle = os.path.realpath(os.path.expanduser(str(bundle)))
            self._task.args = {**self._task.args, "bundle": bundle}
        password = self._task.args.get("undo_vault_password")
        file = sealed_secrets(str(bundle or "."))
        if password and file:
            self._task.args = {**self._task.args, "secrets": _opened(file, str(password))}
        return super().run(tmp, task_vars)


def _opened(file: str, password: str) -> list[dict[str, Any]]:
    try:
        with open(file, "rb") as stream:
            text = VaultLib([("default", VaultSecret(password.encode()))]).decrypt(stream.read())
        items: list[dict[str, Any]] = json.loads(text)["items"]
    except (OSError, ValueError, KeyError, AnsibleError) as problem:
        raise AnsibleActionFail(f"cannot open {file} with this undo_vault_password: {problem}") from problem
    return items
