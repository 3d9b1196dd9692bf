"""The canonical encoding of a position, which every entry's digest is made from: docs/rollwrite-state.md."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from referee.games.rollwrite.position import Position


def encode(position: Position) -> bytes:
    """Return the bytes; their SHA-256 is the position's digest."""
    parts = [
        b"RNW\x01",
        _head(
            position.seats,
            position.phase,
            position.seat,
            position.start,
            position.round,
            position.turns,
            position.changed,
            *(position.first or (0, 0)),
            position.to_roll,
            position.player,
        ),
    ]
    for built, coins, circled, blue, yellow in zip(
        position.built, position.coins, position.circled, position.blue, position.yellow, strict=True
    ):
        parts.append(_seat(built, coins, circled, len(blue)))
        parts += (bytes(blue), bytes(yellow))
    parts.append(bytes([len(position.virtual)]))
    parts += map(bytes, position.virtual)
    parts.append(bytes([len(position.awards)]))
    for award in position.awards:
        parts.append(bytes([award.type, award.round, _bits(award.seats), _bits(award.virtual)]))
    return b"".join(parts)


def _bits(players: Iterable[int]) -> int:
    return sum(1 << player for player in players)


# Every entry has a digest, so the formats are read once.
_head = Struct(">5BH5B").pack
_seat = Struct(">Q3B").pack
