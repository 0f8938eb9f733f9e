# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members that manifests name: paths, directories, globs and inline documents.

Room: teardown. Reads files on the machine where the task runs.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...documents import documents, holds_documents
from ...problems import BadOption
from .claims import Membership, claims_in

_ENDINGS = (".yaml", ".yml", ".json")


def manifest_membership(sources: Sequence[Any], namespace: str) -> Membership:
    membership = Membership("manifests", default_namespace=namespace)
    for i, source in enumerate(sources):
        for document, where in _read(source, f"members.manifests[{i}]"):
            found = list(claims_in(iter([document]), where))
            membership.claims.extend(found)
            if not found and isinstance(document, Mapping) and not isinstance(document.get("items"), list):
                membership.warnings.append(f"{where} holds an object without a name; it cannot be found again")
    return membership


def _read(source: Any, path: str) -> Iterator[tuple[Any, str]]:
    if isinstance(source, Mapping):
        yield source, path
    elif isinstance(source, str) and holds_documents(source):
        yield from ((document, path) for document in documents(source, path))
    elif isinstance(source, str):
        for file in _files(source, path):
            yield from ((document, file) for document in documents(_text_of(file), file))
    else:
        raise BadOption("bad options", why=f"{path}: must be a path, text or a mapping, not {type(source).__name__}")


def _text_of(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as problem:
        raise BadOption(f"cannot read {file}", why=str(problem), next_step="check the file") from problem


def _files(pattern: str, path: str) -> list[str]:
    found = sorted(glob.glob(os.path.expanduser(pattern), recursive=True))
    files: list[str] = []
    for entry in found:
        if os.path.isdir(entry):
            files.extend(
                os.path.join(folder, name)
                for folder, _folders, names in sorted(os.walk(entry))
                for name in sorted(names)
                if name.endswith(_ENDINGS)
            )
        else:
            files.append(entry)
    if not files:
        # An empty answer would look like "nothing to delete".
        raise BadOption("bad options", why=f"{path}: no manifest at {pattern}", next_step="check the path")
    return files
