# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Galaxy's import check on the tarball; a warning of the importer counts as a failure.

Run: python scripts/galaxy_import.py      (run through scripts/inside.py)
"""

from __future__ import annotations

import os
import subprocess
import sys

import artefact
import environments

STRICTER = {"GALAXY_IMPORTER_CHECK_REQUIRED_TAGS": "true"}


def main() -> int:
    venv = environments.ensure("importer")
    place = artefact.WORK / "importer"  # the importer leaves its result file where it runs
    place.mkdir(parents=True, exist_ok=True)
    plain = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "ANSIBLE_COLLECTIONS_PATH")
    }
    path = f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [venv / "bin" / "python", "-m", "galaxy_importer.main", artefact.tarball()],
        cwd=place,
        env={**plain, **STRICTER, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout)
    complaints = [line for line in done.stdout.splitlines() if line.startswith(("WARNING", "ERROR"))]
    return 1 if complaints else done.returncode


if __name__ == "__main__":
    sys.exit(main())
