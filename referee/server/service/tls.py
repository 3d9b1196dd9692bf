"""The certificates that a referee shows and trusts, read again while it runs; and those that nodes show each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


class TlsError(Exception):
    """A file cannot be used: which, and what is wrong with it, in one line."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Files, all of them PEM."""

    certificate: Path
    """The referee's, first, and those that lead to one that clients trust."""
    key: Path
    client_ca: Path | None = None
    """Authority that vouches for clients; if set, every client has to show a certificate."""


class Certificates:
    """The certificates for the next handshake."""

    def __init__(self, tls: Tls) -> None:
        """Raise ``TlsError``."""
        self._tls = tls
        self._given = self._next = self._read()

    def credentials(self) -> grpc.ServerCredentials:
        """Return credentials for a port."""
        credentials: grpc.ServerCredentials = grpc.dynamic_ssl_server_credentials(
            self._given,
            self._fetch,  # type: ignore[arg-type]  # the stub does not know that None is an answer
            require_client_authentication=self.of_clients,
        )
        return credentials

    def reload(self) -> None:
        """Read the files again; connections stay. Raise ``TlsError``, and then all is as before."""
        self._next = self._read()

    @property
    def days_left(self) -> float:
        """The days until clients will refuse the certificate; below 0: they do."""
        return (self.expires - datetime.now(UTC)) / timedelta(days=1)

    @property
    def of_clients(self) -> bool:
        """True if clients have to show a certificate, too."""
        return self._tls.client_ca is not None

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        # In a thread of gRPC's, before every handshake. Nothing new is None.
        if self._given is self._next:
            return None
        self._given = self._next
        return self._given

    def _read(self) -> grpc.ServerCertificateConfiguration:
        tls = self._tls
        chain, certificates = _certificates(tls.certificate)
        key = _key(tls.key, certificates[0], tls.certificate)
        trusted = _certificates(tls.client_ca)[0] if tls.client_ca is not None else None
        self.expires = min(found.not_valid_after_utc for found in certificates)
        """The time when the first of the certificates expires."""
        self.name = _name(certificates[0])
        """A name, or an address, that the referee's own certificate is for; empty if it has none."""
        return grpc.ssl_server_certificate_configuration([(key, chain)], root_certificates=trusted)


def _certificates(path: Path) -> tuple[bytes, list[x509.Certificate]]:
    """Return the certificates as they are in the file, and parsed; all of them valid now."""
    data = _bytes(path)
    try:
        found = x509.load_pem_x509_certificates(data)
    except ValueError:
        raise TlsError(f"{path}: expected certificates in PEM") from None
    now = datetime.now(UTC)
    for certificate in found:
        if certificate.not_valid_after_utc < now:
            raise TlsError(f"{path}: the certificate expired on {certificate.not_valid_after_utc:%Y-%m-%d}")
        if certificate.not_valid_before_utc > now:
            raise TlsError(f"{path}: the certificate is not valid before {certificate.not_valid_before_utc:%Y-%m-%d}")
    return data, found


def _name(certificate: x509.Certificate) -> str:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ""
    found = [*names.get_values_for_type(x509.DNSName), *names.get_values_for_type(x509.IPAddress)]
    return str(found[0]).replace("*", "referee") if found else ""


def _key(path: Path, certificate: x509.Certificate, certificate_path: Path) -> bytes:
    data = _bytes(path)
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, UnsupportedAlgorithm):
        raise TlsError(f"{path}: expected a private key in PEM") from None
    except TypeError:
        raise TlsError(f"{path}: the key is encrypted; expected one without a password") from None
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if key.public_key().public_bytes(*form) != certificate.public_key().public_bytes(*form):
        raise TlsError(f"{path}: not the key of the certificate in {certificate_path}")
    return data


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TlsError(f"{path}: {error.strerror}") from None


NODE_NAME = "node.tile-referee.internal"
"""The name in every node's certificate: its holder is a node, and the address tells which one."""
NODE_SECRET_BYTES = 48
"""16 more than the order has: so no key is likelier than another (FIPS 186-4, B.4.1)."""
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of P-256 (FIPS 186-4, D.1.2.3)."""
_ENDS = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""No well-defined end (RFC 5280, 4.1.2.5): the secret decides who is in."""


class NodeCredentials:
    """The credentials of one running node, made with a secret that all nodes of one club have in common.

    The secret is derived from the key that seals decks in their database, which all of them have and no other program
    may have. So there are no files to hand out, to renew or to lose, and a new secret shuts out those with the old one.
    """

    def __init__(self, secret: bytes) -> None:
        """``secret``: ``SECRET_BYTES`` that all nodes have, and only they."""
        authority = derive_private_key(int.from_bytes(secret, "big") % (_ORDER - 1) + 1, SECP256R1())
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nodes of a tile referee")])
        ca = x509.BasicConstraints(ca=True, path_length=0)
        self._trusted = _signed(issuer, authority, issuer, authority, ca)
        key = generate_private_key(SECP256R1())
        uses = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        names = x509.SubjectAlternativeName([x509.DNSName(NODE_NAME)])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NODE_NAME)])
        self._chain = _signed(issuer, authority, subject, key, names, uses)
        self._key = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def of_server(self) -> grpc.ServerCredentials:
        """Return credentials for a port that only nodes can use."""
        return grpc.ssl_server_credentials(
            [(self._key, self._chain)], root_certificates=self._trusted, require_client_auth=True
        )

    def of_client(self) -> grpc.ChannelCredentials:
        """Return credentials for a channel to another node; its target's name has to be ``NAME``."""
        return grpc.ssl_channel_credentials(self._trusted, self._key, self._chain)


def _signed(
    issuer: x509.Name,
    authority: EllipticCurvePrivateKey,
    subject: x509.Name,
    key: EllipticCurvePrivateKey,
    *extensions: x509.ExtensionType,
) -> bytes:
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(_ENDS)
    )
    for extension in extensions:
        made = made.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
    return made.sign(authority, SHA256()).public_bytes(Encoding.PEM)
