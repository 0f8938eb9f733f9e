# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An nmstate document from a task or a file: read, checked, every bad field named by its path.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from ..documents import documents
from ..problems import BadFields, BadOption, MissingPackage
from .field_checks import check_state
from .shapes import State


def read_state(given: Any, where: str = "desired_state") -> State:
    """A checked copy to work with. Takes a mapping or YAML text; nothing at all is an empty state."""
    state = _parsed(given, where)
    bad = BadFields()
    check_state(state, where, bad)
    bad.raise_if_any()
    return state


def _parsed(given: Any, where: str) -> State:
    if isinstance(given, str):
        given = _document(given, where)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadOption(f"cannot read {where}", why=f"it is a {type(given).__name__}, not a mapping")
    return copy.deepcopy(dict(given))


def _document(text: str, where: str) -> Any:
    """JSON needs nothing but Python, which is all there is on a node."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        found = [document for document in documents(text, where) if document is not None]
    except MissingPackage as problem:
        step = f"give {where} as a mapping instead of text, or install PyYAML where this task runs"
        raise MissingPackage(f"cannot read {where}", why=str(problem.why), next_step=step) from problem
    if len(found) > 1:
        raise BadOption(f"cannot read {where}", why=f"it holds {len(found)} YAML documents", next_step="give one")
    return found[0] if found else {}
