# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that are loaded on every Python version load all the others: none is left untried."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / ".work" / "ansible_collections" / "sunset" / "kube"
ON_HOSTS = ("plugins/modules/", "plugins/module_utils/")
LOAD = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sys.modules)
"""


def module(path: str) -> str:
    return "ansible_collections.sunset.kube." + path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def test_the_tops_load_every_file_that_goes_to_a_host() -> None:
    listed = subprocess.run(
        [sys.executable, ROOT / "scripts" / "import_tops.py"], capture_output=True, text=True, check=True
    )
    tops = [module(path) for path in listed.stdout.split() if path.startswith(ON_HOSTS)]
    loaded = subprocess.run([sys.executable, "-c", LOAD, *tops], capture_output=True, text=True, check=True)
    files = [str(file.relative_to(BUILT)) for folder in ON_HOSTS for file in (BUILT / folder).rglob("*.py")]
    assert len(tops) < len(files) / 4
    assert {module(file) for file in files} - set(loaded.stdout.split()) == set()
