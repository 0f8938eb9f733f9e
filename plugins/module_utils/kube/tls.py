# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The TLS side of a connection: whom we trust, and the certificate we show.

Room: kube.
"""

from __future__ import annotations

import contextlib
import os
import re
import ssl
import tempfile
from collections.abc import Callable

from ..problems import BadOption

_CERTIFICATE = re.compile(b"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)


def client_context(*, verify: bool, ca_file: str | None, cert_file: str | None, key_file: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif ca_file:
        _load(lambda: context.load_verify_locations(cafile=ca_file), "ca_cert", ca_file)
    else:
        context.load_default_certs()
    if cert_file:
        _load(lambda: _show(context, cert_file, key_file or cert_file), "client_cert or client_key", cert_file)
    return context


def certificates_in(pem: bytes) -> frozenset[bytes]:
    """Each certificate (DER) of a PEM text, as far as they can be read."""
    found = set()
    for one in _CERTIFICATE.findall(pem):
        with contextlib.suppress(ValueError):
            found.add(ssl.PEM_cert_to_DER_cert(one.decode("ascii", "replace").strip()))
    return frozenset(found)


def _show(context: ssl.SSLContext, cert_file: str, key_file: str) -> None:
    """Show the certificates of this file and no others.

    A file with a single certificate makes OpenSSL add the cluster's authority, which it finds among those we trust. The
    API server checks certificates anew with every request, and takes the authority for one more chain to check: that
    cost it up to a fifth of its time for a delete. A file with two certificates is sent as it is, so a
    single one is put there twice.
    """
    with open(cert_file, "rb") as stream:
        certificates = _CERTIFICATE.findall(stream.read())
    if len(certificates) != 1:
        context.load_cert_chain(cert_file, key_file, password=_no_password)
        return
    descriptor, path = tempfile.mkstemp(prefix="sunset-kube-", suffix=".crt")
    try:
        with open(descriptor, "wb") as stream:
            stream.write(certificates[0].rstrip() + b"\n" + certificates[0])
        context.load_cert_chain(path, key_file, password=_no_password)
    finally:
        os.unlink(path)


def _no_password() -> str:
    """OpenSSL would ask the terminal for the password of a locked key, and wait for ever."""
    return ""


def _load(action: Callable[[], None], option: str, path: str) -> None:
    try:
        action()
    except (OSError, ssl.SSLError) as problem:
        raise BadOption(
            f"the certificate file for {option}",
            which=path,
            why=str(problem),
            next_step="check that it is a PEM file you can read, and that the key is not locked with a password",
        ) from problem
