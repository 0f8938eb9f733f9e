# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node, with its own Python: asks a backend, or tells it what to do. A line of JSON in, a line of JSON out.

Orders: {"backend": NAME, "do": "capture"}, or "choose", or "apply" with "state" and "seconds", or "commit" and
"roll back" with "checkpoint".
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.network.backends.choosing import backend_named, choose
from ansible_collections.sunset.kube.plugins.module_utils.network.guard import checkpoints
from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem


def answer(order: dict[str, Any]) -> Any:
    if order["do"] == "choose":
        return choose(order["backend"]).name
    backend = backend_named(order["backend"])
    if order["do"] == "capture":
        return backend.capture()
    if order["do"] == "commit":
        return checkpoints.drop(order["checkpoint"])
    if order["do"] == "roll back":
        return checkpoints.roll_back(order["checkpoint"])
    return backend.apply(order["state"], order["seconds"])


def main() -> None:
    for line in sys.stdin:
        try:
            told = {"answer": answer(json.loads(line))}
        except Problem as problem:
            told = {"problem": type(problem).__name__, "says": str(problem)}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
