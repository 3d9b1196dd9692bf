"""The canonical encoding of a position, which every entry's digest is made from: docs/alhambra-state.md."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from referee.games.alhambra.money import KINDS

if TYPE_CHECKING:
    from referee.games.alhambra.state import State


def encode(state: State) -> bytes:
    """The bytes; their SHA-256 is the position's digest."""
    row = bytearray(KINDS)
    for kind in state.row:
        row[kind] += 1
    to_score = 0
    for round_ in state.to_score:
        to_score |= 1 << round_
    parts: list[bytes | bytearray] = [
        b"ALH\x01",
        _head(
            state.seats,
            state.phase,
            state.seat,
            state.start,
            state.scorings,
            to_score,
            state.turns,
            state.stack,
            state.turned,
            state.a_at,
            state.b_at,
        ),
        bytes(state.market),
        row,
        state.deck,
        state.discard,
        _tiles(state.bag, state.bought, state.neutral),
    ]
    for hand, score, reserve, won, layout in zip(
        state.hands, state.scores, state.reserves, state.won, state.layouts, strict=True
    ):
        parts += (hand, _seat(score, reserve, won), layout.encode())
    return b"".join(parts)


# Every entry has a digest, so the formats are read once.
_head = Struct(">6B3Hhh").pack
_tiles = Struct(">3Q").pack
_seat = Struct(">HQQ").pack
