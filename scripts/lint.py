# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All checks that read instead of run: one line a check, and the output only of those that fail.

Run: python scripts/lint.py [check ...]      (run through scripts/inside.py; "make lint CHECKS=mypy")
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import artefact
from checkout import ROOT, files

LOGS = artefact.WORK / "logs"
BUILT = str(artefact.INSTALLED.relative_to(ROOT))
EVERY_REFERENCE = ("--plugin-docs", "--check-extra-docs-refs", "--validate-collection-refs=dependent")
TYPED_PACKAGES = ("lab", "benchmarks")  # below tests/, beside everything in plugins/
STAND_ALONE = ("scripts", "extensions/eda/plugins/event_source")  # folders with files that are no package


def mypy() -> list[str]:
    present = [name for name in TYPED_PACKAGES if (ROOT / "tests" / name / "__init__.py").exists()]
    packages = [f"--package={name}" for name in ("ansible_collections.sunset.kube.plugins", *present)]
    alone = [file for folder in STAND_ALONE for file in sorted((ROOT / folder).glob("*.py"))]
    return ["mypy", *packages, *(f"--module={file.stem}" for file in alone)]


def licences() -> list[str]:
    # "reuse lint" would also walk through ignored files in folders that are new to git.
    return ["reuse", "lint-file", *(str(file.relative_to(ROOT)) for file in files())]


# Slow ones first, so that two cores finish together.
CHECKS: dict[str, list[str]] = {
    "sanity": ["python", "scripts/run_ansible_test.py", "sanity"],
    "galaxy-importer": ["python", "scripts/galaxy_import.py"],
    "mypy": mypy(),
    "ansible-lint": ["ansible-lint", "--offline", "--profile=production", "--strict", "--nocolor"],
    "docs": ["antsibull-docs", "lint-collection-docs", *EVERY_REFERENCE, BUILT],
    "licences": licences(),
    "yamllint": ["yamllint", "--strict", "."],
    "changelog": ["antsibull-changelog", "lint"],
    "changelog-file": ["antsibull-changelog", "lint-changelog-yaml", "changelogs/changelog.yaml"],
    "ruff-check": ["ruff", "check", "."],
    "ruff-format": ["ruff", "format", "--check", "."],
    "tarball-contents": ["python", "scripts/artefact.py", "contents"],
    "traces": ["python", "scripts/traces.py"],
}


@dataclass(frozen=True)
class Verdict:
    check: str
    passed: bool
    seconds: float
    output: str


def main() -> int:
    options = parsed(sys.argv[1:])
    LOGS.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(run, options.checks or [check for check in CHECKS if check not in options.but]))
    failed = [verdict for verdict in verdicts if not verdict.passed]
    for verdict in failed:
        print(f"\n--- {verdict.check}: {' '.join(CHECKS[verdict.check])[:200]}\n{verdict.output.rstrip()}")
    print(f"\n{len(verdicts) - len(failed)} checks passed, {len(failed)} failed")
    write_junit(verdicts, LOGS / f"{options.name}.xml")
    return 1 if failed else 0


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("checks", nargs="*", metavar="check", help="all of them if none is named")
    parser.add_argument("--but", action="append", default=[], metavar="CHECK", help="all but this one")
    parser.add_argument("--name", default="lint", help="of the JUnit file")
    options = parser.parse_args(arguments)
    unknown = {*options.checks, *options.but} - set(CHECKS)
    if unknown:
        sys.exit(f"no such check: {', '.join(sorted(unknown))}. There are: {', '.join(CHECKS)}")
    return options


# antsibull-docs writes the name of its temporary folder into the pages it checks; one that ends with an underscore is a
# broken reference there. The next folder has another name.
BY_CHANCE = 'Unknown target name: "antsibull-docs-'


def run(check: str) -> Verdict:
    started = time.monotonic()
    done = run_once(check)
    if done.returncode and BY_CHANCE in done.stdout:
        done = run_once(check)
    output = done.stdout.replace(f"{BUILT}/", "")  # name the file that can be edited, not its built copy
    (LOGS / f"lint-{check}.log").write_text(output)
    verdict = Verdict(check, done.returncode == 0, time.monotonic() - started, output)
    print(f"{check:<22} {'ok' if verdict.passed else 'failed':<6} {verdict.seconds:6.1f} s", flush=True)
    return verdict


def run_once(check: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        CHECKS[check],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def write_junit(verdicts: list[Verdict], file: Path) -> None:
    failures = sum(not verdict.passed for verdict in verdicts)
    suite = ElementTree.Element("testsuite", name=file.stem, tests=str(len(verdicts)), failures=str(failures))
    for verdict in verdicts:
        case = ElementTree.SubElement(suite, "testcase", name=verdict.check, time=f"{verdict.seconds:.1f}")
        if not verdict.passed:
            ElementTree.SubElement(case, "failure").text = verdict.output
    ElementTree.ElementTree(suite).write(file)


if __name__ == "__main__":
    sys.exit(main())
