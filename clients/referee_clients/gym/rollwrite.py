"""Alhambra Roll & Write for an environment."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Final

import numpy as np

from referee.games.rollwrite import Options, State
from referee.games.rollwrite.moves import Build, BuildSecond, ChangeDice, EndBuilding, GetCoins, KeepPair, Move
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.sheet import CELLS, FACES, TYPES, dice_of, index_of
from referee_clients.gym.coding import Facts, Mask, Planes, bits_of, facts_of, one_hot, seats_from

_PAIRS: Final = tuple(combinations_with_replacement(range(1, FACES + 1), 2))
_PAIR: Final = {pair: number for number, pair in enumerate(_PAIRS)}
_BUILD: Final = 0
_KEEP: Final = _BUILD + CELLS
_COINS: Final = _KEEP + CELLS
_SECOND: Final = _COINS + 1
_END: Final = _SECOND + 1
_CHANGE: Final = _END + 1


class Fixed:
    """A numbering with one number for a move in every position.

    0 to 35: build with blue b and yellow y, 6(b - 1) + y - 1. 36 to 71: keep that pair. 72: coins. 73: a second
    building. 74: none. From 75 on: change the dice; the 21 pairs of values, ascending, for blue times 21, then for
    yellow.
    """

    size = _CHANGE + len(_PAIRS) ** 2

    def mask(self, state: State, moves: Sequence[Move]) -> Mask:
        """Return 1 for each legal action."""
        mask = np.zeros(self.size, np.int8)
        mask[[self.action(state, moves, move) for move in moves]] = 1
        return mask

    def move(self, state: State, moves: Sequence[Move], action: int) -> Move:  # noqa: ARG002
        """Return the move of this number."""
        if action < _KEEP:
            return Build(*dice_of(action))
        if action < _COINS:
            return KeepPair(*dice_of(action - _KEEP))
        if action == _COINS:
            return GetCoins()
        if action < _CHANGE:
            return BuildSecond() if action == _SECOND else EndBuilding()
        blue, yellow = divmod(action - _CHANGE, len(_PAIRS))
        return ChangeDice(_PAIRS[blue], _PAIRS[yellow])

    def action(self, state: State, moves: Sequence[Move], move: Move) -> int:  # noqa: ARG002
        """Return its number."""
        match move:
            case Build(blue, yellow):
                return _BUILD + index_of(blue, yellow)
            case KeepPair(blue, yellow):
                return _KEEP + index_of(blue, yellow)
            case GetCoins():
                return _COINS
            case BuildSecond():
                return _SECOND
            case EndBuilding():
                return _END
            case ChangeDice((blue, other_blue), (yellow, other_yellow)):
                return _CHANGE + len(_PAIRS) * _PAIR[blue, other_blue] + _PAIR[yellow, other_yellow]
        raise ValueError(f"{move!r} is no move")


class View:
    """Sheets as planes of 6 by 6, blue down and yellow across; all else as facts."""

    shape = (FACES, FACES)

    def __init__(self, seats: int, options: Options) -> None:
        types = [f"cells of type {name}" for name in TYPES]
        self.planes = [*types, *(f"built by seat +{seat}" for seat in range(seats))]
        self.facts = [
            ("phase", len(Phase)),
            ("points if the game ended now", seats),
            ("coins", seats),
            ("coins circled", seats),
            ("blue dice, 0: none", 2 * seats),
            ("yellow dice, 0: none", 2 * seats),
            ("dice of the first building, 0: none", 2),
            ("dice were changed", 1),
            ("round, and rounds", 2),
            ("start seat, from the observer on", 1),
            ("buildings of virtual players by type", (options.virtual_players or 0) * len(TYPES)),
        ]

    def observe(self, state: State, seat: int) -> tuple[Planes, Facts]:
        """Return what the seat sees."""
        seats = seats_from(seat, state.seats)
        planes = np.zeros((len(self.planes), CELLS), np.uint8)
        planes[list(state.sheet.grid), range(CELLS)] = 1
        for place, number in enumerate(seats):
            planes[len(TYPES) + place] = bits_of(state.built[number], CELLS)
        scores = state.scores
        found = [
            one_hot(state.phase, len(Phase)),
            [scores[number] for number in seats],
            [state.coins[number] for number in seats],
            [state.circled[number] for number in seats],
            [die for number in seats for die in _two(state.blue[number])],
            [die for number in seats for die in _two(state.yellow[number])],
            state.first or (0, 0),
            [state.changed],
            [state.round, state.rounds],
            [(state.start - seat) % state.seats],
            [count for counts in state.virtual for count in counts],
        ]
        return planes.reshape(-1, *self.shape), facts_of(self.facts, found)


def _two(dice: tuple[int, ...]) -> tuple[int, ...]:
    return (*dice, 0, 0)[:2]
