"""A bot that looks one move ahead: it takes what would bring the most points if the game ended then."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.rollwrite import State
from referee.games.rollwrite.moves import ChangeDice, KeepPair, Move
from referee.games.rollwrite.sheet import index_of


class Greedy:
    """Builds for the most points now. It never turns dice, as that only costs; it keeps dice that it can build with."""

    def choose(self, observation: State, legal_moves: Sequence[Move]) -> Move:
        state = observation

        def merit(move: Move) -> int:
            if isinstance(move, KeepPair):
                return not state.built[state.seat] >> index_of(move.blue, move.yellow) & 1
            after = state.copy()
            after.apply(move)
            return after.scores[state.seat]

        # There is always another move than to turn dice.
        return max((move for move in legal_moves if not isinstance(move, ChangeDice)), key=merit)
