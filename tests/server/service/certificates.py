"""Certificates for tests: an authority of the day, and what it vouches for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = timedelta(days=1)
_CA = x509.BasicConstraints(ca=True, path_length=0)
_SIGNS = x509.KeyUsage(
    key_cert_sign=True,
    digital_signature=True,
    **dict.fromkeys(
        (
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        ),
        False,
    ),
)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, in PEM files."""

    certificate: Path
    key: Path
    der: bytes


class Authority:
    """Makes files in a folder."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self.folder = folder
        self._key = generate_private_key(SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.path = folder / f"{name}.pem"
        self.path.write_bytes(self._signed(self._name, self._key, -DAY, DAY, _CA).public_bytes(Encoding.PEM))

    def issue(
        self,
        name: str,
        begins: timedelta = -DAY,
        ends: timedelta = DAY,
        host: str = "localhost",
        *,
        for_servers: bool = False,
    ) -> Pair:
        """For this host, and for this machine's loopback address."""
        names = x509.SubjectAlternativeName([x509.DNSName(host), x509.IPAddress(IPv4Address("127.0.0.1"))])
        uses = [x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])] if for_servers else []
        key = generate_private_key(SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        return self._pair(name, key, self._signed(subject, key, begins, ends, names, *uses))

    def itself(self, host: str, *, is_authority: bool) -> Pair:
        """Return the pair of a server with the authority's own name and key."""
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        uses = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        made = self._signed(self._name, self._key, -DAY, DAY, names, uses, *([_CA] if is_authority else []))
        return self._pair("itself", self._key, made)

    def _signed(
        self,
        subject: x509.Name,
        key: EllipticCurvePrivateKey,
        begins: timedelta,
        ends: timedelta,
        *extensions: x509.ExtensionType,
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begins)
            .not_valid_after(now + ends)
        )
        # Python's own clients demand identifiers of keys since 3.13, and of an authority what its key is for.
        ids = (
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
            *([_SIGNS] if _CA in extensions else []),
        )
        for extension in (*extensions, *ids):
            made = made.add_extension(extension, critical=extension in (_CA, _SIGNS))
        return made.sign(self._key, SHA256())

    def _pair(self, name: str, key: EllipticCurvePrivateKey, certificate: x509.Certificate) -> Pair:
        pair = Pair(self.folder / f"{name}.crt", self.folder / f"{name}.key", certificate.public_bytes(Encoding.DER))
        pair.certificate.write_bytes(certificate.public_bytes(Encoding.PEM))
        pair.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return pair
