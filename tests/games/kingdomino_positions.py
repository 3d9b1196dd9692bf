"""Kingdoms and positions of Kingdomino made to measure, or at random."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from referee.games.game import Cell, Chance, Decision, Over
from referee.games.kingdomino import GAME, DominoSet, Options, State, domino_set
from referee.games.kingdomino.dominoes import DOMINOES, Domino, parse_half
from referee.games.kingdomino.kingdom import Kingdom, Placed
from referee.games.kingdomino.moves import ChooseDomino, FirstOrder, Line, PlaceCastle
from referee.games.kingdomino.options import Frame
from referee.games.kingdomino.position import Phase
from referee.harness import Shuffler
from tests.games.slow_kingdomino import SlowKingdom

DOMINO_SET = domino_set()
MIDDLE: Cell = (2, 2)
RELATIVE = Options(frame=Frame.RELATIVE)


def domino(number: int, domino_set: DominoSet = DOMINO_SET) -> Domino:
    return domino_set.dominoes[number - 1]


def names(piece: Domino) -> tuple[str, str]:
    """Return the halves in the slow checker's words."""
    return str(piece.left), str(piece.right)


def kingdom(
    placed: Iterable[Placed] = (), size: int = 5, castle: Cell | None = MIDDLE, domino_set: DominoSet = DOMINO_SET
) -> Kingdom:
    """Return a kingdom with these dominoes, without a check that it is legal."""
    made = Kingdom(size, castle)
    for number, left, right in placed:
        made = made.placed(domino(number, domino_set), left, right)
    return made


def slow(made: Kingdom, domino_set: DominoSet = DOMINO_SET) -> SlowKingdom:
    """Return the kingdom for the slow checker."""
    copied = SlowKingdom(made.frame_size, made.castle)
    for number, left, right in made.dominoes:
        copied.lay(names(domino(number, domino_set)), left, right)
    return copied


def random_kingdom(rng: random.Random, dominoes: int, size: int, castle: Cell | None) -> Kingdom:
    """Return a kingdom with as many of some dominoes as fit, each placed at random."""
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
    state.offer = [each.number for each in DOMINO_SET.dominoes if each.number not in used][:4]
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


def declared(*pieces: str) -> DominoSet:
    """A set whose first dominoes are these; the others are the default's."""
    halves = [tuple(map(parse_half, piece.split())) for piece in pieces]
    first = [Domino(number, left, right) for number, (left, right) in enumerate(halves, start=1)]
    return DominoSet([*first, *DOMINOES[len(first) :]])


def before_the_order(seats: int) -> State:
    """A relative frame, so nothing comes before it."""
    return GAME.new(seats, RELATIVE)


def choosing() -> State:
    """Seat 2 has to choose from 10 20 30 40; kings of seats 0 and 1 stand on 10 and 30."""
    state = opening(4)
    for event in (Line((10, 20, 30, 40)), ChooseDomino(10), ChooseDomino(30)):
        state.apply(event)
    return state


def second_round() -> State:
    """Seat 0 is on turn with domino 10, seat 1 has 20, 2 has 30, 3 has 40; the new line is 1 2 3 4."""
    state = drafted(opening(4), (10, 20, 30, 40))
    state.apply(Line((1, 2, 3, 4)))
    return state


SHUT_IN: Sequence[Placed] = [(46, (1, 0), (2, 0)), (3, (0, 1), (0, 2))]
"""Swamp, mine and forest around a castle in the corner."""


def full_board() -> State:
    """Domino 2, wheat on both halves, fits nowhere."""
    return placing(2, SHUT_IN, castle=(0, 0))


def awaited(state: State) -> tuple[int, str]:
    """Seat and kind of the one decision that is awaited."""
    (pending,) = state.pending()
    assert isinstance(pending, Decision), pending
    (kind,) = pending.kinds
    return pending.seat, kind


def over(state: State) -> Over:
    (pending,) = state.pending()
    assert isinstance(pending, Over), pending
    return pending


def next_line(state: State) -> State:
    """Return the line of the lowest numbers that did not come yet."""
    assert state.pending() == (Chance("line"),)
    event, _ = next(state.chance_outcomes())
    state.apply(event)
    return state


def played(state: State) -> list[tuple[int, str, int]]:
    """Play on to the end with the first legal move always: seat, kind and domino of every move."""
    moves: list[tuple[int, str, int]] = []
    while not isinstance(state.pending()[0], Over):
        assert len(moves) < 1_000, "the game does not end"
        if isinstance(state.pending()[0], Chance):
            next_line(state)
            continue
        seat, kind = awaited(state)
        listed: list[Any] = list(state.legal_moves())
        assert listed, "nothing can be done"
        moves.append((seat, kind, listed[0].domino))
        state.apply(listed[0])
    return moves
