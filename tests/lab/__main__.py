# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m lab`: a control plane for people, alive until it is taken down."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lab import paths, tools
from lab.plane.components import APISERVER, CONTROLLER_MANAGER, ETCD
from lab.plane.controlplane import RECORD, ControlPlane
from lab.problems import LabError

NOT_UP = 3  # exit status of `status` and `env` when there is no lab


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    commands = {"up": up, "down": down, "status": status, "env": env}
    try:
        if options.command == "build":
            return build(options.tools)
        return commands[options.command](paths.long_lived_lab())
    except LabError as problem:
        print(f"lab: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130


def up(directory: Path) -> int:
    with _alone(directory):
        lab = _lab_in(directory)
        if lab and lab.pids:
            missing = [name for name in lab.component_names if name not in lab.pids]
            if missing:
                raise LabError(f"the lab is up, but {', '.join(missing)} ended. Take it down first: python -m lab down")
            print("The lab is already up.")
            _describe(lab)
            return 0
        if lab:
            print("Removing a lab whose processes have ended.", file=sys.stderr)
            lab.stop()
        tools.ensure((ETCD, APISERVER, CONTROLLER_MANAGER))  # first, so that the time below is the plane's alone
        began = time.monotonic()
        lab = ControlPlane.start(directory, detached=True)
        print(f"The lab is up (ready after {time.monotonic() - began:.1f} s).")
        _describe(lab)
        return 0


def down(directory: Path) -> int:
    with _alone(directory):
        lab = _lab_in(directory)
        if lab is None:
            print("There is no lab.")
            return 0
        ended = lab.pids
        lab.stop()
        what = ", ".join(f"{name} ({pid})" for name, pid in ended.items()) or "nothing was running"
        print(f"The lab is down: {what}; {directory} is removed.")
        return 0


def status(directory: Path) -> int:
    lab = _lab_in(directory)
    if lab is None:
        print("There is no lab. Start one with: python -m lab up")
        return NOT_UP
    _describe(lab)
    return 0 if len(lab.pids) == len(lab.component_names) else NOT_UP


def env(directory: Path) -> int:
    """Only the line for `eval "$(python -m lab env)"`."""
    lab = _lab_in(directory)
    if lab is None:
        print("lab: there is no lab. Start one with: python -m lab up", file=sys.stderr)
        return NOT_UP
    print(_export(lab))
    return 0


def build(names: list[str]) -> int:
    for name, path in tools.ensure(names or tools.FOR_TESTS).items():
        print(f"{name}: {path}")
    return 0


def _describe(lab: ControlPlane) -> None:
    running = lab.pids
    for name in lab.component_names:
        state = f"process {running[name]}" if name in running else f"NOT running, see {lab.layout.log(name)}"
        print(f"  {name}: {state}")
    print(f"  API server: {lab.url}")
    print(f"  logs and audit log: {lab.directory}")
    print(_export(lab))


def _export(lab: ControlPlane) -> str:
    return f"export KUBECONFIG={shlex.quote(str(lab.admin.kubeconfig))}"


def _lab_in(directory: Path) -> ControlPlane | None:
    return ControlPlane.attach(directory) if (directory / RECORD).exists() else None


@contextlib.contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Two people typing `up` at once get one lab."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with directory.with_name(f".{directory.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab", description="A Kubernetes control plane for tests.")
    parser.set_defaults(tools=[])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("up", help="start a control plane that lives until `down`")
    commands.add_parser("down", help="stop it and remove everything it wrote")
    commands.add_parser("status", help="say what runs")
    commands.add_parser("env", help='print the export line, for: eval "$(python -m lab env)"')
    builder = commands.add_parser("build", help="build the programs now instead of when they are first needed")
    known = f"what tests need when none is named; there are {', '.join(tools.TOOLS)}"
    builder.add_argument("tools", nargs="*", metavar="TOOL", help=known)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
