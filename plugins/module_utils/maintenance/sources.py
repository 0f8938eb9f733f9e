# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a page comes from: given in the task, a file, or a ConfigMap. What is missing is an error, never another page.

Room: maintenance.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..problems import BadOption
from ..well_known import CONFIG_MAPS
from .options import MaintenanceOptions, PageWish
from .pages.bundle import Bundle, PageSource, build_bundle

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

# key of a ConfigMap → which body it is
_KEYS = {"page.html": "html", "page.json": "json", "page.xml": "xml", "page.txt": "text"}


class PageSources:
    """Bundles by namespace, each built once."""

    def __init__(self, options: MaintenanceOptions, cluster: Cluster) -> None:
        self._options = options
        self._cluster = cluster
        self._built: dict[str, Bundle] = {}
        self._lock = threading.Lock()

    def bundle_for(self, namespace: str) -> Bundle:
        wish = self._options.page
        # The same page everywhere, unless each namespace brings its own.
        place = (wish.config_map_namespace or namespace) if wish.config_map else ""
        with self._lock:
            if place not in self._built:
                self._built[place] = build_bundle(self._source(wish, place), self._options.answering)
            return self._built[place]

    def _source(self, wish: PageWish, namespace: str) -> PageSource:
        if wish.config_map:
            return _from_config_map(wish, namespace, self._cluster)
        if wish.html_file:
            return dataclasses.replace(wish.source, html=_read(wish.html_file))
        return wish.source


def _read(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise BadOption(
            "cannot read page.html_file", which=path, why=str(problem), next_step="check the path where the task runs"
        ) from problem


def _from_config_map(wish: PageWish, namespace: str, cluster: Cluster) -> PageSource:
    item = cluster.read_whole(CONFIG_MAPS, namespace, wish.config_map)
    where = f"ConfigMap {namespace}/{wish.config_map}"
    if item is None:
        raise BadOption(
            "the page is not there", which=where, next_step="create it, or name another; nothing was changed"
        )
    data: Mapping[str, str] = item.get("data") or {}
    key = wish.config_map_key or "page.html"
    if key not in data:
        raise BadOption(
            "the page is not there",
            which=f"{where}, key {key}",
            why=f"it has {', '.join(sorted(data)) or 'no keys'}",
            next_step="name the key with page.config_map.key; nothing was changed",
        )
    others = {} if wish.config_map_key else {body: data[name] for name, body in _KEYS.items() if name in data}
    given = {body: value for body in ("json", "xml", "text") if (value := getattr(wish.source, body)) is not None}
    return PageSource(**{**others, "html": data[key], **given})
