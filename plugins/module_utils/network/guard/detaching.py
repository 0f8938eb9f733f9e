# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A process that outlives the task, the connection, and the end of the login session.

Room: network, guard (stands alone).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_SYSTEMD = Path("/run/systemd/system")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def start_detached(words: Sequence[str], code: Path, log: Path) -> None:
    """`python3 -m WORDS`, with our code in `code`."""
    command = [sys.executable, "-m", *words]
    if _SYSTEMD.is_dir() and shutil.which("systemd-run"):
        # A session's processes may be ended with it (KillUserProcesses); a unit of its own is nobody's child.
        settings = ["--collect", "--quiet", f"--working-directory={code}", f"--setenv=PYTHONPATH={code}"]
        done = subprocess.run(["systemd-run", *settings, *command], capture_output=True, timeout=30, check=False)
        if not done.returncode:
            return
    with log.open("ab") as stream:
        subprocess.Popen(
            command,
            cwd=code,
            env={"PATH": _PATH, "PYTHONPATH": str(code), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            close_fds=True,
        )
