"""What a sampler has to know of Roll & Write: promising moves, quick answers, and what a position is worth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from referee.games.rollwrite import State
from referee.games.rollwrite.dice import Two, other
from referee.games.rollwrite.moves import Build, BuildSecond, ChangeDice, EndBuilding, GetCoins, KeepPair, Move
from referee.games.rollwrite.phases import Phase
from referee.games.rollwrite.sheet import CELLS, SECOND_COST, TYPES, dice_of, index_of
from referee_clients.bots.rollwrite.outlook import Outlook
from referee_clients.bots.rollwrite.planner import WEIGHTS, Turn, coin_worth
from referee_clients.bots.sampler import over_others

TURNS = 5
"""Turns that are thought ahead, the one that is begun among them."""


class Thinking:
    """Gains of buildings, to the seat and from its rivals, are computed once and hold for all that is thought."""

    most = 8
    futures = 240
    prior = 4.0

    def __init__(self, state: State) -> None:
        self._state = state
        self._gains = [_gains(state, seat) for seat in range(state.seats)]
        self._best_first = [sorted(range(CELLS), key=lambda cell: -gains[cell]) for gains in self._gains]

    def candidates(self, legal_moves: Sequence[Move]) -> list[tuple[float, Move]]:
        """Return every move with what the planner finds in it."""
        turn = Turn(self._state, WEIGHTS, self._gains[self._state.seat])
        return [(turn.worth(move), move) for move in legal_moves]

    def reply(self, state: State) -> Move:
        """Return the action that gains most, dice turned for it if that pays."""
        seat = state.seat
        gains, built = self._gains[seat], state.built[seat]
        blue, yellow = state.blue[seat], state.yellow[seat]
        if state.phase is Phase.KEEP:
            pairs = [(b, y) for b in blue for y in yellow]
            return KeepPair(*max(pairs, key=lambda pair: _gain(gains, built, index_of(*pair))))
        if state.phase is Phase.SECOND:
            first_blue, first_yellow = state.first or (0, 0)
            cell = index_of(other(blue, first_blue), other(yellow, first_yellow))
            return BuildSecond() if gains[cell] > SECOND_COST * coin_worth(state) else EndBuilding()
        return self._action(state)

    def _action(self, state: State) -> Move:
        seat = state.seat
        gains, built = self._gains[seat], state.built[seat]
        blue, yellow = state.blue[seat], state.yellow[seat]
        coin = coin_worth(state)
        to_spend = 0 if state.changed else state.coins[seat]
        hits = sum(built >> index_of(b, y) & 1 for b in blue for y in yellow)
        most = coin * min(hits, state.sheet.coin_track - state.circled[seat])
        costs = _costs(blue, yellow)
        best = None
        for cell in self._best_first[seat]:
            if gains[cell] <= most:
                break
            if not built >> cell & 1 and costs[cell] <= to_spend and gains[cell] - costs[cell] * coin > most:
                best, most = cell, gains[cell] - costs[cell] * coin
        if best is None:
            return GetCoins()
        to_blue, to_yellow = dice_of(best)
        if costs[best]:
            return ChangeDice(_turned(blue, to_blue), _turned(yellow, to_yellow))
        return Build(to_blue, to_yellow)

    def is_far(self, state: State) -> bool:
        return state.turns >= self._state.turns + TURNS

    def lead(self, state: State) -> float:
        """Return it by expected places and lines, and by coins."""
        seat = self._state.seat
        if state.phase is Phase.OVER:
            return over_others(state.scores, seat)
        coin = coin_worth(state)
        points = [
            Outlook(state, player, to_move=True).total() + coin * state.coins[player] for player in range(state.seats)
        ]
        return over_others(points, seat)


def _gain(gains: Sequence[float], built: int, cell: int) -> float:
    return 0.0 if built >> cell & 1 else gains[cell]


def _gains(state: State, seat: int) -> list[float]:
    """Return for every cell what a building of the seat there adds to its lead."""
    rivals = [rival for rival in range(state.seats) if rival != seat]
    before = [Outlook(state, rival) for rival in rivals]
    lost = []
    for type_ in range(len(TYPES)):
        after = state.copy()
        free = state.sheet.masks[type_] & ~state.built[seat]
        after.built[seat] |= free & -free
        changes = [
            outlook.places(type_) - Outlook(after, rival).places(type_)
            for rival, outlook in zip(rivals, before, strict=True)
        ]
        lost.append(sum(changes) / max(1, len(rivals)))
    own = Outlook(state, seat).gains()
    return [gain and gain + lost[type_] for gain, type_ in zip(own, state.sheet.grid, strict=True)]


@cache
def _costs(blue: Two, yellow: Two) -> tuple[int, ...]:
    """Return for every cell the steps until a pair of these dice meets on it."""
    return tuple(
        min(abs(die - to_blue) for die in blue) + min(abs(die - to_yellow) for die in yellow)
        for to_blue, to_yellow in map(dice_of, range(CELLS))
    )


def _turned(dice: Two, value: int) -> Two:
    """Return the dice with the nearer one turned to this value."""
    low, high = dice
    return tuple(sorted((value, high) if abs(low - value) <= abs(high - value) else (low, value)))
