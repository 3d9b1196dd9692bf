"""The position's encoding is what docs/alhambra-state.md says: read here by a reader written from that page."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest

from referee.games import registry
from referee.games.alhambra.state import State
from referee.games.game import Chance, ForcedPass, Over
from referee.harness import Shuffler


@dataclass
class Reader:
    """Takes fields off the front."""

    data: bytes
    at: int = 0

    def take(self, layout: str) -> Any:
        values = struct.unpack_from(">" + layout, self.data, self.at)
        self.at += struct.calcsize(">" + layout)
        return values[0] if len(values) == 1 else values

    def cards(self) -> dict[int, int]:
        return {kind: count for kind, count in enumerate(self.take("36B")) if count}

    def tiles(self) -> set[int]:
        bits = self.take("Q")
        return {tile for tile in range(64) if bits >> tile & 1}


@dataclass
class Seat:
    hand: dict[int, int]
    score: int
    reserve: set[int]
    won: set[int]
    cells: dict[tuple[int, int], int] = field(default_factory=dict)


def read(data: bytes) -> dict[str, Any]:
    reader = Reader(data)
    assert reader.take("4s") == b"ALH\x01"
    names = ["seats", "phase", "seat", "start", "scorings", "to_score", "turns", "stack", "turned", "a_at", "b_at"]
    found: dict[str, Any] = dict(zip(names, reader.take("6B3H2h"), strict=True))
    found["market"] = list(reader.take("4B"))
    found |= {name: reader.cards() for name in ("row", "deck", "discards")}
    found |= {name: reader.tiles() for name in ("bag", "bought", "neutral")}
    found["each"] = []
    for _ in range(found["seats"]):
        seat = Seat(reader.cards(), reader.take("H"), reader.tiles(), reader.tiles())
        for _ in range(reader.take("B")):
            x, y, tile = reader.take("bbB")
            seat.cells[x, y] = tile
        assert list(seat.cells) == sorted(seat.cells)
        found["each"].append(seat)
    assert reader.at == len(data), "bytes left over"
    return found


def counts(cards: Any) -> dict[int, int]:
    return {kind: count for kind, count in enumerate(cards) if count}


def tiles(bits: int) -> set[int]:
    return {tile for tile in range(64) if bits >> tile & 1}


def expected(state: State) -> dict[str, Any]:
    return {
        "seats": state.seats,
        "phase": int(state.phase),
        "seat": state.seat,
        "start": state.start,
        "scorings": state.scorings,
        "to_score": sum({1: 2, 2: 4}[round_] for round_ in state.to_score),
        "turns": state.turns,
        "stack": state.stack,
        "turned": state.turned,
        "a_at": state.a_at,
        "b_at": state.b_at,
        "market": state.market,
        "row": {kind: state.row.count(kind) for kind in state.row},
        "deck": counts(state.deck),
        "discards": counts(state.discard),
        "bag": tiles(state.bag),
        "bought": tiles(state.bought),
        "neutral": tiles(state.neutral),
        "each": [
            Seat(
                counts(state.hands[seat]),
                state.scores[seat],
                tiles(state.reserves[seat]),
                tiles(state.won[seat]),
                state.layouts[seat].cells(),
            )
            for seat in range(state.seats)
        ],
    }


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_every_position_of_a_game(seats: int) -> None:
    rng = random.Random(seats)
    game = registry.get("alhambra", 1)
    state = game.new(seats)
    dealer = game.dealer(seats, None, None, Shuffler(rng))
    phases = set()
    while True:
        assert read(state.encode()) == expected(state)
        assert state.digest() == sha256(state.encode()).digest()
        phases.add(state.phase)
        match state.pending()[0]:
            case Over():
                break
            case Chance():
                state.apply(dealer.outcome(state))
            case _:
                moves = list(state.legal_moves())
                state.apply(rng.choice(moves) if moves else ForcedPass(state.seat))
    assert len(phases) >= 8


def test_the_opening_position_is_pinned() -> None:
    """A change here changes every digest that was ever logged: it needs a new rules version."""
    assert registry.get("alhambra", 1).new(3).digest().hex() == OPENING


OPENING = "37dcdcf5e43da568b92399f128d0300a07b44cd00d25fccf1e89e28b43ef132b"
