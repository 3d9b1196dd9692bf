"""What is signed: DSSE's encoding of a payload type and a body's exact bytes (DSSE v1.0.2, protocol.md)."""

from __future__ import annotations

INTENT_TYPE = "application/vnd.tile-referee.intent.v1+protobuf"
"""One type for each kind of signed body, never used for another: a signature is for one purpose."""


def pre_authentication_encoding(payload_type: str, body: bytes) -> bytes:
    """Return ``"DSSEv1" SP len(type) SP type SP len(body) SP body``; lengths are of bytes, in decimal."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)


_INTENT_PREFIX = b"DSSEv1 %d %b " % (len(INTENT_TYPE), INTENT_TYPE.encode())


def intent_encoding(body: bytes) -> bytes:
    """Return the bytes that an intent's author signs."""
    return _INTENT_PREFIX + b"%d " % len(body) + body
