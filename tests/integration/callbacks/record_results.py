# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback plugin that writes each task's result as a line of JSON, for tests that run real playbooks.

`_status` is added: what Ansible took the task for (ok, skipped, failed, unreachable).
"""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: record_results
type: notification
short_description: Writes each task's result as a line of JSON
description:
  - Appends to the file that the variable RECORD_RESULTS names.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "record_results"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        self._record(result, "ok")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._record(result, "skipped")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._record(result, "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._record(result, "unreachable")

    def _record(self, result: Any, status: str) -> None:
        with open(os.environ["RECORD_RESULTS"], "a", encoding="utf-8") as stream:
            stream.write(json.dumps({**result._result, "_status": status}, default=str) + "\n")
