# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks as nox sessions: those of antsibull-nox, set up in antsibull-nox.toml, and our own.

Our own run in the environment of scripts/inside.py, on the built collection. `make lint` runs the default ones.
Run: python3 scripts/inside.py nox --list
"""

from __future__ import annotations

import sys
from pathlib import Path

import antsibull_nox
import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "scripts"))

import environments  # noqa: E402

# Outside the checkout, so that other clones find them too.
nox.options.envdir = str(environments.cache() / f"nox-{environments.fingerprint('tools')}")
nox.options.reuse_venv = "yes"

antsibull_nox.load_antsibull_nox_toml()

TYPED_PACKAGES = ("ansible_collections.sunset.kube.plugins", "lab", "benchmarks")
STAND_ALONE = ("scripts", "extensions/eda/plugins/event_source")  # folders with files that are no package


@nox.session(python=False)
def style(session: nox.Session) -> None:
    """Run ruff check."""
    session.run("ruff", "check", *(session.posargs or ["."]))


@nox.session(python=False)
def types(session: nox.Session) -> None:
    """Run mypy --strict on the collection, the lab, the benchmarks and the scripts."""
    alone = [file.stem for folder in STAND_ALONE for file in sorted((ROOT / folder).glob("*.py"))]
    packages = [f"--package={name}" for name in TYPED_PACKAGES]
    session.run("mypy", *packages, *(f"--module={name}" for name in alone), *session.posargs)


@nox.session(python=False)
def changelog(session: nox.Session) -> None:
    """Check the changelog's fragments and its file."""
    session.run("antsibull-changelog", "lint")
    session.run("antsibull-changelog", "lint-changelog-yaml", "changelogs/changelog.yaml")


@nox.session(python=False)
def tarball(session: nox.Session) -> None:
    """Check that the tarball holds what users need and nothing else, and that no file names this machine."""
    session.run("python", "scripts/artefact.py", "contents")
    session.run("python", "scripts/traces.py")


@nox.session(python=False, default=False)
def sanity(session: nox.Session) -> None:
    """Run ansible-test sanity on the built collection, with this Python."""
    session.run("python", "scripts/run_ansible_test.py", "sanity", *session.posargs)


@nox.session(name="sanity-all", python=False, default=False)
def sanity_all(session: nox.Session) -> None:
    """Run ansible-test sanity in a checkout, with every Python found here that modules must load on."""
    session.run("python", "scripts/run_ansible_test.py", "sanity-all", *session.posargs)
