# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the programs of a node are told: configuration files and command lines. Data only, nothing is started here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.node.place import Place
from lab.problems import LabError
from lab.sandbox import SandboxSpec

CONTAINERD, KUBELET, SCHEDULER = "containerd", "kubelet", "kube-scheduler"
SOCKET = "/run/containerd/containerd.sock"  # inside the sandbox, where /run is the node's own
PLUGIN_FOLDERS = ("/usr/lib/cni", "/opt/cni/bin")  # Debian's, everybody else's
PAUSE_IMAGE = "lab.invalid/pause:1"
# A closed port for a proxy: pulling an image that was not loaded fails at once, and nobody is asked.
ENVIRONMENT = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:1")
# Pods of tests that know nothing of a node stay Pending as ever; namespaces are let in one by one.
TAINT = {"key": "sunset.dev/lab-node", "value": "true", "effect": "NoSchedule"}

# Where a node writes without asking: /run is empty in its sandbox, /var keeps what is written to itself. The rest of
# the machine is seen as it is, its network too, so that pods can be reached from outside.
PRIVATE = ("/run", "/var")
# The kubelet sets these for the whole machine. In the sandbox it finds them set already, and the machine keeps its own.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}
SANDBOX = SandboxSpec(overlays=("/var",), empty=("/run",), stand_ins=KERNEL_SETTINGS)


@dataclass(frozen=True)
class NodeLayout:
    """Where everything of one node is: files below one directory, addresses in its place."""

    directory: Path
    name: str
    place: Place
    health_port: int
    scheduler_port: int

    @property
    def containerd_config(self) -> Path:
        return self.directory / "containerd.toml"

    @property
    def kubelet_config(self) -> Path:
        return self.directory / "kubelet.json"

    @property
    def network_config(self) -> Path:
        return self.directory / "network" / "10-lab.conflist"

    def log(self, program: str) -> Path:
        return self.directory / f"{program}.log"


def write(at: NodeLayout, client_ca: Path) -> None:
    """Write the configuration files."""
    at.network_config.parent.mkdir()
    at.network_config.write_text(json.dumps(_network(at.place), indent=2))
    at.containerd_config.write_text(_containerd(at))
    at.kubelet_config.write_text(json.dumps(_kubelet(at, client_ca), indent=2))


def containerd_flags(at: NodeLayout) -> list[str]:
    return [f"--config={at.containerd_config}"]


def kubelet_flags(at: NodeLayout, kubeconfig: Path) -> list[str]:
    return [
        f"--config={at.kubelet_config}",
        f"--kubeconfig={kubeconfig}",
        f"--root-dir={at.directory / 'kubelet'}",
        f"--cert-dir={at.directory / 'kubelet-pki'}",
        f"--hostname-override={at.name}",
        f"--node-ip={at.place.address}",
    ]


def scheduler_flags(at: NodeLayout, kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={at.scheduler_port}",
        f"--cert-dir={at.directory / 'scheduler-pki'}",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]


def plugin_folder() -> str:
    for folder in PLUGIN_FOLDERS:
        if (Path(folder) / "bridge").exists():
            return folder
    raise LabError("there are no CNI plugins. On Debian: apt-get install containernetworking-plugins")


def _network(place: Place) -> dict[str, Any]:
    """Pods hang on our bridge and have no route but to it: nothing a pod sends can leave the machine."""
    addresses = {"type": "host-local", "ranges": [[{"subnet": place.subnet, "gateway": place.address}]]}
    bridge = {"type": "bridge", "bridge": place.bridge, "isGateway": False, "ipMasq": False, "ipam": addresses}
    return {"cniVersion": "0.4.0", "name": "lab", "plugins": [bridge]}


def _containerd(at: NodeLayout) -> str:
    return f"""version = 2
root = "{at.directory / "containerd"}"
state = "/run/containerd"
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{at.directory / "opt"}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  stream_server_address = "127.0.0.1"
  # Lowering a score needs a right that containers of a CI system do not have.
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{plugin_folder()}"
  conf_dir = "{at.network_config.parent}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
"""


def _kubelet(at: NodeLayout, client_ca: Path) -> dict[str, Any]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": at.place.address,
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": at.health_port,
        "authentication": {"x509": {"clientCAFile": str(client_ca)}, "anonymous": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},  # of those the CA knows: the API server, for logs and exec
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": at.place.cgroup,
        "failCgroupV1": False,
        "failSwapOn": False,
        "enforceNodeAllocatable": [],
        "protectKernelDefaults": True,  # the sandbox has them right; to change them would be a mistake
        "makeIPTablesUtilChains": False,
        "oomScoreAdj": 0,
        "registerWithTaints": [TAINT],
        "resolvConf": "",
        "podLogsDir": str(at.directory / "pod-logs"),
        # A test machine may be short of anything: that is no reason to throw pods out.
        "evictionHard": {
            "memory.available": "0%",
            "nodefs.available": "0%",
            "nodefs.inodesFree": "0%",
            "imagefs.available": "0%",
            "imagefs.inodesFree": "0%",
        },
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "kubeAPIQPS": 500,
        "kubeAPIBurst": 1000,
    }
