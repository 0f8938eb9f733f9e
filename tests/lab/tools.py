# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds or builds the programs the lab runs. A new program is one more line in TOOLS.

Built programs live in the cache, keyed by everything that went into them, so a change of version builds anew and
nothing is ever built twice. Builds take minutes: they report progress, and only one runs at a time on a machine.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path

from lab import machine, paths
from lab.die_with_parent import die_with_parent
from lab.problems import LabError
from lab.recipes import WRAPPERS, Crate, Recipe, Swap, Tool, last_lines, surroundings

__all__ = ["TOOLS", "WRAPPERS", "Tool", "ensure", "kubectl"]

PROGRESS_EVERY = 10.0  # seconds

KUBERNETES_MAJOR, KUBERNETES_MINOR, KUBERNETES_PATCH = "1", "35", "4"  # as in the wrapper's go.mod
_VERSION = "k8s.io/component-base/version"
# Without a version inside, the server calls itself v0.0.0-master and clients cannot parse that.
_KUBERNETES = (
    f"-s -w -X {_VERSION}.gitMajor={KUBERNETES_MAJOR} -X {_VERSION}.gitMinor={KUBERNETES_MINOR} "
    f"-X {_VERSION}.gitVersion=v{KUBERNETES_MAJOR}.{KUBERNETES_MINOR}.{KUBERNETES_PATCH}"
)

_OPERATOR = "github.com/operator-framework/ansible-operator-plugins"
_ANSIBLE_OPERATOR = f"-s -w -X {_OPERATOR}/internal/version.Version=v1.42.2"  # as in the wrapper's go.mod

# With the help of 190 providers of DNS, Traefik can prove to Let's Encrypt that a name is its own. Nobody does so here,
# and many of its packages are there for them.
_NO_DNS_PROVIDERS = Swap("github.com/go-acme/lego/v4", "providers/dns/zz_gen_dns_providers.go", "no_dns_providers.go")

# What reads images checks signatures in Go, not with a C library.
_PLAIN_GO = "containers_image_openpgp"

TOOLS: dict[str, Recipe] = {
    tool.name: tool
    for tool in (
        Tool("etcd", "etcd", "go.etcd.io/etcd/server/v3", 60),
        Tool("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", 300, _KUBERNETES),
        Tool("kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager", 90, _KUBERNETES),
        Tool("kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler", 20, _KUBERNETES),
        Tool("kubelet", "kubernetes", "k8s.io/kubernetes/cmd/kubelet", 40, _KUBERNETES),
        Tool("pod", "pod", "sunset.dev/lab/pod", 20),
        Tool("helm", "helm", "helm.sh/helm/v3/cmd/helm", 150),
        Tool("kapp", "kapp", "carvel.dev/kapp/cmd/kapp", 90),
        Tool("ocm-registration", "ocm", "open-cluster-management.io/ocm/cmd/registration", 150),
        Tool("ocm-work", "ocm", "open-cluster-management.io/ocm/cmd/work", 60),
        Tool("ansible-operator", "operator", f"{_OPERATOR}/cmd/ansible-operator", 240, _ANSIBLE_OPERATOR),
        Tool("operator-sdk", "sdk", "github.com/operator-framework/operator-sdk/cmd/operator-sdk", 240, tags=_PLAIN_GO),
        Tool("traefik", "traefik", "github.com/traefik/traefik/v3/cmd/traefik", 250, swaps=(_NO_DNS_PROVIDERS,)),
        Crate("nmstatectl", "2.2.62", 360),
        Tool("nmstate-handler", "nmstate", "github.com/nmstate/kubernetes-nmstate/cmd/handler", 150),
        Tool("helm-controller", "flux", "github.com/fluxcd/helm-controller", 150),
        Tool("kustomize-controller", "flux", "github.com/fluxcd/kustomize-controller", 50),
        Tool("limit", "../../benchmarks/limit", "sunset.dev/benchmarks/limit", 60),
    )
}
FOR_TESTS = tuple(name for name in TOOLS if name != "limit")  # that one is for benchmarks


def ensure(names: Iterable[str]) -> dict[str, Path]:
    """Paths of the named tools; what is not there yet is built now, which may take minutes."""
    assets = _installed_assets()
    found = {name: _executable(assets, name) or _target(_tool(name)) for name in names}
    missing = [_tool(name) for name, path in found.items() if not path.exists()]
    if missing:
        _build_missing(missing)
    return found


def kubectl() -> Path:
    """kubectl from PATH, else from Debian's package, which root may install and others are told about."""
    if found := shutil.which("kubectl"):
        return Path(found)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise LabError("kubectl is not on PATH. Install it, on Debian with: apt-get install kubernetes-client")
    _say("kubectl is not on PATH: installing Debian's kubernetes-client with apt-get")
    installed = subprocess.run(
        ["apt-get", "install", "--yes", "--no-install-recommends", "kubernetes-client"],
        env={**machine.environment(), "DEBIAN_FRONTEND": "noninteractive"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    found = shutil.which("kubectl")
    if not found:
        said = last_lines(installed.stdout)
        raise LabError(f"apt-get did not bring kubectl. Install it by hand. apt-get said:\n{said}")
    return Path(found)


def _tool(name: str) -> Recipe:
    if name not in TOOLS:
        raise LabError(f"the lab has no tool {name!r}. It knows {', '.join(TOOLS)}; add a line to TOOLS in {__file__}")
    return TOOLS[name]


def _installed_assets() -> Path | None:
    """Where Kubernetes' own test binaries are, if installed. KUBEBUILDER_ASSETS set to nothing means: build."""
    chosen = os.environ.get("KUBEBUILDER_ASSETS")
    if chosen is not None:
        return Path(chosen) if chosen else None
    if not shutil.which("setup-envtest"):
        return None
    wanted = f"{KUBERNETES_MAJOR}.{KUBERNETES_MINOR}.x"
    command = ["setup-envtest", "use", "--installed-only", "--print=path", wanted]
    asked = subprocess.run(command, env=machine.environment(), capture_output=True, text=True, check=False)
    return Path(asked.stdout.strip()) if asked.returncode == 0 else None


def _executable(directory: Path | None, name: str) -> Path | None:
    candidate = directory / name if directory else None
    return candidate if candidate and os.access(candidate, os.X_OK) else None


def _home() -> Path:
    return paths.cache() / "tools"


def _target(tool: Recipe) -> Path:
    return _home() / f"{tool.name}-{tool.key()}" / tool.program


def _build_missing(tools: Iterable[Recipe]) -> None:
    """Programs that share packages in one build."""
    batches: dict[Hashable, list[Recipe]] = {}
    for tool in tools:
        batches.setdefault(tool.build, []).append(tool)
    home = _home()
    home.mkdir(parents=True, exist_ok=True)
    for batch in batches.values():
        with _one_build_at_a_time(home, _names(batch)):
            # The one we waited for may have built some of these.
            still_missing = [tool for tool in batch if not _target(tool).exists()]
            if still_missing:
                _build(still_missing, home)


def _names(tools: Sequence[Recipe]) -> str:
    return ", ".join(tool.name for tool in tools)


@contextlib.contextmanager
def _one_build_at_a_time(home: Path, names: str) -> Iterator[None]:
    """Two builds beside each other take longer than one after the other, so the lock is one for all tools."""
    with (home / "build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"{names}: waiting for another process that is building")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for abandoned in home.glob(".building-*"):  # by a build that was killed: we hold the lock, so none is alive
            shutil.rmtree(abandoned)
        yield


def _build(tools: Sequence[Recipe], home: Path) -> None:
    started = time.monotonic()
    first, names = tools[0], _names(tools)
    expected = sum(tool.expected_seconds for tool in tools)
    _say(f"building {names}; about {expected} s on two cores the first time, then kept")
    with tempfile.TemporaryDirectory(prefix=".building-", dir=home) as place:
        scratch = Path(place)
        compiled = scratch / "out"
        compiled.mkdir()
        log = scratch / "log"
        with log.open("wb") as output:
            build = subprocess.Popen(
                die_with_parent(first.command(compiled, [tool.package for tool in tools])),
                cwd=first.workplace(scratch),
                env=surroundings(first, scratch),
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                _follow(build, names, started, expected)
            except BaseException:
                build.kill()
                build.wait()
                raise
        if build.returncode:
            raise LabError(f"building {names} failed. {first.if_it_fails}:\n{last_lines(log.read_text())}")
        for tool in tools:
            finished = scratch / tool.name
            (finished / tool.program).parent.mkdir(parents=True)
            (compiled / tool.output).rename(finished / tool.program)
            finished.rename(_target(tool).parents[tool.program.count("/")])  # appears whole or not at all
    _say(f"built {names} in {time.monotonic() - started:.0f} s")


def _follow(build: subprocess.Popen[bytes], names: str, started: float, expected: int) -> None:
    while True:
        try:
            build.wait(PROGRESS_EVERY)
            return
        except subprocess.TimeoutExpired:
            _say(f"building {names}: {time.monotonic() - started:.0f} s of about {expected} s")


def _say(message: str) -> None:
    print(f"lab: {message}", file=sys.stderr, flush=True)
