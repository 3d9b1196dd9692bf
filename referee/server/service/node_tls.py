"""How the nodes of one club know each other: certificates that only who has their common secret can make.

The secret is derived from the key that seals decks in their database, which every one of them has and nobody else may
have. From it follows the key of an authority; for each start it signs a certificate for a key that is written nowhere.
So there are no files to hand out, to renew or to lose, and a new secret shuts out who has the old one.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import grpc
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAME = "node.tile-referee.internal"
"""Of every node's certificate: who has one is a node, and which one is known by its address."""
SECRET_BYTES = 48
"""16 more than the order has: so no key is likelier than another (FIPS 186-4, B.4.1)."""
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of P-256 (FIPS 186-4, D.1.2.3)."""
_ENDS = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""No well-defined end (RFC 5280, 4.1.2.5): the secret decides who is in."""


class NodeCredentials:
    """Of one node, for as long as it runs."""

    def __init__(self, secret: bytes) -> None:
        """``secret``: ``SECRET_BYTES`` that all nodes have, and nobody else."""
        authority = derive_private_key(int.from_bytes(secret, "big") % (_ORDER - 1) + 1, SECP256R1())
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nodes of a tile referee")])
        ca = x509.BasicConstraints(ca=True, path_length=0)
        self._trusted = _signed(issuer, authority, issuer, authority, ca)
        key = generate_private_key(SECP256R1())
        uses = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        names = x509.SubjectAlternativeName([x509.DNSName(NAME)])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
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
