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


def holds_documents(text: str) -> bool:
    """Whether a text is itself what is meant, and not the path of a file with it."""
    return "\n" in text or ": " in text


def documents(text: str, where: str) -> Iterator[Any]:
    """Every document of a text. A broken one is an error that says where, not a shorter list."""
    yaml = _import_yaml()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # As bytes: Ansible's own kinds of text are no text to libyaml.
        yield from yaml.load_all(text.encode(), Loader=loader)
    except yaml.YAMLError as problem:
        why = f"it is not valid YAML: {problem}"
        raise BadOption(f"cannot read {where}", why=why, next_step="fix the YAML syntax") from problem


def _import_yaml() -> Any:
    try:
        import yaml
    except ImportError as problem:
        raise MissingPackage.named("PyYAML", problem) from problem
    return yaml
