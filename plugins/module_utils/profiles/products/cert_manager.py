# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""cert-manager 1.x: the old finalizer name, and the one that releases from 1.18 on always write.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "cert-manager",
    "title": "cert-manager",
    "checked": [
        {"version": "1.12.0", "how": ["source read"]},
        {"version": "1.18.2", "how": ["source read"]},
        {"version": "1.21.1", "how": ["source read"]},
        {"version": "1.21.2", "how": ["source read", "CRDs applied"]},
    ],
    "finalizers": ["finalizer.acme.cert-manager.io", "acme.cert-manager.io/finalizer"],
    # Orders, Certificates and Issuers carry no finalizer.
    "operator_kinds": [{"group": "acme.cert-manager.io", "kind": "Challenge"}],
    "workloads": ["app.kubernetes.io/name=cert-manager"],
    # A challenge that was not cleaned up may leave a DNS record of this name behind.
    "external_ids": {"Challenge": ["spec.dnsName"]},
    "notes": [
        "Only Challenges are held. An Order that is not finished makes new ones as long as the controller runs.",
        "The Secrets with the certificates stay, unless the controller was told to own them. Nobody renews them then.",
        "Deleting the definitions deletes every Certificate and Issuer in the cluster.",
    ],
}
