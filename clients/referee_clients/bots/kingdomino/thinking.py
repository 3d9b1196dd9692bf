"""What a sampler has to know of Kingdomino: promising moves, quick answers, and what a position is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import Domino
from referee.games.kingdomino.kingdom import Kingdom
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, Move, PlaceCastle, PlaceDomino
from referee.games.kingdomino.phases import Phase
from referee_clients.bots.kingdomino.builder import Turn
from referee_clients.bots.kingdomino.greedy import middle
from referee_clients.bots.kingdomino.valuation import WEIGHTS, Valuation
from referee_clients.bots.sampler import over_others

LINES = 1
"""Lines that are drawn in thought; it ends when all their dominoes are chosen."""

QUICK = replace(WEIGHTS, fit=0.0)
"""Whether dominoes fit takes more time to ask than all the rest."""

Laid = tuple[float, Kingdom, Move]
"""What a kingdom is worth with a domino where it is worth most, that kingdom, and the move that makes it."""


class Thinking:
    """Places dominoes as the builder does, and chooses them by what they added at the beginning of the thought."""

    most = 6
    futures = 100
    prior = 1.0

    def __init__(self, state: State) -> None:
        self._state = state
        self._valuation = Valuation(state, QUICK)
        self._last_line = state.lines + LINES
        self._laid: dict[tuple[Any, Any, int], Laid] = {}
        self._merits: dict[tuple[int, int], float] = {}
        """Of a seat and a domino."""

    def candidates(self, legal_moves: Sequence[Move]) -> list[tuple[float, Move]]:
        """Return what the builder looks at."""
        if isinstance(legal_moves[0], PlaceCastle):
            return [(0.0, middle(self._state, legal_moves))]
        return Turn(self._state, WEIGHTS).worths(legal_moves)

    def reply(self, state: State) -> Move:
        """Return the domino that its place in the line and the kingdom make best, or the best place for it."""
        if state.phase is Phase.PLACE:
            return self._best(state.kingdoms[state.seat], state.due())[2]
        free = [at for at, number in enumerate(state.offer) if number not in state.claims]
        best = max(free, key=lambda at: self._merit(state.seat, state.offer[at]) - WEIGHTS.later * at)
        return ChooseDomino(state.offer[best])

    def _merit(self, seat: int, number: int) -> float:
        if (seat, number) not in self._merits:
            domino = self._state.domino_set.dominoes[number - 1]
            self._merits[seat, number] = self._best(self._state.kingdoms[seat], domino)[0]
        return self._merits[seat, number]

    def _best(self, kingdom: Kingdom, domino: Domino) -> Laid:
        key = kingdom.area_sets, kingdom.room, domino.number
        if key not in self._laid:
            self._laid[key] = self._lay(kingdom, domino)
        return self._laid[key]

    def _lay(self, kingdom: Kingdom, domino: Domino) -> Laid:
        best: Laid | None = None
        for ax, ay, bx, by in kingdom.placements(domino):
            after = kingdom.placed(domino, (ax, ay), (bx, by))
            worth = self._valuation.kingdom(after)
            if best is None or worth > best[0]:
                best = worth, after, PlaceDomino(domino.number, (ax, ay), (bx, by))
        return best or (self._valuation.kingdom(kingdom) - QUICK.unplaced, kingdom, DiscardDomino(domino.number))

    def is_far(self, state: State) -> bool:
        return state.phase is Phase.LINE and state.lines >= self._last_line

    def lead(self, state: State) -> float:
        """Return it by what kingdoms are worth with the dominoes that kings stand on, and by the order of the kings."""
        seat = self._state.seat
        if state.phase is Phase.OVER:
            return over_others(state.scores, seat)
        return over_others([self._worth(state, player) for player in range(state.seats)], seat)

    def _worth(self, state: State, seat: int) -> float:
        kingdom = state.kingdoms[seat]
        worth, late = self._valuation.kingdom(kingdom), 0
        for at, (number, whose) in enumerate(state.kings):
            if whose == seat:
                worth, kingdom, _ = self._best(kingdom, state.domino_set.dominoes[number - 1])
                late += at
        return worth - WEIGHTS.later * late
