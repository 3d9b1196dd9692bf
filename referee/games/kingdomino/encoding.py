"""The canonical encoding of a position, which every entry's digest is made from: docs/kingdomino-state.md."""

from __future__ import annotations

from struct import Struct

from referee.games.kingdomino.position import Position

NOBODY = 255
"""No seat."""

_head = Struct(">4s5BHBQ").pack


def encode(position: Position) -> bytes:
    """Return the bytes; their SHA-256 is the position's digest."""
    order, kings, offer, removed = position.order, position.kings, position.offer, position.removed
    claims = position.claims
    # A list is the number of bytes that follow, then a byte a number.
    numbers = [len(order), *order, 2 * len(kings)]
    for king in kings:
        numbers += king
    numbers.append(2 * len(offer))
    for domino in offer:
        numbers += (domino, claims.get(domino, NOBODY))
    numbers += (len(removed), *removed)
    parts = [
        _head(
            b"KDO\x01",
            position.seats,
            position.phase,
            position.seat,
            position.options.size(),
            position.lines,
            position.turns,
            position.lines_in_all,
            position.unseen,
        ),
        bytes(numbers),
    ]
    for kingdom, discarded in zip(position.kingdoms, position.discarded, strict=True):
        parts += (kingdom.encode(), bytes((len(discarded), *discarded)))
    return b"".join(parts)
