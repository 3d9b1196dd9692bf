"""Positions of Roll & Write to draw: games of which every step is fixed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Over
from referee.games.rollwrite import Options, Sheet, State

GAME = registry.get("rollwrite")
_FIRST = ("BuildSecond", "Build", "KeepPair", "GetCoins")
"""The kinds of moves preferred, in order; of moves of one kind the last."""


class Fixed:
    """A stream that says the same for the same label."""

    def permutation(self, label: str, n: int) -> list[int]:
        raise NotImplementedError(label)

    def uniform(self, label: str, n: int) -> int:
        return int.from_bytes(sha256(label.encode()).digest()) % n


def events(seats: int, options: Options | None = None, sheet: Sheet | None = None) -> Iterator[tuple[State, Any]]:
    """Yield every event of a game, with the position before it; the last position with none."""
    state: State = GAME.new(seats, options, sheet)
    dealer = GAME.dealer(seats, options, sheet, Fixed())
    while not isinstance(awaited := state.pending()[0], Over):
        if isinstance(awaited, Chance):
            event = dealer.outcome(state)
        else:
            moves = {type(move).__name__: move for move in state.legal_moves()}
            event = next(moves[kind] for kind in _FIRST if kind in moves)
        yield state.copy(), event
        state.apply(event)
    yield state, None


def position(seats: int, after: int, options: Options | None = None, sheet: Sheet | None = None) -> State:
    """Return the position after ``after`` events; -1 is the last."""
    states = [state for state, _ in events(seats, options, sheet)]
    return states[after]
