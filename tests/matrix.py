# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The built collection on every ansible-core and Python that it supports: unit tests, documentation, playbook syntax.

Each combination has an environment of its own, kept in the cache. Standard library only.
Run: python3 tests/matrix.py [--core 2.17 ...] [--python 3.12 ...] [--integration]
Run: python3 tests/matrix.py --list      (the combinations as JSON, for .github/workflows/matrix.yml)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import environments  # noqa: E402
import run_ansible_test  # noqa: E402
import run_tests  # noqa: E402

# ansible-core → the Pythons of its controller. The oldest one is that of `requires_ansible` in meta/runtime.yml.
SUPPORTED = {
    "2.17": ("3.10", "3.11", "3.12"),
    "2.18": ("3.11", "3.12", "3.13"),
    "2.19": ("3.11", "3.12", "3.13"),
    "2.20": ("3.12", "3.13", "3.14"),
    "2.21": ("3.12", "3.13", "3.14"),
}
PINNED = ROOT / "tests" / "requirements" / "runtime.txt"
NOT_PINNED = ("ansible-core", "molecule")  # the first is what differs; the second needs one of the newer cores
LOGS = ROOT / ".work" / "logs"
TAIL = 40  # lines of what has failed


class Failed(Exception):
    """A command of a combination, with what it has printed."""


@dataclass
class Combination:
    core: str
    python: str
    interpreter: Path | None
    told: dict[str, str] = field(default_factory=dict)  # check → what came of it
    seconds: float = 0.0

    @property
    def log(self) -> Path:
        return LOGS / f"matrix-{self.core}-{self.python}.log"

    @property
    def failed(self) -> bool:
        return "failed" in self.told.values()


@dataclass(frozen=True)
class Place:
    """An environment with the collection installed in a folder, and where its commands write to."""

    bin: Path
    folder: Path
    log: Path

    @property
    def collection(self) -> Path:
        return self.folder / "ansible_collections" / "sunset" / "kube"

    def run(self, program: str, *arguments: str, cwd: Path | None = None, path: tuple[Path, ...] = ()) -> str:
        """What the command has printed. It has none of the settings that somebody has for Ansible."""
        command = [str(self.bin / program), *arguments]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))}
        (self.folder / "empty.cfg").touch()
        ours = {
            "ANSIBLE_COLLECTIONS_PATH": str(self.folder),
            "ANSIBLE_CONFIG": str(self.folder / "empty.cfg"),
            "ANSIBLE_HOME": str(self.folder / "home"),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(map(str, (self.folder, *path))),
            "SUNSET_KUBE_CACHE": str(environments.cache()),
        }
        done = subprocess.run(
            command,
            cwd=cwd or self.folder,
            env={**kept, **ours},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        with self.log.open("a") as log:
            log.write(f"$ {program} {' '.join(arguments)}\n{done.stdout}\n")
        if done.returncode:
            raise Failed(done.stdout)
        return done.stdout


def main() -> int:
    options = parsed()
    if options.list:
        print(json.dumps(listed()))
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    combinations = list(chosen(options.core, options.python))
    checks: dict[str, Callable[[Place], str]] = {"unit": unit, "docs": docs, "playbooks": playbooks}
    if options.integration:
        checks["integration"] = integration
    for combination in combinations:
        if combination.interpreter is None:
            combination.told["unit"] = "failed" if options.python else "no such Python here"
        else:
            go_through(combination, combination.interpreter, checks)
        print(row(combination, checks), flush=True)
    if len(combinations) > 1:
        print("", header(checks), *(row(one, checks) for one in combinations), sep="\n")
    return int(any(one.failed for one in combinations))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Test the collection on ansible-core and Python as it supports them.")
    pythons = sorted({python for some in SUPPORTED.values() for python in some}, key=version)
    parser.add_argument("--core", nargs="+", choices=SUPPORTED, default=[], help="all of them if none is named")
    parser.add_argument("--python", nargs="+", choices=pythons, default=[], help="all that the core supports")
    parser.add_argument("--integration", action="store_true", help="the quick integration tests, too")
    parser.add_argument("--list", action="store_true", help="only print the combinations, as JSON")
    return parser.parse_args()


def listed() -> list[dict[str, str]]:
    """Those at both ends also run the quick integration tests."""
    every = [(core, python) for core, pythons in SUPPORTED.items() for python in pythons]
    ends = (every[0], every[-1])
    return [
        {"core": core, "python": python, "more": "--integration" if (core, python) in ends else ""}
        for core, python in every
    ]


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def chosen(cores: list[str], pythons: list[str]) -> Iterator[Combination]:
    found = run_ansible_test.interpreters({python for some in SUPPORTED.values() for python in some})
    for core, supported in SUPPORTED.items():
        for python in supported:
            if (not cores or core in cores) and (not pythons or python in pythons):
                yield Combination(core, python, found.get(python))


def go_through(combination: Combination, interpreter: Path, checks: dict[str, Callable[[Place], str]]) -> None:
    started = time.monotonic()
    combination.log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="matrix-") as folder:
        try:
            place = Place(environment(combination, interpreter) / "bin", Path(folder), combination.log)
            install(place)
        except Failed as problem:
            combination.told = dict.fromkeys(checks, "failed")
            tell(combination, "environment", problem)
            return
        for name, check in checks.items():
            try:
                combination.told[name] = check(place)
            except Failed as problem:
                combination.told[name] = "failed"
                tell(combination, name, problem)
    combination.seconds = time.monotonic() - started


def tell(combination: Combination, check: str, problem: Failed) -> None:
    end = "\n".join(line[:200] for line in str(problem).splitlines()[-TAIL:])
    print(f"--- ansible-core {combination.core}, Python {combination.python}: {check}\n{end}\n---", flush=True)


def environment(combination: Combination, interpreter: Path) -> Path:
    """ansible-core, and what collection and tests need: as we test with it elsewhere, or older for an older Python."""
    pins = [
        line.replace("==", "<=")
        for line in PINNED.read_text().splitlines()
        if line and not line.startswith(("#", "-")) and line.partition("==")[0] not in NOT_PINNED
    ]
    wanted = [f"ansible-core~={combination.core}.0", *pins]
    key = hashlib.sha256(" ".join([*wanted, str(interpreter.resolve())]).encode()).hexdigest()[:12]
    folder = environments.cache() / "matrix" / f"{combination.core}-{combination.python}-{key}"
    if environments.is_complete(folder):
        return folder
    for command in (
        [str(interpreter), "-m", "venv", "--clear", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
    ):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise Failed(done.stdout)
    (folder / "complete").touch()
    return folder


def install(place: Place) -> None:
    place.run("ansible-galaxy", "collection", "build", "--output-path", str(place.folder), cwd=ROOT)
    [tarball] = place.folder.glob("*.tar.gz")
    how = ("--offline", "--no-deps", "--collections-path", str(place.folder))
    place.run("ansible-galaxy", "collection", "install", *how, str(tarball))


def unit(place: Place) -> str:
    """As a user would run them who has only the tarball."""
    return counted(place.run("python", "-m", "pytest", "tests/unit", "-q", "-n", "auto", cwd=place.collection))


def docs(place: Place) -> str:
    """Every module, lookup plugin and role has documentation that this ansible-core can read."""
    seen = 0
    for kind, folder, pattern in (("module", "modules", "[a-z]*.py"), ("lookup", "lookup", "[a-z]*.py")):
        files = sorted((place.collection / "plugins" / folder).glob(pattern))
        seen += described(place, kind, [f"sunset.kube.{file.stem}" for file in files])
    roles = sorted(folder.name for folder in (place.collection / "roles").iterdir())
    return f"{seen + described(place, 'role', [f'sunset.kube.{name}' for name in roles])} read"


def described(place: Place, kind: str, names: list[str]) -> int:
    listed = place.run("ansible-doc", "--type", kind, "--list", "sunset.kube")
    told = place.run("ansible-doc", "--type", kind, "--json", *names)
    known = json.loads(told[told.index("{") :])
    wrong = [name for name in names if name not in listed or not known.get(name)]
    if wrong:
        raise Failed(f"not documented: {', '.join(wrong)}")
    return len(names)


def playbooks(place: Place) -> str:
    names = sorted(file.stem for file in (place.collection / "playbooks").glob("*.yml"))
    for name in names:
        place.run("ansible-playbook", "--syntax-check", "--inventory", "localhost,", f"sunset.kube.{name}")
    return f"{len(names)} parsed"


def integration(place: Place) -> str:
    """The quick part, from the checkout, which has the lab."""
    workers = ("-n", "3", "--dist", "loadfile")
    tests = ("tests/integration", "-q", "-m", run_tests.QUICKLY, *workers)
    return counted(place.run("python", "-m", "pytest", *tests, cwd=ROOT, path=(ROOT / "tests",)))


def counted(output: str) -> str:
    found = re.search(r"\d+ passed.*(?= in )", output)
    return found.group() if found else "nothing ran"


def header(checks: dict[str, Callable[[Place], str]]) -> str:
    return f"{'core':<6}{'Python':<8}" + "".join(f"{name:<22}" for name in checks) + "seconds"


def row(combination: Combination, checks: dict[str, Callable[[Place], str]]) -> str:
    cells = "".join(f"{combination.told.get(name, '-'):<22}" for name in checks)
    return f"{combination.core:<6}{combination.python:<8}{cells}{combination.seconds:.0f}"


if __name__ == "__main__":
    sys.exit(main())
