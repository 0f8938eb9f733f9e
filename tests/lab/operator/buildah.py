# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""buildah, as the lab uses it: without a daemon, a registry or a network, with images kept in one folder."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.die_with_parent import die_with_parent
from lab.problems import LabError
from lab.recipes import last_lines

OVERLAY, VFS = "overlay", "vfs"


@dataclass(frozen=True)
class Store:
    """Images in a folder. Only one process may work with it at a time."""

    folder: Path
    driver: str = VFS

    @classmethod
    def in_folder(cls, folder: Path) -> Store:
        """With the faster driver where the kernel has it; vfs copies every file, and needs nothing of the kernel."""
        fast = cls(folder, OVERLAY)
        try:
            fast._run("images")
        except LabError:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            return cls(folder, VFS)
        return fast

    def build(
        self,
        tag: str,
        context: Path,
        containerfile: Path,
        arguments: Mapping[str, str] | None = None,
        volumes: Mapping[Path, str] | None = None,
    ) -> None:
        """An image of one layer on its base. `volumes` are there while it is built, and not in the image."""
        settings = [f"--build-arg={name}={value}" for name, value in (arguments or {}).items()]
        mounts = [f"--volume={here}:{there}:ro" for here, there in (volumes or {}).items()]
        # chroot: no runtime is needed, and no network of its own that would have to lead somewhere.
        options = ["--isolation=chroot", "--layers=false", "--pull-never", f"--file={containerfile}", f"--tag={tag}"]
        self._run("bud", *options, *settings, *mounts, str(context))

    def export(self, tag: str, archive: Path, reference: str) -> None:
        """The image as a file that a container runtime can import."""
        self._run("push", "--disable-compression", tag, f"docker-archive:{archive}:{reference}")

    def remove(self, tag: str) -> None:
        self._run("rmi", "--force", tag)

    def _run(self, command: str, *arguments: str) -> None:
        if not shutil.which("buildah"):
            raise LabError("buildah is not on PATH. On Debian: apt-get install buildah")
        place = f"--root={self.folder / 'images'}", f"--runroot={self.folder / 'run'}"
        # In a mount namespace of its own, so that no mount outlives it, whatever ends it.
        own_mounts = ["unshare", "--mount", "buildah", f"--storage-driver={self.driver}", *place]
        done = subprocess.run(
            die_with_parent([*own_mounts, command, *arguments]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise LabError(f"buildah {command} failed:\n{last_lines(done.stdout)}")
