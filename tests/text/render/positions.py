"""Positions to draw: games of which every step is fixed."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from referee.games.alhambra import GAME, State
from referee.games.alhambra.moves import Event
from referee.games.game import Chance, Forced, ForcedPass, Over


class InOrder:
    """A stream that shuffles everything in the same simple way."""

    def permutation(self, label: str, n: int) -> list[int]:
        step = next(step for step in range(17, n + 18) if gcd(step, n) == 1)
        return [i * step % n for i in range(n)]

    def uniform(self, label: str, n: int) -> int:
        return n // 2


def events(seats: int) -> Iterator[tuple[State, Event]]:
    """Every event of a game, with the position before it: purchases and placements first, the last that is legal."""
    state = GAME.new(seats)
    dealer = GAME.dealer(seats, None, None, InOrder())
    while not isinstance(awaited := state.pending()[0], Over):
        event: Event
        if isinstance(awaited, Chance):
            event = dealer.outcome(state)
        elif isinstance(awaited, Forced):
            event = ForcedPass(awaited.seat)
        else:
            moves = list(state.legal_moves())
            event = max(moves, key=lambda move: type(move).__name__ in {"Buy", "PlaceTile"})
        yield state.copy(), event
        state.apply(event)
    yield state, ForcedPass(0)


def position(seats: int, after: int) -> State:
    """Return the position after ``after`` events."""
    for number, (state, _) in enumerate(events(seats)):
        if number == after:
            return state
    raise IndexError(after)
