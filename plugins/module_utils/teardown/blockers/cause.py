# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reason why an object is still there, or would stay.

Room: teardown (pure).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Words for `what`, which results carry too:
CONDITION, CONTENT, INSTANCES = "condition", "content", "instances"
POD, CLAIM, DEPENDANT, USAGE, BUDGET = "pod", "claim", "dependant", "usage", "budget"
RIGHTS, POLICY, SCHEMA, REFUSED = "rights", "policy", "schema", "refused"
GRACE, NODE, NOT_DELETED, GITOPS = "grace", "node", "not deleted", "gitops"
SPEC_FINALIZER, CONTROLLER = "spec finalizer", "controller"
# The rest are kinds of obstacles: webhook, conversion, api service.

MOST_NAMED = 3


@dataclass(frozen=True)
class Cause:
    """`certain`: it is in the way now; otherwise it may be. `on` is the object that it waits for, if it is one.

    `loss` says what the command of the suggestion costs. `hooks` are webhooks that do not answer, or may not.
    """

    what: str
    text: str
    suggestion: str = ""
    certain: bool = True
    on: str = ""
    loss: str = ""
    hooks: frozenset[str] = frozenset()


def some_of(names: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else ""
    return ", ".join(names[:MOST_NAMED]) + more
