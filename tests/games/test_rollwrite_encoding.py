"""The position's encoding is what docs/rollwrite-state.md says: read here by a reader written from that page."""

from __future__ import annotations

import random
import struct
from hashlib import sha256
from typing import Any

import pytest

from referee.games import registry
from referee.games.game import Chance, Over
from referee.games.rollwrite import Options, State
from referee.games.rollwrite.options import Solo
from referee.harness import Shuffler
from tests.games.rollwrite_game import CHOICES


class Reader:
    """Takes fields off the front."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(">" + layout, self.data, self.at)
        self.at += struct.calcsize(">" + layout)
        return values

    def byte(self) -> int:
        (value,) = self.take("B")
        assert isinstance(value, int)
        return value


HEAD = ("seats", "phase", "seat", "start", "round", "turns", "changed", "blue", "yellow", "to_roll", "player")


def read(data: bytes) -> dict[str, Any]:
    reader = Reader(data)
    assert reader.take("4s") == (b"RNW\x01",)
    found: dict[str, Any] = dict(zip(HEAD, reader.take("5BH5B"), strict=True))
    found["each"] = []
    for _ in range(found["seats"]):
        built, coins, circled, pairs = reader.take("Q3B")
        cells = [(n // 6 + 1, n % 6 + 1) for n in range(64) if built >> n & 1]
        found["each"].append((cells, coins, circled, reader.take(f"{pairs}B"), reader.take(f"{pairs}B")))
    found["virtual"] = [list(reader.take("6B")) for _ in range(reader.byte())]
    found["awards"] = []
    for _ in range(reader.byte()):
        type_, round_, seats, virtual = reader.take("4B")
        found["awards"].append((type_, round_, players(seats), players(virtual)))
    assert reader.at == len(data), "bytes left over"
    return found


def players(bits: int) -> tuple[int, ...]:
    return tuple(n for n in range(8) if bits >> n & 1)


def expected(state: State) -> dict[str, Any]:
    first = state.first or (0, 0)
    return {
        "seats": state.seats,
        "phase": int(state.phase),
        "seat": state.seat,
        "start": state.start,
        "round": state.round,
        "turns": state.turns,
        "changed": int(state.changed),
        "blue": first[0],
        "yellow": first[1],
        "to_roll": state.to_roll,
        "player": state.player,
        "each": [
            (
                [(b, y) for b in range(1, 7) for y in range(1, 7) if state.built[seat] >> (6 * (b - 1) + y - 1) & 1],
                state.coins[seat],
                state.circled[seat],
                state.blue[seat],
                state.yellow[seat],
            )
            for seat in range(state.seats)
        ],
        "virtual": state.virtual,
        "awards": [(award.type, award.round, award.seats, award.virtual) for award in state.awards],
    }


@pytest.mark.parametrize(
    ("seats", "options"),
    [(1, Options()), (1, Options(virtual_players=4, solo=Solo.AGAINST)), (2, Options()), (5, Options(start_seat=4))],
)
def test_every_position_of_a_game(seats: int, options: Options) -> None:
    rng = random.Random(seats)
    game = registry.get("rollwrite", 1)
    phases, awards = set(), 0
    for _ in range(4):
        state = game.new(seats, options)
        dealer = game.dealer(seats, options, None, Shuffler(rng))
        while True:
            assert read(state.encode()) == expected(state)
            assert state.digest() == sha256(state.encode()).digest()
            phases.add(state.phase)
            awaited = state.pending()[0]
            if isinstance(awaited, Over):
                break
            if isinstance(awaited, Chance):
                state.apply(dealer.outcome(state))
            else:
                state.apply(CHOICES["builder"](rng, state, list(state.legal_moves())))
        awards += len(state.awards)
    assert len(phases) >= 7
    assert awards or options.solo is not Solo.AGAINST


def test_the_opening_position_is_pinned() -> None:
    """A change here changes every digest that was ever logged: it needs a new rules version."""
    assert registry.get("rollwrite", 1).new(3).encode().hex() == OPENING


OPENING = "524e5701" + "0300000000" + "0000" + "0000000000" + ("0000000000000000" + "030300") * 3 + "00" + "00"
