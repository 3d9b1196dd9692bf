"""The certificates that a referee shows and trusts: checked before they are used, and read again while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key


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
    """What is shown in the next handshake."""

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
        """In how many days clients will refuse what is shown; below 0: they do."""
        return (self.expires - datetime.now(UTC)) / timedelta(days=1)

    @property
    def of_clients(self) -> bool:
        """Whether clients have to show one, too."""
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
        """When the first certificate of what is shown expires."""
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
