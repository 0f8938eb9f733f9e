# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's image, built with the project's own Containerfile on the lab's base image, without a network.

It is kept in the cache, under a name that depends on everything that goes into it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab import paths
from lab.operator import base
from lab.operator.buildah import Store
from lab.problems import LabError

ROOT = Path(__file__).resolve().parents[3]
REPOSITORY = "lab.invalid/sunset-operator"
TAG = "localhost/sunset-operator"  # while it is built
KEPT = 3  # archives of earlier states of the checkout, or of another one
WHEELS = "/wheels"


def built() -> tuple[Path, str]:
    """The image as a file for `Node.load_image`, and its name; built when there is none yet of what is here now."""
    tarball = built_collection()
    key = _key(tarball)
    reference = f"{REPOSITORY}:{key}"
    target = paths.cache() / "images" / f"sunset-operator-{key}.tar"
    if target.exists():
        os.utime(target)
        return target, reference
    try:
        _make(target, reference, tarball)
    except LabError:
        # buildah compares files with their sums: a store that somebody has written to is of no use any more.
        base.forget_store()
        _make(target, reference, tarball)
    return target, reference


def _make(target: Path, reference: str, tarball: Path) -> None:
    with base.store() as images:
        if target.exists():  # the one we waited for has built just this
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = target.with_name(f".new-{target.name}")
        scratch.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(prefix="operator-") as place:
            _build(images, Path(place), tarball)
        images.export(TAG, scratch, reference)
        images.remove(TAG)
        scratch.rename(target)  # appears whole or not at all
        _forget_old(target.parent)


def _build(images: Store, place: Path, tarball: Path) -> None:
    wheels = place / "wheels"
    requirements = f"--requirement={ROOT / 'operator' / 'requirements.txt'}"
    base.wheels(wheels, base.python_version(), "--require-hashes", requirements)
    arguments = {
        "BASE": base.TAG,
        "VERSION": _version(),
        "PIP_OPTIONS": f"--no-index --find-links={WHEELS}",
    }
    context = place / "context"
    _lay_out(context, tarball)
    images.build(TAG, context, ROOT / "operator" / "Containerfile", arguments, {wheels: WHEELS})


def built_collection() -> Path:
    tarball = ROOT / "dist" / f"sunset-kube-{_version()}.tar.gz"
    if not tarball.exists():
        raise LabError(f"{tarball} is not there. Build it with: make build")
    return tarball


def _lay_out(context: Path, tarball: Path) -> None:
    """The context as .dockerignore leaves it, apart from the checkout, which may change meanwhile."""
    (context / "dist").mkdir(parents=True)
    shutil.copy(tarball, context / "dist")
    for file in _sources():
        copy = context / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)


def _key(tarball: Path) -> str:
    digest = hashlib.sha256(f"{base.key()} {_version()}".encode())
    for file in (Path(__file__), tarball, *_sources()):
        digest.update(f"{file.name} {file.stat().st_mode}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    operator = ROOT / "operator"
    yield from (operator / name for name in ("Containerfile", "requirements.txt", "entrypoint.sh"))
    yield from sorted(operator.glob("watches*.yaml"))
    yield from sorted(file for file in (operator / "playbooks").rglob("*") if file.is_file())


def _version() -> str:
    found = re.search(r"^version: *(\S+)", (ROOT / "galaxy.yml").read_text(), re.MULTILINE)
    if not found:
        raise LabError("galaxy.yml has no version")
    return found.group(1)


def _forget_old(folder: Path) -> None:
    archives = sorted(folder.glob("sunset-operator-*.tar"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in archives[KEPT:]:
        file.unlink(missing_ok=True)
