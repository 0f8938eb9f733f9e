# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which file answers which type of probe, and what every ending looks like to the caller.

Room: network (probes).
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable

from ...problems import Problem
from .api import api_server, node_ready
from .attempt import Attempt, Failed, Success
from .controller import controller
from .dns import dns
from .neighbour import neighbour
from .ping import ping
from .probe import Finding
from .tcp import tcp
from .web import http_page

RUNNERS: dict[str, Callable[[Attempt], Success]] = {
    "ping": ping,
    "tcp": tcp,
    "http": http_page,
    "dns": dns,
    "neighbour": neighbour,
    "api_server": api_server,
    "node_ready": node_ready,
    "controller": controller,
}
# Types whose answer after a change counts only when it was not there yet right after the change.
WANT_NEWS = frozenset({"node_ready"})


def run(attempt: Attempt) -> Finding:
    """Always a finding, never an exception: a probe that breaks must not break the way back."""
    began = attempt.deadline.clock.now()
    mark = ""
    try:
        success = RUNNERS[attempt.probe.type](attempt)
        works, detail, mark = True, success.detail, success.mark
    except Failed as failed:
        works, detail, mark = False, failed.why, failed.mark
    except TimeoutError:
        works, detail = False, f"no answer {attempt.within}"
    except OSError as problem:
        works, detail = False, _said(problem)
    except Problem as problem:
        works, detail = False, str(problem)
    except Exception as problem:
        works, detail = False, f"the probe broke: {problem!r}"
    return Finding(attempt.probe, works, f"{attempt.probe}: {detail}", attempt.deadline.clock.now() - began, mark)


def _said(problem: OSError) -> str:
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted: {problem.verify_message}"
    if isinstance(problem, ssl.SSLError):
        return f"no TLS: {problem.reason or problem}"
    return (os.strerror(problem.errno) if problem.errno else str(problem)).lower()
