# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests leave the tester's clusters, proxies and settings alone: a part of them runs where all of these are traps."""

from __future__ import annotations

import ctypes
import json
import os
import socketserver
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.tests.unit import own_settings
from integration.running import _program
from lab import machine, tools

ROOT = Path(__file__).resolve().parents[2]
# By each way that tests take: options, engine, action plugin, job, task, playbook, kubectl.
SOME_TESTS = (
    "tests/unit/kube/test_configuration.py",
    "tests/unit/test_front.py",
    "tests/unit/plugin_utils/test_engine_action.py",
    "tests/integration/test_client_core.py::test_a_bare_host_with_token_and_authority_needs_no_kubeconfig",
    "tests/integration/test_right_cluster.py::test_login_plugin_and_kubeconfig_are_found_by_the_tasks_environment",
    "tests/integration/test_explain_playbook.py::test_the_playbook_explains_an_object_and_says_when_there_is_no_release",
    "tests/integration/test_lab.py::test_kubectl_takes_the_kubeconfig",
)
ANSIBLE_CFG = "[defaults]\nstdout_callback = no_such_callback\n"
pytestmark = pytest.mark.quick
IN_MODIFY, IN_OPEN, IN_CREATE = 0x2, 0x20, 0x100


class Caller(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.server.callers.append(self.request.recv(100))  # type: ignore[attr-defined]


class Touched:
    """What any process opens, changes or makes of these files and in these folders."""

    def __init__(self, places: list[Path]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        events = IN_MODIFY | IN_OPEN | IN_CREATE
        self._places = {libc.inotify_add_watch(self._queue, os.fsencode(one), events): one for one in places}
        assert self._queue >= 0
        assert -1 not in self._places

    def seen(self) -> set[str]:
        found = set()
        try:
            events = os.read(self._queue, 1 << 20)
        except BlockingIOError:
            events = b""
        while events:
            watch, _mask, _cookie, length = struct.unpack_from("iIII", events)
            name = events[16 : 16 + length].rstrip(b"\0").decode()
            found.add(str(self._places[watch] / name))
            events = events[16 + length :]
        return found

    def close(self) -> None:
        os.close(self._queue)


class Traps:
    """A home folder, files and variables, as every tester has them. All of them lead to one server."""

    def __init__(self, place: Path) -> None:
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Caller)
        self.callers: list[bytes] = []
        self._server.callers = self.callers  # type: ignore[attr-defined]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        address = "http://{}:{}".format(*self._server.server_address)
        home, company = place / "home", place / "company"
        cluster = {"server": address.replace("http:", "https:")}
        kubeconfig = json.dumps(
            {
                "current-context": "production",
                "clusters": [{"name": "production", "cluster": cluster}],
                "contexts": [{"name": "production", "context": {"cluster": "production", "user": "me"}}],
                "users": [{"name": "me", "user": {"token": "secret"}}],
            }
        )
        files = {
            home / ".ansible.cfg": ANSIBLE_CFG,
            home / ".kube" / "config": kubeconfig,
            company / "ansible.cfg": ANSIBLE_CFG,
            company / "kubeconfig": kubeconfig,
        }
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.environment = {
            **os.environ,
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "K8S_AUTH_PROXY"), address),
            "ANSIBLE_CONFIG": str(company / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "no_such_callback",
            "HOME": str(home),
            "K8S_AUTH_API_KEY": "secret",
            "K8S_AUTH_HOST": cluster["server"],
            "K8S_AUTH_KUBECONFIG": str(company / "kubeconfig"),
            "KUBECONFIG": str(company / "kubeconfig"),
        }
        del self.environment[own_settings.PUT_ASIDE]
        self.touched = Touched([*files, home / ".kube", company])

    def run(self, *command: str, **without: None) -> subprocess.CompletedProcess[str]:
        known = {name: value for name, value in self.environment.items() if name not in without}
        return subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, check=False)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self.touched.close()


@pytest.fixture
def traps(tmp_path: Path) -> Iterator[Traps]:
    made = Traps(tmp_path)
    try:
        yield made
    finally:
        made.close()


def test_tests_pass_among_traps_and_step_into_none(traps: Traps, tmp_path: Path) -> None:
    options = ("-q", "-o", f"cache_dir={tmp_path / 'cache'}", f"--basetemp={tmp_path / 'child'}")
    done = traps.run(sys.executable, "-m", "pytest", *options, *SOME_TESTS)
    assert done.returncode == 0, done.stdout[-4000:]
    assert (traps.callers, traps.touched.seen()) == ([], set())


@pytest.mark.parametrize(
    ("command", "without", "stepped_into"),
    [
        (["kubectl", "get", "--raw", "/"], {}, {"company/kubeconfig"}),
        (["kubectl", "get", "--raw", "/"], {"KUBECONFIG": None}, {"home/.kube/config"}),
        (["ansible", "--version"], {}, {"company/ansible.cfg"}),
        (["ansible", "--version"], {"ANSIBLE_CONFIG": None}, {"home/.ansible.cfg"}),
    ],
    ids=["KUBECONFIG", "~/.kube/config", "ANSIBLE_CONFIG", "~/.ansible.cfg"],
)
def test_the_traps_catch_who_goes_by_them(
    traps: Traps, tmp_path: Path, command: list[str], without: dict[str, Any], stepped_into: set[str]
) -> None:
    program = str(tools.kubectl()) if command[0] == "kubectl" else _program(command[0])
    traps.run(program, *command[1:], **without)
    seen = {str(Path(file).relative_to(tmp_path)) for file in traps.touched.seen()}
    assert stepped_into <= seen
    assert bool(traps.callers) is (command[0] == "kubectl")


def test_who_fetches_and_builds_has_what_was_put_aside(traps: Traps) -> None:
    script = (
        "from ansible_collections.sunset.kube.tests.unit import own_settings\n"
        "from lab import machine\n"
        "own_settings.put_aside()\n"
        "import json, os; print(json.dumps([dict(os.environ), machine.environment()]))\n"
    )
    for_tests, for_builds = json.loads(traps.run(sys.executable, "-c", script).stdout)
    assert machine.PUT_ASIDE == own_settings.PUT_ASIDE
    for name in ("HOME", "HTTPS_PROXY", "https_proxy"):
        assert for_builds[name] == traps.environment[name] != for_tests.get(name)
    for name in ("KUBECONFIG", "K8S_AUTH_HOST", "ANSIBLE_STDOUT_CALLBACK"):
        assert name not in {**for_tests, **for_builds}
    assert for_tests["ANSIBLE_COLLECTIONS_PATH"] == os.environ["ANSIBLE_COLLECTIONS_PATH"]
    assert not Path(for_tests["HOME"]).exists(), "it goes with the process"
