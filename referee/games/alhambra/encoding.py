"""The canonical encoding of a position, which every entry's digest is made from: docs/alhambra-state.md."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from referee.games.alhambra.money import KINDS

if TYPE_CHECKING:
    from referee.games.alhambra.state import State


def encode(state: State) -> bytes:
    """The bytes; their SHA-256 is the position's digest."""
    row = bytearray(KINDS)
    for kind in state.row:
        row[kind] += 1
    parts: list[bytes | bytearray] = [
        b"ALH\x01",
        pack(
            ">6B3Hhh",
            state.seats,
            state.phase,
            state.seat,
            state.start,
            state.scorings,
            sum(1 << round_ for round_ in state.to_score),
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
        pack(">3Q", state.bag, state.bought, state.neutral),
    ]
    for seat in range(state.seats):
        parts.append(state.hands[seat])
        parts.append(pack(">HQQ", state.scores[seat], state.reserves[seat], state.won[seat]))
        parts.append(state.layouts[seat].encode())
    return b"".join(parts)
