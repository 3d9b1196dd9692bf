"""How far a seat can still end ahead of another in Kingdomino: its best ends against the other's worst ones.

Two seats never have the same domino, so the best and the worst end count together only if there are dominoes enough for
the choices that lead to both. When the last line is drawn, the gap is mostly exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from referee.games.kingdomino.phases import Phase
from referee.games.kingdomino.state import State
from referee_solver.deciding import Bounds, Gap, Part
from referee_solver.kingdomino.prospects import End, Prospect, Ranking, free, sorts
from referee_solver.z3run import Budget


def bounds(state: State, leader: int, budget: int) -> Bounds:
    """Return bounds that are sound for every continuation. Less budget means wider gaps, never an error."""
    others = [seat for seat in range(state.seats) if seat != leader]
    # Before the castles are placed, what may be placed where is not known.
    share = 0 if state.phase is Phase.CASTLE else budget // len(others)
    worst = Ranking(Prospect(state, leader), best=False)
    stock = _stock(state)
    found = []
    for seat in others:
        best = Ranking(Prospect(state, seat), best=True)
        found.append(_gap(state, seat, leader, _widest(best, worst, stock, Budget(share))))
    return Bounds(leader, tuple(found))


def _stock(state: State) -> Counter[int]:
    """Return how many dominoes of each sort may still be chosen."""
    stock = Counter[int]()
    for pool in (free(state), state.unseen):
        stock.update(sorts(state.domino_set, pool).values())
    return stock


class _Pair(NamedTuple):
    """An end of a seat, and one of the leader."""

    best: End
    worst: End

    @property
    def ahead(self) -> tuple[int, ...]:
        """By what seats are ranked: below zero, the leader is the first; ties are broken by what follows the points."""
        return tuple(one - other for one, other in zip(self.best.standing, self.worst.standing, strict=True))


def _widest(best: Ranking, worst: Ranking, stock: Counter[int], budget: Budget) -> _Pair:
    """Return the ends that are farthest apart, of those that can come together; or a pair such that none is farther
    apart.
    """
    widest = max(_together(best.found, worst.found, stock), key=_ahead, default=None)
    while True:
        first, last = (each.found[0] if each.found else each.rest for each in (best, worst))
        unknown = [
            *([(_Pair(best.rest, last), best)] if best.rest and last else []),
            *([(_Pair(first, worst.rest), worst)] if worst.rest and first else []),
        ]
        # Where neither has an end, both pairs are the same; then the one that takes less work.
        bound, side = max(unknown, key=lambda each: (each[0].ahead, -each[1].size), default=(None, None))
        if bound is None or side is None or (widest is not None and widest.ahead >= bound.ahead):
            assert widest is not None  # noqa: S101 - some ends always come together
            return widest
        if budget.spent:
            return bound
        if end := side.advance(budget):
            pairs = _together([end], worst.found, stock) if side is best else _together(best.found, [end], stock)
            widest = max([*([widest] if widest else []), *pairs], key=_ahead, default=None)


def _together(best: Sequence[End], worst: Sequence[End], stock: Counter[int]) -> Iterator[_Pair]:
    for one in best:
        for other in worst:
            if Counter(one.choice + other.choice) <= stock:
                yield _Pair(one, other)


def _ahead(pair: _Pair) -> tuple[int, ...]:
    return pair.ahead


def _gap(state: State, seat: int, leader: int, pair: _Pair) -> Gap:
    """Return the gap, with its reasons."""
    points = pair.best.standing.points - pair.worst.standing.points
    ends = ((seat, pair.best, 1, "at the most"), (leader, pair.worst, -1, "at the least"))
    parts = [Part(f"points of seat {seat} now, less those of seat {leader}", state.score(seat) - state.score(leader))]
    for who, end, sign, word in ends:
        areas = state.kingdoms[who].score()
        count = Prospect(state, who).dominoes
        dominoes = f"{count} {'domino' if count == 1 else 'dominoes'}"
        parts.append(Part(f"areas of seat {who} grow, with {dominoes} to come, {word}", sign * (end.areas - areas)))
        bonuses = state.score(who) - areas
        parts.append(Part(f"bonuses of seat {who} change, {word}", sign * (end.bonuses - bonuses)))
    needed = [parts[0], *(part for part in parts[1:] if part.points)]
    return Gap(seat, points, tuple(needed), loses_ties=pair.ahead[1:] < (0, 0))
