"""Fields that several requests have: ids of games, page tokens."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error

from referee.log.identity import GAME_ID_TEXT, parse_game_id
from referee.server.live.errors import BadField

_PLACE = re.compile(r"[0-9]{1,15}\Z", re.ASCII)


def game_id_of(text: str) -> bytes:
    """Return the id that the field holds. Raise ``BadField``."""
    if (found := parse_game_id(text)) is None:
        raise BadField("game_id", GAME_ID_TEXT)
    return found


def page_token(kind: str, place: int) -> str:
    """Return a token that is opaque to the client and bound to what it is a page of."""
    return urlsafe_b64encode(f"{kind}:{place}".encode()).decode()


def page_of(token: str, kind: str) -> int:
    """Return where the page begins. Raise ``BadField``."""
    try:
        found, _, place = urlsafe_b64decode(token.encode()).decode().rpartition(":")
        if found == kind and _PLACE.match(place) and page_token(kind, int(place)) == token:
            return int(place)
    except (Base64Error, ValueError):
        pass
    raise BadField("page_token", "the one from the answer before, to the same question")
