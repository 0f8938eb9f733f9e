# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubeconfig files, merged and narrowed down to one context, as kubectl reads them.

Room: kube. Read here and not by the `kubernetes` package, because importing that takes as long as some hundred deletes;
the package is left to the login plugins (see configuration.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..documents import documents
from ..problems import BadOption

# Keys that hold paths, which are relative to the file they stand in.
_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


@dataclass(frozen=True)
class Chosen:
    """One context's cluster and user, with absolute paths, and the folder of the file that has the user."""

    context: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    folder: str
    where: str


def choose(kubeconfig: str | Mapping[str, Any], context: str | None) -> Chosen:
    """The wanted or current context of a kubeconfig: a path, several joined by `:`, or its content."""
    if not isinstance(kubeconfig, (str, Mapping)):
        raise BadOption(
            "kubeconfig", why="it is neither a path nor a dictionary", next_step="check the option kubeconfig"
        )
    if isinstance(kubeconfig, str):
        where = f"kubeconfig {kubeconfig}"
        files = _existing(kubeconfig)
        contents = [(_read(file), os.path.dirname(os.path.abspath(file))) for file in files]
    else:
        where = "kubeconfig given as a dictionary"
        contents = [(kubeconfig, "")]
    merged = _Merged(contents, where)
    wanted = context or merged.current_context
    names = ", ".join(merged.names("contexts")) or "no contexts"
    if not wanted:
        raise BadOption(
            where, why="it has no current-context and no context was given", next_step=f"set context to one of {names}"
        )
    chosen, _folder = merged.entry("contexts", wanted, "context")
    if chosen is None:
        raise BadOption(
            f"unknown context {wanted}",
            which=f"in {where}",
            why=f"it has {names}",
            next_step="set context to one of these",
        )
    cluster, _folder = merged.entry("clusters", chosen.get("cluster"), "cluster")
    user, folder = merged.entry("users", chosen.get("user"), "user")
    if not cluster or not cluster.get("server"):
        raise BadOption(
            where,
            why=f"context {wanted} names cluster {chosen.get('cluster')}, which has no server there",
            next_step="check it with kubectl config view",
        )
    return Chosen(wanted, cluster, user or {}, folder, where)


class _Merged:
    """Several files as one: the first that has an entry, or a current context, counts."""

    def __init__(self, contents: list[tuple[Mapping[str, Any], str]], where: str) -> None:
        self._contents = contents
        self._where = where
        self.current_context = next(
            (content["current-context"] for content, _folder in contents if content.get("current-context")), ""
        )

    def names(self, section: str) -> list[str]:
        return [
            str(entry.get("name")) for content, _folder in self._contents for entry in self._section(content, section)
        ]

    def entry(self, section: str, name: Any, key: str) -> tuple[Mapping[str, Any] | None, str]:
        for content, folder in self._contents:
            for entry in self._section(content, section):
                if entry.get("name") == name:
                    return self._paths_made_absolute(entry.get(key) or {}, f"{section} {name}", folder), folder
        return None, ""

    def _paths_made_absolute(self, entry: Any, what: str, folder: str) -> Mapping[str, Any]:
        if not isinstance(entry, Mapping):
            raise BadOption(self._where, why=f"{what} is not a mapping", next_step="check it with kubectl config view")
        texts = {key: entry[key] for key in _PATHS if isinstance(entry.get(key), str) and entry[key]}
        return {**entry, **{key: os.path.join(folder, path) for key, path in texts.items()}}

    def _section(self, content: Mapping[str, Any], section: str) -> list[Mapping[str, Any]]:
        entries = content.get(section) or []
        if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
            raise BadOption(
                self._where, why=f"{section} is not a list of entries", next_step="check it with kubectl config view"
            )
        return entries


def _existing(kubeconfig: str) -> list[str]:
    files = [os.path.expanduser(part) for part in kubeconfig.split(os.pathsep) if part]
    existing = [file for file in files if os.path.isfile(file)]
    if not existing:
        raise BadOption(
            "kubeconfig", which=kubeconfig, why="there is no such file", next_step="check the option kubeconfig"
        )
    return existing


def _read(file: str) -> Mapping[str, Any]:
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as problem:
        raise BadOption("kubeconfig", which=file, why=f"it cannot be read: {problem}") from problem
    content = next(documents(text, f"kubeconfig {file}"), None)
    if not isinstance(content, Mapping):
        raise BadOption(
            "kubeconfig", which=file, why="it is empty, or no mapping", next_step="check the option kubeconfig"
        )
    return content
