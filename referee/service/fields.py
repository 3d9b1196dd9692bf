"""Fields that several requests have: ids of games, page tokens."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error

from referee.live.errors import BadField
from referee.log.intent import GAME_ID_BYTES

_PLACE = re.compile(r"[0-9]{1,15}\Z", re.ASCII)
_GAME_ID = re.compile(r"[0-9a-f]{32}\Z")


def game_id_of(text: str) -> bytes:
    """16 bytes. Raises ``BadField``."""
    if not _GAME_ID.match(text):
        raise BadField("game_id", f"{2 * GAME_ID_BYTES} lower-case hexadecimal digits")
    return bytes.fromhex(text)


def page_token(kind: str, place: int) -> str:
    """Opaque to the client; bound to what it is a page of."""
    return urlsafe_b64encode(f"{kind}:{place}".encode()).decode()


def page_of(token: str, kind: str) -> int:
    """Return where the page begins. Raises ``BadField``."""
    try:
        found, _, place = urlsafe_b64decode(token.encode()).decode().rpartition(":")
        if found == kind and _PLACE.match(place) and page_token(kind, int(place)) == token:
            return int(place)
    except (Base64Error, ValueError):
        pass
    raise BadField("page_token", "the one from the answer before, to the same question")
