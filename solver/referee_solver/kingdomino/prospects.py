"""The ends that one seat's kingdom can come to, best first or worst first, whatever is drawn and however it plays.

Kingdoms do not touch: the seats share nothing but the dominoes. So what a seat may come to is a tree of its own choices
and placements, where what a line brings is one more choice. Nodes are taken by a bound of all ends below them, so the
first end that is met is the best; when the work is used up, the bound of the nodes that are left holds all the same.

Nothing here takes a kingdom to hang together, or a discard to have been needed: where an arbiter let such moves stand
(TBL-7), what is to come obeys the rules all the same, and lies in the room that is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import combinations, count
from typing import Final, NamedTuple

from referee.games.kingdomino.dominoes import DominoSet, numbers_of
from referee.games.kingdomino.kingdom import HALVES, Kingdom
from referee.games.kingdomino.options import kings_of
from referee.games.kingdomino.scoring import CENTRAL_POINTS, HARMONY_POINTS, Standing, central_bonus
from referee.games.kingdomino.state import State
from referee_solver.kingdomino.growth import growth, may_be_central
from referee_solver.z3run import Budget

_NODE: Final = 25
"""What a node is charged, in Z3's unit of work."""

_Choice = tuple[int, ...]
"""Sorts of the dominoes that were chosen, ascending."""


class End(NamedTuple):
    """What a kingdom comes to; or a bound that none exceeds, or that none falls short of."""

    standing: Standing
    bonuses: int
    """Bonuses among its points."""
    choice: _Choice

    @property
    def areas(self) -> int:
        """Points without bonuses."""
        return self.standing.points - self.bonuses


@dataclass(frozen=True, slots=True)
class _Line:
    """What the seat gets of a line, placed by the numbers (KDO-6)."""

    sure: tuple[int, ...]
    chosen: int
    """How many more of the pool are chosen; the pool has a bit a number."""
    pool: int


class Prospect:
    """One seat's kingdom, and what the seat may still get."""

    def __init__(self, state: State, seat: int) -> None:
        self.domino_set = state.domino_set
        self.options = state.options
        self.kingdom = state.kingdoms[seat]
        self.clean = not state.discarded[seat]
        """KDO-28: nothing was discarded so far."""
        kings = kings_of(state.seats)
        lines = [_Line(tuple(number for number, owner in state.kings if owner == seat), 0, 0)]
        if state.offer:
            claimed = tuple(number for number in state.offer if state.claims.get(number) == seat)
            lines.append(_Line(claimed, kings - len(claimed), free(state)))
        to_come = state.lines_in_all - state.lines
        self.lines = (*lines, *[_Line((), kings, state.unseen)] * to_come)
        """In the order in which they are placed."""

    @property
    def dominoes(self) -> int:
        """How many the seat still places or discards."""
        return sum(len(line.sure) + line.chosen for line in self.lines)


def free(state: State) -> int:
    """Return the dominoes of the offer without a king, a bit a number."""
    return sum(1 << number for number in state.offer if number not in state.claims)


class Ranking:
    """The ends of a prospect, of every choice of dominoes the best one, in descending order; or all the other way."""

    def __init__(self, prospect: Prospect, *, best: bool) -> None:
        self.found: list[End] = []
        """The ends that are known so far; none that comes later is better."""
        self._prospect = prospect
        self._sign = -1 if best else 1
        self._heap: list[tuple[tuple[int, ...], int, int, End, _Node | None]] = []
        """How soon it is taken, dominoes that are left, a number that tells entries apart, bound, node; or an end."""
        self._numbers = count()
        self._choices = set[_Choice]()
        self._put(_Node(prospect.kingdom, prospect.clean, (), 0, 0, ()))

    @property
    def rest(self) -> End | None:
        """The bound of all ends that are still to be found; None: there are no others."""
        return self._heap[0][3] if self._heap else None

    @property
    def size(self) -> int:
        """How many nodes wait."""
        return len(self._heap)

    def advance(self, budget: Budget) -> End | None:
        """Do a piece of work, after which the rest may be bounded better, and return one more end, if there is one (see
        ``found``).
        """
        before = next(self._numbers)
        *_, end, node = heappop(self._heap)
        more = None
        if end.choice in self._choices and (node is None or node.line == len(self._prospect.lines)):
            pass  # of this choice a better one is known
        elif node is None:
            self._choices.add(end.choice)
            self.found.append(end)
            more = end
        elif node.queue:
            self._place(node)
        elif node.line < len(self._prospect.lines):
            for child in _chosen(self._prospect, node):
                self._put(child)
        else:
            self._push(self._end(node), 0, None)
        budget.left -= _NODE * (next(self._numbers) - before)
        return more

    def _place(self, node: _Node) -> None:
        """KDO-13: the next domino wherever it fits, or else out of the game. Of several ends only the best is kept."""
        domino = self._prospect.domino_set.dominoes[node.queue[0] - 1]
        kingdoms = [node.kingdom.placed(domino, *HALVES[code]) for code in node.kingdom.codes(domino)]
        queue, clean = node.queue[1:], node.clean and bool(kingdoms)
        children = [node._replace(kingdom=each, clean=clean, queue=queue) for each in kingdoms or [node.kingdom]]
        if queue or node.line < len(self._prospect.lines):
            for child in children:
                self._put(child)
        else:
            for _ in children:
                next(self._numbers)  # they are work
            self._push(min(map(self._end, children), key=self._order), 0, None)

    def _order(self, end: End) -> tuple[int, ...]:
        return tuple(self._sign * each for each in end.standing)

    def _put(self, node: _Node) -> None:
        left = sum(len(line.sure) + line.chosen for line in self._prospect.lines[node.line :]) + len(node.queue)
        bound = self._ceiling(node, left) if self._sign < 0 else self._floor(node, left)
        self._push(bound, left, node)

    def _push(self, end: End, left: int, node: _Node | None) -> None:
        heappush(self._heap, (self._order(end), left, next(self._numbers), end, node))

    def _end(self, node: _Node) -> End:
        return self._floor(node, 0)

    def _floor(self, node: _Node, left: int) -> End:
        """Return what the seat has at least: areas only grow, a castle in the middle stays there."""
        kingdom, options = node.kingdom, self._prospect.options
        bonuses = central_bonus(kingdom, options)
        if options.harmony and node.clean and not left:
            bonuses += HARMONY_POINTS
        standing = Standing(kingdom.score() + bonuses, kingdom.largest_area(), kingdom.crowns())
        return End(standing, bonuses, node.choice)

    def _ceiling(self, node: _Node, left: int) -> End:
        """Return the end as if every domino came where it is worth most, whatever the others do."""
        kingdom, prospect = node.kingdom, self._prospect
        lines = prospect.lines[node.line :]
        known = [*node.queue, *(number for line in lines for number in line.sure)]
        pools: dict[int, int] = {}
        for line in lines:
            if line.chosen:
                pool = line.pool & ~node.used
                pools[pool] = pools.get(pool, 0) + line.chosen
        most = growth(kingdom, prospect.domino_set, known, pools.items())
        bonuses = CENTRAL_POINTS if may_be_central(kingdom, prospect.options, most.placed) else 0
        if prospect.options.harmony and node.clean and most.placed == left:
            bonuses += HARMONY_POINTS
        return End(Standing(most.areas + bonuses, most.largest_area, most.crowns), bonuses, node.choice)


class _Node(NamedTuple):
    """A kingdom on the way."""

    kingdom: Kingdom
    clean: bool
    queue: tuple[int, ...]
    """Dominoes to be placed now."""
    line: int
    """The first line of which nothing was taken."""
    used: int
    """Dominoes of the pools that were chosen, a bit a number."""
    choice: _Choice


def _chosen(prospect: Prospect, node: _Node) -> Iterator[_Node]:
    """Yield the next line, with every choice of it; of dominoes that are alike, the first ones are chosen."""
    line = prospect.lines[node.line]
    named = sorts(prospect.domino_set, line.pool)
    seen = set[_Choice]()
    for numbers in combinations(numbers_of(line.pool & ~node.used), line.chosen):
        alike = tuple(named[number] for number in numbers)
        if alike not in seen:
            seen.add(alike)
            queue = tuple(sorted(line.sure + numbers))
            used = node.used | sum(1 << number for number in numbers)
            choice = tuple(sorted(node.choice + alike))
            yield _Node(node.kingdom, node.clean, queue, node.line + 1, used, choice)


@lru_cache(maxsize=64)
def sorts(domino_set: DominoSet, pool: int) -> dict[int, int]:
    """Return, for every number of the pool, the first one that it cannot be told from: equal halves, also of all in
    between.

    In between, because the numbers settle who is next.
    """
    found: dict[int, int] = {}
    first = last = None
    for domino in domino_set.dominoes:
        if last is None or domino[1:] != last[1:]:
            first = None
        last = domino
        if pool >> domino.number & 1:
            first = first or domino.number
            found[domino.number] = first
    return found
