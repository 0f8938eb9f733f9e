# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The command that undoes a run, to be pasted into a shell as it is.

Room: action (base).
"""

from __future__ import annotations

import json
import re
import shlex
import urllib.parse
from collections.abc import Mapping
from typing import Any

from .connection_names import CONNECTION_NAMES

# What is the same for the shell and for the parser of `-e key=value`.
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,-]+")
# Ansible would template it.
_TEMPLATES = ("{{", "{%", "{#")


def undo_command(folder: str, given: Mapping[str, Any]) -> str:
    """With the connection the task was given, but for secrets. Empty where no command would say what is meant."""
    connection = {name: given[name] for name in CONNECTION_NAMES if given.get(name) not in (None, "", [])}
    shown = {name: value for name, value in connection.items() if not _is_secret(name, value)}
    pairs = {"bundle": folder, **shown}
    if any(mark in str(value) for value in pairs.values() for mark in _TEMPLATES):
        return ""
    command = " ".join(["ansible-playbook sunset.kube.undo", *(f"-e {_argument(*pair)}" for pair in pairs.items())])
    hidden = [name for name in connection if name not in shown]
    return f"{command} (and {' and '.join(hidden)} as before)" if hidden else command


def _is_secret(name: str, value: Any) -> bool:
    if name == "proxy":
        try:
            return bool(urllib.parse.urlsplit(str(value)).password)
        except ValueError:
            return True
    return name == "api_key" or isinstance(value, Mapping)


def _argument(name: str, value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return f"{name}={value}"
    return shlex.quote(json.dumps({name: value}))
