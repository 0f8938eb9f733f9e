# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The TLS side of a connection: whom we trust, and exactly which certificates we show."""

from __future__ import annotations

import datetime
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ansible_collections.sunset.kube.plugins.module_utils.kube.tls import client_context
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.tests.unit.fakes import named

BEGIN = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
END = datetime.datetime(2100, 1, 1, tzinfo=datetime.timezone.utc)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(subject: str, key: Any, issuer: str, issuer_key: Any) -> bytes:
    builder = x509.CertificateBuilder(
        issuer_name=_name(issuer),
        subject_name=_name(subject),
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=BEGIN,
        not_valid_after=END,
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=subject == issuer, path_length=None), critical=True)
    names = x509.SubjectAlternativeName([x509.DNSName("api.example.com")])
    signed = builder.add_extension(names, critical=False).sign(issuer_key, hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM)


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and one certificate with its key that serves both sides, as files."""
    folder = tmp_path_factory.mktemp("pki")
    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _one in range(2))
    (folder / "ca.crt").write_bytes(_certificate("authority", ca_key, "authority", ca_key))
    (folder / "me.crt").write_bytes(_certificate("me", key, "authority", ca_key))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    (folder / "me.key").write_bytes(key.private_bytes(*form, serialization.NoEncryption()))
    (folder / "locked.key").write_bytes(key.private_bytes(*form, serialization.BestAvailableEncryption(b"x")))
    (folder / "both.crt").write_bytes((folder / "me.crt").read_bytes() + (folder / "ca.crt").read_bytes())
    (folder / "all.pem").write_bytes((folder / "me.crt").read_bytes() + (folder / "me.key").read_bytes())
    (folder / "empty.crt").write_bytes(b"")
    return folder


def context(pki: Path, cert: str | None = None, key: str | None = None, ca: str | None = "ca.crt") -> ssl.SSLContext:
    cert, key, ca = (str(pki / name) if name else None for name in (cert, key, ca))
    return client_context(verify=True, ca_file=ca, cert_file=cert, key_file=key)


def shown(pki: Path, client: ssl.SSLContext) -> list[str]:
    """The certificates a server gets to see in a real handshake, in memory."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pki / "me.crt", pki / "me.key")
    server.load_verify_locations(pki / "ca.crt")
    server.verify_mode = ssl.CERT_REQUIRED
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(back, there, server_hostname="api.example.com"),
        server.wrap_bio(there, back, server_side=True),
    ]
    while ends:
        for end in list(ends):
            try:
                end.do_handshake()
                ends.remove(end)
            except ssl.SSLWantReadError:
                continue
            last = end
    chain = last._sslobj.get_unverified_chain()  # type: ignore[attr-defined]
    return [entry.get_info()["subject"][0][0][1] for entry in chain]


SHOWN: dict[str, tuple[str, str | None, list[str]]] = {
    "a single one, which OpenSSL would complete with the authority": ("me.crt", "me.key", ["me", "me"]),
    "a single one, in one file with its key": ("all.pem", None, ["me", "me"]),
    "a chain, as it is": ("both.crt", "me.key", ["me", "authority"]),
}


@pytest.mark.parametrize(("cert", "key", "names"), named(SHOWN))
def test_no_certificate_is_shown_that_is_not_in_the_file(
    pki: Path, cert: str, key: str | None, names: list[str]
) -> None:
    assert shown(pki, context(pki, cert, key)) == names


def test_no_copy_of_a_certificate_is_left_on_the_disk(
    pki: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    context(pki, "me.crt", "me.key")
    with pytest.raises(BadOption):
        context(pki, "me.crt", "ca.crt")
    assert list(tmp_path.iterdir()) == []


BAD: dict[str, tuple[str | None, str | None, str, str]] = {
    "a key that is locked": ("me.crt", "locked.key", "ca.crt", "client_cert or client_key"),
    "no key": ("me.crt", "empty.crt", "ca.crt", "client_cert or client_key"),
    "no certificate": ("empty.crt", "me.key", "ca.crt", "client_cert or client_key"),
    "a file that is not there": ("gone.crt", "me.key", "ca.crt", "client_cert or client_key"),
    "an authority that is none": (None, None, "empty.crt", "ca_cert"),
    "an authority that is not there": (None, None, "gone.crt", "ca_cert"),
}


@pytest.mark.parametrize(("cert", "key", "ca", "option"), named(BAD))
def test_a_file_that_cannot_be_used_is_named(
    pki: Path, cert: str | None, key: str | None, ca: str, option: str
) -> None:
    with pytest.raises(BadOption) as refused:
        context(pki, cert, key, ca)
    assert str(refused.value).startswith(f"the certificate file for {option} {pki / (cert or ca)}: ")


def test_the_server_is_checked_unless_the_task_says_otherwise(pki: Path) -> None:
    strict = context(pki)
    loose = client_context(verify=False, ca_file=str(pki / "gone.crt"), cert_file=None, key_file=None)
    facts = [(one.verify_mode, one.check_hostname, one.minimum_version) for one in (strict, loose)]
    assert facts == [
        (ssl.CERT_REQUIRED, True, ssl.TLSVersion.TLSv1_2),
        (ssl.CERT_NONE, False, ssl.TLSVersion.TLSv1_2),
    ]


def test_without_an_authority_those_of_the_machine_are_trusted(pki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self, purpose=None: loaded.append("default"))
    context(pki, ca=None)
    assert loaded == ["default"]
