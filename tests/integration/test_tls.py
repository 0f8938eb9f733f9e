# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which certificates we show to a server. What is loaded from where is in the unit tests of `configuration`."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.tls import client_context
from lab.plane.certificates import Authority, KeyPair

pytestmark = pytest.mark.quick


@dataclass(frozen=True)
class Party:
    """A server and a client whose certificates come from the same authority, as in most clusters."""

    ca: Path
    server: KeyPair
    client: KeyPair


@pytest.fixture
def party(tmp_path: Path) -> Party:
    authority = Authority(tmp_path, "ca")
    return Party(tmp_path / "ca.crt", authority.server("server"), authority.client("anna"))


def certificates_seen_by_the_server(party: Party, context: ssl.SSLContext) -> list[bytes]:
    """What the client sent, after a whole handshake in memory."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(party.server.cert_file, party.server.key_file)
    serving.load_verify_locations(party.ca)
    serving.verify_mode = ssl.CERT_REQUIRED
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = context.wrap_bio(back, there, server_hostname="127.0.0.1")
    theirs = serving.wrap_bio(there, back, server_side=True)
    waiting = [ours, theirs]
    for _turn in range(10):
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    assert not waiting
    chain = theirs._sslobj.get_unverified_chain()  # type: ignore[attr-defined]  # public from Python 3.13 on
    return [certificate.public_bytes(2) for certificate in chain]  # as DER


def der(file: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(file.read_text())


def test_a_single_certificate_is_shown_without_its_authority(party: Party) -> None:
    context = client_context(
        verify=True, ca_file=str(party.ca), cert_file=str(party.client.cert_file), key_file=str(party.client.key_file)
    )
    assert set(certificates_seen_by_the_server(party, context)) == {der(party.client.cert_file)}


def test_openssl_alone_would_show_the_authority_too(party: Party) -> None:
    """If this fails one day, kube/tls.py can become simpler."""
    context = ssl.create_default_context(cafile=party.ca)
    context.load_cert_chain(party.client.cert_file, party.client.key_file)
    assert der(party.ca) in certificates_seen_by_the_server(party, context)


def test_certificate_and_key_may_share_a_file(party: Party, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_text(party.client.cert_file.read_text() + party.client.key_file.read_text())
    context = client_context(verify=True, ca_file=str(party.ca), cert_file=str(both), key_file=None)
    assert set(certificates_seen_by_the_server(party, context)) == {der(party.client.cert_file)}


def test_a_file_with_a_chain_is_shown_as_it_is(party: Party, tmp_path: Path) -> None:
    chain = tmp_path / "chain.pem"
    chain.write_text(party.client.cert_file.read_text() + party.ca.read_text())
    context = client_context(
        verify=True, ca_file=str(party.ca), cert_file=str(chain), key_file=str(party.client.key_file)
    )
    assert certificates_seen_by_the_server(party, context) == [der(party.client.cert_file), der(party.ca)]
