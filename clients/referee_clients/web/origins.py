"""The test of an origin: browsers give keys to its pages or not. The test of a certificate is in ``secure``."""

from __future__ import annotations

from urllib.parse import urlsplit

from referee_clients.sdk.channel import is_loopback


def has_keys(origin: str) -> bool:
    """Return whether a browser that trusts the certificate gives keys to a page of this origin."""
    parts = urlsplit(origin)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")
