# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS contexts from PEM text: what a client of the lab trusts and how it says who it is."""

from __future__ import annotations

import ssl
import tempfile

from lab.plane.users import Access


def client_context(access: Access) -> ssl.SSLContext:
    """Trust the lab's authority only, and present the client certificate if there is one."""
    context = ssl.create_default_context(cadata=access.ca)
    if access.cert and access.key:
        # The ssl module reads a key from a file only; this one lives for a moment and is ours alone (0600).
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as pem:
            # Twice: to a single certificate OpenSSL adds the authority, one more chain to check with every request.
            pem.write(access.cert + access.cert + access.key)
            pem.flush()
            context.load_cert_chain(pem.name)
    return context
