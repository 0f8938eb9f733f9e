# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The command that undoes a run, as it is pasted into a shell."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.plugin_utils.undo_command import undo_command
from ansible_collections.sunset.kube.tests.unit.fakes import named

UNDO = "ansible-playbook sunset.kube.undo"
COMMANDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "plain": ("/e/run", {}, f"{UNDO} -e bundle=/e/run"),
    "with the connection": (
        "/e/run",
        {"context": "prod", "kubeconfig": "~/.kube/config", "timeout": 5},
        f"""{UNDO} -e bundle=/e/run -e '{{"kubeconfig": "~/.kube/config"}}' -e context=prod""",
    ),
    "a list and a truth": (
        "/e/run",
        {"impersonate_user": "ada", "impersonate_groups": ["a", "b"], "validate_certs": False},
        f"""{UNDO} -e bundle=/e/run -e impersonate_user=ada -e '{{"impersonate_groups": ["a", "b"]}}' """
        """-e '{"validate_certs": false}'""",
    ),
    "for a shell": ("/e/$(id) 'x'", {}, f"""{UNDO} -e '{{"bundle": "/e/$(id) '"'"'x'"'"'"}}'"""),
    "that Ansible would template": ("/e/{{ x }}", {}, ""),
    "without secrets": (
        "/e/run",
        {"host": "https://h:1", "api_key": "s3cret", "proxy": "http://u:s3cret@p:1", "kubeconfig": {"a": 1}},
        f"{UNDO} -e bundle=/e/run -e host=https://h:1 (and kubeconfig and api_key and proxy as before)",
    ),
}


@pytest.mark.parametrize(("folder", "given", "command"), named(COMMANDS))
def test_the_command_says_what_was_given_and_nothing_secret(folder: str, given: dict[str, Any], command: str) -> None:
    assert undo_command(folder, given) == command
