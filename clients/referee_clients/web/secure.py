"""The reasons why seats cannot be played on pages: browsers give keys to secure pages alone.

https://w3c.github.io/webappsec-secure-contexts/: those over HTTPS with a certificate that the browser trusts, and those
of the machine itself.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from referee_clients.sdk.channel import ANY_TIME, is_loopback
from referee_clients.web.origins import has_keys

E = TypeVar("E", bound=x509.ExtensionType)

_READ: Final = "see docs/operate/hall.md"
_SAID: Final[Mapping[str, str]] = {
    "http": "browsers on other devices play no seats here and verify nothing, as they give keys only to pages over "
    "HTTPS: give a certificate (--tls-cert, --tls-key), or put a proxy with TLS in front and name its https:// address "
    f"as the origin; {_READ}",
    "expired": "browsers refuse these pages, as the certificate expired on {date}: renew it",
    "early": "browsers refuse these pages, as the certificate is not valid before {date}: set the clock right, or wait",
    "names": "browsers refuse https://{name}, as the certificate is for {names}: get one for that name, or give the "
    "origin that it is for",
    "self": "browsers refuse these pages, as the certificate is self-signed, which phones never trust: make an "
    f"authority of your own and let it sign; {_READ}",
    "authority": "browsers refuse these pages until the device trusts the authority that signed the certificate, "
    f'"{{authority}}", which none of them knows: install it on each, or get a certificate for a public name; {_READ}',
    "apple_use": "iPhones, iPads and Macs refuse these pages, as the certificate does not say that it is for servers: "
    f"make another, with extendedKeyUsage=serverAuth; {_READ}",
    "apple_days": "iPhones, iPads and Macs refuse these pages, as the certificate is valid for more than {days} days: "
    f"make another; {_READ}",
}
_MOST_DAYS: Final = 825
"""Apple's devices demand it of every certificate: https://support.apple.com/103769"""
_MANY: Final = 10
"""Steps of a handshake; it takes three."""


@dataclass(frozen=True, slots=True)
class Lack:
    """A reason why browsers, or some of them, play no seats on the pages."""

    key: str
    """The reason's name: ``secure.KEY`` in the words of the pages says it to their readers."""
    facts: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the lack and its remedy, for the operator of the pages."""
        return _SAID[self.key].format(**self.facts)

    @property
    def told(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return {"key": self.key, "text": str(self)}


def lacks(host: str, origins: Collection[str], certificate: Path | None, key: Path | None) -> list[Lack]:
    """Return what pages lack that are served on this host.

    ``origins``: under which people reach them by name. ``certificate``, ``key``: a pair of files, or None. Raise
    ``OSError`` and ``ValueError`` for files that cannot be used.
    """
    if certificate is None or key is None:
        return [] if is_loopback(host) or any(map(has_keys, origins)) else [Lack("http")]
    names = [urlsplit(origin).hostname or "" for origin in origins if origin.lower().startswith("https")]
    if not names and _is_one_address(host):
        names = [host.strip("[]")]
    return list(_of_certificate(certificate, key, names))


def _of_certificate(path: Path, key: Path, names: Sequence[str]) -> Iterator[Lack]:
    chain = x509.load_pem_x509_certificates(path.read_bytes())
    now = datetime.now(UTC)
    if (ends := min(each.not_valid_after_utc for each in chain)) < now:
        yield Lack("expired", {"date": f"{ends:%Y-%m-%d}"})
    if (begins := max(each.not_valid_before_utc for each in chain)) > now:
        yield Lack("early", {"date": f"{begins:%Y-%m-%d}"})

    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path, key)
    for name in names:
        if not _is_trusted(server, _trusting(chain[-1]), name):
            yield Lack("names", {"name": name, "names": ", ".join(_names(chain[0])) or "no name"})
    browser = ssl.create_default_context()
    browser.verify_flags &= ~ssl.VERIFY_X509_STRICT  # which Python has set since 3.13, and no browser
    if _is_trusted(server, browser):
        return
    if _is_authority(chain[-1]) or chain[-1].issuer != chain[-1].subject:
        yield Lack("authority", {"authority": _called(chain[-1].issuer)})
    else:
        yield Lack("self")
    # Well-known authorities keep to the demands of Apple's devices.
    uses = _extension(chain[0], x509.ExtendedKeyUsage)
    if uses is None or ExtendedKeyUsageOID.SERVER_AUTH not in uses:
        yield Lack("apple_use")
    if chain[0].not_valid_after_utc - chain[0].not_valid_before_utc > timedelta(days=_MOST_DAYS):
        yield Lack("apple_days", {"days": str(_MOST_DAYS)})


def _trusting(certificate: x509.Certificate) -> ssl.SSLContext:
    """Return what a browser is whose device trusts the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=certificate.public_bytes(Encoding.PEM).decode())
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.hostname_checks_common_name = False
    return context


def _is_trusted(server: ssl.SSLContext, client: ssl.SSLContext, name: str = "") -> bool:
    """Return whether the client takes what the server shows, for this name or for any. Nothing leaves the process."""
    client.verify_flags |= ANY_TIME
    client.check_hostname = bool(name)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server, server_hostname=name or None)
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(_MANY):
        try:
            asking.do_handshake()
        except ssl.SSLWantReadError:
            with suppress(ssl.SSLWantReadError):
                answering.do_handshake()
        except ssl.SSLCertVerificationError:
            return False
        else:
            return True
    raise AssertionError("the handshake does not end")


def _names(certificate: x509.Certificate) -> list[str]:
    found = _extension(certificate, x509.SubjectAlternativeName)
    if found is None:
        return []
    return [*found.get_values_for_type(x509.DNSName), *map(str, found.get_values_for_type(x509.IPAddress))]


def _is_authority(certificate: x509.Certificate) -> bool:
    found = _extension(certificate, x509.BasicConstraints)
    return found is not None and found.ca


def _extension(certificate: x509.Certificate, kind: type[E]) -> E | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _called(name: x509.Name) -> str:
    """Return the common name, as devices list it, or else the whole name."""
    common = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(common[0].value) if common else name.rfc4514_string()


def _is_one_address(host: str) -> bool:
    """Return whether other devices can reach this host as it is written."""
    try:
        return not ipaddress.ip_address(host.strip("[]")).is_unspecified and not is_loopback(host)
    except ValueError:
        return False
