"""The position's encoding is what docs/kingdomino-state.md says: read here by a reader written from that page."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest

from referee.games import registry
from referee.games.game import Chance
from referee.games.kingdomino import Options, State
from referee.games.kingdomino.moves import PlaceDomino
from referee.games.kingdomino.options import Draw, Frame
from tests.games.kingdomino_positions import placing, random_states


@dataclass
class Reader:
    """Takes fields off the front."""

    data: bytes
    at: int = 0

    def take(self, layout: str) -> Any:
        values = struct.unpack_from(">" + layout, self.data, self.at)
        self.at += struct.calcsize(">" + layout)
        return values[0] if len(values) == 1 else values

    def numbers(self) -> list[int]:
        return [self.take("B") for _ in range(self.take("B"))]

    def pairs(self) -> list[tuple[int, int]]:
        numbers = self.numbers()
        return list(zip(numbers[::2], numbers[1::2], strict=True))


@dataclass
class Seat:
    castle: tuple[int, int]
    dominoes: list[tuple[int, ...]] = field(default_factory=list)
    discarded: list[int] = field(default_factory=list)


def read(data: bytes) -> dict[str, Any]:
    reader = Reader(data)
    assert reader.take("4s") == bytes.fromhex("4B 44 4F 01")
    names = ["seats", "phase", "seat", "size", "lines", "turns", "lines in all", "unseen"]
    found: dict[str, Any] = dict(zip(names, reader.take("5BHBQ"), strict=True))
    found["order"] = reader.numbers()
    found["kings"] = reader.pairs()
    found["offer"] = reader.pairs()
    found["removed"] = reader.numbers()
    found["each"] = []
    for _ in range(found["seats"]):
        seat = Seat(reader.take("2B"))
        seat.dominoes = [reader.take("B4b") for _ in range(reader.take("B"))]
        seat.discarded = reader.numbers()
        assert [number for number, *_ in seat.dominoes] == sorted({number for number, *_ in seat.dominoes})
        found["each"].append(seat)
    assert reader.at == len(data), "bytes left over"
    return found


def expected(state: State) -> dict[str, Any]:
    return {
        "seats": state.seats,
        "phase": int(state.phase),
        "seat": state.seat,
        "size": 7 if state.options.mighty_duel else 5,
        "lines": state.lines,
        "turns": state.turns,
        "lines in all": state.lines_in_all,
        "unseen": state.unseen,
        "order": list(state.order),
        "kings": state.kings,
        "offer": [(number, state.claims.get(number, 255)) for number in state.offer],
        "removed": state.removed,
        "each": [
            Seat(
                made.castle or (255, 255),
                sorted((number, *left, *right) for number, left, right in made.dominoes),
                discarded,
            )
            for made, discarded in zip(state.kingdoms, state.discarded, strict=True)
        ],
    }


@pytest.mark.parametrize(
    ("seats", "options"),
    [
        (2, Options(mighty_duel=True)),
        (2, Options(wider_offer=True, frame=Frame.RELATIVE, declared_order=(1, 1, 0, 0))),
        (3, Options(wider_offer=True, first_order=Draw.KINGS)),
        (4, Options()),
    ],
)
def test_every_position_of_a_game(seats: int, options: Options) -> None:
    phases, unseen = set(), (1 << 49) - 2
    for state in random_states(random.Random(seats), seats, options):
        assert read(state.encode()) == expected(state)
        assert state.digest() == sha256(state.encode()).digest()
        phases.add(state.phase)
        if state.lines == 0:
            assert read(state.encode())["unseen"] == unseen, "bit n for domino n"
    assert len(phases) == 6 - (options.frame is Frame.RELATIVE) - bool(options.declared_order)


def test_seat_is_who_comes_after_the_line() -> None:
    """The page defines it so for the phases without a seat on turn."""
    before = None
    for state in random_states(random.Random(9), 4):
        if before is not None and before.pending() == (Chance("line"),):
            assert state.seat == before.seat
        if state.pending() == (Chance("first_order"),):
            assert state.seat == 0
        before = state


def test_the_order_of_placing_and_the_naming_of_equal_halves_are_no_part_of_it() -> None:
    ways = [[(1, (0, 1), (0, 2)), (48, (1, 0), (2, 0))], [(48, (1, 0), (2, 0)), (1, (0, 2), (0, 1))]]
    one, other = (placing(13, placed) for placed in ways)
    assert one.encode() == other.encode()
    one.apply(PlaceDomino(13, (0, -1), (0, -2)))
    other.apply(PlaceDomino(13, (0, -2), (0, -1)))
    assert one.encode() != other.encode()


def test_the_opening_position_is_pinned() -> None:
    """A change here changes every digest that was ever logged: it needs a new rules version."""
    assert registry.get("kingdomino", 1).new(3).digest().hex() == OPENING


OPENING = "3d656f9925f3707f335bbe5702b483a60cf2e9005be547179341d53d2e95020e"
