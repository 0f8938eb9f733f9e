# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Throw-away certificates: an authority that signs servers and clients, and the keys of service-account tokens.

Elliptic keys for users and servers: an RSA key costs a noticeable part of a second, and a test run makes dozens. RSA
keys for authorities: the API server checks the signature of a client's certificate with every request, which took it
a quarter of its time with an elliptic key.
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = datetime.timedelta(days=365)
RSA_BITS = 2048
LOOPBACK = ("127.0.0.1", "localhost")


@dataclass(frozen=True)
class KeyPair:
    cert_file: Path
    key_file: Path


class Authority:
    """A certificate authority whose certificate and key are files of one directory."""

    def __init__(self, directory: Path, name: str) -> None:
        """Open the authority `name` of this directory; the first time, make it."""
        self.directory = directory
        self.files = KeyPair(directory / f"{name}.crt", directory / f"{name}.key")
        if self.files.key_file.exists():
            self._key = _read_key(self.files.key_file)
            self._certificate = x509.load_pem_x509_certificate(self.files.cert_file.read_bytes())
            return
        self._key = rsa.generate_private_key(65537, RSA_BITS)
        subject = _subject(f"sunset-kube lab {name}")
        self._certificate = (
            _unsigned(subject, subject, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_ca_usage(), critical=True)
            # Python 3.13 verifies strictly, and then an authority needs its key identifier.
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        _write(self.files, self._certificate, self._key)

    def server(self, name: str, hosts: Iterable[str] = LOOPBACK) -> KeyPair:
        """A certificate for a server that is reached by these addresses and names."""
        names = x509.SubjectAlternativeName([_host(host) for host in hosts])
        return self._signed(name, _subject(name), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, user: str, groups: Iterable[str] = ()) -> KeyPair:
        """A certificate that the API server takes for this user in these groups."""
        groups = tuple(groups)
        # User names hold colons and slashes, which file names should not.
        file_name = "client-" + hashlib.sha256("\0".join((user, *groups)).encode()).hexdigest()[:16]
        return self._signed(file_name, _subject(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _signed(
        self,
        file_name: str,
        subject: x509.Name,
        purpose: x509.ObjectIdentifier,
        names: x509.SubjectAlternativeName | None = None,
    ) -> KeyPair:
        files = KeyPair(self.directory / f"{file_name}.crt", self.directory / f"{file_name}.key")
        if files.key_file.exists():
            return files
        key = ec.generate_private_key(ec.SECP256R1())
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            _unsigned(subject, self._certificate.subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(identifier, critical=False)
        )
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        _write(files, builder.sign(self._key, hashes.SHA256()), key)
        return files


def service_account_key(directory: Path) -> Path:
    """The private key that signs service-account tokens; the API server takes its public half from the same file."""
    file = directory / "service-account.key"
    if not file.exists():
        _write_key(file, ec.generate_private_key(ec.SECP256R1()))
    return file


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + LIFETIME)
    )


def _subject(name: str, groups: Iterable[str] = ()) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _ca_usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write(files: KeyPair, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    files.cert_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    _write_key(files.key_file, key)


def _write_key(file: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    file.touch(mode=0o600)
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )


def _read_key(file: Path) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key(file.read_bytes(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key
