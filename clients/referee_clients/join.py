"""Join strings and seat links, which an organiser hands to players: address, game, seat, and the token that admits.

A join string is for programs, ``127.0.0.1:50051/0f3a…/2#TOKEN``: address, game id (32 hexadecimal digits), seat and,
after ``#``, the token. The address of a referee that speaks TLS begins with ``grpcs://``. A seat link is for browsers,
``https://club.example/seat#0f3a…/2/TOKEN``: the origin of the referee's pages and, after ``#``, where browsers send
nothing to the server, the same three. The module knows no network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from referee.log.intent import GAME_ID_TEXT, parse_game_id

_SEAT = re.compile(r"[0-9]\Z", re.ASCII)
_TOKEN = re.compile(r"[!-~]+\Z")
_PAGES = ("http://", "https://")
_EXPECTED = "address:port/game/seat#token, as you got it from the organiser"


class JoinError(ValueError):
    """Not a join string; the message has the wrong part and the expected one. It never shows the token."""


@dataclass(frozen=True, slots=True)
class Join:
    """A seat in a game, and the right to take it."""

    address: str
    game_id: str
    seat: int
    token: str = field(repr=False)


def format_join(address: str, game_id: str, seat: int, token: str) -> str:
    """Return the join string. It is a secret until the seat is taken: its holder can take the seat."""
    return f"{address}/{game_id}/{seat}#{token}"


def format_link(origin: str, game_id: str, seat: int, token: str) -> str:
    """Return the link with which a browser takes the seat. It is as secret as the join string.

    ``origin``: of the pages, as browsers name it, such as ``https://club.example``.
    """
    return f"{origin}/seat#{game_id}/{seat}/{quote(token, safe='')}"


def parse_join(text: str) -> Join:
    """Read what ``format_join`` writes, with space around it. Raise ``JoinError``."""
    if text.lstrip().lower().startswith(_PAGES):
        # It names the pages, and not the address at which programs reach the referee.
        raise JoinError(f"a link is for browsers: open it there, or ask for the join string; expected {_EXPECTED}")
    place, hash_sign, token = text.strip().partition("#")
    parts = place.rsplit("/", 2)
    if not hash_sign or len(parts) != 3:
        raise JoinError(f"not a join string: expected {_EXPECTED}")
    address, game_id, seat = parts
    if not address or address.rpartition(":")[2] == "":
        raise JoinError(f"join string: address {address!r}, expected host:port")
    if parse_game_id(game_id) is None:
        raise JoinError(f"join string: game {game_id!r}, expected {GAME_ID_TEXT}")
    if not _SEAT.match(seat):
        raise JoinError(f"join string: seat {seat!r}, expected one digit")
    if not _TOKEN.match(token):
        raise JoinError("join string: expected a token after #, without spaces")
    return Join(address, game_id, int(seat), token)
