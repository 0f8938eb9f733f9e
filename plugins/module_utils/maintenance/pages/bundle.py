# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A page and everything its server needs, as the data of one ConfigMap, named by its content.

Room: maintenance (pure). Same content, same name: routes that show the same page share one set of objects.
Whatever changes an answer (bodies, status, headers, image) changes the digest; who uses the page does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from ...problems import BadFields, BadOption
from .bodies import BODIES
from .checks import check_answering, check_source
from .nginx import nginx_conf
from .source import DEFAULT_IMAGE, IN_THE_CONTAINER, Answering, PageSource, PageText, Place

__all__ = ["DEFAULT_IMAGE", "Answering", "Bundle", "PageSource", "PageText", "build_bundle"]

CONF = "nginx.conf"
ROBOTS = "robots.txt"
MOST_BYTES = 1024 * 1024  # of all values of a ConfigMap together; the API server refuses more
_ID_LENGTH = 10


@dataclass(frozen=True)
class Bundle:
    """The page set's content. `files` is the data of its ConfigMap."""

    files: Mapping[str, str]
    digest: str  # sha256, hex
    image: str

    @property
    def id(self) -> str:
        return self.digest[:_ID_LENGTH]

    @property
    def name(self) -> str:
        return f"maintenance-{self.id}"


def build_bundle(source: PageSource, answering: Answering, place: Place = IN_THE_CONTAINER) -> Bundle:
    """Raises BadOption, with every reason at once, for what could not be served."""
    bad = BadFields()
    check_source(source, bad)
    check_answering(answering, bad)
    bad.raise_if_any()
    files = _bodies(source, answering)
    digest = _digest({**files, CONF: nginx_conf(source, answering, "", place)}, answering.image)
    # The id stands in an answer's header, so the digest is taken of the configuration before the id is in it.
    files[CONF] = nginx_conf(source, answering, digest[:_ID_LENGTH], place)
    _check_size(files)
    return Bundle(files, digest, answering.image)


def _bodies(source: PageSource, answering: Answering) -> dict[str, str]:
    files = {body.file: body.given(source) or body.made(source.text_of_page, answering) for body in BODIES}
    if answering.robots is not None:
        files[ROBOTS] = answering.robots
    return files


def _digest(files: Mapping[str, str], image: str) -> str:
    canonical = json.dumps({"files": files, "image": image}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _check_size(files: Mapping[str, str]) -> None:
    sizes = {name: len(text.encode()) for name, text in files.items()}
    total = sum(sizes.values())
    if total <= MOST_BYTES:
        return
    biggest = max(sizes, key=lambda name: sizes[name])
    raise BadOption(
        "the page is too big",
        why=f"a ConfigMap holds {MOST_BYTES} bytes and this page has {total}, {total - MOST_BYTES} too many"
        f" ({biggest} alone has {sizes[biggest]})",
        next_step="make the pictures inside the page smaller, or link them from a server that stays up",
    )
