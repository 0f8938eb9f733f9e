# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The catalogue of finalizers, by the name that an object carries.

Room: teardown (pure).
"""

from __future__ import annotations

import fnmatch
import functools

from ..profiles.finalizers import KnownFinalizer
from ..profiles.known_finalizers import KNOWN_FINALIZERS


@functools.lru_cache(maxsize=1024)
def known(finalizer: str) -> KnownFinalizer | None:
    return next((entry for entry in KNOWN_FINALIZERS if fnmatch.fnmatchcase(finalizer, entry.pattern)), None)


def controllers_behind(finalizer: str, kind: str = "") -> tuple[str, ...]:
    """Names of the workloads that remove it, from objects of a kind (`plural.group`) if that is known."""
    entry = known(finalizer)
    if entry is None:
        return ()
    fitting = (names for pattern, names in entry.by_kind if fnmatch.fnmatchcase(kind, pattern))
    return next(fitting, entry.controllers)
