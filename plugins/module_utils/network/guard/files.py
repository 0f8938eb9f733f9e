# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that are whole or not there, also after a power cut, and that nobody else may read.

Room: network, guard (stands alone).
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

PARTIAL = (
    ".partial-"  # what is left of a write that was cut off; hidden, so NetworkManager does not take it for a profile
)


def write_whole(path: Path, content: bytes) -> None:
    """After this the content survives a power cut, or the older one does."""
    partial = path.with_name(f"{PARTIAL}{path.name}.{os.getpid()}.{threading.get_ident()}")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def write_text(path: Path, text: str) -> None:
    write_whole(path, text.encode())


def sync_directory(path: Path) -> None:
    """A new name itself is on disk only after this."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
