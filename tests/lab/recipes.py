# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a program is built: from a Go module of ours, or from a crate. Knows compilers; the cache is in tools.py.

A recipe's key changes with everything that goes into the program, the compiler too.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lab import machine
from lab.problems import LabError

WRAPPERS = Path(__file__).parent / "tools"  # one small Go module per source project, with its sums
OLDEST_RUST = (1, 88)


class Recipe(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def expected_seconds(self) -> int:
        """Cold build on two cores, for the progress line only."""

    @property
    def program(self) -> str:
        """Where below its directory the built program is."""

    @property
    def output(self) -> str:
        """Where the compiler puts the program, below the directory it is given."""

    @property
    def build(self) -> Hashable:
        """Recipes with the same value are compiled together: their programs share packages."""

    @property
    def if_it_fails(self) -> str:
        """What to look at first."""

    @property
    def package(self) -> str:
        """What the compiler is told to build."""

    def key(self) -> str:
        """Raises LabError, with the next step, where the compiler is missing or too old."""

    def command(self, into: Path, packages: Sequence[str]) -> list[str]: ...
    def workplace(self, scratch: Path) -> Path: ...
    def environment(self, scratch: Path) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class Swap:
    """A file of a dependency that gives way to one of ours: for parts that take minutes to compile and never run."""

    module: str
    file: str  # below the module
    ours: str  # below the wrapper


@dataclass(frozen=True)
class Tool:
    """A program in Go."""

    name: str
    wrapper: str  # directory below WRAPPERS
    package: str
    expected_seconds: int
    ldflags: str = "-s -w"
    tags: str = ""
    if_it_fails: str = (
        "Where a module could not be fetched, check the network and GOPROXY and run it again: what was built so far "
        "is kept. go said"
    )
    swaps: tuple[Swap, ...] = ()

    @property
    def program(self) -> str:
        return self.name

    @property
    def output(self) -> str:
        """go names a program after the last part of its package's path that is no version."""
        before, last = self.package.split("/")[-2:]
        return before if re.fullmatch(r"v\d+", last) else last

    @property
    def build(self) -> Hashable:
        return self.wrapper, self.ldflags, self.tags, self.swaps

    @property
    def _tags(self) -> tuple[str, ...]:
        return ("-tags", self.tags) if self.tags else ()

    def key(self) -> str:
        go = self._go()
        digest = hashlib.sha256()
        for file in sorted((WRAPPERS / self.wrapper).iterdir()):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
        digest.update("\0".join((self.package, self.ldflags, go, *self._tags, *map(repr, self.swaps))).encode())
        return digest.hexdigest()[:16]

    def command(self, into: Path, packages: Sequence[str]) -> list[str]:
        how = ["-trimpath", "-ldflags", self.ldflags, *self._tags]
        return ["go", "build", *how, "-o", f"{into}/", *packages]

    def workplace(self, scratch: Path) -> Path:
        if not self.swaps:
            return WRAPPERS / self.wrapper
        place = scratch / "wrapper"
        shutil.copytree(WRAPPERS / self.wrapper, place)
        for number, swap in enumerate(self.swaps):
            self._swapped(swap, place, scratch / f"module-{number}")
        return place

    def _swapped(self, swap: Swap, place: Path, copy: Path) -> None:
        """The module in a copy of our own, because go lets nobody lay anything over its cache of modules."""
        fetched = self._ask_go(place, "mod", "download", "-json", swap.module)
        # Files and folders of the cache are for reading only, and stay so when their modes are copied.
        shutil.copytree(json.loads(fetched)["Dir"], copy, copy_function=shutil.copyfile)
        target = copy / swap.file
        target.parent.chmod(0o755)
        shutil.copyfile(place / swap.ours, target)
        self._ask_go(place, "mod", "edit", f"-replace={swap.module}={copy}")

    def _ask_go(self, place: Path, *arguments: str) -> str:
        asked = _asked(["go", *arguments], place)
        if asked.returncode:
            said = last_lines(asked.stdout + asked.stderr)
            raise LabError(f"building {self.name} failed. {self.if_it_fails}:\n{said}")
        return asked.stdout

    def environment(self, scratch: Path) -> Mapping[str, str]:
        # The compiler collects its garbage only where memory gets short: otherwise a third of its time is for that.
        return {"CGO_ENABLED": "0", "GOGC": "off", "GOMEMLIMIT": "2GiB"}

    def _go(self) -> str:
        """The version of Go that will build this; asked inside the wrapper, because its go.mod may demand another."""
        if not shutil.which("go"):
            raise LabError(
                f"{self.name} has to be built, and Go is not on PATH. Install Go (go.mod in {WRAPPERS / self.wrapper} "
                "says which), or point KUBEBUILDER_ASSETS at a directory with the Kubernetes test binaries"
            )
        asked = _asked(["go", "env", "GOVERSION"], WRAPPERS / self.wrapper)
        if asked.returncode:
            raise LabError(
                f"{self.name} cannot be built with the Go on PATH. Install a newer one, or allow it to fetch a "
                f"toolchain with GOTOOLCHAIN=auto. go said:\n{last_lines(asked.stderr)}"
            )
        return asked.stdout.strip()


@dataclass(frozen=True)
class Crate:
    """A program in Rust, as its authors released it, with the dependencies they locked."""

    name: str
    version: str
    expected_seconds: int
    if_it_fails: str = "Where a crate could not be fetched, check the network and run it again. cargo said"

    @property
    def program(self) -> str:
        return f"bin/{self.name}"

    @property
    def output(self) -> str:
        return self.program

    @property
    def build(self) -> Hashable:
        return self.name

    @property
    def package(self) -> str:
        return self.name

    def key(self) -> str:
        return hashlib.sha256(f"{self.name} {self.version} {self._rust()}".encode()).hexdigest()[:16]

    def command(self, into: Path, packages: Sequence[str]) -> list[str]:
        wanted = ["--version", self.version, "--bin", self.name]
        return ["cargo", "install", "--locked", "--no-track", "--root", str(into), *wanted, *packages]

    def workplace(self, scratch: Path) -> Path:
        return scratch

    def environment(self, scratch: Path) -> Mapping[str, str]:
        # Released programs are optimised for longer than ours ever run.
        return {"CARGO_TARGET_DIR": str(scratch / "target"), "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1"}

    def _rust(self) -> str:
        wanted = ".".join(map(str, OLDEST_RUST))
        if not shutil.which("cargo") or not shutil.which("rustc"):
            raise LabError(
                f"{self.name} has to be built, and cargo is not on PATH. Install Rust {wanted} or newer; "
                "rustup brings it where the distribution's is older"
            )
        said = _asked(["rustc", "--version"]).stdout.strip()
        found = re.match(r"rustc (\d+)\.(\d+)", said)
        if not found or tuple(map(int, found.groups())) < OLDEST_RUST:
            raise LabError(f"{self.name} needs Rust {wanted} or newer, and PATH has {said or 'none that answers'!r}")
        return said


def last_lines(text: str, lines: int = 20) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])


def surroundings(recipe: Recipe, scratch: Path) -> dict[str, str]:
    return {**machine.environment(), **recipe.environment(scratch)}


def _asked(command: list[str], place: Path | None = None) -> subprocess.CompletedProcess[str]:
    known = machine.environment()
    return subprocess.run(command, cwd=place, env=known, capture_output=True, text=True, check=False)
