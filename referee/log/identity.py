"""The id of a game: the first bytes of a hash of its opening, and those bytes as text."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

GAME_ID_BYTES: Final = 16
GAME_ID_TEXT: Final = f"{2 * GAME_ID_BYTES} lower-case hexadecimal digits"
"""The text form of an id, for errors."""

_TEXT: Final = re.compile(rf"[0-9a-f]{{{2 * GAME_ID_BYTES}}}\Z")


def game_id(open_data: bytes) -> bytes:
    """Return the id of the game that these bytes of a GameOpen open."""
    return sha256(open_data).digest()[:GAME_ID_BYTES]


def parse_game_id(text: str) -> bytes | None:
    """Return the id that the text is; None if it is none."""
    return bytes.fromhex(text) if _TEXT.match(text) else None
