"""Kingdoms and positions to draw: games of which every step is fixed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from referee.games.game import Chance, Over
from referee.games.kingdomino import GAME, Options, State
from referee.games.kingdomino.moves import ChooseDomino, PlaceCastle, PlaceDomino
from referee.games.kingdomino.options import Central, Frame
from tests.text.render.positions import InOrder

GAMES = {
    "fixed": (3, Options(central=Central.FRAME, harmony=True)),
    "relative": (2, Options(frame=Frame.RELATIVE, wider_offer=True)),
    "duel": (2, Options(frame=Frame.RELATIVE, mighty_duel=True)),
}


def greedy(state: State, move: Any) -> tuple[int, ...]:
    """Most points now, then the largest area; of dominoes most crowns; the castle near the middle."""
    match move:
        case PlaceDomino(_, left, right):
            placed = state.kingdoms[state.seat].placed(state.due(), left, right)
            return placed.score(), placed.largest_area()
        case ChooseDomino(number):
            _, left, right = state.domino_set.dominoes[number - 1]
            return (left.crowns + right.crowns,)
        case PlaceCastle(column, row):
            return (-abs(column - 2) - abs(row - 2 - state.seat % 2),)
    return ()


def events(game: str) -> Iterator[tuple[State, Any]]:
    """Yield every event of a greedy game, with the position before it; at the end the last position and None."""
    seats, options = GAMES[game]
    state = GAME.new(seats, options)
    dealer = GAME.dealer(seats, options, None, InOrder())
    while not isinstance(awaited := state.pending()[0], Over):
        event: Any
        if isinstance(awaited, Chance):
            event = dealer.outcome(state)
        else:
            event = max(state.legal_moves(), key=lambda move: greedy(state, move))
        yield state.copy(), event
        state.apply(event)
    yield state, None


def position(game: str, after: int = 10_000) -> State:
    """Return the position after ``after`` events, or after all."""
    state = None
    for number, (state, _) in enumerate(events(game)):  # noqa: B007 - the last one is meant
        if number == after:
            break
    assert state is not None
    return state
