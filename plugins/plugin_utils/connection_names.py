# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables by which every playbook of this collection takes its connection, and from where.

Names that choose a cluster or a user are taken from wherever variables are set: to ignore one would mean another
cluster. The others are common words of inventories, with other meanings: a key of another service must not be sent to
an API server, and TLS must not be switched off for it by the way.
"""

from __future__ import annotations

FROM_ANYWHERE = ("kubeconfig", "context", "host", "impersonate_user", "impersonate_groups")
NOT_FROM_INVENTORIES = ("api_key", "ca_cert", "client_cert", "client_key", "validate_certs", "proxy")
CONNECTION_NAMES = (*FROM_ANYWHERE, *NOT_FROM_INVENTORIES)
