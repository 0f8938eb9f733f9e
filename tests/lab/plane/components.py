# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command lines of the control plane: what each component is told. Data only, nothing is started here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ETCD, APISERVER, CONTROLLER_MANAGER = "etcd", "kube-apiserver", "kube-controller-manager"

# 198.18.0.0/15 is set aside for tests: packets to a service nobody routes cannot reach anything real.
SERVICE_RANGE = "198.18.64.0/20"
SERVICE_ADDRESS = "198.18.64.1"  # of the service `kubernetes`

# For Go. Heaps are small and tests ask for little at once: with its defaults, a sixth of an API server's time is for
# garbage collection, and a tenth for threads that look for work.
ENVIRONMENT = {"GOGC": "1000", "GOMEMLIMIT": "500MiB", "GOMAXPROCS": "1"}


@dataclass(frozen=True)
class Ports:
    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int


@dataclass(frozen=True)
class Layout:
    """Where everything of one control plane is: files below one directory, ports on loopback."""

    directory: Path
    ports: Ports

    @property
    def pki(self) -> Path:
        return self.directory / "pki"

    @property
    def audit_log(self) -> Path:
        return self.directory / "audit" / "audit.log"

    @property
    def audit_policy(self) -> Path:
        return self.directory / "audit" / "policy.json"

    @property
    def admin_kubeconfig(self) -> Path:
        return self.directory / "admin.kubeconfig"

    @property
    def controller_manager_kubeconfig(self) -> Path:
        return self.directory / "kube-controller-manager.kubeconfig"

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.ports.apiserver}"

    def log(self, component: str) -> Path:
        return self.directory / "logs" / f"{component}.log"


def etcd_flags(at: Layout) -> list[str]:
    client, peer = f"http://127.0.0.1:{at.ports.etcd}", f"http://127.0.0.1:{at.ports.etcd_peer}"
    return [
        "--name=lab",
        f"--data-dir={at.directory / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=lab={peer}",
        "--unsafe-no-fsync",  # the data need not survive the machine, and disks are slow
        "--log-level=warn",
    ]


def apiserver_flags(at: Layout, extra: Sequence[str] = ()) -> list[str]:
    pki = at.pki
    return [
        f"--etcd-servers=http://127.0.0.1:{at.ports.etcd}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",  # endpoints may not be loopback addresses, and we have no other
        f"--secure-port={at.ports.apiserver}",
        f"--tls-cert-file={pki / 'apiserver.crt'}",
        f"--tls-private-key-file={pki / 'apiserver.key'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki / 'service-account.key'}",
        f"--service-account-signing-key-file={pki / 'service-account.key'}",
        # Aggregated APIs: the server authenticates to them, and reaches them by endpoint, as nobody routes services.
        f"--requestheader-client-ca-file={pki / 'front-proxy-ca.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={pki / 'front-proxy-client.crt'}",
        f"--proxy-client-key-file={pki / 'front-proxy-client.key'}",
        "--enable-aggregator-routing=true",
        # For a node, should there be one: logs and exec go to its kubelet, and namespaces say whose pods may run on it.
        f"--kubelet-client-certificate={pki / 'kubelet-client.crt'}",
        f"--kubelet-client-key={pki / 'kubelet-client.key'}",
        "--kubelet-preferred-address-types=InternalIP",
        "--enable-admission-plugins=PodTolerationRestriction",
        f"--audit-policy-file={at.audit_policy}",
        f"--audit-log-path={at.audit_log}",
        "--audit-log-maxsize=100000",  # megabytes; the reader keeps positions, so the file must never be rotated
        *extra,
    ]


def controller_manager_flags(at: Layout, extra: Sequence[str] = ()) -> list[str]:
    pki, kubeconfig = at.pki, at.controller_manager_kubeconfig
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={at.ports.controller_manager}",
        f"--tls-cert-file={pki / 'controller-manager.crt'}",
        f"--tls-private-key-file={pki / 'controller-manager.key'}",
        "--leader-elect=false",
        "--use-service-account-credentials",
        f"--service-account-private-key-file={pki / 'service-account.key'}",
        f"--root-ca-file={pki / 'ca.crt'}",
        f"--cluster-signing-cert-file={pki / 'ca.crt'}",
        f"--cluster-signing-key-file={pki / 'ca.key'}",
        # The usual 20 requests a second would make emptying a namespace the slowest part of a test.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        *extra,
    ]
