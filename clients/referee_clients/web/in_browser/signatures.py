"""The answers of the JavaScript verifier on keys and signatures, and the questions to it. Checks nothing itself.

It keeps the same rule of Ed25519 as libsodium (RFC 8032 and the checks that it leaves open), and was written from the
documents alone.
"""

from __future__ import annotations

KEY_BYTES = 32
SIGNATURE_BYTES = 64

holding: set[bytes] = set()
"""Triples that hold: key, signature and message, joined."""
failing: set[bytes] = set()
"""Triples that do not."""
keys: set[bytes] = set()
"""Public keys that may be declared."""
weak: set[bytes] = set()
"""The keys that may not."""
asked: dict[bytes, None] = {}
"""The questions, in the order in which they came up: a key alone is its 32 bytes."""


def holds(key: bytes, signed: bytes) -> bool:
    """Return whether the verifier has said so. ``signed``: signature and message, joined. If not, it is asked about."""
    triple = key + signed
    if triple not in holding and triple not in failing:
        asked[triple] = None
    return triple in holding


def is_key(raw: bytes) -> bool:
    """Return whether the verifier has said that it is a canonical point of the prime-order group."""
    if raw not in keys and raw not in weak:
        asked[raw] = None
    return raw in keys


def forget() -> None:
    """Begin another file."""
    for known in (holding, failing, keys, weak):
        known.clear()
