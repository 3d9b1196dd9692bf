"""Kingdoms and positions of Kingdomino made to measure, or at random."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from referee.games.game import Cell, Chance, Over
from referee.games.kingdomino import GAME, DominoTable, Options, State, domino_table
from referee.games.kingdomino.dominoes import Domino
from referee.games.kingdomino.kingdom import Kingdom, Placed
from referee.games.kingdomino.moves import ChooseDomino, FirstOrder, Line, PlaceCastle
from referee.games.kingdomino.options import Frame
from referee.games.kingdomino.phases import Phase
from tests.games.slow_kingdomino import SlowKingdom
from tests.harness import Shuffler

TABLE = domino_table()
MIDDLE: Cell = (2, 2)
RELATIVE = Options(frame=Frame.RELATIVE)


def domino(number: int, table: DominoTable = TABLE) -> Domino:
    return table.dominoes[number - 1]


def names(piece: Domino) -> tuple[str, str]:
    """The halves in the slow checker's words."""
    return str(piece.left), str(piece.right)


def kingdom(
    placed: Iterable[Placed] = (), size: int = 5, castle: Cell | None = MIDDLE, table: DominoTable = TABLE
) -> Kingdom:
    """As laid; nobody asks whether it could have been."""
    made = Kingdom(size, castle)
    for number, left, right in placed:
        made = made.placed(domino(number, table), left, right)
    return made


def slow(made: Kingdom, table: DominoTable = TABLE) -> SlowKingdom:
    """The same kingdom for the slow checker."""
    copied = SlowKingdom(made.frame_size, made.castle)
    for number, left, right in made.dominoes:
        copied.lay(names(domino(number, table)), left, right)
    return copied


def random_kingdom(rng: random.Random, dominoes: int, size: int, castle: Cell | None) -> Kingdom:
    """As many of some dominoes as fit, each placed at random."""
    made = Kingdom(size, castle)
    for number in rng.sample(range(1, 49), dominoes):
        places = made.placements(domino(number))
        if places:
            ax, ay, bx, by = rng.choice(places)
            made = made.placed(domino(number), (ax, ay), (bx, by))
    return made


def opening(seats: int = 4, options: Options | None = None, castle: Cell = MIDDLE) -> State:
    """After the castles, with the first order that begins with seat 0, before the first line."""
    state = GAME.new(seats, options)
    while state.phase is Phase.CASTLE:
        state.apply(PlaceCastle(*castle))
    if state.phase is Phase.FIRST_ORDER:
        state.apply(FirstOrder(tuple(range(seats)) * (2 if seats == 2 else 1)))
    return state


def drafted(state: State, *lines: Sequence[int]) -> State:
    """These lines drawn; from each the kings choose in the order of the numbers, and what was due is placed first."""
    for line in lines:
        state.apply(Line(tuple(line)))
        while state.phase in (Phase.PLACE, Phase.CHOOSE):
            if state.phase is Phase.CHOOSE:
                state.apply(ChooseDomino(next(number for number in state.offer if number not in state.claims)))
            else:
                state.apply(next(state.legal_moves()))
            if not state.offer:
                break
    return state


def placing(number: int, placed: Iterable[Placed] = (), options: Options | None = None, castle: Cell = MIDDLE) -> State:
    """Four seats: seat 0 has this kingdom and has to place this domino, the last of its round."""
    state = opening(4, options, castle)
    state.phase, state.lines, state.kings = Phase.PLACE, 2, [(number, 0)]
    state.kingdoms[0] = kingdom(placed, state.options.size(), state.kingdoms[0].castle)
    used = {number, *(each for each, _, _ in state.kingdoms[0].dominoes)}
    state.offer = [each.number for each in TABLE.dominoes if each.number not in used][:4]
    state.claims = dict(zip(state.offer[:3], (1, 2, 3), strict=True))
    state.unseen &= ~sum(1 << each for each in {*used, *state.offer})
    return state


def last_round(
    seats: int = 4,
    options: Options | None = None,
    kingdoms: Mapping[int, Kingdom] | None = None,
    discarded: Mapping[int, Sequence[int]] | None = None,
) -> State:
    """All lines are drawn and seat 0 has the last domino to place: number 1, wheat on both halves."""
    state = opening(seats, options)
    state.lines = state.lines_in_all
    state.phase, state.seat, state.kings = Phase.PLACE, 0, [(1, 0)]
    for seat, made in (kingdoms or {}).items():
        state.kingdoms[seat] = made
    for seat, numbers in (discarded or {}).items():
        state.discarded[seat] = list(numbers)
    return state


def random_states(
    rng: random.Random, seats: int, options: Options | None = None, castle: Cell | None = None
) -> Iterable[State]:
    """Every position of a random game; each is a copy. ``castle``: where all castles are placed, if not at random."""
    state = GAME.new(seats, options)
    dealer = GAME.dealer(seats, options, None, Shuffler(rng))
    while True:
        yield state.copy()
        awaited = state.pending()[0]
        event: Any
        if isinstance(awaited, Over):
            return
        if isinstance(awaited, Chance):
            event = dealer.outcome(state)
        elif state.phase is Phase.CASTLE and castle is not None:
            event = PlaceCastle(*castle)
        else:
            event = rng.choice(list(state.legal_moves()))
        state.apply(event)
