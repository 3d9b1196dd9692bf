"""Players for Kingdomino: one takes the most points now, one builds for those to come, one samples possible futures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.games.kingdomino.kingdom import STRIDE, Kingdom
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, Move, PlaceCastle, PlaceDomino
from referee.games.kingdomino.position import Phase
from referee_clients.bots.sampler import Sampler, over_others

# --- the worth of an unfinished kingdom, in points ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of things."""

    growth: float = 0.42
    """Part of the points that an area would gain if the squares that may be expected all came to it."""
    crowns: float = 0.5
    """Like ``growth``, for the crowns on them."""
    preference: float = 1.3
    """The factor by which more of a terrain comes than chance brings, as dominoes are chosen."""
    border: float = 1.2
    """Squares that an area can gain for each empty cell beside it."""
    hole: float = 4.3
    """Points lost with an empty cell that has no empty neighbour."""
    odd: float = 2.4
    """Points lost with the last cell of an empty region of an odd size."""
    fit: float = 6.0
    """Points lost if none of the dominoes to come fits, in proportion."""
    unplaced: float = 5.0
    """Points lost with a domino that has to be discarded."""
    later: float = 0.46
    """Points that it costs to be one place later in the order of the next round."""


WEIGHTS = Weights()

_SAMPLE = 12
"""Dominoes to come that are tried for whether they fit."""


class Valuation:
    """Values kingdoms that a seat can reach, by the dominoes that are still to come."""

    def __init__(self, state: State, weights: Weights = WEIGHTS) -> None:
        self._weights = weights
        self._dominoes = (state.options.size() ** 2 - 1) // 2
        """Dominoes of a whole kingdom."""
        coming = [domino for domino in state.domino_set.dominoes if state.unseen >> domino.number & 1]
        self._sample = coming[:: max(1, len(coming) // _SAMPLE)]
        halves = [half for domino in coming for half in (domino.left, domino.right)]
        squares, crowns = [0] * len(TERRAINS), [0] * len(TERRAINS)
        for half in halves:
            squares[half.terrain] += 1
            crowns[half.terrain] += half.crowns
        self._share = [weights.preference * count / max(1, len(halves)) for count in squares]
        """Share of the cells that are still empty, by terrain."""
        self._crowned = [crown / max(1, count) for crown, count in zip(crowns, squares, strict=True)]
        """Crowns of a square, by terrain."""

    def best(self, kingdom: Kingdom, domino: Domino) -> float:
        """Return the kingdom's worth with the domino where it is worth most."""
        return max(
            (self.kingdom(kingdom.placed(domino, (ax, ay), (bx, by))) for ax, ay, bx, by in kingdom.placements(domino)),
            default=self.kingdom(kingdom) - self._weights.unplaced,
        )

    def kingdom(self, kingdom: Kingdom) -> float:
        """Return the worth of the kingdom, and of its prospects."""
        weights = self._weights
        room = kingdom.room
        holes, odd = _lost(room)
        to_come = self._dominoes - len(kingdom.dominoes)
        cells = max(0, min(2 * to_come, room.bit_count() - holes - odd))
        value = -weights.hole * holes - weights.odd * odd
        for terrain, areas in enumerate(kingdom.area_sets):
            expected = cells * self._share[terrain]
            prospect = 0.0
            for area, crowns in areas:
                squares = area.bit_count()
                value += squares * crowns
                if expected and (border := (_beside(area) & room).bit_count()):
                    more = min(expected, weights.border * border)
                    crowned = weights.crowns * squares * self._crowned[terrain]
                    prospect = max(prospect, more * (weights.growth * crowns + crowned))
            value += prospect  # what comes can only come once: to the area that gains most
        if to_come and self._sample and weights.fit:
            unfit = sum(not kingdom.fits(domino) for domino in self._sample) / len(self._sample)
            value -= weights.fit * unfit * min(1.0, to_come / 4)
        return value


def _beside(cells: int) -> int:
    """Return the neighbours of a set of cells, and those of its cells that have neighbours in it."""
    return cells << 1 | cells >> 1 | cells << STRIDE | cells >> STRIDE


def _lost(room: int) -> tuple[int, int]:
    """Empty cells without an empty neighbour, and larger empty regions of an odd size: dominoes cover no such."""
    joined = room & _beside(room)
    odd = 0
    left = joined
    while left:
        region, grown = 0, left & -left
        while grown != region:
            region, grown = grown, (grown | _beside(grown)) & joined
        odd += region.bit_count() & 1
        left ^= region
    return (room ^ joined).bit_count(), odd


# --- one domino ahead -----------------------------------------------------------------------------------------------


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


# --- a turn: the place of this domino and the choice of the next are one question -----------------------------------


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
    """The kingdoms that the seat on turn can reach until its next turn."""

    def __init__(self, state: State, weights: Weights) -> None:
        self._state = state
        self._later = weights.later
        self._kingdom = state.kingdoms[state.seat]
        self._valuation = Valuation(state, weights)
        self._free = [self._domino(number) for number in state.offer if number not in state.claims]

    def _domino(self, number: int) -> Domino:
        return self._state.domino_set.dominoes[number - 1]

    def worths(self, moves: Sequence[Move]) -> list[tuple[float, Move]]:
        """Return the promising moves, each with the worth of the kingdom after the turn."""
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


# --- the sampler's view of Kingdomino -------------------------------------------------------------------------------


LINES = 1
"""Lines that are drawn in thought; it ends when all their dominoes are chosen."""

QUICK = replace(WEIGHTS, fit=0.0)
"""The weights without ``fit``, which takes more time than all the rest."""

Laid = tuple[float, Kingdom, Move]
"""The worth of a kingdom with a domino at its best place, that kingdom, and the move that makes it."""


class Thinking:
    """Places dominoes as the builder does, and chooses them by their gain at the beginning of the thought."""

    most = 6
    futures = 100
    prior = 1.0

    def __init__(self, state: State) -> None:
        self._state = state
        self._valuation = Valuation(state, QUICK)
        self._last_line = state.lines + LINES
        self._laid: dict[tuple[Any, Any, int], Laid] = {}
        self._merits: dict[tuple[int, int], float] = {}
        """The merits by seat and domino."""

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


BOTS = {"greedy": Greedy, "builder": Builder, "sampler": partial(Sampler, Thinking)}
"""The bots by name, the weaker first."""
