"""How a log calls a player: a hash that says nothing to who does not have its salt, and is a proof to who has."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

SALT_BYTES: Final = 16
_DOMAIN: Final = b"tile-referee/v1/player\0"


def player_hash(salt: bytes, identity: str) -> bytes:
    """Return what ``GameOpen.seats.player`` holds: SHA-256(domain || salt || identity), the identity in UTF-8.

    ``salt``: random, for each player of each game, and kept elsewhere: without it nothing tells who it is, nor whether
    two games had the same player. Raise ``ValueError`` for a salt of another length.
    """
    if len(salt) != SALT_BYTES:
        raise ValueError(f"salt: expected {SALT_BYTES} bytes, got {len(salt)}")
    return sha256(_DOMAIN + salt + identity.encode()).digest()
