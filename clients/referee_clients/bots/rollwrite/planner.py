"""A bot that weighs its whole turn: dice that are turned, one building or two, or coins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.games.rollwrite import State
from referee.games.rollwrite.dice import change_cost
from referee.games.rollwrite.moves import Build, BuildSecond, ChangeDice, GetCoins, KeepPair, Move
from referee.games.rollwrite.scoring import COINS_PER_POINT
from referee.games.rollwrite.sheet import SECOND_COST, index_of
from referee_clients.bots.rollwrite.outlook import Outlook

Two = tuple[int, ...]
"""What the two dice of a colour show, ascending."""


@dataclass(frozen=True, slots=True)
class Weights:
    """In points."""

    to_spend: float = 0.6
    """What a coin is worth beyond its points at the end, as long as there are turns to spend it in."""
    turns: float = 6.0
    """With this many turns to come there are enough of them."""
    handed_on: float = 0.1
    """Points lost with a pair of dice that the next seat can build with."""


WEIGHTS = Weights()


class Planner:
    """Begins the turn with the greatest gain: of buildings by their outlook, of coins by what they buy."""

    def __init__(self, weights: Weights = WEIGHTS) -> None:
        self._weights = weights

    def choose(self, observation: State, legal_moves: Sequence[Move]) -> Move:
        if len(legal_moves) == 1:
            return legal_moves[0]
        return max(legal_moves, key=Turn(observation, self._weights, Outlook(observation).gains()).worth)


def coin_worth(state: State, weights: Weights = WEIGHTS) -> float:
    """Return what a coin is worth: in the end half a point, before that what it may buy, too."""
    return 1 / COINS_PER_POINT + weights.to_spend * min(1.0, (state.rounds - state.round) / weights.turns)


class Turn:
    """What the seat on turn can gain."""

    def __init__(self, state: State, weights: Weights, gains: Sequence[float]) -> None:
        """``gains``: what a building adds, by its cell."""
        self._state = state
        self._weights = weights
        self._gains = gains
        self._coin = coin_worth(state, weights)
        self._built = state.built[state.seat]
        self._blue, self._yellow = state.blue[state.seat], state.yellow[state.seat]
        self._held = state.coins[state.seat]

    def worth(self, move: Move) -> float:
        """Return what the turn gains from this move on."""
        match move:
            case ChangeDice(blue, yellow):
                cost = change_cost(self._blue, blue) + change_cost(self._yellow, yellow)
                return max(self._actions(blue, yellow, self._held - cost)) - cost * self._coin
            case Build(blue, yellow):
                return self._building(self._blue, self._yellow, self._held, (blue, yellow))
            case GetCoins():
                return self._coins(self._blue, self._yellow)
            case BuildSecond():
                return self._second(self._blue, self._yellow, self._state.first or (0, 0))
            case KeepPair(blue, yellow):
                return self._kept((blue, yellow))
        return 0.0

    def _actions(self, blue: Two, yellow: Two, held: int) -> Iterator[float]:
        """Yield the gain of each action with these dice."""
        yield self._coins(blue, yellow)
        for first in ((b, y) for b in set(blue) for y in set(yellow)):
            if not self._built >> index_of(*first) & 1:
                yield self._building(blue, yellow, held, first)

    def _building(self, blue: Two, yellow: Two, held: int, first: tuple[int, int]) -> float:
        """Return the gain of a building, with another one if that gains, too."""
        gain = self._gains[index_of(*first)]
        if held < SECOND_COST or _other(blue, yellow, first) == first:
            return gain
        return gain + max(0.0, self._second(blue, yellow, first))

    def _second(self, blue: Two, yellow: Two, first: tuple[int, int]) -> float:
        """Return the gain of the second building; 0 where one stands."""
        return self._gains[index_of(*_other(blue, yellow, first))] - SECOND_COST * self._coin

    def _coins(self, blue: Two, yellow: Two) -> float:
        hits = sum(self._built >> index_of(b, y) & 1 for b in blue for y in yellow)
        return self._coin * min(hits, self._state.sheet.coin_track - self._state.circled[self._state.seat])

    def _kept(self, pair: tuple[int, int]) -> float:
        """Return the gain of the pair that stays, less what the next seat gets."""
        state = self._state
        handed_on = index_of(*_other(self._blue, self._yellow, pair))
        fits = not state.built[(state.seat + 1) % state.seats] >> handed_on & 1
        return self._gains[index_of(*pair)] - self._weights.handed_on * fits


def _other(blue: Two, yellow: Two, pair: tuple[int, int]) -> tuple[int, int]:
    """Return the pair of dice that are not these."""
    return blue[blue[0] == pair[0]], yellow[yellow[0] == pair[1]]
