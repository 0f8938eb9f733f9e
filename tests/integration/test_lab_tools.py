# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab finds its programs or builds them: once, by one process at a time, and with a word on what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import tools
from lab.problems import LabError
from lab.recipes import Crate, Swap, Tool

TESTS = Path(__file__).parents[1]


def test_installed_test_binaries_are_used_instead_of_building(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    etcd = tmp_path / "etcd"
    etcd.touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert tools.ensure(["etcd"]) == {"etcd": etcd}


def test_an_installed_setup_envtest_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    etcd = tmp_path / "assets" / "etcd"
    etcd.parent.mkdir()
    etcd.touch(mode=0o755)
    asked = tmp_path / "setup-envtest"
    asked.write_text(f'#!/bin/sh\n[ "$*" = "use --installed-only --print=path 1.35.x" ] && printf %s {etcd.parent}\n')
    asked.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    assert tools.ensure(["etcd"]) == {"etcd": etcd}


def test_without_go_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "")
    with pytest.raises(LabError, match=r"etcd has to be built, and Go is not on PATH. Install Go"):
        tools.ensure(["etcd"])


def test_a_failed_build_shows_what_go_said_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUNSET_KUBE_CACHE", str(tmp_path))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "")
    monkeypatch.setitem(tools.TOOLS, "broken", tools.Tool("broken", "etcd", "sunset.dev/lab/etcd/no-such-package", 1))
    with pytest.raises(LabError, match=r"building broken failed[^$]*no-such-package"):
        tools.ensure(["broken"])
    assert [file.name for file in (tmp_path / "tools").iterdir()] == ["build.lock"]
    assert "lab: building broken; about 1 s" in capfd.readouterr().err


def test_two_processes_build_tools_of_one_module_once_and_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bin" / "go"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\nif [ "$1" = env ]; then echo go9.9; exit; fi\n'
        f"echo built >> {tmp_path}/builds; sleep 1\n"
        'while [ "$1" != -o ]; do shift; done; into=$2; shift 2\n'
        'for package; do echo "$package" > "$into/${package##*/}"; done\n'
    )
    fake.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{fake.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(TESTS),
        "SUNSET_KUBE_CACHE": str(tmp_path / "cache"),
        "KUBEBUILDER_ASSETS": "",
    }
    abandoned = tmp_path / "cache" / "tools" / ".building-etcd-long-ago"
    abandoned.mkdir(parents=True)
    command = [sys.executable, "-m", "lab", "build", "kubelet", "kube-scheduler"]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _time in range(2)]
    told = {process.communicate(timeout=30)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    [built] = told
    programs = dict(line.split(": ") for line in built.splitlines())
    assert {name: Path(file).read_text() for name, file in programs.items()} == {
        name: f"k8s.io/kubernetes/cmd/{name}\n" for name in ("kubelet", "kube-scheduler")
    }
    assert (tmp_path / "builds").read_text() == "built\n"
    assert not abandoned.exists()


def test_a_file_of_a_dependency_can_give_way_to_one_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As Go does it: in a copy of the module, for its cache is for reading only."""
    module, wrapper = tmp_path / "cache-of-modules" / "big", tmp_path / "wrapper"
    (module / "parts").mkdir(parents=True)
    (module / "go.mod").write_text("module example.com/big\n")
    (module / "parts" / "many.go").write_text("package parts // a lot\n")
    (module / "parts").chmod(0o555)
    wrapper.mkdir()
    (wrapper / "go.mod").write_text("module example.com/wrapper\n")
    (wrapper / "none.go").write_text("package parts // nothing\n")
    monkeypatch.setattr("lab.recipes.WRAPPERS", tmp_path)
    go = f"""case "$1 $2" in "mod download") echo '{{"Dir": "{module}"}}';; "mod edit") echo "$3" >> go.mod;; esac"""
    put_on_path(tmp_path / "bin", {"go": go}, monkeypatch)
    swap = Swap("example.com/big", "parts/many.go", "none.go")
    place = Tool("tool", "wrapper", "example.com/tool", 1, swaps=(swap,)).workplace(tmp_path / "scratch")
    (replaced,) = [line for line in (place / "go.mod").read_text().splitlines() if line.startswith("-replace=")]
    copy = Path(replaced.removeprefix("-replace=example.com/big="))
    assert (copy / "parts" / "many.go").read_text() == "package parts // nothing\n"
    assert (module / "parts" / "many.go").read_text() == "package parts // a lot\n"
    assert (wrapper / "go.mod").read_text() == "module example.com/wrapper\n"


def put_on_path(folder: Path, programs: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_a_crate_is_built_once_with_the_locked_dependencies_of_its_authors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cargo = (
        f'echo "$*" >> {tmp_path}/builds; while [ "$1" != --root ]; do shift; done; mkdir $2/bin; echo > $2/bin/tool'
    )
    put_on_path(tmp_path / "bin", {"cargo": cargo, "rustc": "echo rustc 1.99.0"}, monkeypatch)
    monkeypatch.setenv("SUNSET_KUBE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(tools.TOOLS, "tool", Crate("tool", "1.2.3", 1))
    first = tools.ensure(["tool"])["tool"]
    assert first.is_file()
    assert first == tools.ensure(["tool"])["tool"]
    [build] = (tmp_path / "builds").read_text().splitlines()
    assert "--locked" in build
    assert "--version 1.2.3" in build
    put_on_path(tmp_path / "newer", {"rustc": "echo rustc 1.100.0"}, monkeypatch)
    assert first != tools.ensure(["tool"])["tool"]


def test_an_old_rust_is_refused_before_minutes_are_spent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_on_path(tmp_path / "bin", {"cargo": "exit 1", "rustc": "echo rustc 1.63.0"}, monkeypatch)
    monkeypatch.setitem(tools.TOOLS, "tool", Crate("tool", "1.2.3", 1))
    with pytest.raises(LabError, match=r"tool needs Rust 1\.88 or newer, and PATH has 'rustc 1\.63\.0'"):
        tools.ensure(["tool"])
