# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tester's own settings: clusters, proxies, what Ansible and Helm are told, the home folder. No test finds them.

Standard library only, and imported before anything of Ansible, which reads its settings once.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

# Where whoever fetches or builds finds what it needs of them. Its presence says that they are put aside already.
PUT_ASIDE = "SUNSET_KUBE_PUT_ASIDE"

_OF_CLUSTERS = re.compile("(?:KUBE|K8S_AUTH_|HELM_|ANSIBLE_|MOLECULE_)")
_OF_THE_MACHINE = re.compile(
    "(?:(?:https?|all|ftp|no)_proxy|XDG_(?:CACHE|CONFIG|DATA|STATE)_HOME|HOME|SSH_AUTH_SOCK)$", re.IGNORECASE
)
# Set for the tests: by scripts/inside.py, by ansible-test, and by whoever has the binaries of a control plane.
_MEANT = re.compile(
    "(?:ANSIBLE_COLLECTIONS_PATH|ANSIBLE_CONTROLLER_MIN_PYTHON_VERSION|ANSIBLE_TEST_.*|KUBEBUILDER_ASSETS)$"
)


def put_aside() -> None:
    """Take the tester's settings out of this process and of all that it starts; the home folder is an empty one."""
    if PUT_ASIDE in os.environ:  # by the process that started us
        return
    kept = {name: os.environ.pop(name) for name in list(os.environ) if _OF_THE_MACHINE.match(name)}
    for name in list(os.environ):
        if _OF_CLUSTERS.match(name) and not _MEANT.match(name):
            del os.environ[name]
    home = Path(tempfile.mkdtemp(prefix="sunset-kube-home-"))
    atexit.register(_remove, home, os.getpid())
    settings = home / "empty.cfg"
    settings.touch()
    # Without this one, Ansible would look into the current folder and into /etc.
    os.environ |= {PUT_ASIDE: json.dumps(kept), "HOME": str(home), "ANSIBLE_CONFIG": str(settings)}


def _remove(home: Path, maker: int) -> None:
    if os.getpid() == maker:  # a forked copy of us ends earlier
        shutil.rmtree(home, ignore_errors=True)
