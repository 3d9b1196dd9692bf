"""A bot that builds for the dominoes to come: where the one in hand goes and which is taken next are one question."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import Domino
from referee.games.kingdomino.kingdom import Kingdom
from referee.games.kingdomino.moves import ChooseDomino, Move, PlaceCastle, PlaceDomino
from referee_clients.bots.kingdomino.greedy import middle
from referee_clients.bots.kingdomino.valuation import WEIGHTS, Valuation, Weights

PLACES = 6
"""Placements that are looked at together with every domino that can be taken afterwards."""


class Builder:
    """The castle in the middle; then the kingdom that is worth most with the domino that is taken next."""

    def __init__(self, weights: Weights = WEIGHTS) -> None:
        self._weights = weights

    def choose(self, observation: State, legal_moves: Sequence[Move]) -> Move:
        if len(legal_moves) == 1:
            return legal_moves[0]
        if isinstance(legal_moves[0], PlaceCastle):
            return middle(observation, legal_moves)
        return max(Turn(observation, self._weights).worths(legal_moves), key=lambda worth: worth[0])[1]


class Turn:
    """What the seat on turn can reach until its next one."""

    def __init__(self, state: State, weights: Weights) -> None:
        self._state = state
        self._later = weights.later
        self._kingdom = state.kingdoms[state.seat]
        self._valuation = Valuation(state, weights)
        self._free = [self._domino(number) for number in state.offer if number not in state.claims]

    def _domino(self, number: int) -> Domino:
        return self._state.domino_set.dominoes[number - 1]

    def worths(self, moves: Sequence[Move]) -> list[tuple[float, Move]]:
        """Return the promising moves, each with what the kingdom is worth after the turn."""
        choices = [move for move in moves if isinstance(move, ChooseDomino)]
        if choices:
            return [(self._with(self._kingdom, self._domino(move.domino)), move) for move in choices]
        places = [move for move in moves if isinstance(move, PlaceDomino)]
        reached = {move: self._kingdom.placed(self._domino(move.domino), move.left, move.right) for move in places}
        places.sort(key=lambda move: -self._valuation.kingdom(reached[move]))
        if not self._free:  # the last round: nothing is taken any more
            return [(self._valuation.kingdom(reached[move]), move) for move in places]
        return [(max(self._with(reached[move], domino) for domino in self._free), move) for move in places[:PLACES]]

    def _with(self, kingdom: Kingdom, domino: Domino) -> float:
        """Return the worth of the kingdom with the domino taken next, less what its place in the line costs."""
        return self._valuation.best(kingdom, domino) - self._later * self._state.offer.index(domino.number)
