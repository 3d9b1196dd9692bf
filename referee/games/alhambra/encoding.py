"""The canonical encoding of a position, which every entry's digest is made from: docs/alhambra-state.md."""

from __future__ import annotations

from struct import Struct

from referee.games.alhambra.money import KINDS
from referee.games.alhambra.phases import SLOTS
from referee.games.alhambra.position import Position


def encode(position: Position) -> bytes:
    """Return the bytes; their SHA-256 is the position's digest."""
    row = bytearray(KINDS)
    for kind in position.row:
        row[kind] += 1
    to_score = 0
    for round_ in position.to_score:
        to_score |= 1 << round_
    parts = [
        _table(
            b"ALH\x01",
            position.seats,
            position.phase,
            position.seat,
            position.start,
            position.scorings,
            to_score,
            position.turns,
            position.stack,
            position.turned,
            position.a_at,
            position.b_at,
            bytes(position.market),
            row,
            position.deck,
            position.discard,
            position.bag,
            position.bought,
            position.neutral,
        )
    ]
    hands, scores, reserves, won = position.hands, position.scores, position.reserves, position.won
    for seat, layout in enumerate(position.layouts):
        parts += (_seat(hands[seat], scores[seat], reserves[seat], won[seat]), layout.encode())
    return b"".join(parts)


# Every entry has a digest, so the formats are read once.
_table = Struct(f">4s6B3Hhh{SLOTS}s{KINDS}s{KINDS}s{KINDS}s3Q").pack
_seat = Struct(f">{KINDS}sHQQ").pack
