# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No file may tell where it was written: folders of this machine, homes, package indexes and their mirrors.

Run: python3 scripts/traces.py
"""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import environments
from checkout import ROOT, files

EXEMPT = ROOT / "LICENSES"

# Backslashes keep these lines from finding themselves.
ALWAYS = (
    r"(?<![\w.$}~-])/(?:root|home/[a-z][\w-]*|Users/\w+)/",
    r"\bpypi\.(?:org|python\.org)\b",
    r"\bpythonhosted\.org\b",
    r"\bproxy\.golang\.org\b",
    r"\bsum\.golang\.org\b",
    r"\bregistry\.npmjs\.org\b",
    r"\bstatic\.crates\.io\b",
    r"\bdeb\.debian\.org\b",
)
# Checkouts lie in folders like these everywhere: not worth a complaint.
ORDINARY_FOLDERS = {"/", "/tmp", "/var/tmp", "/srv", "/opt", "/home", "/root", "/workspace", "/builds"}  # noqa: S108
SETTINGS_WITH_HOSTS = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_INDEX_URL",
    "GOPROXY",
    "GOSUMDB",
    "NPM_CONFIG_REGISTRY",
)


def main() -> int:
    wanted = re.compile("|".join((*ALWAYS, *folders_of_this_machine(), *mirrors_of_this_machine())))
    found = [trace for file in files() if EXEMPT not in file.parents for trace in traces_in(file, wanted)]
    print("\n".join(found) if found else "nothing found")
    return 1 if found else 0


def folders_of_this_machine() -> Iterator[str]:
    for folder in (ROOT, ROOT.parent, Path.home(), environments.cache(), Path(sys.base_prefix)):
        if str(folder) not in ORDINARY_FOLDERS | {"/usr", "/usr/local"}:
            yield rf"(?<![\w.$}}~-]){re.escape(str(folder))}(?=[/\s\"'`]|$)"


def mirrors_of_this_machine() -> Iterator[str]:
    """Host names from the package managers' settings."""
    settings = [os.environ.get(name, "") for name in SETTINGS_WITH_HOSTS]
    for file in (
        Path("/etc/pip.conf"),
        Path.home() / ".pip" / "pip.conf",
        Path.home() / ".config" / "pip" / "pip.conf",
    ):
        parser = configparser.RawConfigParser()
        parser.read(file)
        settings += [value for section in parser.values() for key, value in section.items() if "index-url" in key]
    for host in set(re.findall(r"https?://(?:[^/@\s]*@)?([\w.-]+)", " ".join(settings))):
        yield rf"(?<![\w.-]){re.escape(host)}(?![\w-])"


def traces_in(file: Path, wanted: re.Pattern[str]) -> Iterator[str]:
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), start=1):
        hit = wanted.search(line)
        if hit:
            yield f"{file.relative_to(ROOT)}:{number}: {hit.group()}"


if __name__ == "__main__":
    sys.exit(main())
