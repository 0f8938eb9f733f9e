# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""YAML text to documents. PyYAML comes with ansible-core on the controller and with `kubernetes` elsewhere.

Shared by every room and private to the collection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .problems import BadOption, MissingPackage

# A few lines with aliases can stand for more values than fit into the memory. The text is not trusted.
_MANY = 1_000_000


def holds_documents(text: str) -> bool:
    """Whether a text is itself what is meant, and not the path of a file with it."""
    return "\n" in text or ": " in text


def documents(text: str, where: str) -> Iterator[Any]:
    """Every document of a text. A broken one is an error that says where, not a shorter list."""
    yaml = _import_yaml()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # No text without aliases has more values than characters.
    most = max(_MANY, len(text))
    try:
        # As bytes: Ansible's own kinds of text are no text to libyaml.
        for document in yaml.load_all(text.encode(), Loader=loader):
            if "*" in text and _has_more_than(most, document):
                why = f"its aliases stand for more than {most} values"
                raise BadOption(f"cannot read {where}", why=why, next_step="write it without aliases")
            yield document
    except yaml.YAMLError as problem:
        why = f"it is not valid YAML: {problem}"
        raise BadOption(f"cannot read {where}", why=why, next_step="fix the YAML syntax") from problem


def _has_more_than(most: int, document: Any) -> bool:
    """Whether a document has more values, each alias counted as what it stands for. It may stand for itself."""
    left, pending = most, [document]
    while pending:
        one = pending.pop()
        inner = list(one.values()) if isinstance(one, dict) else one
        if isinstance(inner, (list, tuple, set)):
            left -= len(inner)
            if left < 0:
                return True
            pending.extend(inner)
    return False


def _import_yaml() -> Any:
    try:
        import yaml
    except ImportError as problem:
        raise MissingPackage.named("PyYAML", problem) from problem
    return yaml
