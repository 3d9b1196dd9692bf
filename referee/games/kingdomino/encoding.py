"""The canonical encoding of a position, which every entry's digest is made from: docs/kingdomino-state.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct

from referee.games.game import Cell
from referee.games.kingdomino.kingdom import Placed
from referee.games.kingdomino.position import Position

NOBODY = 255
"""No seat; no castle."""

_head = Struct(">5BHBQ").pack
_domino = Struct(">B4b").pack


def encode(position: Position) -> bytes:
    """Return the bytes; their SHA-256 is the position's digest."""
    parts = [
        b"KDO\x01",
        _head(
            position.seats,
            position.phase,
            position.seat,
            position.options.size(),
            position.lines,
            position.turns,
            position.lines_in_all,
            position.unseen,
        ),
        _list(position.order),
        _list([number for king in position.kings for number in king]),
        _list([number for domino in position.offer for number in (domino, position.claims.get(domino, NOBODY))]),
        _list(position.removed),
    ]
    for kingdom, discarded in zip(position.kingdoms, position.discarded, strict=True):
        parts += (_kingdom(kingdom.castle, kingdom.dominoes), _list(discarded))
    return b"".join(parts)


def _list(numbers: Sequence[int]) -> bytes:
    """Return how many bytes follow, then a byte a number."""
    return bytes((len(numbers), *numbers))


@lru_cache(maxsize=256)
def _kingdom(castle: Cell | None, dominoes: tuple[Placed, ...]) -> bytes:
    """Of all kingdoms at most one changes from a position to the next."""
    lying = [_domino(number, *left, *right) for number, left, right in sorted(dominoes)]
    return bytes((*(castle or (NOBODY, NOBODY)), len(lying))) + b"".join(lying)
