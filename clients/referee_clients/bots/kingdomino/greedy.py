"""A bot that looks one domino ahead: the place, and the domino, that bring the most points now."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.kingdomino import State
from referee.games.kingdomino.moves import ChooseDomino, Move, PlaceCastle, PlaceDomino


class Greedy:
    """The castle in the middle; then the most points, of equal ones the larger areas or the more crowns."""

    def choose(self, observation: State, legal_moves: Sequence[Move]) -> Move:
        if isinstance(legal_moves[0], PlaceCastle):
            return middle(observation, legal_moves)
        state = observation
        kingdom = state.kingdoms[state.seat]

        def merit(move: Move) -> tuple[int, ...]:
            match move:
                case PlaceDomino(number, left, right):
                    after = kingdom.placed(state.domino_set.dominoes[number - 1], left, right)
                    return after.score(), sum(area.squares**2 for area in after.areas())
                case ChooseDomino(number):
                    domino = state.domino_set.dominoes[number - 1]
                    places = kingdom.placements(domino)
                    best = max((kingdom.placed(domino, cell[:2], cell[2:]).score() for cell in places), default=0)
                    return best, domino.left.crowns + domino.right.crowns, -number
            return (0,)

        return max(legal_moves, key=merit)


def middle(state: State, castles: Sequence[Move]) -> Move:
    """Return the castle's cell that leaves the most room on all sides."""
    arm = state.options.size() // 2
    return next(castle for castle in castles if castle == PlaceCastle(arm, arm))
