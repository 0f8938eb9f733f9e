# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A guard for the time after a reboot: a systemd unit, or a line of cron, there only while a transaction is open.

Room: network, guard (stands alone).
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from .files import write_text

_UNIT = Path("/etc/systemd/system/sunset-kube-network-guard.service")
_WANTS = Path("/etc/systemd/system/multi-user.target.wants") / _UNIT.name
_CRON = Path("/etc/cron.d/sunset-kube-network-guard")
_SYSTEMD = Path("/run/systemd/system")


def install(journal: Path) -> str:
    """How it will be started; empty where nobody starts anything at boot that we know of."""
    command = shlex.join([sys.executable, "-m", "guard.watching", "boot", str(journal / "transactions")])
    if _SYSTEMD.is_dir():
        # To systemd, % begins a specifier.
        _write(_UNIT, _unit_text(command.replace("%", "%%"), str(journal / "boot").replace("%", "%%")))
        _WANTS.parent.mkdir(parents=True, exist_ok=True)
        if not _WANTS.is_symlink():
            _WANTS.symlink_to(_UNIT)
        subprocess.run(["systemctl", "daemon-reload"], capture_output=True, timeout=30, check=False)
        return "systemd"
    if _CRON.parent.is_dir():
        folder = shlex.quote(str(journal / "boot"))
        line = f"@reboot root cd {folder} && {command} >> log 2>&1"
        _write(_CRON, line.replace("%", r"\%") + "\n")  # to cron, % is the end of a line
        return "cron"
    return ""


def _write(file: Path, text: str) -> None:
    write_text(file, text)
    file.chmod(0o644)


def remove() -> None:
    for file in (_WANTS, _UNIT, _CRON):
        file.unlink(missing_ok=True)


def _unit_text(command: str, folder: str) -> str:
    return f"""[Unit]
Description=Finish what a network change of sunset.kube has left undecided
Before=network-online.target
After=NetworkManager.service

[Service]
Type=oneshot
WorkingDirectory={folder}
ExecStart={command}

[Install]
WantedBy=multi-user.target
"""
