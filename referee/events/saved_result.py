"""A result that was filled in on the page of an event, where the organiser's key is not: the small file in between.

It is one JSON object, ``{"event": ID, "act": BASE64}``: the id of the event's log, and the exact bytes of the act.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Final

from referee.games.event import GAME, Terms
from referee.games.event.acts import Amend, EnterResult
from referee.games.game import InputError
from referee.notation.lines import parse_object
from referee.notation.strict_json import QueryError, only, required
from referee.wire.event import CODECS
from referee.wire.strict import MalformedError

MOST_BYTES: Final = 64 << 10
"""Of the file."""
_FIELDS: Final = ("event", "act")


def read_result(data: bytes, game_id: bytes, terms: Terms) -> EnterResult | Amend:
    """Return the act in a file, of the event with this log and these terms. Raise ``InputError``."""
    try:
        found = parse_object(data, MOST_BYTES)
        only(found, frozenset(_FIELDS))
        event, text = (required(found, name, "file") for name in _FIELDS)
    except QueryError as error:
        raise InputError("RESULT", str(error), "a result as the page of the event saves it") from None
    if event != game_id.hex():
        raise InputError("event", "another event's", game_id.hex())
    try:
        act = CODECS[GAME.version].decode_move(b64decode(str(text), validate=True), terms)
    except (MalformedError, binascii.Error, ValueError):
        raise InputError("act", "no act of an event", "the bytes of a result, in base64") from None
    if not isinstance(act, EnterResult | Amend):
        raise InputError("act", "an act that is no result", "a result, or another one in its place")
    return act
