# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups of tests with one command: set-up, then groups side by side where they do not disturb each other, a summary.

The last line is "N passed, N failed", with ", N skipped" if there are any.
Standard library only: it runs before anything is installed.

Run: python3 scripts/run_tests.py quick | test | rest | all
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import artefact
import environments
import inside
import system_packages
from checkout import ROOT

LOGS = artefact.WORK / "logs"
TAIL = 60  # lines of a failed group's log
REMINDER = 60.0  # seconds between two signs of life
TIDYING = 60.0  # seconds a group has to clean up when it is interrupted
IN_CI = os.environ.get("CI", "").lower() == "true"
OLDEST_GO = (1, 26)
OLDEST_RUST = (1, 88)
# A test that failed, a fixture that did, a session of nox.
FAILURES = re.compile(r"(?m)^(?:FAILED .*|ERROR tests/.*|nox > \* .*: failed.*)$")
JUNIT_KEYS = (("tests",), ("failures", "errors"), ("skipped",))


@dataclass(frozen=True)
class Group:
    """Commands of one subject. `after` keeps groups apart; only a group in `builds_on` must have succeeded as well."""

    name: str
    command: tuple[str, ...]
    takes: str
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    builds_on: tuple[str, ...] = ()
    counted: bool = True  # has a JUnit file with results

    @property
    def log(self) -> Path:
        return LOGS / f"{self.name}.log"

    @property
    def junit(self) -> Path:
        return LOGS / f"{self.name}.xml"


def pytest(folder: str, name: str, *, only: str = "", workers: int = 1) -> tuple[str, ...]:
    # Each worker has a control plane of its own, shared by all tests of the files it takes.
    beside = ("-n", str(workers), "--dist", "loadfile") if workers > 1 else ()
    return ("python", "-m", "pytest", folder, f"--junitxml={LOGS / name}.xml", "-m", only, *beside)


QUICKLY = "quick and not slow and not node and not net"
SLOWLY = "(not quick or slow) and not node and not net"

# What reads runs beside the first build. Tests on a control plane wait about half of their time, those on a node most
# of it, so more of them run at once than there are cores.
GROUPS = (
    Group(
        "control-plane",
        ("python", "-m", "lab", "build", "etcd", "kube-apiserver", "kube-controller-manager", "helm"),
        "6 minutes once, then 1 s",
        needs=("go",),
        counted=False,
    ),
    Group("unit", pytest("tests/unit", "unit", workers=2), "60 s"),
    Group("lint", ("nox", "-R"), "60 s, the first time 4 minutes", counted=False),
    Group(
        "integration-quick",
        pytest("tests/integration", "integration-quick", only=QUICKLY, workers=3),
        "5 minutes",
        needs=("go", "kubectl"),
        after=("unit", "lint"),
        builds_on=("control-plane",),
    ),
    Group(
        "lab-tools",
        ("nice", "python", "-m", "lab", "build"),  # what it is beside does not have to wait for it
        "25 minutes once, then 1 s",
        needs=("go", "cargo"),
        after=("control-plane",),
        counted=False,
    ),
    Group(
        "sanity",
        ("nox", "-R", "-s", "build-import-check", "sanity"),
        "3 minutes, beside integration",
        after=("unit", "lint", "integration-quick"),
        counted=False,
    ),
    Group(
        "integration",
        pytest("tests/integration", "integration", only=SLOWLY, workers=3),
        "18 minutes",
        needs=("go", "kubectl"),
        after=("unit", "lint", "integration-quick"),
        builds_on=("lab-tools",),
    ),
    Group(
        "node",
        pytest("tests/integration", "node", only="node"),
        "20 minutes, beside integration",
        needs=("go", "kubectl", "node"),
        after=("unit", "lint"),
        builds_on=("lab-tools",),
    ),
    Group(
        "net",
        pytest("tests/integration", "net", only="net", workers=2),
        "10 minutes, beside integration",
        needs=("go", "cargo", "net"),
        after=("unit", "lint", "integration-quick", "sanity"),
        builds_on=("lab-tools",),
    ),
)
QUICK = ("unit", "lint")
TEST = ("control-plane", *QUICK, "integration-quick")
REST = tuple(group.name for group in GROUPS if group.name not in TEST)
SELECTIONS = {"quick": QUICK, "test": TEST, "rest": REST, "all": TEST + REST}
LEFT_OUT = {
    "quick": "left out: every test on a real API server. make test runs the quick third of them, make test-all all.",
    "test": "left out: the other integration tests, also those with a real node, Traefik, a browser, the operator's "
    "image or NetworkManager, ansible-test sanity and Galaxy's importer. To run them: make test-rest",
}


def is_new_enough(command: list[str], version: str, oldest: tuple[int, int]) -> bool:
    """Whether a compiler is there and says a version, found by the pattern, that is not older than this."""
    if not shutil.which(command[0]):
        return False
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.match(version, said)
    return found is not None and tuple(map(int, found.groups())) >= oldest


def root_has(*programs: str) -> bool:
    return os.geteuid() == 0 and all(map(shutil.which, programs))


# need → (is it there?, what to do if not)
NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    "go": (
        lambda: is_new_enough(["go", "env", "GOVERSION"], r"go(\d+)\.(\d+)", OLDEST_GO),
        "put Go 1.26 or newer on PATH, then: make integration",
    ),
    "cargo": (
        lambda: is_new_enough(["cargo", "--version"], r"cargo (\d+)\.(\d+)", OLDEST_RUST),
        "put cargo 1.88 or newer on PATH (rustup brings it), then: make integration",
    ),
    "kubectl": (
        lambda: shutil.which("kubectl") is not None,
        "install kubectl (Debian: kubernetes-client), then: make integration",
    ),
    "node": (
        lambda: root_has("containerd", "runc", "ip", "nginx", "nsenter", "unshare"),
        "run as root, with containerd, runc, containernetworking-plugins, iproute2 and nginx installed: "
        "make integration ARGS='-m node'",
    ),
    "net": (
        lambda: root_has("NetworkManager", "dbus-daemon", "dnsmasq", "cron", "nft", "ssh", "/usr/sbin/sshd"),
        "run as root, with network-manager, dbus, dnsmasq-base, cron, nftables and openssh-server installed: "
        "make integration ARGS='-m net'",
    ),
}


@dataclass
class Result:
    group: Group
    outcome: str = "waiting"  # ok, failed, skipped
    seconds: float = 0.0
    cpu: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    hint: str = ""


@dataclass
class Running:
    result: Result
    process: subprocess.Popen[bytes]
    log: IO[bytes]
    started: float


def main() -> int:
    chosen = sys.argv[1:]
    if len(chosen) != 1 or chosen[0] not in SELECTIONS:
        sys.exit(f"usage: run_tests.py {' | '.join(SELECTIONS)}")
    started = time.monotonic()
    try:
        venv = set_up(everything=any(name in REST for name in SELECTIONS[chosen[0]]))
    except SystemExit as problem:
        say(f"{problem}\n\n0 passed, 1 failed")
        return 1
    results = run_groups(SELECTIONS[chosen[0]], inside.surroundings(venv))
    return summarise(results, time.monotonic() - started, LEFT_OUT.get(chosen[0], ""))


def set_up(*, everything: bool) -> Path:
    say("set-up: system packages, Python environment, collection tarball (3 s; the first time 2 minutes)")
    LOGS.mkdir(parents=True, exist_ok=True)
    system_packages.ensure(everything=everything)
    venv = environments.ensure("tools")
    artefact.build()
    return venv


def run_groups(names: Sequence[str], surroundings: dict[str, str]) -> list[Result]:
    results = {group.name: Result(group) for group in GROUPS if group.name in names}
    running: list[Running] = []
    last_sign = time.monotonic()
    try:
        while running or any(result.outcome == "waiting" for result in results.values()):
            running += [start(result, surroundings) for result in ready(results, running)]
            for job in [job for job in running if ended(job)]:
                running.remove(job)
                finish(job)
                last_sign = time.monotonic()
            if time.monotonic() - last_sign > REMINDER:
                last_sign = time.monotonic()
                say(
                    "still running: "
                    + ", ".join(f"{job.result.group.name} ({last_sign - job.started:.0f} s)" for job in running)
                )
            time.sleep(0.1)
    finally:
        stop(running)
    return list(results.values())


def stop(running: list[Running]) -> None:
    """Whatever a group started goes with it; tests are given time to tear down what they built."""
    for job in running:
        tell_group(job, signal.SIGTERM)
    for job in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.process.wait(TIDYING)
        tell_group(job, signal.SIGKILL)


def tell_group(job: Running, sign: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.process.pid, sign)


def ready(results: dict[str, Result], running: list[Running]) -> list[Result]:
    """Groups that can start now. Those that never can are marked on the way."""
    busy = {job.result.group.name for job in running}
    chosen = []
    for result in results.values():
        group = result.group
        if result.outcome != "waiting" or group.name in busy:
            continue
        before = [results[name] for name in (*group.after, *group.builds_on) if name in results]
        if any(other.outcome == "waiting" for other in before):
            continue
        result.hint = why_not(group, results)
        if result.hint:
            result.outcome = "failed" if IN_CI else "skipped"
            say(f"{group.name}: {result.outcome}: {result.hint}")
        else:
            chosen.append(result)
    return chosen


def why_not(group: Group, results: dict[str, Result]) -> str:
    missing = [hint for is_there, hint in (NEEDS[need] for need in group.needs) if not is_there()]
    broken = [f"{name} did not succeed" for name in group.builds_on if results[name].outcome == "failed"]
    return "; ".join(missing or broken)


def start(result: Result, surroundings: dict[str, str]) -> Running:
    group = result.group
    say(f"{group.name}: started ({group.takes})")
    group.junit.unlink(missing_ok=True)  # never count the results of an earlier run
    log = group.log.open("wb")
    process = subprocess.Popen(
        group.command, cwd=ROOT, env=surroundings, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
    )
    return Running(result, process, log, time.monotonic())


def ended(job: Running) -> bool:
    """Whether a group has ended; what it used, with all its children, is written down then."""
    pid, status, used = os.wait4(job.process.pid, os.WNOHANG)
    if not pid:
        return False
    job.process.returncode = os.waitstatus_to_exitcode(status)
    job.result.cpu = used.ru_utime + used.ru_stime
    return True


def finish(job: Running) -> None:
    job.log.close()
    result, group = job.result, job.result.group
    result.seconds = time.monotonic() - job.started
    result.outcome = "ok" if job.process.returncode == 0 else "failed"
    result.counts = counts_in(group.junit) if group.counted else {}
    say(f"{group.name}: {result.outcome}, {result.seconds:.0f} s")
    if result.outcome == "failed":
        lines = group.log.read_text(errors="replace").splitlines()
        say("\n".join(["", f"--- end of {group.log.relative_to(ROOT)}", *lines[-TAIL:], "---", ""]))


def counts_in(junit: Path) -> dict[str, int]:
    if not junit.exists():
        return {}
    suites = list(ElementTree.parse(junit).getroot().iter("testsuite"))  # noqa: S314 (our own file)
    total, bad, skipped = (sum(int(suite.get(key, "0")) for suite in suites for key in keys) for keys in JUNIT_KEYS)
    return {"passed": total - bad - skipped, "failed": bad, "skipped": skipped}


def summarise(results: list[Result], seconds: float, left_out: str) -> int:
    say(f"\n{'group':<18} {'result':<8} {'seconds':>7} {'CPU':>5}  counts")
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for result in results:
        counts = counts_of(result)
        for name, number in counts.items():
            totals[name] += number
        shown = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
        used = f"{result.seconds:>7.0f} {result.cpu:>5.0f}"
        say(f"{result.group.name:<18} {result.outcome:<8} {used}  {result.hint or shown}")
    everything = "failed" if totals["failed"] else "ok"
    cpu = sum(result.cpu for result in results)
    say(f"{'all':<18} {everything:<8} {seconds:>7.0f} {cpu:>5.0f}  logs: {LOGS.relative_to(ROOT)}\n")
    failures = [
        line[:200] for result in results if result.outcome == "failed" for line in failures_in(result.group.log)
    ]
    if failures:
        say("\n".join([*failures, ""]))
    if left_out:
        say(f"{left_out}\n")
    skipped = f", {totals['skipped']} skipped" if totals["skipped"] else ""
    say(f"{totals['passed']} passed, {totals['failed']} failed{skipped}")
    return 1 if totals["failed"] else 0


def failures_in(log: Path) -> list[str]:
    return FAILURES.findall(log.read_text(errors="replace")) if log.exists() else []


def counts_of(result: Result) -> dict[str, int]:
    """A group that broke before it could count still counts as one failure, a skipped group as one skip."""
    if result.outcome == "failed":
        return {**result.counts, "failed": max(1, result.counts.get("failed", 0))}
    return {"skipped": 1} if result.outcome == "skipped" else result.counts


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a pipeline that gives up is a Ctrl-C, too
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
