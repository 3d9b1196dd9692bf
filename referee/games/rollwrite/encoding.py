"""The canonical encoding of a position, which every entry's digest is made from: docs/rollwrite-state.md."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.rollwrite.state import State


def encode(state: State) -> bytes:
    """The bytes; their SHA-256 is the position's digest."""
    parts = [
        b"RNW\x01",
        _head(
            state.seats,
            state.phase,
            state.seat,
            state.start,
            state.round,
            state.turns,
            state.changed,
            *(state.first or (0, 0)),
            state.to_roll,
            state.player,
        ),
    ]
    for built, coins, circled, blue, yellow in zip(
        state.built, state.coins, state.circled, state.blue, state.yellow, strict=True
    ):
        parts.append(_seat(built, coins, circled, len(blue)))
        parts += (bytes(blue), bytes(yellow))
    parts.append(bytes([len(state.virtual)]))
    parts += map(bytes, state.virtual)
    parts.append(bytes([len(state.awards)]))
    for award in state.awards:
        parts.append(bytes([award.type, award.round, _bits(award.seats), _bits(award.virtual)]))
    return b"".join(parts)


def _bits(players: Iterable[int]) -> int:
    return sum(1 << player for player in players)


# Every entry has a digest, so the formats are read once.
_head = Struct(">5BH5B").pack
_seat = Struct(">Q3B").pack
