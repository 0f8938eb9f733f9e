# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base image of the operator, made here: as the public one of ansible-operator, on Debian's packages.

Programs are at the same places, Python packages have the versions of its lock file, and the runner's event plugin is
its own, all out of its Go module. Made once and kept in the cache: a few minutes, then never again.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lab import machine, modules, paths, tools
from lab.die_with_parent import die_with_parent
from lab.operator import buildah
from lab.operator.buildah import Store
from lab.problems import LabError
from lab.recipes import last_lines

MODULE, VERSION = "github.com/operator-framework/ansible-operator-plugins", "v1.42.2"  # as in tools/operator/go.mod
TAG = f"localhost/ansible-operator:{VERSION}"
RECIPE = Path(__file__).parent / "Containerfile"
PACKAGES = ("ca-certificates", "python3", "python3-pip", "tini")
NOT_NEEDED = ("./usr/share/doc/*", "./usr/share/man/*", "./usr/share/locale/*", "./var/cache/apt/*", "./var/lib/apt/*")


@contextlib.contextmanager
def store() -> Iterator[Store]:
    """Where the base image is, under the name `TAG`; ours alone while the block runs."""
    home = paths.cache() / "operator"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = home / f"store-{key()}"
        ready = folder / "ready"
        if not ready.exists():
            for old in home.glob("store-*"):  # of other inputs, or half made
                shutil.rmtree(old, ignore_errors=True)
            folder.mkdir()
            images = Store.in_folder(folder)
            _build(images, home)
            ready.write_text(images.driver)
        yield Store(folder, ready.read_text())


def forget_store() -> None:
    """The next one who needs it makes it anew."""
    with store() as images:
        (images.folder / "ready").unlink()


@functools.cache
def key() -> str:
    """Changes with everything that goes into the base image."""
    program = tools.ensure(["ansible-operator"])["ansible-operator"]
    parts = (
        RECIPE.read_text(),
        Path(buildah.__file__).read_text(),
        VERSION,
        " ".join(PACKAGES),
        *_release(),
        program.parent.name,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def wheels(folder: Path, python: str, *requirements: str) -> None:
    """Fetch packages for the Python in the image, with the package index that this machine is set up for."""
    target = [f"--python-version={python}", "--only-binary=:all:", "--no-deps", f"--dest={folder}"]
    _run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *target, *requirements)


@functools.cache
def python_version() -> str:
    """Of the Python in the image: that of the Debian or Ubuntu here."""
    found = [file.name.removeprefix("python") for file in (_rootfs() / "usr" / "bin").glob("python3.*")]
    versions = [name for name in found if name.replace(".", "").isdigit()]
    if not versions:
        raise LabError(f"there is no Python in {_rootfs()}. Remove that folder, it will be made again")
    return versions[0]


def _build(images: Store, home: Path) -> None:
    started = time.monotonic()
    _say("making the base image of the operator; some minutes the first time, then it is kept")
    upstream = modules.directory(MODULE, VERSION) / "images" / "ansible-operator"
    locked = json.loads((upstream / "Pipfile.lock").read_text())["default"]
    with tempfile.TemporaryDirectory(prefix=".base-", dir=home) as place:
        context = Path(place)
        _run(
            "tar", "-C", str(_rootfs()), *(f"--exclude={one}" for one in NOT_NEEDED), "-cf", f"{place}/rootfs.tar", "."
        )
        wheels(context / "wheels", python_version(), *(f"{name}{one['version']}" for name, one in locked.items()))
        shutil.copytree(upstream / "ansible_runner_http", context / "ansible_runner_http")
        _run("chmod", "-R", "u+w", str(context / "ansible_runner_http"))  # Go's module cache is read-only
        shutil.copy(tools.ensure(["ansible-operator"])["ansible-operator"], context)
        images.build(TAG, context, RECIPE)
    _say(f"made the base image of the operator in {time.monotonic() - started:.0f} s")


@functools.cache
def _rootfs() -> Path:
    """A small Debian with Python in a folder; unpacked when it is not in the cache yet."""
    release, suite, mirror = _release()
    name = hashlib.sha256("\0".join((release, suite, *PACKAGES)).encode()).hexdigest()[:16]
    folder = paths.cache() / "operator" / f"rootfs-{name}"
    if folder.exists():
        return folder
    if not shutil.which("debootstrap"):
        raise LabError("debootstrap is not on PATH. On Debian: apt-get install debootstrap")
    _say(f"unpacking a small {release} with Python; about two minutes")
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".rootfs-", dir=folder.parent))
    try:
        components = "main,universe" if release == "ubuntu" else "main"
        wanted = ["--variant=minbase", f"--components={components}", f"--include={','.join(PACKAGES)}"]
        _run("debootstrap", *wanted, suite, str(scratch), mirror)
        scratch.chmod(0o755)
        scratch.rename(folder)  # appears whole or not at all
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


@functools.cache
def _release() -> tuple[str, str, str]:
    """What runs here and where its packages come from: the image is made of the same."""
    told = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    release, suite = (told.get(name, "").strip('"') for name in ("ID", "VERSION_CODENAME"))
    if release not in ("debian", "ubuntu") or not shutil.which("apt-get"):
        raise LabError("the operator's image is made of Debian's packages, and this is no Debian or Ubuntu")
    targets = ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"]
    sources = subprocess.run(targets, capture_output=True, text=True, check=False).stdout.splitlines()
    mirrors = [site for site, _space, name in (line.partition(" ") for line in sources) if name == suite]
    if not mirrors:
        raise LabError(f"apt knows no source of {suite}. Look at: apt-get indextargets")
    return release, suite, mirrors[0]


def _run(*command: str) -> None:
    done = subprocess.run(
        die_with_parent(command),
        env=machine.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise LabError(f"{' '.join(command[:3])} failed:\n{last_lines(done.stdout)}")


def _say(message: str) -> None:
    print(f"lab: {message}", file=sys.stderr, flush=True)
