# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every front does with a job's report, and with signals. Needs no cluster, so it may travel to any host.

Room: the front itself; private to the collection.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .clock import StopSign
from .problems import Problem
from .visible import visible, visible_if_failed, visible_lines, visible_result

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule


@dataclass(frozen=True)
class Report:
    """What a job hands back: the result's keys, and what fronts show in their own way."""

    result: dict[str, Any]
    failure: Problem | None = None
    warnings: list[str] = field(default_factory=list)
    diff: dict[str, Any] | None = None
    plan: dict[str, Any] | None = None
    undo: dict[str, Any] | None = None
    graph: dict[str, Any] | None = None


def shown(report: Report, clean: Callable[[str], str]) -> dict[str, Any]:
    """The result's keys; those with an underscore are for the front, which shows them in its own way.

    Here every sentence becomes safe to show, whatever a cluster put into it; secrets are masked before that.
    """
    result: dict[str, Any] = visible_result(dict(report.result))
    if report.warnings:
        result["_warnings"] = [visible(clean(text)) for text in report.warnings]
    if report.diff is not None:
        result["diff"] = {key: visible_lines(one) if isinstance(one, str) else one for key, one in report.diff.items()}
    if report.failure:
        result["failed"] = True
        result["msg"] = visible(clean(str(report.failure)))
    return result


def hand_back(module: AnsibleModule, result: dict[str, Any]) -> None:
    for text in result.pop("_warnings", ()):
        module.warn(text)
    if not module._diff:
        result.pop("diff", None)
    if result.get("failed"):
        module.fail_json(**visible_if_failed(result))
    module.exit_json(**result)


@contextlib.contextmanager
def stop_on_signals(stop: StopSign) -> Iterator[None]:
    """SIGTERM and SIGINT become the wish to stop, as long as the block runs."""

    def on_signal(number: int, frame: Any) -> None:
        stop.set(f"received {signal.Signals(number).name}")

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
