"""Players, options and checks for whole games of Roll & Write."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from referee.games.game import Decision
from referee.games.rollwrite import Options, State
from referee.games.rollwrite.moves import Build, BuildSecond, ChangeDice, EndBuilding, GetCoins, KeepPair
from referee.games.rollwrite.options import Solo
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.sheet import index_of
from referee.harness import Choose, by_kind, evenly
from tests.games.rollwrite_positions import SHEET
from tests.games.slow_rollwrite import TRACK

TABLES = [
    pytest.param(seats, options, id=f"{seats}{'' if options == Options() else f'-{n}'}")
    for n, (seats, options) in enumerate(
        [
            *((seats, Options()) for seats in range(1, 6)),
            (5, Options(start_seat=3)),
            (2, Options(start_seat=1)),
            (1, Options(virtual_players=2, solo=Solo.AGAINST)),
            (1, Options(virtual_players=3, solo=Solo.AGAINST)),
            (1, Options(virtual_players=3)),
            (1, Options(virtual_players=4, solo=Solo.AGAINST)),
        ]
    )
]
"""Seats and options."""


def canonical(state: State, move: Any) -> tuple[Any, ...]:
    """Return the place of a move in the canonical order."""
    match move:
        case ChangeDice(blue, yellow):
            return 0, price(state, move), blue, yellow
        case Build(blue, yellow):
            return 1, blue, yellow
        case GetCoins():
            return (2,)
        case KeepPair(blue, yellow):
            return blue, yellow
    return ([BuildSecond, EndBuilding].index(type(move)),)


def price(state: State, move: ChangeDice) -> int:
    """Coins for it: each die to the one that it becomes, by the cheaper of the two ways in each colour."""
    seat = state.seat
    return sum(
        min(abs(a - c) + abs(b - d), abs(a - d) + abs(b - c))
        for (a, b), (c, d) in ((state.blue[seat], move.blue), (state.yellow[seat], move.yellow))
    )


def builder(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Builds whenever it can, twice if it can, so that types are completed."""
    for kinds in ((BuildSecond,), (Build,)):
        wanted = [move for move in moves if isinstance(move, kinds)]
        if wanted and rng.random() < 0.95:
            return rng.choice(wanted)
    return by_kind(rng, state, moves)


def hoarder(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Builds first, then gets coins, so that the track comes to its end."""
    wanted = [move for move in moves if isinstance(move, GetCoins if state.round > 4 else Build)]
    return rng.choice(wanted) if wanted else by_kind(rng, state, moves)


def collector(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Builds what it has most of, and turns dice for it."""
    counts = state.counts(state.seat)
    built = state.built[state.seat]

    def best_build(blue: Sequence[int], yellow: Sequence[int]) -> int:
        cells = [(b, y) for b in blue for y in yellow if not built >> index_of(b, y) & 1]
        return max((10 * counts[SHEET.type_at(*cell)] for cell in cells), default=0)

    def worth(move: Any) -> int:
        match move:
            case Build(blue, yellow):
                return best_build([blue], [yellow])
            case ChangeDice(two_blue, two_yellow):
                return best_build(two_blue, two_yellow) - 12 * price(state, move)
            case BuildSecond():
                return 1
        return 0

    points = {move: worth(move) for move in moves}
    return rng.choice([move for move in moves if points[move] == max(points.values())])


CHOICES: dict[str, Choose] = {
    "evenly": evenly,
    "by kind": by_kind,
    "builder": builder,
    "hoarder": hoarder,
    "collector": collector,
}


def pairs(state: State) -> list[int]:
    """Pairs of dice on each sheet."""
    assert list(map(len, state.blue)) == list(map(len, state.yellow))
    return list(map(len, state.blue))


KINDS = {
    (Phase.ACTION, False): ("change_dice", "build", "get_coins"),
    (Phase.ACTION, True): ("build", "get_coins"),
    (Phase.KEEP, False): ("keep_pair",),
    (Phase.KEEP, True): ("keep_pair",),
    (Phase.SECOND, False): ("build_second", "end_building"),
    (Phase.SECOND, True): ("build_second", "end_building"),
}
"""Moves that are awaited, by the phase and whether dice were turned."""


def watch(state: State) -> None:
    """Check the invariants before every event of a legal game."""
    assert all(1 <= value <= 6 for dice in (*state.blue, *state.yellow) for value in dice)
    assert all(list(dice) == sorted(dice) for dice in (*state.blue, *state.yellow))
    if state.phase is Phase.ACTION and state.round < state.rounds:
        assert pairs(state) == [2 if seat == state.seat else 1 for seat in range(state.seats)]
    elif state.phase in (Phase.ACTION, Phase.SECOND, Phase.KEEP):
        assert pairs(state)[state.seat] == 2
    if state.phase is Phase.DICE:
        assert sum(pairs(state)) + state.to_roll <= state.seats + 1
    assert bool(state.to_roll) is (state.phase in (Phase.START_DICE, Phase.DICE))
    moves = list(state.legal_moves())
    assert moves == sorted(moves, key=lambda move: canonical(state, move)), "not in canonical order"
    match state.pending():
        case (Decision(seat, kinds),):
            assert seat == state.seat
            assert kinds == KINDS[state.phase, state.changed]
            assert {type(move).__name__.lower() for move in moves} <= {kind.replace("_", "") for kind in kinds}
    for seat in range(state.seats):
        assert 0 <= state.coins[seat] <= state.circled[seat] <= TRACK
        assert sum(state.counts(seat)) == state.built[seat].bit_count()
    for own in state.virtual:
        assert all(count <= boxes for count, boxes in zip(own, SHEET.boxes, strict=True))
    assert state.round <= state.rounds
    if state.phase is Phase.ACTION:
        assert state.turns == (state.round - 1) * state.seats + (state.seat - state.start) % state.seats
        rolled = state.round - 1
        assert [sum(own) for own in state.virtual] == [3 + rolled] * len(state.virtual)
        assert all(rolled + 3 >= own.bit_count() >= 0 or state.circled[seat] for seat, own in enumerate(state.built))
